"""Signals to end a program: Ctrl-C, SIGTERM and SIGHUP, handled in one place.

The first signal raises a ``KeyboardInterrupt``, or waits for the end of the chunk that
is being simulated. A second one ends the command at once.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

ENDING = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)
)
"""Signals that ask a process to end."""

SIGNALLED = 128
"""Shells add this to the number of a signal to make an exit code."""

_RETRY_SECONDS = 0.05
"""Seconds until a signal that arrived during an import is raised again."""

_NOTE = b"waiting for the chunk that is being simulated; Ctrl-C again ends at once\n"
_SHOW_CURSOR = b"\x1b[?25h"

heard: list[int] = []
"""Signals that arrived since the outermost block below began."""

_plain: dict[int, Callable] = {}
"""Handlers of the caller, which this module replaced, by the number of the signal."""

_waits = False
_put_off: list[int] = []
"""Signals that arrived during an import, and are sent again."""
_allowed = 1


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP: to be cleaned up after as Ctrl-C is."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def interrupt(number: int) -> KeyboardInterrupt:
    """Return the exception of a signal to end."""
    return KeyboardInterrupt() if number == signal.SIGINT else Terminated(number)


@contextmanager
def signals_raise() -> Iterator[None]:
    """Let signals to end raise in a command, and a second one end the process.

    Signals that the caller ignores, such as SIGHUP under nohup, stay ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [x for x in ENDING if signal.getsignal(x) is signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, _handle)
    try:
        with _second_signal_ends():
            yield
            if waiting := heard or _put_off:
                raise interrupt(waiting[0])
    finally:
        _put_off.clear()
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def signals_wait() -> Iterator[Callable[[], None]]:
    """Let the first signal to end wait; yield the function that raises for it.

    A second signal raises at once. At the end of the block a signal that waits raises,
    too: by the handler of the caller where there is one.
    """
    global _waits
    if threading.current_thread() is not threading.main_thread() or _waits:
        yield lambda: None
        return
    replaced = {
        number: handler
        for number in ENDING
        if callable(handler := signal.getsignal(number)) and handler is not _handle
    }
    for number in replaced:
        signal.signal(number, _handle)
    _plain.update(replaced)
    _waits = True
    try:
        try:
            yield _raise_heard
        except Exception:
            _raise_heard()  # An error after a signal may be due to the signal.
            raise
        _raise_heard()
    finally:
        _waits = False
        for number, handler in replaced.items():
            signal.signal(number, handler)
            _plain.pop(number)
        if replaced:
            heard.clear()


def _raise_heard() -> None:
    if heard:
        _raise(heard[0])


def _raise(number: int) -> None:
    if number in _plain:
        _plain[number](number, None)
    else:
        raise interrupt(number)


def _handle(number: int, frame: FrameType | None) -> None:
    if not _waits and not heard and _is_importing(frame):
        # JAX ends the process if its import is interrupted.
        _put_off.append(number)
        again = threading.Timer(_RETRY_SECONDS, _send_again, [number])
        again.daemon = True
        again.start()
        return
    heard.append(number)
    if _waits and len(heard) == 1:
        with suppress(OSError):  # The terminal may be gone.
            os.write(2, (_SHOW_CURSOR if sys.stderr.isatty() else b"") + _NOTE)
        return
    _raise(number)


def _send_again(number: int) -> None:
    if _put_off:  # Else the command has ended.
        os.kill(os.getpid(), number)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def allow_second_signal() -> None:
    """Let one more signal pass: a server raises the signal again that ended it."""
    global _allowed
    _allowed += 1


@contextmanager
def _second_signal_ends() -> Iterator[None]:
    """End the process at the second signal, also while compiled code runs.

    Python runs handlers between its own instructions only, but a thread can read the
    numbers of signals from a file.
    """
    if os.name != "posix":  # Windows has no files of this kind.
        yield
        return
    ended = threading.Event()
    reading, writing = os.pipe()
    os.set_blocking(writing, False)

    def read() -> None:
        count = 0
        while numbers := os.read(reading, 1):
            count += numbers[0] in ENDING
            if count > _allowed + len(_put_off) and not ended.is_set():
                os._exit(SIGNALLED + numbers[0])
        os.close(reading)

    plain = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=read, daemon=True).start()
    try:
        yield
    finally:
        ended.set()
        signal.set_wakeup_fd(plain, warn_on_full_buffer=False)
        os.close(writing)


@contextmanager
def unreached_children() -> Iterator[None]:
    """Keep Ctrl-C, and a terminal that closes, from processes started in the block.

    Both are sent to the whole group of processes, and a process that still imports
    would end in a traceback. Signals that are blocked here stay blocked in the new
    process; in this one they wait for the end of the block.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # To start it, Python would unblock them.
    plain = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, plain)

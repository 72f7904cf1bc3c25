"""Signals to end during a sweep: none is lost, and none tears a write apart."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

_ENDING = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)
)
"""Signals that ask a process to end."""


class Interrupts:
    """Signals to end that came in a block, with the handlers that raise for them."""

    def __init__(self) -> None:
        self._arrived: list[tuple[int, Callable]] = []
        self._is_held = False

    def check(self) -> None:
        """Raise if there ever was one."""
        if self._arrived:
            number, handler = self._arrived[0]
            handler(number, None)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let what is written get done: the first signal raises after the block.

        A second one raises at once, as where a disk does not answer. Raised within
        NumPy's archives the exception becomes a ``ValueError`` (the archive cannot be
        closed while something is written to it), and within xarray's it may leave a
        lock behind, on which the next write of the process waits for ever.
        """
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
        self.check()

    def note(self, number: int, frame: "FrameType | None", handler: Callable) -> None:
        """Keep a signal in mind, and raise unless it is the first and is held."""
        self._arrived.append((number, handler))
        if not self._is_held or len(self._arrived) > 1:
            handler(number, frame)


@contextmanager
def noticed_interrupts() -> Iterator[Interrupts]:
    """Notice signals to end, and raise at the end of the block if there was one.

    That is Ctrl-C, and SIGTERM or SIGHUP where they have a handler that raises (as
    the command installs). An exception raised while a finalizer runs, as when a file
    has just been written, is printed and dropped by Python, and a loop that does not
    check would wait for ever. One raised within a library may be hidden by what its
    clean-up raises.
    """
    interrupts = Interrupts()
    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return
    plain = {number: signal.getsignal(number) for number in _ENDING}
    handlers = {number: each for number, each in plain.items() if callable(each)}

    def note(number: int, frame: "FrameType | None") -> None:
        interrupts.note(number, frame, handlers[signal.Signals(number)])

    for number in handlers:
        signal.signal(number, note)
    try:
        try:
            yield interrupts
        except Exception:
            interrupts.check()
            raise
        interrupts.check()
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


@contextmanager
def unreached_children() -> Iterator[None]:
    """Let no Ctrl-C reach processes that are started in the block.

    Nor a terminal that closes. Both are sent to the whole group of processes, and one
    that still imports would end in a traceback, before it can ignore them. What is
    blocked stays so in the new process; here it waits for the end of the block.
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

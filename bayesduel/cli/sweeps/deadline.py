"""An end soon after Ctrl-C, also while foreign code runs.

Python calls what handles a signal between two of its own instructions. A compiler that
works for ten seconds in one call, more on a busy machine, would hold up the end; and
what the handler raises while a finalizer runs is printed and dropped, as happens while
JAX is imported. But a thread is told at once.
"""

from __future__ import annotations

import atexit
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from bayesduel.cli.errors import SIGNALLED, interrupt
from bayesduel.cli.output import ending, go_on

_PATIENCE = 1.0
"""Seconds that the usual end may take. What is finished is on the disk already."""

_ENDING = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)
)

_SHOW_CURSOR = "\x1b[?25h"
"""A progress bar hides it."""


def in_time(out: Path | None, kept: str) -> AbstractContextManager[None]:
    """End the block soon after Ctrl-C, and say what ``errors.ended`` would."""

    def end(number: int) -> tuple[str, int]:
        error = interrupt(number)
        begun = out is None or out.exists()
        text = go_on(out, kept, error) if begun else ending(error)
        return text, SIGNALLED + number

    return ended_in_time(end)


def rest_in_time() -> AbstractContextManager[None]:
    """End what keeps nothing soon after Ctrl-C, and say so."""
    return ended_in_time(lambda number: (ending(interrupt(number)), SIGNALLED + number))


@contextmanager
def in_its_own_time() -> Iterator[None]:
    """Let the block end as slowly as it must, in spite of what is around it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    plain = signal.set_wakeup_fd(-1)
    try:
        yield
    finally:
        signal.set_wakeup_fd(plain, warn_on_full_buffer=False)


@contextmanager
def ended_in_time(end: Callable[[int], tuple[str, int]]) -> Iterator[None]:
    """End the process if the block goes on for long after a signal to end.

    ``end`` gives, for the number of the signal, what is said then and the exit code.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard, told = socket.socketpair()
    told.setblocking(False)
    plain = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
    watcher = threading.Thread(target=_watch, args=(heard, end), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(plain, warn_on_full_buffer=False)
        told.close()
        watcher.join()
        heard.close()


@contextmanager
def left_in_time(least: int) -> Iterator[None]:
    """Leave the process at once if the block exits with ``least`` or more.

    Python takes one or two seconds to take down what compilers have left in memory,
    and waits for worker processes without end.
    """
    try:
        yield
    except SystemExit as error:
        if not isinstance(error.code, int) or error.code < least:
            raise
        patience = threading.Timer(_PATIENCE, os._exit, [error.code])
        patience.daemon = True
        patience.start()
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        patience.cancel()
        os._exit(error.code)


def _watch(heard: socket.socket, end: Callable[[int], tuple[str, int]]) -> None:
    """Read the numbers of signals until the block has ended, or must end."""
    number = 0
    while number not in _ENDING:
        told = heard.recv(1)
        if not told:
            return
        number = told[0]
    last = time.monotonic() + _PATIENCE
    heard.settimeout(_PATIENCE)
    try:
        while heard.recv(1):
            heard.settimeout(max(last - time.monotonic(), 0.001))
    except TimeoutError:
        text, code = end(number)
        _say(text)
        os._exit(code)


def _say(text: str) -> None:
    """Write to standard error without any lock, which the main thread may hold."""
    start = f"{_SHOW_CURSOR}\n" if sys.stderr.isatty() else ""
    with suppress(OSError):  # The terminal may be gone.
        os.write(2, f"{start}{text}\n".encode("ascii", "backslashreplace"))

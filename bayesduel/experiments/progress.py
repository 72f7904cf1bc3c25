"""Progress on standard error: a bar, or lines where there is no terminal."""

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, repeat
from typing import Any

_FIRST_LINE, _NEXT_LINE = 2.0, 10.0  # Seconds until the first line, and between lines.


class ProgressReport:
    """Counts finished chunks and, inside this process, the share of the current one."""

    def __init__(self, bar: Any = None) -> None:
        self._bar = bar
        self._task = None
        self._done = 0

    def expect(self, total: int) -> None:
        """Say how many chunks there are."""
        if self._bar is not None:
            self._task = self._bar.add_task("simulating", total=total)

    def update(self, words: str) -> Callable[[float], None] | None:
        """Return what is called with the share of a chunk that is done."""
        if self._bar is None:
            return None
        if self._task is None:
            self.expect(1)

        def show(share: float) -> None:
            doing = words if share > 0 else f"compiling {words}"
            self.count(doing, self._done + share)

        return show

    def compiling(self, words: str) -> None:
        """Say that another process compiles the program of a chunk."""
        if self._bar is not None:
            self._bar.update(self._task, description=f"compiling {words}")

    def finished(self, words: str) -> None:
        """Count a finished chunk."""
        self._done += 1
        if self._bar is not None:
            self.count(words, self._done)

    def count(self, words: str, done: float) -> None:
        """Say how many of what is all alike are done."""
        if self._bar is not None:
            self._bar.update(self._task, completed=done, description=words)


class ProgressLines:
    """Takes the place of the bar in a pipe or a log: a line now and then."""

    def __init__(self) -> None:
        self._total, self._completed, self._doing = 1, 0.0, "simulating"
        self._single = False

    def add_task(self, description: str, total: int) -> int:
        """Say how many chunks there are."""
        self._doing, self._total, self._single = description, total, total == 1
        return 0

    def update(
        self,
        task: Any,
        *,
        completed: float | None = None,
        description: str | None = None,
    ) -> None:
        """Take down what is done, and what is being done."""
        self._completed = self._completed if completed is None else completed
        self._doing = self._doing if description is None else description

    def line(self, seconds: float) -> str:
        """Return what is said after so many seconds."""
        if self._single and not self._completed:  # Nothing is counted.
            return f"{seconds:.0f} s: {self._doing}"
        share = self._completed / max(self._total, 1)
        return f"{seconds:.0f} s, {share:.0%} of {self._total} chunks: {self._doing}"

    def speak(
        self,
        say: Callable[[str], None],
        wait: Callable[[float], bool],
        delays: Iterable[float],
    ) -> None:
        """Say a line after every delay, until ``wait`` returns true."""
        began = time.monotonic()
        for delay in delays:
            if wait(delay):
                return
            say(self.line(time.monotonic() - began))


@contextmanager
def _spoken_lines(say: Callable[[str], None]) -> Iterator[ProgressLines]:
    """Say lines while the block runs, also while worker processes compute."""
    lines, ended = ProgressLines(), threading.Event()
    delays = chain([_FIRST_LINE], repeat(_NEXT_LINE))
    thread = threading.Thread(
        target=lines.speak, args=(say, ended.wait, delays), daemon=True
    )
    thread.start()
    try:
        yield lines
    finally:
        ended.set()
        thread.join()


@contextmanager
def progress_reporter(*, enabled: bool) -> Iterator[ProgressReport]:
    """Show a bar while the block runs, or say lines in a pipe, if asked to."""
    if not enabled:
        yield ProgressReport()
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    screen = Console(stderr=True)
    if not (screen.is_terminal or screen.is_jupyter):
        with _spoken_lines(
            lambda text: print(text, file=sys.stderr, flush=True)
        ) as bar:
            yield ProgressReport(bar)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen, transient=True) as bar:
        yield ProgressReport(bar)

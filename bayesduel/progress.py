"""A progress bar on standard error."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class ProgressReport:
    """Counts finished jobs and, inside this process, the share of the current one."""

    def __init__(self, bar: Any = None) -> None:
        self._bar = bar
        self._task = None
        self._done = 0

    def expect(self, total: int) -> None:
        """Say how many jobs there are."""
        if self._bar is not None:
            self._task = self._bar.add_task("simulating", total=total)

    def update(self, job: Any) -> Callable[[float], None] | None:
        """Return what a job calls with the share of it that is done."""
        if self._bar is None:
            return None
        if self._task is None:
            self.expect(1)

        def show(share: float) -> None:
            doing = "" if share > 0 else "compiling "
            self._bar.update(
                self._task,
                completed=self._done + share,
                description=doing + job.words,
            )

        return show

    def compiling(self, job: Any) -> None:
        """Say that another process compiles the program of a job."""
        if self._bar is not None:
            self._bar.update(self._task, description=f"compiling {job.words}")

    def finished(self, job: Any) -> None:
        """Count a finished job."""
        self._done += 1
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, description=job.words)


@contextmanager
def progress_reporter(*, enabled: bool) -> Iterator[ProgressReport]:
    """Show a bar while the block runs, if asked to."""
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

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield ProgressReport(bar)

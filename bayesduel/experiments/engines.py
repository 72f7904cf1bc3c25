"""Running jobs: in this process, or in worker processes."""

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process
from typing import TYPE_CHECKING, Any

from bayesduel.experiments.jobs import Job, JobResult

if TYPE_CHECKING:
    from types import FrameType

    from bayesduel.progress import ProgressReport


_ENOUGH_WORK = 5.0
"""Seconds of work that show that there is more: worker processes need some until they
have imported what they run. Of processor time: on a busy machine they need longer."""

_LONG_JOB = 2.0
"""Such seconds without compiling, after which a worker begins a job anew."""


class _TakesLong(BaseException):
    """A job that a worker process shall begin anew; no failure of the job."""


def run_jobs(
    jobs: Sequence[Job],
    workers: int,
    keep: Callable[[JobResult], None],
    report: "ProgressReport",
    *,
    try_here: bool = False,
) -> None:
    """Run all jobs, and hand each result over as soon as it is there.

    ``try_here`` leaves to worker processes what is not done here within seconds.
    """
    report.expect(len(jobs))
    workers = min(workers, len(jobs))
    waiting = list(jobs)
    if workers <= 1 or try_here:
        patience = _ENOUGH_WORK if workers > 1 else math.inf
        with suppress(_TakesLong):
            _run_here(waiting, keep, report, patience)
    if waiting:
        done = {job.program for job in jobs[: len(jobs) - len(waiting)]}
        with _noticed_interrupts() as check_interrupt:
            _Dispatcher(workers, done).run(waiting, keep, report, check_interrupt)


def _run_here(
    waiting: list[Job],
    keep: Callable[[JobResult], None],
    report: "ProgressReport",
    patience: float,
) -> None:
    """Take jobs from the list until it is empty, or they last longer than that."""
    end = time.process_time() + patience
    while waiting and time.process_time() < end:
        job = waiting[0]
        show = report.update(job)
        if patience < math.inf:
            show = _impatient(show, end)
        result = JobResult(job, *_outcome(job, show))
        del waiting[0]
        report.finished(job)
        keep(result)


def _impatient(
    show: Callable[[float], None] | None, end: float
) -> Callable[[float], None]:
    """Return a report of progress that raises where a job lasts long after ``end``."""
    began = math.inf

    def hear(share: float) -> None:
        nonlocal began
        now = time.process_time()
        if share > 0:
            began = min(began, now)
        if now > max(end, began + _LONG_JOB):
            raise _TakesLong
        if show is not None:
            show(share)

    return hear


def _outcome(
    job: Job, on_progress: Callable[[float], None] | None = None
) -> tuple[Any, Exception | None]:
    """Return what a job computed, or the exception that ended it."""
    try:
        return job.run(on_progress), None
    except Exception as error:  # noqa: BLE001  one failure must not lose the others
        return None, error


_ENDING = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)
)
"""Signals that ask a process to end."""


class _Dispatcher:
    """One process per worker, so that a policy is compiled where it already was."""

    def __init__(self, workers: int, on_disk: set[Hashable]) -> None:
        self.pools = [_one_process(worker) for worker in range(workers)]
        self.on_disk = on_disk
        self.compiled: list[set[Hashable]] = [set() for _ in range(workers)]

    def run(
        self,
        jobs: Sequence[Job],
        keep: Callable[[JobResult], None],
        report: "ProgressReport",
        check_interrupt: Callable[[], None],
    ) -> None:
        waiting = list(jobs)
        running: dict[Future, tuple[int, Job]] = {}
        idle = list(range(len(self.pools)))
        try:
            while waiting or running:
                while waiting and idle:
                    worker = idle.pop()
                    job = self._next(waiting, worker)
                    waiting.remove(job)
                    known = {None, *self.on_disk, *self.compiled[worker]}
                    if job.program not in known:
                        report.compiling(job)
                    self.compiled[worker].add(job.program)
                    running[self.pools[worker].submit(_outcome, job)] = (worker, job)
                done, _ = wait(running, timeout=1.0, return_when=FIRST_COMPLETED)
                check_interrupt()
                for future in done:
                    worker, job = running.pop(future)
                    idle.append(worker)
                    self.on_disk.add(job.program)
                    error = future.exception()
                    # A worker that died (out of memory, say) fails its own job only.
                    if error is None:
                        value, failure = future.result()
                    else:
                        value, failure = None, RuntimeError(str(error))
                        self._restart(worker)
                    report.finished(job)
                    keep(JobResult(job, value, failure))
        except BaseException:
            for pool in self.pools:
                for process in list((pool._processes or {}).values()):
                    process.terminate()
            raise
        finally:
            for pool in self.pools:
                pool.shutdown(wait=True, cancel_futures=True)

    def _next(self, waiting: list[Job], worker: int) -> Job:
        """Prefer what is compiled already, then what nobody is compiling.

        What a worker has compiled, the others read from the disk
        (:mod:`bayesduel.program_cache`).
        """
        own = self.compiled[worker] | self.on_disk
        others = set[Hashable]().union(*self.compiled)
        return min(
            waiting,
            key=lambda job: (
                job.program not in own,
                job.program not in own and job.program in others,
            ),
        )

    def _restart(self, worker: int) -> None:
        self.pools[worker].shutdown(wait=False, cancel_futures=True)
        self.pools[worker] = _one_process(worker)
        self.compiled[worker] = set()


@contextmanager
def _noticed_interrupts() -> Iterator[Callable[[], None]]:
    """Give a function that raises if there ever was a signal to end.

    That is Ctrl-C, and SIGTERM or SIGHUP where they have a handler that raises (as
    the command installs). An exception raised while a finalizer runs, as when a file
    has just been written, is printed and dropped by Python, and the loop would wait
    for ever.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    arrived: list[tuple[int, Callable]] = []
    plain = {number: signal.getsignal(number) for number in _ENDING}
    handlers = {number: each for number, each in plain.items() if callable(each)}

    def note(number: int, frame: "FrameType | None") -> None:
        handler = handlers[signal.Signals(number)]
        arrived.append((number, handler))
        handler(number, frame)

    def check() -> None:
        if arrived:
            number, handler = arrived[0]
            handler(number, None)

    for number in handlers:
        signal.signal(number, note)
    try:
        yield check
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _one_process(worker: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(
        1,
        mp_context=get_context("spawn"),
        initializer=_prepare_worker,
        initargs=(worker,),
    )


def _prepare_worker(worker: int) -> None:
    """Leave Ctrl-C to the parent, and take one core.

    The arrays of a step are far too small for several threads: workers that each start
    as many as there are cores only get into each other's way.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "SIGHUP"):  # A terminal that closes reaches the whole group.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[worker % len(cores)]})


def _end_with_parent() -> None:
    """End this process when the one that wants its results has been killed."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)

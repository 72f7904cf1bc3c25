"""Running jobs: in this process, or in worker processes."""

import gc
import math
import os
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing import get_context, parent_process
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from bayesduel.errors import ExecutorError, OutputFolderError, OutputWriteError
from bayesduel.experiments.interrupts import noticed_interrupts, unreached_children
from bayesduel.experiments.jobs import Cut, Job, JobResult, PartWriter
from bayesduel.program_cache import own_process

if TYPE_CHECKING:
    from bayesduel.experiments.progress import ProgressReport


_ENOUGH_WORK = 5.0
"""Seconds of work that show that there is more: worker processes need some until they
have imported what they run. Of processor time: on a busy machine they need longer."""

_LONG_JOB = 2.0
"""Such seconds without compiling, after which a worker begins a job anew."""

_MOST_SENT = 1024
"""Jobs that wait at an executor, at most: it need not hold all of a long sweep."""

_RETRIES = 2
"""How often a job is begun anew that was lost with its worker."""

_GONE = (
    "executor: it is gone before all jobs were done; what was finished is kept, go on "
    "with a new one and resume"
)


class _TakesLong(BaseException):
    """A job that a worker process shall begin anew; no failure of the job."""


def run_jobs(
    jobs: Sequence[Job],
    workers: int,
    keep: Callable[[JobResult], None],
    report: "ProgressReport",
    *,
    try_here: bool = False,
    executor: Executor | None = None,
    write: PartWriter | None = None,
) -> None:
    """Run all jobs, and hand each result over as soon as it is there.

    ``try_here`` leaves to worker processes what is not done here within seconds, and
    all of it if several programs are to be compiled: they compile them at once. An
    ``executor`` gets all jobs; it is not shut down. Its workers ``write`` the values,
    if they are told how, and send what that returns.

    Raises ``ExecutorError`` if the executor is gone before all jobs are done.
    """
    report.expect(len(jobs))
    workers = min(workers, len(jobs))
    waiting = _new_programs_first(jobs)
    with noticed_interrupts() as interrupts:

        def kept(result: JobResult) -> None:
            with interrupts.held():
                keep(result)

        check = interrupts.check
        if executor is not None:
            _run_there(executor, _MOST_SENT, waiting, kept, report, check, write)
            return
        here = workers <= 1 or (try_here and not _several_to_compile(waiting))
        if here:
            patience = _ENOUGH_WORK if workers > 1 else math.inf
            with suppress(_TakesLong):
                _run_here(waiting, kept, report, check, patience)
        if waiting:
            with _processes(workers) as pool:
                _run_there(pool, workers, waiting, kept, report, check)


def _run_here(
    waiting: list[Job],
    keep: Callable[[JobResult], None],
    report: "ProgressReport",
    check_interrupt: Callable[[], None],
    patience: float,
) -> None:
    """Take jobs from the list until it is empty, or they last longer than that."""
    end = time.process_time() + patience
    while waiting and time.process_time() < end:
        job = waiting[0]
        hear = _impatient(report.update(job), check_interrupt, end)
        result, waiting[:1] = _finished(job, *_outcome(job, hear), report)
        keep(result)


def _finished(
    job: Job, value: Any, failure: Exception | None, report: "ProgressReport"
) -> tuple[JobResult, list[Job]]:
    """Return what came of a job, and what is left of it if it was cut."""
    if isinstance(value, Cut):
        report.cut(job, value.rest, value.share)
        return JobResult(value.done, value.value), [value.rest]
    report.finished(job)
    return JobResult(job, value, failure), []


def _impatient(
    show: Callable[[float], None] | None,
    check_interrupt: Callable[[], None],
    end: float,
) -> Callable[[float], None]:
    """Return a report of progress that raises where a job lasts long after ``end``.

    And where there was a signal to end.
    """
    began = math.inf

    def hear(share: float) -> None:
        nonlocal began
        check_interrupt()
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
    except Exception as error:
        return None, error


def _outcome_there(
    job: Job, write: PartWriter | None = None
) -> tuple[Any, Exception | None]:
    """Return what a job computed in another process, on one of its cores.

    The arrays of a step are far too small for several threads: workers that each start
    as many as there are cores only get into each other's way. NPROC is how many XLA
    takes, if it is set before the first program.
    """
    if parent_process() is not None:
        os.environ.setdefault("NPROC", "1")
    value, failure = _outcome(job)
    if write is None or failure is not None:
        return value, failure
    try:
        if isinstance(value, Cut):
            return replace(value, value=write(value.done, value.value)), None
        return write(job, value), None
    except (OutputFolderError, OutputWriteError) as error:
        return None, error


def _run_there(
    executor: Executor,
    most: int,
    jobs: Sequence[Job],
    keep: Callable[[JobResult], None],
    report: "ProgressReport",
    check_interrupt: Callable[[], None],
    write: PartWriter | None = None,
) -> None:
    """Hand all jobs to an executor, at most so many at a time; retry those it loses."""
    waiting, running = deque(jobs), dict[Future, Job]()
    losses: Counter[str] = Counter()
    begun = set[Hashable]({None})
    how = () if write is None else (write,)
    try:
        while waiting or running:
            while waiting and len(running) < most:
                job = waiting.popleft()
                if job.program not in begun:
                    report.compiling(job)
                    begun.add(job.program)
                running[executor.submit(_outcome_there, job, *how)] = job
            done, _ = wait(running, timeout=1.0, return_when=FIRST_COMPLETED)
            check_interrupt()
            for future in done:
                job = running.pop(future)
                if future.cancelled():
                    raise ExecutorError(_GONE)
                error = future.exception()
                if isinstance(error, BrokenExecutor) and losses[job.name] < _RETRIES:
                    losses[job.name] += 1
                    waiting.appendleft(job)
                    continue
                # A worker that dies again and again (out of memory, say) fails its job.
                failure = None if error is None else RuntimeError(str(error))
                value, failure = (None, failure) if failure else future.result()
                result, rest = _finished(job, value, failure, report)
                waiting.extendleft(rest)
                begun.update(each.program for each in rest)
                keep(result)
    except BrokenExecutor as error:
        raise ExecutorError(f"{_GONE} ({error})") from error
    finally:
        for future in running:
            future.cancel()


def _new_programs_first(jobs: Sequence[Job]) -> list[Job]:
    """Put one job of each program before the others.

    So idle workers compile different programs, and read from the disk what another one
    has compiled (:mod:`bayesduel.program_cache`): of four policies without kernels two
    workers took 57 CPU seconds, with nothing on the disk, and 80 in the plain order.
    """
    first = {job.program: job for job in reversed(jobs) if job.program is not None}
    leading = {id(job) for job in first.values()}
    return sorted(
        jobs, key=lambda job: job.program is not None and id(job) not in leading
    )


def _several_to_compile(jobs: Sequence[Job]) -> bool:
    """Say whether jobs need more than one program that is not at hand.

    Compiling one takes several times as long as a worker takes to start.
    """
    missing = 0
    for program in dict.fromkeys(job.program for job in jobs):
        if isinstance(program, str):
            from bayesduel.simulation.programs import is_at_hand

            missing += not is_at_hand(program)
        if missing > 1:
            return True
    return False


class _Processes(Executor):
    """Worker processes, each a pool of its own: one that dies loses only its job."""

    def __init__(self, workers: int) -> None:
        self._pools = [_one_process() for _ in range(workers)]
        self._idle: SimpleQueue[tuple[int, bool]] = SimpleQueue()
        for worker in range(workers):
            self._idle.put((worker, False))

    def submit(self, fn: Callable, /, *args: Any, **kwargs: Any) -> Future:
        """Run a function as soon as a process is idle."""
        worker, is_broken = self._idle.get()
        if is_broken:
            self._pools[worker].shutdown(wait=False)
            self._pools[worker] = _one_process()

        def release(future: Future) -> None:
            # A broken pool holds its lock here, which even dropping it would ask for.
            failed = not future.cancelled() and future.exception() is not None
            self._idle.put((worker, failed))

        with unreached_children():
            future = self._pools[worker].submit(fn, *args, **kwargs)
        future.add_done_callback(release)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes; those still at work are killed if asked to cancel."""
        for pool in self._pools:
            if cancel_futures:
                for process in list((pool._processes or {}).values()):
                    process.terminate()
            pool.shutdown(wait=wait, cancel_futures=True)


@contextmanager
def _processes(workers: int) -> Iterator[_Processes]:
    """Give worker processes that end with the block."""
    pool = _Processes(workers)
    try:
        yield pool
        pool.shutdown()
    except BaseException:
        pool.shutdown(cancel_futures=True)
        raise


def _one_process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(
        1,
        mp_context=get_context("spawn"),
        initializer=_prepare_worker,
        initargs=(gc.get_threshold(),),
    )


def _prepare_worker(most_objects: tuple[int, int, int]) -> None:
    """Leave Ctrl-C to the parent, and look for garbage as rarely as it does."""
    own_process()
    gc.set_threshold(*most_objects)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "SIGHUP"):  # A terminal that closes reaches the whole group.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when the one that wants its results has been killed."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)

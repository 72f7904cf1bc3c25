"""Chunks carried out: in this process, in worker processes, or by an executor."""

import gc
import json
import logging
import math
import os
import re
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import xarray as xr

from bayesduel.errors import (
    ExecutorError,
    Interrupted,
    OutputFolderError,
    OutputWriteError,
    SimulationArgumentError,
)
from bayesduel.experiments.arguments import worker_count
from bayesduel.experiments.assemble import KIND, PLAN, Gathered, finish
from bayesduel.experiments.chunk import (
    Arrays,
    Chunk,
    arrays_of,
    chunk_arrays,
    from_bytes,
    node_attributes,
    to_bytes,
)
from bayesduel.experiments.folder import RunFolder, write_chunk
from bayesduel.experiments.progress import ProgressReport, progress_reporter
from bayesduel.files.folders import MARKER, OWN, require_folder, write_whole
from bayesduel.ops.program_cache import own_process
from bayesduel.results import FILE_NAMES, check_format
from bayesduel.signals import heard, signals_wait, unreached_children
from theory.arguments import true_or_false

_ENOUGH_WORK = 5.0
"""Seconds of work after which worker processes pay: they need some until they have
imported what they run. Of processor time: on a busy machine they need longer."""

_FEW_PROGRAMS = 3
"""Programs that are compiled here, one after the other. Two workers would compile three
in 10.8 s instead of 12.2 where both cores are idle, and take a fifth more processor
time; on a busy machine they are slower."""

_LONG_CHUNK = 2.0
"""Seconds of simulation (not compilation) after which a worker starts a new chunk."""

_MOST_SENT = 1024  # Chunks that wait at an executor at most.

_GROUP_SECONDS = 0.5
"""Seconds that tasks last which are sent together; Dask takes 6 ms to send one."""

_RETRIES = 2  # How often a chunk is begun anew that was lost with its worker.

_GONE = (
    "executor: it is gone before all chunks were done; finished chunks are kept, "
    "continue with a new executor and resume"
)


def run_experiment(
    experiment: Any,
    *,
    jobs: int | None = 1,
    executor: Executor | None = None,
    part: str | None = None,
    shared: bool = False,
    format: str = "netcdf",
    progress: bool = False,
    out: Path | str | None = None,
    resume: bool = False,
    overwrite: bool = False,
    tables: Callable[[xr.DataTree], Mapping[str, bytes]] | None = None,
) -> xr.DataTree:
    """Simulate the chunks of an experiment that are missing, and return all results."""
    check_format(format)
    flags = {"progress": progress, "resume": resume, "overwrite": overwrite}
    for name, flag in (flags | {"shared": shared}).items():
        true_or_false(flag, name, kind=SimulationArgumentError)
    workers = worker_count(jobs)
    if executor is not None and not isinstance(executor, Executor):
        rule = "must be a concurrent.futures.Executor"
        remedy = "of a client of Dask take client.get_executor()"
        raise SimulationArgumentError("executor", rule, executor, remedy=remedy)
    number, count = (1, 1) if part is None else _read_part(part)
    if shared and executor is None:
        rule = "is for the workers of an executor"
        remedy = "give {executor}, or leave it out"
        raise SimulationArgumentError("shared", rule, shared, remedy=remedy)
    require_folder(out, resume=resume, overwrite=overwrite)
    if part is not None and (out is None or overwrite):
        rule = "excludes overwrite" if overwrite else "needs a folder"
        remedy = "remove the folder first" if overwrite else "give {out}"
        raise OutputFolderError("part", rule, part, remedy=remedy)
    if shared and out is None:
        raise OutputFolderError("shared", "needs a folder", True, remedy="give {out}")
    request = experiment.request()
    instances = {problem.name: problem.dataset() for problem in experiment.problems}
    gathered, finished = Gathered(request, instances), []

    def taken(chunk: Chunk, data: bytes | Arrays | None) -> bool:
        """Take the results of a chunk, or its file; say whether there are any."""
        if data is not None:
            arrays = from_bytes(data) if isinstance(data, bytes) else data
            gathered.add(chunk.settings.node_names, chunk.runs, arrays)
            finished.append(chunk)
        return data is not None

    with (
        nullcontext()
        if out is None
        else RunFolder.claim(
            out, kind=KIND, resume=resume or part is not None, overwrite=overwrite
        ) as folder
    ):
        if folder is not None:
            _begin(folder, experiment, request, instances, part, overwrite=overwrite)
        chunks = experiment.chunks()[number - 1 :: count]
        function: Callable[[Chunk], Any] = _simulated
        if folder is None:
            function = chunk_arrays
        elif shared:
            function = partial(_simulated_there, str(folder.path.resolve()))
        try:
            with (
                signals_wait() as raise_signal,
                progress_reporter(enabled=progress) as report,
            ):
                report.expect(len(chunks))
                present = folder.digests() if folder is not None else set()
                missing = []
                for chunk in chunks:
                    raise_signal()
                    if folder is not None and present and chunk.digest in present:
                        if taken(chunk, folder.load(chunk.digest)):
                            report.finished("reading finished chunks")
                            continue
                    missing.append(chunk)
                outcomes = execute(
                    function,
                    missing,
                    workers=workers,
                    try_here=jobs is None,
                    executor=executor,
                    report=report,
                    words=lambda chunk: " on ".join(
                        reversed(chunk.settings.node_names)
                    ),
                    program=lambda chunk: chunk.settings.kernel,
                    wanted=lambda chunk: (
                        chunk.settings.node_names not in gathered.failures
                    ),
                )
                with closing(outcomes):
                    for chunk, value, failure in outcomes:
                        if isinstance(failure, OutputFolderError | OutputWriteError):
                            raise failure
                        if failure is not None:
                            node = _failed(chunk, failure, experiment.num_runs)
                            gathered.failures.setdefault(
                                chunk.settings.node_names, node
                            )
                        elif folder is None:
                            taken(chunk, value)
                        elif value is not None:
                            folder.save(chunk.digest, value)
                            taken(chunk, value)
                        elif not taken(chunk, folder.load(chunk.digest, wait=True)):
                            raise OutputWriteError(
                                f"out: a worker has written chunk {chunk.digest}, "
                                "which is not seen here or damaged; share the folder "
                                "with the workers, and continue with resume"
                            )
                        raise_signal()
                raise_signal()
                tree = gathered.tree()
                if folder is not None and part is None:
                    finish(folder, tree, format, tables)
        except KeyboardInterrupt as error:
            raise Interrupted(error, finished, lambda _: gathered.tree()) from error
        except (ExecutorError, OutputWriteError) as error:
            error.partial = gathered.tree()  # pyright: ignore
            raise
    return tree


def _failed(chunk: Chunk, failure: Exception, num_runs: int) -> xr.Dataset:
    """Return the node of a policy that fails in a run: it has no variables."""
    notes = "; ".join(getattr(failure, "__notes__", []))
    error = f"{type(failure).__name__}: {failure}" + (f" ({notes})" if notes else "")
    attributes = node_attributes(chunk) | {"num_runs": num_runs, "error": error}
    return xr.Dataset(attrs=attributes)


def _simulated(
    chunk: Chunk, on_progress: Callable[[float], None] | None = None
) -> bytes:
    """Return the content of the file of a chunk."""
    return to_bytes(chunk_arrays(chunk, on_progress))


def _simulated_there(folder: str, chunk: Chunk) -> None:
    """Write the file of a chunk where it is simulated."""
    if not Path(folder, OWN, MARKER).is_file():
        rule = f"the workers do not see {folder}"
        remedy = "name a folder on a disk that they share, or leave it out"
        raise OutputFolderError("shared", rule, folder, remedy=remedy)
    write_chunk(folder, chunk.digest, _simulated(chunk))


# --- The folder ----------------------------------------------------------------------


def _read_part(value: Any) -> tuple[int, int]:
    """Return the numbers of a part such as "3/10"."""
    match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", str(value))
    number, count = map(int, match.groups()) if match else (0, 0)
    if not 1 <= number <= count:
        rule, remedy = "must be a number of a number, from 1/n to n/n", "such as 3/10"
        raise SimulationArgumentError("part", rule, value, remedy=remedy)
    return number, count


def _begin(
    folder: RunFolder,
    experiment: Any,
    request: Mapping[str, Any],
    instances: Mapping[str, xr.Dataset],
    part: str | None,
    *,
    overwrite: bool,
) -> None:
    """Write down the request, after checking that it goes with what a folder holds."""
    marker = folder.marker()
    if overwrite:
        folder.remove(*FILE_NAMES.values())
        folder.remove_chunks()
    elif known := marker.get("request"):
        _check_contains(folder.path, request, known)
        if part is not None:
            _check_part(folder.path, request, known, marker, part)
    folder.note(request=request)
    if part is not None:
        for index, node in enumerate(instances.values()):
            data = to_bytes(arrays_of(node))
            write_whole(folder.path / OWN / f"{PLAN}-{index}", data)
        folder.note(parts=_read_part(part)[1])
    from bayesduel.experiments.toml import folder_files

    for name, data in folder_files(vars(experiment)).items():
        write_whole(folder.path / name, data)
    if part is not None:
        folder.release()


def _check_contains(
    path: Path, ours: Mapping[str, Any], theirs: Mapping[str, Any]
) -> None:
    """Refuse a request that lacks something of the one that a folder is for."""
    places = {(x["instance"], x["policy"]): x["request"] for x in ours["places"]}
    for entry in theirs["places"]:
        node_names = entry["instance"], entry["policy"]
        what = f"{path} holds {node_names[1]} on {node_names[0]}"
        remedy = "replace it ({overwrite}), or name another folder"
        most, runs = (known["attributes"]["num_runs"] for known in (theirs, ours))
        if node_names not in places or most > runs:
            rule = f"{what} up to run {most - 1}, which this request would drop"
            remedy = f"ask for that too, {remedy}"
            raise OutputFolderError("out", rule, path, remedy=remedy)
        first, second = (json.loads(x) for x in (entry["request"], places[node_names]))
        for name in sorted({*first, *second}):
            old, new = first.get(name), second.get(name)
            if old != new:
                shown = [x for x in (old, new) if isinstance(x, int | float)]
                both = f" ({old}, not {new})" if len(shown) == 2 else ""
                if name == "code":
                    both = ": the source of the policy has changed since"
                if name == "program":
                    both = f" ({old}; here {new} would play)"
                rule = f"{what} with another {name}{both}"
                remedy = f"ask for the same, {remedy}"
                raise OutputFolderError("out", rule, path, remedy=remedy)


def _check_part(
    path: Path,
    request: Mapping[str, Any],
    known: Mapping[str, Any],
    marker: Mapping[str, Any],
    part: str,
) -> None:
    """Refuse a part of another request, of another number of parts, or of no use."""
    count = _read_part(part)[1]
    rule = remedy = ""
    if {*FILE_NAMES.values()} & {*marker["sha256"]}:
        rule = f"{path} holds the results of all parts"
        remedy = "chunks that are missing there are simulated by {resume} without part"
    elif json.dumps(request, sort_keys=True) != json.dumps(known, sort_keys=True):
        rule = f"{path} holds parts of a smaller request"
        remedy = "ask for the same, or name another folder"
    elif marker.get("parts", count) != count:
        most = marker["parts"]
        rule = f"{path} holds parts of {most}"
        remedy = f"give one of them, from 1/{most} to {most}/{most}"
    if rule:
        raise OutputFolderError("part", rule, part, remedy=remedy)


# --- Processes -----------------------------------------------------------------------


class _TakesLong(BaseException):
    """A chunk that a worker process shall begin anew; no failure of the chunk."""


def execute[Task](
    function: Callable[..., Any],
    tasks: Sequence[Task],
    *,
    workers: int,
    report: ProgressReport,
    words: Callable[[Task], str],
    program: Callable[[Task], Hashable] = lambda _: None,
    wanted: Callable[[Task], bool] = lambda _: True,
    try_here: bool = False,
    executor: Executor | None = None,
) -> Generator[tuple[Task, Any, Exception | None]]:
    """Yield every task with its result or its exception, when it ends."""
    workers = min(workers, len(tasks))
    # Idle workers compile different programs, or read what another one has compiled.
    first: dict[Hashable, int] = {}
    for index, task in enumerate(tasks):
        first.setdefault(program(task), index)
    leading = {*first.values()}
    waiting = deque(tasks[index] for index in first.values())
    waiting.extend(task for index, task in enumerate(tasks) if index not in leading)
    here, missing = executor is None and (workers <= 1 or try_here), set[Hashable]()
    if here and workers > 1:
        from bayesduel.simulation.programs import is_at_hand

        # Workers compile many programs side by side. A few take less time in one
        # process, which imports the compiler and compiles what they share once.
        missing = {x for x in first if isinstance(x, str) and not is_at_hand(x)}
        here = len(missing) <= _FEW_PROGRAMS
    if here:
        end = time.process_time() + (_ENOUGH_WORK if workers > 1 else math.inf)
        while waiting and time.process_time() < end:
            task, began = waiting[0], time.process_time()
            value, failure = None, None
            if not wanted(task):
                report.finished(words(waiting.popleft()))
                continue
            try:
                hear = report.update(words(task))
                value = function(task, hear if end == math.inf else _hearing(hear, end))
            except _TakesLong:
                break
            except Exception as error:
                failure = error
            if program(task) in missing:  # Compiling is no work that workers share.
                missing.discard(program(task))
                end += time.process_time() - began
            report.finished(words(waiting.popleft()))
            yield task, value, failure
    if not waiting:
        return
    with nullcontext(executor) if executor is not None else _Workers(workers) as pool:
        most = _MOST_SENT if executor is not None else 2 * workers
        yield from _execute_there(
            pool, most, waiting, function, report, words, program, wanted
        )


def _hearing(
    show: Callable[[float], None] | None, end: float
) -> Callable[[float], None]:
    """Return a report of progress that raises if a chunk lasts long after ``end``."""
    began = math.inf

    def hear(share: float) -> None:
        nonlocal began
        now = time.process_time()
        if share > 0:
            began = min(began, now)
        if now > max(end, began + _LONG_CHUNK):
            raise _TakesLong
        if show is not None:
            show(share)

    return hear


def _execute_there(
    executor: Any,
    most: int,
    waiting: deque[Any],
    function: Callable[..., Any],
    report: ProgressReport,
    words: Callable[[Any], str],
    program: Callable[[Any], Hashable],
    wanted: Callable[[Any], bool],
) -> Iterator[tuple[Any, Any, Exception | None]]:
    """Hand tasks to an executor, at most so many at a time."""
    # Short tasks of one program go together, once it is known how long they last. One
    # that was lost with its worker is begun anew, alone. After a signal to end nothing
    # new is begun.
    alone, running = deque[Any](), dict[Future, list[Any]]()
    losses: Counter[int] = Counter()
    seconds: dict[Hashable, float] = {}
    begun, slots = set[Hashable](), None

    def next_group(slots: int | None) -> list[Any]:
        """Take tasks of one program that last for ``_GROUP_SECONDS`` together."""
        if alone:
            return [alone.popleft()]
        kind, group, size = program(waiting[0]), [waiting.popleft()], 1
        if slots is not None and kind in seconds:
            # The last groups are small, so that no worker waits for another one.
            largest = len(waiting) // (2 * slots)
            size = min(int(_GROUP_SECONDS / max(seconds[kind], 1e-6)), largest)
        while len(group) < size and waiting and program(waiting[0]) == kind:
            group.append(waiting.popleft())
        return group

    try:
        while waiting or alone or running:
            if heard:
                waiting.clear()
                alone.clear()
                for future in [future for future in running if future.cancel()]:
                    running.pop(future)
                if not running:
                    return
            slots = _slots(executor)
            room = most if slots is None else min(most, 2 * slots)
            while (alone and not running) or (
                waiting and not alone and len(running) < room
            ):
                group = []
                for task in next_group(slots):
                    if wanted(task):
                        group.append(task)
                    else:
                        report.finished(words(task))
                if not group:
                    continue
                if program(group[0]) not in begun:
                    report.compiling(words(group[0]))
                    begun.add(program(group[0]))
                if slots is None:
                    future = executor.submit(function, group[0])
                else:
                    future = executor.submit(_do_group, function, group)
                running[future] = group
            done, _ = wait(running, timeout=0.2, return_when=FIRST_COMPLETED)
            for future in done:
                group = running.pop(future)
                if future.cancelled():
                    raise ExecutorError(_GONE)
                error = future.exception()
                if isinstance(error, Exception) and len(group) > 1:
                    alone.extend(group)
                    continue
                task = group[0]
                if isinstance(error, BrokenExecutor):
                    losses[id(task)] += 1
                    if losses[id(task)] <= _RETRIES:
                        alone.append(task)
                        continue
                    # It dies again and again, out of memory for example.
                    error = RuntimeError(str(error))
                if error is not None and not isinstance(error, Exception):
                    raise error
                outcomes = [(None, error)]
                if error is None and slots is None:
                    outcomes = [(future.result(), None)]
                elif error is None:
                    outcomes, seconds[program(task)] = future.result()
                for task, (value, failure) in zip(group, outcomes, strict=True):
                    report.finished(words(task))
                    yield task, value, failure
    except BrokenExecutor as error:
        raise ExecutorError(f"{_GONE} ({error})") from error
    finally:
        for future in running:
            future.cancel()


def _do_group(
    function: Callable[[Any], Any], tasks: list[Any]
) -> tuple[list[tuple[Any, Exception | None]], float]:
    """Return what came of each task, its result or its exception, and mean seconds."""
    outcomes, began = [], time.process_time()
    for task in tasks:
        try:
            outcomes.append((function(task), None))
        except Exception as error:
            outcomes.append((None, error))
    return outcomes, (time.process_time() - began) / len(tasks)


def _slots(executor: Any) -> int | None:
    """Return how many tasks an executor does at a time; None where it does not say."""
    threads = getattr(getattr(executor, "_client", None), "nthreads", None)
    if threads is not None:  # Dask, whose number of workers may change.
        try:
            return max(1, sum(threads().values()))
        except (OSError, TimeoutError, ValueError) as error:
            raise BrokenExecutor(f"its scheduler does not answer: {error}") from error
    workers = getattr(executor, "_max_workers", None)
    return workers if isinstance(workers, int) else None


class _Workers:
    """Worker processes that end with the block, begun anew where one has died."""

    def __init__(self, workers: int) -> None:
        self._max_workers = workers
        self._pool: Any = None

    def __enter__(self) -> "_Workers":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(kill_workers=kind is not None)

    def submit(self, function: Callable[..., Any], *given: Any) -> Future:
        """Call a function as soon as a process is idle."""
        try:
            if self._pool is not None:
                return self._pool.submit(function, *given)
        except BrokenExecutor:
            self._pool.shutdown(kill_workers=True)  # pyright: ignore
        # Loky takes 50 ms to import.
        from loky.backend import resource_tracker
        from loky.process_executor import ProcessPoolExecutor

        variables = {
            "NPROC": os.environ.get("NPROC", "1"),
            # Programs of JAX take hundreds of megabytes, which is no leak.
            "LOKY_MAX_MEMORY_LEAK_SIZE": "1e15",
        }
        self._pool = ProcessPoolExecutor(
            self._max_workers,
            initializer=_prepare_worker,
            initargs=(os.getpid(), gc.get_threshold()),
            env=variables,
        )
        resource_tracker.ensure_running()
        with unreached_children():
            return self._pool.submit(function, *given)


def _prepare_worker(parent: int, most_objects: tuple[int, int, int]) -> None:
    """Leave Ctrl-C to the parent, and look for garbage as rarely as it does."""
    own_process()
    gc.set_threshold(*most_objects)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "SIGHUP"):  # A terminal that closes reaches the whole group.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    if os.name == "posix":
        threading.Thread(target=end_with_parent, daemon=True).start()


# --- Dask ----------------------------------------------------------------------------


@contextmanager
def dask_executor(address: str, workers: int) -> Iterator[Executor]:
    """Give an executor of Dask, for the length of the block."""
    try:
        from dask import config
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise ImportError(
            "Dask is missing; install bayesduel with the extra 'distributed'"
        ) from error
    if address != "local" and "://" not in address:
        rule = "must be 'local' or the address of a scheduler"
        remedy = "such as tcp://host:8786"
        raise SimulationArgumentError("dask", rule, address, remedy=remedy)
    cluster: Any = nullcontext(address)
    if address == "local":
        # A profile of the stacks of workers, a hundred times a second, is for pages
        # that nobody opens: it took a tenth of their time. So did looks at the clock,
        # at memory and at the system, 50, 10 and 2 times a second.
        quiet = {
            "distributed.worker.profile.enabled": False,
            "distributed.admin.tick.interval": "1s",
            "distributed.admin.system-monitor.interval": "5s",
            "distributed.worker.memory.monitor-interval": "2s",
        }
        with unreached_children(), config.set(quiet):
            cluster = LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                # Without an address it takes a port that other clusters want, too.
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            )
        # Workers that die while they are started are replaced.
        cluster.adapt(minimum=workers, maximum=workers)
    with cluster as scheduler, Client(scheduler, timeout=30) as client:
        executor = client.get_executor(pure=False)
        try:
            yield executor
        finally:
            # An interrupt keeps some alive; once the client is gone they complain.
            for future in [*getattr(executor, "_futures", ())]:
                future.release()

"""The folder of a sweep: finished jobs at once, everything at the end."""

import json
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

from bayesduel.errors import (
    ExecutorError,
    Interrupted,
    OutputFolderError,
    OutputWriteError,
    SimulationArgumentError,
)
from bayesduel.experiments.engines import run_jobs
from bayesduel.experiments.interrupts import noticed_interrupts
from bayesduel.experiments.jobs import (
    JobResult,
    PartWriter,
    Sweep,
    Written,
    refuse_others,
)
from bayesduel.experiments.owned_folder import OwnedFolder
from bayesduel.experiments.progress import progress_reporter
from bayesduel.experiments.request.arguments import check_executor, worker_count
from bayesduel.files.folders import require_folder, write_whole
from theory.arguments import true_or_false

PLAN = "plan"
"""Name of the part that says what all parts make together."""

_JOBS_PER_WORKER = 3
_MOST_JOBS_CUT = 48
"""Into how many jobs a sweep is cut at least, so that no worker ends long before the
others: one policy may take most of the time. A job itself takes 4 ms."""


@dataclass(frozen=True)
class Part:
    """The jobs of one of several processes that share a sweep, numbered from 1."""

    number: int
    count: int

    @property
    def words(self) -> str:
        """What the folder calls it."""
        return f"{self.number}-of-{self.count}"

    @classmethod
    def read(cls, value: Any) -> Self:
        """Read a part such as "3/10".

        Raises ``SimulationArgumentError`` if it is none.
        """
        found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", str(value))
        numbers = [int(each) for each in found.groups()] if found else [0, 0]
        if not 1 <= numbers[0] <= numbers[1]:
            raise SimulationArgumentError(
                "part",
                "must be a number of a number, from 1/n to n/n",
                value,
                remedy="such as 3/10",
            )
        return cls(*numbers)

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


@dataclass(frozen=True)
class SweepFolder:
    """A folder that belongs to one sweep, or none at all: then nothing is kept.

    It is locked from :meth:`prepare` to the end of its ``with`` statement.
    """

    sweep: Sweep
    owned: OwnedFolder | None
    resume: bool
    part: Part | None = None

    @classmethod
    def prepare(
        cls,
        sweep: Sweep,
        path: Path | str | None,
        *,
        resume: bool,
        overwrite: bool,
        part: Part | None = None,
    ) -> Self:
        """Check the folder, make it and lock it.

        Raises ``OutputFolderError`` if it cannot be used (see
        :meth:`bayesduel.experiments.owned_folder.OwnedFolder.claim`), or ``resume`` or
        ``overwrite`` has no folder.
        """
        require_folder(path, resume=resume, overwrite=overwrite)
        if part is not None:
            return cls._prepare_part(sweep, path, part, overwrite=overwrite)
        if path is None:
            return cls(sweep, None, resume)
        owned = OwnedFolder.claim(
            path, kind=sweep.kind, resume=resume, overwrite=overwrite
        )
        if overwrite:
            owned.remove(sweep.file, *sweep.superseded)
            owned.remove_parts()
        return cls(sweep, owned, resume)

    @classmethod
    def _prepare_part(
        cls, sweep: Sweep, path: Path | str | None, part: Part, *, overwrite: bool
    ) -> Self:
        if path is None or overwrite:
            rule = "excludes overwrite" if overwrite else "needs a folder"
            remedy = "remove the folder first" if overwrite else "give {out}"
            raise OutputFolderError("part", rule, str(part), remedy=remedy)
        owned = OwnedFolder.claim(path, kind=sweep.kind, resume=True, share=part.words)
        try:
            marker = owned.marker()
            if {sweep.file, *sweep.superseded} & {*marker["sha256"]}:
                raise OutputFolderError(
                    "part",
                    f"{owned.path} holds all parts joined",
                    str(part),
                    remedy="what is missing there is done by {resume} without a part",
                )
            if known := marker.get("request"):
                ours = json.loads(json.dumps(sweep.request()))
                refuse_others(owned, "parts", ours, known)
            if plan := owned.part(PLAN):
                sweep.check_plan(owned, plan)
            count = marker.get("parts", part.count)
            if count != part.count:
                raise OutputFolderError(
                    "part",
                    f"{owned.path} holds parts of {count}",
                    str(part),
                    remedy=f"give one of them, from 1/{count} to {count}/{count}",
                )
        except BaseException:
            owned.release()
            raise
        return cls(sweep, owned, resume=False, part=part)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.owned is not None:
            self.owned.release()

    def finished(self) -> list[JobResult]:
        """Read back what an interrupted sweep has finished."""
        if self.owned is None or not self.resume:
            return []
        return self.joined(self.sweep.read_back(self.owned))

    def joined(self, stored: Sequence[JobResult]) -> list[JobResult]:
        """Join what was read back of a folder, also on the disk."""
        finished: list[JobResult] = []
        for result in stored:
            finished.append(result)
            self.join(finished, result)
        return finished

    def missing(self, workers: int, finished: Sequence[Any]) -> Sequence[Any]:
        """Return the jobs that are to be done."""
        if self.part is None or self.owned is None:
            several = min(_JOBS_PER_WORKER * workers, _MOST_JOBS_CUT)
            least = max(workers, several) if workers > 1 else 1
            return self.sweep.jobs(least, finished)
        # The cut is the same for all parts, whatever their numbers of workers.
        jobs = self.sweep.jobs(self.part.count, [])
        own = jobs[self.part.number - 1 :: self.part.count]
        is_kept = self.owned.intact_parts()
        left = [self.sweep.left(job, is_kept) for job in own]
        return [job for job in left if job is not None]

    def begin(self) -> None:
        """Write down what the folder is for."""
        if self.owned is None:
            return
        self.owned.note(request=dict(self.sweep.request()))
        self._write(self.sweep.request_files())
        if self.part is not None:
            self.owned.note(parts=self.part.count)
            plan = self.sweep.plan()
            if plan is not None and self.owned.part(PLAN) is None:
                self.owned.keep_part(PLAN, self.sweep.ending, plan)

    def writer(self) -> PartWriter:
        """Return what lets workers that share the folder write to it themselves.

        Raises ``OutputFolderError`` if there is no folder.
        """
        if self.owned is None:
            rule = "needs a folder"
            raise OutputFolderError("shared", rule, True, remedy="give {out}")
        folder = self.owned.path.resolve()
        return PartWriter(folder, self.sweep.ending, self.sweep.to_bytes)

    def found(self, result: JobResult) -> JobResult:
        """Return a result whose value a worker has written as one that reads it."""
        if self.owned is None or not isinstance(result.held, Written):
            return result
        self.owned.wait_for(result.held.file)
        return JobResult(result.job, read=partial(self._read, result.job.name))

    def _read(self, name: str) -> Any:
        data = None if self.owned is None else self.owned.part(name)
        if data is None:
            raise OutputWriteError(
                f"out: what a worker has written of {name} is gone or damaged; go on "
                "with resume"
            )
        return self.sweep.from_bytes(data)

    def keep(self, result: JobResult) -> None:
        """Write a finished job; one that failed is tried again by ``resume``."""
        is_written = result.failure is not None or result.read is not None
        if self.owned is not None and not is_written:
            data = self.sweep.to_bytes(result.value)
            self.owned.keep_part(result.job.name, self.sweep.ending, data)

    def join(self, finished: list[JobResult], last: JobResult) -> None:
        """Replace finished jobs by what they are in one, also on the disk."""
        while found := self.sweep.joined(finished, last):
            last, parts = found
            self.keep(last)
            if self.owned is not None and all(part.read for part in parts):
                last = JobResult(last.job, read=partial(self._read, last.job.name))
            finished.append(last)
            gone = {id(part) for part in parts}
            finished[:] = [each for each in finished if id(each) not in gone]
            if self.owned is not None:
                for part in parts:
                    self.owned.remove_part(part.job.name)

    def finish(self, found: Any) -> None:
        """Write everything, and drop the files of single jobs if none has failed."""
        if self.owned is None:
            return
        data, entries = self.sweep.to_file(found)
        self.owned.write(self.sweep.file, data, **entries)
        self.owned.remove(*self.sweep.superseded)
        self._write(self.sweep.extra_files(found))
        if self.sweep.is_whole(found):
            self.owned.remove_parts()

    def _write(self, files: Mapping[str, bytes]) -> None:
        """Write files that are the user's to move: the marker does not know them."""
        for name, data in files.items():
            if self.owned is not None:
                write_whole(self.owned.path / name, data)


def execute_sweep(
    sweep: Sweep,
    *,
    jobs: int | None,
    out: Path | str | None,
    resume: bool,
    overwrite: bool,
    progress: bool,
    executor: Executor | None = None,
    part: Part | None = None,
    shared: bool = False,
) -> Any:
    """Run the jobs of a sweep that are missing, keep them, and return everything.

    With ``part`` only its jobs are run and kept, and what came of them is returned;
    other processes may do the other parts at the same time. What runs the jobs of an
    executor writes their values to a ``shared`` folder itself. Errors of arguments and
    folders come before anything is computed, others have what is finished as
    ``.partial``.
    """
    flags = {"progress": progress, "resume": resume, "overwrite": overwrite}
    flags["shared"] = shared
    for name, flag in flags.items():
        true_or_false(flag, name, kind=SimulationArgumentError)
    workers = worker_count(jobs)
    check_executor(executor)
    if shared and executor is None:
        raise SimulationArgumentError(
            "shared",
            "is for the workers of an executor",
            shared,
            remedy="give {executor}, or leave it out",
        )
    with SweepFolder.prepare(
        sweep, out, resume=resume, overwrite=overwrite, part=part
    ) as folder:
        write = folder.writer() if shared else None
        finished = folder.finished()
        todo = folder.missing(workers, [each.job for each in finished])
        folder.begin()

        def keep(result: JobResult) -> None:
            if result.failure is not None and sweep.ends_with_failure:
                raise result.failure
            if isinstance(result.failure, OutputFolderError | OutputWriteError):
                raise result.failure
            result = folder.found(result)
            finished.append(result)
            folder.keep(result)
            folder.join(finished, result)

        try:
            with progress_reporter(enabled=progress) as report:
                run_jobs(
                    todo,
                    workers,
                    keep,
                    report,
                    try_here=jobs is None,
                    executor=executor,
                    write=write,
                )
            found = sweep.assemble(finished)
            if part is None:
                with noticed_interrupts() as interrupts, interrupts.held():
                    folder.finish(found)
        except KeyboardInterrupt as error:
            raise Interrupted(error, finished, sweep.assemble) from error
        except (ExecutorError, OutputWriteError) as error:
            error.partial = sweep.assemble(finished)  # pyright: ignore
            raise
    return found

"""The folder of a sweep: finished jobs at once, everything at the end."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from bayesduel.errors import OutputWriteError
from bayesduel.experiments.checks import check_flag, worker_count
from bayesduel.experiments.engines import run_jobs
from bayesduel.experiments.jobs import JobResult, Sweep
from bayesduel.experiments.owned_folder import OwnedFolder
from bayesduel.folders import require_folder
from bayesduel.progress import progress_reporter


@dataclass(frozen=True)
class SweepFolder:
    """A folder that belongs to one sweep, or none at all: then nothing is kept.

    It is locked from :meth:`prepare` to the end of its ``with`` statement.
    """

    sweep: Sweep
    owned: OwnedFolder | None
    resume: bool

    @classmethod
    def prepare(
        cls, sweep: Sweep, path: Path | str | None, *, resume: bool, overwrite: bool
    ) -> Self:
        """Check the folder, make it and lock it.

        Raises
        ------
        OutputFolderError
            If it cannot be used (see
            :meth:`bayesduel.experiments.owned_folder.OwnedFolder.claim`), or ``resume``
            or ``overwrite`` has no folder.
        """
        require_folder(path, resume=resume, overwrite=overwrite)
        if path is None:
            return cls(sweep, None, resume)
        owned = OwnedFolder.claim(
            path, kind=sweep.kind, resume=resume, overwrite=overwrite
        )
        if overwrite:
            owned.remove(sweep.file)
            owned.remove_parts()
        return cls(sweep, owned, resume)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.owned is not None:
            self.owned.release()

    def finished(self) -> list[JobResult]:
        """Read back what an interrupted sweep has finished."""
        if self.owned is None or not self.resume:
            return []
        return self.sweep.read_back(self.owned)

    def begin(self) -> None:
        """Write down what the folder is for."""
        if self.owned is not None:
            self.owned.note(request=dict(self.sweep.request()))

    def keep(self, result: JobResult) -> None:
        """Write a finished job; one that failed is tried again by ``resume``."""
        if self.owned is not None and result.failure is None:
            data = self.sweep.to_bytes(result.value)
            self.owned.keep_part(result.job.name, self.sweep.ending, data)

    def finish(self, found: Any) -> None:
        """Write everything, and drop the files of single jobs if none has failed."""
        if self.owned is None:
            return
        data, entries = self.sweep.to_file(found)
        self.owned.write(self.sweep.file, data, **entries)
        if self.sweep.is_whole(found):
            self.owned.remove_parts()


def carry_out(
    sweep: Sweep,
    *,
    jobs: int | None,
    out: Path | str | None,
    resume: bool,
    overwrite: bool,
    progress: bool,
) -> Any:
    """Run the jobs of a sweep that are missing, keep them, and return everything.

    Raises
    ------
    ValueError
        For an argument that breaks a rule, and a folder that cannot be used, before
        anything is computed.
    OutputWriteError, KeyboardInterrupt
        With what is finished as ``.partial``.
    """
    flags = {"progress": progress, "resume": resume, "overwrite": overwrite}
    for name, flag in flags.items():
        check_flag(name, flag)
    workers = worker_count(jobs)
    with SweepFolder.prepare(sweep, out, resume=resume, overwrite=overwrite) as folder:
        finished = folder.finished()
        todo = sweep.jobs(workers, [each.job for each in finished])
        folder.begin()

        def keep(result: JobResult) -> None:
            if result.failure is not None and sweep.ends_with_failure:
                raise result.failure
            finished.append(result)
            folder.keep(result)

        try:
            with progress_reporter(enabled=progress) as report:
                run_jobs(todo, workers, keep, report, try_here=jobs is None)
            found = sweep.assemble(finished)
            folder.finish(found)
        except (KeyboardInterrupt, OutputWriteError) as error:
            error.partial = sweep.assemble(finished)  # pyright: ignore
            raise
    return found

"""The folder of a comparison: finished jobs at once, everything at the end."""

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import xarray as xr

from bayesduel import results
from bayesduel.errors import OutputFolderError
from bayesduel.folders import prepare_folder
from bayesduel.jobs import Job, JobResult

_PARTS = "parts"


@dataclass(frozen=True)
class OutputFolder:
    """A folder that belongs to one comparison, or none at all."""

    path: Path | None
    resume: bool = False

    @classmethod
    def prepare(
        cls, path: Path | str | None, *, resume: bool, overwrite: bool
    ) -> "OutputFolder":
        """Check the folder and make it.

        Raises
        ------
        OutputFolderError
            If it cannot be written to, or is not empty and neither ``resume`` nor
            ``overwrite`` is given, or both are.
        """
        path = prepare_folder(path, resume=resume, overwrite=overwrite)
        if path is None:
            return cls(None)
        if overwrite:
            (path / results.FILE_NAME).unlink(missing_ok=True)
            shutil.rmtree(path / _PARTS, ignore_errors=True)
        return cls(path, resume)

    def finished_jobs(self, jobs: Sequence[Job]) -> dict[str, JobResult]:
        """Read back the jobs that were finished by an interrupted comparison."""
        if self.path is None or not self.resume:
            return {}
        whole = self._whole()
        found = {}
        for job in jobs:
            dataset = self._from_whole(whole, job)
            file = self._file(job)
            if dataset is None and file.is_file():
                with xr.open_dataset(file, engine="h5netcdf") as opened:
                    dataset = opened.load()
            if dataset is not None:
                self._check(job, dataset)
                found[job.name] = JobResult(job=job, dataset=dataset)
        return found

    def keep(self, result: JobResult) -> None:
        """Write a finished job; one that failed is tried again by ``resume``."""
        if self.path is None or result.dataset is None:
            return
        file = self._file(result.job)
        file.parent.mkdir(exist_ok=True)
        part = file.with_suffix(".part")
        result.dataset.to_netcdf(part, engine="h5netcdf")
        part.replace(file)

    def finish(self, tree: xr.DataTree) -> None:
        """Write everything, and drop the jobs' own files."""
        if self.path is None:
            return
        results.save(tree, self.path / results.FILE_NAME, overwrite=True)
        shutil.rmtree(self.path / _PARTS, ignore_errors=True)

    def _whole(self) -> xr.DataTree | None:
        assert self.path is not None
        file = self.path / results.FILE_NAME
        return results.load(file) if file.is_file() else None

    def _from_whole(self, whole: xr.DataTree | None, job: Job) -> xr.Dataset | None:
        """Return the job's runs out of a finished comparison."""
        if whole is None:
            return None
        place = f"{job.setting.environment}/{job.setting.policy}"
        try:
            node = whole[place]
        except KeyError:
            return None
        if not isinstance(node, xr.DataTree):
            return None
        dataset = node.to_dataset(inherit=False)
        if "run" not in dataset or not {*job.runs} <= {*dataset["run"].values.tolist()}:
            return None
        part = dataset.sel(run=list(job.runs))
        # Seconds were spent once; a part of the runs gets its share.
        share = len(job.runs) / dataset.sizes["run"]
        part.attrs |= {
            "num_runs": len(job.runs),
            "events": int(part["num_events"].sum()),
            "run_seconds": share * dataset.attrs["run_seconds"],
            "compile_seconds": share * dataset.attrs["compile_seconds"],
        }
        return part

    def _check(self, job: Job, dataset: xr.Dataset) -> None:
        """Refuse results of another request."""
        theirs = json.loads(dataset.attrs["fingerprint"])
        ours = json.loads(json.dumps(job.setting.fingerprint()))
        different = [name for name in ours if theirs.get(name) != ours[name]]
        missing = {*job.setting.notions} - {*dataset["notion"].values.tolist()}
        if different or missing:
            name = different[0] if different else "regret"
            raise OutputFolderError(
                f"out: {self.path} holds {job.setting.policy} on "
                f"{job.setting.environment} with another {name}; ask for the same, "
                "overwrite it, or name another folder"
            )

    def _file(self, job: Job) -> Path:
        assert self.path is not None
        digest = hashlib.sha256(job.name.encode()).hexdigest()[:16]
        return self.path / _PARTS / f"{digest}.nc"

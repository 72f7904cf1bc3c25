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
        """Read back the jobs that were finished by an interrupted comparison.

        Raises
        ------
        OutputFolderError
            If the folder holds results of another request, or some that the jobs do
            not contain: going on would delete them.
        """
        if self.path is None or not self.resume:
            return {}
        whole = self._whole()
        self._check_nothing_is_dropped(jobs, whole)
        found = {}
        for job in jobs:
            dataset = self._from_whole(whole, job)
            if dataset is None:
                dataset = _read_part(self._file(job))
            if dataset is not None:
                self._check(job, dataset)
                dataset = dataset.sel(notion=list(job.setting.notions))
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
        """Write everything, and drop the jobs' own files.

        They are kept where a policy failed: the tree has none of its finished runs.
        """
        if self.path is None:
            return
        results.save(tree, self.path / results.FILE_NAME, overwrite=True)
        if not any("error" in node.attrs for node in tree.subtree):
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
        dataset = node.to_dataset()
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

    def _check_nothing_is_dropped(
        self, jobs: Sequence[Job], whole: xr.DataTree | None
    ) -> None:
        """Refuse to go on with less than the folder holds."""
        asked: dict[tuple[str, str], int] = {}
        for job in jobs:
            key = (job.setting.environment, job.setting.policy)
            asked[key] = max(asked.get(key, 0), job.runs.stop)
        stored = [] if whole is None else _policy_nodes(whole)
        for file in self._parts():
            part = _read_part(file, ["recommendation"])
            if part is not None:
                stored.append((_key(part), part))
        for key, dataset in stored:
            last = int(dataset["run"].max())
            if last >= asked.get(key, 0):
                environment, policy = _key(dataset)
                raise OutputFolderError(
                    f"out: {self.path} holds {policy} on {environment} up to run "
                    f"{last}, which this request would drop; ask for that too, "
                    "overwrite it, or name another folder"
                )

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

    def _parts(self) -> list[Path]:
        assert self.path is not None
        return sorted((self.path / _PARTS).glob("*.nc"))

    def _file(self, job: Job) -> Path:
        assert self.path is not None
        digest = hashlib.sha256(job.name.encode()).hexdigest()[:16]
        return self.path / _PARTS / f"{digest}.nc"


def _read_part(file: Path, names: list[str] | None = None) -> xr.Dataset | None:
    """Read a finished job; None if there is no such file, or it is damaged.

    ``names`` are the variables that are wanted; the plays of many arms are large.
    """
    if not file.is_file():
        return None
    try:
        with xr.open_dataset(file, engine="h5netcdf") as opened:
            if "fingerprint" not in opened.attrs:
                return None
            return (opened if names is None else opened[names]).load()
    except (OSError, ValueError, KeyError):
        return None


def _key(dataset: xr.Dataset) -> tuple[str, str]:
    """Return the environment and the policy."""
    return str(dataset.attrs.get("environment")), str(dataset.attrs.get("policy"))


def _policy_nodes(whole: xr.DataTree) -> list[tuple[tuple[str, str], xr.Dataset]]:
    """Return what holds runs, by environment and policy as in a comparison's tree."""
    found = []
    for node in whole.subtree:
        if "run" in node.coords:
            _, environment, policy = (*node.path.split("/"), "", "")[:3]
            found.append(((environment, policy), node.to_dataset()))
    return found

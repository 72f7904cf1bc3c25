"""The folder of a comparison: finished jobs at once, everything at the end."""

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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

    def finished_jobs(self, wanted: Sequence[Job]) -> list[JobResult]:
        """Read back what an interrupted comparison has finished of the wanted runs.

        The runs may have been cut into jobs in another way: for other cores, or when
        fewer of them were asked for.

        Raises
        ------
        OutputFolderError
            If the folder holds results of another request, or some that are not
            wanted: going on would delete them.
        """
        if self.path is None or not self.resume:
            return []
        stored = self._stored()
        self._check_nothing_is_dropped(wanted, stored)
        found = []
        for job in wanted:
            taken: set[int] = set()
            for dataset in stored.get(_place(job), ()):
                runs = dataset["run"].values.tolist()
                if not taken.isdisjoint(runs):
                    continue
                self._check(job, dataset)
                taken.update(runs)
                part = replace(job, runs=range(runs[0], runs[-1] + 1))
                dataset = dataset.sel(notion=list(job.setting.notions))
                found.append(JobResult(job=part, dataset=dataset))
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

    def _stored(self) -> dict[tuple[str, str], list[xr.Dataset]]:
        """Return all runs in the folder, by environment and policy."""
        assert self.path is not None
        stored: dict[tuple[str, str], list[xr.Dataset]] = {}
        file = self.path / results.FILE_NAME
        if file.is_file():
            for key, dataset in _policy_nodes(results.load(file)):
                stored.setdefault(key, []).append(dataset)
        for file in sorted((self.path / _PARTS).glob("*.nc")):
            part = _read_part(file)
            if part is not None:
                stored.setdefault(_named(part), []).append(part)
        return stored

    def _check_nothing_is_dropped(
        self,
        wanted: Sequence[Job],
        stored: Mapping[tuple[str, str], Sequence[xr.Dataset]],
    ) -> None:
        """Refuse to go on with less than the folder holds."""
        asked = {_place(job): job.runs.stop for job in wanted}
        for place, datasets in stored.items():
            last = max(int(dataset["run"].max()) for dataset in datasets)
            if last >= asked.get(place, 0):
                environment, policy = _named(datasets[0])
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

    def _file(self, job: Job) -> Path:
        assert self.path is not None
        digest = hashlib.sha256(job.name.encode()).hexdigest()[:16]
        return self.path / _PARTS / f"{digest}.nc"


def _read_part(file: Path) -> xr.Dataset | None:
    """Read a finished job; None if the file is damaged."""
    try:
        with xr.open_dataset(file, engine="h5netcdf") as opened:
            return opened.load() if "fingerprint" in opened.attrs else None
    except (OSError, ValueError, KeyError):
        return None


def _place(job: Job) -> tuple[str, str]:
    """Return the environment and the policy, as files name them."""
    return job.setting.environment, job.setting.policy


def _named(dataset: xr.Dataset) -> tuple[str, str]:
    """Return the environment and the policy that results say they are of."""
    return str(dataset.attrs.get("environment")), str(dataset.attrs.get("policy"))


def _policy_nodes(whole: xr.DataTree) -> list[tuple[tuple[str, str], xr.Dataset]]:
    """Return what holds runs, by environment and policy as in a comparison's tree."""
    found = []
    for node in whole.subtree:
        if "run" in node.coords:
            _, environment, policy = (*node.path.split("/"), "", "")[:3]
            found.append(((environment, policy), node.to_dataset()))
    return found

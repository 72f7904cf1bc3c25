"""The folder of a comparison: finished jobs at once, everything at the end."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import xarray as xr

from bayesduel.errors import OutputFolderError
from bayesduel.experiments import results
from bayesduel.experiments.engines import Job, JobResult
from bayesduel.experiments.owned_folder import ReleasesFolder, claimed

KIND = "comparison"
"""What the marker calls such a folder."""


@dataclass(frozen=True)
class OutputFolder(ReleasesFolder):
    """A folder that belongs to one comparison, or none at all.

    It is locked from :meth:`prepare` to the end of its ``with`` statement.
    """

    resume: bool = False

    @classmethod
    def prepare(
        cls,
        path: Path | str | None,
        *,
        resume: bool,
        overwrite: bool,
    ) -> "OutputFolder":
        """Check the folder, make it and lock it.

        Raises
        ------
        OutputFolderError
            If it cannot be used; see
            :meth:`bayesduel.experiments.owned_folder.OwnedFolder.claim`.
        """
        owned = claimed(path, kind=KIND, resume=resume, overwrite=overwrite)
        if owned is None:
            return cls(None)
        if overwrite:
            owned.remove(results.FILE_NAME)
            owned.remove_parts()
        return cls(owned, resume)

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
        if self.owned is None or not self.resume:
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
                dataset = dataset.sel(notion=list(job.configuration.notions))
                found.append(JobResult(job=part, dataset=dataset))
        return found

    def begin(self, request: Mapping[str, Any]) -> None:
        """Write down what the folder is for."""
        if self.owned is not None:
            self.owned.note(request=dict(request))

    def keep(self, result: JobResult) -> None:
        """Write a finished job; one that failed is tried again by ``resume``."""
        if self.owned is not None and result.dataset is not None:
            data = results.to_bytes(result.dataset)
            self.owned.keep_part(result.job.name, "nc", data)

    def finish(self, tree: xr.DataTree) -> None:
        """Write everything, and drop the jobs' own files.

        They are kept where a policy failed: the tree has none of its finished runs.
        What differs from one execution to the next stands in the marker, so that the
        file is a function of the request.
        """
        if self.owned is None:
            return
        timeless, timings = results.without_timings(tree)
        self.owned.write(results.FILE_NAME, results.to_bytes(timeless), timings=timings)
        if not any("error" in node.attrs for node in tree.subtree):
            self.owned.remove_parts()

    def _stored(self) -> dict[tuple[str, str], list[xr.Dataset]]:
        """Return all runs in the folder, by environment and policy."""
        assert self.owned is not None
        stored: dict[tuple[str, str], list[xr.Dataset]] = {}
        if (self.owned.path / results.FILE_NAME).is_file():
            for key, dataset in _policy_nodes(results.load(self.owned.path)):
                stored.setdefault(key, []).append(dataset)
        for data in self.owned.parts():
            part = results.dataset_from_bytes(data)
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
                    f"out: {self._path} holds {policy} on {environment} up to run "
                    f"{last}, which this request would drop; ask for that too, "
                    "overwrite it, or name another folder"
                )

    def _check(self, job: Job, dataset: xr.Dataset) -> None:
        """Refuse results of another request."""
        theirs = json.loads(dataset.attrs["fingerprint"])
        asked = job.configuration
        ours = json.loads(json.dumps(asked.fingerprint()))
        different = [
            name for name in {**ours, **theirs} if theirs.get(name) != ours.get(name)
        ]
        missing = {*asked.notions} - {*dataset["notion"].values.tolist()}
        if different or missing:
            name = different[0] if different else "regret"
            raise OutputFolderError(
                f"out: {self._path} holds {asked.policy} on {asked.environment} with "
                f"another {_difference(name)}; ask for the same, overwrite it, or name "
                "another folder"
            )

    @property
    def _path(self) -> Path:
        assert self.owned is not None
        return self.owned.path


def _difference(name: str) -> str:
    """Return what a reader calls an entry of the fingerprint."""
    words = {"code": "code: the source of the policy has changed since"}
    return words.get(name, name)


def _place(job: Job) -> tuple[str, str]:
    """Return the environment and the policy, as files name them."""
    return job.configuration.environment, job.configuration.policy


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

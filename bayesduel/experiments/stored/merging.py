"""Joining the parts of a sweep that several processes have written."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import xarray as xr

from bayesduel.errors import OutputFolderError
from bayesduel.experiments import results
from bayesduel.experiments.jobs import JobResult
from bayesduel.experiments.owned_folder import OwnedFolder
from bayesduel.experiments.request.arguments import check_format
from bayesduel.experiments.store import PLAN, execute_sweep
from bayesduel.experiments.stored import part_files
from bayesduel.experiments.stored.run_ranges import Place, name_of
from bayesduel.experiments.stored.run_sweep import PLACES, Contents, RunSweep
from bayesduel.files.folders import as_path, read_marker

_REQUEST = "experiment.toml"
"""What was asked for, where a folder holds it."""


def merge(out: Path | str, *, format: str = results.NETCDF) -> xr.DataTree:
    """Join the parts of a comparison that several processes have written to a folder.

    They are those of ``compare(..., part="3/10", out=out)``. Nothing is simulated: the
    folder says itself what all parts make together. Joining again changes nothing.

    Parameters
    ----------
    out : path
        The folder of all parts.
    format : {"netcdf", "zarr"}
        Of the finished file, as in :func:`bayesduel.compare`.

    Returns
    -------
    xarray.DataTree
        As :func:`bayesduel.compare` returns it without parts, and in the folder the
        file that it writes.

    Raises
    ------
    OutputFolderError
        If there are no parts, some are missing (it names them, and what does them),
        they are not of one request, or one of them is being written. Nothing in the
        folder has changed then.

    Examples
    --------
    >>> import tempfile
    >>> import bayesduel
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in ("1/2", "2/2"):
    ...         asked = bayesduel.Experiment("gap", "rucb", num_runs=2, horizon=9)
    ...         _ = asked.run(out=folder, part=part)
    ...     sorted(bayesduel.merge(folder)["gap"].children)
    ['RUCB']
    """
    path = as_path("out", out)
    check_format(format)
    marker = read_marker(path)
    if marker is None:
        raise OutputFolderError(
            "out",
            f"{path} holds no results of compare",
            path,
            remedy="name the folder that the parts were written to",
        )
    with OwnedFolder.claim(path, kind=RunSweep.kind, resume=True) as owned:
        plan = owned.part(PLAN)
    if plan is None and {*results.FILE_NAMES.values()} & {*marker["sha256"]}:
        return results.load(path)
    if plan is None:
        raise OutputFolderError(
            "out",
            f"{path} holds no parts",
            path,
            remedy="an interrupted comparison goes on with {resume}",
        )
    return execute_sweep(
        Merge(path, part_files.tree_from_bytes(plan), marker, format),
        jobs=1,
        out=path,
        resume=True,
        overwrite=False,
        progress=False,
    )


@dataclass(frozen=True)
class StoredJob:
    """Some runs that somebody has done."""

    place: Place
    runs: range
    whole: ClassVar[None] = None

    @property
    def name(self) -> str:
        """Name of the part that holds them."""
        return name_of(self.place, self.runs)


@dataclass(frozen=True)
class Merge(RunSweep):
    """All parts of a sweep, as the folder describes them; it has no job to do."""

    path: Path
    tree: xr.DataTree
    marker: Mapping[str, Any]
    format: str = results.NETCDF

    @cached_property
    def contents(self) -> Contents:
        """As the plan says."""
        places = [(x, y) for x, y in json.loads(self.tree.attrs[PLACES])]
        told = {at: self.tree.children[at[0]].children[at[1]].attrs for at in places}
        attributes = json.loads(self.tree.attrs["tree"])
        instances = {
            name: self.tree.children[name].to_dataset(inherit=False).drop_encoding()
            for name in dict.fromkeys(name for name, _ in places)
        }
        return Contents(
            num_runs=attributes["num_runs"],
            record=str(self.tree.attrs["record"]),
            attributes=attributes,
            instances=instances,
            num_arms={at: instances[at[0]].sizes["arm"] for at in places},
            notions={at: json.loads(each["notions"]) for at, each in told.items()},
            fingerprints={
                at: json.loads(each["fingerprint"]) for at, each in told.items()
            },
        )

    def job(self, place: Place, runs: range) -> StoredJob:
        """Return the job that somebody has done."""
        return StoredJob(place, runs)

    def request(self) -> Mapping[str, Any]:
        """Return what the parts were asked for."""
        return self.marker["request"]

    def jobs(self, workers: int, finished: Sequence[StoredJob]) -> Sequence[Any]:
        """Return none: all are done."""
        return ()

    def read_back(self, folder: OwnedFolder) -> list[JobResult]:
        """Read all parts.

        Raises ``OutputFolderError`` if one is missing or of another request, before
        anything is joined.
        """
        found = super().read_back(folder)
        done: dict[Place, list[range]] = {}
        for each in found:
            done.setdefault(each.job.place, []).append(each.job.runs)
        if missing := self._missing(done):
            raise self._error(missing)
        return found

    def _missing(self, done: Mapping[Place, Sequence[range]]) -> dict[int, int]:
        """Return how many jobs of each part are missing, where some are."""
        gaps: dict[Place, list[range]] = {}
        for place, runs in self.cut(1, done):
            gaps.setdefault(place, []).append(runs)
        count = self._count
        counts = dict.fromkeys(range(1, count + 1), 0)
        for index, (place, runs) in enumerate(self.cut(count, {})):
            counts[index % count + 1] += any(
                runs.start < gap.stop and gap.start < runs.stop
                for gap in gaps.get(place, ())
            )
        return {number: lost for number, lost in counts.items() if lost}

    @property
    def _count(self) -> int:
        return int(self.marker["parts"])

    def _error(self, missing: Mapping[int, int]) -> OutputFolderError:
        jobs, part = sum(missing.values()), f"{next(iter(missing))}/{self._count}"
        return OutputFolderError(
            "out",
            f"{self.path} lacks {jobs} jobs of {len(missing)} of its {self._count} "
            f"parts: {_listed([*missing])}",
            self.path,
            remedy=f"do each of them again, {_how(self.path, part)}",
        )


def _how(path: Path, part: str) -> str:
    """Say what does a part."""
    request = path / _REQUEST
    if not request.is_file():
        return f"by the same request with part={part}"
    return f"bayesduel compare --config {request} --out {path} --part {part}"


def _listed(numbers: Sequence[int]) -> str:
    """Write ascending numbers as arrays of jobs take them: 1,3-5."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(
        str(first) if first == last else f"{first}-{last}" for first, last in spans
    )

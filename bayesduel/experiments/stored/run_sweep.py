"""Runs of policies on instances as a sweep: cut, kept, read back, put together.

A job is some runs of one policy on one instance. A run is a function of the seed and
its number, so the cut changes nothing.
"""

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, ClassVar

import xarray as xr

from bayesduel.errors import OutputFolderError
from bayesduel.experiments import nodes, results
from bayesduel.experiments.jobs import JobResult, Sweep, refuse_others
from bayesduel.experiments.owned_folder import OwnedFolder
from bayesduel.experiments.stored import part_files, run_ranges
from bayesduel.experiments.stored.run_ranges import Place
from bayesduel.simulation import run_summaries
from bayesduel.simulation.driver import ARMS_OF_ONE_LANE

RUNS_PER_JOB = 256
"""Runs of a job at most: what an interrupt can lose where many go side by side, and
what cores can share."""

RUNS_PER_SUMMARY = 4 * RUNS_PER_JOB
"""As many of few arms: what is sent and written of them does not grow."""

_FEW_ARMS = 16

PLACES = "places"
"""Attribute that only a plan has."""

_CALLED = {"code": "code: the source of the policy has changed since"}
"""What a reader calls an entry of the fingerprint."""


@dataclass(frozen=True)
class Contents:
    """What runs are asked for; by place in the order of the results."""

    num_runs: int
    """Of each policy on each instance."""

    record: str
    """What is kept of a run."""

    attributes: dict[str, Any]
    """What the tree says of itself, but for the date."""

    instances: dict[str, xr.Dataset]
    """The nodes of the instances."""

    num_arms: dict[Place, int]
    """Of the instance."""

    notions: dict[Place, Sequence[str]]
    """Of regret, that are kept."""

    fingerprints: dict[Place, dict[str, Any]]
    """What must agree for runs to belong together, as JSON has it."""


class RunSweep(Sweep):
    """Runs of policies on instances, however they are asked for."""

    kind: ClassVar[str] = "comparison"
    ending: ClassVar[str] = part_files.ENDING

    format: str
    """Of the finished file: one of :data:`bayesduel.experiments.results.FILE_NAMES`."""

    @property
    def file(self) -> str:
        """Name of the finished file."""
        return results.FILE_NAMES[self.format]

    @property
    def superseded(self) -> tuple[str, ...]:
        """The finished file in other formats, which it takes the place of."""
        return tuple(name for name in results.FILE_NAMES.values() if name != self.file)

    @cached_property
    @abstractmethod
    def contents(self) -> Contents:
        """What runs are asked for."""

    @abstractmethod
    def job(self, place: Place, runs: range) -> Any:
        """Return the job of some runs, with its place and its name.

        Its ``whole`` are the runs of the job that it was cut from, or None. One that
        can fail has the method ``failed``, which returns the node of that.
        """

    # --- Cutting and joining ---------------------------------------------------------

    def cut(
        self, workers: int, done: Mapping[Place, Sequence[range]]
    ) -> list[tuple[Place, range]]:
        """Cut what is missing; more finely for idle workers and for many arms."""
        num_runs, places = self.contents.num_runs, self.contents.num_arms
        parts = max(-(-num_runs // RUNS_PER_JOB), -(-workers // len(places)))
        usual = -(-num_runs // min(parts, num_runs))
        found = []
        for place in places:
            size = min(self._block(place), usual)
            if self._summarizes:  # The same blocks for any number of workers.
                size = self._block(place)
            for gap in run_ranges.gaps(num_runs, done.get(place, ())):
                found += [
                    (place, range(start, min(start + size, gap.stop)))
                    for start in range(gap.start, gap.stop, size)
                ]
        return found

    def _block(self, place: Place) -> int:
        """Return how many runs a job has at most.

        Those of many arms are played one by one, and gain nothing from a common job.
        """
        num_arms = self.contents.num_arms[place]
        if num_arms >= ARMS_OF_ONE_LANE:
            return 1
        few = self._summarizes and num_arms <= _FEW_ARMS
        return RUNS_PER_SUMMARY if few else RUNS_PER_JOB

    @property
    def _summarizes(self) -> bool:
        return self.contents.record == "quantiles"

    def joined(
        self, finished: Sequence[JobResult], last: JobResult
    ) -> tuple[JobResult, Sequence[JobResult]] | None:
        """Join summaries that make a node of their tree, and what one job was cut into.

        So no more files are left than there were jobs.
        """
        if last.failure is not None:
            return None
        if not self._summarizes:
            parts = run_ranges.cut_from_one(finished, last)
            return self._in_one(parts) if parts else None
        place = last.job.place
        own = {
            each.job.runs: each
            for each in finished
            if each.failure is None and each.job.place == place
        }
        group = run_summaries.complete_group(list(own), self._block(place))
        if not group:
            return None
        return self._in_one([own[runs] for runs in group])

    def _in_one(
        self, parts: Sequence[JobResult]
    ) -> tuple[JobResult, Sequence[JobResult]]:
        dataset = nodes.join_chunks([each.value for each in parts])
        first, last = parts[0].job, parts[-1].job
        job = self.job(first.place, range(first.runs.start, last.runs.stop))
        return JobResult(job, dataset), parts

    left = staticmethod(run_ranges.left)
    to_bytes = staticmethod(part_files.to_bytes)
    from_bytes = staticmethod(part_files.dataset_from_bytes)

    # --- Everything ------------------------------------------------------------------

    def assemble(self, finished: Sequence[JobResult]) -> xr.DataTree:
        """Assemble what is finished; policies without a finished run are left out."""
        found: dict[Place, xr.Dataset] = {}
        for place in self.contents.num_arms:
            own = [each for each in finished if each.job.place == place]
            failures = [each for each in own if each.failure is not None]
            if failures:
                job, failure = failures[0].job, failures[0].failure
                text = f"{type(failure).__name__}: {failure}"
                found[place] = job.failed(text, self.contents.num_runs)
            elif own:
                found[place] = nodes.join_chunks([each.value for each in own])
        attributes = self.contents.attributes | {"created": now()}
        return nodes.build_tree(self.contents.instances, found, attributes)

    def to_file(self, found: xr.DataTree) -> tuple[bytes | memoryview, dict[str, Any]]:
        """Return the finished file, and what differs from one execution to the next.

        The file is a function of the request; the rest stands in the marker.
        """
        timeless, timings = results.without_timings(found)
        return results.to_bytes(timeless, self.format), {"timings": timings}

    def extra_files(self, found: xr.DataTree) -> Mapping[str, bytes]:
        """Return tables of the results."""
        # Pandas takes its time.
        from bayesduel.analysis.summary_files import summary_files

        return summary_files(found)

    def is_whole(self, found: xr.DataTree) -> bool:
        """Say whether no policy failed: the tree has no runs of one that did.

        Summaries of blocks are kept, because more runs cannot go on from their join.
        """
        failed = any("error" in node.attrs for node in found.subtree)
        return not failed and not self._summarizes

    def plan(self) -> memoryview:
        """Return a tree without runs, which says what all parts make together."""
        asked = self.contents
        empty = {
            place: xr.Dataset(
                attrs={
                    "fingerprint": json.dumps(mark, sort_keys=True),
                    "notions": json.dumps(asked.notions[place]),
                }
            )
            for place, mark in asked.fingerprints.items()
        }
        own = {PLACES: json.dumps([*empty]), "record": asked.record}
        attributes = {"tree": json.dumps(asked.attributes)} | own
        return part_files.to_bytes(nodes.build_tree(asked.instances, empty, attributes))

    # --- What a folder holds ---------------------------------------------------------

    def read_back(self, folder: OwnedFolder) -> list[JobResult]:
        """Read back what an interrupted comparison has finished of the wanted runs.

        The runs may have been cut into jobs in another way: for other cores, or when
        fewer of them were asked for.

        Raises ``OutputFolderError`` if the folder holds results of another request, or
        some that are not wanted: going on would delete them.
        """
        stored = _runs_in(folder)
        self._check_nothing_is_dropped(folder, stored)
        found = []
        for place, notions in self.contents.notions.items():
            taken: set[int] = set()
            for dataset in _largest_first(stored.get(place, ())):
                runs = nodes.runs_of(dataset)
                self._check_same(folder, place, dataset)
                if not taken.isdisjoint(runs) or not self._is_usable(place, runs):
                    continue
                taken.update(runs)
                dataset = dataset.sel(notion=list(notions))
                found.append(JobResult(self.job(place, runs), dataset))
        return found

    def check_plan(self, folder: OwnedFolder, plan: bytes) -> None:
        """Refuse to add a part to parts of something else.

        Names agree by now; sources of policies, values of matrices, checkpoints,
        notions and programs may not.
        """
        tree = part_files.tree_from_bytes(plan)
        for place in map(tuple, json.loads(tree.attrs[PLACES])):
            if place not in self.contents.notions:
                continue  # The words of the request differ, and are refused.
            instance, policy = place
            planned = tree.children[instance].children[policy].attrs
            ours = {**self.contents.fingerprints[place]}
            theirs = json.loads(planned["fingerprint"])
            _refuse_another_program(folder, place, ours, theirs)
            ours["regret"] = list(self.contents.notions[place])
            theirs["regret"] = json.loads(planned["notions"])
            what = f"parts of {policy} on {instance}"
            refuse_others(folder, what, ours, theirs, _CALLED)

    def _is_usable(self, place: Place, runs: range) -> bool:
        """Say whether stored runs can be put together with others."""
        if not self._summarizes:
            return True
        return run_summaries.is_node(runs, self._block(place), self.contents.num_runs)

    def _check_nothing_is_dropped(
        self, folder: OwnedFolder, stored: Mapping[Place, Sequence[xr.Dataset]]
    ) -> None:
        """Refuse to go on with less than the folder holds."""
        asked = self.contents
        for place, datasets in stored.items():
            last = max(nodes.runs_of(dataset).stop for dataset in datasets) - 1
            if last >= (asked.num_runs if place in asked.notions else 0):
                instance, policy = _named(datasets[0])
                raise OutputFolderError(
                    "out",
                    f"{folder.path} holds {policy} on {instance} up to run {last}, "
                    "which this request would drop",
                    folder.path,
                    remedy="ask for that too, replace it ({overwrite}), or name "
                    "another folder",
                )

    def _check_same(
        self, folder: OwnedFolder, place: Place, dataset: xr.Dataset
    ) -> None:
        """Refuse results of another request."""
        instance, policy = place
        ours = {**self.contents.fingerprints[place]}
        theirs = json.loads(dataset.attrs["fingerprint"])
        _refuse_another_program(folder, place, ours, theirs)
        # More notions than those asked for do no harm.
        asked = set(self.contents.notions[place])
        ours["regret"] = sorted(asked)
        theirs["regret"] = sorted(asked & {*dataset["notion"].values.tolist()})
        refuse_others(folder, f"{policy} on {instance}", ours, theirs, _CALLED)


def _refuse_another_program(
    folder: OwnedFolder, place: Place, ours: dict[str, Any], theirs: dict[str, Any]
) -> None:
    """Raise ``OutputFolderError`` where others play the same runs differently.

    Results of versions that did not name their program can be read and joined, but
    nothing is added to them.
    """
    one, other = (each.get("program", "") for each in (theirs, ours))
    if one == other:
        return
    instance, policy = place
    known = f"played by the program {one}" if one else "whose program is not recorded"
    raise OutputFolderError(
        "out",
        f"{folder.path} holds runs of {policy} on {instance} {known}; here "
        f"{other or 'an unknown program'} would play, whose random numbers differ",
        folder.path,
        remedy="go on with the version that they began on, replace it ({overwrite}), "
        "or name another folder",
    )


def now() -> str:
    """Return the time in UTC, as results note when they were made."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _runs_in(folder: OwnedFolder) -> dict[Place, list[xr.Dataset]]:
    """Return all runs in a folder, by instance and policy."""
    stored: dict[Place, list[xr.Dataset]] = {}
    if (folder.path / results.FILE_NAME).is_file():
        for place, dataset in _policy_nodes(results.load(folder.path)):
            stored.setdefault(place, []).append(dataset)
    for data in folder.parts():
        part = part_files.dataset_from_bytes(data)
        if PLACES in part.attrs:
            continue
        stored.setdefault(_named(part), []).append(part)
    return stored


def _largest_first(datasets: Sequence[xr.Dataset]) -> list[xr.Dataset]:
    """Order stored runs so that a join stands before its parts."""
    return sorted(datasets, key=lambda each: len(nodes.runs_of(each)), reverse=True)


def _named(dataset: xr.Dataset) -> Place:
    """Return the instance and the policy that results say they are of."""
    return str(dataset.attrs.get("instance")), str(dataset.attrs.get("policy"))


def _policy_nodes(whole: xr.DataTree) -> list[tuple[Place, xr.Dataset]]:
    """Return what holds runs, by instance and policy as in a comparison's tree."""
    found = []
    for node in whole.subtree:
        if "run" in node.coords or "first_run" in node.attrs:
            _, instance, policy = (*node.path.split("/"), "", "")[:3]
            found.append(((instance, policy), node.to_dataset()))
    return found

"""Runs of policies on instances as a sweep: cut, kept, read back, put together.

A job is some runs of one policy on one instance. A run is a function of the seed and
its number, so the cut changes nothing.
"""

import json
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
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
what cores can share. A few times as many as lanes, so that runs which need several
times the events of others do not leave the other lanes idle."""

RUNS_PER_SUMMARY = 4 * RUNS_PER_JOB
"""As many of few arms: what is sent and written of them does not grow."""

_FEW_ARMS = 16

_PLACES = "places"
"""Attribute that only a plan has."""

_CALLED = {"code": "code: the source of the policy has changed since"}
"""What a reader calls an entry of the fingerprint."""


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

    @property
    @abstractmethod
    def num_runs(self) -> int:
        """Of each policy on each instance."""

    @property
    @abstractmethod
    def record(self) -> str:
        """What is kept of a run."""

    @property
    @abstractmethod
    def places(self) -> Sequence[Place]:
        """Of each policy on each instance, in the order of the results."""

    @abstractmethod
    def num_arms(self, place: Place) -> int:
        """Return how many arms an instance has."""

    @abstractmethod
    def fingerprint(self, place: Place) -> dict[str, Any]:
        """Return what must agree for runs to belong together."""

    @abstractmethod
    def notions(self, place: Place) -> Sequence[str]:
        """Return the notions of regret that are kept."""

    @abstractmethod
    def instances(self) -> dict[str, xr.Dataset]:
        """Return the nodes of the instances."""

    @abstractmethod
    def attributes(self) -> dict[str, Any]:
        """Return what the tree says of itself, but for the date."""

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
        num_runs, places = self.num_runs, self.places
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
        num_arms = self.num_arms(place)
        if num_arms >= ARMS_OF_ONE_LANE:
            return 1
        few = self._summarizes and num_arms <= _FEW_ARMS
        return RUNS_PER_SUMMARY if few else RUNS_PER_JOB

    @property
    def _summarizes(self) -> bool:
        return self.record == "quantiles"

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

    def left(self, job: Any, is_kept: Callable[[str], bool]) -> Any:
        """Return the runs of a job that are not kept, nor what it was cut into."""
        return run_ranges.left(job, is_kept)

    @staticmethod
    def to_bytes(value: xr.Dataset) -> memoryview:
        """Return the file of some runs."""
        return part_files.to_bytes(value)

    @staticmethod
    def from_bytes(data: bytes) -> xr.Dataset:
        """Read what :meth:`to_bytes` gave."""
        return part_files.dataset_from_bytes(data)

    # --- Everything ------------------------------------------------------------------

    def assemble(self, finished: Sequence[JobResult]) -> xr.DataTree:
        """Assemble what is finished; policies without a finished run are left out."""
        found: dict[Place, xr.Dataset] = {}
        for place in self.places:
            own = [each for each in finished if each.job.place == place]
            failures = [each for each in own if each.failure is not None]
            if failures:
                job, failure = failures[0].job, failures[0].failure
                text = f"{type(failure).__name__}: {failure}"
                found[place] = job.failed(text, self.num_runs)
            elif own:
                found[place] = nodes.join_chunks([each.value for each in own])
        attributes = self.attributes() | {"created": now()}
        return nodes.build_tree(self.instances(), found, attributes)

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
        contents = {
            place: xr.Dataset(
                attrs={
                    "fingerprint": json.dumps(self.fingerprint(place), sort_keys=True),
                    "notions": json.dumps(self.notions(place)),
                }
            )
            for place in self.places
        }
        own = {_PLACES: json.dumps([*self.places]), "record": self.record}
        attributes = {"tree": json.dumps(self.attributes())} | own
        return part_files.to_bytes(
            nodes.build_tree(self.instances(), contents, attributes)
        )

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
        for place in self.places:
            taken: set[int] = set()
            for dataset in _largest_first(stored.get(place, ())):
                runs = nodes.runs_of(dataset)
                self._check_same(folder, place, dataset)
                if not taken.isdisjoint(runs) or not self._is_usable(place, runs):
                    continue
                taken.update(runs)
                dataset = dataset.sel(notion=list(self.notions(place)))
                found.append(JobResult(self.job(place, runs), dataset))
        return found

    def check_plan(self, folder: OwnedFolder, plan: bytes) -> None:
        """Refuse to add a part to parts of something else.

        Names agree by now; sources of policies, values of matrices, checkpoints,
        notions and programs may not.
        """
        tree = part_files.tree_from_bytes(plan)
        for place in map(tuple, json.loads(tree.attrs[_PLACES])):
            if place not in self.places:
                continue  # The words of the request differ, and are refused.
            instance, policy = place
            planned = tree.children[instance].children[policy].attrs
            ours = json.loads(json.dumps(self.fingerprint(place)))
            theirs = json.loads(planned["fingerprint"])
            _refuse_another_program(folder, place, ours, theirs)
            ours["regret"] = list(self.notions(place))
            theirs["regret"] = json.loads(planned["notions"])
            what = f"parts of {policy} on {instance}"
            refuse_others(folder, what, ours, theirs, _CALLED)

    def _is_usable(self, place: Place, runs: range) -> bool:
        """Say whether stored runs can be put together with others."""
        if not self._summarizes:
            return True
        return run_summaries.is_node(runs, self._block(place), self.num_runs)

    def _check_nothing_is_dropped(
        self, folder: OwnedFolder, stored: Mapping[Place, Sequence[xr.Dataset]]
    ) -> None:
        """Refuse to go on with less than the folder holds."""
        wanted = {*self.places}
        for place, datasets in stored.items():
            last = max(nodes.runs_of(dataset).stop for dataset in datasets) - 1
            if last >= (self.num_runs if place in wanted else 0):
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
        ours = json.loads(json.dumps(self.fingerprint(place)))
        theirs = json.loads(dataset.attrs["fingerprint"])
        _refuse_another_program(folder, place, ours, theirs)
        # More notions than those asked for do no harm.
        asked = set(self.notions(place))
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
        if _PLACES in part.attrs:
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

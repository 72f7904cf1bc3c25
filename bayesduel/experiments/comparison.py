"""Runs of policies on instances: cut into jobs, kept, read back, put together.

A job is some runs of one policy on one instance. A run is a function of the seed and
its number, so the cut changes nothing.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, ClassVar, Self

import xarray as xr

from bayesduel.errors import OutputFolderError
from bayesduel.experiments import nodes, results
from bayesduel.experiments.jobs import JobResult, Sweep, refuse_others
from bayesduel.experiments.nodes import Configuration
from bayesduel.experiments.owned_folder import OwnedFolder
from bayesduel.experiments.simulation_jobs import MOST_SECONDS, SimulationJob
from bayesduel.experiments.stored import part_files, run_ranges
from bayesduel.experiments.stored.run_ranges import Place, StoredRuns
from bayesduel.policies.policy import PolicyBase
from bayesduel.simulation import run_summaries
from bayesduel.simulation.driver import ARMS_OF_ONE_LANE

RUNS_PER_JOB = 256
"""Runs of a job at most: what an interrupt can lose where many go side by side, and
what cores can share."""

RUNS_PER_SUMMARY = 4 * RUNS_PER_JOB
"""As many of few arms: what is sent and written of them does not grow."""

_FEW_ARMS = 16

_CALLED = {"code": "code: the source of the policy has changed since"}
"""What a reader calls an entry of the fingerprint."""


Tables = Callable[[xr.DataTree], Mapping[str, bytes]]
"""Of results the files that stand beside them, by name."""


def _no_files() -> dict[str, bytes]:
    return {}


@dataclass(frozen=True)
class Comparison(Sweep):
    """Runs of policies on instances; where one policy fails, the others go on.

    What stands by place stands in the order of the results.
    """

    kind: ClassVar[str] = "comparison"
    ending: ClassVar[str] = part_files.ENDING

    num_runs: int
    """Of each policy on each instance."""

    record: str
    """What is kept of a run."""

    attributes: Mapping[str, Any]
    """What the tree says of itself, but for the date."""

    instances: Mapping[str, xr.Dataset]
    """The nodes of the instances."""

    notions: Mapping[Place, Sequence[str]]
    """Of regret, that are kept."""

    fingerprints: Mapping[Place, dict[str, Any]]
    """What must agree for runs to belong together, as JSON has it."""

    words: Mapping[str, Any]
    """What was asked for, for the marker of a folder."""

    format: str = results.NETCDF
    """Of the finished file: one of :data:`bayesduel.experiments.results.FILE_NAMES`."""

    configurations: Mapping[Place, tuple[Configuration, PolicyBase]] = field(
        default_factory=dict
    )
    """What is simulated; nothing where all runs are done."""

    files: Callable[[], dict[str, bytes]] = _no_files
    """What a folder holds from the beginning, by the names of files."""

    tables: Tables | None = None
    """What makes the tables beside the results, where not the usual ones."""

    @property
    def file(self) -> str:
        """Name of the finished file."""
        return results.FILE_NAMES[self.format]

    @property
    def superseded(self) -> tuple[str, ...]:
        """The finished file in other formats, which it takes the place of."""
        return tuple(name for name in results.FILE_NAMES.values() if name != self.file)

    def request(self) -> Mapping[str, Any]:
        """Return what was asked for, in words."""
        return self.words

    def request_files(self) -> dict[str, bytes]:
        """Return the experiment as a file."""
        return self.files()

    # --- Cutting and joining ---------------------------------------------------------

    def jobs(
        self, workers: int, finished: Sequence[SimulationJob | StoredRuns]
    ) -> list[SimulationJob]:
        """Return the jobs that the finished ones leave."""
        done: dict[Place, list[range]] = {}
        for job in finished:
            done.setdefault(job.place, []).append(job.runs)
        found = [
            SimulationJob(*self.configurations[place], runs)
            for place, runs in self.cut(workers, done)
        ]
        if self._summarizes:
            return found
        return [
            replace(job, whole=job.runs, most_seconds=MOST_SECONDS) for job in found
        ]

    def cut(
        self, workers: int, done: Mapping[Place, Sequence[range]]
    ) -> list[tuple[Place, range]]:
        """Cut what is missing; more finely for idle workers and for many arms."""
        num_runs, places = self.num_runs, self.notions
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
        num_arms = self.instances[place[0]].sizes["arm"]
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
        joined = StoredRuns(first.place, range(first.runs.start, last.runs.stop))
        return JobResult(joined, dataset), parts

    left = staticmethod(run_ranges.left)
    to_bytes = staticmethod(part_files.to_bytes)
    from_bytes = staticmethod(part_files.dataset_from_bytes)

    # --- Everything ------------------------------------------------------------------

    def assemble(self, finished: Sequence[JobResult]) -> xr.DataTree:
        """Assemble what is finished; policies without a finished run are left out."""
        found: dict[Place, xr.Dataset] = {}
        for place in self.notions:
            own = [each for each in finished if each.job.place == place]
            failures = [each for each in own if each.failure is not None]
            if failures:
                job, failure = failures[0].job, failures[0].failure
                notes = "; ".join(getattr(failure, "__notes__", []))
                text = f"{type(failure).__name__}: {failure}"
                text += f" ({notes})" if notes else ""
                found[place] = job.failed(text, self.num_runs)
            elif own:
                found[place] = nodes.join_chunks([each.value for each in own])
        attributes = {**self.attributes, "created": now()}
        return nodes.build_tree(self.instances, found, attributes)

    def to_file(self, found: xr.DataTree) -> tuple[bytes | memoryview, dict[str, Any]]:
        """Return the finished file, and what differs from one execution to the next.

        The file is a function of the request; the rest stands in the marker.
        """
        timeless, timings = results.without_timings(found)
        return results.to_bytes(timeless, self.format), {"timings": timings}

    def extra_files(self, found: xr.DataTree) -> Mapping[str, bytes]:
        """Return tables of the results."""
        if self.tables is not None:
            return self.tables(found)
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
        empty = {
            place: xr.Dataset(
                attrs={
                    "fingerprint": json.dumps(mark, sort_keys=True),
                    "notions": json.dumps(self.notions[place]),
                }
            )
            for place, mark in self.fingerprints.items()
        }
        own = {part_files.PLACES: json.dumps([*empty]), "record": self.record}
        attributes = {"tree": json.dumps(self.attributes)} | own
        return part_files.to_bytes(nodes.build_tree(self.instances, empty, attributes))

    @classmethod
    def from_plan(cls, plan: bytes, words: Mapping[str, Any], format: str) -> Self:
        """Return the comparison that a plan describes, whose runs are all done."""
        tree = part_files.tree_from_bytes(plan)
        places = [(x, y) for x, y in json.loads(tree.attrs[part_files.PLACES])]
        told = {at: tree.children[at[0]].children[at[1]].attrs for at in places}
        attributes = json.loads(tree.attrs["tree"])
        return cls(
            num_runs=attributes["num_runs"],
            record=str(tree.attrs["record"]),
            attributes=attributes,
            instances={
                name: tree.children[name].to_dataset(inherit=False).drop_encoding()
                for name in dict.fromkeys(name for name, _ in places)
            },
            notions={at: json.loads(each["notions"]) for at, each in told.items()},
            fingerprints={
                at: json.loads(each["fingerprint"]) for at, each in told.items()
            },
            words=words,
            format=format,
        )

    # --- What a folder holds ---------------------------------------------------------

    def read_back(self, folder: OwnedFolder) -> list[JobResult]:
        """Read back what an interrupted comparison has finished of the wanted runs.

        The runs may have been cut into jobs in another way: for other cores, or when
        fewer of them were asked for.

        Raises ``OutputFolderError`` if the folder holds results of another request, or
        some that are not wanted: going on would delete them.
        """
        stored = part_files.runs_in(folder)
        self._check_nothing_is_dropped(folder, stored)
        found = []
        for place, notions in self.notions.items():
            taken: set[int] = set()
            for dataset in part_files.largest_first(stored.get(place, ())):
                runs = nodes.runs_of(dataset)
                self._check_same(folder, place, dataset)
                if not taken.isdisjoint(runs) or not self._is_usable(place, runs):
                    continue
                taken.update(runs)
                dataset = dataset.sel(notion=list(notions))
                found.append(JobResult(StoredRuns(place, runs), dataset))
        return found

    def check_plan(self, folder: OwnedFolder, plan: bytes) -> None:
        """Refuse to add a part to parts of something else.

        Names agree by now; sources of policies, values of matrices, checkpoints,
        notions and programs may not.
        """
        tree = part_files.tree_from_bytes(plan)
        for place in map(tuple, json.loads(tree.attrs[part_files.PLACES])):
            if place not in self.notions:
                continue  # The words of the request differ, and are refused.
            instance, policy = place
            planned = tree.children[instance].children[policy].attrs
            ours = {**self.fingerprints[place]}
            theirs = json.loads(planned["fingerprint"])
            _refuse_another_program(folder, place, ours, theirs)
            ours["regret"] = list(self.notions[place])
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
        for place, datasets in stored.items():
            last = max(nodes.runs_of(dataset).stop for dataset in datasets) - 1
            if last >= (self.num_runs if place in self.notions else 0):
                instance, policy = part_files.place_of(datasets[0])
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
        ours = {**self.fingerprints[place]}
        theirs = json.loads(dataset.attrs["fingerprint"])
        _refuse_another_program(folder, place, ours, theirs)
        # More notions than those asked for do no harm.
        asked = set(self.notions[place])
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

"""How an experiment is carried out: cut into jobs, kept, read back, put together.

A job is some runs of one policy on one instance. A run is a function of the seed and
its number, so the cut changes nothing.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import xarray as xr

from bayesduel.errors import OutputFolderError
from bayesduel.experiments import nodes, results, run_summaries
from bayesduel.experiments.companions import companions
from bayesduel.experiments.jobs import JobResult, Sweep, refuse_others
from bayesduel.experiments.nodes import Configuration
from bayesduel.experiments.owned_folder import OwnedFolder
from bayesduel.experiments.request.toml_text import folder_files
from bayesduel.policies.base import Policy
from bayesduel.simulation.driver import ARMS_OF_ONE_LANE
from bayesduel.version import package_version

if TYPE_CHECKING:
    from bayesduel.experiments.experiment import Experiment

RUNS_PER_JOB = 256
"""Runs of a job at most: what an interrupt can lose, and what cores can share. A few
times as many as lanes, so that runs which need several times the events of others do
not leave the other lanes idle."""

RUNS_PER_SUMMARY = 4 * RUNS_PER_JOB
"""As many of few arms: what is sent and written of them does not grow."""

_FEW_ARMS = 16

_CALLED = {"code": "code: the source of the policy has changed since"}
"""What a reader calls an entry of the fingerprint."""

Place = tuple[str, str]
"""The names of an environment and a policy in results."""


@dataclass(frozen=True)
class SimulationJob:
    """Some runs of one policy on one matrix, or in one world of subset choice."""

    configuration: Configuration
    policy: Policy
    runs: range
    num_lanes: int | None = None

    @property
    def place(self) -> Place:
        """Where its results stand in the tree."""
        return self.configuration.environment, self.configuration.policy

    @property
    def name(self) -> str:
        """Name that no other job of the same request has."""
        environment, policy = self.place
        return (
            f"{environment}, {policy}, runs {self.runs.start} to {self.runs.stop - 1}"
        )

    @property
    def words(self) -> str:
        """What a progress bar calls it."""
        environment, policy = self.place
        return f"{policy} on {environment}"

    @property
    def program(self) -> tuple[str, str, int, int]:
        """What decides whether a process has compiled this before."""
        return (
            type(self.policy).__name__,
            self.configuration.policy,
            self.configuration.instance.num_arms,
            len(self.runs),
        )

    def run(self, on_progress: Callable[[float], None] | None = None) -> xr.Dataset:
        """Simulate the runs; see :func:`bayesduel.experiments.nodes.chunk_dataset`."""
        import jax

        from bayesduel.simulation.compiled_programs import drop_if_many
        from bayesduel.simulation.driver import run_chunk

        configuration = self.configuration
        drop_if_many()
        records = run_chunk(
            configuration.problem.environment(
                configuration.notions, shuffle=configuration.shuffle
            ),
            self.policy,
            runs=self.runs,
            checkpoints=np.asarray(configuration.checkpoints, dtype=np.int64),
            seed=configuration.seed,
            num_lanes=self.num_lanes,
            on_progress=on_progress,
            stopping=configuration.stopping,
        )
        device = jax.devices()[0].device_kind
        return nodes.chunk_dataset(configuration, self.runs, records, device)


@dataclass(frozen=True)
class Comparison(Sweep):
    """An experiment as a sweep: where one policy fails, the others go on."""

    experiment: "Experiment"

    kind: ClassVar[str] = "comparison"
    file: ClassVar[str] = results.FILE_NAME
    ending: ClassVar[str] = "nc"

    def job(
        self, place: Place, runs: range, *, num_lanes: int | None = None
    ) -> SimulationJob:
        """Return the job of some runs of one policy on one instance."""
        configuration, policy = self.experiment.configurations[place]
        return SimulationJob(configuration, policy, runs, num_lanes)

    def request(self) -> dict[str, Any]:
        """Return what was asked for, in words."""
        asked = self.experiment
        stops = {} if asked.stopping is None else {"stopping": repr(asked.stopping)}
        return stops | {
            "record": asked.record,
            "environments": list(asked.names),
            "policies": list(asked.labels),
            "num_runs": asked.num_runs,
            "horizon": asked.horizon,
            "seed": asked.seed,
            "shuffle": asked.shuffle,
            "version": package_version(),
        }

    def jobs(
        self, workers: int, finished: Sequence[SimulationJob]
    ) -> list[SimulationJob]:
        """Cut what is missing; more finely for idle workers and for many arms."""
        num_runs, places = self.experiment.num_runs, self.experiment.configurations
        parts = max(-(-num_runs // RUNS_PER_JOB), -(-workers // len(places)))
        usual = -(-num_runs // min(parts, num_runs))
        found = []
        for place in places:
            size = min(self._block(place), usual)
            if self._summarizes:  # The same blocks for any number of workers.
                size = self._block(place)
            done = [job.runs for job in finished if job.place == place]
            for gap in _gaps(num_runs, done):
                found += [
                    self.job(place, range(start, min(start + size, gap.stop)))
                    for start in range(gap.start, gap.stop, size)
                ]
        return found

    def _block(self, place: Place) -> int:
        """Return how many runs a job has at most.

        Those of many arms are played one by one, and gain nothing from a common job.
        """
        configuration, _ = self.experiment.configurations[place]
        num_arms = configuration.instance.num_arms
        if num_arms >= ARMS_OF_ONE_LANE:
            return 1
        few = self._summarizes and num_arms <= _FEW_ARMS
        return RUNS_PER_SUMMARY if few else RUNS_PER_JOB

    @property
    def _summarizes(self) -> bool:
        return self.experiment.record == "quantiles"

    def joined(
        self, finished: Sequence[JobResult], last: JobResult
    ) -> tuple[JobResult, Sequence[JobResult]] | None:
        """Join summaries that make a node of their tree."""
        if not self._summarizes or last.failure is not None:
            return None
        place = last.job.place
        own = {
            each.job.runs: each
            for each in finished
            if each.failure is None and each.job.place == place
        }
        group = run_summaries.complete_group(list(own), self._block(place))
        if not group:
            return None
        parts = [own[runs] for runs in group]
        dataset = nodes.join_chunks([each.value for each in parts])
        job = self.job(place, range(group[0].start, group[-1].stop))
        return JobResult(job, dataset), parts

    def to_bytes(self, value: xr.Dataset) -> memoryview:
        """Return the netCDF file of some runs."""
        return results.to_bytes(value)

    # --- Everything ------------------------------------------------------------------

    def assemble(self, finished: Sequence[JobResult]) -> xr.DataTree:
        """Assemble what is finished; policies without a finished run are left out."""
        asked = self.experiment
        found: dict[Place, xr.Dataset] = {}
        for place, (configuration, _) in asked.configurations.items():
            own = [each for each in finished if each.job.place == place]
            failures = [each.failure for each in own if each.failure is not None]
            if failures:
                text = f"{type(failures[0]).__name__}: {failures[0]}"
                found[place] = nodes.failed_dataset(configuration, asked.num_runs, text)
            elif own:
                found[place] = nodes.join_chunks([each.value for each in own])
        attributes = {
            "seed": asked.seed,
            "num_runs": asked.num_runs,
            "horizon": asked.horizon,
            "version": package_version(),
            "created": now(),
        }
        environments = dict(zip(asked.names, asked.instances, strict=True))
        return nodes.build_tree(environments, found, attributes)

    def to_file(self, found: xr.DataTree) -> tuple[memoryview, dict[str, Any]]:
        """Return ``results.nc``, and what differs from one execution to the next.

        The file is a function of the request; the rest stands in the marker.
        """
        timeless, timings = results.without_timings(found)
        return results.to_bytes(timeless), {"timings": timings}

    def request_files(self) -> dict[str, bytes]:
        """Return the experiment as a file."""
        return folder_files(self.experiment)

    def companions(self, found: xr.DataTree) -> dict[str, bytes]:
        """Return tables of the results."""
        return companions(found)

    def is_whole(self, found: xr.DataTree) -> bool:
        """Say whether no policy failed: the tree has no runs of one that did.

        Summaries of blocks are kept, because more runs cannot go on from their join.
        """
        failed = any("error" in node.attrs for node in found.subtree)
        return not failed and not self._summarizes

    # --- What a folder holds ---------------------------------------------------------

    def read_back(self, folder: OwnedFolder) -> list[JobResult]:
        """Read back what an interrupted comparison has finished of the wanted runs.

        The runs may have been cut into jobs in another way: for other cores, or when
        fewer of them were asked for.

        Raises
        ------
        OutputFolderError
            If the folder holds results of another request, or some that are not
            wanted: going on would delete them.
        """
        stored = _stored(folder)
        self._check_nothing_is_dropped(folder, stored)
        found = []
        for place in self.experiment.configurations:
            taken: set[int] = set()
            for dataset in _largest_first(stored.get(place, ())):
                runs = nodes.runs_of(dataset)
                job = self.job(place, runs)
                _check_same(folder, job, dataset)
                if not taken.isdisjoint(runs) or not self._is_usable(place, runs):
                    continue
                taken.update(runs)
                dataset = dataset.sel(notion=list(job.configuration.notions))
                found.append(JobResult(job, dataset))
        return found

    def _is_usable(self, place: Place, runs: range) -> bool:
        """Say whether stored runs can be put together with others."""
        if not self._summarizes:
            return True
        num_runs, block = self.experiment.num_runs, self._block(place)
        return run_summaries.is_node(runs, block, num_runs)

    def _check_nothing_is_dropped(
        self, folder: OwnedFolder, stored: Mapping[Place, Sequence[xr.Dataset]]
    ) -> None:
        """Refuse to go on with less than the folder holds."""
        for place, datasets in stored.items():
            last = max(nodes.runs_of(dataset).stop for dataset in datasets) - 1
            wanted = place in self.experiment.configurations
            if last >= (self.experiment.num_runs if wanted else 0):
                environment, policy = _named(datasets[0])
                raise OutputFolderError.of(
                    "out",
                    f"{folder.path} holds {policy} on {environment} up to run {last}, "
                    "which this request would drop",
                    folder.path,
                    remedy="ask for that too, replace it ({overwrite}), or name "
                    "another folder",
                )


def now() -> str:
    """Return the time in UTC, as results note when they were made."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _gaps(num_runs: int, done: Sequence[range]) -> list[range]:
    """Return the runs from 0 on that are in none of the disjoint ranges."""
    ordered = sorted(done, key=lambda runs: runs.start)
    starts = [0, *(runs.stop for runs in ordered)]
    stops = [*(runs.start for runs in ordered), num_runs]
    return [range(*ends) for ends in zip(starts, stops, strict=True)]


def _check_same(folder: OwnedFolder, job: SimulationJob, dataset: xr.Dataset) -> None:
    """Refuse results of another request."""
    environment, policy = job.place
    ours = json.loads(json.dumps(job.configuration.fingerprint()))
    theirs = json.loads(dataset.attrs["fingerprint"])
    # More notions than those asked for do no harm.
    asked = set(job.configuration.notions)
    ours["regret"] = sorted(asked)
    theirs["regret"] = sorted(asked & {*dataset["notion"].values.tolist()})
    refuse_others(folder, f"{policy} on {environment}", ours, theirs, _CALLED)


def _stored(folder: OwnedFolder) -> dict[Place, list[xr.Dataset]]:
    """Return all runs in a folder, by environment and policy."""
    stored: dict[Place, list[xr.Dataset]] = {}
    if (folder.path / results.FILE_NAME).is_file():
        for place, dataset in _policy_nodes(results.load(folder.path)):
            stored.setdefault(place, []).append(dataset)
    for data in folder.parts():
        part = results.dataset_from_bytes(data)
        stored.setdefault(_named(part), []).append(part)
    return stored


def _largest_first(datasets: Sequence[xr.Dataset]) -> list[xr.Dataset]:
    """Order stored runs so that a join stands before its parts."""
    return sorted(datasets, key=lambda each: len(nodes.runs_of(each)), reverse=True)


def _named(dataset: xr.Dataset) -> Place:
    """Return the environment and the policy that results say they are of."""
    return str(dataset.attrs.get("environment")), str(dataset.attrs.get("policy"))


def _policy_nodes(whole: xr.DataTree) -> list[tuple[Place, xr.Dataset]]:
    """Return what holds runs, by environment and policy as in a comparison's tree."""
    found = []
    for node in whole.subtree:
        if "run" in node.coords or "first_run" in node.attrs:
            _, environment, policy = (*node.path.split("/"), "", "")[:3]
            found.append(((environment, policy), node.to_dataset()))
    return found

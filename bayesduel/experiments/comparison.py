"""How an experiment is carried out: jobs that simulate some runs of one policy each."""

import json
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr

from bayesduel.experiments import nodes, results
from bayesduel.experiments.jobs import Cut
from bayesduel.experiments.nodes import Configuration
from bayesduel.experiments.request.arguments import check_format
from bayesduel.experiments.request.checked import CheckedRequest
from bayesduel.experiments.request.toml_text import folder_files
from bayesduel.experiments.store import Part, execute_sweep
from bayesduel.experiments.stored.run_ranges import Place, name_of
from bayesduel.experiments.stored.run_sweep import Contents, RunSweep
from bayesduel.package.version import __version__
from bayesduel.policies.policy import PolicyBase

Tables = Callable[[xr.DataTree], Mapping[str, bytes]]
"""Of results the files that stand beside them, by name."""

MOST_SECONDS = 4.0
"""How long a job may play before it is cut, so that what is finished is kept: an
interrupt loses not much more, and a file in so many seconds is no work."""


@dataclass(frozen=True)
class SimulationJob:
    """Some runs of one policy on one matrix, or in one world of subset choice."""

    configuration: Configuration
    policy: PolicyBase
    runs: range
    num_lanes: int | None = None
    whole: range | None = None
    """Runs of the job that this is, or was cut from; None: it may not be cut."""
    most_seconds: float = math.inf
    """How long it may last before it is cut."""

    @property
    def place(self) -> Place:
        """Where its results stand in the tree."""
        return self.configuration.instance_name, self.configuration.policy

    @property
    def name(self) -> str:
        """Name that no other job of the same request has."""
        return name_of(self.place, self.runs)

    @property
    def words(self) -> str:
        """What a progress bar calls it."""
        instance, policy = self.place
        return f"{policy} on {instance}"

    @cached_property
    def program(self) -> Hashable:
        """What it is compiled to: the name of a kernel, or what JAX tells apart."""
        from bayesduel.simulation.driver import compiled_as

        asked = self.configuration
        environment = asked.problem.environment(asked.notions, shuffle=asked.shuffle)
        kernel = compiled_as(environment, self.policy, asked.stopping)
        return kernel or (asked.policy, asked.instance.num_arms, len(self.runs))

    def run(self, on_progress: Callable[[float], None] | None = None) -> Any:
        """Simulate the runs; see :func:`bayesduel.experiments.nodes.chunk_dataset`.

        Return a :class:`bayesduel.experiments.jobs.Cut` where that takes too long.
        """
        from bayesduel.program_cache import drop_programs_if_many
        from bayesduel.simulation.driver import run_chunk

        configuration = self.configuration
        drop_programs_if_many()
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
            most_seconds=self.most_seconds,
        )
        end = self.runs.start + len(records.events)
        done = replace(self, runs=range(self.runs.start, end))
        dataset = nodes.chunk_dataset(configuration, done.runs, records, records.device)
        if end == self.runs.stop:
            return dataset
        rest = replace(self, runs=range(end, self.runs.stop))
        return Cut(done, dataset, rest, len(done.runs) / len(self.runs))

    def failed(self, error: str, num_runs: int) -> xr.Dataset:
        """Return the node of a policy that fails in a run: it has no variables."""
        attributes = nodes.node_attributes(self.configuration)
        return xr.Dataset(attrs=attributes | {"num_runs": num_runs, "error": error})


@dataclass(frozen=True)
class Comparison(RunSweep):
    """An experiment as a sweep: where one policy fails, the others go on."""

    experiment: CheckedRequest
    format: str = results.NETCDF
    tables: Tables | None = None
    """What makes the tables beside the results, where not the usual ones."""

    @cached_property
    def contents(self) -> Contents:
        """As the experiment says."""
        asked = self.experiment
        configurations = {at: each for at, (each, _) in asked.configurations.items()}
        marks = {at: each.fingerprint() for at, each in configurations.items()}
        nodes_of = [each.dataset() for each in asked.problems]
        return Contents(
            num_runs=asked.num_runs,
            record=asked.record,
            attributes={
                "seed": asked.seed,
                "num_runs": asked.num_runs,
                "horizon": asked.horizon,
                "version": __version__,
            },
            instances=dict(zip(asked.names, nodes_of, strict=True)),
            num_arms={x: y.instance.num_arms for x, y in configurations.items()},
            notions={x: y.notions for x, y in configurations.items()},
            fingerprints={x: json.loads(json.dumps(y)) for x, y in marks.items()},
        )

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
            "instances": list(asked.names),
            "policies": list(asked.labels),
            "num_runs": asked.num_runs,
            "horizon": asked.horizon,
            "seed": asked.seed,
            "shuffle": asked.shuffle,
            "version": __version__,
        }

    def jobs(
        self, workers: int, finished: Sequence[SimulationJob]
    ) -> list[SimulationJob]:
        """Return the jobs that the finished ones leave."""
        done: dict[Place, list[range]] = {}
        for job in finished:
            done.setdefault(job.place, []).append(job.runs)
        found = [self.job(place, runs) for place, runs in self.cut(workers, done)]
        if self._summarizes:
            return found
        return [
            replace(job, whole=job.runs, most_seconds=MOST_SECONDS) for job in found
        ]

    def request_files(self) -> dict[str, bytes]:
        """Return the experiment as a file."""
        return folder_files(self.experiment)

    def extra_files(self, found: xr.DataTree) -> Mapping[str, bytes]:
        """Return tables of the results."""
        return super().extra_files(found) if self.tables is None else self.tables(found)


def run_experiment(
    asked: CheckedRequest,
    *,
    format: str,
    part: str | None,
    tables: Tables | None = None,
    **options: Any,
) -> xr.DataTree:
    """Run what is missing of an experiment; see :meth:`bayesduel.Experiment.run`.

    Whoever goes on with tables of the results may make them, too.
    """
    sweep = Comparison(asked, check_format(format), tables)
    read = None if part is None else Part.read(part)
    return execute_sweep(sweep, part=read, **options)

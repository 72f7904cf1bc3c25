"""A job of a comparison: some runs of one policy on one instance, simulated."""

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr

from bayesduel.experiments import nodes
from bayesduel.experiments.jobs import Cut
from bayesduel.experiments.nodes import Configuration
from bayesduel.experiments.stored.run_ranges import Place, name_of
from bayesduel.policies.policy import PolicyBase

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

"""Runs of a kernel: the host's side of the scalar engine."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float64, Int

from bayesduel.policies.scalar_kernel import ScalarKernel
from bayesduel.simulation.environments import PairwiseEnvironment
from bayesduel.simulation.run_orders import orders_and_words
from bayesduel.simulation.runs import Found, RunRecords, play_runs
from bayesduel.simulation.scalar.loop import Problem, new_progress, new_record
from bayesduel.simulation.scalar.programs import program, program_name, tell_program
from bayesduel.stopping.scalar_rules import NEVER_STOPS, ScalarStopping


class Variations(NamedTuple):
    """What differs from run to run, and what was there before the first round."""

    preferences: Float64[np.ndarray, "run K K"] | None = None
    """Of every run, in place of the matrix of the environment."""

    votes: Int[np.ndarray, "vote 3"] | None = None
    """Winner and loser of duels from before, and 1 where the rule for stopping is told
    of it as well as the policy, else 0. Every run is told them in its own order."""


PLAIN = Variations()


class KernelRuns:
    """Runs of a kernel.

    ``stopping`` ends runs before the horizon; it does not look at duels from before
    alone, which ``variations`` has, with matrices of the runs.
    """

    def __init__(
        self,
        environment: PairwiseEnvironment,
        kernel: ScalarKernel,
        orders: Int[np.ndarray, "run K"],
        grid: Int[np.ndarray, " C"],
        stopping: ScalarStopping | None = None,
        variations: Variations = PLAIN,
    ) -> None:
        self._kernel, self._orders, self._grid = kernel, orders, grid
        self._stops, self._ends = stopping is not None, stopping or NEVER_STOPS
        self._variations = variations
        self._preference = np.array(environment.preference, dtype=np.float64)
        num_runs, num_arms = orders.shape
        shape = num_runs, len(grid), num_arms, num_arms
        self._ledger = np.zeros(shape, dtype=np.int64)
        self._progress = new_progress(num_runs)
        self._program = program_name(kernel.name, self._ends.name)
        self._state: Any = None

    def compile(self, rng: np.random.Generator) -> None:
        """Play no event, with a state that is thrown away."""
        state = self._kernel.new_state(self._orders[0], int(self._grid[-1]))
        problem = Problem(self._preference, self._orders[0], self._grid)
        record = new_record(self._ledger[0], new_progress(1), self._ends)
        program(self._program)(state, rng, problem, record, 0)

    def begin(
        self, place: int, rng: np.random.Generator
    ) -> Callable[[int], tuple[int, int]]:
        """Return what plays a run up to so many events: the events, the rounds."""
        order, variations = self._orders[place], self._variations
        self._state = state = self._kernel.new_state(order, int(self._grid[-1]))
        progress = self._progress[place : place + 1]
        record = new_record(self._ledger[place], progress, self._ends)
        preference = self._preference
        if variations.preferences is not None:
            preference = variations.preferences[place]
        if variations.votes is not None:
            told = rng.permutation(variations.votes)
            told[:, :2] = np.argsort(order)[told[:, :2]]
            tell_program(self._program)(state, rng, record, told)
        problem = Problem(preference[order[:, None], order], order, self._grid)
        play = program(self._program)

        def go_on(limit: int) -> tuple[int, int]:
            play(state, rng, problem, record, limit)
            while self._kernel.solve_on_host(state):
                play(state, rng, problem, record, limit)
            return int(progress["events"][0]), int(progress["played"][0])

        return go_on

    def info(self) -> dict[str, Any]:
        """Return what the policy says of the run that was begun last."""
        return self._kernel.info(self._state)

    def found(self, done: int) -> Found:
        """Return what the first ``done`` runs have come to."""
        found = self._progress[:done]
        info = {}
        if self._stops:
            info = {name: found[name] for name in ("stopped_at", "answer")}
        plays = {"plays": self._ledger[:done]}
        return Found(plays, found["recommendation"], found["events"], info)


def run_chunk(
    environment: PairwiseEnvironment,
    kernel: ScalarKernel,
    *,
    runs: range,
    checkpoints: Int[np.ndarray, " C"],
    seed: int,
    stopping: ScalarStopping | None = None,
    variations: Variations = PLAIN,
    **settings: Any,
) -> RunRecords:
    """Simulate the runs numbered ``runs``; see ``bayesduel.simulation.driver``.

    With stopping and variations as of :class:`KernelRuns`.
    """
    orders, words = orders_and_words(environment, runs, seed)
    grid = np.ascontiguousarray(checkpoints, dtype=np.int64)
    own = KernelRuns(
        environment, kernel, orders.astype(np.int64), grid, stopping, variations
    )
    return play_runs(own, words, runs=runs, horizon=int(grid[-1]), **settings)

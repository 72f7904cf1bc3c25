"""Simulating a chunk of runs of a policy in JAX, side by side: the host's side.

JAX holds the policy alone (``asked_models``). Who answers, the ledger and the clock are
NumPy's, as for any other policy. A run is a function of the seed and its own number:
which runs are beside it changes nothing.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jaxtyping import Bool, Int, UInt32

from bayesduel.errors import SimulationError
from bayesduel.ops.frozen_pytrees import as_leaf
from bayesduel.simulation import asked_models
from bayesduel.simulation.asked_models import Told
from bayesduel.simulation.beginnings import orders_and_words
from bayesduel.simulation.environment import Environment
from bayesduel.simulation.model_tables import PairTable, SetTable
from bayesduel.simulation.pairwise import PairwiseEnvironment
from bayesduel.simulation.records import RunRecords
from bayesduel.simulation.segments import Segments, out_of_events
from bayesduel.types import State

_NOBODY = -1


def run_chunk(
    environment: Environment,
    policy: Any,
    label: str,
    *,
    runs: range,
    checkpoints: Int[np.ndarray, " C"],
    seed: int,
    event_limit: int,
    segment_seconds: float,
    num_lanes: int,
    on_progress: Callable[[float], None] | None = None,
    most_seconds: float = math.inf,
) -> RunRecords:
    """Simulate the runs numbered ``runs``; see ``bayesduel.simulation.driver``.

    After ``most_seconds`` no run is begun if the others would still take long.

    Parameters
    ----------
    policy
        What plays a policy in JAX.
    label : str
        What that policy is called.
    num_lanes : int
        Runs side by side.

    Raises
    ------
    SimulationError
        If a run has used up its events, or the policy asks for an arm that there is
        not; names run and round.
    """
    orders, words = orders_and_words(environment, runs, seed)
    grid = np.ascontiguousarray(checkpoints, dtype=np.int64)
    horizon = int(grid[-1])
    segments = Segments(
        segment_seconds, len(runs), horizon, event_limit, on_progress, most_seconds
    )
    seats = orders, words, grid, num_lanes
    if isinstance(environment, PairwiseEnvironment):
        bulk = policy.explores_in_bulk
        table = PairTable(environment, *seats, in_bulk=bulk)
    else:
        table = SetTable(environment, *seats)
    with jax.enable_x64(True):
        lanes = _Lanes(policy, label, table, runs, orders, words, horizon, num_lanes)
        began, compiled = time.perf_counter(), None
        while lanes.hand_out(is_over=segments.is_enough()):
            finished = lanes.advance(event_limit)
            # The first event of all comes with the programs.
            compiled = compiled or time.perf_counter()
            segments.note(finished, lanes.log_rounds())
    best, info, events = lanes.filed()
    ledger, best = table.labeled(best)
    compiled = compiled or began
    return RunRecords(
        ledger=ledger,
        recommendation=best,
        info=info,
        events=events,
        finished=np.ones(len(events), dtype=bool),
        run_seconds=time.perf_counter() - compiled,
        compile_seconds=compiled - began,
        device=jax.devices()[0].device_kind,
    )


class _Lanes:
    """Runs side by side; a lane whose run has ended takes the next one."""

    def __init__(
        self,
        policy: Any,
        label: str,
        table: PairTable | SetTable,
        runs: range,
        orders: Int[np.ndarray, "run K"],
        words: UInt32[np.ndarray, "run 2"],
        horizon: int,
        num_lanes: int,
    ) -> None:
        self._policy, self._label = jax.tree.map(as_leaf, policy), label
        self._table, self._runs, self._horizon = table, runs, horizon
        self._orders, self._words = orders, words
        self._run = np.full(num_lanes, _NOBODY)
        self._events = np.zeros(num_lanes, dtype=np.uint32)
        self._begun = 0
        self._files: dict[int, Any] = {}
        self._states: State = None
        self._told: Any = None

    def hand_out(self, *, is_over: bool) -> bool:
        """Begin runs in empty lanes; say whether any run is on its way."""
        left = 0 if is_over else len(self._runs) - self._begun
        empty = np.flatnonzero(self._run == _NOBODY)[:left]
        if empty.size:
            for lane in empty:
                self._table.begin(lane, self._begun)
                self._run[lane] = self._begun
                self._begun += 1
            self._begin(np.isin(np.arange(self._run.size), empty))
        return bool(np.any(self._run != _NOBODY))

    def _begin(self, fresh: Bool[np.ndarray, " lane"]) -> None:
        # A lane without a run computes as if it had one; nobody looks at it.
        revenues, size = self._table.terms
        new = asked_models.begin(
            self._policy,
            self._words[self._run],
            self._orders[self._run],
            np.int64(self._horizon),
            None if revenues is None else revenues[self._run],
            size,
        )
        if self._states is None:
            self._states, none = new, np.zeros(fresh.size, dtype=np.int64)
            request = asked_models.blank_request(self._policy, new)
            outcome = self._table.nothing(fresh.size)
            self._told = Told(~fresh, fresh, none, request, outcome)
            self._concluded()  # Compiled now, so that it counts as compiling.
            return
        self._states = asked_models.chosen(fresh, new, self._states)
        self._events[fresh] = 0
        told = self._told
        self._told = told._replace(
            counts=told.counts & ~fresh,
            asks=told.asks | fresh,
            round=np.where(fresh, 0, told.round),
        )

    def advance(self, event_limit: int) -> int:
        """Let every run take an event, and file those that have ended: how many."""
        asks = self._policy, self._words[self._run], self._events
        request, self._states = asked_models.ask(*asks, self._states, self._told)
        played = self._told.round
        holds = self._run != _NOBODY
        ended = holds & (played >= self._horizon)
        if ended.any():
            self._file(ended)
        plays = holds & ~ended
        request = jax.device_get(request)
        self._check(plays, request, event_limit)
        left = np.where(plays, self._horizon - played, 0)
        request, outcome, rounds = self._table.play(request, played, left)
        self._events += plays
        played = played + rounds
        self._told = Told(plays, played < self._horizon, played, request, outcome)
        return np.count_nonzero(ended)

    def _check(
        self, plays: Bool[np.ndarray, " lane"], request: Any, event_limit: int
    ) -> None:
        """Raise where a run has used up its events, or a request cannot be played."""
        for lane in np.flatnonzero(plays & (self._events >= event_limit)):
            raise out_of_events(*self._place(lane), int(self._events[lane]))
        for lane, fault in self._table.faults(request):
            if plays[lane]:
                run, played = self._place(lane)
                where = f"(round {played + 1} of run {run})"
                raise SimulationError(f"{self._label}: {fault} {where}")

    def _place(self, lane: int) -> tuple[int, int]:
        """Return the number of the run in a lane, and its rounds."""
        return self._runs[self._run[lane]], int(self._told.round[lane])

    def _file(self, ended: Bool[np.ndarray, " lane"]) -> None:
        found = self._concluded()
        for lane in np.flatnonzero(ended):
            row = jax.tree.map(lambda leaf, lane=lane: leaf[lane], found)
            self._files[int(self._run[lane])] = *row, int(self._events[lane])
            self._run[lane] = _NOBODY

    def _concluded(self) -> Any:
        asks = self._policy, self._words[self._run], self._events
        return jax.device_get(asked_models.conclude(*asks, self._states))

    def log_rounds(self) -> float:
        """Return the rounds of runs on their way, as the sum of their logarithms."""
        return float(np.sum(np.log1p(self._told.round[self._run != _NOBODY])))

    def filed(self) -> tuple[Any, dict[str, np.ndarray], Int[np.ndarray, " run"]]:
        """Return recommendations, numbers and events of the runs, in their order."""
        rows = [self._files[run] for run in range(self._begun)]
        best, info, events = jax.tree.map(lambda *leaves: np.stack(leaves), *rows)
        return best, info, events

"""Simulating a chunk of runs of a policy in JAX, side by side: the host's side.

JAX plays the policy (``asked_models``), and answers its duels. Who answers about sets,
and every ledger, are NumPy's, as for any other policy. A run is a function of the seed
and its own number: which runs are beside it, and how many events a call takes, changes
nothing.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Int, UInt32

from bayesduel.errors import SimulationError
from bayesduel.ops.frozen_pytrees import as_leaf
from bayesduel.simulation import asked_models
from bayesduel.simulation.beginnings import orders_and_words
from bayesduel.simulation.environment import Environment
from bayesduel.simulation.model_tables import NOBODY, PairTable, Seats, SetTable
from bayesduel.simulation.pairwise import PairwiseEnvironment
from bayesduel.simulation.records import RunRecords
from bayesduel.simulation.segments import Segments, out_of_events


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
        table = PairTable(environment, *seats)
    else:
        table = SetTable(environment, *seats)
    with jax.enable_x64(True):
        lanes = _Lanes(
            policy,
            label,
            table,
            runs,
            orders,
            words,
            horizon,
            num_lanes,
            segment_seconds,
        )
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
        device=next(iter(jnp.zeros(()).devices())).device_kind,
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
        seconds: float,
    ) -> None:
        self._policy, self._label = jax.tree.map(as_leaf, policy), label
        self._table, self._runs, self._horizon = table, runs, horizon
        self._orders, self._words, self._seconds = orders, words, seconds
        self._seats = Seats(
            run=np.full(num_lanes, NOBODY),
            events=np.zeros(num_lanes, dtype=np.uint32),
            played=np.full(num_lanes, horizon, dtype=np.int64),
        )
        # The first call is compiled, and the second one tells how long an event takes.
        self._most = 1
        self._begun = 0
        self._files: dict[int, Any] = {}

    def hand_out(self, *, is_over: bool) -> bool:
        """Begin runs in empty lanes; say whether any run is on its way."""
        left = 0 if is_over else len(self._runs) - self._begun
        run = self._seats.run
        empty = np.flatnonzero(run == NOBODY)[:left]
        if empty.size:
            for lane in empty:
                self._table.begin(lane, self._begun)
                run[lane] = self._begun
                self._begun += 1
            self._seats.events[empty] = 0
            self._seats.played[empty] = 0
            self._begin(np.isin(np.arange(run.size), empty))
        return bool(np.any(run != NOBODY))

    def _begin(self, fresh: Bool[np.ndarray, " lane"]) -> None:
        revenues, size = self._table.terms
        seats = self._seats
        new = asked_models.begin(
            self._policy,
            self._words[seats.run],
            self._orders[seats.run],
            np.int64(self._horizon),
            None if revenues is None else revenues[seats.run],
            size,
        )
        if seats.states is None:
            seats.states = new
            self._concluded()  # Compiled now, so that it counts as compiling.
        else:
            seats.states = asked_models.chosen(fresh, new, seats.states)

    def advance(self, event_limit: int) -> int:
        """Play runs on, and file those that have ended: how many."""
        seats, began = self._seats, time.perf_counter()
        plays = seats.played < self._horizon
        for lane in np.flatnonzero(plays & (seats.events >= event_limit)):
            run = self._runs[seats.run[lane]]
            raise out_of_events(run, int(seats.played[lane]), int(seats.events[lane]))
        most = event_limit - int(np.max(seats.events, where=plays, initial=0))
        found: Any = self._table.ask(self._policy, seats, min(self._most, most))
        for lane, played, fault in self._table.faults(found, seats):
            where = f"(round {played + 1} of run {self._runs[seats.run[lane]]})"
            raise SimulationError(f"{self._label}: {fault} {where}")
        ended = self._table.settle(found, seats)
        if ended.any():
            self._file(ended)
        longer = self._most * self._seconds / max(time.perf_counter() - began, 1e-9)
        self._most = int(np.clip(longer, 1, asked_models.EVENTS))
        return int(np.count_nonzero(ended))

    def _file(self, ended: Bool[np.ndarray, " lane"]) -> None:
        found, seats = self._concluded(), self._seats
        for lane in np.flatnonzero(ended):
            row = jax.tree.map(lambda leaf, lane=lane: leaf[lane], found)
            self._files[int(seats.run[lane])] = *row, int(seats.events[lane])
            seats.run[lane] = NOBODY

    def _concluded(self) -> Any:
        seats = self._seats
        asks = self._policy, self._words[seats.run], seats.events
        return jax.device_get(asked_models.conclude(*asks, seats.states))

    def log_rounds(self) -> float:
        """Return the rounds of runs on their way, as the sum of their logarithms."""
        return float(np.sum(np.log1p(self._seats.played[self._seats.run != NOBODY])))

    def filed(self) -> tuple[Any, dict[str, np.ndarray], Int[np.ndarray, " run"]]:
        """Return recommendations, numbers and events of the runs, in their order."""
        rows = [self._files[run] for run in range(self._begun)]
        best, info, events = jax.tree.map(lambda *leaves: np.stack(leaves), *rows)
        return best, info, events

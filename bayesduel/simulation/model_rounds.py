"""Runs of a rule over a model, side by side: the host's side.

JAX plays the rule (``asked_models``), and answers its duels. Who answers about sets,
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
from jaxtyping import Bool, Int, Shaped, UInt32

from bayesduel.errors import SimulationError
from bayesduel.simulation import asked_models
from bayesduel.simulation.asked_models import EVENTS, Feedback, Manner, as_leaf
from bayesduel.simulation.environments import Environment, PairwiseEnvironment
from bayesduel.simulation.rounds import new_progress
from bayesduel.simulation.rule_runs import SetTables
from bayesduel.simulation.run_orders import orders_and_words
from bayesduel.simulation.runs import (
    RunRecords,
    Segments,
    new_generator,
    out_of_events,
    reseed,
)
from bayesduel.simulation.set_rounds import add_offer
from bayesduel.simulation.set_worlds import answer, put_forward
from bayesduel.types import Batch, Duel, OnHost, Rewards

NOBODY = -1
"""In place of the number of a run."""


class _Lanes:
    """What all lanes have.

    A lane without a run looks like one whose run is over. It computes as if it had the
    last run of all; nobody looks at it.
    """

    def __init__(
        self,
        environment: Environment,
        policy: Any,
        label: str,
        runs: range,
        orders: Int[np.ndarray, "run n"],
        words: UInt32[np.ndarray, "run 2"],
        checkpoints: Int[np.ndarray, " C"],
        num_lanes: int,
    ) -> None:
        self._environment: Any = environment
        self._policy, self._label = jax.tree.map(as_leaf, policy), label
        self._runs, self._orders, self._words = runs, orders, words
        self._checkpoints, self._horizon = checkpoints, int(checkpoints[-1])
        self._states: Any = None
        self.num_begun = 0
        self.run = np.full(num_lanes, NOBODY)
        self.events = np.zeros(num_lanes, dtype=np.uint32)
        self.played = np.full(num_lanes, self._horizon, dtype=np.int64)

    def begin(self, lanes: Int[np.ndarray, " lane"]) -> None:
        """Begin the next runs in empty lanes."""
        self.run[lanes] = self.num_begun + np.arange(len(lanes))
        self.num_begun += len(lanes)
        self.events[lanes] = self.played[lanes] = 0
        words, orders = self._words[self.run], self._orders[self.run]
        horizon, (revenues, size) = np.int64(self._horizon), self._terms()
        new = asked_models.begin(self._policy, words, orders, revenues, horizon, size)
        new = self._seated(new)
        if self._states is not None:
            fresh = np.isin(np.arange(len(self.run)), lanes)
            new = asked_models.chosen(fresh, new, self._states)
        self._states = new

    def events_left(self, limit: int) -> int:
        """Return how many events no run has used up; raise where one has none."""
        plays = self.played < self._horizon
        for lane in np.flatnonzero(plays & (self.events >= limit)):
            run = self._runs[self.run[lane]]
            raise out_of_events(run, int(self.played[lane]), int(self.events[lane]))
        return limit - int(np.max(self.events, where=plays, initial=0))

    def conclude(self) -> tuple[Any, Any, UInt32[np.ndarray, " lane"]]:
        """Return recommendations, numbers and events of all lanes."""
        asks = self._policy, self._words[self.run], self.events, self._rule_states()
        return *jax.device_get(asked_models.conclude(*asks)), self.events

    def _terms(self) -> tuple[Any, int | None]:
        """Return the revenues by positions and the size of sets, for sets."""
        return None, None

    def _seated(self, states: Any) -> Any:
        return states

    def _rule_states(self) -> Any:
        return self._states

    def _raise_fault(self, lane: int, played: int, fault: str) -> None:
        where = f"round {played + 1} of run {self._runs[self.run[lane]]}"
        raise SimulationError(f"{self._label}: {fault} ({where})")


class PairLanes(_Lanes):
    """Runs of duels, several events of each at once; ``manner`` as of ``Manner``."""

    def __init__(self, *given: Any, **manner: Any) -> None:
        super().__init__(*given)
        self._manner = Manner(**manner)
        num_runs, num_arms = self._orders.shape
        shape = num_runs, len(self._checkpoints), num_arms, num_arms
        # What is played between checkpoints.
        self._plays = np.zeros(shape, dtype=np.int64)

    def _seated(self, states: Any) -> Any:
        played, most = self.played, min(self._manner.every, self._horizon)
        return asked_models.seated(self._policy, self._manner, most, states, played)

    def _rule_states(self) -> Any:
        return self._states.state

    def advance(self, most: int) -> Bool[np.ndarray, " lane"]:
        """Play up to so many events; say which runs are over."""
        self._states, duels = asked_models.play(
            self._policy,
            self._environment.preference,
            self._horizon,
            self._words[self.run],
            self._orders[self.run],
            self._states,
            np.int64(most),
            self._manner,
        )
        seats = self._states
        events, played, duels = jax.device_get((seats.event, seats.played, duels))
        self._note(duels)
        self.events, self.played = np.array(events), np.array(played)
        return (self.run != NOBODY) & (self.played >= self._horizon)

    def _note(self, duels: Batch[OnHost[Duel]]) -> None:
        """Count the plays of stretches of one pair, event after event.

        Each counts for the first checkpoint that has all of it, and so for all later
        ones; of one that goes on, the rounds up to a checkpoint count there alone.
        """
        grid, lanes = self._checkpoints, len(self.run)

        def stretches(idle: Any, explored: Any) -> Int[np.ndarray, "stretch lane"]:
            return np.stack([idle, explored], axis=1).reshape(-1, lanes)

        rounds = stretches(duels.exploit_rounds, duels.explore_rounds)
        first = stretches(duels.champion, duels.first)
        second = stretches(duels.champion, duels.second)
        ends = self.played + np.cumsum(rounds, axis=0)
        begins = ends - rounds
        num_arms = self._orders.shape[1]
        for arms in (first, second):
            for place, lane in np.argwhere((arms < 0) | (arms >= num_arms)):
                self._raise_fault(
                    lane,
                    int(begins[place // 2 * 2, lane]),
                    f"choose named the arm {arms[place, lane]}; arms are numbered 0 to "
                    f"{num_arms - 1}",
                )
        last = np.searchsorted(grid, ends)
        run = np.broadcast_to(self.run, rounds.shape)
        played = rounds > 0
        cells = run[played], last[played], first[played], second[played]
        np.add.at(self._plays, cells, rounds[played])
        passed = np.searchsorted(grid, begins, side="right")
        for place in zip(*np.nonzero(played & (passed < last)), strict=True):
            pair = first[place], second[place]
            for checkpoint in range(passed[place], last[place]):
                part = grid[checkpoint] - begins[place]
                self._plays[run[place], checkpoint, *pair] += part
                self._plays[run[place], checkpoint + 1, *pair] -= part

    def ledger(self, done: int) -> dict[str, Int[np.ndarray, "run C K K"]]:
        """Return the plays of the first runs, by positions."""
        return {"plays": np.cumsum(self._plays[:done], axis=1)}


class SetLanes(_Lanes):
    """Runs of offers of sets, one event a call."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        num_runs, num_lanes = len(self._orders), len(self.run)
        revenues = np.asarray(self._environment.revenues, dtype=np.float64)
        self._revenues = revenues[self._orders]
        self._answers = SetTables(self._environment, num_runs, self._checkpoints)
        self._generators = [new_generator() for _ in range(num_lanes)]
        self._seats: list[Any] = [None] * num_lanes
        self._places = [0] * num_lanes
        self._last: Any = None

    def _terms(self) -> tuple[Any, int | None]:
        return self._revenues[self.run], self._environment.subset_size

    def begin(self, lanes: Int[np.ndarray, " lane"]) -> None:
        """Begin the next runs in empty lanes."""
        super().begin(lanes)
        for lane in lanes:
            run = int(self.run[lane])
            reseed(self._generators[lane], self._words[run])
            progress = new_progress(1)[0]
            self._seats[lane] = self._answers.of_run(run, self._orders[run], progress)
            self._places[lane] = 0

    def advance(self, most: int) -> Bool[np.ndarray, " lane"]:
        """Take an event; say which runs were over, and have been told so."""
        offer = self._ask()
        plays, size = self.played < self._horizon, self._environment.subset_size
        for lane in np.flatnonzero((offer.subset.sum(axis=1) != size) & plays):
            lane = int(lane)
            fault = f"choose offered {offer.subset[lane].sum()} arms; offer {size}"
            self._raise_fault(lane, int(self.played[lane]), fault)
        rounds, rewards = self._nothing()
        most_rounds = np.minimum(offer.rounds, self._horizon - self.played)
        for lane in np.flatnonzero(most_rounds):
            world, shown, grid, ledger, _ = self._seats[lane]
            until, rng = bool(offer.until_no_choice[lane]), self._generators[lane]
            subset = np.asarray(offer.subset[lane])
            put_forward(world, shown, subset)
            rounds[lane] = answer(world, shown, rng, int(most_rounds[lane]), until)
            rewards[lane] = shown.rewards
            self._places[lane] = add_offer(
                shown,
                subset,
                grid,
                self._places[lane],
                int(self.played[lane]),
                int(rounds[lane]),
                ledger,
            )
        self._last = offer._replace(rounds=rounds), Rewards(rounds, rewards)
        self.events, self.played = self.events + plays, self.played + rounds
        return (self.run != NOBODY) & ~plays

    def _ask(self) -> Any:
        """Tell what came of the last requests, and ask for the next ones."""
        if self._last is None:
            blank = asked_models.blank_request(self._policy, self._states)
            self._last = blank, Rewards(*self._nothing())
        told = Feedback(
            self.events > 0, self.played < self._horizon, self.played, *self._last
        )
        words = self._words[self.run]
        request, self._states = asked_models.ask(
            self._policy, words, self.events, self._states, told
        )
        return jax.device_get(request)

    def _nothing(self) -> Any:
        shape = len(self.run), self._orders.shape[1]
        return np.zeros(shape[0], dtype=np.int64), np.zeros(shape)

    def ledger(self, done: int) -> dict[str, Shaped[np.ndarray, "run ..."]]:
        """Return the ledger of the first runs, by positions."""
        return self._answers.found(new_progress(done))[0]


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
    **manner: Any,
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
        Runs side by side; a lane whose run has ended takes the next one.
    **manner
        How duels are played: fields of :class:`asked_models.Manner`.

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
    kind = PairLanes if isinstance(environment, PairwiseEnvironment) else SetLanes
    with jax.enable_x64(True):
        lanes: Any = kind(
            environment, policy, label, runs, orders, words, grid, num_lanes, **manner
        )
        files: dict[int, Any] = {}
        # The first call is compiled, and the second one tells how long an event takes.
        most, began, compiled = 1, time.perf_counter(), 0.0
        while True:
            left = 0 if segments.is_enough() else len(runs) - lanes.num_begun
            if (empty := np.flatnonzero(lanes.run == NOBODY)[:left]).size:
                lanes.begin(empty)
            if not compiled:
                lanes.conclude()  # So that this counts as compiling.
            if np.all(lanes.run == NOBODY):
                break
            asked = time.perf_counter()
            ended = lanes.advance(min(most, lanes.events_left(event_limit)))
            if ended.any():
                found = lanes.conclude()
                for lane in np.flatnonzero(ended):
                    row = jax.tree.map(lambda leaf, lane=lane: leaf[lane], found)
                    files[int(lanes.run[lane])] = row
                lanes.run[ended] = NOBODY
            now = time.perf_counter()
            # Several events a call: on a GPU each call takes milliseconds.
            longer = most * segment_seconds / max(now - asked, 1e-9)
            most = int(np.clip(longer, 1, EVENTS))
            compiled = compiled or now
            on_their_way = lanes.played[lanes.run != NOBODY]
            log_rounds = float(np.log1p(on_their_way).sum())
            segments.note(int(np.count_nonzero(ended)), log_rounds)
    best, info, events = jax.tree.map(
        lambda *leaves: np.stack(leaves), *(files[run] for run in range(len(files)))
    )
    ledger, best = environment.with_original_labels(
        lanes.ledger(len(files)), best, orders[: len(files)]
    )
    return RunRecords(
        ledger=ledger,
        recommendation=best,
        info=info,
        events=events.astype(np.int64),
        finished=np.ones(len(events), dtype=bool),
        run_seconds=time.perf_counter() - compiled,
        compile_seconds=compiled - began,
        device=next(iter(jnp.zeros(()).devices())).device_kind,
    )

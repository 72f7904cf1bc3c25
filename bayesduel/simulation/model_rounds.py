"""Runs of a rule over a model, side by side: the host's side.

JAX plays the rule (``asked_models``), and answers its duels. Who answers about sets,
and every ledger, are NumPy's, as for any other policy. A run is a function of the seed
and its own number: which runs are beside it, and how many events a call takes, changes
nothing.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int, Shaped, UInt32

from bayesduel.errors import SimulationError
from bayesduel.policies.policy_around import Manner
from bayesduel.program_cache import enable_program_cache
from bayesduel.simulation import asked_models
from bayesduel.simulation.asked_models import EVENTS, Feedback, as_leaf
from bayesduel.simulation.environments import Environment, SubsetEnvironment
from bayesduel.simulation.rule_runs import SetTables
from bayesduel.simulation.run_orders import orders_and_words
from bayesduel.simulation.run_progress import CHECKPOINT, new_progress
from bayesduel.simulation.runs import (
    RunRecords,
    Segments,
    new_generator,
    out_of_events,
    reseed,
)
from bayesduel.simulation.set_answers import answer
from bayesduel.simulation.set_rounds import add_offer
from bayesduel.simulation.set_worlds import put_forward
from bayesduel.types import Batch, Duel, OnHost, Rewards


@dataclass(eq=False)
class _Lanes:
    """Runs side by side, from their first round on."""

    environment: Any
    policy: Any
    label: str
    runs: Int[np.ndarray, " lane"]
    orders: Int[np.ndarray, "lane n"]
    words: UInt32[np.ndarray, "lane 2"]
    checkpoints: Int[np.ndarray, " C"]
    manner: Manner

    def __post_init__(self) -> None:
        self.horizon, shape = int(self.checkpoints[-1]), len(self.runs)
        self.events, self.played = np.zeros(shape, np.uint32), np.zeros(shape, np.int64)
        revenues = size = None
        if isinstance(self.environment, SubsetEnvironment):
            size = self.environment.subset_size
            revenues = np.asarray(self.environment.revenues, np.float64)[self.orders]
        given = self.words, self.orders, revenues, np.int64(self.horizon)
        self.states = asked_models.begin(self.policy, *given, size)

    def events_left(self, limit: int) -> int:
        """Return how many events no run has used up; raise where one has none."""
        plays = self.played < self.horizon
        for lane in np.flatnonzero(plays & (self.events >= limit)):
            run, played = int(self.runs[lane]), int(self.played[lane])
            raise out_of_events(run, played, int(self.events[lane]))
        return limit - int(np.max(self.events, where=plays, initial=0))

    def conclude(self) -> tuple[Any, Any]:
        """Return what is recommended, and numbers of the runs."""
        asks = self.policy, self.words, self.events, self.states
        return jax.device_get(asked_models.conclude(*asks))

    def fault(self, lane: Any, played: Any, fault: str) -> SimulationError:
        where = f"round {played + 1} of run {self.runs[lane]}"
        return SimulationError(f"{self.label}: {fault} ({where})")


class PairLanes(_Lanes):
    """Runs of duels, several events of each at once."""

    def __post_init__(self) -> None:
        super().__post_init__()
        most = min(self.manner.every, self.horizon)
        self.seats = asked_models.seated(self.policy, self.manner, most, self.states)
        num_lanes, num_arms = self.orders.shape
        shape = num_lanes, len(self.checkpoints), num_arms, num_arms
        self.plays = np.zeros(shape, dtype=np.int64)

    def advance(self, most: int) -> bool:
        """Play up to so many events of each run; say whether all are over."""
        self.seats, duels = asked_models.play(
            self.policy,
            self.environment.preference,
            self.horizon,
            self.words,
            self.orders,
            self.seats,
            np.int64(most),
            self.manner,
        )
        self.states = self.seats.state
        found = jax.device_get((self.seats.event, self.seats.played, duels))
        self.note(found[2])
        self.events, self.played = map(np.array, found[:2])
        return bool(np.all(self.played >= self.horizon))

    def note(self, duels: Batch[OnHost[Duel]]) -> None:
        """Count the plays up to each checkpoint, of all stretches of one pair."""
        num_lanes, num_arms = self.orders.shape
        rounds, first, second = (
            np.stack(parts, axis=1).reshape(-1, num_lanes)
            for parts in (
                (duels.exploit_rounds, duels.explore_rounds),
                (duels.champion, duels.first),
                (duels.champion, duels.second),
            )
        )
        begins = self.played + np.cumsum(rounds, axis=0) - rounds
        for arms in (first, second):
            for place, lane in np.argwhere((arms < 0) | (arms >= num_arms)):
                named = f"choose named the arm {arms[place, lane]}"
                fault = f"{named}; arms are numbered 0 to {num_arms - 1}"
                raise self.fault(lane, begins[place // 2 * 2, lane], fault)
        coming = np.flatnonzero(self.checkpoints > begins.min())[:, None, None]
        until = np.clip(self.checkpoints[coming] - begins, 0, rounds)
        cells = np.arange(num_lanes), coming, first, second
        np.add.at(self.plays, cells, until)

    def ledger(self) -> dict[str, Int[np.ndarray, "lane C K K"]]:
        """Return the plays, by positions."""
        return {"plays": self.plays}


class SetLanes(_Lanes):
    """Runs of offers of sets, one event a call."""

    def __post_init__(self) -> None:
        super().__post_init__()
        tables = SetTables(self.environment, len(self.runs), self.checkpoints)
        self.tables, self.progress = tables, new_progress(len(self.runs))
        self.seats, self.generators = [], [new_generator() for _ in self.runs]
        for lane, generator in enumerate(self.generators):
            reseed(generator, self.words[lane])
            mine = self.orders[lane], self.progress[lane]
            self.seats.append(tables.of_run(lane, *mine))
        blank = asked_models.blank_request(self.policy, self.states)
        nothing = Rewards(*self.nothing())
        self.told = Feedback(self.events > 0, None, None, blank, nothing)

    def nothing(self) -> Any:
        """Return no round and no reward, of every run."""
        return np.zeros_like(self.played), np.zeros(self.orders.shape)

    def advance(self, most: int) -> bool:
        """Take an event; say whether all were over, and have been told so."""
        plays, size = self.played < self.horizon, self.environment.subset_size
        told = self.told._replace(asks=plays, round=self.played)
        asked = self.policy, self.words, self.events, self.states, told
        request, self.states = asked_models.ask(*asked)
        offer: Any = jax.device_get(request)
        for lane in np.flatnonzero((offer.subset.sum(axis=1) != size) & plays):
            fault = f"choose offered {offer.subset[lane].sum()} arms; offer {size}"
            raise self.fault(lane, self.played[lane], fault)
        rounds, rewards = self.nothing()
        for lane in np.flatnonzero(plays & (offer.rounds > 0)):
            world, shown, grid, ledger, now = self.seats[lane]
            subset, until = np.asarray(offer.subset[lane]), offer.until_no_choice[lane]
            place, played = int(now[CHECKPOINT]), int(self.played[lane])
            most_rounds = min(int(offer.rounds[lane]), self.horizon - played)
            put_forward(world, shown, subset)
            found = answer(
                world, shown, self.generators[lane], most_rounds, bool(until)
            )
            now[CHECKPOINT] = add_offer(
                shown, subset, grid, place, played, found, ledger
            )
            rounds[lane], rewards[lane] = found, shown.rewards
        offer, outcome = offer._replace(rounds=rounds), Rewards(rounds, rewards)
        self.told = Feedback(plays, None, None, offer, outcome)
        self.events, self.played = self.events + plays, self.played + rounds
        return not plays.any()

    def ledger(self) -> dict[str, Shaped[np.ndarray, "lane ..."]]:
        """Return the ledger, by positions."""
        return self.tables.found(self.progress)[0]


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
    manner: Manner,
    on_progress: Callable[[float], None] | None = None,
    most_seconds: float = math.inf,
) -> RunRecords:
    """Simulate the runs numbered ``runs``; see ``bayesduel.simulation.driver``.

    ``policy`` is what plays it in JAX, ``num_lanes`` runs side by side, and ``manner``
    how duels are played. After ``most_seconds`` no more runs are begun if they would
    take long.
    """
    enable_program_cache()
    orders, words = orders_and_words(environment, runs, seed)
    grid = np.ascontiguousarray(checkpoints, dtype=np.int64)
    limits = len(runs), int(grid[-1]), event_limit
    segments = Segments(segment_seconds, *limits, on_progress, most_seconds)
    kind = SetLanes if isinstance(environment, SubsetEnvironment) else PairLanes
    found: list[Any] = []
    # The first call is compiled, and the second one tells how long an event takes.
    most, began, compiled = 1, time.perf_counter(), 0.0
    with jax.enable_x64(True):
        policy = jax.tree.map(as_leaf, policy)
        for start in range(0, len(runs), num_lanes):
            if segments.is_enough():
                break
            count = min(num_lanes, len(runs) - start)
            # What is left over plays the last run as well: other shapes are compiled.
            rows = start + np.minimum(np.arange(num_lanes), count - 1)
            each = np.array(runs)[rows], orders[rows], words[rows]
            lanes = kind(environment, policy, label, *each, grid, manner)
            if not compiled:
                lanes.conclude()  # So that this counts as compiling.
            ended, is_over = 0, False
            while not is_over:
                asked = time.perf_counter()
                is_over = lanes.advance(min(most, lanes.events_left(event_limit)))
                now = time.perf_counter()
                # Several events a call: on a GPU each call takes milliseconds.
                longer = most * segment_seconds / max(now - asked, 1e-9)
                most, compiled = int(np.clip(longer, 1, EVENTS)), compiled or now
                played = lanes.played[:count]
                on_their_way = played[played < lanes.horizon]
                before, ended = ended, count - len(on_their_way)
                segments.note(ended - before, float(np.log1p(on_their_way).sum()))
            own = lanes.ledger(), *lanes.conclude(), lanes.events.astype(np.int64)
            found.append(jax.tree.map(lambda leaf, count=count: leaf[:count], own))
    ledger, best, info, events = jax.tree.map(lambda *x: np.concatenate(x), *found)
    done = len(events)
    ledger, best = environment.with_original_labels(ledger, best, orders[:done])
    return RunRecords(
        ledger=ledger,
        recommendation=best,
        info=info,
        events=events,
        run_seconds=time.perf_counter() - compiled,
        compile_seconds=compiled - began,
        device=next(iter(jnp.zeros(()).devices())).device_kind,
    )

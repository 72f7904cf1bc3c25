"""Runs of a rule over a model, side by side: the host's side.

JAX plays the rule (``asked_models``), and answers its duels. Who answers about sets,
and every ledger, are NumPy's, as for any other policy. A run is a function of the seed
and its own number: which runs are beside it, and how many events a call takes, changes
nothing.
"""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int, UInt32

from bayesduel.policies.policy_around import Manner
from bayesduel.policies.subset_base import Offer
from bayesduel.program_cache import enable_program_cache
from bayesduel.simulation import asked_models
from bayesduel.simulation.asked_models import Feedback, as_leaf
from bayesduel.simulation.environments import Environment
from bayesduel.simulation.rounds import BAD_ARM
from bayesduel.simulation.rule_runs import PairTables, PolicyRuns
from bayesduel.simulation.run_orders import orders_and_words
from bayesduel.simulation.run_progress import EVENTS, PLAYED, RECOMMENDED
from bayesduel.simulation.runs import (
    GoOn,
    RunRecords,
    new_generator,
    play_runs,
    reseed,
)
from bayesduel.simulation.subset_environment import SetTables, SubsetEnvironment
from bayesduel.types import Rewards


@dataclass(eq=False)
class _Asked:
    """A rule over a model as the loop over sets plays it: it offers what JAX chose."""

    name: str
    rule: Any
    manner: Manner
    words: UInt32[np.ndarray, "run 2"]
    compiled = False

    def start(self, num_arms: int, *_: Any) -> dict[str, Any]:
        return {"rewards": np.zeros(num_arms)}

    def choose(self, state: dict[str, Any], *_: Any) -> Any:
        return state["offer"]

    def update(self, state: dict[str, Any], *told: Any) -> None:
        state["rewards"] = told[-1].copy()

    def recommend(self, state: dict[str, Any], *_: Any) -> Any:
        return state["offer"].subset  # In place of what JAX says afterwards.


class _ModelRuns(PolicyRuns):
    """Runs of a rule over a model, side by side."""

    _best: np.ndarray
    """Where it is written what those begun last recommend."""

    def compile(self, rng: np.random.Generator) -> None:
        """Play no event."""
        super().compile(rng)
        self.info()

    def info(self) -> dict[str, Any]:
        """Return numbers of the runs that were begun last, and keep what is best."""
        words, events = self._here(self._policy.words), self._progress[:, EVENTS]
        given = words, self._here(events).astype(np.uint32), self._state
        best, info = jax.device_get(asked_models.conclude(self._policy.rule, *given))
        self._best[:] = best
        return info

    def _here(self, rows: np.ndarray) -> np.ndarray:
        """Return the rows of the runs that were begun last."""
        return rows[self._place : self._place + self.side_by_side]

    def _start(self, place: int, revenues: Any = None, size: int | None = None) -> Any:
        """Begin runs side by side; return their keys, arms and progress."""
        self._place, self._horizon = place, int(self._tables.grid[-1])
        rows = self._policy.words, self._orders, self._progress
        words, orders, progress = map(self._here, rows)
        progress[:] = 0
        given = words, orders, revenues, np.int64(self._horizon), size
        self._state = asked_models.begin(self._policy.rule, *given)
        return words, orders, progress


class PairRuns(_ModelRuns):
    """Runs of duels, which JAX answers."""

    def begin(self, place: int, rng: np.random.Generator) -> GoOn:
        """Return what plays runs side by side."""
        words, orders, progress = self._start(place)
        self._best = progress[:, RECOMMENDED]
        rule, manner, horizon = self._policy.rule, self._policy.manner, self._horizon
        most = min(manner.every, horizon)
        seats = asked_models.seated(rule, manner.every, most, self._state)
        fixed = rule, manner, self._environment.preference, horizon, words, orders

        def go_on(limit: int) -> tuple[Any, Any]:
            nonlocal seats
            left = True
            while left:
                left = limit - progress[:, EVENTS].max()
                seats, found = asked_models.play(*fixed, seats, np.int64(left))
                self._state = seats.state
                events, played, found = jax.device_get(
                    (seats.event, seats.played, found)
                )
                self._note(*found)
                progress[:, EVENTS], progress[:, PLAYED] = events, played
                left = left > asked_models.EVENTS and np.any(played < horizon)
            return progress[:, EVENTS], progress[:, PLAYED]

        return go_on

    def _note(
        self,
        rounds: Int[np.ndarray, "event 2 lane"],
        arms: Int[np.ndarray, "event 2 lane 2"],
    ) -> None:
        """Count the plays up to each checkpoint, of all stretches of one pair."""
        played = self._here(self._progress)[:, PLAYED]
        rounds = rounds.reshape(-1, len(played))
        arms = np.where(rounds[..., None] > 0, arms.reshape(*rounds.shape, 2), 0)
        begins = played + np.cumsum(rounds, axis=0) - rounds
        grid, plays_at = self._tables.grid, self._here(self._tables.plays_at)
        for row, lane, side in np.argwhere((arms < 0) | (arms >= plays_at.shape[-1])):
            played[lane] = begins[row // 2 * 2, lane]  # The event begins there.
            raise self._fault(self._place + lane, BAD_ARM, int(arms[row, lane, side]))
        coming = np.flatnonzero(grid > begins.min())[:, None, None]
        until = np.clip(grid[coming] - begins, 0, rounds)
        np.add.at(
            plays_at, (np.arange(len(played)), coming, *np.moveaxis(arms, -1, 0)), until
        )


class SetRuns(_ModelRuns):
    """Runs of offers of sets, which the loop over rounds answers one by one."""

    def begin(self, place: int, rng: np.random.Generator) -> GoOn:
        """Return what plays runs side by side."""
        play_one, asked = [], []
        for row in range(place, place + self.side_by_side):
            reseed(own := new_generator(), self._policy.words[row])
            play_one.append(super().begin(row, own))
            asked.append(self._state)
        environment, orders = (
            self._environment,
            self._orders[place : place + len(asked)],
        )
        revenues = np.asarray(environment.revenues, np.float64)[orders]
        words, _, progress = self._start(place, revenues, environment.subset_size)
        self._best = self._here(self._tables.best)
        blank = asked_models.blank_request(self._policy.rule, self._state)
        outcome = Rewards._make((progress[:, PLAYED], np.zeros(orders.shape)))
        told = Feedback(outcome.rounds > 0, None, None, blank, outcome)

        def go_on(limit: int) -> tuple[Any, Any]:
            nonlocal told
            plays = np.array([True])
            while plays.any():
                events, played = progress[:, EVENTS].copy(), progress[:, PLAYED].copy()
                plays = (played < self._horizon) & (events < limit)
                told = told._replace(asks=plays, round=played)
                given = words, events.astype(np.uint32), self._state, told
                request, self._state = asked_models.ask(self._policy.rule, *given)
                offer: Any = jax.device_get(request)
                for lane in np.flatnonzero(plays):
                    asked[lane]["offer"] = Offer(*(each[lane] for each in offer))
                    play_one[lane](int(events[lane]) + 1)
                rewards = np.array([each["rewards"] for each in asked])
                outcome = Rewards._make((progress[:, PLAYED] - played, rewards))
                offer = offer._replace(rounds=outcome.rounds)
                told = told._replace(counts=plays, request=offer, outcome=outcome)
            return progress[:, EVENTS], progress[:, PLAYED]

        return go_on


def run_chunk(
    environment: Environment,
    policy: Any,
    label: str,
    *,
    runs: range,
    checkpoints: Int[np.ndarray, " C"],
    seed: int,
    num_lanes: int,
    manner: Manner,
    **settings: Any,
) -> RunRecords:
    """Simulate the runs numbered ``runs``; see ``bayesduel.simulation.driver``.

    ``policy`` is what plays it in JAX, ``num_lanes`` runs side by side, and ``manner``
    how duels are played.
    """
    enable_program_cache()
    orders, words = orders_and_words(environment, runs, seed)
    # What is left over plays the last run as well: other shapes are compiled.
    places = np.arange(-(-len(runs) // num_lanes) * num_lanes)
    rows = np.minimum(places, len(runs) - 1)
    grid = np.ascontiguousarray(checkpoints, dtype=np.int64)
    if isinstance(environment, SubsetEnvironment):
        kind, tables = SetRuns, SetTables(environment, len(rows), grid)
    else:
        kind, tables = PairRuns, PairTables(environment, len(rows), grid, manner)
    with jax.enable_x64(True):
        asked = _Asked(label, jax.tree.map(as_leaf, policy), manner, words[rows])
        own = kind(environment, asked, np.array(runs)[rows], orders[rows], tables)
        own.side_by_side = num_lanes
        own.device = next(iter(jnp.zeros(()).devices())).device_kind
        return play_runs(own, words, runs=runs, horizon=int(grid[-1]), **settings)

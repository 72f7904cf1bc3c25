"""Runs of a rule over a model, side by side: the host's side.

JAX plays the rule (``model_calls``), and answers duels that are told at once. Sets,
outcomes that are told late and duels without self-duels are played by the loops over
rounds, as for any other policy. No run depends on those beside it.
"""

from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int, UInt32

from bayesduel import types
from bayesduel.arguments.limits import LONGEST_HORIZON
from bayesduel.ops.program_cache import enable_program_cache
from bayesduel.policies.policy import Duel, Problem
from bayesduel.policies.policy_around import STRAIGHT, Manner
from bayesduel.policies.subset_base import Offer
from bayesduel.simulation import model_calls
from bayesduel.simulation.model_calls import Feedback, as_leaf
from bayesduel.simulation.rounds import BAD_ARM, CLOCK, EVENTS, PLAYED
from bayesduel.simulation.rule_runs import PairTables, PolicyRuns, WorldTables
from bayesduel.simulation.runs import (
    Environment,
    GoOn,
    RunRecords,
    WorldEnvironment,
    new_generator,
    orders_and_words,
    play_runs,
    reseed,
)
from bayesduel.simulation.set_rounds import SetTables, SubsetEnvironment


@dataclass(eq=False)
class _ModelPolicy:
    """A rule over a model as the loop over rounds plays it: as JAX chose."""

    name: str
    rule: Any
    words: UInt32[np.ndarray, "run 2"]
    compiled = False
    clock = CLOCK  # Where a run's progress has the rounds by which the rule counts

    def start(self, problem: Problem, *_: Any) -> dict[str, Any]:
        return {"reports": deque(), "blank": _report(0, 0, 0, 0, 0)}

    def choose(self, run: dict[str, Any], *_: Any) -> Any:
        return Duel._make(map(int, run["choice"]))

    def update(self, run: dict[str, Any], rng: Any, *outcome: Any) -> None:
        run["reports"].append(_report(*outcome, rounds=1))

    def recommend(self, run: dict[str, Any], *_: Any) -> Any:
        return run["best"]()


class _ModelSetPolicy(_ModelPolicy):
    """The same over sets."""

    clock = PLAYED

    def start(self, problem: Problem, *_: Any) -> dict[str, Any]:
        num_arms = problem.num_arms
        none = np.zeros(num_arms, dtype=bool), 0, np.zeros(num_arms)
        return {"reports": deque(), "blank": _report_of_sets(0, *none)}

    def choose(self, run: dict[str, Any], *_: Any) -> Any:
        return Offer(*run["choice"])

    def update(self, run: dict[str, Any], rng: Any, *outcome: Any) -> None:
        run["reports"].append(_report_of_sets(*outcome))


def _report(round_: int, first: int, second: int, won: int, rounds: int) -> Any:
    """Return a round, what was played up to it, and the outcome, as JAX is told."""
    arms = np.int32(first), np.int32(second)
    duel = types.Duel._make((arms[0], 0, *arms, rounds))
    return round_, duel, types.Outcome._make((0, rounds, int(won)))


def _report_of_sets(round_: int, subset: Any, rounds: int, rewards: Any) -> Any:
    offer = types.Offer._make((subset, rounds, False))
    return round_, offer, types.Rewards._make((rounds, rewards.copy()))


class ModelRuns(PolicyRuns):
    """Runs that the loop over rounds plays event by event, asking JAX before each."""

    def compile(self, rng: np.random.Generator) -> None:
        """Play no event."""
        super().compile(rng)
        self.info()

    def begin(self, row: int, rng: np.random.Generator) -> GoOn:
        """Return what plays runs side by side."""
        self._runs_here, self._play_one = [], []
        best = self._tables.best_of(self._progress)
        for beside in range(row, row + self.side_by_side):
            reseed(generator := new_generator(), self._policy.words[beside])
            self._play_one.append(super().begin(beside, generator))
            self._state["best"] = partial(best.__getitem__, beside)
            self._runs_here.append(self._state)
        self._place, self._horizon = row, int(self._tables.grid[-1])
        orders, size, revenues = self._here(self._orders), None, None
        if isinstance(environment := self._environment, SubsetEnvironment):
            size = environment.world.subset_size
            revenues = self._tables.revenues[orders]
        self._rule_and_words = self._policy.rule, self._here(self._policy.words)
        given = orders, revenues, np.int64(self._horizon), size
        self._state = model_calls.begin(*self._rule_and_words, *given)
        self._event = np.zeros(self.side_by_side, dtype=np.uint32)
        return self._go_on

    def _go_on(self, limit: int) -> tuple[Any, Any]:
        progress, plays = self._here(self._progress), np.array([True])
        while plays.any() or any(run["reports"] for run in self._runs_here):
            plays = progress[:, PLAYED] < self._horizon
            plays &= progress[:, EVENTS] < limit
            for row in self._ask(plays, progress[:, self._policy.clock]):
                self._play_one[row](int(progress[row, EVENTS]) + 1)
        return progress[:, EVENTS], progress[:, PLAYED]

    def info(self) -> dict[str, Any]:
        """Return numbers of the runs that were begun last, and keep what is best."""
        given = *self._rule_and_words, self._event, self._state
        best, info = jax.device_get(model_calls.conclude(*given))
        self._here(self._tables.best_of(self._progress))[:] = best
        return info

    def _ask(self, plays: np.ndarray, clock: np.ndarray) -> Int[np.ndarray, " run"]:
        """Tell JAX an outcome of each run, and ask it once there is no other of any."""
        runs = self._runs_here
        counts = np.array([bool(run["reports"]) for run in runs])
        reports = [
            run["reports"].popleft() if run["reports"] else run["blank"] for run in runs
        ]
        more = np.array([bool(run["reports"]) for run in runs])
        plays = plays & ~more.any()
        asks = plays & (clock < LONGEST_HORIZON)
        about = np.where(asks, clock + 1, 0)
        reports = jax.tree.map(lambda *leaves: np.array(leaves), *reports)
        given = *self._rule_and_words, self._event, self._state
        request, self._state = model_calls.ask(
            *given, Feedback(counts, about, *reports)
        )
        self._event = self._event + (asks | more)
        answers = zip(*jax.device_get(request), strict=True)
        for run, answer in zip(runs, answers, strict=True):
            run["choice"] = answer
        if np.any(plays & ~asks):  # The rule would explore no more.
            self.info()
        return np.flatnonzero(plays)

    def _here(self, rows: np.ndarray) -> np.ndarray:
        """Return the rows of the runs that were begun last."""
        return rows[self._place : self._place + self.side_by_side]


class StraightRuns(ModelRuns):
    """Runs of duels, which JAX answers and tells at once."""

    def _go_on(self, limit: int) -> tuple[Any, Any]:
        fixed = *self._rule_and_words, self._here(self._orders)
        fixed += self._environment.preference, self._horizon
        progress, left = self._here(self._progress), True
        while left:
            left = np.int64(limit) - self._event.max()
            seats = self._state, self._event, progress[:, PLAYED]
            (self._state, *now), stretches = model_calls.play(*fixed, seats, left)
            self._event, played, stretches = jax.device_get((*now, stretches))
            self._note(*stretches)
            progress[:, EVENTS], progress[:, PLAYED] = self._event, played
            left = left > model_calls.EVENTS and np.any(played < self._horizon)
        return progress[:, EVENTS], progress[:, PLAYED]

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
        cell = np.arange(len(played)), coming, *np.moveaxis(arms, -1, 0)
        np.add.at(plays_at, cell, np.clip(grid[coming] - begins, 0, rounds))


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
    """Simulate the runs numbered ``runs``; see ``bayesduel.simulation.driver``."""
    enable_program_cache()
    orders, words = orders_and_words(environment, runs, seed)
    # Spare lanes repeat the last run, because another shape would be compiled.
    rows = np.minimum(np.arange(-(-len(runs) // num_lanes) * num_lanes), len(runs) - 1)
    grid = np.ascontiguousarray(checkpoints, dtype=np.int64)
    kind, adapter = StraightRuns if manner == STRAIGHT else ModelRuns, _ModelPolicy
    if isinstance(environment, SubsetEnvironment):
        kind, adapter = ModelRuns, _ModelSetPolicy
        numbers = np.array(runs)[rows]
        tables = SetTables(environment, adapter, numbers, words[rows], grid)
    elif isinstance(environment, WorldEnvironment):
        kind = ModelRuns
        tables = WorldTables(
            environment,
            len(rows),
            grid,
            manner,
            words[rows],
            contextual=False,
            side_by_side=True,
        )
    else:
        tables = PairTables(environment, len(rows), grid, manner)
    with jax.enable_x64(True):
        policy = adapter(label, jax.tree.map(as_leaf, policy), words[rows])
        model_runs = kind(
            environment, policy, np.array(runs)[rows], orders[rows], tables
        )
        model_runs.side_by_side = num_lanes
        model_runs.device = next(iter(jnp.zeros(()).devices())).device_kind
        return play_runs(
            model_runs, words, runs=runs, horizon=int(grid[-1]), **settings
        )

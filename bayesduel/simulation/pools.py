"""Runs in which arms arrive: stretches of rounds in which the same arms are there.

The loop over rounds plays a stretch as it plays any run, with the arms that are there.
At the next arrival the policy begins anew, from the counts of all arms so far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Int

from bayesduel.arguments.limits import LONGEST_HORIZON
from bayesduel.instances.world import World
from bayesduel.policies.scalar_kernel import ScalarKernel
from bayesduel.simulation.kernel_calls import KernelCalls
from bayesduel.simulation.rounds import (
    ALONE,
    CHECKPOINT,
    CLOCK,
    FAULT,
    NO_FAULT,
    PLAYED,
    RECOMMENDED,
    PairLedger,
)
from bayesduel.simulation.steppers import pairs_of, votes_of
from bayesduel.stopping.base import NOBODY, StoppingRule, StoppingState, conclusion
from bayesduel.stopping.base import implement as implement_rule

if TYPE_CHECKING:
    from numpy.random import Generator


class WinsSoFar(NamedTuple):
    """The state of `CountedWins`."""

    wins: Int[np.ndarray, "K K"]


class CountedWins(StoppingRule):
    """Never stops, and counts who won: the plays of a run do not say that."""

    def new_state(self, num_arms: int) -> WinsSoFar:
        """Return the counts before the first duel."""
        return WinsSoFar(np.zeros((num_arms, num_arms), dtype=np.int64))


def _count(state: WinsSoFar, first: int, second: int, won: int, lost: int) -> None:
    state.wins[first, second] += won
    state.wins[second, first] += lost


def _go_on(state: WinsSoFar, in_full: bool) -> StoppingState:
    return conclusion(False, NOBODY, 0.0, 0.0)


implement_rule(WinsSoFar, _count, _go_on)


class Arrivals:
    """The stretches of one run in which no arm arrives."""

    def __init__(self, given: tuple[Any, ...], first: Int[np.ndarray, " K"]) -> None:
        self._run, *self._manner, self._ledger, self._reports = given[:5]
        self._progress = given[5]
        self._first = first
        self._horizon = int(self._ledger.checkpoints[-1])
        self._wins = np.zeros((len(first), len(first)), dtype=np.int64)
        self._end = 0

    def has_more(self) -> bool:
        """Say whether a stretch is over, and close it."""
        progress = self._progress
        if progress[FAULT] != NO_FAULT or progress[PLAYED] < self._end:
            return False
        if self._end:
            self._close()
        return self._end < self._horizon

    def open(self) -> tuple[Int[np.ndarray, " k"], Int[np.ndarray, "k k"], Any]:
        """Begin the next stretch: its arms, the wins so far, what the loop is given."""
        ledger, begin = self._ledger, self._end
        there = self._first <= begin + 1
        later = self._first[~there].min(initial=self._horizon + 1)
        self._end = int(min(later - 1, self._horizon))
        self._positions = np.flatnonzero(there)
        grid, number = ledger.checkpoints, len(self._positions)
        self._at = np.flatnonzero((grid > begin) & (grid <= self._end))
        # The loop ends at its last checkpoint.
        checkpoints = np.union1d(grid[self._at], [self._end]).astype(np.int64)
        run = self._run
        run = run._replace(
            order=run.order[self._positions],
            table=np.ascontiguousarray(run.table[self._positions]),
            regret_at=np.zeros((len(checkpoints), run.regret.size)),
            counts=np.zeros(number, dtype=np.int64),
        )
        self._part = (
            run,
            PairLedger(
                checkpoints=checkpoints,
                plays=np.zeros((number, number), dtype=np.int64),
                plays_at=np.zeros((len(checkpoints), number, number), dtype=np.int64),
                shares=np.zeros((3, number), dtype=np.int64),
            ),
        )
        progress = self._progress
        progress[CHECKPOINT] = progress[ALONE] = 0
        pool = np.ix_(self._positions, self._positions)
        wins = self._wins[pool]
        if progress[CLOCK] >= LONGEST_HORIZON:
            progress[CLOCK] = wins.sum()
        self._counts = CountedWins().new_state(number)
        manner = *self._manner, self._part[1], self._reports, progress
        return self._positions, wins, (run, *manner, None, self._counts)

    def _close(self) -> None:
        """Add the stretch to the record of the run."""
        run, part = self._part
        pool = np.ix_(self._positions, self._positions)
        ledger, number = self._ledger, len(self._at)
        ledger.plays_at[self._at] = ledger.plays
        ledger.plays_at[np.ix_(self._at, self._positions, self._positions)] += (
            part.plays_at[:number]
        )
        ledger.plays[pool] += part.plays
        self._run.regret_at[self._at] = run.regret_at[:number]
        self._wins[pool] += self._counts.wins
        progress = self._progress
        progress[RECOMMENDED] = self._positions[progress[RECOMMENDED]]


def tell_wins(
    policy: Any, state: Any, rng: Generator, wins: Int[np.ndarray, "K K"]
) -> None:
    """Let a policy in a new state take in votes that it did not ask for now."""
    if isinstance(policy, ScalarKernel):
        calls, played = KernelCalls(policy, None, len(wins)), 0
        votes, begins = votes_of(wins), True
        while begins or policy.solve_on_host(state):
            played = calls.tell(state, rng, played, votes, begins=begins)
            begins = False
        return
    round_ = 0
    for pair, won, votes in pairs_of(wins):
        for vote in range(votes):
            round_ += 1
            policy.update(state, rng, round_, *pair, vote < won)


def begins_from_counts(world: World) -> bool:
    """Say whether policies keep their counts when arms arrive."""
    return not getattr(world, "anew", False)

"""Batches of comparisons: lists of pairs and numbers of duels, fixed in advance.

What PCOMP, SCOMP and SCOMP2 (Agarwal, Ghuge and Nagarajan 2022) share. A batch compares
every arm of one set with every arm of a larger one, each pair equally often, pair after
pair. Nothing is decided before its last outcome is there.
"""

import math
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Bool, Int
from numpy.random import Generator

from bayesduel.errors import PolicyParameterError
from bayesduel.instances.world import CONDORCET_WINNER, FIXED_PREFERENCES
from bayesduel.ops.divergences import kl_to_half
from bayesduel.ops.rules import most_beaten, record
from bayesduel.policies.policy import Duel, Policy, Problem, Wins, checked
from theory.arguments import integer_from, one_of
from theory.theorems.batch_schedules import MOST_BATCHES, batch_sizes


class BatchedState(NamedTuple):
    """Counts, the arms that are left, and the batch that is being played."""

    wins: Int[np.ndarray, "K K"]  # In all batches.
    leads: Int[np.ndarray, "K K"]  # Wins of i over j minus losses, in this batch.
    active: Bool[np.ndarray, " K"]
    seeds: Bool[np.ndarray, " K"]
    # Those of this batch, in the order in which they meet.
    pairs: Int[np.ndarray, "M 2"]
    sizes: Int[np.ndarray, " B"]  # c_r = floor(T^(r/B)) for r from 1 on.
    # ``phase``, ``candidate`` and ``log_inverse_delta`` of the algorithm; ``level``,
    # which is r, and how many ``batches`` were submitted. Of this batch, the number of
    # ``pairs``, of those ``num_asked`` for and ``answered``, the ``duels`` of each, how
    # many of those to come get one ``extra``, whether it was ``submitted``, and whether
    # it is ``complete``: the horizon leaves room for all of it.
    now: Any
    horizon: int
    by_divergence: bool  # Whether arms are removed by divergences, of all batches.
    # Whether one arm gets the rounds of a batch that would pass the horizon.
    commits: bool


PAIRWISE = 0  # Phase in which all active arms meet each other
SEEDED = 1  # Phase in which the seeds, or one of them, meet the active arms
SEEDS_ONLY = 2  # Phase in which the seeds meet each other (SCOMP2)


class BatchedPolicy(Policy):
    """Base of the three algorithms; see :class:`PairwiseComparisons`."""

    assumes = FIXED_PREFERENCES, CONDORCET_WINNER

    num_batches: int = 16
    elimination: str = checked("kl", one_of, ("kl", "hoeffding"))
    overflow: str = checked("truncate", one_of, ("truncate", "commit"))
    compiled = True

    explores_in_bulk: ClassVar[bool] = True
    needs_horizon: ClassVar[bool] = True

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        super().check(num_arms, horizon)
        why = f"the horizon is {horizon}, and a batch has at least one duel"
        most, kind = min(MOST_BATCHES, horizon), PolicyParameterError
        integer_from(self.num_batches, 1, "num_batches", most, kind=kind, why=why)

    def start(self, problem: Problem, rng: Generator) -> BatchedState:
        """Draw the seeds, if there are any, and plan the first batch."""
        num_arms, horizon = problem.num_arms, problem.horizon
        counts = np.zeros((num_arms, num_arms), dtype=np.int64)
        state = BatchedState(
            wins=counts,
            leads=counts.copy(),
            active=np.ones(num_arms, dtype=bool),
            seeds=self._draw_seeds(num_arms, rng),
            pairs=np.zeros((num_arms * (num_arms - 1) // 2, 2), dtype=np.int64),
            sizes=np.array(_sizes(horizon, int(self.num_batches)), dtype=np.int64),
            now=record(
                phase=PAIRWISE, candidate=0, log_inverse_delta=0.0, level=1, batches=0,
                pairs=0, num_asked=0, answered=0, duels=0, extra=0,
                submitted=False, complete=False,
            ),
            horizon=horizon,
            by_divergence=self.elimination == "kl",
            commits=self.overflow == "commit",
        )  # fmt: skip
        start_pairwise(state, state.active, horizon)
        if state.seeds.any():
            state.now.phase = SEEDED
            self._begin(state)
        return state

    def choose(self, state: BatchedState, rng: Generator, round_: int) -> Duel:
        """Choose the next pair of the batch, or stay with the arm that is left."""
        # An active arm duels itself while outcomes are to come (delayed feedback).
        now = state.now
        left = state.horizon - round_ + 1
        if not now.submitted:
            submit(state, left)
        stays = state.commits and not now.complete
        if stays or now.num_asked == now.pairs:
            arm = int(np.argmax(state.active))
            if state.commits:
                arm = most_beaten(rng, state.wins, state.active)
            return Duel(arm, left, arm, arm, 0)
        first, second = state.pairs[now.num_asked, 0], state.pairs[now.num_asked, 1]
        rounds, to_come = now.duels, now.pairs - now.num_asked
        # One after the other, so that each set of pairs is equally likely.
        if now.extra > 0 and rng.random() * to_come < now.extra:
            now.extra -= 1
            rounds += 1
        now.num_asked += 1
        return Duel(first, 0, first, second, rounds)

    def recommend(self, state: BatchedState, rng: Generator) -> int:
        """Return the active arm that empirically beats the most others."""
        return most_beaten(rng, state.wins, state.active)

    def info(self, state: BatchedState) -> dict[str, float]:
        """Return the number of batches submitted, one cut at the horizon included."""
        return {"batches": int(state.now.batches)}

    # Steps that algorithms replace

    def _draw_seeds(self, num_arms: int, rng: Generator) -> Bool[np.ndarray, " K"]:
        return np.zeros(num_arms, dtype=bool)

    def _begin(self, state: BatchedState) -> None:
        """Plan the first batch with seeds."""


@lru_cache(maxsize=64)
def _sizes(horizon: int, num_batches: int) -> tuple[int, ...]:
    """Remember them for the next run; of more batches than rounds all have one duel."""
    return batch_sizes(horizon, min(num_batches, horizon))


def plan(
    state: BatchedState,
    challengers: Bool[np.ndarray, " K"],
    rivals: Bool[np.ndarray, " K"],
) -> None:
    """Plan a batch: all challengers meet all rivals, a superset, but themselves."""
    now, number = state.now, 0
    for first in range(len(rivals)):
        for second in range(first + 1, len(rivals)):
            one = challengers[first] and rivals[second]
            if one or (challengers[second] and rivals[first]):
                state.pairs[number, 0], state.pairs[number, 1] = first, second
                number += 1
    now.pairs = number
    now.num_asked = now.answered = 0
    now.submitted = False
    state.leads.fill(0)


def submit(state: BatchedState, left: int) -> None:
    """Decide how often each pair meets: less than planned where T is near."""
    now, pairs = state.now, max(state.now.pairs, 1)
    now.duels, now.extra = state.sizes[min(now.level, len(state.sizes)) - 1], 0
    now.complete = now.duels <= left // pairs
    if not now.complete:
        now.duels, now.extra = left // pairs, left % pairs
    now.submitted = True
    now.batches += 1


def is_over(state: BatchedState, first: int, second: int, won: Wins) -> bool:
    """Count the outcome, and say whether the batch has come to its end."""
    lost = won.rounds - won.won
    state.wins[first, second] += won.won
    state.wins[second, first] += lost
    state.leads[first, second] += won.won - lost
    state.leads[second, first] += lost - won.won
    state.now.answered += 1
    return state.now.complete and state.now.answered == state.now.pairs


def surely_ahead(
    state: BatchedState, first: int, second: int, radii: float, share: float
) -> bool:
    """Say whether an arm beats another by so many radii, or a share of a threshold."""
    # A lead of m radii gamma is N KL > m^2 log(1/delta) = 2 N (m gamma)^2.
    level = state.now.log_inverse_delta
    if not state.by_divergence:
        duels = float(state.now.duels)
        gamma = math.sqrt(level / (2.0 * duels))
        return state.leads[first, second] > radii * 2.0 * duels * gamma
    won, lost = state.wins[first, second], state.wins[second, first]
    if won <= lost:
        return False
    duels = float(won + lost)
    return duels * kl_to_half(0.5 * (won - lost) / duels) > share * level


def remove(state: BatchedState, beaten: Bool[np.ndarray, " K"]) -> None:
    """Remove the beaten arms, or none if nobody would be left; seeds likewise."""
    left = 0
    for arm in range(len(beaten)):
        left += state.active[arm] and not beaten[arm]
    for arm in range(len(beaten)):
        if left > 0 and beaten[arm]:
            state.active[arm] = state.seeds[arm] = False


def beaten_by(
    state: BatchedState, members: Bool[np.ndarray, " K"], radii: float, share: float
) -> Bool[np.ndarray, " K"]:
    """Mark every arm that some member beats by so much; see ``surely_ahead``."""
    beaten = np.zeros(len(members), dtype=np.bool_)
    for first in range(len(members)):
        for second in range(len(members)):
            if members[first] and surely_ahead(state, first, second, radii, share):
                beaten[second] = True
    return beaten


def beating(
    state: BatchedState, members: Bool[np.ndarray, " K"], radii: float, share: float
) -> Bool[np.ndarray, " K"]:
    """Mark every active arm that beats all members by so much."""
    mask = state.active.copy()
    for first in range(len(members)):
        for second in range(len(members)):
            if members[second] and not surely_ahead(state, first, second, radii, share):
                mask[first] = False
    return mask


def after_pairwise(state: BatchedState) -> None:
    """Remove every arm that some active arm beats for sure (PCOMP)."""
    remove(state, beaten_by(state, state.active, 1.0, 1.0))
    state.now.level += 1
    plan(state, state.active, state.active)


def start_pairwise(
    state: BatchedState, members: Bool[np.ndarray, " K"], rounds: int
) -> None:
    """Hand the arms over to PCOMP, whose first round has the same exponent."""
    # log(1/delta) is log(6 T K^2 B) for Hoeffding and log(T K^2) for divergences.
    now, number = state.now, 0
    for arm in range(len(members)):
        state.active[arm] = members[arm]
        number += members[arm]
    level = math.log(max(rounds, 1)) + 2.0 * math.log(number)
    if not state.by_divergence:
        level += math.log(6.0 * len(state.sizes))
    now.log_inverse_delta = level
    now.phase = PAIRWISE
    plan(state, state.active, state.active)

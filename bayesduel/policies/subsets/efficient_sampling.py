"""ESCB for combinatorial semi-bandits (Combes et al. 2015)."""

import math
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator

from bayesduel.errors import PolicyParameterError
from bayesduel.instances.world import FIXED_PREFERENCES
from bayesduel.ops.rules import drawn_highest, top
from bayesduel.policies.policy import Problem
from bayesduel.policies.registry import register
from bayesduel.policies.subset_base import SubsetPolicy, warn_above_one
from bayesduel.policies.subsets._reward_counts import (
    RewardCounts,
    count_rewards,
    mean_rewards,
    no_counts,
)
from theory.arguments import integer_from, one_of

if TYPE_CHECKING:
    from bayesduel.instances.subset_world import SubsetWorld

_HALVINGS = 60  # Steps of the bisection of the multiplier of ESCB-1
_ROUNDING = 1e-12  # Indices that differ by less than this, relatively, are ties


class ESCBState(NamedTuple):
    """Counts, and the sets that are compared."""

    counts: RewardCounts
    sets: Int[np.ndarray, "S k"]  # The arms of every set; none where they are searched.
    values: Float[np.ndarray, " S"]  # Room for their indices.


class Beliefs(NamedTuple):
    """Quantities from which the index of a set is computed."""

    means: Float[np.ndarray, " n"]
    times: Float[np.ndarray, " n"]
    budget: float  # f.
    kind: int  # 1 or 2.


@register("escb", acronym="ESCB")
class ESCB(SubsetPolicy):
    r"""The set with the largest index of sets, for independent arms.

    ESCB computes an upper confidence bound on the total reward of each whole set, and
    offers the set with the largest one. This bound is tighter than the sum of the
    bounds of the single arms, but slower to compute.

    Use it if each arm of the set earns a reward by itself and there are few sets.

    Parameters
    ----------
    index : {1, 2}
        ESCB-1 or ESCB-2. ESCB-1 takes about sixty times as long.
    most_sets : int
        Number of sets up to which all sets are compared.

    Notes
    -----
    **Rule.** Arm i has been offered :math:`N_i` times and has the mean reward
    :math:`m_i`. Let :math:`f=\log t+4k\log\log t` (natural logarithms; log log t is
    taken at t = 3 or more, and f is at least 0). In each round offer the set of k arms
    with the largest index:

    - ``index=2``: :math:`\sum m_i+\sqrt{(f/2)\sum1/N_i}`, sums over the arms of the
      set.
    - ``index=1``: the largest :math:`\sum q_i` of all q with :math:`\sum
      N_i\,\mathrm{KL}(m_i,q_i)\le f`.

    Arms that were never offered come first. If several sets have equal indices (up to a
    relative 1e-12), each is equally likely. The recommendation is the k arms with the
    largest means.

    **Assumptions.** Rewards in [0, 1], each arm independent of the others in the set.

    **Many sets.** The index of a set is not a sum over its arms. So in general the best
    set cannot be found by ranking single arms. If there are at most ``most_sets`` sets,
    all of them are compared. With more sets the choice is a heuristic. It starts from
    two sets: the arms with the largest :math:`m_i`, and those with the largest
    :math:`m_i+\sqrt{f/(2N_i)}`. Each is improved by the best swap of two arms, ties at
    random, until no swap helps. The better result is taken. It need not be the best
    set.

    References
    ----------
    R. Combes, M. S. Talebi, A. Proutiere, M. Lelarge, "Combinatorial Bandits
    Revisited", NIPS 2015.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("escb").label
    'ESCB'
    """

    index: int = 2
    most_sets: int = 200_000
    compiled = True

    title: ClassVar[str] = "ESCB"
    assumes = (FIXED_PREFERENCES,)

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        one_of(str(self.index), ("1", "2"), "index", kind=PolicyParameterError)
        integer_from(self.most_sets, 0, "most_sets", kind=PolicyParameterError)

    def warn_about(self, world: "SubsetWorld") -> None:
        """Warn where rewards exceed 1."""
        super().warn_about(world)
        warn_above_one(self.label, world)

    def start(self, problem: Problem, rng: Generator) -> ESCBState:
        """Return the state before the first round."""
        num_arms, subset_size = problem.num_arms, problem.subset_size
        sets = np.zeros((0, subset_size), dtype=np.int64)
        if math.comb(num_arms, subset_size) <= self.most_sets:
            sets = all_sets(num_arms, subset_size)
        return ESCBState(
            counts=no_counts(num_arms, subset_size, problem.horizon),
            sets=sets,
            values=np.zeros(len(sets)),
        )

    def choose(
        self, state: ESCBState, rng: Generator, round_: int
    ) -> Bool[np.ndarray, " n"]:
        """Offer the set with the largest index, or arms never offered."""
        counts = state.counts
        if counts.plays.min() == 0:
            unseen = (counts.plays == 0).astype(np.float64)
            return top(rng, unseen, counts.size)
        late = math.log(math.log(max(round_, 3)))
        budget = max(math.log(round_) + 4.0 * counts.size * late, 0.0)
        means, times = mean_rewards(counts), counts.plays.astype(np.float64)
        known = Beliefs(means, times, budget, self.index)
        if len(state.sets) > 0:
            for index in range(len(state.sets)):
                state.values[index] = set_index(known, state.sets[index])
            arms = state.sets[drawn_highest(rng, state.values, _ROUNDING)]
        else:
            optimistic = means + np.sqrt(0.5 * budget / times)
            arms = climbed(rng, known, top(rng, means, counts.size))
            climbed_set = climbed(rng, known, top(rng, optimistic, counts.size))
            if is_better(rng, set_index(known, climbed_set), set_index(known, arms)):
                arms = climbed_set
        subset = np.zeros(len(means), dtype=np.bool_)
        for arm in arms:
            subset[arm] = True
        return subset

    def update(
        self,
        state: ESCBState,
        rng: Generator,
        round_: int,
        subset: Bool[np.ndarray, " n"],
        rounds: int,
        rewards: Float[np.ndarray, " n"],
    ) -> None:
        """Count the rewards of the arms that were offered."""
        count_rewards(state.counts, subset, rounds, rewards)

    def recommend(self, state: ESCBState, rng: Generator) -> Bool[np.ndarray, " n"]:
        """Return the k arms with the largest means; ties at random."""
        return top(rng, mean_rewards(state.counts), state.counts.size)


@cache
def all_sets(num_arms: int, size: int) -> Int[np.ndarray, "S k"]:
    """Return the arms of all sets; it is for reading."""
    return np.array(list(combinations(range(num_arms), size)), dtype=np.int64)


def is_better(rng: Generator, value: float, other: float) -> bool:
    """Say whether the first value is the largest; of equal ones toss a coin."""
    if abs(value - other) <= _ROUNDING * max(abs(value), abs(other)):
        return rng.random() < 0.5
    return value > other


def climbed(
    rng: Generator, known: Beliefs, subset: Bool[np.ndarray, " n"]
) -> Int[np.ndarray, " k"]:
    """Swap two arms as long as that raises the index; of equal swaps draw one."""
    arms = np.flatnonzero(subset)
    others = np.flatnonzero(~subset)
    values = np.zeros((len(arms), len(others)))
    while len(others) > 0:
        now = set_index(known, arms)
        for index in range(len(arms)):
            arm = arms[index]
            for rival in range(len(others)):
                arms[index] = others[rival]
                values[index, rival] = set_index(known, arms)
            arms[index] = arm
        best = drawn_highest(rng, values.ravel(), _ROUNDING)
        index, rival = best // len(others), best % len(others)
        if values[index, rival] <= now * (1.0 + _ROUNDING):
            break
        arms[index], others[rival] = others[rival], arms[index]
    return arms


def set_index(known: Beliefs, arms: Int[np.ndarray, " k"]) -> float:
    """Return the index of a set."""
    if known.kind == 1:
        return divergence_index(known, arms)
    total, spread = 0.0, 0.0
    for index in range(len(arms)):
        arm = int(arms[index])
        total += known.means[arm]
        spread += 1.0 / known.times[arm]
    return total + math.sqrt(0.5 * known.budget * spread)


def divergence_index(known: Beliefs, arms: Int[np.ndarray, " k"]) -> float:
    """Solve max sum q_i, sum N_i KL(m_i, q_i) <= f."""
    # Stationary points have N_i (q_i - m_i)/(q_i (1 - q_i)) = 1/lambda; with b_i =
    # 1/(lambda N_i), q_i is a root of b q^2 + (1 - b) q - m = 0. 1/lambda is bisected.
    low, high = -40.0, 60.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        scale, spent = math.exp(middle), 0.0
        for index in range(len(arms)):
            arm = int(arms[index])
            mean, times = known.means[arm], known.times[arm]
            spent += times * divergence(mean, upper_mean(mean, scale / times))
        if spent <= known.budget:
            low = middle
        else:
            high = middle
    total = 0.0
    for index in range(len(arms)):
        arm = int(arms[index])
        total += upper_mean(known.means[arm], math.exp(low) / known.times[arm])
    return total


def upper_mean(mean: float, b: float) -> float:
    """Return (b - 1 + root) / (2 b), without cancellation where b < 1."""
    root = math.sqrt((1.0 - b) ** 2 + 4.0 * b * mean)
    if b < 1.0:
        q = 2.0 * mean / (1.0 - b + root)
    else:
        q = (b - 1.0 + root) / (2.0 * b)
    return min(max(q, mean), 1.0)


def divergence(mean: float, q: float) -> float:
    """Return KL(m, q), of q not below m."""
    if mean >= 1.0:
        return 0.0
    tiny = 1e-300
    won = mean * math.log(max(mean, tiny) / max(q, tiny))
    return won + (1.0 - mean) * (math.log(1.0 - mean) - math.log(max(1.0 - q, tiny)))

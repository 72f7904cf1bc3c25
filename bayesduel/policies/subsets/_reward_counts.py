"""Functions shared by rules that count plays and rewards of every arm."""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator

from bayesduel.arguments.limits import LONGEST_HORIZON
from bayesduel.ops.rules import top
from bayesduel.policies.policy import Problem
from bayesduel.policies.subset_base import SubsetPolicy


class RewardCounts(NamedTuple):
    """Plays and rewards of every arm."""

    plays: Int[np.ndarray, " n"]
    totals: Float[np.ndarray, " n"]
    size: int  # k, how many arms a set has.
    log_horizon: float  # log T, for rules that know it.


def no_counts(num_arms: int, subset_size: int, horizon: int) -> RewardCounts:
    """Return the counts before the first round."""
    return RewardCounts(
        plays=np.zeros(num_arms, dtype=np.int64),
        totals=np.zeros(num_arms),
        size=subset_size,
        log_horizon=math.log(horizon),
    )


def count_rewards(
    counts: RewardCounts,
    subset: Bool[np.ndarray, " n"],
    rounds: int,
    rewards: Float[np.ndarray, " n"],
) -> None:
    """Count the rounds and the rewards of the arms that were offered."""
    for arm in range(len(subset)):
        if subset[arm]:
            counts.plays[arm] += rounds
            counts.totals[arm] += rewards[arm]


def mean_rewards(counts: RewardCounts) -> Float[np.ndarray, " n"]:
    """Return the mean reward of every arm, 0 if it was never offered."""
    means = np.zeros(len(counts.plays))
    for arm in range(len(means)):
        means[arm] = counts.totals[arm] / max(counts.plays[arm], 1)
    return means


class CountingPolicy(SubsetPolicy):
    """Counts offers and rewards; recommends the k arms with the largest means."""

    compiled = True

    def start(self, problem: Problem, rng: Generator) -> RewardCounts:
        """Return the state before the first round."""
        return no_counts(problem.num_arms, problem.subset_size, problem.horizon)

    def update(
        self,
        state: RewardCounts,
        rng: Generator,
        round_: int,
        subset: Bool[np.ndarray, " n"],
        rounds: int,
        rewards: Float[np.ndarray, " n"],
    ) -> None:
        """Count the rounds and the rewards of the arms that were offered."""
        count_rewards(state, subset, rounds, rewards)

    def recommend(self, state: RewardCounts, rng: Generator) -> Bool[np.ndarray, " n"]:
        """Return the k arms with the largest means; ties at random."""
        return top(rng, mean_rewards(state), state.size)


# --- How long the k largest indices stay the k largest --------------------------------

# An arm with plays N and total reward C has the index C/N + w / sqrt(N). A round
# without a reward for it lowers the index to C/(N + 1) + w / sqrt(N + 1), any reward
# leaves it higher. So the set cannot change before the worst case of one of its arms
# meets the best index outside: these rounds can be played in one go.

_BELOW = 1.0 - 1e-12  # Less than 1 by far more than rounding


def index_value(total: float, plays: int, width: float) -> float:
    """Return C/N + w / sqrt(N), infinite for an arm never played."""
    if plays == 0:
        return np.inf
    return total / plays + width / math.sqrt(plays)


def index_values(
    counts: RewardCounts, width: float, cap: float
) -> Float[np.ndarray, " n"]:
    """Return the index of every arm, at most ``cap`` for one that was played."""
    values = np.zeros(len(counts.plays))
    for arm in range(len(values)):
        plays = counts.plays[arm]
        values[arm] = index_value(counts.totals[arm], plays, width)
        if plays > 0:
            values[arm] = min(values[arm], cap)
    return values


def best_outside(
    subset: Bool[np.ndarray, " n"], values: Float[np.ndarray, " n"]
) -> float:
    """Return the largest value of an arm that is not in the set."""
    largest = -np.inf
    for arm in range(len(values)):
        if not subset[arm]:
            largest = max(largest, values[arm])
    return largest


def safe_rounds(
    counts: RewardCounts, subset: Bool[np.ndarray, " n"], width: float, outside: float
) -> int:
    """Return for how many rounds ``subset`` surely stays ahead of ``outside``."""
    # With y = 1 / sqrt(N) the index is C y^2 + w y; it exceeds o while y > y*, the
    # positive root. Meanwhile w must not decrease, and no other index exceed
    # ``outside``.
    if outside == np.inf:
        return 1
    fewest = float(LONGEST_HORIZON)
    for arm in range(len(subset)):
        if subset[arm] and outside > 0.0:
            root = width + math.sqrt(width**2 + 4.0 * counts.totals[arm] * outside)
            # 1 / y*^2. Often it is a whole number, where an arm will be level with an
            # equally lucky one: rounding must not decide on which side of it this is.
            reach = _BELOW * (root / (2.0 * outside)) ** 2
            fewest = min(fewest, reach - counts.plays[arm])
    rounds = max(math.ceil(fewest), 1)
    # Rounding may have overshot: the last of these rounds must still be theirs.
    for arm in range(len(subset)):
        if subset[arm]:
            last = counts.plays[arm] + rounds - 1
            if index_value(counts.totals[arm], last, width) <= outside:
                return 1
    return rounds

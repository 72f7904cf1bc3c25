"""Functions shared by rules that count plays and rewards of every arm."""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.random import Generator

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

"""Slow twins of the policies that offer subsets, written from the papers.

Where a rule is random only among equals, its twin says which sets it may offer; where
it draws, the twin plays on its own and the laws of both are compared.
"""

import math
from itertools import combinations

import numpy as np

_NEAR = 1e-9
"""Indices closer than this, relatively, are ties."""


def may_be_top(values, subset, size):
    """Say whether a set holds the `size` largest values, up to ties."""
    values, subset = np.asarray(values, dtype=float), np.asarray(subset, dtype=bool)
    if subset.sum() != size:
        return False
    if size == len(values):
        return True
    inside, outside = values[subset].min(), values[~subset].max()
    return bool(inside == outside or inside >= outside - _NEAR * abs(outside))


class IndexRule:
    """C/N + width / sqrt(N): UCB without total order, CUCB and CombUCB1."""

    def __init__(self, num_arms, size, width):
        self.size, self.width = size, width
        self.plays, self.totals = np.zeros(num_arms), np.zeros(num_arms)
        self.round = 0

    def indices(self):
        """Return the index of every arm before the coming round."""
        width = self.width(self.round + 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = self.totals / self.plays + width / np.sqrt(self.plays)
        return np.where(self.plays > 0, values, np.inf)

    def admits(self, subset):
        """Say whether the rule may offer this set now."""
        return may_be_top(self.indices(), subset, self.size)

    def update(self, subset, rewards):
        """Learn what one round gave."""
        self.round += 1
        self.plays += subset
        self.totals += rewards


def ucb_without_order(num_arms, size, horizon, alpha=2.0, largest_reward=1.0):
    """Yang et al. 2021, Algorithm 1."""
    width = largest_reward * math.sqrt(alpha * math.log(horizon))
    return IndexRule(num_arms, size, lambda _: width)


def cucb(num_arms, size, horizon):
    """Chen et al. 2013, Algorithm 1."""
    return IndexRule(num_arms, size, lambda t: math.sqrt(3 * math.log(t) / 2))


def comb_ucb1(num_arms, size, horizon):
    """Kveton et al. 2015, Algorithm 1."""
    return IndexRule(num_arms, size, lambda t: math.sqrt(1.5 * math.log(max(t - 1, 1))))


def play_alone(policy, world, horizon, checkpoints, rng):
    """Let a twin play in a world with one winner; return offers at checkpoints.

    Parameters
    ----------
    policy : object
        With `choose(rng) -> bool (n,)` and `update(subset, rewards)`.
    world : SubsetWorld
        Feedback "winner".

    Returns
    -------
    int (C, n)
    """
    table = {}
    offers = np.zeros(world.num_arms, dtype=np.int64)
    recorded = []
    for round_index in range(1, horizon + 1):
        subset = policy.choose(rng)
        arms = tuple(np.flatnonzero(subset).tolist())
        if arms not in table:
            table[arms] = np.cumsum(world.chances(arms))
        winner = int(np.searchsorted(table[arms], rng.random(), side="right"))
        rewards = np.zeros(world.num_arms)
        if winner < world.num_arms:
            rewards[winner] = 1.0
        policy.update(subset, rewards)
        offers[subset] += 1
        if round_index in checkpoints:
            recorded.append(offers.copy())
    return np.array(recorded)


class RandomSets:
    """Any `size` arms."""

    def __init__(self, num_arms, size, horizon):
        self.sets = list(combinations(range(num_arms), size))
        self.num_arms = num_arms

    def choose(self, rng):
        """Return a set."""
        arms = self.sets[rng.integers(len(self.sets))]
        return np.isin(np.arange(self.num_arms), arms)

    def update(self, subset, rewards):
        """Learn nothing."""

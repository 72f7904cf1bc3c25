"""Slow twins of the policies that offer subsets.

Where a rule is random only among equals, its twin says which sets it may offer; where
it draws, the twin plays on its own and the distributions of both are compared.
"""

import math
from itertools import combinations

import numpy as np
from scipy import optimize

from tests.reference.common import bernoulli_divergence

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


class _Counts:
    """How often every arm was offered, and what it gave."""

    def __init__(self, num_arms, size):
        self.size, self.round = size, 0
        self.plays, self.totals = np.zeros(num_arms), np.zeros(num_arms)

    def update(self, subset, rewards):
        self.round += 1
        self.plays += subset
        self.totals += rewards


class IndexRule(_Counts):
    """C/N + width / sqrt(N): UCB without total order, CUCB and CombUCB1."""

    def __init__(self, num_arms, size, width, cap=math.inf):
        super().__init__(num_arms, size)
        self.width, self.cap = width, cap

    def indices(self):
        """Return the index of every arm before the coming round."""
        width = self.width(self.round + 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = self.totals / self.plays + width / np.sqrt(self.plays)
        return np.where(self.plays > 0, np.minimum(values, self.cap), np.inf)

    def admits(self, subset):
        """Say whether the rule may offer this set now."""
        return may_be_top(self.indices(), subset, self.size)

    def stays(self, subset, rounds):
        """Say whether the set has the largest indices all these rounds, come what may.

        Without any reward of its arms; the first round was looked at.
        """
        remaining = self.round, self.plays
        results = []
        for _ in range(rounds - 1):
            self.round, self.plays = self.round + 1, self.plays + subset
            results.append(self.admits(subset))
        self.round, self.plays = remaining
        return all(results)


def ucb_without_order(num_arms, size, horizon, alpha=2.0, largest_reward=1.0):
    """Yang et al. 2021, Algorithm 1."""
    width = largest_reward * math.sqrt(alpha * math.log(horizon))
    return IndexRule(num_arms, size, lambda _: width)


def cucb(num_arms, size, horizon):
    """Chen et al. 2013, Algorithm 1."""
    return IndexRule(num_arms, size, lambda t: math.sqrt(3 * math.log(t) / 2))


def comb_ucb1(num_arms, size, horizon, cap=math.inf):
    """Kveton et al. 2015, Algorithm 1, perhaps with indices up to a cap."""

    def width(t):
        return math.sqrt(1.5 * math.log(max(t - 1, 1)))

    return IndexRule(num_arms, size, width, cap)


def play_alone(policy, world, horizon, checkpoints, rng):
    """Let a twin play in a world with one winner; return offers at checkpoints.

    A twin chooses a set, bool (n,), by ``choose(rng)``. Returned is int (C, n).
    """
    table = {}
    offers = np.zeros(world.num_arms, dtype=np.int64)
    recorded = []
    for round_index in range(1, horizon + 1):
        subset = policy.choose(rng)
        arms = tuple(np.flatnonzero(subset).tolist())
        if arms not in table:
            table[arms] = np.cumsum(world.probabilities(arms))
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
        arms = self.sets[rng.integers(len(self.sets))]
        return np.isin(np.arange(self.num_arms), arms)

    def update(self, subset, rewards):
        """Learn nothing."""


def top_sets(values, size, rng):
    """Return the arms with the largest values, ties at random."""
    order = np.lexsort((rng.random(len(values)), -np.asarray(values)))
    return np.isin(np.arange(len(values)), order[:size])


def revenue(weights, revenues, subset):
    """Return sum r_i v_i / (1 + sum v_i)."""
    chosen = np.asarray(weights)[subset]
    return float(np.dot(chosen, np.asarray(revenues)[subset]) / (1 + chosen.sum()))


class Epochs:
    """Offer a set until nobody chooses (Agrawal et al. 2017, 2019); revenues 1."""

    def __init__(self, num_arms, size, horizon):
        self.size, self.current = size, None
        self.epochs, self.purchases = np.zeros(num_arms), np.zeros(num_arms)
        self.finished = 0

    def update(self, subset, rewards):
        """Count purchases; nobody's choice ends the epoch."""
        self.current = np.array(subset)
        self.purchases += rewards
        if not rewards.any():
            self.epochs += subset
            self.finished += 1
            self.current = None


class MNLExploration(Epochs):
    """Agrawal et al. 2019, Algorithm 1, with unseen arms first."""

    def __init__(self, num_arms, size, horizon, scale=0.5):
        super().__init__(num_arms, size, horizon)
        self.scale = scale

    def admits(self, subset):
        """Say whether the rule may offer this set now."""
        if self.current is not None:
            return bool(np.all(self.current == subset))
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = self.purchases / self.epochs
            width = math.log(math.sqrt(len(mean)) * self.finished + 1)
            width *= self.scale
            upper = mean + np.sqrt(mean * width / self.epochs) + width / self.epochs
        return may_be_top(np.where(self.epochs > 0, upper, np.inf), subset, self.size)


class CorrelatedMNLThompson(Epochs):
    """Agrawal et al. 2017, correlated sampling: one normal number for all arms."""

    def __init__(self, num_arms, size, horizon):
        super().__init__(num_arms, size, horizon)
        self.log = math.log(horizon * size)

    def choose(self, rng):
        """Return a set: one arm alone until each was offered in an epoch."""
        if self.current is not None:
            return self.current
        arms = np.arange(len(self.epochs))
        if np.any(self.epochs == 0):
            return arms == rng.choice(arms[self.epochs == 0])
        mean = self.purchases / self.epochs
        spread = np.sqrt(50 * mean * (mean + 1) / self.epochs)
        spread = spread + 75 * math.sqrt(self.log) / self.epochs
        weights = mean + max(rng.normal(size=self.size)) * spread
        return top_sets(weights, self.size, rng)


class MNLThompson(Epochs):
    """Agrawal et al. 2017, Algorithm 1."""

    def choose(self, rng):
        if self.current is not None:
            return self.current
        theta = rng.beta(1 + self.epochs, 1 + self.purchases)
        return top_sets(1 / theta - 1, self.size, rng)


class ESCB(_Counts):
    """Combes et al. 2015, ESCB-2 by enumeration."""

    def __init__(self, num_arms, size, horizon):
        super().__init__(num_arms, size)
        self.sets = [
            list(combination) for combination in combinations(range(num_arms), size)
        ]

    def admits(self, subset):
        """Say whether the rule may offer this set now."""
        unseen = self.plays == 0
        if unseen.any():
            return bool((subset & unseen).sum() == min(unseen.sum(), self.size))
        t = self.round + 1
        budget = math.log(t) + 4 * self.size * math.log(math.log(max(t, 3)))
        budget = max(budget, 0.0)
        mean = self.totals / self.plays

        def index(arms):
            spread = budget / 2 * np.sum(1 / self.plays[arms])
            return mean[arms].sum() + math.sqrt(spread)

        best = max(index(arms) for arms in self.sets)
        return bool(index(np.flatnonzero(subset)) >= best - 1e-9)


def escb_1_index(means, times, budget):
    """Return max sum q, sum N KL(m, q) <= f, q >= m, by a general solver."""

    def slack(q):
        spent = sum(
            n * bernoulli_divergence(float(m), float(x))
            for n, m, x in zip(times, means, q, strict=True)
        )
        return budget - min(spent, 1e6)

    top = np.where(means < 1, 1 - 1e-9, 1.0)
    best = -math.inf
    for share in (0.02, 0.1, 0.4):
        result = optimize.minimize(
            lambda q: -q.sum(),
            means + share * (top - means) / (1 + times),
            bounds=list(zip(means, top, strict=True)),
            constraints={"type": "ineq", "fun": slack},
            method="SLSQP",
            options={"maxiter": 400, "ftol": 1e-12},
        )
        if slack(result.x) > -1e-6:
            best = max(best, -result.fun)
    return best


class LogitThompson:
    """Posterior sampling with a normal approximation of the MNL posterior."""

    def __init__(self, num_arms, size, horizon):
        self.size, self.num_arms = size, num_arms
        self.history = {}
        self.mode, self.precision = np.zeros(num_arms), np.eye(num_arms) / 4.0

    def choose(self, rng):
        """Draw utilities, return the largest."""
        covariance = np.linalg.inv(self.precision)
        draw = rng.multivariate_normal(self.mode, covariance)
        return top_sets(draw, self.size, rng)

    def update(self, subset, rewards):
        """Fit again: Newton's method on a concave log density, prior scale 2."""
        key = tuple(np.flatnonzero(subset).tolist())
        counts = self.history.setdefault(key, np.zeros(self.num_arms + 1))
        counts[:-1] += rewards
        counts[-1] += 1
        for _ in range(50):
            gradient = -self.mode / 4.0
            precision = np.eye(self.num_arms) / 4.0
            for arms, seen in self.history.items():
                chosen = list(arms)
                weight = np.exp(self.mode[chosen])
                share = weight / (1 + weight.sum())
                gradient[chosen] += seen[chosen] - seen[-1] * share
                curvature = np.diag(share) - np.outer(share, share)
                precision[np.ix_(chosen, chosen)] += seen[-1] * curvature
            step = np.linalg.solve(precision, gradient)
            self.mode = self.mode + step
            self.precision = precision
            if np.abs(step).max() < 1e-9:
                return

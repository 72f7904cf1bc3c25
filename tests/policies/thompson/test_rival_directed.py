"""RD-TS: states and their distributions by the list of all worlds of a rival;
parameters."""

from itertools import product

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import xlog1py, xlogy

from bayesduel.models.in_policies.scalar_betas import expected_divergence
from tests.compiling import called_compiled
from tests.policies.random_states import LATEST
from tests.reference import RivalDirected


def random_wins(num_arms, index):
    """Return counts: none, even, few, lopsided, or of a noisy circle of arms."""
    rng = np.random.default_rng([70, num_arms, index])
    most = (0, 2, 8, 40, 300)[index % 5]
    duels = rng.integers(most // 2, most + 1, (num_arms, num_arms))
    position = np.roll(np.arange(num_arms), index)
    ahead = (position[None, :] - position[:, None]) % num_arms <= num_arms // 2
    spread = (0.2, 0.9)[index // 5 % 2]
    preference = np.clip(0.5 + spread * (ahead - 0.5), 0.05, 0.95)
    if index % 3 == 2:
        preference = np.where(rng.random(ahead.shape) < 0.5, 1.0, preference)
    won = np.triu(rng.binomial(duels, preference), 1)
    wins = won + np.triu(duels - won, 1).T
    if index % 4 == 3:
        wins[0, 1] = wins[1, 0] = most // 2
    return wins


def twin_of(wins, leader=None, seed=0, **options):
    """Return the twin in a state, with a leader of one's choice if it has several."""
    twin = RivalDirected(len(wins), np.random.default_rng(seed), **options)
    twin.wins = np.array(wins)
    twin.derive()
    while leader is not None and twin.leader != leader:
        assert twin.cheapest_leaders()[leader]
        twin.derive()
    return twin


@pytest.mark.parametrize(
    ("won", "lost"), [(1, 1), (5, 5), (2.5, 3), (40, 7), (1, 900), (2e4, 2.01e4)]
)
def test_divergence_is_the_mean_over_the_posterior(won, lost):
    distribution = stats.beta(won, lost)

    def weighted(theta):
        gap = np.log(2) + xlogy(theta, theta) + xlog1py(1 - theta, -theta)
        return gap * distribution.pdf(theta)

    around = distribution.mean() + distribution.std() * np.arange(-9, 10, 3)
    edges = np.unique(np.clip([0, *around, 1], 0, 1))
    inside = sum(
        integrate.quad(weighted, low, high, epsabs=0, epsrel=1e-10)[0]
        for low, high in zip(edges[:-1], edges[1:], strict=True)
    )
    result = called_compiled(expected_divergence)(float(won), float(lost))
    assert result == pytest.approx(inside, rel=1e-7)


def waiting_counts(probability, waits):
    """Return how many stretches fall between quantiles, and the share that should."""
    # SciPy takes the logarithm of 0 for a certain event.
    distribution = stats.geom(min(probability, 1 - 1e-12), loc=-1)
    # No stretch is longer than the longest horizon.
    longest = np.minimum(distribution.ppf([0.2, 0.4, 0.6, 0.8]), LATEST // 2)
    edges = np.unique(np.append(longest, -1))
    counts = np.bincount(np.searchsorted(edges, waits) - 1, minlength=len(edges))
    return counts, np.diff(np.append(distribution.cdf(edges), 1.0))


def pair_counts(twin, duels):
    """Return how often each pair was asked for, and how often it should be."""
    num_arms = twin.num_arms
    counts = np.zeros((num_arms, num_arms))
    np.add.at(counts, (np.asarray(duels.first), np.asarray(duels.second)), 1)
    expected = np.zeros_like(counts)
    if twin.pairs == "gradient":
        # Ties are broken at random: the twin is asked until all have been seen.
        for _ in range(200):
            expected[twin.steepest_pair()] += 1
        expected = (expected > 0) / np.count_nonzero(expected)
        return (counts + counts.T)[np.triu_indices(num_arms)], (
            (expected + expected.T)[np.triu_indices(num_arms)]
        )
    total = sum(weight for worlds in twin.worlds.values() for weight, _ in worlds)
    for rival, worlds in twin.worlds.items():
        doubtful = twin.doubtful_pairs(rival)
        for weight, world in worlds:
            flipped = twin.worths(rival, world)
            for doubts in product((True, False), repeat=len(doubtful)):
                probability = weight / total
                values = dict(flipped)
                for (i, j), doubted in zip(doubtful, doubts, strict=True):
                    probability *= (
                        twin.probability[j, i] if doubted else twin.probability[i, j]
                    )
                    if doubted:
                        values[i, j] = twin.doubts * twin.per_cost(i, j)
                for pair, value in (values or {(rival, twin.leader): 1.0}).items():
                    expected[pair] += (
                        probability * value / sum(values.values() or [1.0])
                    )
    upper = np.triu_indices(num_arms)
    return (counts + counts.T)[upper], (expected + expected.T)[upper]

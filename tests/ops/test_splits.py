"""Splitting the rounds of a stretch among arms, and its first rounds."""

import numpy as np
import pytest
from scipy import stats

from bayesduel.ops.scalar.compiler import standalone
from bayesduel.ops.scalar.splits import binomial, take_first
from tests.policies.distributions import chi_square

FALSE_ALARM = 1e-5
"""False-alarm rate of all p-values of one test together."""

SHARES = ([7, 0, 5], [70, 30, 120], [400_000, 0, 3_600_000], [3, 10**12, 2])


@pytest.fixture(scope="module")
def take():
    compiled = standalone(take_first)

    def part(shares, wanted, key):
        counts = np.zeros((3, len(shares)), dtype=np.int64)
        counts[0] = shares
        compiled(counts, sum(shares), wanted, np.uint64(key))
        return counts[2].copy()

    return part


@pytest.mark.parametrize("shares", SHARES, ids=str)
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_first_rounds_are_hypergeometric(take, shares, share):
    """Test every arm, and two together, so that none is drawn apart."""
    total, keys = sum(shares), np.random.default_rng(3).integers(2**63, size=4000)
    wanted = int(share * total)
    values = np.array([take(shares, wanted, key) for key in keys])
    assert np.all(values.sum(axis=1) == wanted) and np.all(values <= shares)
    p_values = []
    for arms in ([0], [1], [2], [0, 2]):
        marked, sample = sum(np.take(shares, arms)), values[:, arms].sum(axis=1)
        if not 0 < marked < total:
            continue
        if total > 10**9 and marked > 100:
            continue  # It follows from the others, and SciPy has lost its digits.
        distribution = stats.hypergeom(total, marked, wanted)
        if total > 10**9:  # A few among so many are nearly independent.
            distribution = stats.binom(marked, wanted / total)
        if distribution.std() < 30:
            low, high = sample.min(), sample.max()
            cells = np.arange(low, high + 1)
            probabilities = distribution.pmf(cells)
            probabilities = np.append(
                probabilities, max(0.0, 1.0 - probabilities.sum())
            )
            counts = np.append(np.bincount(sample - low, minlength=len(cells)), 0)
            p_values.append(chi_square(counts, probabilities))
        else:
            scaled = (sample - distribution.mean()) / distribution.std()
            p_values.append(stats.kstest(scaled, "norm").pvalue)
    assert min(p_values) > FALSE_ALARM / len(p_values), p_values


def test_parts_of_one_order_fit_together(take):
    """Whatever else is asked for: the parts are those of one sequence of arms."""
    shares = [40, 0, 25, 135]
    parts = np.array([take(shares, wanted, 12345) for wanted in range(201)])
    assert np.array_equal(parts[-1], shares) and not parts[0].any()
    steps = np.diff(parts, axis=0)
    assert np.all(steps.sum(axis=1) == 1) and np.all(steps >= 0)
    # In another order under another key, and neighbors are independent.
    other = np.array([take(shares, wanted, 54321) for wanted in range(201)])
    assert not np.array_equal(parts, other)


def test_binomial_draws_have_their_distribution():
    rng = np.random.default_rng(8)
    for rounds, probability in ((5, 0.3), (32, 0.9), (33, 0.02), (5000, 0.4)):
        values = np.array([binomial(rng, rounds, probability) for _ in range(4000)])
        cells = np.bincount(values, minlength=rounds + 1)
        distribution = stats.binom(rounds, probability).pmf(np.arange(rounds + 1))
        assert chi_square(cells, distribution) > FALSE_ALARM / 4
    assert binomial(rng, 2**62, 1.0) == 2**62 and binomial(rng, 40, 0.0) == 0

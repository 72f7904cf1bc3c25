"""Comparing the distributions of two samples of runs, at a declared rate of false
alarms."""

import numpy as np
from scipy import stats

from tests.reference.common import copeland_regret


def features(plays: np.ndarray, matrix: np.ndarray) -> dict[str, np.ndarray]:
    """Return the numbers per run whose distributions are compared.

    Copeland regret and the number of informative duels at every checkpoint, and the
    rounds of each pair of different arms at the last one.

    Parameters
    ----------
    plays : int (run, checkpoint, K, K)
        Rounds per unordered pair, upper triangle; self-duels on the diagonal.
    """
    informative = np.triu(plays, 1).sum(axis=(2, 3))
    # Equal regrets, added in another order, must stay equal.
    regret = np.round(copeland_regret(plays, matrix), 9)
    by_name = {}
    for index in range(plays.shape[1]):
        by_name[f"regret at checkpoint {index}"] = regret[:, index]
        by_name[f"informative duels at checkpoint {index}"] = informative[:, index]
    for i, j in zip(*np.triu_indices(plays.shape[-1], 1), strict=True):
        by_name[f"rounds of {i} and {j}"] = plays[:, -1, i, j]
    return by_name


def self_duels(plays: np.ndarray) -> dict[str, np.ndarray]:
    """Return the rounds in which each arm met itself, at the last checkpoint."""
    return {f"self-duels of {i}": plays[:, -1, i, i] for i in range(plays.shape[-1])}


def same_distribution(
    one: dict[str, np.ndarray], other: dict[str, np.ndarray]
) -> dict[str, float]:
    """Return Kolmogorov-Smirnov p-values, too large rather than too small with ties."""
    return {
        name: float(stats.ks_2samp(one[name], other[name], method="asymp").pvalue)
        for name in one
    }


def disagreements(
    ours: np.ndarray, theirs: np.ndarray, matrix: np.ndarray, false_alarm: float = 1e-5
) -> dict[str, float]:
    """Return the features of plays whose distributions differ; self-duels count too."""
    one, other = (
        {**features(name, matrix), **self_duels(name)} for name in (ours, theirs)
    )
    return rejected(same_distribution(one, other), false_alarm)


def rejected(p_values: dict[str, float], false_alarm: float) -> dict[str, float]:
    """Return the features that differ; of equal ones, some do at most at this rate."""
    return {
        name: value
        for name, value in p_values.items()
        if value < false_alarm / len(p_values)
    }


def pair_table(first: np.ndarray, second: np.ndarray, num_arms: int) -> np.ndarray:
    """Count how often each (first, second) occurs."""
    counts = np.zeros((num_arms, num_arms))
    np.add.at(counts, (first, second), 1)
    return counts


def chi_square(counts: np.ndarray, probabilities: np.ndarray) -> float:
    """Return the p-value of a sample; cells that expect fewer than 5 are pooled."""
    counts, expected = np.ravel(counts), np.ravel(probabilities) * np.sum(counts)
    assert np.isclose(expected.sum(), counts.sum(), rtol=1e-6)
    if np.any(counts[expected < 1e-9 * counts.sum()] > 0):
        return 0.0
    rare = expected < 5
    counts = np.append(counts[~rare], counts[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    counts, expected = counts[expected > 0], expected[expected > 0]
    if len(counts) == 1:
        return 1.0
    statistic = np.sum((counts - expected) ** 2 / expected)
    return float(stats.chi2.sf(statistic, len(counts) - 1))


def two_sample_chi_square(one: np.ndarray, other: np.ndarray) -> float:
    """Return the p-value of equal distributions behind two tables; rare cells are
    pooled.

    It is 1 where there is too little to compare.
    """
    one, other = np.ravel(one), np.ravel(other)
    if min(one.sum(), other.sum()) < 50:
        return 1.0
    rare = one + other < 20
    tables = np.stack(
        [np.append(value[~rare], value[rare].sum()) for value in (one, other)]
    )
    tables = tables[:, tables.sum(axis=0) > 0]
    if tables.shape[1] == 1:
        return 1.0
    return float(stats.chi2_contingency(tables, correction=False).pvalue)

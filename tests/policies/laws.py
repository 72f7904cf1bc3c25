"""Comparing the laws of two samples of runs, at a declared rate of false alarms."""

import math

import numpy as np
from scipy import stats

from tests.reference.common import copeland_regret


def features(plays: np.ndarray, matrix: np.ndarray) -> dict[str, np.ndarray]:
    """Return the numbers per run whose laws are compared.

    Copeland regret and the number of informative duels at every checkpoint, and the
    rounds of each pair of different arms at the last one.

    Parameters
    ----------
    plays : int (run, checkpoint, K, K)
        Rounds per unordered pair, upper triangle; self-duels on the diagonal.
    """
    informative = np.triu(plays, 1).sum(axis=(2, 3))
    regret = copeland_regret(plays, matrix)
    found = {}
    for index in range(plays.shape[1]):
        found[f"regret at checkpoint {index}"] = regret[:, index]
        found[f"informative duels at checkpoint {index}"] = informative[:, index]
    for i, j in zip(*np.triu_indices(plays.shape[-1], 1), strict=True):
        found[f"rounds of {i} and {j}"] = plays[:, -1, i, j]
    return found


def self_duels(plays: np.ndarray) -> dict[str, np.ndarray]:
    """Return the rounds in which each arm met itself, at the last checkpoint."""
    return {f"self-duels of {i}": plays[:, -1, i, i] for i in range(plays.shape[-1])}


def same_law(
    one: dict[str, np.ndarray], other: dict[str, np.ndarray]
) -> dict[str, float]:
    """Return Kolmogorov-Smirnov p-values, too large rather than too small with ties."""
    return {
        name: float(stats.ks_2samp(one[name], other[name], method="asymp").pvalue)
        for name in one
    }


def same_mean(
    one: dict[str, np.ndarray], other: dict[str, np.ndarray]
) -> dict[str, float]:
    """Return two-sided p-values of the difference of means in standard errors."""
    found = {}
    for name, values in one.items():
        errors = [np.var(each, ddof=1) / len(each) for each in (values, other[name])]
        difference = abs(np.mean(values) - np.mean(other[name]))
        scale = math.sqrt(sum(errors))
        found[name] = (
            float(2 * stats.norm.sf(difference / scale)) if difference else 1.0
        )
    return found


def rejected(p_values: dict[str, float], false_alarm: float) -> dict[str, float]:
    """Return the features that differ; by chance, some do with at most this rate."""
    return {
        name: value
        for name, value in p_values.items()
        if value < false_alarm / len(p_values)
    }

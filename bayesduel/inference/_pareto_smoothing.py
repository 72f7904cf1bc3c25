"""Pareto smoothed importance sampling: a Pareto distribution for the largest weights.

The algorithm and its constants are those of Vehtari et al. (2024), and the numbers
those of ``arviz_stats``, which the tests hold it against. It is written down here
because ArviZ cannot be imported without xarray and pandas, which takes ten times as
long as a fit.

References
----------
A. Vehtari, D. Simpson, A. Gelman, Y. Yao, J. Gabry, "Pareto smoothed importance
sampling", JMLR 25 (2024). J. Zhang and M. A. Stephens, "A new and efficient estimation
method for the generalized Pareto distribution", Technometrics 51 (2009).
"""

import numpy as np
from jaxtyping import Float

from bayesduel.errors import ArgumentError

_LEAST_TAIL = 5
"""Weights without which no distribution is fitted."""

_PRIOR_WEIGHT, _PRIOR_SHAPE = 10.0, 0.5
"""The prior of k counts as so many weights with such a k (appendix G)."""

_GRID, _GRID_SCALE = 30, 3.0
"""Zhang and Stephens' grid of the other parameter: m = 30 + sqrt(n) points."""


def tail_length(number: int) -> int:
    """Return how many weights make up the tail: min(S / 5, 3 sqrt(S))."""
    return int(3.0 * np.sqrt(number)) if number > 225 else number // 5


def smoothed_log_weights(
    log_weight: Float[np.ndarray, " draw"],
) -> tuple[Float[np.ndarray, " draw"], float]:
    """Replace the largest weights by Pareto-distributed order statistics.

    Parameters
    ----------
    log_weight : float (S,)
        Finite; at least 25 of them.

    Returns
    -------
    float (S,)
        Log weights; the weights add up to 1.
    float
        Shape k of the distribution. Not finite where none can be fitted, and then
        nothing is smoothed: nan where the lower quarter of the tail is equal.

    Raises
    ------
    ValueError
        If there are fewer than 25, or the tail is constant.
    """
    number = len(log_weight)
    length = tail_length(number)
    if length < _LEAST_TAIL:
        raise ArgumentError("log_weight", "must have 25 or more entries", number)
    logs = log_weight - np.max(log_weight)
    order = np.argsort(logs)
    places = order[-length:]
    tail = logs[places]
    if tail[-1] - tail[0] < np.finfo(float).tiny:
        raise ArgumentError(
            "log_weight",
            "must differ in its largest entries, but they are equal",
            log_weight,
        )
    cutoff = np.exp(logs[order[-length - 1]])
    k, scale = pareto_distribution(np.exp(tail) - cutoff)
    if np.isfinite(k):
        middle = (np.arange(length) + 0.5) / length
        smooth = np.log(cutoff + _quantiles(middle, k, scale))
        # No weight becomes larger than the largest one was.
        logs[places] = np.minimum(smooth, tail[-1])
    return logs - _log_sum(logs), k


def pareto_distribution(excess: Float[np.ndarray, " n"]) -> tuple[float, float]:
    """Fit a generalized Pareto distribution to sorted excesses: shape k and scale.

    Posterior means on a grid (Zhang and Stephens 2009), with k drawn towards 1/2. Both
    nan where the first quartile is not above the least one: no such distribution has
    that. k is inf where the fit is no number.
    """
    number = len(excess)
    quartile = excess[int(number / 4 + 0.5) - 1]
    if quartile <= excess[0]:
        return np.nan, np.nan
    size = _GRID + int(np.sqrt(number))
    steps = np.arange(1, size + 1) - 0.5
    grid = (1.0 - np.sqrt(size / steps)) / (_GRID_SCALE * quartile) + 1.0 / excess[-1]
    shape = np.mean(np.log1p(-grid[:, None] * excess), axis=1)
    height = number * (np.log(-grid / shape) - shape - 1.0)
    weight = np.exp(height - _log_sum(height))
    matters = weight >= 10.0 * np.finfo(float).eps
    weight, grid = weight[matters], grid[matters]
    rate = np.sum(grid * weight) / np.sum(weight)
    own = np.mean(np.log1p(-rate * excess))
    k = (number * own + _PRIOR_WEIGHT * _PRIOR_SHAPE) / (number + _PRIOR_WEIGHT)
    if np.isnan(k):
        return np.inf, np.nan
    return float(k), float(-own / rate)


def _quantiles(probability: np.ndarray, k: float, scale: float) -> np.ndarray:
    if scale <= 0.0:
        return np.full_like(probability, np.nan)
    if k == 0.0:
        return -scale * np.log1p(-probability)
    return scale * np.expm1(-k * np.log1p(-probability)) / k


def _log_sum(logs: np.ndarray) -> float:
    top = np.max(logs)
    return float(top + np.log(np.sum(np.exp(logs - top))))

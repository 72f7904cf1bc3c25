"""Comparing draws with numbers known otherwise, at a declared rate of false alarms."""

import arviz_stats
import numpy as np
import xarray as xr
from scipy import stats
from scipy.special import log_expit

LEAST_DRAWS = 400.0
"""Effective draws without which a comparison says too little."""


def effective_draws(draws: np.ndarray) -> np.ndarray:
    """Return the effective number of draws of each quantity, (chain, draw, n)."""
    array = xr.DataArray(draws, dims=("chain", "draw", "quantity"))
    return np.atleast_1d(np.asarray(arviz_stats.ess(array, method="mean")))


def worst_disagreement(
    draws: np.ndarray, expected: np.ndarray, slack: float = 0.0
) -> float:
    """Return the smallest p-value, times their number, of means against numbers.

    Parameters
    ----------
    draws : float (chain, draw, n)
        Draws of n quantities.
    expected : float (n,)
        What their means should be.
    slack : float
        A difference that counts as none.
    """
    size = effective_draws(draws)
    assert np.all(size > LEAST_DRAWS), f"only {size.min():.0f} effective draws"
    flat = draws.reshape(-1, draws.shape[-1])
    # An indicator that never varies in the draws may do so with probability 1 / size.
    error = np.maximum(flat.std(axis=0), 1.0 / np.sqrt(size)) / np.sqrt(size)
    difference = np.abs(flat.mean(axis=0) - expected) - slack
    p_values = 2.0 * stats.norm.sf(np.maximum(difference, 0.0) / error)
    return float(p_values.min() * len(expected))


def grid_posterior(
    wins: np.ndarray, scale: float = 2.0, reach: float = 9.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return Bradley-Terry utilities of three arms on a grid, and their exact weights.

    The first arm has utility 0. Independent normal utilities have differences with
    covariance scale^2 (1 + [i=j]).
    """
    axis = np.linspace(-reach, reach, 601)
    b, c = (item.ravel() for item in np.meshgrid(axis, axis, indexing="ij"))
    distribution = stats.multivariate_normal(cov=scale**2 * (np.eye(2) + 1.0))
    utility = np.stack([np.zeros_like(b), b, c], axis=1)
    log_weight = distribution.logpdf(utility[:, 1:])
    for i in range(3):
        for j in range(3):
            log_weight += wins[i, j] * log_expit(utility[:, i] - utility[:, j])
    weight = np.exp(log_weight - log_weight.max())
    return utility, weight / weight.sum()

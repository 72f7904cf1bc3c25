"""Comparing draws with numbers known otherwise, at a declared rate of false alarms."""

import arviz_stats
import numpy as np
import xarray as xr
from scipy import stats

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

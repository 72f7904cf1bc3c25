"""Probabilities with which an offered arm is chosen, under the usual models of choice.

A set is a mask over the arms. Every function with a mask runs on NumPy arrays, of many
sets at once, and, traced, on arrays of any library that follows the array-API standard.
"""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from theory.arguments import integer_from
from theory.errors import ArgumentError
from theory.validation import numeric_array

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Float64, Int, Int64


# Step of the trapezoidal rule; its error decreases like exp(-2 pi^2 / step^2)
_STEP = 0.25
_WIDEST = 1e4  # Nodes cover the range of the means
_REACH = 9.0  # Standard deviations beyond which a normal density is negligible (1e-18)


def logit_choice(
    offered: Bool[Any, "*sets n"],
    weights: Float[Any, " n"],
    no_choice_weight: Float[Any, ""] | float,
) -> Float[Any, "*sets n"]:
    """Compute the choice probabilities of multinomial logit."""
    # P(i
    xp = offered.__array_namespace__()
    chosen = xp.where(offered, weights, 0.0)
    return chosen / (no_choice_weight + xp.sum(chosen, axis=-1, keepdims=True))


def gaussian_nodes(
    means: ArrayLike, no_choice_mean: float | None
) -> tuple[
    Float64[np.ndarray, "n Q"], Float64[np.ndarray, "n Q"], Float64[np.ndarray, " Q"]
]:
    """Tabulate what `gaussian_choice` needs, at the nodes of a trapezoidal rule."""
    # Utilities are independent normal variables of variance 1; without a mean of "no
    # choice" somebody is always chosen. Return log P(utility of arm i is below node q),
    # the density of arm i at node q over that probability, times the step, and log
    # P(utility of no choice is below node q).
    from scipy.special import log_ndtr  # Half a second; few need it.

    mu = checked_means(means)
    count = int(np.ceil((np.ptp(mu) + 2 * _REACH) / _STEP)) + 1
    nodes = mu.min() - _REACH + _STEP * np.arange(count)
    away = nodes[None, :] - mu[:, None]
    log_cdf = log_ndtr(away)
    log_density = -0.5 * away**2 - 0.5 * np.log(2 * np.pi)
    weights = _STEP * np.exp(log_density - log_cdf)
    if no_choice_mean is None:
        return log_cdf, weights, np.zeros(count)
    return log_cdf, weights, log_ndtr(nodes - no_choice_mean)


def checked_means(means: ArrayLike) -> Float64[np.ndarray, " n"]:
    """Return the means of normal utilities, if they are not too far apart."""
    mu = numeric_array(means, "means")
    if mu.ndim != 1 or mu.size == 0 or not np.all(np.isfinite(mu)):
        raise ArgumentError("means", "must be a vector of finite numbers", means)
    if np.ptp(mu) > _WIDEST:
        raise ArgumentError(
            "means",
            f"must differ by at most {_WIDEST:g} (standard deviations)",
            float(mu.max() - mu.min()),
            remedy="an arm so far behind is never chosen, leave it out",
        )
    return mu


def gaussian_choice(
    offered: Bool[Any, "*sets n"],
    log_cdf: Float[Any, "n Q"],
    weights: Float[Any, "n Q"],
    outside: Float[Any, " Q"],
) -> Float[Any, "*sets n"]:
    """Compute the choice probabilities of Gaussian random utilities."""
    # P(i
    xp = offered.__array_namespace__()
    below = xp.sum(xp.where(offered[..., None], log_cdf, 0.0), axis=-2)
    probabilities = xp.matmul(xp.exp(below + outside), xp.permute_dims(weights, (1, 0)))
    return xp.where(offered, probabilities, 0.0)


def binomial_table(num_arms: int, set_size: int) -> Int64[np.ndarray, "n k"]:
    """Tabulate what `subset_rank` adds up: entry (i, c) is "i choose c + 1"."""
    n = integer_from(num_arms, 1, "num_arms")
    k = integer_from(set_size, 1, "set_size", n)
    rows = [[comb(arm, column + 1) for column in range(k)] for arm in range(n)]
    return np.array(rows, dtype=np.int64)


def subset_rank(
    offered: Bool[Any, "*sets n"], binomials: Int[Any, "n k"]
) -> Int[Any, "*sets"]:
    """Compute the place of a set of k arms in colexicographic order, from 0 on."""
    # The rank of a_1 < ... < a_k is the sum of "a_c choose c", from `binomial_table`.
    xp = offered.__array_namespace__()
    places = xp.cumulative_sum(xp.astype(offered, xp.int64), axis=-1)
    ordinal = xp.arange(1, binomials.shape[1] + 1, dtype=xp.int64)
    ordinal = xp.reshape(ordinal, (1,) * offered.ndim + (-1,))
    matches = (places[..., None] == ordinal) & offered[..., None]
    return xp.sum(xp.where(matches, binomials, 0), axis=(-2, -1))

"""Sets that earn the most under multinomial logit."""

import math

import numpy as np
from jaxtyping import Bool, Float
from numpy.random import Generator

from bayesduel.ops.rules import top

_GROWS = 1.0 + 1e-12
"""A revenue that grows by less has grown by rounding."""


def best_assortment(
    rng: Generator,
    weights: Float[np.ndarray, " n"],
    revenues: Float[np.ndarray, " n"],
    size: int,
) -> Bool[np.ndarray, " n"]:
    """Return the set of at most ``size`` arms with the largest expected revenue.

    The revenue of a set is sum r_i v_i / (1 + sum v_i). A revenue z can be reached
    exactly if the largest positive v_i (r_i - z) add up to z or more; z is replaced
    with the revenue of the set that these arms form until it no longer grows, which is
    exact (Dinkelbach 1967). With equal revenues: the ``size`` largest weights.

    Weights below 0 count as 0, which neither adds to the revenue of a set nor takes
    from it. Places that are left go to the arms with r_i >= z that have the largest
    weights: they would raise the revenue, were their weights ever so little above 0.

    Arms with an infinite weight come first; if there are some, the others follow by v_i
    r_i. Ties at random. r_i >= 0.
    """
    best = most_gaining(rng, weights, revenues, size, 0.0)
    earned = expected_revenue(weights, revenues, best)
    while earned < math.inf:
        subset = most_gaining(rng, weights, revenues, size, earned)
        revenue = expected_revenue(weights, revenues, subset)
        if revenue <= earned * _GROWS:
            break
        best, earned = subset, revenue
    fill_up(rng, weights, revenues, size, best, earned)
    return best


def most_gaining(
    rng: Generator,
    weights: Float[np.ndarray, " n"],
    revenues: Float[np.ndarray, " n"],
    size: int,
    revenue: float,
) -> Bool[np.ndarray, " n"]:
    """Mark the arms with the largest v_i (r_i - z), those above 0."""
    gains, number = np.empty(len(weights)), 0
    for arm in range(len(weights)):
        gains[arm] = math.inf
        if weights[arm] < math.inf:
            gains[arm] = max(weights[arm], 0.0) * (revenues[arm] - revenue)
        number += gains[arm] > 0.0
    return top(rng, gains, min(size, number))


def fill_up(
    rng: Generator,
    weights: Float[np.ndarray, " n"],
    revenues: Float[np.ndarray, " n"],
    size: int,
    subset: Bool[np.ndarray, " n"],
    revenue: float,
) -> None:
    """Add the largest weights of arms that earn as much as the set, up to its size."""
    least = revenue if revenue < math.inf else 0.0
    values, missing, number = np.full(len(weights), -math.inf), size, 0
    for arm in range(len(weights)):
        if subset[arm]:
            missing -= 1
        elif revenues[arm] >= least:
            values[arm] = weights[arm]
            number += 1
    added = top(rng, values, min(missing, number))
    for arm in range(len(weights)):
        subset[arm] = subset[arm] or added[arm]


def expected_revenue(
    weights: Float[np.ndarray, " n"],
    revenues: Float[np.ndarray, " n"],
    subset: Bool[np.ndarray, " n"],
) -> float:
    """Return sum r_i v_i / (1 + sum v_i), infinite if a weight of any arm is.

    Weights below 0 count as 0.
    """
    earned, total = 0.0, 1.0
    for arm in range(len(weights)):
        if weights[arm] == math.inf:
            return math.inf
        if subset[arm]:
            earned += revenues[arm] * max(weights[arm], 0.0)
            total += max(weights[arm], 0.0)
    return earned / total

"""Proposals whose tails decay at the rate of the posterior's, along rays from the mode.

Let U be minus the log posterior and m its minimum. A standard normal z points into the
direction u = L^-T z / |z|, and is moved to the distance r at which the posterior has
fallen as far as the normal distribution would have,

    U(m + r u) - U(m) = |z|^2 / 2.

Where a utility is held back by the prior alone, the posterior is far wider on one side
of the mode than on the other, and no distribution that is symmetric around the mode
reaches it; these points do. In the coordinates in which the fitted distribution is
standard normal, their density is N(z) (|z| / r)^(D - 1) d|z|/dr, and that of the
posterior is proportional to N(z), so that a point weighs (r / |z|)^(D - 1) / (d|z|/dr).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float

from bayesduel.inference.normal_distribution import points_of
from bayesduel.inference.proposals.ray_weights import log_ray_weight
from bayesduel.models.base import Density
from bayesduel.models.closed_forms.newton import LaplaceState

_MOST_DOUBLINGS, _MOST_STEPS = 60, 40
_EXACT = 1e-10
"""Share of |z| up to which the fall along a ray is met."""

_STEP = 1e-4
"""Relative distance of the points that give the derivative along a ray."""

_LOOKED_AT = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
"""Shares of the way to a point at which the posterior must have fallen further."""


def radial_points(
    rng: np.random.Generator, target: Density, distribution: LaplaceState, number: int
) -> tuple[Float[np.ndarray, "draw D"], Float[np.ndarray, " draw"]]:
    """Draw along rays from the mode; return points and their log weights.

    Points whose ray does not fall far enough have the weight 0.
    """
    white = rng.standard_normal((number, len(distribution.mode)))
    depth = np.linalg.norm(white, axis=1)
    rays = points_of(distribution, white / depth[:, None]) - distribution.mode
    top = float(distribution.log_density)

    def fallen(distance: Float[np.ndarray, " draw"]) -> Float[np.ndarray, " draw"]:
        """How far the normal distribution would have to be left for such a fall."""
        heights = target.log_densities(distribution.mode + distance[:, None] * rays)
        fall = np.where(np.isnan(heights), np.inf, top - heights)
        return np.sqrt(2.0 * np.maximum(fall, 0.0))

    distance, found = _crossings(fallen, depth)
    with np.errstate(all="ignore"):  # Where nothing was found.
        slope = fallen(distance * (1 + _STEP)) - fallen(distance * (1 - _STEP))
        slope /= 2.0 * _STEP * distance
        found &= np.isfinite(slope) & (slope > 0)
        log_weight = log_ray_weight(len(distribution.mode), depth, distance, slope)
    points = distribution.mode + distance[:, None] * rays
    return points, np.where(found, log_weight, -np.inf)


def falls_along_rays(
    target: Density, distribution: LaplaceState, points: Float[np.ndarray, "draw D"]
) -> bool:
    """Whether the posterior only falls on the way to points, and beyond them.

    So it does where it is log-concave. Otherwise a ray may meet a height several times,
    and the weights would know of one place only.
    """
    mode = np.asarray(distribution.mode)
    ways = points - mode
    heights = [target.log_densities(mode + share * ways) for share in _LOOKED_AT]
    with np.errstate(invalid="ignore"):  # Where minus infinity is reached twice.
        rises = np.diff(np.stack(heights), axis=0)
    return not np.any(rises > 1e-9 * (1.0 + abs(float(distribution.log_density))))


def _crossings(
    fallen: Callable[[Float[np.ndarray, " draw"]], Float[np.ndarray, " draw"]],
    depth: Float[np.ndarray, " draw"],
) -> tuple[Float[np.ndarray, " draw"], Bool[np.ndarray, " draw"]]:
    """Find where an increasing function of a distance is ``depth``, for many at once.

    By the method of Illinois: for a normal posterior the function is the distance.
    """
    low, below = np.zeros_like(depth), -depth
    high = depth.copy()
    above = fallen(high) - depth
    for _ in range(_MOST_DOUBLINGS):
        short = above < 0
        if not short.any():
            break
        low, below = np.where(short, high, low), np.where(short, above, below)
        high = np.where(short, 2.0 * high, high)
        above = np.where(short, fallen(high) - depth, above)
    found = above >= 0
    side = np.zeros_like(depth)
    distance = high
    for _ in range(_MOST_STEPS):
        width = np.where(found & np.isfinite(above), above - below, 1.0)
        share = np.where(found & np.isfinite(above), -below / width, 0.5)
        distance = low + (high - low) * np.clip(share, 0.0, 1.0)
        value = fallen(distance) - depth
        if np.all(~found | (np.abs(value) <= _EXACT * depth)):
            break
        under = value < 0
        # The end that stays for a second time counts half, so that it moves next.
        above = np.where(under & (side < 0), 0.5 * above, above)
        below = np.where(~under & (side > 0), 0.5 * below, below)
        low, below = np.where(under, distance, low), np.where(under, value, below)
        high, above = np.where(under, high, distance), np.where(under, above, value)
        side = np.where(under, -1.0, 1.0)
    return distance, found

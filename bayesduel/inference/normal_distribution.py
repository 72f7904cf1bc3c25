"""The normal distribution of Laplace's method, and one with heavier tails around it.

Densities and points are computed on NumPy arrays and inside JAX programs alike; draws
by NumPy's generator are here, those by JAX in :mod:`bayesduel.inference.laplace`.
"""

from __future__ import annotations

from math import lgamma, log, pi
from typing import Protocol

import numpy as np
from jaxtyping import Float

from bayesduel.models.array_modules import Values, namespace, scipy_module

_FREEDOM = 5.0
"""Degrees of freedom of Student's distribution."""


class NormalDistribution(Protocol):
    """A normal distribution by its mode (D,), and L, with L L^T its precision."""

    @property
    def mode(self) -> Values:
        """Return the mode."""
        ...

    @property
    def factor(self) -> Values:
        """Return L, lower triangular."""
        ...


def points_of(distribution: NormalDistribution, white: Values) -> Values:
    """Return mode + L^-T z for rows z; it turns standard normal points into others."""
    linalg = scipy_module(white, "linalg")
    moved = linalg.solve_triangular(distribution.factor, white.T, trans=1, lower=True)
    return distribution.mode[None, :] + moved.T


def drawn_points(
    rng: np.random.Generator,
    distribution: NormalDistribution,
    number: int,
    *,
    heavy: bool = False,
) -> Float[np.ndarray, "draw D"]:
    """Draw normal points, or of Student's t of the same mode and curvature."""
    white = rng.standard_normal((number, len(distribution.mode)))
    if heavy:
        chi_square = rng.chisquare(_FREEDOM, number)
        white = white * np.sqrt(_FREEDOM / chi_square)[:, None]
    return points_of(distribution, white)


def log_normal_density(distribution: NormalDistribution, points: Values) -> Values:
    """Return the normal log density at points (draw, D), (draw,)."""
    size = distribution.mode.shape[0]
    height = _log_volume(distribution) - 0.5 * size * log(2.0 * pi)
    return height - 0.5 * _square_distance(distribution, points)


def log_heavy_density(distribution: NormalDistribution, points: Values) -> Values:
    """Return the log density of Student's t of its mode and curvature, (draw,)."""
    size = distribution.mode.shape[0]
    power = 0.5 * (_FREEDOM + size)
    height = lgamma(power) - lgamma(0.5 * _FREEDOM) - 0.5 * size * log(pi * _FREEDOM)
    rim = namespace(points).log1p(_square_distance(distribution, points) / _FREEDOM)
    return _log_volume(distribution) + height - power * rim


def _log_volume(distribution: NormalDistribution) -> Values:
    xp = namespace(distribution.factor)
    return xp.sum(xp.log(xp.diagonal(distribution.factor)))


def _square_distance(distribution: NormalDistribution, points: Values) -> Values:
    xp = namespace(points)
    scaled = (points - distribution.mode[None, :]) @ distribution.factor
    return xp.sum(xp.square(scaled), axis=1)

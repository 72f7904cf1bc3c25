"""The normal law of a Laplace approximation, and one with heavier tails around it.

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
"""Degrees of freedom of Student's law."""


class Law(Protocol):
    """A normal law by its mode (D,), and L, with L L^T its precision."""

    @property
    def mode(self) -> Values:
        """Return the mode."""
        ...

    @property
    def factor(self) -> Values:
        """Return L, lower triangular."""
        ...


def points_of(law: Law, white: Values) -> Values:
    """Return mode + L^-T z for rows z: standard normal ones get the normal law."""
    linalg = scipy_module(white, "linalg")
    moved = linalg.solve_triangular(law.factor, white.T, trans=1, lower=True)
    return law.mode[None, :] + moved.T


def drawn_points(
    rng: np.random.Generator, law: Law, number: int, *, heavy: bool = False
) -> Float[np.ndarray, "draw D"]:
    """Draw from the normal law, or from Student's law of its mode and curvature."""
    white = rng.standard_normal((number, len(law.mode)))
    if heavy:
        chi_square = rng.chisquare(_FREEDOM, number)
        white = white * np.sqrt(_FREEDOM / chi_square)[:, None]
    return points_of(law, white)


def log_normal_density(law: Law, points: Values) -> Values:
    """Return the log density of the normal law at points (draw, D), (draw,)."""
    size = law.mode.shape[0]
    height = _log_volume(law) - 0.5 * size * log(2.0 * pi)
    return height - 0.5 * _square_distance(law, points)


def log_heavy_density(law: Law, points: Values) -> Values:
    """Return the log density of Student's law of its mode and curvature, (draw,)."""
    size = law.mode.shape[0]
    power = 0.5 * (_FREEDOM + size)
    height = lgamma(power) - lgamma(0.5 * _FREEDOM) - 0.5 * size * log(pi * _FREEDOM)
    rim = namespace(points).log1p(_square_distance(law, points) / _FREEDOM)
    return _log_volume(law) + height - power * rim


def _log_volume(law: Law) -> Values:
    xp = namespace(law.factor)
    return xp.sum(xp.log(xp.diagonal(law.factor)))


def _square_distance(law: Law, points: Values) -> Values:
    xp = namespace(points)
    scaled = (points - law.mode[None, :]) @ law.factor
    return xp.sum(xp.square(scaled), axis=1)

"""The links F of utility models: P(i beats j) = F(theta_i - theta_j).

F is a distribution function that is symmetric about 0 and log-concave; ``difference``
is its inverse. ``slope`` and ``curvature`` are the first two derivatives of KL(p, F(x))
by x, which is convex in x.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float64

_SQRT2 = math.sqrt(2.0)


class Logistic:
    """F(x) = 1 / (1 + exp(-x)): Bradley-Terry."""

    def probability(self, x: Float64[np.ndarray, "*s"]) -> Float64[np.ndarray, "*s"]:
        """Return F(x)."""
        from scipy.special import expit

        return expit(x)

    def difference(self, p: Float64[np.ndarray, "*s"]) -> Float64[np.ndarray, "*s"]:
        """Return the x with F(x) = p."""
        from scipy.special import logit

        return logit(p)

    def slope(
        self, p: Float64[np.ndarray, "*p"], x: Float64[np.ndarray, "*s"]
    ) -> Float64[np.ndarray, "*s"]:
        """Return the derivative of KL(p, F(x)) by x."""
        return self.probability(x) - p

    def curvature(
        self, p: Float64[np.ndarray, "*p"], x: Float64[np.ndarray, "*s"]
    ) -> Float64[np.ndarray, "*s"]:
        """Return the second derivative of KL(p, F(x)) by x."""
        return self.probability(x) * self.probability(-x)


class Normal:
    """F(x) = Phi(x / sqrt 2): Thurstone's Case V, impressions of variance 1."""

    def probability(self, x: Float64[np.ndarray, "*s"]) -> Float64[np.ndarray, "*s"]:
        """Return F(x)."""
        from scipy.special import ndtr

        return ndtr(x / _SQRT2)

    def difference(self, p: Float64[np.ndarray, "*s"]) -> Float64[np.ndarray, "*s"]:
        """Return the x with F(x) = p."""
        from scipy.special import ndtri

        return _SQRT2 * ndtri(p)

    def slope(
        self, p: Float64[np.ndarray, "*p"], x: Float64[np.ndarray, "*s"]
    ) -> Float64[np.ndarray, "*s"]:
        """Return the derivative of KL(p, F(x)) by x."""
        q = self.probability(x)
        return (q - p) * _mills(x / _SQRT2) / (_SQRT2 * self.probability(-x))

    def curvature(
        self, p: Float64[np.ndarray, "*p"], x: Float64[np.ndarray, "*s"]
    ) -> Float64[np.ndarray, "*s"]:
        """Return the second derivative of KL(p, F(x)) by x."""
        z = x / _SQRT2
        up, down = _mills(z), _mills(-z)
        return (p * up * (z + up) + (1.0 - p) * down * (down - z)) / 2.0


def _mills(x: Float64[np.ndarray, "*s"]) -> Float64[np.ndarray, "*s"]:
    """Divide the standard normal density by its distribution function."""
    from scipy.special import log_ndtr

    return np.exp(-0.5 * x * x - 0.5 * math.log(2 * math.pi) - log_ndtr(x))


type Link = Logistic | Normal

LINKS: dict[str, Link] = {"bradley-terry": Logistic(), "thurstone": Normal()}
"""Utility models by name, with utilities in the unit of ``bayesduel.models``."""

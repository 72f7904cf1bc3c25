"""The links F of utility models: P(i beats j) = F(theta_i - theta_j)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float64


class Link(Protocol):
    """A distribution function F that is symmetric about 0 and log-concave.

    ``slope`` and ``curvature`` are the first two derivatives of KL(p, F(x)) by x, which
    is convex in x.
    """

    def probability(self, x: Float64[np.ndarray, "*s"]) -> Float64[np.ndarray, "*s"]:
        """Return F(x)."""
        ...

    def difference(self, p: Float64[np.ndarray, "*s"]) -> Float64[np.ndarray, "*s"]:
        """Return the x with F(x) = p; infinite for 0 and 1."""
        ...

    def slope(
        self, p: Float64[np.ndarray, "*p"], x: Float64[np.ndarray, "*s"]
    ) -> Float64[np.ndarray, "*s"]:
        """Return the derivative of KL(p, F(x)) by x."""
        ...

    def curvature(
        self, p: Float64[np.ndarray, "*p"], x: Float64[np.ndarray, "*s"]
    ) -> Float64[np.ndarray, "*s"]:
        """Return the second derivative of KL(p, F(x)) by x."""
        ...


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
        """Return F(x) - p."""
        return self.probability(x) - p

    def curvature(
        self, p: Float64[np.ndarray, "*p"], x: Float64[np.ndarray, "*s"]
    ) -> Float64[np.ndarray, "*s"]:
        """Return F(x) F(-x)."""
        return self.probability(x) * self.probability(-x)


class Normal:
    """F is the standard normal distribution function: Thurstone, Case V."""

    def probability(self, x: Float64[np.ndarray, "*s"]) -> Float64[np.ndarray, "*s"]:
        """Return F(x)."""
        from scipy.special import ndtr

        return ndtr(x)

    def difference(self, p: Float64[np.ndarray, "*s"]) -> Float64[np.ndarray, "*s"]:
        """Return the x with F(x) = p."""
        from scipy.special import ndtri

        return ndtri(p)

    def slope(
        self, p: Float64[np.ndarray, "*p"], x: Float64[np.ndarray, "*s"]
    ) -> Float64[np.ndarray, "*s"]:
        """Return (F(x) - p) density(x) / (F(x) F(-x))."""
        q = self.probability(x)
        return (q - p) * _mills(x) / self.probability(-x)

    def curvature(
        self, p: Float64[np.ndarray, "*p"], x: Float64[np.ndarray, "*s"]
    ) -> Float64[np.ndarray, "*s"]:
        """Return p m(x) (x + m(x)) + (1 - p) m(-x) (m(-x) - x), m = density / F."""
        up, down = _mills(x), _mills(-x)
        return p * up * (x + up) + (1.0 - p) * down * (down - x)


def _mills(x: Float64[np.ndarray, "*s"]) -> Float64[np.ndarray, "*s"]:
    """Divide the normal density by its distribution function."""
    from scipy.special import log_ndtr

    return np.exp(-0.5 * x * x - 0.5 * math.log(2 * math.pi) - log_ndtr(x))


LINKS: dict[str, Link] = {"bradley-terry": Logistic(), "thurstone": Normal()}
"""Utility models by name."""

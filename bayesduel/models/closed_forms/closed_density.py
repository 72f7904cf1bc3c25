"""What log densities in closed form share: coordinates, the prior, the search.

Everything is written for NumPy arrays and for arrays traced by JAX alike: a fit of a
stock model needs no JAX, and a program has the same derivatives inside.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import log, pi, sqrt
from typing import Any, Protocol

import numpy as np
from jaxtyping import Float, Float64

from bayesduel.models.array_modules import Values, namespace
from bayesduel.models.closed_forms.newton import LaplaceState, Surface, maximize

_BLOCK = 2**14
"""Rows, of all draws together, that are looked at at once: they stay in the cache, and
in memory that the process keeps, where larger arrays come from the system each time."""


class _Model(Protocol):
    """What is read of a model."""

    @property
    def prior_scale(self) -> float: ...

    @property
    def zero_sum(self) -> bool: ...


@dataclass(frozen=True)
class Coordinates:
    """What the unconstrained coordinates of a point stand for: utilities.

    As in :func:`~bayesduel.inference.latent.latent_of`. All of them are normal and
    independent in the prior.
    """

    model: _Model
    num_arms: int

    @property
    def extras(self) -> int:
        """Coordinates that are no utilities; they come first."""
        return 0

    @property
    def size(self) -> int:
        """Their number D."""
        return self.extras + self.num_arms - int(self.model.zero_sum)

    @property
    def scales(self) -> Float[np.ndarray, " D"]:
        """Their standard deviations in the prior."""
        return np.full(self.size, self.model.prior_scale, dtype=np.float64)

    def utilities(self, points: Values) -> Values:
        """Return the utilities (..., K) of points (..., D).

        The coordinates of utilities that add up to 0 are those of NumPyro's
        ``ZeroSumTransform``, which keeps lengths.
        """
        rest = points[..., self.extras :]
        if not self.model.zero_sum:
            return rest
        xp = namespace(points)
        total = xp.sum(rest, axis=-1, keepdims=True)
        root = sqrt(self.num_arms)
        shifted = rest - total / (root + self.num_arms)
        return xp.concatenate([shifted, -total / root], axis=-1)

    def pulled(self, vectors: Values) -> Values:
        """Apply the transpose of the map to utilities, to vectors (..., K)."""
        if not self.model.zero_sum:
            return vectors
        xp = namespace(vectors)
        own, last = vectors[..., :-1], vectors[..., -1:]
        root = sqrt(self.num_arms)
        total = xp.sum(own, axis=-1, keepdims=True)
        return own - total / (root + self.num_arms) - last / root

    def named(self, points: Values) -> dict[str, Values]:
        """Return points (draw, D) as named quantities."""
        return {"utility": self.utilities(points)}

    def reach(self, step: Values) -> Values:
        """Return the largest change by a step (D,) of what votes depend on."""
        return namespace(step).max(abs(step))

    def log_priors(self, points: Values) -> Values:
        """Return the log prior density of points (..., D)."""
        xp, scales = namespace(points), self.scales
        height = np.sum(np.log(scales)) + 0.5 * len(scales) * log(2.0 * pi)
        return -0.5 * xp.sum(xp.square(points / scales), axis=-1) - height

    def precision(self, point: Values) -> Values:
        """Return minus the Hessian of the log prior density, (D, D)."""
        xp = namespace(point)
        precision = xp.asarray(1.0 / np.square(self.scales), dtype=point.dtype)
        return xp.eye(self.size, dtype=point.dtype) * precision[None, :]


class ClosedDensity(ABC):
    """A log joint density with its derivatives in closed form.

    On NumPy arrays; ``log_density``, ``gradient`` and ``hessian`` of one point inside
    JAX programs as well. Natural logarithms. Coordinates are unconstrained, ordered by
    name; one vote is the unit, so that no binomial coefficient enters.
    """

    @property
    @abstractmethod
    def coordinates(self) -> Coordinates:
        """What the coordinates of a point are."""

    @property
    @abstractmethod
    def num_rows(self) -> int:
        """Rows of the data."""

    @abstractmethod
    def log_likelihoods(self, points: Values) -> Values:
        """Return the log likelihood of points (..., D)."""

    @abstractmethod
    def gradient(self, point: Values) -> Values:
        """Return the gradient of the log density (D,)."""

    @abstractmethod
    def hessian(self, point: Values) -> Values:
        """Return the Hessian of the log density (D, D)."""

    @property
    def size(self) -> int:
        """D, the number of coordinates."""
        return self.coordinates.size

    def named(self, points: Values) -> dict[str, Any]:
        """Return the named quantities of points (draw, D)."""
        return self.coordinates.named(points)

    # Far from the mode probabilities round to 0, and their logarithms to minus
    # infinity.
    @np.errstate(all="ignore")
    def log_densities(
        self, points: Float[np.ndarray, "draw D"]
    ) -> Float[np.ndarray, " draw"]:
        """Return the log joint density of the votes and each point."""
        found = self.coordinates.log_priors(points)
        size = max(1, _BLOCK // max(1, self.num_rows))
        for start in range(0, len(points), size):
            part = points[start : start + size]
            found[start : start + size] += self.log_likelihoods(part)
        return found

    def log_density(self, point: Values) -> Values:
        """Return the log joint density of the votes and one point."""
        return self.coordinates.log_priors(point) + self.log_likelihoods(point)

    @np.errstate(all="ignore")
    def slope(
        self, point: Float[np.ndarray, " D"]
    ) -> tuple[Any, Float64[np.ndarray, " D"]]:
        """Return the log density and its gradient."""
        return self.log_densities(point[None])[0], self.gradient(point)

    def laplace(
        self, max_iterations: int = 100, start: Float[np.ndarray, " D"] | None = None
    ) -> LaplaceState:
        """Return the normal distribution at the mode, found from 0 or another point."""
        surface = Surface(self.slope, self.hessian, self.log_densities)
        begin = np.zeros(self.size) if start is None else start
        return maximize(surface, begin, max_iterations=max_iterations)

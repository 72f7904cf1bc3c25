"""The log density of pairwise models of utilities and its derivatives, in closed form.

Automatic differentiation takes a pass over all rows for every arm. But a row depends on
the utilities through one difference only, so its share of the Hessian is a number,
written into four places. With 2,000 arms and 20,000 pairs that is the difference
between a second and hours.

Everything is written for NumPy arrays and for arrays traced by JAX alike: a fit of a
stock model needs no JAX, and inside a program the Hessian is the same one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log, pi, sqrt
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from jaxtyping import Float, Float64

from bayesduel.models.array_modules import Values, namespace
from bayesduel.models.newton import LaplaceState, Surface, climb

_BLOCK = 2**17
"""Rows, of all draws together, that are looked at at once: they stay in the cache."""


class RowDerivatives(NamedTuple):
    """Derivatives of the log likelihood of each row, all (row,)."""

    gap: Values
    """By the difference of utilities."""

    tie: Values
    """By the tie parameter."""

    gap_gap: Values
    gap_tie: Values
    tie_tie: Values


Derivatives = Callable[[Values, Values, Values], RowDerivatives]
"""From counts (row, outcome), differences (row,) and tie parameters (row,)."""


class _Model(Protocol):
    """What is read of a model."""

    tie_name: ClassVar[str]

    @property
    def prior_scale(self) -> float: ...

    @property
    def zero_sum(self) -> bool: ...

    @property
    def ties(self) -> bool: ...

    @property
    def tie_scale(self) -> float: ...

    @property
    def order_effect(self) -> bool: ...

    @property
    def order_scale(self) -> float: ...

    def outcome_logs(self, difference: Any, tie: Any) -> Any: ...

    def logs_of_rows(self, difference: Any, tie: Any) -> Any: ...


@dataclass(frozen=True)
class Coordinates:
    """What the unconstrained coordinates of a point stand for.

    Ordered by name, as in :func:`~bayesduel.inference.latent.latent_of`: the advantage
    of the arm shown first and the tie parameter, where there are any, then the
    utilities. All of them are normal and independent in the prior.
    """

    model: _Model
    num_arms: int

    @property
    def extras(self) -> int:
        """Coordinates that are no utilities."""
        return int(self.model.order_effect) + int(self.model.ties)

    @property
    def size(self) -> int:
        """Their number D."""
        return self.extras + self.num_arms - int(self.model.zero_sum)

    @property
    def scales(self) -> Float[np.ndarray, " D"]:
        """Their standard deviations in the prior."""
        found = np.full(self.size, self.model.prior_scale, dtype=np.float64)
        if self.model.order_effect:
            found[0] = self.model.order_scale
        if self.model.ties:
            found[self.extras - 1] = self.model.tie_scale
        return found

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

    def rows(self, votes: Any, points: Values) -> tuple[Values, Values]:
        """Return difference and tie parameter of every row at points (..., D)."""
        xp = namespace(points)
        utility = self.utilities(points)
        difference = votes.differences(utility)
        if self.model.order_effect:
            difference = difference + points[..., :1]
        if not self.model.ties:
            return difference, xp.zeros_like(difference)
        tie = points[..., self.extras - 1 : self.extras]
        return difference, xp.broadcast_to(tie, difference.shape)

    def named(self, points: Values) -> dict[str, Values]:
        """Return points (draw, D) as named quantities."""
        found = {"utility": self.utilities(points)}
        if self.model.order_effect:
            found["first_advantage"] = points[:, 0]
        if self.model.ties:
            found[self.model.tie_name] = points[:, self.extras - 1]
        return found


@dataclass(frozen=True)
class PairwiseDensity:
    """The log joint density of a stock pairwise model.

    On NumPy arrays; :meth:`log_density`, :meth:`gradient` and :meth:`hessian` of one
    point inside JAX programs as well.

    Attributes
    ----------
    model : PairwiseUtilityModel
        Without a learned scale, and without covariates.
    votes : Votes or PairTables
        Its data.
    derivatives : callable
        Those of its law of a vote.
    """

    model: _Model
    votes: Any
    derivatives: Derivatives

    @property
    def coordinates(self) -> Coordinates:
        """What the coordinates of a point are."""
        return Coordinates(self.model, self.votes.num_arms)

    @property
    def size(self) -> int:
        """D, the number of coordinates."""
        return self.coordinates.size

    def named(self, points: Values) -> dict[str, Any]:
        """Return the named quantities of points (draw, D)."""
        return self.coordinates.named(points)

    # Far from the mode chances round to 0, and their logarithms to minus infinity.
    @np.errstate(all="ignore")
    def log_densities(
        self, points: Float[np.ndarray, "draw D"]
    ) -> Float[np.ndarray, " draw"]:
        """Return the log joint density of the votes and each point."""
        coordinates = self.coordinates
        scales = coordinates.scales
        found = _log_priors(scales, points)
        size = max(1, _BLOCK // max(1, len(self.votes.counts)))
        for start in range(0, len(points), size):
            part = points[start : start + size]
            found[start : start + size] += self._log_likelihoods(part)
        return found

    def log_density(self, point: Values) -> Values:
        """Return the log joint density of the votes and one point."""
        found = _log_priors(self.coordinates.scales, point)
        return found + self._log_likelihoods(point)

    def _log_likelihoods(self, points: Values) -> Values:
        xp = namespace(points)
        difference, tie = self.coordinates.rows(self.votes, points)
        total = xp.zeros(points.shape[:-1], dtype=points.dtype)
        logs = self.model.outcome_logs(difference, tie)
        for counts, each in zip(self.votes.counts.T, logs, strict=True):
            happened = counts > 0
            # What never happened may be impossible: 0 times minus infinity is nan.
            always = xp is np and bool(happened.all())
            total = total + (each if always else xp.where(happened, each, 0)) @ counts
        return total

    @np.errstate(all="ignore")
    def slope(
        self, point: Float[np.ndarray, " D"]
    ) -> tuple[Any, Float64[np.ndarray, " D"]]:
        """Return the log density and its gradient."""
        return self.log_densities(point[None])[0], self.gradient(point)

    def gradient(self, point: Values) -> Values:
        """Return the gradient (D,)."""
        return self._gradient(point, self._by_row(point))

    @np.errstate(all="ignore")
    def hessian(self, point: Values) -> Values:
        """Return the Hessian (D, D)."""
        return _hessian_at(self.coordinates, self.votes, self.derivatives, point)

    def bend(self, point: Values) -> tuple[Values, Values]:
        """Return gradient and Hessian, the rows looked at once."""
        by = self._by_row(point)
        curvature = _hessian_of(self.coordinates, self.votes, by, point)
        return self._gradient(point, by), curvature

    def _by_row(self, point: Values) -> RowDerivatives:
        difference, tie = self.coordinates.rows(self.votes, point)
        return self.derivatives(self.votes.counts, difference, tie)

    def _gradient(self, point: Values, by: RowDerivatives) -> Values:
        xp = namespace(point)
        columns = []
        if self.model.order_effect:
            columns.append(xp.sum(by.gap, keepdims=True))
        if self.model.ties:
            columns.append(xp.sum(by.tie, keepdims=True))
        columns.append(self.coordinates.pulled(self.votes.incidence(by.gap)))
        return xp.concatenate(columns) - point / self.coordinates.scales**2

    def laplace(self, max_iterations: int = 100) -> LaplaceState:
        """Return the normal law at the mode, found from 0."""
        surface = Surface(self.slope, self.hessian, self.log_densities)
        return climb(surface, np.zeros(self.size), max_iterations=max_iterations)


def pairwise_hessian(
    model: _Model, votes: Any, derivatives: Derivatives | None
) -> Callable[[Values], Values]:
    """Return the Hessian of the log joint density as a function of a point.

    Parameters
    ----------
    model : PairwiseUtilityModel
        Without a learned scale, and without covariates.
    votes : Votes
        Its data, as arrays.
    derivatives : callable or None
        Those of its law of a vote in closed form; None lets JAX find them.

    Returns
    -------
    callable
        From unconstrained coordinates (D,), ordered by name (first_advantage, the tie
        parameter, utility), to the Hessian (D, D).
    """
    coordinates = Coordinates(model, votes.num_arms)
    found = derivatives or _automatic(model)

    def hessian(point: Values) -> Values:
        return _hessian_at(coordinates, votes, found, point)

    return hessian


def _automatic(model: _Model) -> Derivatives:
    """Return the derivatives of rows by automatic differentiation."""
    import jax
    import jax.numpy as jnp

    def derivatives(counts: Values, gap: Values, tie: Values) -> RowDerivatives:
        counts = jnp.asarray(counts)
        happened = counts > 0

        def total(gap: Values, tie: Values) -> Values:
            logs = jnp.where(happened, model.logs_of_rows(gap, tie), 0.0)
            return jnp.sum(jnp.where(happened, counts * logs, 0.0))

        ones, zeros = jnp.ones_like(gap), jnp.zeros_like(gap)
        slopes = jax.grad(total, argnums=(0, 1))
        # Rows do not meet: one direction gives the second derivatives of all.
        (by_gap, by_tie), of_gap = jax.jvp(slopes, (gap, tie), (ones, zeros))
        _, of_tie = jax.jvp(slopes, (gap, tie), (zeros, ones))
        return RowDerivatives(by_gap, by_tie, of_gap[0], of_gap[1], of_tie[1])

    return derivatives


def _hessian_at(
    coordinates: Coordinates, votes: Any, derivatives: Derivatives, point: Values
) -> Values:
    difference, tie = coordinates.rows(votes, point)
    by = derivatives(votes.counts, difference, tie)
    return _hessian_of(coordinates, votes, by, point)


def _hessian_of(
    coordinates: Coordinates, votes: Any, by: RowDerivatives, point: Values
) -> Values:
    xp = namespace(point)
    model = coordinates.model
    pull = coordinates.pulled
    inner = pull(pull(votes.laplacian(by.gap_gap)).T)
    precision = xp.asarray(1.0 / np.square(coordinates.scales), dtype=point.dtype)
    prior = xp.eye(coordinates.size, dtype=point.dtype) * precision[None, :]
    if not coordinates.extras:
        return inner - prior
    # Rows of the order effect and of the tie parameter, those that there are.
    columns = [votes.incidence(by.gap_gap), votes.incidence(by.gap_tie)]
    both = xp.sum(by.gap_tie)
    corner = [[xp.sum(by.gap_gap), both], [both, xp.sum(by.tie_tie)]]
    kept = [
        place for place, there in enumerate((model.order_effect, model.ties)) if there
    ]
    square = xp.stack([xp.stack([corner[i][j] for j in kept]) for i in kept])
    side = xp.stack([pull(columns[each]) for each in kept])
    return xp.block([[square, side], [side.T, inner]]) - prior


def _log_priors(scales: Float[np.ndarray, " D"], points: Values) -> Values:
    """Return the log prior density of points (..., D)."""
    xp = namespace(points)
    height = np.sum(np.log(scales)) + 0.5 * len(scales) * log(2.0 * pi)
    return -0.5 * xp.sum(xp.square(points / scales), axis=-1) - height

"""The log density of pairwise models of utilities and its derivatives, in closed form.

Automatic differentiation takes a pass over all rows for every arm. But a row depends on
the utilities through one difference only, so its share of the Hessian is a number,
written into four places. With 2,000 arms and 20,000 pairs that is the difference
between a second and hours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayesduel.models.array_modules import Values, namespace, row_sum
from bayesduel.models.closed_forms.closed_density import ClosedDensity
from bayesduel.models.closed_forms.pairwise_coordinates import (
    PairCoordinates,
    coordinates_of,
)
from bayesduel.models.utilities import home_of


class RowDerivatives(NamedTuple):
    """Derivatives of the log likelihood of each row, all (row,)."""

    gap: Values  # By the difference of utilities.
    tie: Values  # By the tie parameter.
    gap_gap: Values
    gap_tie: Values
    tie_tie: Values

    # Returns the log likelihood itself, where it costs little beside them.
    height: Callable[[], Values] | None = None


Derivatives = Callable[[Values, Values, Values], RowDerivatives]
"""From counts (row, outcome), differences (row,) and tie parameters (row,)."""


@dataclass(frozen=True)
class PairwiseDensity(ClosedDensity):
    """The log joint density of a stock pairwise model."""

    model: Any  # Without a learned scale.
    votes: Any  # Its data.
    derivatives: Derivatives  # Those of its distribution of a vote.

    @property
    def coordinates(self) -> PairCoordinates:
        """What the coordinates of a point are."""
        return coordinates_of(self.model, self.votes)

    @property
    def num_rows(self) -> int:
        """Rows of the data."""
        return len(self.votes.counts)

    def log_likelihoods(self, points: Values) -> Values:
        """Return the log likelihood of points (..., D)."""
        xp = namespace(points)
        difference, tie = self.coordinates.rows(self.votes, points)
        # A subclass with another distribution of a vote has no use for that.
        quick = hasattr(self.model, "summed_logs") and (
            home_of(self.model, "summed_logs") is home_of(self.model, "outcome_logs")
        )
        if xp is np and quick and self.num_rows:
            return self.model.summed_logs(self.votes.counts, difference, tie)
        total = xp.zeros(points.shape[:-1], dtype=points.dtype)
        logs = self.model.outcome_logs(difference, tie)
        for counts, each in zip(self.votes.counts.T, logs, strict=True):
            happened = counts > 0
            # What never happened may be impossible: 0 times minus infinity is nan.
            always = xp is np and bool(happened.all())
            total = total + (each if always else xp.where(happened, each, 0)) @ counts
        return total

    def gradient(self, point: Values) -> Values:
        """Return the gradient (D,)."""
        return self._gradient(point, self.by_row(point))

    @np.errstate(all="ignore")
    def hessian(self, point: Values) -> Values:
        """Return the Hessian (D, D)."""
        return _hessian_at(self.coordinates, self.votes, self.derivatives, point)

    def gradient_and_hessian(self, point: Values) -> tuple[Values, Values]:
        """Return gradient and Hessian, the rows looked at once."""
        by = self.by_row(point)
        curvature = _hessian_of(self.coordinates, self.votes, by, point)
        return self._gradient(point, by), curvature

    def fall(self, point: Values, way: Values) -> Callable[[Values], tuple[Any, Any]]:
        """Return how far the log density falls along a way, and how steeply.

        As a function of the share () of the way (D,) that is gone from ``point``. What
        is linear in the share is computed once.
        """
        xp = namespace(point)
        here, there = (
            self.coordinates.rows(self.votes, each) for each in (point, point + way)
        )
        ways = [end - start for start, end in zip(here, there, strict=True)]
        scaled = way / xp.asarray(self.coordinates.scales**2, dtype=way.dtype)
        curvature, tilt = xp.sum(way * scaled), xp.sum(point * scaled)
        top, _ = self._heights(*here)

        def fall(share: Values) -> tuple[Values, Values]:
            moved = [start + share * by for start, by in zip(here, ways, strict=True)]
            heights, by = self._heights(*moved)
            slopes = by.gap * ways[0]
            if self.model.ties:
                slopes = slopes + by.tie * ways[1]
            prior = share * (tilt + 0.5 * share * curvature)
            slope = tilt + share * curvature - row_sum(slopes)
            return prior + row_sum(top - heights), slope

        return fall

    def _heights(
        self, difference: Values, tie: Values
    ) -> tuple[Values, RowDerivatives]:
        """Return the log likelihood of every row, and its derivatives."""
        counts = self.votes.counts
        by = self.derivatives(counts, difference, tie)
        if by.height is not None:
            return by.height(), by
        xp, found = namespace(difference), 0.0
        logs = self.model.outcome_logs(difference, tie)
        for number, each in zip(counts.T, logs, strict=True):
            # What never happened may be impossible: 0 times infinity is nan.
            found = found + xp.where(number > 0, each, 0.0 * number) * number
        return found, by

    def by_row(self, point: Values) -> RowDerivatives:
        """Return the derivatives of the log likelihood of each row."""
        difference, tie = self.coordinates.rows(self.votes, point)
        return self.derivatives(self.votes.counts, difference, tie)

    def _gradient(self, point: Values, by: RowDerivatives) -> Values:
        xp = namespace(point)
        effects = self.coordinates.of_effects(self.votes, by.gap)
        columns = [xp.sum(each, keepdims=True) for each in effects]
        if self.model.ties:
            columns.append(xp.sum(by.tie, keepdims=True))
        columns.append(self.coordinates.pulled(self.votes.incidence(by.gap)))
        return xp.concatenate(columns) - point / self.coordinates.scales**2


def pairwise_hessian(
    model: Any, votes: Any, derivatives: Derivatives | None
) -> Callable[[Values], Values]:
    """Return the Hessian of the log joint density as a function of a point.

    The model is without a learned scale, and has nothing beside coefficients where
    there are covariates of arms. The derivatives are those of its distribution of a
    vote in closed form; None lets JAX find them. Coordinates are ordered by name
    (contest_lead, first_advantage, the tie parameter, utility).
    """
    coordinates = coordinates_of(model, votes)
    found = derivatives or _automatic(model)

    def hessian(point: Values) -> Values:
        return _hessian_at(coordinates, votes, found, point)

    return hessian


def _automatic(model: Any) -> Derivatives:
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
    coordinates: PairCoordinates, votes: Any, derivatives: Derivatives, point: Values
) -> Values:
    difference, tie = coordinates.rows(votes, point)
    by = derivatives(votes.counts, difference, tie)
    return _hessian_of(coordinates, votes, by, point)


def _hessian_of(
    coordinates: PairCoordinates, votes: Any, by: RowDerivatives, point: Values
) -> Values:
    xp = namespace(point)
    pull = coordinates.pulled
    inner = pull(pull(votes.laplacian(by.gap_gap)).T)
    prior = coordinates.precision(point)
    if not coordinates.extras:
        return inner - prior
    square, columns = borders(coordinates, votes, by)
    side = pull(columns)
    return xp.block([[square, side], [side.T, inner]]) - prior


def borders(
    coordinates: PairCoordinates, votes: Any, by: RowDerivatives
) -> tuple[Values, Values]:
    """Return the Hessian's rows of the other coordinates, E, than utilities.

    Without the prior, (E, E) among them, and (E, K) by the utilities of arms.
    """
    xp = namespace(by.gap)
    leads = coordinates.of_effects(votes, by.gap_gap)
    corner = [[xp.sum(x) for x in coordinates.of_effects(votes, y)] for y in leads]
    if coordinates.model.ties:
        both = [xp.sum(each) for each in coordinates.of_effects(votes, by.gap_tie)]
        corner = [[*row, each] for row, each in zip(corner, both, strict=True)]
        corner.append([*both, xp.sum(by.tie_tie)])
        leads = [*leads, by.gap_tie]
    columns = xp.stack([votes.incidence(each) for each in leads])
    return xp.stack([xp.stack(row) for row in corner]), columns

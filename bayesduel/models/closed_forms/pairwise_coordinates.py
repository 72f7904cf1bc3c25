"""What the coordinates of a point of a pairwise model stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from bayesduel.models.array_modules import Values, namespace
from bayesduel.models.closed_forms.closed_density import Coordinates
from bayesduel.models.utilities import covariate_units


@dataclass(frozen=True)
class PairCoordinates(Coordinates):
    """What the coordinates of a point of a pairwise model stand for.

    Ordered by name: effects of covariates of the contest, coefficients of covariates of
    the arms, both in units of their own, the advantage of the arm shown first and the
    tie parameter, where there are any, then the utilities, or their residuals.
    """

    model: Any
    units: tuple[float, ...] = ()  # Of the covariates of the contest.
    # (K, d) and (d,): covariates of the arms in units of their own, and these.
    covariates: Values | None = None
    covariate_units: Values | None = None

    @property
    def contest(self) -> int:
        """The number of covariates of the contest."""
        return len(self.units)

    @property
    def known(self) -> int:
        """The number of covariates of the arms."""
        return 0 if self.covariates is None else self.covariates.shape[1]

    @property
    def extras(self) -> int:
        """Coordinates that are no utilities."""
        effects = self.contest + self.known
        return effects + int(self.model.order_effect) + int(self.model.ties)

    @property
    def _free(self) -> bool:
        """Whether arms differ in more than their covariates."""
        return self.covariates is None or self.model.residual

    @property
    def size(self) -> int:
        """Their number D."""
        return super().size if self._free else self.extras

    @property
    def scales(self) -> Float[np.ndarray, " D"]:
        """Their standard deviations in the prior."""
        found, place = super().scales, self.contest
        found[:place] = self.model.contest_scale * np.array(self.units)
        if self.covariate_units is not None:
            known = self.model.covariate_scale * self.covariate_units
            found[place : place + self.known] = known
        if self.model.order_effect:
            found[place + self.known] = self.model.order_scale
        if self.model.ties:
            found[self.extras - 1] = self.model.tie_scale
        return found

    def utilities(self, points: Values) -> Values:
        """Return the utilities (..., K) of points (..., D)."""
        if self.covariates is None:
            return super().utilities(points)
        lead = points[..., self.contest : self.contest + self.known]
        explained = lead @ self.covariates.T
        return explained + super().utilities(points) if self._free else explained

    def pulled(self, vectors: Values) -> Values:
        """Apply the transpose of the map to utilities, to vectors (..., K).

        Of the utilities that are free, or the residuals, alone.
        """
        return super().pulled(vectors) if self._free else vectors[..., :0]

    def of_gap(self, one: int, other: int) -> Float[np.ndarray, " D"]:
        """Return the derivative of a difference of utilities by the coordinates."""
        found, arms = np.zeros(self.size), np.zeros(self.num_arms)
        arms[one] += 1.0
        arms[other] -= 1.0
        found[self.extras :] = self.pulled(arms)
        if self.covariates is not None:
            gap = self.covariates[one] - self.covariates[other]
            found[self.contest : self.contest + self.known] = gap
        return found

    def rows(self, votes: Any, points: Values) -> tuple[Values, Values]:
        """Return difference and tie parameter of every row at points (..., D)."""
        xp = namespace(points)
        utility = self.utilities(points)
        difference = votes.differences(utility)
        for place in range(self.contest):
            # A column at a time, as a product of matrices would start threads.
            lead = points[..., place : place + 1] * votes.contest[:, place]
            difference = difference + lead
        if self.model.order_effect:
            place = self.contest + self.known
            difference = difference + votes.ordered(points[..., place : place + 1])
        if not self.model.ties:
            nothing = xp.zeros(1, dtype=difference.dtype)
            return difference, xp.broadcast_to(nothing, difference.shape)
        tie = points[..., self.extras - 1 : self.extras]
        return difference, xp.broadcast_to(tie, difference.shape)

    def of_effects(self, votes: Any, values: Values) -> list[Values]:
        """Return values (row,) times what each effect is multiplied by in a row.

        Those of covariates of the contest and of the arms, and the advantage of the arm
        shown first.
        """
        found = [values * each for each in votes.contest.T] if self.contest else []
        if self.covariates is not None:
            found += [values * each for each in votes.differences(self.covariates.T)]
        return [*found, votes.ordered(values)] if self.model.order_effect else found

    def named(self, points: Values) -> dict[str, Values]:
        """Return points (draw, D) as named quantities."""
        found, place = super().named(points), self.contest
        if self.contest:
            found["contest_lead"] = points[:, :place]
            found["contest_effect"] = found["contest_lead"] / np.array(self.units)
        if self.covariates is not None:
            found["covariate_lead"] = points[:, place : place + self.known]
            found["coefficient"] = found["covariate_lead"] / self.covariate_units
            if self._free:
                found["residual"] = super().utilities(points)
        if self.model.order_effect:
            found["first_advantage"] = points[:, place + self.known]
        if self.model.ties:
            found[self.model.tie_name] = points[:, self.extras - 1]
        return found


@dataclass(frozen=True)
class CoefficientCoordinates(PairCoordinates):
    """Coefficients, of which utilities are made; nothing else is unknown."""

    design: Values = None  # Utilities are design @ coefficient.

    @property
    def size(self) -> int:
        """Their number d."""
        return self.design.shape[1]

    @property
    def scales(self) -> Float[np.ndarray, " d"]:
        """Their standard deviations in the prior."""
        return np.full(self.size, self.model.covariate_scale, dtype=np.float64)

    def utilities(self, points: Values) -> Values:
        """Return the utilities (..., K) of points (..., d)."""
        return points @ namespace(points).asarray(self.design.T, dtype=points.dtype)

    def pulled(self, vectors: Values) -> Values:
        """Apply the transpose of the map to utilities, to vectors (..., K)."""
        return vectors @ self.design

    def named(self, points: Values) -> dict[str, Values]:
        """Return points (draw, d) as named quantities."""
        return {"coefficient": points, **super().named(points)}

    def of_gap(self, one: int, other: int) -> Float[np.ndarray, " d"]:
        """Return the derivative of a difference of utilities by the coordinates."""
        return self.design[one] - self.design[other]

    def reach(self, step: Values) -> Values:
        """Return the largest change of a utility, seen from their mean."""
        design = self.design - self.design.mean(axis=0)
        return namespace(step).max(abs(design @ step))


def coordinates_of(model: Any, votes: Any) -> PairCoordinates:
    """Return what the coordinates of a model given votes stand for."""
    units = votes.contest_units if model.contest_covariates else ()
    if not model.covariates:
        return PairCoordinates(model, votes.num_arms, units)
    table = model.known_of_arms(votes)
    design = table - table.mean(axis=0) if model.zero_sum else table
    if model._coefficients_alone:
        return CoefficientCoordinates(model, votes.num_arms, design=design)
    known = covariate_units(table)
    # Residuals add up to 0 then, and not the utilities.
    shown = (table if model.residual else design) / known
    return PairCoordinates(model, votes.num_arms, units, shown, known)

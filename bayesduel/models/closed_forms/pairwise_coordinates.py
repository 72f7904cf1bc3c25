"""What the coordinates of a point of a pairwise model stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from bayesduel.models.array_modules import Values, namespace
from bayesduel.models.closed_forms.closed_density import Coordinates


@dataclass(frozen=True)
class PairCoordinates(Coordinates):
    """What the coordinates of a point of a pairwise model stand for.

    Ordered by name: effects of covariates of the contest, the advantage of the arm
    shown first and the tie parameter, where there are any, then the utilities.
    """

    model: Any
    units: tuple[float, ...] = ()  # Of the covariates of the contest.

    @property
    def contest(self) -> int:
        """The number of covariates of the contest."""
        return len(self.units)

    @property
    def extras(self) -> int:
        """Coordinates that are no utilities."""
        return self.contest + int(self.model.order_effect) + int(self.model.ties)

    @property
    def scales(self) -> Float[np.ndarray, " D"]:
        """Their standard deviations in the prior."""
        found = super().scales
        found[: self.contest] = self.model.contest_scale * np.array(self.units)
        if self.model.order_effect:
            found[self.contest] = self.model.order_scale
        if self.model.ties:
            found[self.extras - 1] = self.model.tie_scale
        return found

    def rows(self, votes: Any, points: Values) -> tuple[Values, Values]:
        """Return difference and tie parameter of every row at points (..., D)."""
        xp = namespace(points)
        utility = self.utilities(points)
        difference = votes.differences(utility)
        place = self.contest
        if place:
            difference = difference + points[..., :place] @ votes.contest.T
        if self.model.order_effect:
            difference = difference + votes.ordered(points[..., place : place + 1])
        if not self.model.ties:
            return difference, xp.zeros_like(difference)
        tie = points[..., self.extras - 1 : self.extras]
        return difference, xp.broadcast_to(tie, difference.shape)

    def of_effects(self, votes: Any, values: Values) -> list[Values]:
        """Return values (row,) times what each effect is multiplied by in a row.

        Those of covariates of the contest, and the advantage of the arm shown first.
        """
        found = [values * each for each in votes.contest.T] if self.contest else []
        return [*found, votes.ordered(values)] if self.model.order_effect else found

    def named(self, points: Values) -> dict[str, Values]:
        """Return points (draw, D) as named quantities."""
        found = super().named(points)
        if self.contest:
            found["contest_lead"] = points[:, : self.contest]
            found["contest_effect"] = found["contest_lead"] / np.array(self.units)
        if self.model.order_effect:
            found["first_advantage"] = points[:, self.contest]
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

    def reach(self, step: Values) -> Values:
        """Return the largest change of a utility, seen from their mean."""
        design = self.design - self.design.mean(axis=0)
        return namespace(step).max(abs(design @ step))


def coordinates_of(model: Any, votes: Any) -> PairCoordinates:
    """Return what the coordinates of a model given votes stand for."""
    if not model.covariates:
        units = votes.contest_units if model.contest_covariates else ()
        return PairCoordinates(model, votes.num_arms, units)
    design = model.known_of_arms(votes)
    if model.zero_sum:
        design = design - design.mean(axis=0)
    return CoefficientCoordinates(model, votes.num_arms, design=design)

"""The log density of the multinomial logit and its derivatives, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.models.array_modules import Values, namespace
from bayesduel.models.closed_forms.closed_density import ClosedDensity, Coordinates

if TYPE_CHECKING:
    from bayesduel.models.utilities import UtilityModel


@dataclass(frozen=True)
class ChoiceDensity(ClosedDensity):
    """The log joint density of choices in proportion to the worth exp(u).

    With counts c_ri of row r, their sum n_r, probabilities p_ri of the offered arms and
    the sign s_r, which is -1 where the worst was chosen, the gradient of the log
    likelihood is sum_r s_r (c_r - n_r p_r), and its Hessian
    -sum_r n_r (diag(p_r) - p_r p_r^T) (McFadden 1974). Natural logarithms; the utility
    of the outside option is 0. What never happened may be impossible.
    """

    model: UtilityModel  # Its prior; without a learned scale.
    choices: Any  # Its data.

    @property
    def coordinates(self) -> Coordinates:
        """What the coordinates of a point are."""
        return Coordinates(self.model, self.choices.num_arms)

    @property
    def num_rows(self) -> int:
        """Rows of the data, once per outcome."""
        return self.choices.offered.size

    def log_likelihoods(self, points: Values) -> Values:
        """Return the log likelihood of points (..., D)."""
        xp = namespace(points)
        happened = self.choices.counts > 0
        # What never happened may be impossible: 0 times minus infinity is nan.
        logs = xp.where(happened, self._logs(points), 0.0)
        return xp.sum(logs * self.choices.counts, axis=(-2, -1))

    def gradient(self, point: Values) -> Values:
        """Return the gradient (D,)."""
        xp = namespace(point)
        coordinates, counts = self.coordinates, self.choices.counts
        surplus = counts - xp.sum(counts, axis=1, keepdims=True) * self._probabilities(
            point
        )
        own = xp.sum(self.choices.sign * surplus, axis=0)[: self.choices.num_arms]
        return coordinates.pulled(own) - point / coordinates.scales**2

    def hessian(self, point: Values) -> Values:
        """Return the Hessian (D, D)."""
        xp = namespace(point)
        coordinates = self.coordinates
        probabilities = self._probabilities(point)[:, : self.choices.num_arms]
        each = xp.sum(self.choices.counts, axis=1, keepdims=True) * probabilities
        identity = xp.eye(self.choices.num_arms, dtype=point.dtype)
        square = each.T @ probabilities - identity * xp.sum(each, axis=0)[None, :]
        inner = coordinates.pulled(coordinates.pulled(square).T)
        return inner - coordinates.precision(point)

    def _probabilities(self, point: Values) -> Values:
        return namespace(point).exp(self._logs(point))

    def _logs(self, points: Values) -> Values:
        """Return log P(outcome), (..., row, outcome), of points (..., D)."""
        xp = namespace(points)
        utility = self.coordinates.utilities(points)
        offered = self.choices.offered
        if offered.shape[1] > self.choices.num_arms:
            outside = xp.zeros_like(utility[..., :1])
            utility = xp.concatenate([utility, outside], axis=-1)
        signed = self.choices.sign * utility[..., None, :]
        table = xp.where(offered, signed, -np.inf)
        shifted = table - xp.max(table, axis=-1, keepdims=True)
        return shifted - xp.log(xp.sum(xp.exp(shifted), axis=-1, keepdims=True))

"""The log density of the conditional logit and its derivatives, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log, pi
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from bayesduel.models.array_modules import Values, namespace
from bayesduel.models.closed_forms.closed_density import ClosedDensity

if TYPE_CHECKING:
    from bayesduel.models.choice_models.attributed_choices import AttributedChoices


@dataclass(frozen=True)
class ConditionalCoordinates:
    """What the coordinates of a point stand for: constants, then coefficients.

    All of them are normal and independent in the prior.
    """

    choices: AttributedChoices
    num_constants: int
    scale: float

    @property
    def size(self) -> int:
        """Their number D."""
        return self.num_constants + len(self.choices.units)

    def named(self, points: Values) -> dict[str, Values]:
        """Return points (draw, D) as named quantities."""
        choices, number = self.choices, self.num_constants
        standard = points[..., number:]
        utility = standard @ choices.usual.T
        found = {
            "standard_coefficient": standard,
            "coefficient": standard / choices.units,
        }
        if number:
            xp, constant = namespace(points), points[..., :number]
            zeros = xp.zeros_like(utility[..., number:])
            utility = utility + xp.concatenate([zeros, constant], axis=-1)
            found["constant"] = constant
        return found | {"utility": utility}

    def log_priors(self, points: Values) -> Values:
        """Return the log prior density of points (..., D)."""
        xp = namespace(points)
        height = self.size * (log(self.scale) + 0.5 * log(2.0 * pi))
        return -0.5 * xp.sum(xp.square(points / self.scale), axis=-1) - height


@dataclass(frozen=True)
class ConditionalDensity(ClosedDensity):
    """The log joint density of choices among alternatives with attributes.

    With utilities v_rk = z_rk . theta, counts c_rk, n_r their sum and probabilities
    p_rk, the log likelihood is theta . sum c_rk z_rk - sum n_r log sum_k exp(v_rk), its
    gradient sum c_rk z_rk - sum n_r p_rk z_rk, and its Hessian minus the sum of n_r
    times the covariance of z under p_r (McFadden 1974). Natural logarithms.
    """

    choices: AttributedChoices  # The data.
    constants: bool  # Whether alternatives have constants.
    scale: float  # Standard deviation of the prior of every coordinate.

    @cached_property
    def coordinates(self) -> ConditionalCoordinates:  # pyright: ignore
        """What the coordinates of a point are."""
        fixed = self.choices.offered.shape[1] == self.choices.num_arms
        number = self.choices.num_arms - fixed if self.constants else 0
        return ConditionalCoordinates(self.choices, number, self.scale)

    @property
    def num_rows(self) -> int:
        """Rows of the data, once per outcome."""
        return self.choices.offered.size

    @cached_property
    def _design(self) -> Float[np.ndarray, "outcome row D"]:
        """What utilities are linear in.

        Outcomes first: sums over them are then sums of long vectors.
        """
        choices, number = self.choices, self.coordinates.num_constants
        design = np.asarray(choices.design)
        own = np.eye(choices.num_arms)[:, choices.num_arms - number :]
        own = np.broadcast_to(own, (*design.shape[:2], number))
        design = np.concatenate([own, design], axis=2)
        outside = choices.offered.shape[1] - choices.num_arms
        design = np.pad(design, ((0, 0), (0, outside), (0, 0)))
        return np.ascontiguousarray(design.transpose(1, 0, 2))

    @cached_property
    def _flat_design(self) -> Float[np.ndarray, "D cell"]:
        """The same as a matrix; its rows are whole, which is many times as fast."""
        design = self._design
        return np.ascontiguousarray(design.reshape(-1, design.shape[2]).T)

    @cached_property
    def _given(self) -> tuple[Any, Any, Any]:
        """Return -inf where nothing is on offer, votes by row, and sum c_rk z_rk."""
        offered, counts = (
            np.asarray(each).T for each in (self.choices.offered, self.choices.counts)
        )
        chosen = np.einsum("kr,krd->d", counts, self._design)
        return np.where(offered, 0.0, -np.inf), counts.sum(axis=0), chosen

    def log_likelihoods(self, points: Values) -> Values:
        """Return the log likelihood of points (..., D)."""
        _, times, chosen = self._given
        _, height, total = self._exponentials(points)
        xp = namespace(points)
        return points @ chosen - (height + xp.log(total)) @ times

    def gradient(self, point: Values) -> Values:
        """Return the gradient (D,)."""
        _, times, chosen = self._given
        xp = namespace(point)
        expected = xp.einsum(
            "kr,krd->d", times[None, :] * self._probabilities(point), self._design
        )
        return chosen - expected - point / self.scale**2

    def hessian(self, point: Values) -> Values:
        """Return the Hessian (D, D)."""
        _, times, _ = self._given
        xp, design = namespace(point), self._design
        probability = self._probabilities(point)
        mean = xp.einsum("kr,krd->rd", probability, design)
        size = self.coordinates.size
        apart = (design - mean[None]).reshape(-1, size)
        weight = (times[None, :] * probability).reshape(-1, 1)
        prior = xp.eye(size, dtype=point.dtype) / self.scale**2
        return -(apart * weight).T @ apart - prior

    def _probabilities(self, point: Values) -> Values:
        each, _, total = self._exponentials(point)
        return each / total[None, :]

    def _exponentials(self, points: Values) -> tuple[Values, Values, Values]:
        """Return exp(v - m) by outcome and row, the largest v, m, and their sums."""
        xp = namespace(points)
        unavailable, _, _ = self._given
        table = (points @ self._flat_design).reshape(
            *points.shape[:-1], *unavailable.shape
        )
        table = table + xp.broadcast_to(unavailable, table.shape)
        height = xp.max(table, axis=-2)
        each = xp.exp(table - height[..., None, :])
        return each, height, xp.sum(each, axis=-2)

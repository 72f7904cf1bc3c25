"""Log densities with their derivatives written down, for models on one utility scale.

Everything is written for NumPy arrays and for arrays traced by JAX alike: a fit of a
stock model needs no JAX, and a program has the same derivatives inside. Automatic
differentiation takes a pass over all rows for every arm. But a row depends on the
utilities through one difference only, so its share of the Hessian is a number, written
into four places. With 2,000 arms and 20,000 pairs that is the difference between a
second and hours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import log, pi, sqrt
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Float64

from bayesduel.models.array_modules import Values, covariate_units, namespace, row_sum
from bayesduel.models.newton import LaplaceState, Surface, maximize

_BLOCK = 2**14
"""Rows, of all draws together, that are looked at at once: they stay in the cache, and
in memory that the process keeps, where larger arrays come from the system each time."""

_MANY_ROWS, _MANY_DRAWS = 2**13, 100
"""Rows and points from which code is compiled to look at them, which takes a second: a
fit has 16,000 points."""


def come_from(model: Any, names: tuple[str, ...], homes: tuple[type, ...]) -> bool:
    """Whether none of the methods is overridden beyond these classes."""
    return all(home_of(model, name) in homes for name in names)


def home_of(model: Any, name: str) -> type:
    """Return the class that a method of a model comes from."""
    return next(cls for cls in type(model).__mro__ if name in vars(cls))


@dataclass(frozen=True)
class Coordinates:
    """Unconstrained coordinates of a point, which are utilities.

    As in :func:`~bayesduel.models.fit.numpyro_models.latent_of`; normal and independent
    in the prior.
    """

    num_arms: int
    scales: Float[np.ndarray, " D"]  # Their standard deviations in the prior.
    zero_sum: bool
    extras: int = 0  # Coordinates that are no utilities; they come first.

    def utilities(self, points: Values) -> Values:
        """Return the utilities (..., K) of points (..., D)."""
        rest = points[..., self.extras :]
        if not self.zero_sum:
            return rest
        xp = namespace(points)
        total = xp.sum(rest, axis=-1, keepdims=True)
        root = sqrt(self.num_arms)
        if xp is np:  # Without a table of so many draws between.
            utilities = np.empty((*rest.shape[:-1], rest.shape[-1] + 1))
            np.subtract(rest, total / (root + self.num_arms), out=utilities[..., :-1])
            np.divide(-total, root, out=utilities[..., -1:])
            return utilities
        shifted = rest - total / (root + self.num_arms)
        return xp.concatenate([shifted, -total / root], axis=-1)

    def pulled(self, vectors: Values) -> Values:
        """Apply the transpose of the map to utilities, to vectors (..., K)."""
        if not self.zero_sum:
            return vectors
        xp = namespace(vectors)
        rest, last = vectors[..., :-1], vectors[..., -1:]
        root = sqrt(self.num_arms)
        total = xp.sum(rest, axis=-1, keepdims=True)
        return rest - total / (root + self.num_arms) - last / root

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
        return xp.eye(len(self.scales), dtype=point.dtype) * precision[None, :]


class ClosedDensity:
    """A log joint density with its derivatives in closed form.

    On NumPy arrays; ``log_density``, ``gradient`` and ``hessian`` of one point inside
    JAX programs as well. One vote is the unit: no binomial coefficient enters.
    """

    coordinates: Any  # Those of a point, such as :class:`Coordinates`.
    num_rows: Any  # How many rows the data have.
    log_likelihoods: Callable[[Values], Values]  # At points (..., D).
    gradient: Callable[..., Values]  # Gradient of the log density at a point, (D,).
    hessian: Callable[..., Values]  # (D, D)

    @property
    def size(self) -> int:
        """D, the number of coordinates."""
        return len(self.coordinates.scales)

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
        heights = self.coordinates.log_priors(points)
        size = max(1, _BLOCK // max(1, self.num_rows))
        for start in range(0, len(points), size):
            part = slice(start, start + size)
            heights[part] += self.log_likelihoods(points[part])
        return heights

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


@dataclass(frozen=True)
class PairCoordinates(Coordinates):
    """Unconstrained coordinates of a point of a pairwise model."""

    # By name: effects of the contest and coefficients, both in units of their own,
    # first_advantage, the tie parameter; then utilities, or their residuals.

    model: Any = None
    units: tuple[float, ...] = ()  # Units of the contest's covariates.
    # (K, d) and (d,): covariates of the arms in units of their own, and these.
    covariates: Values | None = None
    covariate_units: Values | None = None
    leads: slice = slice(0, 0)  # Coordinates of the coefficients.
    is_free: bool = True  # Whether arms differ in more than their covariates.

    def utilities(self, points: Values) -> Values:
        """Return the utilities (..., K) of points (..., D)."""
        if self.covariates is None:
            return super().utilities(points)
        explained = points[..., self.leads] @ self.covariates.T
        return explained + super().utilities(points) if self.is_free else explained

    def pulled(self, vectors: Values) -> Values:
        """Apply the transpose of the map to utilities, to vectors (..., K)."""
        return super().pulled(vectors) if self.is_free else vectors[..., :0]

    def of_gap(self, arm: int, rival: int) -> Float[np.ndarray, " D"]:
        """Return the derivative of a difference of utilities by the coordinates."""
        way, arms = np.zeros(len(self.scales)), np.zeros(self.num_arms)
        arms[arm] += 1.0
        arms[rival] -= 1.0
        way[self.extras :] = self.pulled(arms)
        if self.covariates is not None:
            way[self.leads] = self.covariates[arm] - self.covariates[rival]
        return way

    def rows(self, votes: Any, points: Values) -> tuple[Values, Values]:
        """Return difference and tie parameter of every row at points (..., D)."""
        xp = namespace(points)
        difference = votes.differences(self.utilities(points))
        for index in range(len(self.units)):
            # A column at a time, as a product of matrices would start threads.
            lead = points[..., index : index + 1] * votes.contest[:, index]
            difference = difference + lead
        if self.model.order_effect:
            order = points[..., self.leads.stop : self.leads.stop + 1]
            difference = difference + votes.ordered(order)
        if self.model.ties:
            tie = points[..., self.extras - 1 : self.extras]
        else:
            tie = xp.zeros(1, dtype=difference.dtype)
        return difference, xp.broadcast_to(tie, difference.shape)

    def of_effects(self, votes: Any, values: Values) -> list[Values]:
        """Return values (row,) times what each effect is multiplied by in a row."""
        columns = list(votes.contest.T) if self.units else []
        if self.covariates is not None:
            columns += list(votes.differences(self.covariates.T))
        effects = [values * column for column in columns]
        return effects + [votes.ordered(values)] * self.model.order_effect

    def named(self, points: Values) -> dict[str, Values]:
        """Return points (draw, D) as named quantities."""
        named = super().named(points)
        if self.units:
            named["contest_lead"] = points[:, : self.leads.start]
            named["contest_effect"] = named["contest_lead"] / np.array(self.units)
        if self.covariates is not None:
            named["covariate_lead"] = points[:, self.leads]
            named["coefficient"] = named["covariate_lead"] / self.covariate_units
            if self.is_free:
                named["residual"] = super().utilities(points)
        if self.model.order_effect:
            named["first_advantage"] = points[:, self.leads.stop]
        if self.model.ties:
            named[self.model.tie_name] = points[:, self.extras - 1]
        return named


@dataclass(frozen=True)
class CoefficientCoordinates(PairCoordinates):
    """Coefficients, of which utilities are made; nothing else is unknown."""

    design: Values = None  # Utilities are design @ coefficient.

    def utilities(self, points: Values) -> Values:
        """Return the utilities (..., K) of points (..., d)."""
        return points @ namespace(points).asarray(self.design.T, dtype=points.dtype)

    def pulled(self, vectors: Values) -> Values:
        """Apply the transpose of the map to utilities, to vectors (..., K)."""
        return vectors @ self.design

    def named(self, points: Values) -> dict[str, Values]:
        """Return points (draw, d) as named quantities."""
        return {"coefficient": points, **super().named(points)}

    def of_gap(self, arm: int, rival: int) -> Float[np.ndarray, " d"]:
        """Return the derivative of a difference of utilities by the coordinates."""
        return self.design[arm] - self.design[rival]

    def reach(self, step: Values) -> Values:
        """Return the largest change of a utility, seen from their mean."""
        design = self.design - self.design.mean(axis=0)
        return namespace(step).max(abs(design @ step))


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

    @cached_property
    def coordinates(self) -> PairCoordinates:  # pyright: ignore[reportIncompatibleMethodOverride]
        """How the coordinates of a point give utilities and effects."""
        model, votes = self.model, self.votes
        num_arms, table, shown, spreads = votes.num_arms, None, None, None
        units = votes.contest_units if model.contest_covariates else ()
        scales = [model.contest_scale * unit for unit in units]
        if model.covariates:
            table = model.known_of_arms(votes)
            design = table - table.mean(axis=0) if model.zero_sum else table
            if model._coefficients_alone:
                scale = np.full(design.shape[1], float(model.covariate_scale))
                return CoefficientCoordinates(num_arms, scale, False, model=model,
                                              design=design)  # fmt: skip
            spreads = covariate_units(table)
            # Residuals add up to 0 then, and not the utilities.
            shown = (table if model.residual else design) / spreads
            scales += (model.covariate_scale * spreads).tolist()
        leads = slice(len(units), len(scales))
        scales += [model.order_scale] * model.order_effect
        scales += [model.tie_scale] * model.ties
        extras, is_free = len(scales), table is None or model.residual
        if is_free:
            scales += [model.prior_scale] * (num_arms - model.zero_sum)
        return PairCoordinates(
            num_arms, np.array(scales, dtype=np.float64), model.zero_sum, extras,
            model=model, units=units, covariates=shown, covariate_units=spreads,
            leads=leads, is_free=is_free,
        )  # fmt: skip

    @property
    def num_rows(self) -> int:
        """Rows of the data."""
        return len(self.votes.counts)

    def log_likelihoods(self, points: Values) -> Values:
        """Return the log likelihood of points (..., D)."""
        xp = namespace(points)
        difference, tie = self.coordinates.rows(self.votes, points)
        if xp is np and self._has("summed_logs") and self.num_rows:
            return self.model.summed_logs(self.votes.counts, difference, tie)
        total = xp.zeros(points.shape[:-1], dtype=points.dtype)
        logs = self.model.outcome_logs(difference, tie)
        for counts, log_probability in zip(self.votes.counts.T, logs, strict=True):
            happened = counts > 0
            # An outcome with no vote may be impossible: 0 times minus infinity is nan.
            always = xp is np and bool(happened.all())
            total = (
                total
                + (
                    log_probability
                    if always
                    else xp.where(happened, log_probability, 0)
                )
                @ counts
            )
        return total

    def _has(self, method: str) -> bool:
        # A subclass with another distribution of a vote has no use for that.
        has = hasattr(self.model, method)
        return has and home_of(self.model, method) is home_of(
            self.model, "outcome_logs"
        )

    @cached_property
    def _of_draws(self) -> Any:
        # The log likelihood as compiled code, where the model has such code.
        plain = not (self.model.order_effect or self.coordinates.units)
        if not plain or not self._has("likelihood_of_draws"):
            return None
        return self.model.likelihood_of_draws(self.votes)

    @np.errstate(all="ignore")
    def log_densities(
        self, points: Float[np.ndarray, "draw D"]
    ) -> Float[np.ndarray, " draw"]:
        """Return the log joint density of the votes and each point."""
        many = len(points) >= _MANY_DRAWS and self.num_rows >= _MANY_ROWS
        if not many or self._of_draws is None:
            return super().log_densities(points)
        (block, of_draws), coordinates = self._of_draws, self.coordinates
        heights = np.empty(len(points))
        for start in range(0, len(points), block):
            part = points[start : start + block]
            tie = np.full(len(part), -np.inf)
            if self.model.ties:
                tie = part[:, coordinates.extras - 1]
            likelihoods = of_draws(coordinates.utilities(part), tie)
            heights[start : start + len(part)] = (
                super().log_densities(part)
                if likelihoods is None
                else coordinates.log_priors(part) + likelihoods
            )
        return heights

    def by_row(self, point: Values) -> RowDerivatives:
        """Return the derivatives of the log likelihood of each row."""
        difference, tie = self.coordinates.rows(self.votes, point)
        return self.derivatives(self.votes.counts, difference, tie)

    def gradient_and_hessian(self, point: Values) -> tuple[Values, Values]:
        """Return gradient and Hessian, the rows looked at once."""
        by = self.by_row(point)
        return self.gradient(point, by), self.hessian(point, by)

    def gradient(self, point: Values, by: RowDerivatives | None = None) -> Values:
        """Return the gradient (D,), perhaps from derivatives that are at hand."""
        by = by or self.by_row(point)
        xp, coordinates = namespace(point), self.coordinates
        effects = coordinates.of_effects(self.votes, by.gap)
        effects += [by.tie] * self.model.ties
        columns = [xp.sum(values, keepdims=True) for values in effects]
        columns.append(coordinates.pulled(self.votes.incidence(by.gap)))
        return xp.concatenate(columns) - point / coordinates.scales**2

    @np.errstate(all="ignore")
    def hessian(self, point: Values, by: RowDerivatives | None = None) -> Values:
        """Return the Hessian (D, D), perhaps from derivatives that are at hand."""
        by = by or self.by_row(point)
        coordinates, pull = self.coordinates, self.coordinates.pulled
        inner = pull(pull(self.votes.laplacian(by.gap_gap)).T)
        prior = coordinates.precision(point)
        if not coordinates.extras:
            return inner - prior
        square, columns = self.borders(by)
        side = pull(columns)
        return namespace(point).block([[square, side], [side.T, inner]]) - prior

    def borders(self, by: RowDerivatives) -> tuple[Values, Values]:
        """Return the Hessian's rows of the other coordinates, E, than utilities."""
        xp, votes = namespace(by.gap), self.votes
        of_effects = self.coordinates.of_effects
        leads = of_effects(votes, by.gap_gap)
        corner = [[xp.sum(x) for x in of_effects(votes, lead)] for lead in leads]
        if self.model.ties:
            both = [xp.sum(values) for values in of_effects(votes, by.gap_tie)]
            corner = [[*row, value] for row, value in zip(corner, both, strict=True)]
            corner.append([*both, xp.sum(by.tie_tie)])
            leads = [*leads, by.gap_tie]
        columns = xp.stack([votes.incidence(lead) for lead in leads])
        return xp.stack([xp.stack(row) for row in corner]), columns

    def fall(self, point: Values, way: Values) -> Callable[[Values], tuple[Any, Any]]:
        """Return how far the log density falls along a way, and how steeply."""
        xp = namespace(point)
        here, there = (
            self.coordinates.rows(self.votes, position)
            for position in (point, point + way)
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
        # The log likelihood of every row, and its derivatives.
        counts = self.votes.counts
        by = self.derivatives(counts, difference, tie)
        if by.height is not None:
            return by.height(), by
        xp, total = namespace(difference), 0.0
        logs = self.model.outcome_logs(difference, tie)
        for number, log_probability in zip(counts.T, logs, strict=True):
            # An outcome with no vote may be impossible: 0 times infinity is nan.
            total = total + xp.where(number > 0, log_probability, 0.0 * number) * number
        return total, by


def automatic_derivatives(model: Any) -> Derivatives:
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

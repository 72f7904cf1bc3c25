"""The prior of utilities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from jaxtyping import Float

from bayesduel.errors import FitError
from bayesduel.models.argument_checks import check_real
from bayesduel.models.array_modules import Values, namespace
from bayesduel.models.base import (
    Draws,
    PreferenceModel,
    derived,
    sample,
)
from theory.arguments import true_or_false

if TYPE_CHECKING:
    from jax import Array

    from bayesduel.models.closed_forms.closed_density import ClosedDensity


@dataclass(frozen=True, kw_only=True)
class UtilityModel(PreferenceModel):
    """Arms have utilities with a common prior.

    Parameters
    ----------
    prior_scale : float
        Standard deviation of the utilities' normal prior; with ``learn_scale`` the
        scale of the half-normal prior of that standard deviation.
    zero_sum : bool
        Utilities add up to 0 (a normal prior conditioned on that). Votes say nothing
        about a common shift, so this only removes what the data cannot reach.
    learn_scale : bool
        Learn the standard deviation of the utilities. They are then sampled in units
        of it ("non-centered"): their joint density with it has no mode otherwise.
    """

    prior_scale: float = 2.0
    zero_sum: bool = False
    learn_scale: bool = False

    def sample_utilities(
        self,
        num_arms: int,
        covariates: Float[Array, "K covariate"] | None = None,
        slope_scale: float = 1.0,
    ) -> Float[Array, " K"]:
        """Sample utilities from their prior.

        utility ~ Normal(0, scale), plus covariates @ coefficient where there are any;
        without a residual these are all there is.
        """
        from numpyro import distributions as dist

        if covariates is not None and not self._has_residual:
            explained = covariates @ self._coefficient(covariates, slope_scale)
            if self.zero_sum:
                explained = explained - explained.mean()
            return derived("utility", explained)
        if self.learn_scale:
            scale = sample("scale", dist.HalfNormal(self.prior_scale))
            unit = sample("standard_utility", self._normal(num_arms, 1.0))
            own = scale * unit
        elif covariates is not None:
            own = sample("residual", self._normal(num_arms, self.prior_scale))
        else:
            return sample("utility", self._normal(num_arms, self.prior_scale))
        if covariates is None:
            return derived("utility", own)
        coefficient = self._coefficient(covariates, slope_scale)
        return derived("utility", covariates @ coefficient + own)

    @property
    def _has_residual(self) -> bool:
        """Whether arms differ in more than their covariates."""
        return True

    @property
    def _coefficients_alone(self) -> bool:
        """Whether nothing but coefficients of covariates is unknown."""
        return False

    def _coefficient(
        self, covariates: Float[Array, "K covariate"], scale: float
    ) -> Float[Array, " covariate"]:
        import jax.numpy as jnp
        from numpyro import distributions as dist

        number = covariates.shape[1]
        if self._coefficients_alone:
            slopes = dist.Normal(0.0, scale).expand([number])
            return sample("coefficient", slopes.to_event(1))
        # Chains are slow where unknown quantities differ in size, and the unit of a
        # covariate may be anything. The prior is that of the coefficient.
        units = jnp.asarray(covariate_units(covariates))
        lead = sample("covariate_lead", dist.Normal(0.0, scale * units).to_event(1))
        return derived("coefficient", lead / units)

    def _normal(self, num_arms: int, scale: float) -> Any:
        from numpyro import distributions as dist

        if self.zero_sum:
            return dist.ZeroSumNormal(scale, event_shape=(num_arms,))
        return dist.Normal(0.0, scale).expand([num_arms]).to_event(1)

    @property
    def usual_method(self) -> str:
        """What "auto" begins with.

        The joint mode of a scale and of utilities in its units says little of where
        the scale is: it grows where there is much room for it. So a scale is learned
        by chains, where :meth:`at_scale` knows no better way.
        """
        chains = self.learn_scale and self.at_scale(None, 1.0) is None
        return "nuts" if chains else self.methods[0]

    def at_scale(self, arrays: Any, scale: float) -> ClosedDensity | None:
        """Return :meth:`closed_form` given a scale that is otherwise learned, or None.

        None where no scale is learned, too.
        """
        if not self.learn_scale:
            return None
        known = replace(self, learn_scale=False, prior_scale=scale)
        return known.closed_form(arrays)  # pyright: ignore[reportReturnType]

    def check(self) -> None:
        """Raise ``FitError`` for a parameter out of range."""
        check_real("prior_scale", self.prior_scale)
        for name in ("zero_sum", "learn_scale"):
            true_or_false(getattr(self, name), name, kind=FitError)

    def utilities(self, draws: Draws) -> Values:
        """Return the utility of each arm for each draw."""
        return namespace(draws["utility"]).asarray(draws["utility"])

    def dims(self) -> dict[str, tuple[str, ...]]:
        """Return names of the axes of each named quantity."""
        return {
            "utility": ("arm",),
            "residual": ("arm",),
            "standard_utility": ("arm",),
            "coefficient": ("covariate",),
            "covariate_lead": ("covariate",),
        }


def covariate_units(covariates: Values) -> Values:
    """Return the standard deviation over arms of each covariate, 1 for a constant."""
    xp = namespace(covariates)
    mean = xp.mean(covariates, axis=0, keepdims=True)
    spread = xp.sqrt(xp.mean(xp.square(covariates - mean), axis=0))
    # Of a constant rounding may leave something.
    size = xp.max(xp.abs(covariates), axis=0)
    return xp.where(spread > 1e-12 * size, spread, 1.0)


def come_from(
    model: UtilityModel, names: tuple[str, ...], homes: tuple[type, ...]
) -> bool:
    """Whether none of the methods is overridden beyond these classes."""
    return all(home_of(model, name) in homes for name in names)


def home_of(model: UtilityModel, name: str) -> type:
    """Return the class that a method of a model comes from."""
    return next(each for each in type(model).__mro__ if name in vars(each))

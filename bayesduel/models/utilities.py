"""The prior of utilities, and what pairwise models of utilities share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from jaxtyping import Float

from bayesduel.errors import FitError
from bayesduel.models.argument_checks import check_real
from bayesduel.models.array_modules import Values, covariate_units, namespace, sigmoid
from bayesduel.models.base import (
    Draws,
    PreferenceModel,
    check_kind,
    count_votes,
    derived,
    pairwise,
    sample,
)
from bayesduel.models.closed_forms import (
    ClosedDensity,
    Derivatives,
    PairwiseDensity,
    RowDerivatives,
    automatic_derivatives,
    come_from,
    home_of,
)
from bayesduel.models.identifiability import (
    joined_by_covariates,
    narrow_covariates,
    narrow_effects,
    unidentified_effects,
    untold_coefficients,
)
from bayesduel.models.vote_arrays import PairTables, Votes, votes_of
from bayesduel.votes.comparisons import Comparisons
from theory.arguments import true_or_false

if TYPE_CHECKING:
    from jax import Array


@dataclass(frozen=True, kw_only=True)
class UtilityModel(PreferenceModel):
    """Arms have utilities with a common prior.

    Parameters
    ----------
    prior_scale : float
        Standard deviation of the normal prior of the utilities. With ``learn_scale``
        this standard deviation is estimated as well, and ``prior_scale`` is the scale
        of its half-normal prior.
    zero_sum : bool
        Utilities add up to 0 (a normal prior conditioned on that). Votes say nothing
        about a common shift of all utilities, so this removes only what the data cannot
        determine.
    learn_scale : bool
        Learn the standard deviation of the utilities. Utilities are then sampled in
        units of this standard deviation ("non-centered"), because otherwise the joint
        density of utilities and standard deviation has no mode.
    """

    prior_scale: float = 2.0
    zero_sum: bool = False
    learn_scale: bool = False

    _coefficients_alone: ClassVar[bool] = False

    def sample_utilities(
        self,
        num_arms: int,
        covariates: Float[Array, "K covariate"] | None = None,
        slope_scale: float = 1.0,
    ) -> Float[Array, " K"]:
        """Sample utilities from their prior."""
        from numpyro import distributions as dist

        if covariates is not None and not getattr(self, "residual", True):
            explained = covariates @ self._coefficient(covariates, slope_scale)
            if self.zero_sum:
                explained = explained - explained.mean()
            return derived("utility", explained)
        if self.learn_scale:
            scale = sample("scale", dist.HalfNormal(self.prior_scale))
            unit = sample("standard_utility", self._normal(num_arms, 1.0))
            residual = scale * unit
        elif covariates is not None:
            residual = sample("residual", self._normal(num_arms, self.prior_scale))
        else:
            return sample("utility", self._normal(num_arms, self.prior_scale))
        if covariates is None:
            return derived("utility", residual)
        coefficient = self._coefficient(covariates, slope_scale)
        return derived("utility", covariates @ coefficient + residual)

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
        """The first method that "auto" tries."""
        chains = self.learn_scale and self.at_scale(None, 1.0) is None
        return "nuts" if chains else self.methods[0]

    def at_scale(self, arrays: Any, scale: float) -> ClosedDensity | None:
        """Return :meth:`closed_form` given a scale that would be learned, or None."""
        if not self.learn_scale:
            return None
        known = replace(self, learn_scale=False, prior_scale=scale)
        return known.closed_form(arrays)  # pyright: ignore[reportReturnType]

    def check(self) -> None:
        """Raise ``FitError`` for a parameter out of range."""
        check_real("prior_scale", self.prior_scale)
        for name in ("zero_sum", "learn_scale"):
            true_or_false(getattr(self, name), name, kind=FitError)

    def preference_matrices(self, draws: Draws) -> Values:
        """Return P(i is chosen out of {i, j}, or ranked above j), which is logistic."""
        return pairwise(sigmoid, self.utilities(draws))

    def dims(self) -> dict[str, tuple[str, ...]]:
        """Return names of the axes of each named quantity."""
        return {
            "utility": ("arm",),
            "residual": ("arm",),
            "standard_utility": ("arm",),
            "coefficient": ("covariate",),
            "covariate_lead": ("covariate",),
        }


@dataclass(frozen=True, kw_only=True)
class PairwiseUtilityModel(UtilityModel):
    """P(first beats second) depends on the difference of their utilities.

    Parameters
    ----------
    prior_scale, zero_sum, learn_scale
        As in :class:`UtilityModel`.
    ties : bool
        Votes may be ties.
    tie_scale : float
        Standard deviation of the normal prior of the tie parameter.
    order_effect : bool
        Whether the arm that is shown first has an advantage, the same for all pairs.
        Rows marked in the column ``neutral`` have no such advantage. The data must say
        which arm was shown first.
    order_scale : float
        Standard deviation of the normal prior of this advantage.
    covariates : bool
        Utilities are covariates @ coefficient: what is known of arms says all. A
        logistic or probit regression, whose prior hardly moves coefficients that many
        votes tell of.
    covariate_scale : float
        Standard deviation of the coefficients' normal prior, per unit of the covariate.
        If this prior shrinks a coefficient too much, a remark of the fit names a factor
        by which to multiply the covariate.
    residual : bool
        Whether utilities are covariates @ coefficients + residual, so that arms may
        differ beyond their covariates. The residual has the standard deviation
        prior_scale, or one that is learned with learn_scale. With few arms the
        coefficients then remain uncertain, however many votes there are, as in a
        regression with one point per arm. Their standard error is about prior_scale,
        divided by the spread of the covariate and by the square root of the number of
        arms.
    contest_covariates : bool
        Whether votes have covariates of their own: differences between the two arms in
        this vote, first minus second, such as in the length of their answers. Each of
        the votes' ``contest_covariates`` adds its effect times the difference to the
        lead of the first arm. The differences are neither centred nor scaled. Utilities
        and preferences are those at the difference 0.
    contest_scale : float
        Standard deviation of the effects' normal prior, per unit of the covariate.
    """

    ties: bool = False
    tie_scale: float = 2.0
    order_effect: bool = False
    order_scale: float = 1.0
    covariates: bool = False
    covariate_scale: float = 1.0
    residual: bool = False
    contest_covariates: bool = False
    contest_scale: float = 1.0

    # Name of the tie parameter, where there is one.
    tie_name: ClassVar[str] = "log_tie"
    auxiliary: ClassVar[tuple[str, ...]] = ("contest_lead", "covariate_lead")

    def __call__(self, votes: Votes) -> Float[Array, "row outcome"]:
        """Run the NumPyro model; return log P(outcome) per row."""
        import jax.numpy as jnp
        from numpyro import distributions as dist

        difference = self.sample_difference(votes)
        tie = jnp.zeros(())
        if self.ties:
            tie = sample(self.tie_name, dist.Normal(0.0, self.tie_scale))
        log_probability = self.logs_of_rows(difference, tie)
        return count_votes(jnp.asarray(votes.counts), log_probability)

    def sample_difference(self, votes: Votes) -> Float[Array, " row"]:
        """Sample what is unknown; return the lead of the first arm in every row."""
        import jax.numpy as jnp
        from numpyro import distributions as dist

        difference = self.sample_gap(votes)
        if self.contest_covariates:
            units = np.array(votes.contest_units)
            prior = dist.Normal(0.0, self.contest_scale * units).to_event(1)
            lead = sample("contest_lead", prior)
            derived("contest_effect", lead / units)
            difference += jnp.asarray(votes.contest) @ lead
        if not self.order_effect:
            return difference
        prior = dist.Normal(0.0, self.order_scale)
        return difference + votes.ordered(sample("first_advantage", prior))

    def sample_gap(self, votes: Votes) -> Float[Array, " row"]:
        """Sample utilities and return that of the first arm minus the second's."""
        import jax.numpy as jnp

        utility = self.sample_utilities(
            votes.num_arms,
            jnp.asarray(votes.covariates) if self.covariates else None,
            self.covariate_scale,
        )
        return utility[votes.first] - utility[votes.second]

    def arrays(self, data: Comparisons) -> Votes:
        """Check data against the model; return them as a pytree of NumPy arrays."""
        hint = "use its to_comparisons()" if hasattr(data, "to_comparisons") else ""
        check_kind(self, data, Comparisons, hint)
        self.check()
        return votes_of(self, data)

    def check(self) -> None:
        """Raise ``FitError`` for a parameter out of range."""
        super().check()
        for name in ("ties", "order_effect", "covariates", "residual",
                     "contest_covariates"):  # fmt: skip
            true_or_false(getattr(self, name), name, kind=FitError)
        if self.residual and not self.covariates:
            rule = "must not be True where covariates=False: it is what covariates "
            rule += "leave open"
            remedy = "say covariates=True, or leave it out"
            raise FitError("residual", rule, True, remedy=remedy)
        if self.learn_scale and self.covariates and not self.residual:
            rule = "must not be True where covariates=True and residual=False: it is "
            rule += "the scale of the residual"
            remedy = "say residual=True, or leave it out"
            raise FitError("learn_scale", rule, True, remedy=remedy)
        for name in ("tie_scale", "order_scale", "covariate_scale", "contest_scale"):
            check_real(name, getattr(self, name))

    @property
    def _coefficients_alone(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        others = self.residual, self.ties, self.order_effect, self.contest_covariates
        return self.covariates and not any(others)

    def parts(self, data: Comparisons) -> list[list[str]]:
        """Return the names of arms whose order votes tell, the largest part first."""
        parts = data.parts()
        if not self.covariates or len(parts) == 1:
            return parts
        return joined_by_covariates(data, parts)

    def remarks(self, data: Comparisons) -> tuple[str, ...]:
        """Return what one should know of the model for these data."""
        remarks = unidentified_effects(
            data,
            order=self.order_effect,
            contest=self.contest_covariates,
            covariates=self.covariates and not self.residual,
            judges="judge" in getattr(self, "reads", ()),
        )
        if self.contest_covariates:
            remarks += narrow_effects(data, self.contest_scale)
        if not self.covariates:
            return remarks
        # With a residual the option sets the scale of that.
        option = "" if self.residual else " (--prior-scale)"
        narrow = narrow_covariates(
            data.covariate_names, data.covariates, self.covariate_scale, option
        )
        return (*remarks, *narrow, *untold_coefficients(data))

    def coords(self, data: Comparisons) -> dict[str, list[str]]:
        """Return labels along the named axes."""
        return {
            "arm": list(data.arm_names),
            "covariate": list(data.covariate_names) if self.covariates else [],
            "contest_covariate": list(data.contest_covariates),
        }

    def dims(self) -> dict[str, tuple[str, ...]]:
        """Return names of the axes of each named quantity."""
        names = "contest_effect", "contest_lead"
        return super().dims() | dict.fromkeys(names, ("contest_covariate",))

    def outcome_logs(
        self, difference: Float[Array, ""], tie: Float[Array, ""]
    ) -> Float[Array, " outcome"]:
        """Return log P(outcome) of a vote: first, second and, with ties, tie.

        The one place that says how votes depend on utilities: the likelihood, its
        curvature and the preference matrices all come from here.

        Parameters
        ----------
        difference : float ()
            Utility of the first arm minus that of the second.
        tie : float ()
            The tie parameter, as it is sampled.

        Notes
        -----
        A distribution that comes with :meth:`vote_derivatives` takes arrays of any one
        shape as well, of NumPy or JAX, and returns (outcome, ...).
        """
        raise NotImplementedError

    def vote_derivatives(
        self,
        counts: Float[Array | np.ndarray, "row outcome"],
        difference: Float[Array | np.ndarray, " row"],
        tie: Float[Array | np.ndarray, " row"],
    ) -> RowDerivatives:
        """Return the derivatives of the log likelihood of each row in closed form."""
        # Used where the class that has it has :meth:`outcome_logs`, too: a subclass
        # with another distribution is differentiated automatically.
        raise NotImplementedError

    def logs_of_rows(
        self, difference: Float[Array, " row"], tie: Float[Array, "*row_or_one"]
    ) -> Float[Array, "row outcome"]:
        """Return :meth:`outcome_logs` of every row; one tie parameter, or one each."""
        import jax
        import jax.numpy as jnp

        ties = jnp.broadcast_to(tie, difference.shape)
        return jax.vmap(self.outcome_logs)(difference, ties)

    def hessian(
        self, arrays: Votes
    ) -> Callable[[Float[Array, " D"]], Float[Array, "D D"]] | None:
        """Return the Hessian of the log joint density in closed form, or None."""
        # A subclass that overrides how quantities are sampled loses it.
        mixed = self.covariates and not self._coefficients_alone
        if mixed or not self._has_normal_prior(arrays):
            return None
        derivatives = self._derivatives() or automatic_derivatives(self)
        return PairwiseDensity(self, arrays, derivatives).hessian

    def closed_form(self, arrays: Votes | PairTables) -> PairwiseDensity | None:
        """Return the log joint density with its derivatives in closed form, or None."""
        # Arrays of None ask whether there is one for data with all that the model
        # reads.
        derivatives = self._derivatives()
        if derivatives is None or not self._has_normal_prior(arrays):
            return None
        return PairwiseDensity(self, arrays, derivatives)

    def known_of_arms(self, arrays: Any) -> Values:
        """Return the covariates (K, d) of the arms of its arrays; None without any."""
        return getattr(arrays, "covariates", None)

    def _has_normal_prior(self, arrays: Any) -> bool:
        if self.learn_scale or not come_from(self, _CLOSED_FORM_OF, _OURS):
            return False
        given = arrays is not None
        contest = self.contest_covariates
        if contest and given and getattr(arrays, "contest", None) is None:
            return False
        if self._coefficients_alone:
            return self.known_of_arms(arrays) is not None
        if self.covariates and given and getattr(arrays, "covariates", None) is None:
            return False
        last = "residual" if self.covariates else "utility"
        return "first_advantage" < self.tie_name < last

    def _derivatives(self) -> Derivatives | None:
        home = home_of(self, "vote_derivatives")
        if home is PairwiseUtilityModel or home is not home_of(self, "outcome_logs"):
            return None
        keeps = come_from(self, ("logs_of_rows",), _OURS)
        return self.vote_derivatives if keeps else None

    @property
    def utility_decides(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether i beats j exactly where its utility is larger."""
        names = ("preference_matrices", "utilities", "logs_of_rows")
        return self._derivatives() is not None and come_from(self, names, _OURS)

    def preference_matrices(self, draws: Draws) -> Values:
        """Return P(i beats j in a vote that is no tie), nobody shown first."""
        utility = self.utilities(draws)
        tie = draws[self.tie_name] if self.ties else np.zeros(len(utility))
        if namespace(utility) is not np:
            return _preference_program()(self, utility, tie)
        import jax

        with jax.enable_x64(True):
            return np.array(_preference_program()(self, utility, tie))


@lru_cache(maxsize=1)
def _preference_program() -> Any:
    # From utilities (draw, K) and tie parameters (draw,); the diagonal is 1/2 exactly.
    import jax
    import jax.numpy as jnp

    def preferences(model: Any, utility: Array, tie: Array) -> Array:
        utility, tie = jnp.asarray(utility), jnp.asarray(tie)
        differences = utility[:, :, None] - utility[:, None, :]
        by_draw = jax.vmap(jax.vmap(model.logs_of_rows, in_axes=(0, None)))
        logs = by_draw(differences, tie)
        decided = jax.nn.sigmoid(logs[..., 0] - logs[..., 1])
        return jnp.where(np.eye(utility.shape[1], dtype=bool), 0.5, decided)

    return jax.jit(preferences, static_argnums=0)


_OURS = PreferenceModel, UtilityModel, PairwiseUtilityModel
_CLOSED_FORM_OF = (
    "__call__",
    "sample_difference",
    "sample_gap",
    "sample_utilities",
    "_normal",
    "_coefficient",
    "_coefficients_alone",
)
"""The methods whose density :meth:`PairwiseUtilityModel.hessian` is the curvature of;
beside them it only uses ``outcome_logs``, whatever that is."""

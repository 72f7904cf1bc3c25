"""The conditional logit: choices among alternatives that are known by attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from jaxtyping import Float

from bayesduel.errors import FitError
from bayesduel.models.argument_checks import check_positive
from bayesduel.models.array_modules import Values, namespace, sigmoid
from bayesduel.models.base import (
    Draws,
    PreferenceModel,
    check_kind,
    count_votes,
    derived,
    pairwise,
    sample,
)
from bayesduel.models.choice_models.attributed_choices import (
    AttributedChoices,
    attributed_choices,
    free_arms,
    untold_attributes,
)
from bayesduel.models.choice_models.conditional_density import ConditionalDensity
from bayesduel.models.multinomial_logit import NONE
from bayesduel.votes.choices import Choices
from theory.arguments import true_or_false

if TYPE_CHECKING:
    from jax import Array


@dataclass(frozen=True, kw_only=True)
class ConditionalLogit(PreferenceModel):
    r"""Conditional logit: utilities are weighted sums of attributes.

    P(i | row) = exp(v_i) / sum of exp(v_j) over all alternatives j on offer in that
    row, with v_j = sum over attributes of coefficient_a x_ja, plus a constant of the
    alternative with ``constants`` (McFadden 1974). The outside option "none of them",
    where there is one, has v = 0.

    An attribute is read in units of its spread s_a, its standard deviation among the
    alternatives of a choice, and standard_coefficient_a = s_a coefficient_a ~ Normal(0,
    prior_scale): the prior does not depend on the unit of a price. ``utility`` is that
    of an alternative with its own mean attributes.

    Parameters
    ----------
    constants : bool
        Whether each alternative has a constant ~ Normal(0, prior_scale); that of the
        first one is 0, where no outside option sets the level. For alternatives with
        a meaning, such as car and train, and not for the first and the second card.
    prior_scale : float
        Standard deviation of the priors. The default is as good as flat, so that the
        mode is the estimate of maximum likelihood; with few choices 1 or 2 is wiser.

    References
    ----------
    D. McFadden, "Conditional logit analysis of qualitative choice behavior", in
    Frontiers in Econometrics (1974).

    Examples
    --------
    >>> from bayesduel.votes import Choices
    >>> from bayesduel.models import ConditionalLogit
    >>> from bayesduel.inference import fit, parameter_summary
    >>> choices = Choices.from_attributes(
    ...     [[3.0, 1.0], [2.0, 2.5], [1.0, 3.0], [2.0, 1.5]],
    ...     ["bus", "car", "car", "bus"],
    ...     arm_names=["bus", "car"],
    ...     attribute_names=["price"],
    ... )
    >>> found = fit(ConditionalLogit(constants=True), choices, num_draws=100)
    >>> [row["parameter"] for row in parameter_summary(found)]
    ['coefficient[price]', 'constant[car]']
    """

    constants: bool = False
    prior_scale: float = 100.0

    title: ClassVar[str] = "conditional logit"
    auxiliary: ClassVar[tuple[str, ...]] = ("standard_coefficient",)

    def __call__(self, choices: AttributedChoices) -> Float[Array, "row outcome"]:
        """Run the NumPyro model; return log P(outcome) per row."""
        import jax.numpy as jnp
        from jax.scipy.special import logsumexp

        design = jnp.asarray(choices.design)
        usual, table = self.sample_utilities(choices, design)
        if self.constants:
            constant = self._sample_constants(choices)
            usual, table = usual + constant, table + constant[None, :]
        derived("utility", usual)
        offered = jnp.asarray(choices.offered)
        if offered.shape[1] > choices.num_arms:
            table = jnp.pad(table, ((0, 0), (0, 1)))
        total = logsumexp(table, axis=1, where=offered, keepdims=True)
        log_probability = jnp.where(offered, table - total, -jnp.inf)
        return count_votes(jnp.asarray(choices.counts), log_probability)

    def sample_utilities(
        self, choices: AttributedChoices, design: Float[Array, "row K d"]
    ) -> tuple[Float[Array, " K"], Float[Array, "row K"]]:
        """Sample coefficients; return utilities by mean attributes, and in each row."""
        import jax.numpy as jnp

        coefficient = self._sample_coefficients(choices)
        return jnp.asarray(choices.usual) @ coefficient, design @ coefficient

    def _sample_coefficients(self, choices: AttributedChoices) -> Float[Array, " d"]:
        """Sample coefficients in units of the attributes; name those in their own."""
        from numpyro import distributions as dist

        prior = dist.Normal(0.0, self.prior_scale).expand([choices.units.shape[0]])
        standard = sample("standard_coefficient", prior.to_event(1))
        derived("coefficient", standard / choices.units)
        return standard

    def _sample_constants(self, choices: AttributedChoices) -> Float[Array, " K"]:
        import jax.numpy as jnp
        from numpyro import distributions as dist

        fixed = int(choices.offered.shape[1] == choices.num_arms)
        prior = dist.Normal(0.0, self.prior_scale).expand([choices.num_arms - fixed])
        return jnp.pad(sample("constant", prior.to_event(1)), (fixed, 0))

    def arrays(self, data: Choices) -> AttributedChoices:
        """Check data against the model; return them as a pytree of NumPy arrays."""
        check_kind(self, data, Choices)
        self.check()
        return attributed_choices(data)

    def closed_form(self, arrays: AttributedChoices) -> ConditionalDensity | None:
        """Return the log joint density with its derivatives in closed form, or None.

        None for a subclass that overrides how quantities are sampled.
        """
        kind = type(self)
        if any(getattr(kind, each) is not getattr(ConditionalLogit, each) for each in
               _CLOSED_FORM_OF):  # fmt: skip
            return None
        return ConditionalDensity(arrays, self.constants, self.prior_scale)

    def check(self) -> None:
        """Raise ``FitError`` for a parameter out of range."""
        true_or_false(self.constants, "constants", kind=FitError)
        check_positive("prior_scale", self.prior_scale)

    @property
    def utility_decides(self) -> bool:
        """Whether i beats j exactly where its utility is larger; always."""
        return True

    def utilities(self, draws: Draws) -> Values:
        """Return the utility of each alternative by its mean attributes, per draw."""
        return namespace(draws["utility"]).asarray(draws["utility"])

    def preference_matrices(self, draws: Draws) -> Float[np.ndarray, "draw K K"]:
        """Return P(i is chosen out of {i, j}), both with their mean attributes."""
        return pairwise(sigmoid, self.utilities(draws))

    def outcomes(self, data: Choices) -> tuple[str, ...]:
        """Return what a choice can be."""
        return (*data.arm_names, NONE) if data.outside else data.arm_names

    def parts(self, data: Choices) -> list[list[str]]:
        """Return the names of arms whose order choices tell, the largest part first.

        Without constants attributes connect all.
        """
        return data.parts() if self.constants else [list(data.arm_names)]

    def remarks(self, data: Choices) -> tuple[str, ...]:
        """Return what one should know of the model for these data."""
        return untold_attributes(data, constants=self.constants)

    def dims(self) -> dict[str, tuple[str, ...]]:
        """Return names of the axes of each named quantity."""
        return {
            "utility": ("arm",),
            "coefficient": ("attribute",),
            "standard_coefficient": ("attribute",),
            "constant": ("alternative",),
        }

    def coords(self, data: Choices) -> dict[str, list[str]]:
        """Return labels along the named axes."""
        return {
            "arm": list(data.arm_names),
            "attribute": list(data.attribute_names),
            "alternative": free_arms(data),
        }


_CLOSED_FORM_OF = (
    "__call__",
    "sample_utilities",
    "_sample_coefficients",
    "_sample_constants",
)
"""The methods whose density :meth:`ConditionalLogit.closed_form` is."""

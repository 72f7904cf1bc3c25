"""The mixed logit: a conditional logit whose coefficients differ among persons."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from jaxtyping import Float

from bayesduel.errors import FitError, near_names
from bayesduel.models.argument_checks import check_real
from bayesduel.models.base import derived, sample
from bayesduel.models.choice_models.attributed_choices import AttributedChoices
from bayesduel.models.choice_models.conditional_logit import ConditionalLogit
from bayesduel.votes.choices import Choices

if TYPE_CHECKING:
    from jax import Array


@dataclass(frozen=True, kw_only=True)
class MixedLogit(ConditionalLogit):
    r"""Mixed logit: a conditional logit whose coefficients differ among persons.

    person_coefficient_na = coefficient_a + spread_a z_na with z_na ~ Normal(0, 1): all
    choices of a person share it, so that they are alike (a panel; Revelt and Train
    1998). ``coefficient`` is the mean over persons. In units of the attributes, as in
    :class:`ConditionalLogit`, coefficient_a ~ Normal(0, prior_scale) and spread_a ~
    HalfNormal(spread_scale). Sampled in units of the spread ("non-centered"). Without
    persons in the data each choice is that of a person of its own.

    ``utility``, and so ranks and probabilities of pairs, are those of a person with the
    mean coefficients, which are not the shares of the population.

    Parameters
    ----------
    random : tuple of str, optional
        The attributes whose coefficients differ; all by default.
    spread_scale : float
        Standard deviation of the half-normal prior of the spreads.
    constants, prior_scale
        As in :class:`ConditionalLogit`.

    References
    ----------
    D. Revelt and K. Train, "Mixed logit with repeated choices: households' choices of
    appliance efficiency level", Review of Economics and Statistics 80 (1998).

    Examples
    --------
    >>> from bayesduel.votes import Choices
    >>> from bayesduel.models import MixedLogit
    >>> choices = Choices.from_attributes(
    ...     [[3.0, 1.0], [2.0, 2.5], [1.0, 3.0], [2.0, 1.5]],
    ...     ["bus", "car", "car", "bus"],
    ...     persons=["ann", "ann", "bob", "bob"],
    ...     arm_names=["bus", "car"],
    ...     attribute_names=["price"],
    ... )
    >>> model = MixedLogit(random=("price",))

    ``fit(model, choices)`` draws, beside ``coefficient`` and ``spread``, what each
    person goes by:

    >>> axes = model.dims()["person_coefficient"]
    >>> {axis: model.coords(choices)[axis] for axis in axes}
    {'person': ['ann', 'bob'], 'random_attribute': ['price']}
    """

    random: tuple[str, ...] | None = None
    spread_scale: float = 3.0

    title: ClassVar[str] = "mixed logit"
    methods: ClassVar[tuple[str, ...]] = ("nuts",)
    """The joint mode of spreads and of what they scale says little of either."""

    auxiliary: ClassVar[tuple[str, ...]] = (
        "standard_coefficient",
        "standard_spread",
        "standard_person",
        "person_coefficient",
    )

    def sample_utilities(
        self, choices: AttributedChoices, design: Float[Array, "row K d"]
    ) -> tuple[Float[Array, " K"], Float[Array, "row K"]]:
        """Sample coefficients; return utilities by mean attributes, and in each row."""
        import jax.numpy as jnp
        from numpyro import distributions as dist

        mean = self._sample_coefficients(choices)
        varying = jnp.asarray(choices.varying)
        number = varying.shape[0]
        prior = dist.HalfNormal(self.spread_scale).expand([number]).to_event(1)
        spread = sample("standard_spread", prior)
        units = jnp.asarray(choices.units)[varying]
        derived("spread", spread / units)
        shape = [dict(choices.sizes)["person"], number]
        normal = dist.Normal(0.0, 1.0).expand(shape).to_event(2)
        own = spread[None, :] * sample("standard_person", normal)
        derived("person_coefficient", (mean[varying][None, :] + own) / units[None, :])
        of_rows = own[jnp.asarray(choices.person)]
        apart = jnp.einsum("rkd,rd->rk", design[:, :, varying], of_rows)
        return jnp.asarray(choices.usual) @ mean, design @ mean + apart

    def arrays(self, data: Choices) -> AttributedChoices:
        """Check data against the model; return them as a pytree of NumPy arrays."""
        found = super().arrays(data)
        names = list(data.attribute_names)
        for place, name in enumerate(self._random(data)):
            if name not in names:
                rule, near = "must be an attribute", near_names(str(name), names)
                raise FitError("random", rule, name, index=place, remedy=near)
        varying = [names.index(name) for name in self._random(data)]
        return replace(found, varying=np.array(varying, dtype=np.int32))

    def check(self) -> None:
        """Raise ``FitError`` for a parameter out of range."""
        super().check()
        check_real("spread_scale", self.spread_scale)
        names = self.random
        if names is not None and (not isinstance(names, tuple) or not names):
            raise FitError("random", "must be a tuple of attributes, or None", names)

    def _random(self, data: Choices) -> tuple[str, ...]:
        """Return the attributes whose coefficients differ among persons."""
        return data.attribute_names if self.random is None else self.random

    def dims(self) -> dict[str, tuple[str, ...]]:
        """Return names of the axes of each named quantity."""
        by_person = ("person", "random_attribute")
        return super().dims() | {
            "spread": ("random_attribute",),
            "standard_spread": ("random_attribute",),
            "standard_person": by_person,
            "person_coefficient": by_person,
        }

    def coords(self, data: Choices) -> dict[str, list[str]]:
        """Return labels along the named axes."""
        found = super().coords(data) | {"random_attribute": list(self._random(data))}
        people = {} if data.persons is None else {"person": list(data.person_names)}
        return found | people

"""Choices among alternatives that are known by attributes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import log, pi
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float, Int

from bayesduel.errors import FitError, near_names
from bayesduel.models.argument_checks import check_real
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
from bayesduel.models.closed_forms import ClosedDensity
from bayesduel.models.identifiability import said_of_directions
from bayesduel.votes.choices import Choices
from theory.arguments import true_or_false

if TYPE_CHECKING:
    from jax import Array


_ROUNDING = 1e-9  # A squared spread that counts as 0, in units of the largest one.


@dataclass(frozen=True)
class AttributedChoices:
    """Choices as arrays; the last column is the outside option, where there is one."""

    offered: Bool[Array | np.ndarray, "row outcome"]  # The alternatives on offer.
    counts: Float[Array | np.ndarray, "row outcome"]  # The choices.
    # Attributes, in ``units``; 0 where an alternative was not on offer.
    design: Float[Array | np.ndarray, "row K d"]
    # Standard deviations of the attributes among the alternatives of a choice.
    units: Float[Array | np.ndarray, " d"]
    # The mean attributes of each alternative where it was on offer, in ``units``.
    usual: Float[Array | np.ndarray, "K d"]
    person: Int[Array | np.ndarray, " row"]  # The person who chose.
    num_arms: int  # K.
    sizes: tuple[tuple[str, int], ...]  # The number of persons.
    # Attributes whose coefficients differ among persons.
    varying: Int[Array | np.ndarray, " r"]


def _within_choices(
    data: Choices, table: Float[np.ndarray, "row K d"]
) -> Float[np.ndarray, "row outcome d"]:
    """Return what alternatives differ in from the mean of what was on offer."""
    offered = data.offered
    if data.outside:
        ones = np.ones((len(offered), 1), dtype=bool)
        offered = np.concatenate([offered, ones], axis=1)
        table = np.concatenate([table, np.zeros_like(table[:, :1])], axis=1)
    here = offered[:, :, None]
    mean = table.sum(axis=1, keepdims=True, where=here) / here.sum(
        axis=1, keepdims=True
    )
    return np.where(here, table - mean, 0.0)


def _free_arms(data: Choices) -> list[str]:
    return list(data.arm_names[0 if data.outside else 1 :])


@dataclass(frozen=True)
class _ConditionalDensity(ClosedDensity):
    """The log joint density of choices among alternatives with attributes.

    With utilities v_rk = z_rk . theta, counts c_rk, n_r their sum and probabilities
    p_rk, the log likelihood is theta . sum c_rk z_rk - sum n_r log sum_k exp(v_rk), its
    gradient sum c_rk z_rk - sum n_r p_rk z_rk, and its Hessian minus the sum of n_r
    times the covariance of z under p_r (McFadden 1974). Natural logarithms. Coordinates
    are constants, then coefficients, all normal and independent in the prior.
    """

    choices: AttributedChoices  # The data.
    num_constants: int
    scale: float  # Standard deviation of the prior of every coordinate.

    @property
    def coordinates(self) -> _ConditionalDensity:
        return self

    @property
    def size(self) -> int:
        return self.num_constants + len(self.choices.units)

    @property
    def num_rows(self) -> int:
        return self.choices.offered.size

    def named(self, points: Values) -> dict[str, Values]:
        choices, number = self.choices, self.num_constants
        standard = points[..., number:]
        utility = standard @ choices.usual.T
        named = {
            "standard_coefficient": standard,
            "coefficient": standard / choices.units,
        }
        if number:
            xp, constant = namespace(points), points[..., :number]
            zeros = xp.zeros_like(utility[..., number:])
            utility = utility + xp.concatenate([zeros, constant], axis=-1)
            named["constant"] = constant
        return named | {"utility": utility}

    def log_priors(self, points: Values) -> Values:
        xp = namespace(points)
        height = self.size * (log(self.scale) + 0.5 * log(2.0 * pi))
        return -0.5 * xp.sum(xp.square(points / self.scale), axis=-1) - height

    @cached_property
    def _design(self) -> Float[np.ndarray, "outcome row D"]:
        # Utilities are linear in these columns. With outcomes first, sums over them add
        # long vectors.
        choices, number = self.choices, self.num_constants
        design = np.asarray(choices.design)
        constants = np.eye(choices.num_arms)[:, choices.num_arms - number :]
        constants = np.broadcast_to(constants, (*design.shape[:2], number))
        design = np.concatenate([constants, design], axis=2)
        outside = choices.offered.shape[1] - choices.num_arms
        design = np.pad(design, ((0, 0), (0, outside), (0, 0)))
        return np.ascontiguousarray(design.transpose(1, 0, 2))

    @cached_property
    def _flat_design(self) -> Float[np.ndarray, "D cell"]:
        # The same as a matrix; its rows are whole, which is many times as fast.
        design = self._design
        return np.ascontiguousarray(design.reshape(-1, design.shape[2]).T)

    @cached_property
    def _given(self) -> tuple[Any, Any, Any]:
        # -inf where nothing is on offer, votes by row, and sum c_rk z_rk.
        offered, counts = (
            np.asarray(table).T for table in (self.choices.offered, self.choices.counts)
        )
        chosen = np.einsum("kr,krd->d", counts, self._design)
        return np.where(offered, 0.0, -np.inf), counts.sum(axis=0), chosen

    def log_likelihoods(self, points: Values) -> Values:
        _, times, chosen = self._given
        _, height, total = self._exponentials(points)
        xp = namespace(points)
        return points @ chosen - (height + xp.log(total)) @ times

    def gradient(self, point: Values) -> Values:
        _, times, chosen = self._given
        xp, probability = namespace(point), self._probabilities(point)
        expected = xp.einsum("kr,krd->d", times[None, :] * probability, self._design)
        return chosen - expected - point / self.scale**2

    def hessian(self, point: Values) -> Values:
        _, times, _ = self._given
        xp, design = namespace(point), self._design
        probability = self._probabilities(point)
        mean = xp.einsum("kr,krd->rd", probability, design)
        apart = (design - mean[None]).reshape(-1, self.size)
        weight = (times[None, :] * probability).reshape(-1, 1)
        prior = xp.eye(self.size, dtype=point.dtype) / self.scale**2
        return -(apart * weight).T @ apart - prior

    def _probabilities(self, point: Values) -> Values:
        exponentials, _, total = self._exponentials(point)
        return exponentials / total[None, :]

    def _exponentials(self, points: Values) -> tuple[Values, Values, Values]:
        # exp(v - m) by outcome and row, the largest v, m, and their sums.
        xp = namespace(points)
        unavailable, _, _ = self._given
        table = (points @ self._flat_design).reshape(
            *points.shape[:-1], *unavailable.shape
        )
        table = table + xp.broadcast_to(unavailable, table.shape)
        height = xp.max(table, axis=-2)
        exponentials = xp.exp(table - height[..., None, :])
        return exponentials, height, xp.sum(exponentials, axis=-2)


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
    >>> posterior = fit(ConditionalLogit(constants=True), choices, num_draws=100)
    >>> [row["parameter"] for row in parameter_summary(posterior)]
    ['coefficient[price]', 'constant[car]']
    """

    constants: bool = False
    prior_scale: float = 100.0

    title: ClassVar[str] = "conditional logit"
    needs: ClassVar[str] = "attributes"
    utility_decides: ClassVar[bool] = True
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
        if data.attributes is None or not data.attribute_names:
            rule = "must carry attributes of the alternatives"
            remedy = (
                "use Choices.from_attributes, read_wide_choices or "
                "read_long_choices(attributes=...); without attributes the model of "
                "choices is MultinomialLogit()"
            )
            raise FitError("data", rule, repr(data), remedy=remedy)
        rows = len(data.offered)
        offered = np.concatenate([data.offered, np.ones((rows, 1), dtype=bool)], axis=1)
        width = data.num_arms + data.outside
        apart = _within_choices(data, data.attributes)
        spread = np.sqrt(np.mean(np.square(apart[offered[:, :width]]), axis=0))
        # A column that is constant within every choice is not identified.
        size = np.abs(data.attributes).max(axis=(0, 1), initial=0.0)
        units = np.where(spread > 1e-12 * size, spread, np.where(size > 0.0, size, 1.0))
        design = data.attributes / units
        times = data.offered.sum(axis=0)[:, None]
        people = np.arange(rows) if data.persons is None else data.persons
        number = rows if data.persons is None else len(data.person_names)
        return AttributedChoices(
            offered=offered[:, :width],
            counts=data.counts[:, :width],
            design=design,
            units=units,
            usual=design.sum(axis=0) / np.maximum(times, 1),
            person=people.astype(np.int32),
            num_arms=data.num_arms,
            sizes=(("person", number),),
            varying=np.zeros(0, dtype=np.int32),
        )

    def closed_form(self, arrays: AttributedChoices) -> _ConditionalDensity | None:
        """Return the log joint density with its derivatives in closed form, or None.

        None for a subclass that overrides how quantities are sampled.
        """
        kind = type(self)
        if any(getattr(kind, name) is not getattr(ConditionalLogit, name) for name in
               _CLOSED_FORM_OF):  # fmt: skip
            return None
        fixed = arrays.offered.shape[1] == arrays.num_arms
        number = arrays.num_arms - fixed if self.constants else 0
        return _ConditionalDensity(arrays, number, self.prior_scale)

    def check(self) -> None:
        """Raise ``FitError`` for a parameter out of range."""
        true_or_false(self.constants, "constants", kind=FitError)
        check_real("prior_scale", self.prior_scale)

    def preference_matrices(self, draws: Draws) -> Float[np.ndarray, "draw K K"]:
        """Return P(i is chosen out of {i, j}), both with their mean attributes."""
        return pairwise(sigmoid, self.utilities(draws))

    def parts(self, data: Choices) -> list[list[str]]:
        """Return the names of arms whose order choices tell, the largest part first.

        Without constants attributes connect all.
        """
        return data.parts() if self.constants else [list(data.arm_names)]

    def remarks(self, data: Choices) -> tuple[str, ...]:
        """Return what one should know of the model for these data.

        Which coefficients no choice tells of: what does not differ, or is collinear.
        """
        table, names = data.attributes, list(data.attribute_names)
        assert table is not None
        chosen = data.counts.sum(axis=1) > 0
        if self.constants:
            free = np.eye(data.num_arms)[:, 0 if data.outside else 1 :]
            constants = np.broadcast_to(free, (len(table), *free.shape))
            table = np.concatenate([table, constants], axis=2)
            names += [f"the constant of {arm}" for arm in _free_arms(data)]
        apart = _within_choices(data, table)[chosen].reshape(-1, len(names))
        size = np.maximum(np.sqrt(np.mean(np.square(apart), axis=0)), 1e-300)
        same = size < 1e-12 * np.maximum(np.abs(table).max(axis=(0, 1)), 1e-300)
        apart = np.where(same, 0.0, apart / size)
        values, directions = np.linalg.eigh(apart.T @ apart)
        unknown = directions[:, values <= _ROUNDING * max(values.max(initial=0.0), 1.0)]
        why = "alternatives of one choice do not differ"
        return said_of_directions("choices", names, unknown, why)

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
            "alternative": _free_arms(data),
        }


_CLOSED_FORM_OF = (
    "__call__",
    "sample_utilities",
    "_sample_coefficients",
    "_sample_constants",
)
"""The methods whose density :meth:`ConditionalLogit.closed_form` is."""


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
    needs: ClassVar[str] = "attributes"
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
        deviation = spread[None, :] * sample("standard_person", normal)
        derived(
            "person_coefficient", (mean[varying][None, :] + deviation) / units[None, :]
        )
        of_rows = deviation[jnp.asarray(choices.person)]
        apart = jnp.einsum("rkd,rd->rk", design[:, :, varying], of_rows)
        return jnp.asarray(choices.usual) @ mean, design @ mean + apart

    def arrays(self, data: Choices) -> AttributedChoices:
        """Check data against the model; return them as a pytree of NumPy arrays."""
        arrays = super().arrays(data)
        names = list(data.attribute_names)
        for index, name in enumerate(self._random(data)):
            if name not in names:
                rule, near = "must be an attribute", near_names(str(name), names)
                raise FitError("random", rule, name, index=index, remedy=near)
        varying = [names.index(name) for name in self._random(data)]
        return replace(arrays, varying=np.array(varying, dtype=np.int32))

    def check(self) -> None:
        """Raise ``FitError`` for a parameter out of range."""
        super().check()
        check_real("spread_scale", self.spread_scale)
        names = self.random
        if names is not None and (not isinstance(names, tuple) or not names):
            raise FitError("random", "must be a tuple of attributes, or None", names)

    def _random(self, data: Choices) -> tuple[str, ...]:
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
        coords = super().coords(data) | {"random_attribute": list(self._random(data))}
        people = {} if data.persons is None else {"person": list(data.person_names)}
        return coords | people

"""The normal distribution at the mode of a model of choices, followed choice by choice.

NumPyro is imported where a model without a closed form is played: the registry imports
this.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Bool, Float

from bayesduel.errors import PolicyParameterError
from bayesduel.models.base import PreferenceModel
from bayesduel.models.closed_forms import ClosedDensity
from bayesduel.models.fit.laplace_draws import density_of
from bayesduel.models.in_policies.modes import NormalApproximation, draw_on_rays
from bayesduel.models.in_policies.pair_models import (
    AutomaticDensity,
    check_counts,
    check_held,
    hyphenated,
)
from bayesduel.models.multinomial_logit import MultinomialLogit
from bayesduel.models.newton import newton_mode
from bayesduel.models.vote_arrays import with_counts
from bayesduel.types import RunKey
from bayesduel.votes.choices import Choices

# Newton steps of one fit at most; from the last mode it takes two or three.
_STEPS = 50


class SetBeliefs(NamedTuple):
    """Choices of every set, and the normal distribution close to their posterior."""

    # How often each arm was chosen in each set; in a last column nobody.
    counts: Float[Array, "S outcome"]
    mode: Float[Array, " D"]
    # L, lower triangular; L L^T is minus the Hessian of the log density.
    factor: Float[Array, "D D"]


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class SetLaplace:
    """The posterior of a model of choices by Laplace's method.

    As :func:`bayesduel.inference.fit` with ``method="laplace"`` after every choice,
    from the last mode; draws lie on rays from it, as :class:`Laplace` has them. Choices
    are kept per set. Arms are relabeled at random in each
    run, so that the prior must not tell them apart.

    Parameters
    ----------
    model : PreferenceModel
        Of :class:`bayesduel.votes.Choices`, with utilities. It is a part of the
        program: another prior is another program.

    Examples
    --------
    >>> import jax
    >>> import jax.numpy as jnp
    >>> posterior = SetLaplace(MultinomialLogit(prior_scale=1.0))
    >>> pairs = posterior.over(num_arms=3, subset_size=2, no_choice=False)
    >>> with jax.enable_x64(True):
    ...     offered, chosen = jnp.array([True, False, True]), jnp.array([4.0, 0.0, 0.0])
    ...     state = pairs.update(pairs.init(), offered, chosen)
    ...     print(pairs.utilities(state).round(2))
    [ 0.74  0.   -0.74]
    """

    model: PreferenceModel = field(
        default=MultinomialLogit(), metadata={"static": True}
    )

    @property
    def name(self) -> str:
        """That of the model, in words joined by hyphens."""
        return hyphenated(self.model)

    def over(self, num_arms: int, subset_size: int, *, no_choice: bool) -> "SetModel":
        """Return the posterior for sets of one size; ``no_choice``: nobody may win."""
        return SetModel(self.model, num_arms, subset_size, no_choice)

    def check(self, num_arms: int | None = None, *, no_choice: bool = True) -> None:
        """Raise ``PolicyParameterError`` where the model cannot be held by a policy."""
        number = num_arms or 3
        # A single set, of all arms: of pairs there may be too many.
        widest = SetModel(self.model, number, number, no_choice)
        check_held(self.model, lambda: _template(widest))
        has_utilities = type(self.model).utilities is not PreferenceModel.utilities
        if not has_utilities and "utility" not in self.model.dims():
            raise PolicyParameterError(
                "model", "must have utilities, by which sets are chosen", self.model
            )


@dataclass(frozen=True)
class SetModel:
    """A model over sets of one size, as compiled code needs it."""

    model: PreferenceModel
    num_arms: int
    subset_size: int
    no_choice: bool

    def init(self) -> SetBeliefs:
        """Return the state before any choice: the prior."""
        mode, factor = _prior(self)
        sets, width = comb(self.num_arms, self.subset_size), self.num_arms
        return SetBeliefs(
            counts=jnp.zeros((sets, width + self.no_choice), dtype=jnp.float64),
            mode=jnp.asarray(mode),
            factor=jnp.asarray(factor),
        )

    def update(
        self,
        state: SetBeliefs,
        subset: Bool[Array, " n"],
        outcome: Float[Array, " outcome"],
    ) -> SetBeliefs:
        """Count what was chosen out of a set, and follow the mode."""
        sets = all_sets(self.num_arms, self.subset_size)
        here = jnp.all(sets == subset[None, :], axis=1)
        counts = state.counts + jnp.where(here[:, None], outcome[None, :], 0.0)
        density, arrays = self._density(counts)
        is_closed = isinstance(density, ClosedDensity)
        hessian = density.hessian if is_closed else self.model.hessian(arrays)
        distribution = newton_mode(
            density.log_density,
            state.mode,
            gradient=density.gradient if is_closed else None,
            hessian=hessian,
            max_iterations=_STEPS,
        )
        return SetBeliefs(
            counts=counts,
            mode=jnp.asarray(distribution.mode),
            factor=jnp.asarray(distribution.factor),
        )

    def sample_utilities(
        self, rng_key: RunKey, state: SetBeliefs, num_draws: int
    ) -> Float[Array, "draw n"]:
        """Draw utilities along rays from the mode; consumes ``rng_key``."""
        distribution = NormalApproximation(mode=state.mode, factor=state.factor)
        density = AutomaticDensity(self._density(state.counts)[0].log_density)
        points = draw_on_rays(rng_key, density, distribution, num_draws)
        return self._utilities_at(points)

    def utilities(self, state: SetBeliefs) -> Float[Array, " n"]:
        """Return the utilities at the mode."""
        return self._utilities_at(state.mode[None, :])[0]

    def _density(self, counts: Any = None) -> tuple[Any, Any]:
        # The log density of so many choices, and their arrays. Only some closed forms
        # are ones for programs, too.
        arrays = _template(self)
        arrays = arrays if counts is None else with_counts(arrays, counts)
        closed = self.model.closed_form(arrays)
        if isinstance(closed, ClosedDensity):
            return closed, arrays
        from bayesduel.models.fit.numpyro_models import latent_of

        return latent_of(self.model, arrays), arrays

    def _utilities_at(self, points: Float[Array, "draw D"]) -> Float[Array, "draw n"]:
        density, _ = self._density()
        is_closed = isinstance(density, ClosedDensity)
        named = (density.named if is_closed else jax.vmap(density.named))(points)
        return jnp.asarray(self.model.utilities(named))  # pyright: ignore


@lru_cache(maxsize=16)
def _template(sets: SetModel) -> Any:
    offered = all_sets(sets.num_arms, sets.subset_size)
    number = np.arange(1.0, len(offered) + 1.0)[:, None]
    counts = np.concatenate([offered * number, sets.no_choice * number], axis=1)
    names = tuple(str(arm) for arm in range(sets.num_arms))
    choices = Choices(names, offered, counts, outside=sets.no_choice)
    arrays = sets.model.arrays(choices)
    check_counts(sets.model, arrays, counts)
    return arrays


@lru_cache(maxsize=16)
def _prior(sets: SetModel) -> tuple[np.ndarray, np.ndarray]:
    arrays = _template(sets)
    empty = with_counts(arrays, np.zeros_like(arrays.counts))
    # While a program is traced, this thread would compile every operation by itself.
    with ThreadPoolExecutor(1) as executor:
        distribution = executor.submit(density_of(sets.model, empty).laplace).result()
    return np.asarray(distribution.mode), np.asarray(distribution.factor)


def all_sets(num_arms: int, size: int) -> Bool[np.ndarray, "S n"]:
    """List all sets as masks."""
    rows = np.array(list(combinations(range(num_arms), size)))
    table = np.zeros((len(rows), num_arms), dtype=bool)
    np.put_along_axis(table, rows, True, axis=1)
    return table

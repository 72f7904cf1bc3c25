"""The unknown quantities of a NumPyro model as one flat, unconstrained vector."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree
from jaxtyping import Float
from numpyro import handlers
from numpyro.distributions.transforms import biject_to
from numpyro.infer.util import constrain_fn, potential_energy

from bayesduel.models.base import PreferenceModel, register_arrays
from bayesduel.models.choice_models.attributed_choices import AttributedChoices
from bayesduel.models.multinomial_logit import OfferedChoices
from bayesduel.models.vote_arrays import Votes

# Here and not where they are defined: that needs no JAX.
register_arrays(Votes)
register_arrays(OfferedChoices)
register_arrays(AttributedChoices)


class Latent(NamedTuple):
    """How a model's unknown quantities are laid out, and their log density.

    All members can be used inside ``jit`` and ``vmap``.
    """

    size: int
    """D, the number of unconstrained coordinates."""

    log_density: Callable[[Array], Array]
    """Log joint density of a point (D,) and the votes, in unconstrained coordinates."""

    named: Callable[[Array], dict[str, Array]]
    """Named quantities, derived ones included, of a point (D,)."""


def latent_of(model: PreferenceModel, arrays: Any) -> Latent:
    """Lay out the unknown quantities of ``model`` given ``arrays``.

    Coordinates are ordered by name. Without prior draws: the layout needs shapes only.
    """
    supports: dict[str, Any] = {}

    def prototype() -> dict[str, Array]:
        seeded = handlers.seed(model, rng_seed=jax.random.key(0))
        trace = handlers.trace(seeded).get_trace(arrays)
        values = {}
        for name, site in trace.items():
            if site["type"] == "sample" and not site["is_observed"]:
                supports[name] = site["fn"].support
                values[name] = biject_to(site["fn"].support).inv(site["value"])
        return values

    shapes = jax.eval_shape(prototype)
    zeros = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
    flat, unravel = ravel_pytree(zeros)

    def log_density(point: Float[Array, " D"]) -> Float[Array, ""]:
        return -jnp.asarray(potential_energy(model, (arrays,), {}, unravel(point)))

    def named(point: Float[Array, " D"]) -> dict[str, Array]:
        values = constrain_fn(
            model, (arrays,), {}, unravel(point), return_deterministic=True
        )
        return {name: each for name, each in values.items() if name != "votes"}

    return Latent(size=flat.shape[0], log_density=log_density, named=named)


def log_probabilities(
    model: PreferenceModel,
    arrays: Any,
    values: dict[str, Float[Array, "..."]],
) -> Float[Array, "row outcome"]:
    """Return log P(outcome) of every row, given the named quantities."""
    substituted = handlers.substitute(model, data=values)
    # The seed serves quantities that `values` leaves out; there are none.
    with handlers.block():
        seeded = handlers.seed(substituted, rng_seed=jax.random.key(0))
        return jnp.asarray(seeded(arrays))

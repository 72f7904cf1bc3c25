"""Rejection sampling in a batch of runs, where all wait for the slowest."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array, lax
from jaxtyping import Bool, Float, Shaped

from bayesduel.ops.masks import first_marked, materialize
from bayesduel.types import RunKey

Attempt = Callable[..., tuple[Array, Array]]
"""``attempt(uniforms, *parameters) -> (proposals, accepted)``, entry by entry."""


def draw_until_accepted(
    rng_key: RunKey,
    attempt: Attempt,
    uniforms_per_attempt: int,
    needed: Bool[Array, " n"],
    *parameters: Shaped[Array, " n"],
) -> Float[Array, " n"]:
    """Draw one accepted proposal per entry where ``needed``, 0 elsewhere.

    Nearly all are settled by one attempt at all of them; what is left is tried again
    one entry at a time, which costs a lane little while it waits for the slowest one.
    Nothing is drawn when no entry is needed.

    Parameters
    ----------
    rng_key : key
        Consumed.
    attempt : callable
        Takes uniforms on [0, 1), float64 (``uniforms_per_attempt``, m), and the
        parameters of m entries; returns m proposals and which of them are accepted.
    needed : bool (n,)
        Entries to draw.
    *parameters : (n,)
        Handed to ``attempt``.
    """

    def uniforms(index: Array, size: int) -> Array:
        key = jax.random.fold_in(rng_key, index)
        flat = jax.random.uniform(key, (uniforms_per_attempt * size,), jnp.float64)
        (flat,) = materialize(flat)
        return flat.reshape(uniforms_per_attempt, size)

    def all_of_them(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        index, values, missing = carry
        proposal, accepted = attempt(uniforms(index, needed.shape[0]), *parameters)
        kept = accepted & missing
        return index + 1, jnp.where(kept, proposal, values), missing & ~kept

    def first_of_them(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        index, values, missing = carry
        chosen = first_marked(missing)
        own = (
            jnp.sum(jnp.where(chosen, each, 0), keepdims=True, dtype=each.dtype)
            for each in parameters
        )
        proposal, accepted = materialize(*attempt(uniforms(index, 1), *own))
        kept = chosen & accepted
        return index + 1, jnp.where(kept, proposal, values), missing & ~kept

    values = jnp.zeros(needed.shape, dtype=jnp.float64)
    carry = (jnp.int32(0), values, needed)
    carry = lax.while_loop(lambda c: (c[0] == 0) & jnp.any(c[2]), all_of_them, carry)
    return lax.while_loop(lambda c: jnp.any(c[2]), first_of_them, carry)[1]

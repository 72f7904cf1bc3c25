"""Small exact samplers on short vectors, cheap under ``vmap``.

Nearly all take ready-made uniforms (one draw per event is far cheaper than a key per
draw), and all compare, count and sum instead of sorting or scattering.
"""

import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jaxtyping import Bool, Float, Int

from bayesduel.ops.masks import MANY_ARMS

# Uniforms lie on multiples of 2^-53 below 1; shrinking a target by this keeps it
# strictly below the total it is compared with, whatever the rounding.
_BELOW_ONE = 1.0 - 2.0**-52


def cumulative(values: Float[Array, " n"]) -> Float[Array, " n"]:
    """Inclusive running sum; a masked sum beats a scan for a few arms."""
    size = values.shape[-1]
    if size > MANY_ARMS:
        # Summed block by block, so rounding may move it where nothing is added.
        running = jnp.cumsum(values)
        return lax.cummax(jnp.where(values > 0.0, running, 0.0))
    upto = np.tri(size, dtype=bool)
    return jnp.sum(jnp.where(upto, values[None, :], 0.0), axis=1)


def pick(target: Float[Array, ""], running: Float[Array, " n"]) -> Int[Array, ""]:
    """Smallest index whose running sum exceeds ``target``.

    ``target`` is first pulled below the total, so the index found always carries
    weight, also where rounding would leave none.
    """
    target = jnp.minimum(target, running[-1] * _BELOW_ONE)
    return jnp.sum(running <= target, dtype=jnp.int32)


def choose_weighted(
    uniform: Float[Array, ""], weights: Float[Array, " n"]
) -> Int[Array, ""]:
    """Draw an index with probability proportional to ``weights``.

    The last index if no weight is positive.
    """
    running = cumulative(weights)
    return jnp.minimum(pick(uniform * running[-1], running), weights.shape[-1] - 1)


def choose_among(
    uniform: Float[Array, ""], candidates: Bool[Array, " n"]
) -> Int[Array, ""]:
    """Draw a uniform member of a non-empty set."""
    return choose_weighted(uniform, candidates.astype(uniform.dtype))

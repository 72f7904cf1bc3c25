"""Masks that select where a scatter would be slow."""

import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool

from bayesduel.types import Arm


def ordered_pair_mask(num_arms: int, row: Arm, column: Arm) -> Bool[Array, "K K"]:
    """True at [row, column] only (a select is cheaper than a scatter in a batch)."""
    arms = jnp.arange(num_arms, dtype=jnp.int32)
    return (arms == row)[:, None] & (arms == column)[None, :]

"""Counting duels of unordered pairs."""

import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Int, Num

from bayesduel.ops.masks import ordered_pair_mask
from bayesduel.types import Arm, Duel, Outcome


def pair_mask(num_arms: int, duel: Duel) -> Bool[Array, "K K"]:
    """Mark both orientations of the pair that was compared."""
    forward = ordered_pair_mask(num_arms, duel.first, duel.second)
    return forward | ordered_pair_mask(num_arms, duel.second, duel.first)


def add_wins(
    wins: Int[Array, "K K"], duel: Duel, outcome: Outcome
) -> Int[Array, "K K"]:
    """Add an outcome to ``wins[i, j]``, duels of {i, j} that i won.

    A self-duel counts nothing.
    """
    num_arms = wins.shape[0]
    other = duel.first != duel.second
    won = jnp.where(other, outcome.wins, 0).astype(wins.dtype)
    lost = jnp.where(other, outcome.rounds - outcome.wins, 0).astype(wins.dtype)
    forward = ordered_pair_mask(num_arms, duel.first, duel.second)
    backward = ordered_pair_mask(num_arms, duel.second, duel.first)
    return wins + jnp.where(forward, won, 0) + jnp.where(backward, lost, 0)


def lowest(values: Num[Array, "..."]) -> Arm:
    """Return the position of the smallest entry, the lowest of equal ones.

    Entries within a relative 1e-9 count as equal: they are sums that different orders
    of addition change in their last digits.
    """
    least = jnp.min(values)
    return jnp.argmax(values <= least + 1e-9 * jnp.abs(least)).astype(jnp.int32)

"""Counting duels of unordered pairs."""

import jax.numpy as jnp
from jax import Array
from jaxtyping import Int

from bayesduel.types import Duel, Outcome


def add_wins(
    wins: Int[Array, "K K"], duel: Duel, outcome: Outcome
) -> Int[Array, "K K"]:
    """Add an outcome to ``wins[i, j]``, duels of {i, j} that i won.

    A self-duel counts nothing. Selects, not scatters: those are slow in a batch.
    """
    arms = jnp.arange(wins.shape[0], dtype=jnp.int32)
    is_first, is_second = arms == duel.first, arms == duel.second
    other = duel.first != duel.second
    won = jnp.where(other, outcome.wins, 0).astype(wins.dtype)
    lost = jnp.where(other, outcome.rounds - outcome.wins, 0).astype(wins.dtype)
    return (
        wins
        + jnp.where(is_first[:, None] & is_second[None, :], won, 0)
        + jnp.where(is_second[:, None] & is_first[None, :], lost, 0)
    )

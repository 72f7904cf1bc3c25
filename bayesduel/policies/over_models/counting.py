"""Counts and choices of one run in JAX."""

import jax.numpy as jnp
from jax import Array, lax
from jaxtyping import Bool, Float, Int

from bayesduel.types import Arm, Duel, Outcome


def add_wins(
    wins: Int[Array, "K K"], duel: Duel, outcome: Outcome
) -> Int[Array, "K K"]:
    """Add an outcome to ``wins[i, j]``, duels of {i, j} that i won.

    A self-duel counts nothing.
    """
    rounds = jnp.where(duel.first != duel.second, outcome.rounds, 0)
    won = jnp.minimum(outcome.wins, rounds)
    wins = wins.at[duel.first, duel.second].add(won.astype(wins.dtype))
    return wins.at[duel.second, duel.first].add((rounds - won).astype(wins.dtype))


def choose_among(uniform: Float[Array, ""], candidates: Bool[Array, " n"]) -> Arm:
    """Draw a member of a set, each as likely; the last index of an empty one."""
    upto = jnp.cumsum(candidates)
    target = jnp.floor(uniform * upto[-1].astype(uniform.dtype)).astype(upto.dtype)
    return jnp.minimum(jnp.sum(upto <= target), len(candidates) - 1).astype(jnp.int32)


def largest(values: Float[Array, " n"]) -> Bool[Array, " n"]:
    """Mark all entries that have the largest value.

    XLA may compute a number anew for each use of it and round it otherwise: behind the
    barrier it is computed once, so that the largest one is equal to itself.
    """
    values = lax.optimization_barrier(values)
    return values == jnp.max(values)


def most_beaten(uniform: Float[Array, ""], wins: Int[Array, "K K"]) -> Arm:
    """Return the arm that beats the most others empirically.

    Ties by the larger total of wins, then at random.
    """
    beaten = jnp.sum(wins > wins.T, axis=1)
    total = jnp.where(beaten == jnp.max(beaten), jnp.sum(wins, axis=1), -1)
    return choose_among(uniform, total == jnp.max(total))


def top(
    values: Float[Array, " n"], uniforms: Float[Array, " n"], size: int
) -> Bool[Array, " n"]:
    """Mark the ``size`` arms with the largest values; ties at random, by uniforms."""
    rank = jnp.argsort(jnp.lexsort((uniforms, values)))
    return rank >= len(values) - size

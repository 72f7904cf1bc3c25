"""Confidence bounds of every pair, with one rule of when they exclude 1/2.

For a pair with w wins and l losses, n = w + l, at round t,

    u = w/n + sqrt(alpha log t / n),    l = w/n - sqrt(alpha log t / n),

where each quotient with denominator 0 is 1, so that u = 2 and l = 0 for an uncompared
pair (Zoghi et al. 2014; Wu and Liu 2016). Whether a bound lies beyond 1/2 is decided in
``thresholds`` alone; the numbers only order the challengers.
"""

import jax.numpy as jnp
from jax import Array
from jaxtyping import Float, Int

from bayesduel.ops.masks import materialize
from bayesduel.ops.resolved_rounds import (
    resolution,
)
from bayesduel.policies.base import others_mask
from bayesduel.policies.pair_counts import pair_mask
from bayesduel.types import Duel


def uncompared(num_arms: int) -> Float[Array, "K K"]:
    """Return the resolutions before any duel: open, and never on the diagonal."""
    return jnp.where(others_mask(num_arms), jnp.float64(-1.0), jnp.inf)


def resolutions(
    wins: Int[Array, "K K"], alpha: Float[Array, ""] | float
) -> Float[Array, "K K"]:
    """Return the log of the last round at which the bounds of each pair exclude 1/2."""
    bounds = resolution(wins, wins.T, jnp.asarray(alpha, dtype=jnp.float64))
    return jnp.where(others_mask(wins.shape[0]), bounds, jnp.inf)


def with_counts(
    resolutions: Float[Array, "K K"],
    won: Int[Array, ""],
    lost: Int[Array, ""],
    duel: Duel,
    alpha: Float[Array, ""] | float,
) -> Float[Array, "K K"]:
    """Refresh the entries of the one pair of which ``duel.first`` has ``won``."""
    bound = resolution(won, lost, jnp.asarray(alpha, dtype=jnp.float64))
    (bound,) = materialize(bound)
    changed = pair_mask(resolutions.shape[0], duel) & (duel.first != duel.second)
    return jnp.where(changed, bound, resolutions)

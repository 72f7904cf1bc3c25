"""What duels of pairs say."""

import jax.numpy as jnp
from jax import Array
from jaxtyping import Float, Int


def estimated_gaps(wins: Int[Array, "K K"]) -> Float[Array, "K K"]:
    """Return mu_hat - 1/2, exactly antisymmetric; 0 for an uncompared pair."""
    duels = jnp.maximum(wins + wins.T, 1).astype(jnp.float64)
    return 0.5 * (wins - wins.T).astype(jnp.float64) / duels

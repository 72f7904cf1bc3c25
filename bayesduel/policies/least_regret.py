"""Who wins the vote of a sample, and the tie-break of D-TS+."""

import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float

from bayesduel.policies.sampling import choose_among
from bayesduel.types import Arm
from theory.divergences import kl_to_half

_SMALLEST_DIVERGENCE = 1e-300


def sampled_winners(
    candidates: Bool[Array, " K"], signs: Bool[Array, "K K"]
) -> Bool[Array, " K"]:
    """Candidates that beat the most arms (of all, candidates or not) in the sample."""
    votes = jnp.sum(signs, axis=1, dtype=jnp.int32)
    return candidates & (votes == jnp.max(jnp.where(candidates, votes, -1)))


def least_estimated_regret(
    uniform: Float[Array, ""],
    candidates: Bool[Array, " K"],
    signs: Bool[Array, "K K"],
    offsets: Float[Array, "K K"],
) -> Arm:
    """Choose among the sampled winners as D-TS+ does (Wu and Liu 2016, Section 4.3).

    R_i = sum over j of r_ij / KL(theta_ij, 1/2) with r_ij = zeta_max - (zeta_i +
    zeta_j) / 2, all scores from the same sample and zeta_max over *all* arms. The arm
    with the smallest R_i wins; ``uniform`` breaks remaining ties.

    Parameters
    ----------
    candidates : bool (K,)
        Arms that may be first.
    signs : bool (K, K)
        theta_ij > 1/2.
    offsets : float64 (K, K)
        |theta_ij - 1/2|, symmetric; read only where a sampled winner is involved.
    """
    num_arms = signs.shape[0]
    votes = jnp.sum(signs, axis=1, dtype=jnp.int32).astype(offsets.dtype)
    score = votes / (num_arms - 1)
    loss = jnp.max(score) - 0.5 * (score[:, None] + score[None, :])
    divergence = jnp.maximum(kl_to_half(offsets), _SMALLEST_DIVERGENCE)
    others = ~jnp.eye(num_arms, dtype=bool)
    regret = jnp.sum(jnp.where(others, loss / divergence, 0.0), axis=1)
    tied = sampled_winners(candidates, signs)
    least = jnp.min(jnp.where(tied, regret, jnp.inf))
    return choose_among(uniform, tied & (regret == least))

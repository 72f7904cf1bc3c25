"""Who wins the vote of a sample, and the tie-break of D-TS+."""

import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float

from bayesduel.policies.over_models.counting import choose_among
from bayesduel.types import Arm
from theory.divergences import kl_to_half

_SMALLEST_DIVERGENCE = 1e-300


def sampled_winners(
    candidates: Bool[Array, " K"], signs: Bool[Array, "K K"]
) -> Bool[Array, " K"]:
    """Candidates that beat the most arms (of all, candidates or not) in the sample."""
    votes = jnp.where(candidates, jnp.sum(signs, axis=1), -1)
    return candidates & (votes == jnp.max(votes))


def least_estimated_regret(
    uniform: Float[Array, ""],
    candidates: Bool[Array, " K"],
    theta: Float[Array, "K K"],
) -> Arm:
    """Choose among the sampled winners as D-TS+ does (Wu and Liu 2016, Section 4.3).

    R_i = sum over j of r_ij / KL(theta_ij, 1/2), all from the same sample, with
    r_ij = zeta_max - (zeta_i + zeta_j) / 2 and zeta_max over *all* arms. The arm with
    the smallest R_i wins; ``uniform`` breaks remaining ties.
    """
    signs = theta > 0.5
    score = jnp.sum(signs, axis=1, dtype=jnp.float64) / (len(theta) - 1.0)
    loss = jnp.max(score) - 0.5 * (score[:, None] + score[None, :])
    divergence = jnp.maximum(kl_to_half(jnp.abs(theta - 0.5)), _SMALLEST_DIVERGENCE)
    counts = (loss > 0.0) & ~jnp.eye(len(theta), dtype=bool)
    regret = jnp.sum(jnp.where(counts, loss / divergence, 0.0), axis=1)
    regret = jnp.where(sampled_winners(candidates, signs), regret, jnp.inf)
    return choose_among(uniform, regret == jnp.min(regret))

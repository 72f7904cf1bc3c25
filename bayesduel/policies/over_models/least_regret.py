"""Who wins the vote of a sample, and the tie-break of D-TS+."""

import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.ops.masks import (
    mark_largest,
    materialize,
    symmetric_matrix,
    upper_triangle,
)
from bayesduel.ops.sampling import choose_among
from bayesduel.types import Arm
from theory.divergences import kl_to_half

_SMALLEST_DIVERGENCE = 1e-300


def sampled_winners(
    candidates: Bool[Array, " K"], signs: Bool[Array, "K K"]
) -> Bool[Array, " K"]:
    """Candidates that beat the most arms (of all, candidates or not) in the sample."""
    return most_votes(candidates, jnp.sum(signs, axis=1, dtype=jnp.int32))


def most_votes(
    candidates: Bool[Array, " K"], votes: Int[Array, " K"]
) -> Bool[Array, " K"]:
    """Candidates with the most votes."""
    return candidates & (votes == jnp.max(jnp.where(candidates, votes, -1)))


def regret_per_pair(signs: Bool[Array, "K K"]) -> Float[Array, "K K"]:
    """Regret of comparing i with j if the sample were true, r_ij.

    r_ij = zeta_max - (zeta_i + zeta_j) / 2, with zeta_max over *all* arms.
    """
    num_arms = signs.shape[0]
    votes = jnp.sum(signs, axis=1, dtype=jnp.int32).astype(jnp.float64)
    score = votes / (num_arms - 1)
    return jnp.max(score) - 0.5 * (score[:, None] + score[None, :])


def least_estimated_regret(
    uniform: Float[Array, ""],
    candidates: Bool[Array, " K"],
    signs: Bool[Array, "K K"],
    offsets: Float[Array, " P"],
) -> Arm:
    """Choose among the sampled winners as D-TS+ does (Wu and Liu 2016, Section 4.3).

    R_i = sum over j of r_ij / KL(theta_ij, 1/2), all from the same sample. The arm with
    the smallest R_i wins; ``uniform`` breaks remaining ties.

    Parameters
    ----------
    candidates : bool (K,)
        Arms that may be first.
    signs : bool (K, K)
        theta_ij > 1/2.
    offsets : float64 (P,)
        |theta_ij - 1/2| of the unordered pairs; read only where a sampled winner is
        involved and r_ij > 0.
    """
    num_arms = signs.shape[0]
    loss = upper_triangle(regret_per_pair(signs))
    divergence = jnp.maximum(kl_to_half(offsets), _SMALLEST_DIVERGENCE)
    (terms,) = materialize(jnp.where(loss > 0.0, loss / divergence, 0.0))
    (matrix,) = materialize(symmetric_matrix(terms, num_arms))
    regret = jnp.sum(matrix, axis=1)
    tied = sampled_winners(candidates, signs)
    return choose_among(uniform, mark_largest(-regret, tied))

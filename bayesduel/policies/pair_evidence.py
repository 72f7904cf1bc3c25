"""Counts of every pair with the evidence they carry against "equally good"."""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array
from jaxtyping import Float, Int

from bayesduel.ops.masks import entry_of
from bayesduel.policies.pair_counts import add_wins, pair_mask
from bayesduel.types import Duel, Outcome
from theory.divergences import kl_to_half


class PairEvidence(NamedTuple):
    """What the RMED family knows, one entry per ordered pair."""

    wins: Int[Array, "K K"]
    evidence: Float[Array, "K K"]
    """N_ij KL(mu_ij, 1/2), symmetric; natural logarithm."""


def empty_evidence(num_arms: int) -> PairEvidence:
    """Return the state before any duel."""
    return PairEvidence(
        wins=jnp.zeros((num_arms, num_arms), dtype=jnp.int32),
        evidence=jnp.zeros((num_arms, num_arms), dtype=jnp.float64),
    )


def add_evidence(known: PairEvidence, duel: Duel, outcome: Outcome) -> PairEvidence:
    """Count ``outcome``, refresh the pair's evidence; a self-duel teaches nothing."""
    wins = add_wins(known.wins, duel, outcome)
    won, lost = (
        entry_of(wins, duel.first, duel.second),
        entry_of(wins, duel.second, duel.first),
    )
    duels = (won + lost).astype(jnp.float64)
    gap = 0.5 * (won - lost).astype(jnp.float64) / jnp.maximum(duels, 1.0)
    changed = pair_mask(known.wins.shape[0], duel) & (duel.first != duel.second)
    return PairEvidence(
        wins=wins,
        evidence=jnp.where(changed, duels * kl_to_half(gap), known.evidence),
    )


def estimated_gaps(wins: Any) -> Any:
    """Return mu_hat - 1/2, exactly antisymmetric; 0 for an uncompared pair.

    Of an int (K, K) array of NumPy as of JAX, and in kind.
    """
    xp = wins.__array_namespace__()  # NumPy's where the host asks.
    duels = xp.maximum(wins + wins.T, 1).astype(xp.float64)
    return 0.5 * (wins - wins.T).astype(xp.float64) / duels

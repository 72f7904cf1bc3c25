"""SCOMP2: the best seed of every batch meets all arms (Agarwal et al. 2022)."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from bayesduel.ops.masks import column_of, mark_largest, row_of
from bayesduel.ops.sampling import choose_among
from bayesduel.policies.base import policy_class
from bayesduel.policies.batched._batches import (
    SEEDED,
    SEEDS_ONLY,
    BatchedState,
    new_batch,
    where_state,
    without,
)
from bayesduel.policies.batched.seeded_comparisons import SeededPolicy
from bayesduel.policies.registry import register
from bayesduel.types import Arm, RoundCount, RunKey
from theory import scomp2_order


@register("scomp2", acronym="SCOMP2", theorems=(scomp2_order,))
@policy_class
class CandidateComparisons(SeededPolicy):
    """Batched dueling bandits under SST and STI with two batches a round, SCOMP2.

    Seeds as in SCOMP. Round r compares the seeds with one another, c_r = floor(T^(r/B))
    times each pair; then the candidate, a seed that loses to no other for sure, meets
    every remaining arm as often. Arms that the candidate beats by 5 gamma_r are
    removed; once some arm beats the candidate by 5 gamma_r, those that beat it by
    3 gamma_r go to PCOMP, with the rounds that are left and the same exponent r. With a
    single seed there is no first batch, without one PCOMP begins at once. At most
    2 B + 1 batches.

    The candidate is the seed with the least mean loss to its strongest rival among the
    seeds, max over j of mu_ji; ties at random (the paper takes any that no other beats
    by gamma_r). With ``elimination="kl"`` a lead of m gamma_r is replaced by m^2/25 of
    the threshold log(T K^2), and the candidate is chosen from all duels so far.
    Everything else is as in :class:`PairwiseComparisons`.

    Parameters
    ----------
    num_batches : int
        B, from 1 to the horizon; 16 in the paper.
    elimination : {"kl", "hoeffding"}
        The test.
    overflow : {"truncate", "commit"}
        What happens to a batch that would pass the horizon.
    seed_power : float
        Seeds have probability K^-seed_power.

    References
    ----------
    A. Agarwal, R. Ghuge, V. Nagarajan, "Batched Dueling Bandits", ICML 2022,
    Algorithm 3, Theorem 1.3 and Section 5.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("scomp2", seed_power=0.75).label
    'SCOMP2:seed_power=0.75'
    """

    title: ClassVar[str] = "Batched seeded comparisons with candidates"

    def _first_round(self, state: BatchedState) -> BatchedState:
        return where_state(jnp.any(state.seeds), _next_round(state), state)

    def _after_seeded(
        self, rng_key: RunKey, state: BatchedState, rounds_left: RoundCount
    ) -> BatchedState:
        candidate = self._candidate(rng_key, state)
        challenge = _challenge(state, candidate)
        return where_state(
            state.phase == SEEDS_ONLY,
            challenge,
            self._after_challenge(state, rounds_left),
        )

    def _candidate(self, rng_key: RunKey, state: BatchedState) -> Arm:
        """Return the seed whose strongest rival among the seeds is the weakest."""
        worst = _largest_loss(self._leads(state), state)
        uniform = jax.random.uniform(rng_key, dtype=jnp.float64)
        return choose_among(uniform, mark_largest(-worst, state.seeds))

    def _leads(self, state: BatchedState) -> Float[Array, "K K"]:
        """2 mu_ij - 1: of this batch, or of all duels."""
        if self.elimination == "hoeffding":
            return state.evidence.astype(jnp.float64)  # All pairs meet equally often.
        duels = jnp.maximum(state.wins + state.wins.T, 1).astype(jnp.float64)
        return (state.wins - state.wins.T).astype(jnp.float64) / duels

    def _after_challenge(
        self, state: BatchedState, rounds_left: RoundCount
    ) -> BatchedState:
        ahead = self._surely_ahead(state, hoeffding=5.0, kl=1.0)
        active = without(state.active, row_of(ahead, state.candidate))
        superior = active & column_of(ahead, state.candidate)
        clearly = self._surely_ahead(state, hoeffding=3.0, kl=9.0 / 25.0)
        chosen = active & column_of(clearly, state.candidate)
        onward = state._replace(
            active=active, seeds=state.seeds & active, level=state.level + 1
        )
        return where_state(
            jnp.any(superior),
            self._start_pairwise(state, chosen, rounds_left),
            _next_round(onward),
        )


def _next_round(state: BatchedState) -> BatchedState:
    """Let the seeds meet; a single one is the candidate at once."""
    number = jnp.sum(state.seeds, dtype=jnp.int32)
    only = jnp.argmax(state.seeds).astype(jnp.int32)
    meeting = state._replace(
        phase=jnp.int32(SEEDS_ONLY), batch=new_batch(state.seeds, state.seeds)
    )
    return where_state(number > 1, meeting, _challenge(state, only))


def _challenge(state: BatchedState, candidate: Arm) -> BatchedState:
    """Let the candidate meet all active arms."""
    arms = jnp.arange(state.active.shape[0], dtype=jnp.int32)
    return state._replace(
        phase=jnp.int32(SEEDED),
        candidate=candidate,
        batch=new_batch(arms == candidate, state.active),
    )


def _largest_loss(
    leads: Float[Array, "K K"], state: BatchedState
) -> Float[Array, " K"]:
    """Largest lead over each arm that another seed has."""
    arms = jnp.arange(leads.shape[0], dtype=jnp.int32)
    others = state.seeds[:, None] & (arms[:, None] != arms[None, :])
    return jnp.max(jnp.where(others, leads, -jnp.inf), axis=0)

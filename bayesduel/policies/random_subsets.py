"""Uniformly random sets: what a learner must beat."""

from typing import ClassVar

import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float

from bayesduel.policies.base import policy_class
from bayesduel.policies.subset_base import (
    SubsetPolicy,
    one_offer,
    tie_breakers,
    top,
)
from bayesduel.policies.ucb_without_order import IndexState, add_rewards
from bayesduel.types import Offer, Rewards, RoundCount, RunKey


@policy_class
class RandomSubsets(SubsetPolicy):
    """Offers k arms uniformly at random in every round.

    Recommends the k arms with the largest mean reward; ties at random.
    """

    title: ClassVar[str] = "Random subsets"

    def init(
        self,
        rng_key: RunKey,
        num_arms: int,
        subset_size: int,
        horizon: RoundCount,
        revenues: Float[Array, " n"],
    ) -> IndexState:
        """Return the state before the first round."""
        return IndexState(
            plays=jnp.zeros(num_arms, dtype=jnp.int64),
            totals=jnp.zeros(num_arms, dtype=jnp.float64),
            log_horizon=jnp.float64(0.0),
            slots=jnp.arange(subset_size, dtype=jnp.int32),
        )

    def choose(
        self, rng_key: RunKey, state: IndexState, round_: RoundCount
    ) -> tuple[Offer, IndexState]:
        """Offer any k arms."""
        uniforms = tie_breakers(rng_key, state.plays.shape[0])
        subset = top(jnp.zeros_like(uniforms), uniforms, state.slots.shape[0])
        return one_offer(subset), state

    def update(
        self,
        rng_key: RunKey,
        state: IndexState,
        round_: RoundCount,
        offer: Offer,
        rewards: Rewards,
    ) -> IndexState:
        """Count offers and rewards."""
        return add_rewards(state, offer, rewards)

    def recommend(self, rng_key: RunKey, state: IndexState) -> Bool[Array, " n"]:
        """Return the k arms with the largest means."""
        times = jnp.maximum(state.plays, 1).astype(jnp.float64)
        uniforms = tie_breakers(rng_key, times.shape[0])
        return top(state.totals / times, uniforms, state.slots.shape[0])

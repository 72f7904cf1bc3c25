"""What rules that count plays and rewards of every arm have in common."""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.policies.subsets._in_jax import (
    JaxSubsetPolicy,
    one_offer,
    tie_breakers,
    top,
)
from bayesduel.types import Offer, Rewards, RoundCount, RunKey


class RewardCounts(NamedTuple):
    """Plays and rewards of every arm."""

    plays: Int[Array, " n"]
    totals: Float[Array, " n"]
    log_horizon: Float[Array, ""]
    """log T, for rules that know it."""

    slots: Int[Array, " k"]
    """0, ..., k - 1: its length is the size of a set."""


def mean_rewards(state: RewardCounts) -> Float[Array, " n"]:
    """Return the mean reward of every arm, 0 if it was never offered."""
    return state.totals / jnp.maximum(state.plays, 1).astype(jnp.float64)


class CountingPolicy(JaxSubsetPolicy):
    """Counts offers and rewards; recommends the k arms with the largest means."""

    def init(
        self,
        rng_key: RunKey,
        num_arms: int,
        subset_size: int,
        horizon: RoundCount,
        revenues: Float[Array, " n"],
    ) -> RewardCounts:
        """Return the state before the first round."""
        return RewardCounts(
            plays=jnp.zeros(num_arms, dtype=jnp.int64),
            totals=jnp.zeros(num_arms, dtype=jnp.float64),
            log_horizon=jnp.log(jnp.asarray(horizon).astype(jnp.float64)),
            slots=jnp.arange(subset_size, dtype=jnp.int32),
        )

    def update(
        self,
        rng_key: RunKey,
        state: RewardCounts,
        round_: RoundCount,
        offer: Offer,
        rewards: Rewards,
    ) -> RewardCounts:
        """Count the rounds and the rewards of the arms that were offered."""
        return state._replace(
            plays=state.plays + jnp.where(offer.subset, rewards.rounds, 0),
            totals=state.totals + rewards.rewards,
        )

    def merits(self, state: RewardCounts) -> Float[Array, " n"]:
        """Return what is largest for the recommended arms."""
        return mean_rewards(state)

    def recommend(self, rng_key: RunKey, state: RewardCounts) -> Bool[Array, " n"]:
        """Return the k arms with the largest merits; ties at random."""
        merits = self.merits(state)
        uniforms = tie_breakers(rng_key, merits.shape[0])
        return top(merits, uniforms, state.slots.shape[0])


class IndexPolicy(CountingPolicy):
    """Offers the k arms with the largest indices; ties at random.

    With ``look_ahead``, which a rule must have as a static field, for as many rounds at
    once as the set surely stays, whatever the rewards.
    """

    look_ahead: bool

    def indices(self, state: RewardCounts, round_: RoundCount) -> Float[Array, " n"]:
        """Return the index of every arm; infinite for arms that must come first."""
        raise NotImplementedError

    def stretch(
        self,
        state: RewardCounts,
        round_: RoundCount,
        subset: Bool[Array, " n"],
        indices: Float[Array, " n"],
    ) -> RoundCount:
        """Return for how many rounds ``subset`` surely has the largest indices."""
        raise NotImplementedError

    def choose(
        self, rng_key: RunKey, state: RewardCounts, round_: RoundCount
    ) -> tuple[Offer, RewardCounts]:
        """Offer the k largest indices, as long as they surely stay the largest."""
        indices = self.indices(state, round_)
        uniforms = tie_breakers(rng_key, indices.shape[0])
        subset = top(indices, uniforms, state.slots.shape[0])
        offer = one_offer(subset)
        if self.look_ahead:
            rounds = self.stretch(state, round_, subset, indices)
            offer = offer._replace(rounds=rounds)
        return offer, state


def best_outside(
    subset: Bool[Array, " n"], values: Float[Array, " n"]
) -> Float[Array, ""]:
    """Return the largest value of an arm that is not in the set."""
    return jnp.max(jnp.where(subset, -jnp.inf, values))

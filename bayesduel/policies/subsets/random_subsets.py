"""Uniformly random sets: what a learner must beat."""

from typing import ClassVar

import jax.numpy as jnp

from bayesduel.policies.base import policy_class
from bayesduel.policies.registry import register
from bayesduel.policies.subsets._in_jax import one_offer, tie_breakers, top
from bayesduel.policies.subsets._reward_counts import CountingPolicy, RewardCounts
from bayesduel.types import Offer, RoundCount, RunKey


@register("random-subsets", acronym="Random subsets")
@policy_class
class RandomSubsets(CountingPolicy):
    """Offers k arms uniformly at random in every round.

    Recommends the k arms with the largest mean reward; ties at random.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("random-subsets").label
    'Random subsets'
    """

    title: ClassVar[str] = "Random subsets"

    def choose(
        self, rng_key: RunKey, state: RewardCounts, round_: RoundCount
    ) -> tuple[Offer, RewardCounts]:
        """Offer any k arms."""
        uniforms = tie_breakers(rng_key, state.plays.shape[0])
        subset = top(jnp.zeros_like(uniforms), uniforms, state.slots.shape[0])
        return one_offer(subset), state

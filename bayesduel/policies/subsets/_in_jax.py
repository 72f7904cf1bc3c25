"""The form of a policy over subsets that JAX plays, and what such policies share."""

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float

from bayesduel.ops.masks import materialize
from bayesduel.policies.base import Policy
from bayesduel.policies.subset_base import OfferingPolicy
from bayesduel.types import Offer, Rewards, RoundCount, RunKey, State


class JaxSubsetPolicy(OfferingPolicy, Policy):
    """Decides which subset is offered next.

    As :class:`bayesduel.policies.base.Policy`, with offers in place of duels: a policy
    returns :class:`bayesduel.types.Offer` and receives ``Rewards``; what it recommends
    is a set, as a mask. An offer is for one round, and one arm at most is chosen.
    """

    def init(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        rng_key: RunKey,
        num_arms: int,
        subset_size: int,
        horizon: RoundCount,
        revenues: Float[Array, " n"],
    ) -> State:
        """Return the state before the first round; consumes ``rng_key``.

        ``revenues`` is what a choice of each arm earns, as far as that is told.
        """
        raise NotImplementedError

    def choose(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, rng_key: RunKey, state: State, round_: RoundCount
    ) -> tuple[Offer, State]:
        """Say what to offer from ``round_`` on; consumes ``rng_key``.

        Only loop positions may move in the state here, never statistics.
        """
        raise NotImplementedError

    def update(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        rng_key: RunKey,
        state: State,
        round_: RoundCount,
        offer: Offer,
        rewards: Rewards,
    ) -> State:
        """Take in what was played; ``round_`` is the last round of it."""
        raise NotImplementedError

    def recommend(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, rng_key: RunKey, state: State
    ) -> Bool[Array, " n"]:
        """Return the set that the policy believes to be best."""
        raise NotImplementedError


def one_offer(subset: Bool[Array, " n"]) -> Offer:
    """Return an offer for a single round."""
    return Offer(subset=subset, rounds=jnp.int64(1), until_no_choice=jnp.bool_(False))


def tie_breakers(rng_key: RunKey, num_arms: int) -> Float[Array, " n"]:
    """Draw one uniform per arm; consumes ``rng_key``."""
    return jax.random.uniform(rng_key, (num_arms,), dtype=jnp.float64)


def top(
    values: Float[Array, " n"], uniforms: Float[Array, " n"], size: int
) -> Bool[Array, " n"]:
    """Mark the ``size`` arms with the largest values; ties at random.

    By counting: a sort would put the lanes in the wrong order.
    """
    values, uniforms = materialize(values, uniforms)
    above = values[None, :] > values[:, None]
    tied = values[None, :] == values[:, None]
    first = tied & (uniforms[None, :] > uniforms[:, None])
    return jnp.sum(above | first, axis=1, dtype=jnp.int32) < size

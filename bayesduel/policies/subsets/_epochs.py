"""Epochs of the MNL bandit: one set is offered until nobody chooses.

Agrawal, Avadhanula, Goyal and Zeevi (2017, 2019): in an epoch the number of purchases
of an offered arm is geometric with mean v_i, whatever the other arms.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.types import Offer, Rewards


class EpochState(NamedTuple):
    """What finished epochs taught, and the set of the present one."""

    subset: Bool[Array, " n"]
    """The set of the present epoch."""

    is_over: Bool[Array, ""]
    """Whether the next round begins an epoch."""

    finished: Int[Array, ""]
    """Finished epochs."""

    epochs: Int[Array, " n"]
    """n_i: finished epochs in which each arm was offered."""

    purchases: Float[Array, " n"]
    """V_i: how often each arm was chosen."""

    revenues: Float[Array, " n"]
    slots: Int[Array, " k"]
    """0, ..., k - 1: its length is the size of a set."""


def no_epochs(
    num_arms: int, subset_size: int, revenues: Float[Array, " n"]
) -> EpochState:
    """Return the state before the first round."""
    return EpochState(
        subset=jnp.zeros(num_arms, dtype=bool),
        is_over=jnp.bool_(True),
        finished=jnp.int64(0),
        epochs=jnp.zeros(num_arms, dtype=jnp.int64),
        purchases=jnp.zeros(num_arms, dtype=jnp.float64),
        revenues=revenues,
        slots=jnp.arange(subset_size, dtype=jnp.int32),
    )


def begin_epoch(state: EpochState, subset: Bool[Array, " n"]) -> EpochState:
    """Keep the set of the present epoch, or take ``subset`` if it is over."""
    return state._replace(
        subset=jnp.where(state.is_over, subset, state.subset),
        is_over=jnp.bool_(False),
    )


def add_purchases(state: EpochState, offer: Offer, rewards: Rewards) -> EpochState:
    """Count purchases; the epoch is over if nobody chose in one of the rounds."""
    bought = jnp.sum(rewards.rewards)
    ends = bought < rewards.rounds.astype(jnp.float64)
    return state._replace(
        is_over=ends,
        finished=state.finished + jnp.where(ends, 1, 0),
        epochs=state.epochs + jnp.where(ends & offer.subset, 1, 0),
        purchases=state.purchases + rewards.rewards,
    )

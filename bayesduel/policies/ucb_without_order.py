"""UCB without total order of the arms (Yang et al. 2021)."""

import warnings
from dataclasses import field
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.errors import AssumptionWarning
from bayesduel.policies.base import check_above, policy_class
from bayesduel.policies.index_stretches import index_values, safe_rounds
from bayesduel.policies.subset_base import (
    SubsetPolicy,
    one_offer,
    tie_breakers,
    top,
)
from bayesduel.types import Offer, Rewards, RoundCount, RunKey

if TYPE_CHECKING:
    from bayesduel.datasets.worlds import SubsetWorld


class IndexState(NamedTuple):
    """Plays and rewards of every arm."""

    plays: Int[Array, " n"]
    totals: Float[Array, " n"]
    log_horizon: Float[Array, ""]
    slots: Int[Array, " k"]
    """0, ..., k - 1: its length is the size of a set."""


@policy_class
class UCBWithoutOrder(SubsetPolicy):
    """The index rule that needs no total order of the arms.

    Offers the k arms with the largest C_i/N_i + Bmax sqrt(alpha log T / N_i), C_i the
    rewards of arm i in all sets so far; ties at random, arms never offered first. Only
    indices of offered arms move: the horizon is in them, not the round (Algorithm 1).
    Natural logarithm.

    With ``look_ahead`` a set is offered for as many rounds at once as it surely stays
    the set of the largest indices, whatever the rewards; sets have the same law.

    Theory: alpha >= 2, and an arm of the best set is chosen at least as often in every
    other set (a warning names a set in which it is not). Recommends the k arms with the
    largest indices.

    Parameters
    ----------
    alpha : float
        Width of the index; 2 in the paper.
    largest_reward : float
        Bmax (Section 6.2).
    look_ahead : bool
        Play rounds that cannot change the set in one go.

    References
    ----------
    Yang, Ren, Dhillon and Sanghavi, "Combinatorial Bandits without Total Order for
    Arms", arXiv:2103.02741, 2021, Algorithm 1 and Section 6.2.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("ucb-no-order").label
    'UCB-no-order'
    """

    alpha: float = 2.0
    largest_reward: float = 1.0
    look_ahead: bool = field(default=True, metadata={"static": True})

    title: ClassVar[str] = "UCB without total order"
    needs_horizon: ClassVar[bool] = True
    assumes_consistency: ClassVar[bool] = True

    @property
    def explores_in_bulk(self) -> bool:  # pyright: ignore
        """Whether an offer may be for many rounds."""
        return self.look_ahead

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_above("alpha", self.alpha, 0.0)
        check_above("largest_reward", self.largest_reward, 0.0)

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
            log_horizon=jnp.log(jnp.asarray(horizon).astype(jnp.float64)),
            slots=jnp.arange(subset_size, dtype=jnp.int32),
        )

    def warn_about(self, world: "SubsetWorld") -> None:
        """Warn outside the theory, and where rewards exceed Bmax."""
        super().warn_about(world)
        if world.largest_reward > self.largest_reward:
            warnings.warn(
                f"{self.label} assumes rewards up to {self.largest_reward:g}; those of "
                f"{world.name or 'this world'} reach {world.largest_reward:g}: set "
                "largest_reward",
                AssumptionWarning,
                stacklevel=2,
            )

    def _width(self, state: IndexState) -> Float[Array, ""]:
        return self.largest_reward * jnp.sqrt(self.alpha * state.log_horizon)

    def choose(
        self, rng_key: RunKey, state: IndexState, round_: RoundCount
    ) -> tuple[Offer, IndexState]:
        """Offer the k largest indices, as long as they surely stay the largest."""
        width = self._width(state)
        values = index_values(state.totals, state.plays, width)
        uniforms = tie_breakers(rng_key, values.shape[0])
        subset = top(values, uniforms, state.slots.shape[0])
        offer = one_offer(subset)
        if not self.look_ahead:
            return offer, state
        outside = jnp.max(jnp.where(subset, -jnp.inf, values))
        rounds = safe_rounds(state.totals, state.plays, subset, width, outside)
        return offer._replace(rounds=rounds), state

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
        """Return the k arms with the largest indices."""
        values = index_values(state.totals, state.plays, self._width(state))
        uniforms = tie_breakers(rng_key, values.shape[0])
        return top(values, uniforms, state.slots.shape[0])


def add_rewards(state: IndexState, offer: Offer, rewards: Rewards) -> IndexState:
    """Count the rounds and the rewards of the arms that were offered."""
    return state._replace(
        plays=state.plays + jnp.where(offer.subset, rewards.rounds, 0),
        totals=state.totals + rewards.rewards,
    )

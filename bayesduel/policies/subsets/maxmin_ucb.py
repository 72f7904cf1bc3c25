"""MaxMin-UCB and Rec-MaxMin-UCB (Saha and Gopalan 2019)."""

from dataclasses import field
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.ops.masks import mark_largest
from bayesduel.policies.base import check_above, most_beaten, policy_class
from bayesduel.policies.registry import register
from bayesduel.policies.subsets._in_jax import (
    JaxSubsetPolicy,
    one_offer,
    ranks,
    tie_breakers,
)
from bayesduel.policies.subsets._rank_breaking import break_ranking, build, rivals
from bayesduel.types import Offer, Rewards, RoundCount, RunKey


class WinsState(NamedTuple):
    """Comparisons that choices were broken into."""

    wins: Int[Array, "n n"]
    slots: Int[Array, " k"]
    """0, ..., k - 1: its length is the size of a set."""


class WinsPolicy(JaxSubsetPolicy):
    """Breaks choices into comparisons and counts who won them.

    A rule has a number ``alpha`` above 1/2, the width of its confidence bounds.
    """

    alpha: float

    feedbacks: ClassVar[tuple[str, ...]] = ("winner", "ranking")
    least_size: ClassVar[int] = 2

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_above("alpha", self.alpha, 0.5)

    def init(
        self,
        rng_key: RunKey,
        num_arms: int,
        subset_size: int,
        horizon: RoundCount,
        revenues: Float[Array, " n"],
    ) -> WinsState:
        """Return the state before the first round."""
        return WinsState(
            wins=jnp.zeros((num_arms, num_arms), dtype=jnp.int64),
            slots=jnp.arange(subset_size, dtype=jnp.int32),
        )

    def update(
        self,
        rng_key: RunKey,
        state: WinsState,
        round_: RoundCount,
        offer: Offer,
        rewards: Rewards,
    ) -> WinsState:
        """Break the choice into comparisons."""
        return state._replace(wins=break_ranking(state.wins, offer, rewards))


@register("maxmin-ucb", acronym="MaxMin-UCB")
@policy_class
class MaxMinUCB(WinsPolicy):
    """Sets of arms that may be best and challenge each other most.

    Choices are broken into comparisons: the chosen arm (of a ranking: each ranked one)
    beats every offered arm behind it. With w_ij comparisons won out of n_ij,
    u_ij = w_ij/n_ij + sqrt(alpha log t/n_ij), and 2 for n_ij = 0. Of the arms i with
    u_ij > 1/2 for all j, the first of the set is drawn uniformly; then the one with the
    largest min of u against the set is added, ties at random, until k arms are in or
    all are. A single such arm is offered alone, which costs and teaches nothing. If
    there is none, any one arm stands for them. Natural logarithm.

    That the first arm is uniform is a choice made here. With ``look_ahead`` the rounds
    in which one arm is alone are one event: only log t moves, and the round at which
    another arm joins is known. Recommends the arm that beats the most others.

    Parameters
    ----------
    alpha : float
        Above 1/2.
    look_ahead : bool
        Play rounds with one arm in one go.

    References
    ----------
    A. Saha, A. Gopalan, "Combinatorial Bandits with Relative Feedback", NeurIPS 2019,
    Algorithm 1.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("maxmin-ucb", alpha=0.765).label
    'MaxMin-UCB:alpha=0.765'
    """

    alpha: float = 0.51
    look_ahead: bool = field(default=True, metadata={"static": True})

    title: ClassVar[str] = "MaxMin-UCB"
    offers_fewer: ClassVar[bool] = True

    def choose(
        self, rng_key: RunKey, state: WinsState, round_: RoundCount
    ) -> tuple[Offer, WinsState]:
        """Offer rivals, or one arm as long as it has none."""
        known = rivals(state.wins, round_, self.alpha)
        uniforms = _uniforms(rng_key, state)
        nobody = jnp.all(jnp.any(known.beaten, axis=1))
        subset = build(known, uniforms, state.slots.shape[0], levels=False)
        anyone = mark_largest(uniforms[0])
        subset = jnp.where(nobody, anyone, subset)
        offer = one_offer(subset)
        if self.look_ahead:
            alone = jnp.sum(subset, dtype=jnp.int32) == 1
            rounds = jnp.where(alone & ~nobody, known.settled, 1)
            offer = offer._replace(rounds=rounds)
        return offer, state

    def recommend(self, rng_key: RunKey, state: WinsState) -> Bool[Array, " n"]:
        """Mark the arm that beats the most others."""
        arms = jnp.arange(state.wins.shape[0], dtype=jnp.int32)
        return arms == most_beaten(rng_key, state.wins)


@register("rec-maxmin-ucb", acronym="Rec-MaxMin-UCB")
@policy_class
class RecursiveMaxMinUCB(WinsPolicy):
    """Rec-MaxMin-UCB: sets of exactly k arms, filled up level by level.

    Statistics and the building of a set are those of :class:`MaxMinUCB`. If fewer than
    k arms may be best, the rest comes from those that may be best among the others, and
    so on; where no arm may be best (every one surely loses to another), the arm with
    the largest min of u. The paper observes full rankings; with winners only the rule
    learns more slowly. Recommends the k arms that beat the most others; ties by the
    share of comparisons won.

    Parameters
    ----------
    alpha : float
        Above 1/2.

    References
    ----------
    A. Saha, A. Gopalan, "Combinatorial Bandits with Relative Feedback", NeurIPS 2019,
    Algorithm 2.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("rec-maxmin-ucb", alpha=0.765).label
    'Rec-MaxMin-UCB:alpha=0.765'
    """

    alpha: float = 0.51

    title: ClassVar[str] = "Rec-MaxMin-UCB"

    def choose(
        self, rng_key: RunKey, state: WinsState, round_: RoundCount
    ) -> tuple[Offer, WinsState]:
        """Offer k arms."""
        known = rivals(state.wins, round_, self.alpha)
        subset = build(
            known, _uniforms(rng_key, state), state.slots.shape[0], levels=True
        )
        return one_offer(subset), state

    def recommend(self, rng_key: RunKey, state: WinsState) -> Bool[Array, " n"]:
        """Mark the k arms that beat the most others."""
        won = jnp.sum(state.wins, axis=1).astype(jnp.float64)
        lost = jnp.sum(state.wins, axis=0).astype(jnp.float64)
        beaten = jnp.sum(state.wins > state.wins.T, axis=1, dtype=jnp.int32)
        value = beaten.astype(jnp.float64) + won / (won + lost + 1.0)
        uniforms = tie_breakers(rng_key, value.shape[0])
        return ranks(value, uniforms) < state.slots.shape[0]


def _uniforms(rng_key: RunKey, state: WinsState) -> Float[Array, "k n"]:
    """Draw one uniform per place of a set and arm; consumes ``rng_key``."""
    shape = state.slots.shape[0], state.wins.shape[0]
    return jax.random.uniform(rng_key, shape, dtype=jnp.float64)

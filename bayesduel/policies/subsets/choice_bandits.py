"""Winner Beats All for choice bandits (Agarwal, Johnson and Agarwal 2020)."""

from dataclasses import field
from typing import ClassVar, NamedTuple

import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.ops.masks import row_of
from bayesduel.ops.resolved_rounds import last_resolved_round, log_round
from bayesduel.policies.base import check_at_least, others_mask, policy_class
from bayesduel.policies.pair_counts import lowest
from bayesduel.policies.pair_evidence import estimated_gaps
from bayesduel.policies.play_lists import (
    PlayLists,
    append,
    begin_pass_if_over,
    element_to_play,
    first_pass,
    is_only_element,
    take,
)
from bayesduel.policies.registry import register
from bayesduel.policies.subsets._in_jax import (
    JaxSubsetPolicy,
    one_offer,
    ranks,
    tie_breakers,
)
from bayesduel.policies.subsets._rank_breaking import break_ranking
from bayesduel.types import Arm, Offer, Rewards, RoundCount, RunKey
from theory.divergences import kl_to_half


class ChoiceState(NamedTuple):
    """Choices between every two arms, and the place in the lists."""

    wins: Int[Array, "n n"]
    """[i, j]: rounds in which both were offered and i was chosen."""

    passes: PlayLists
    slots: Int[Array, " k"]


@register("choice-bandits", acronym="WBA")
@policy_class
class ChoiceBandits(JaxSubsetPolicy):
    """Sets around an anchor, WBA: the winner beats all others of its set.

    Looks for the arm that is chosen most in every set with it (a generalized Condorcet
    winner). The exact pseudo-code of the paper could not be consulted: this is RMED1
    (:class:`bayesduel.policies.RMED1`) lifted to sets, and equal to it for k = 2 but
    for its first sweep over all pairs. What the paper establishes is kept: only
    pairwise numbers of choices are used, and sets consist of arms that still compete
    with the best one.

    With w_ij choices of i and n_ij of i or j in sets with both, I_i = sum over the arms
    j that i does not beat of n_ij KL(w_ij/n_ij, 1/2), and i* the arm with the smallest,
    I*. Anchors a are taken from a list. If the opponent m of a is a itself, {a} is
    offered; otherwise a, m, and arms j with I_j - I* <= log t + f(n) by increasing I_j,
    ties at random, up to k. Arms that meet this after the round enter the next list.
    Natural logarithm.

    With ``look_ahead`` the rounds in which {i*} is offered until another arm enters are
    one event. Recommends i*.

    Parameters
    ----------
    f_scale, f_power : float
        f(n) = f_scale n^f_power, as in RMED1.
    look_ahead : bool
        Play rounds with one arm in one go.

    References
    ----------
    A. Agarwal, N. Johnson, S. Agarwal, "Choice Bandits", NeurIPS 2020. J. Komiyama,
    J. Honda, H. Kashima, H. Nakagawa, "Regret Lower Bound and Optimal Algorithm in
    Dueling Bandit Problem", COLT 2015, Algorithms 1 and 2.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("choice-bandits", f_scale=0.45).label
    'WBA:f_scale=0.45'
    """

    f_scale: float = 0.3
    f_power: float = 1.01
    look_ahead: bool = field(default=True, metadata={"static": True})

    title: ClassVar[str] = "Choice Bandits, winner beats all"
    feedbacks: ClassVar[tuple[str, ...]] = ("winner",)
    offers_fewer: ClassVar[bool] = True
    least_size: ClassVar[int] = 2

    def check(self, num_arms: int, horizon: int) -> None:
        """Raise ``PolicyParameterError`` for a bad parameter."""
        check_at_least("f_scale", self.f_scale, 0.0)
        check_at_least("f_power", self.f_power, 0.0)

    def init(
        self,
        rng_key: RunKey,
        num_arms: int,
        subset_size: int,
        horizon: RoundCount,
        revenues: Float[Array, " n"],
    ) -> ChoiceState:
        """Return the state before the first round."""
        return ChoiceState(
            wins=jnp.zeros((num_arms, num_arms), dtype=jnp.int64),
            passes=first_pass(jnp.ones(num_arms, dtype=bool)),
            slots=jnp.arange(subset_size, dtype=jnp.int32),
        )

    def _needed(self, divergence: Float[Array, " n"]) -> Float[Array, " n"]:
        return log_round_needed(divergence, self.f_scale, self.f_power)

    def choose(
        self, rng_key: RunKey, state: ChoiceState, round_: RoundCount
    ) -> tuple[Offer, ChoiceState]:
        """Offer the set of the next anchor."""
        passes = begin_pass_if_over(state.passes)
        anchor = element_to_play(passes)
        divergence = evidence_against(state.wins)
        best = lowest(divergence)
        opponent = opponent_of(state.wins, anchor, best)
        arms = jnp.arange(divergence.shape[0], dtype=jnp.int32)
        core = (arms == anchor) | (arms == opponent)
        needed = self._needed(divergence)
        fits = (needed <= log_round(round_)) & ~core
        value = jnp.where(fits, -divergence, -jnp.inf)
        place = ranks(value, tie_breakers(rng_key, arms.shape[0]))
        others = fits & (place < state.slots.shape[0] - 2)
        alone = anchor == opponent
        offer = one_offer(core | (others & ~alone))
        if self.look_ahead:
            exploits = alone & (anchor == best) & is_only_element(passes, best)
            stretch = rounds_until_entry(needed, best, round_)
            offer = offer._replace(rounds=jnp.where(exploits, stretch, 1))
        return offer, state._replace(passes=take(passes))

    def update(
        self,
        rng_key: RunKey,
        state: ChoiceState,
        round_: RoundCount,
        offer: Offer,
        rewards: Rewards,
    ) -> ChoiceState:
        """Count the choice, then test which arms are due in the next pass."""
        wins = break_ranking(state.wins, offer, rewards)
        due = self._needed(evidence_against(wins)) <= log_round(round_)
        return state._replace(wins=wins, passes=append(state.passes, due))

    def recommend(self, rng_key: RunKey, state: ChoiceState) -> Bool[Array, " n"]:
        """Mark i*."""
        arms = jnp.arange(state.wins.shape[0], dtype=jnp.int32)
        return arms == lowest(evidence_against(state.wins))


def evidence_against(wins: Int[Array, "n n"]) -> Float[Array, " n"]:
    """I_i, the evidence against arm i being chosen most."""
    duels = (wins + wins.T).astype(jnp.float64)
    evidence = duels * kl_to_half(estimated_gaps(wins))
    unbeaten = (wins <= wins.T) & others_mask(wins.shape[0])
    return jnp.sum(jnp.where(unbeaten, evidence, 0.0), axis=1)


def opponent_of(wins: Int[Array, "K K"], arm: Arm, best: Arm) -> Arm:
    """Return i* if ``arm`` does not beat it or beats all, else its worst rival."""
    arms = jnp.arange(wins.shape[0], dtype=jnp.int32)
    gaps = row_of(estimated_gaps(wins), arm)
    unbeaten = (gaps <= 0.0) & (arms != arm)
    takes_best = jnp.any(unbeaten & (arms == best)) | ~jnp.any(unbeaten)
    worst = jnp.argmin(jnp.where(arms == arm, jnp.inf, gaps)).astype(jnp.int32)
    return jnp.where(takes_best, best, worst)


def log_round_needed(
    divergence: Float[Array, " K"],
    f_scale: Float[Array, ""] | float,
    f_power: Float[Array, ""] | float,
) -> Float[Array, " K"]:
    """Return log t from which on an arm is due: I_j - I* - f(K)."""
    f = f_scale * jnp.asarray(float(divergence.shape[0])) ** f_power
    return divergence - jnp.min(divergence) - f


def rounds_until_entry(
    needed: Float[Array, " K"], best: Arm, round_: RoundCount
) -> RoundCount:
    """Count the rounds up to and with the first whose test lets another arm in.

    ``needed`` is that of :func:`log_round_needed`.
    """
    arms = jnp.arange(needed.shape[0], dtype=jnp.int32)
    nearest = jnp.min(jnp.where(arms == best, jnp.inf, needed))
    last = last_resolved_round(round_, nearest)
    return jnp.where(log_round(round_) >= nearest, 1, last - round_ + 2)

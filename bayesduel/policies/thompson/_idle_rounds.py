"""Which rounds of D-TS cannot teach anything, given the counts.

Between two updates of the counts the rounds of D-TS are independent and identically
distributed until a pair stops being resolved. Of the first sample only the signs
[theta_ij > 1/2] matter. Write s for the majority signs, v for the votes they give, C
for the candidates, v* = max of v over C, W for the arms of C with v* votes ("leaders").
An arm of C outside W *can reach* if its majority wins against W plus all its pairs
outside W make at least v*. A flip against the majority is *relevant* if its pair
touches W or if the majority loser of the pair can reach.

Without a relevant flip the sampled winners inside C are exactly W: pairs of W keep
their sign; an arm that cannot reach stays below v*; one that can reach gains nothing.
Arms outside C do not matter. With one candidate nothing is relevant.

A single flip rarely brings an arm to v*. Kernels count how many it lacks, which makes
fewer events of the same law (``_scalar_upsets``).
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.ops.masks import MANY_ARMS
from bayesduel.ops.resolved_rounds import (
    NEVER,
    is_unresolved,
    last_resolved_round,
    log_round,
)
from bayesduel.policies.base import others_mask
from bayesduel.posteriors.beta_pairs import PairBeliefs, majority_signs
from bayesduel.types import RoundCount


class RoundSets(NamedTuple):
    """The sets that the rule of a round is made of; constant until ``last_round``."""

    candidates: Bool[Array, " K"]
    """C: arms with the largest optimistic Copeland score."""

    eligible: Bool[Array, "K K"]
    """[i, a]: i may be the second arm against a (l_ia <= 1/2); false at i = a."""

    last_round: RoundCount
    """Last round for which these sets hold if no count changes."""


class Majority(NamedTuple):
    """The most likely signs and which flips against them could matter."""

    signs: Bool[Array, "K K"]
    """[i, j]: i more likely beats j than not; of an even pair the lower index."""

    trailing: Bool[Array, "K K"]
    """[i, j]: j more likely beats i."""

    votes: Int[Array, " K"]
    """Arms that each one more likely beats."""

    leaders: Bool[Array, " K"]
    """W."""

    relevant: Bool[Array, "K K"]
    """[i, j]: i trails j, and a sample in which i beats j may change the winners."""


class Success(NamedTuple):
    """What becomes of the second arm in a round without a relevant flip."""

    rate: Float[Array, ""]
    """-log P(no challenger of the first arm succeeds)."""

    staying: Float[Array, " K"]
    """Weights of the leaders as first arm, given that none succeeds."""

    leaving: Float[Array, " K"]
    """The same, given that one succeeds."""


def round_sets(
    ahead: Bool[Array, "K K"],
    resolution: Float[Array, "K K"],
    round_: RoundCount,
    *,
    elimination: bool,
) -> RoundSets:
    """Evaluate the confidence bounds at ``round_``: of the duels, without any prior.

    Strictness as in Wu and Liu (2016), Algorithm 1: u > 1/2 for an optimistic win,
    l <= 1/2 for an eligible challenger. Without elimination every arm takes part.

    Parameters
    ----------
    ahead : bool (K, K)
        [i, j]: i has won more duels of the pair than j.
    resolution : float64 (K, K)
        Log of the last round at which the bounds of the pair exclude 1/2.
    round_ : int64
        The round.
    elimination : bool
        Use the bounds.
    """
    num_arms = ahead.shape[0]
    others = ~np.eye(num_arms, dtype=bool)
    if not elimination:
        return RoundSets(
            candidates=jnp.ones(num_arms, dtype=bool),
            eligible=jnp.asarray(others),
            last_round=jnp.int64(NEVER),
        )
    unresolved = is_unresolved(log_round(round_), resolution)
    optimistic = jnp.sum(ahead | unresolved, axis=1, dtype=jnp.int32)
    next_flip = jnp.min(jnp.where(unresolved, jnp.inf, resolution))
    return RoundSets(
        candidates=optimistic == jnp.max(optimistic),
        eligible=(~ahead | unresolved) & others,
        last_round=last_resolved_round(round_, next_flip),
    )


def majority(beliefs: PairBeliefs, candidates: Bool[Array, " K"]) -> Majority:
    """Find the leaders among the candidates and the flips that could unseat them."""
    num_arms = beliefs.wins.shape[0]
    signs = majority_signs(beliefs)
    many = num_arms > MANY_ARMS
    trailing = ~signs & others_mask(num_arms) if many else signs.T
    votes = jnp.sum(signs, axis=1, dtype=jnp.int32)
    most = jnp.max(jnp.where(candidates, votes, -1))
    leaders = candidates & (votes == most)
    over_leaders = jnp.sum(signs & leaders[None, :], axis=1, dtype=jnp.int32)
    outside = num_arms - 1 - jnp.sum(leaders, dtype=jnp.int32)
    can_reach = candidates & ~leaders & (over_leaders + outside >= most)
    contested = jnp.sum(candidates, dtype=jnp.int32) > 1
    return Majority(
        signs=signs,
        leaders=leaders,
        votes=votes,
        trailing=trailing,
        relevant=trailing
        & ((leaders | can_reach)[:, None] | leaders[None, :])
        & contested,
    )


def challenge_rates(beliefs: PairBeliefs, sets: RoundSets) -> Float[Array, " K"]:
    """Rate of "some eligible arm samples above 1/2 against a", for every a."""
    return jnp.sum(jnp.where(sets.eligible, beliefs.rate, 0.0), axis=0)


def success_of_challengers(
    column_rates: Float[Array, " K"], leaders: Bool[Array, " K"]
) -> Success:
    """Say how likely a challenger succeeds if the first arm is any of the leaders.

    With s_w = exp(-rate of the column of w), no one succeeds with the mean of s_w over
    the leaders. In units of the largest s_w at least one summand is 1: the mean cannot
    underflow, and what it lacks of 1 is added up from what the others lack, so that it
    is neither rounded away next to 1 nor above it.
    """
    safest = jnp.min(jnp.where(leaders, column_rates, jnp.inf))
    lacking = -jnp.expm1(-jnp.where(leaders, column_rates - safest, 0.0))
    number = jnp.sum(leaders, dtype=jnp.int32).astype(lacking.dtype)
    at_least = -jnp.expm1(-safest)
    return Success(
        rate=safest - jnp.log1p(-jnp.sum(lacking) / number),
        staying=jnp.where(leaders, 1.0 - lacking, 0.0),
        leaving=jnp.where(leaders, at_least + (1.0 - at_least) * lacking, 0.0),
    )

"""Finding a Copeland winner by elimination, as SCB does within one epoch.

Zoghi, Karnin, Whiteson and de Rijke (2015), Algorithms 2 and 4: every arm is the arm of
an ordinary bandit whose reward is "beats a uniformly random opponent". A reward costs
duels of the pair until its sign is decided; after that it is free.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.ops.masks import element_of, mark_largest, materialize, ordered_pair_mask
from bayesduel.ops.sampling import choose_among
from bayesduel.policies.base import others_mask
from bayesduel.types import Arm, Duel, Outcome
from theory.divergences import bernoulli_kl, kl_lower

NOBODY = -1


class Elimination(NamedTuple):
    """Where the search stands."""

    signs: Int[Array, "K K"]
    """1 where the row was found better than the column, -1 worse, 0 undecided."""

    remaining: Bool[Array, " K"]
    stage: Int[Array, ""]
    """s, from 1: how many rewards each remaining arm will have after this stage."""

    rewards: Int[Array, " K"]
    opponents: Int[Array, " K"]
    """Whom each arm is compared with in this stage."""

    pending: Bool[Array, " K"]
    """Remaining arms without a reward in this stage; the first one's pair is dueled."""

    wins: Int[Array, ""]
    """Wins of the first pending arm in the duels of its pair so far."""

    duels: Int[Array, ""]
    answer: Int[Array, ""]
    """The winner that was found, or -1."""


def first_stage(uniforms: Float[Array, " K"]) -> Elimination:
    """Return the search before its first duel."""
    num_arms = uniforms.shape[0]
    return Elimination(
        signs=jnp.zeros((num_arms, num_arms), dtype=jnp.int8),
        remaining=jnp.ones(num_arms, dtype=bool),
        stage=jnp.int64(1),
        rewards=jnp.zeros(num_arms, dtype=jnp.int64),
        opponents=_random_opponents(uniforms),
        pending=jnp.ones(num_arms, dtype=bool),
        wins=jnp.int64(0),
        duels=jnp.int64(0),
        answer=jnp.int32(NOBODY),
    )


def pair_to_duel(search: Elimination) -> tuple[Arm, Arm]:
    """Return the first arm that waits for its reward, and its opponent."""
    arm = jnp.argmax(search.pending).astype(jnp.int32)
    return arm, element_of(search.opponents, arm)


def add_duels(search: Elimination, duel: Duel, outcome: Outcome) -> Elimination:
    """Count an outcome; one of another pair (late feedback) is left out."""
    arm, opponent = pair_to_duel(search)
    counts = jnp.any(search.pending)
    counts = counts & (duel.first == arm) & (duel.second == opponent)
    return search._replace(
        wins=search.wins + jnp.where(counts, outcome.wins, 0),
        duels=search.duels + jnp.where(counts, outcome.rounds, 0),
    )


def decide(
    search: Elimination, evidence: Float[Array, ""], level: Float[Array, ""]
) -> Elimination:
    """Store the sign of the pair if its evidence exceeds the level."""
    arm, opponent = pair_to_duel(search)
    num_arms = search.remaining.shape[0]
    decided = evidence > level
    sign = jnp.where(2 * search.wins > search.duels, 1, -1).astype(jnp.int8)
    sign = jnp.where(decided, sign, jnp.int8(0))
    here = ordered_pair_mask(num_arms, arm, opponent)
    signs = search.signs + jnp.where(here, sign, jnp.int8(0))
    signs = signs + jnp.where(here.T, -sign, jnp.int8(0))
    return _hand_out(
        search._replace(
            signs=signs,
            wins=jnp.where(decided, 0, search.wins),
            duels=jnp.where(decided, 0, search.duels),
        )
    )


def end_stage(
    uniforms: Float[Array, " K"],
    tie: Float[Array, ""],
    search: Elimination,
    level: Float[Array, ""],
    eps: Float[Array, ""] | float,
) -> Elimination:
    """Eliminate arms and go on, or answer, when no arm waits for its reward."""
    over = ~jnp.any(search.pending) & (search.answer == NOBODY)
    stage = search.stage.astype(jnp.float64)
    means = search.rewards.astype(jnp.float64) / stage
    (means,) = materialize(jnp.where(search.remaining, means, 0.0))
    # The bounds of one stage are monotone in the mean: the best mean has the largest.
    # "u_i < L" and "1 - L <= (1 + eps)(1 - U)" by the divergence, without inverting it.
    width = level / stage
    best = jnp.max(means)
    lowest = kl_lower(best, width)
    bounded = search.stage > 1  # Of a single reward the bounds are 0 and 1.
    lost = (means < lowest) & (bernoulli_kl(means, lowest) > width) & bounded
    remaining = search.remaining & ~lost
    rest = 1.0 - (1.0 - lowest) / (1.0 + eps)
    close = (rest >= best) & (bernoulli_kl(best, rest) >= width) & bounded

    known = jnp.all((search.signs != 0) | ~others_mask(means.shape[0]), axis=1)
    exact = jnp.all(known | ~remaining)
    beaten = jnp.sum(search.signs > 0, axis=1, dtype=jnp.int32).astype(means.dtype)
    score = jnp.where(remaining, jnp.where(exact, beaten, means), -1.0)
    found = choose_among(tie, mark_largest(score))
    alone = jnp.sum(remaining, dtype=jnp.int32) == 1
    answers = alone | close | exact
    after = search._replace(
        remaining=remaining,
        stage=search.stage + 1,
        opponents=_random_opponents(uniforms),
        pending=remaining & ~answers,
        answer=jnp.where(answers, found, NOBODY),
    )
    return _hand_out(
        Elimination(
            *(jnp.where(over, a, b) for a, b in zip(after, search, strict=True))
        )
    )


def _hand_out(search: Elimination) -> Elimination:
    """Give their rewards to the arms whose pairs are decided."""
    arms = jnp.arange(search.remaining.shape[0], dtype=jnp.int32)
    theirs = search.opponents[:, None] == arms[None, :]
    sign = jnp.sum(jnp.where(theirs, search.signs, 0), axis=1, dtype=jnp.int8)
    served = search.pending & (sign != 0)
    won = (served & (sign > 0)).astype(search.rewards.dtype)
    return search._replace(
        rewards=search.rewards + won, pending=search.pending & ~served
    )


def _random_opponents(uniforms: Float[Array, " K"]) -> Int[Array, " K"]:
    """Draw for every arm another one, all equally likely."""
    num_arms = uniforms.shape[0]
    arms = jnp.arange(num_arms, dtype=jnp.int32)
    drawn = jnp.floor(uniforms * (num_arms - 1)).astype(jnp.int32)
    return jnp.where(drawn >= arms, drawn + 1, drawn)

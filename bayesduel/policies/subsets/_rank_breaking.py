"""Pairwise statistics out of choices, and sets of strong rivals built from them.

Saha and Gopalan (2019): a choice out of a set, or a ranking of it, is broken into
comparisons of the chosen arm with the others.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array, lax
from jaxtyping import Bool, Float, Int

from bayesduel.ops.masks import column_of, mark_largest, materialize
from bayesduel.ops.resolved_rounds import last_resolved_round, log_round
from bayesduel.policies.base import others_mask
from bayesduel.policies.confidence_bounds import resolutions, surely_beaten
from bayesduel.types import Offer, Rewards, RoundCount


def break_ranking(
    wins: Int[Array, "n n"], offer: Offer, rewards: Rewards
) -> Int[Array, "n n"]:
    """Count each ranked arm as a winner against every offered arm behind it.

    ``rewards`` is larger for arms further ahead and 0 for the others; of one round.
    A round without a choice, or a set of one arm, counts nothing.
    """
    (score,) = materialize(jnp.where(offer.subset, rewards.rewards, -1.0))
    ahead = (score[:, None] > score[None, :]) & (score >= 0.0)[None, :]
    return wins + ahead.astype(wins.dtype)


def upper_bounds(
    wins: Int[Array, "n n"], round_: RoundCount, alpha: Float[Array, ""] | float
) -> Float[Array, "n n"]:
    """Compute u_ij = mean + sqrt(alpha log t / duels), 2 if never compared."""
    duels = (wins + wins.T).astype(jnp.float64)
    compared = jnp.maximum(duels, 1.0)
    width = jnp.sqrt(alpha * log_round(round_) / compared)
    upper = wins.astype(jnp.float64) / compared + width
    upper = jnp.where(duels > 0.0, upper, 2.0)
    return jnp.where(others_mask(wins.shape[0]), upper, 0.5)


class Rivals(NamedTuple):
    """What the confidence bounds of a round say."""

    upper: Float[Array, "n n"]
    beaten: Bool[Array, "n n"]
    """[i, j]: u_ij < 1/2."""

    settled: RoundCount
    """Rounds, this one included, in which the arms that nobody surely beats stay so
    and no other joins them, if nothing is learnt."""


def rivals(
    wins: Int[Array, "n n"], round_: RoundCount, alpha: Float[Array, ""] | float
) -> Rivals:
    """Evaluate the confidence bounds at ``round_``."""
    resolution = resolutions(wins, alpha)
    beaten = surely_beaten(wins, resolution, round_)
    # A beaten arm joins when the last of its lost comparisons is open again.
    last = jnp.max(jnp.where(beaten, resolution, -jnp.inf), axis=1)
    joins = jnp.min(jnp.where(jnp.any(beaten, axis=1), last, jnp.inf))
    return Rivals(
        upper=upper_bounds(wins, round_, alpha),
        beaten=beaten,
        settled=last_resolved_round(round_, joins) - round_ + 1,
    )


class _Building(NamedTuple):
    free: Bool[Array, " n"]
    """Arms that may still be added, at this level or a later one."""

    level: Bool[Array, " n"]
    """Arms of this level that are not in the set yet."""

    subset: Bool[Array, " n"]
    closest: Float[Array, " n"]
    """Smallest u against the arms that this level has added."""

    missing: Int[Array, ""]
    going: Bool[Array, ""]


def build(
    known: Rivals,
    uniforms: Float[Array, "k n"],
    size: int,
    *,
    levels: bool,
) -> Bool[Array, " n"]:
    """Build a set out of the arms that nobody surely beats.

    The first arm is uniform among them; then the one whose smallest u against those
    already in the set is largest, ties at random, until ``size`` arms are in or all
    are. With ``levels`` the rest is filled up in the same way from the arms that none
    of those left over surely beats. A level in which every arm is surely beaten has the
    arm with the largest smallest u.

    Parameters
    ----------
    known : Rivals
        The bounds of the round.
    uniforms : float64 (k, n)
        On [0, 1): who is first, and who wins ties, one row for every place. A tie says
        something about the uniforms that decided it, so none of them serves twice.
    size : int
        Most arms of the set; with ``levels`` it has exactly so many.
    levels : bool
        Fill the set up.
    """
    num_arms = uniforms.shape[1]
    arms = jnp.arange(num_arms, dtype=jnp.int32)
    places = jnp.arange(uniforms.shape[0], dtype=jnp.int32)

    def candidates(
        free: Bool[Array, " n"], uniforms: Float[Array, " n"]
    ) -> Bool[Array, " n"]:
        unbeaten = free & ~jnp.any(known.beaten & free[None, :], axis=1)
        rival = free[None, :] & others_mask(num_arms)
        weakest = jnp.min(jnp.where(rival, known.upper, jnp.inf), axis=1)
        lucky = mark_largest(uniforms, mark_largest(weakest, free))
        return jnp.where(jnp.any(unbeaten), unbeaten, lucky)

    def add(now: _Building) -> _Building:
        fresh = ~jnp.any(now.level)
        here = places == size - now.missing
        own = jnp.sum(jnp.where(here[:, None], uniforms, 0.0), axis=0)
        level = jnp.where(fresh, candidates(now.free, own), now.level)
        closest = jnp.where(fresh, jnp.inf, now.closest)
        lucky = mark_largest(own, mark_largest(closest, level))
        arm = jnp.argmax(lucky).astype(jnp.int32)
        chosen = arms == arm
        missing = now.missing - 1
        level = level & ~chosen
        more = jnp.bool_(True) if levels else jnp.any(level)
        return _Building(
            free=now.free & ~chosen,
            level=level,
            subset=now.subset | chosen,
            closest=jnp.minimum(closest, column_of(known.upper, arm)),
            missing=missing,
            going=(missing > 0) & more,
        )

    nobody = jnp.zeros(num_arms, dtype=bool)
    start = _Building(
        free=~nobody,
        level=nobody,
        subset=nobody,
        closest=jnp.full(num_arms, jnp.inf, dtype=jnp.float64),
        missing=jnp.int32(size),
        going=jnp.bool_(True),
    )
    return lax.while_loop(lambda now: now.going, add, start).subset

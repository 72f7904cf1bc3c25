"""Which arms the confidence bounds of D-TS leave, and for how long.

A pair with w wins in n duels is *resolved* by the bounds p +- sqrt(alpha log t / n)
(Zoghi et al. 2014; Wu and Liu 2016) exactly while

    log t <= x,    x = (w - l)^2 / (4 alpha n)        (= n (p - 1/2)^2 / alpha);

a pair that was never compared is unresolved from the start (the "x/0 := 1" rule).
``ops.scalar.resolved_rounds`` has the same for kernels.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.arguments.limits import LONGEST_HORIZON
from bayesduel.types import RoundCount


class RoundSets(NamedTuple):
    """The sets that the rule of a round is made of; constant until ``last_round``."""

    candidates: Bool[Array, " K"]  # C: arms with the largest optimistic Copeland score.
    # [i, a]: i may be the second arm against a (l_ia <= 1/2); false at i = a.
    eligible: Bool[Array, "K K"]
    last_round: RoundCount  # Last round for which these sets hold if no count changes.


def all_arms(num_arms: int) -> RoundSets:
    """Return the sets where there are no bounds."""
    return RoundSets(
        candidates=jnp.ones(num_arms, dtype=bool),
        eligible=~jnp.eye(num_arms, dtype=bool),
        last_round=jnp.int64(LONGEST_HORIZON),
    )


def round_sets(
    wins: Int[Array, "K K"], alpha: Float[Array, ""] | float, round_: RoundCount
) -> RoundSets:
    """Evaluate the confidence bounds at ``round_``: of the duels, without any prior.

    Strictness as in Wu and Liu (2016), Algorithm 1: u > 1/2 for an optimistic win,
    l <= 1/2 for an eligible challenger.
    """
    others = ~jnp.eye(len(wins), dtype=bool)
    duels, gap = wins + wins.T, (wins - wins.T).astype(jnp.float64)
    last = gap * gap / (4.0 * alpha * jnp.maximum(duels, 1).astype(jnp.float64))
    last = jnp.where(others, jnp.where(duels > 0, last, -1.0), jnp.inf)
    unresolved = _log(round_) > last
    ahead = wins > wins.T
    optimistic = jnp.sum(ahead | unresolved, axis=1)
    next_flip = jnp.min(jnp.where(unresolved, jnp.inf, last))
    return RoundSets(
        candidates=optimistic == jnp.max(optimistic),
        eligible=(~ahead | unresolved) & others,
        last_round=_last_round(round_, next_flip),
    )


def _log(round_: RoundCount) -> Float[Array, ""]:
    return jnp.log(round_.astype(jnp.float64))


def _last_round(round_: RoundCount, last_log: Float[Array, ""]) -> RoundCount:
    """Return the last round, not before ``round_``, of at most this logarithm.

    ``floor(exp(x))`` corrected against the predicate itself: rounding moves it by one
    at most.
    """
    far = last_log > jnp.log(float(LONGEST_HORIZON))
    guess = jnp.floor(jnp.exp(jnp.where(far, 0.0, last_log))).astype(jnp.int64)
    guess = jnp.maximum(round_, guess)
    guess = guess + jnp.where(_log(guess + 1) > last_log, 0, 1)
    late = (_log(guess) > last_log) & (guess > round_)
    return jnp.where(far, LONGEST_HORIZON, guess - jnp.where(late, 1, 0))

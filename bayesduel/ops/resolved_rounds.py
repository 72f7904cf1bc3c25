"""When a confidence bound stops resolving a pair, as an integer round.

A pair with w wins in n duels is *resolved* by the bounds p +- sqrt(alpha log t / n)
(Zoghi et al. 2014; Wu and Liu 2016) exactly while

    log t <= x,    x = (w - l)^2 / (4 alpha n)        (= n (p - 1/2)^2 / alpha).

``is_unresolved`` is the only place where that is decided; the round-by-round and the
look-ahead forms of a policy both call it, so they can never disagree by one round. The
forms of the papers, u > 1/2, u >= 1/2 and l <= 1/2, differ from it at equality only,
which a positive x never meets at an integer round when alpha is rational.
"""

import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.types import RoundCount

NEVER = 2**62
"""A round beyond every horizon."""


def resolution(
    wins: Int[Array, "..."], losses: Int[Array, "..."], alpha: Float[Array, ""]
) -> Float[Array, "..."]:
    """Return x, the log of the last round at which the pair is resolved.

    -1 for a pair that has never been compared: it is unresolved from the start
    (the "x/0 := 1" rule gives u = 2 and l = 0).
    """
    duels = wins + losses
    gap = (wins - losses).astype(jnp.float64)
    x = gap * gap / (4.0 * alpha * jnp.maximum(duels, 1).astype(jnp.float64))
    return jnp.where(duels > 0, x, -1.0)


def is_unresolved(
    log_round: Float[Array, ""], resolution: Float[Array, "..."]
) -> Bool[Array, "..."]:
    """Say whether the bounds of a pair contain 1/2."""
    return log_round > resolution


def log_round(round_: RoundCount) -> Float[Array, ""]:
    """Natural logarithm of a round, in float64."""
    return jnp.log(round_.astype(jnp.float64))


def last_resolved_round(round_: RoundCount, resolution: Float[Array, ""]) -> RoundCount:
    """Last round, not before ``round_``, at which ``resolution`` still resolves.

    ``floor(exp(x))`` corrected against the predicate itself: rounding moves it by one
    at most. ``NEVER`` when no horizon reaches it. Beyond round 1e13 neighbors have the
    same logarithm, and the result is right to one part in 1e14.
    """
    far = resolution > jnp.log(float(NEVER))
    guess = jnp.floor(jnp.exp(jnp.where(far, 0.0, resolution))).astype(jnp.int64)
    guess = jnp.maximum(round_, guess)
    guess = guess + jnp.where(is_unresolved(log_round(guess + 1), resolution), 0, 1)
    late = is_unresolved(log_round(guess), resolution) & (guess > round_)
    guess = guess - jnp.where(late, 1, 0)
    return jnp.where(far, NEVER, guess)

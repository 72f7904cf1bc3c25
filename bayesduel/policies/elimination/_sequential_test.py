"""Which of two arms is better: duels of one pair until the evidence suffices.

With w wins in n duels, the evidence against "equally good" is n d(w/n, 1/2), d being
the Bernoulli divergence (natural logarithm). A sequential test compares it with a
level that grows with n or t, slowly.
"""

import jax.numpy as jnp
from jax import Array
from jaxtyping import Float, Int

from bayesduel.ops.resolved_rounds import NEVER
from theory.divergences import kl_to_half

_NEWTON_STEPS = 5


def sign_evidence(
    wins: Int[Array, "..."], duels: Int[Array, "..."]
) -> Float[Array, "..."]:
    """Return n d(w/n, 1/2), 0 before any duel."""
    number = duels.astype(jnp.float64)
    lead = (2 * wins - duels).astype(jnp.float64)
    return number * kl_to_half(0.5 * lead / jnp.maximum(number, 1.0))


def duels_without_decision(
    wins: Int[Array, ""], duels: Int[Array, ""], level: Float[Array, ""]
) -> Int[Array, ""]:
    """Count the duels after which, and not before, evidence may exceed ``level``.

    k more duels carry the most evidence if the arm that leads wins them all, so none of
    the first k - 1 can decide while

        F(k) = (n + k) d((w + k)/(n + k), 1/2) <= level,    2 w >= n.

    F is convex and increasing. Pinsker's inequality, F(k) >= (2w - n + k)^2 / (2(n +
    k)), gives a start to the right of the root, from where Newton's method falls onto
    it. The result is at least 1 and rather one too small than too large. With a level
    that only grows, playing that many duels at once is stepping through them.

    Parameters
    ----------
    wins, duels : int
        Of one of the two arms, so far.
    level : float64
        A lower bound of the level during the next duels, positive.
    """
    ahead = jnp.maximum(wins, duels - wins)
    won, lost = ahead.astype(jnp.float64), (duels - ahead).astype(jnp.float64)
    number, lead = won + lost, won - lost
    # Beyond all that any number of duels could carry; more would overflow.
    level = jnp.minimum(level, float(NEVER) / 4.0)
    more = level - lead + jnp.sqrt(level * level + 2.0 * level * (number - lead))
    for _ in range(_NEWTON_STEPS):
        total = number + more
        gap = jnp.minimum(0.5 * (lead + more) / total, 0.5)
        slope = jnp.log1p(2.0 * gap)
        more = more - (total * kl_to_half(gap) - level) / slope
    found = jnp.maximum(jnp.floor(more), 1.0).astype(duels.dtype)
    safe = sign_evidence(ahead + found - 1, duels + found - 1) <= level
    return jnp.where(safe, found, 1)

"""How long the k largest indices stay the k largest, whatever the rewards.

An arm with plays N and total reward C has the index C/N + w / sqrt(N). A round without
a reward for it lowers the index to C/(N + 1) + w / sqrt(N + 1), any reward leaves it
higher. So the set cannot change before the worst case of one of its arms meets the best
index outside: these rounds can be played in one go.
"""

import jax.numpy as jnp
from jax import Array
from jaxtyping import Bool, Float, Int

from bayesduel.ops.resolved_rounds import NEVER
from bayesduel.types import RoundCount

_BELOW = 1.0 - 1e-12
"""Less than 1 by far more than rounding."""


def index_values(
    totals: Float[Array, " n"], plays: Int[Array, " n"], width: Float[Array, ""]
) -> Float[Array, " n"]:
    """Return C/N + w / sqrt(N), infinite for an arm never played."""
    times = jnp.maximum(plays, 1).astype(jnp.float64)
    return jnp.where(plays > 0, totals / times + width / jnp.sqrt(times), jnp.inf)


def safe_rounds(
    totals: Float[Array, " n"],
    plays: Int[Array, " n"],
    subset: Bool[Array, " n"],
    width: Float[Array, ""],
    outside: Float[Array, ""],
) -> RoundCount:
    """Return for how many rounds ``subset`` surely stays ahead of ``outside``.

    With y = 1 / sqrt(N) the index is C y^2 + w y; it exceeds o while y > y*, the
    positive root of C y^2 + w y = o.

    Parameters
    ----------
    totals, plays : float64 (n,), int64 (n,)
        C and N.
    subset : bool (n,)
        The arms that are offered now.
    width : float64
        w now; it must not decrease meanwhile.
    outside : float64
        An upper bound on the other indices during these rounds.

    Returns
    -------
    int64
        At least 1: the present round belongs to ``subset`` in any case.
    """
    number = plays.astype(jnp.float64)
    root = width + jnp.sqrt(width * width + 4.0 * totals * jnp.maximum(outside, 0.0))
    # 1 / y*^2; infinite where nothing is outside. Often it is a whole number, where an
    # arm will be level with an equally lucky one: rounding, which can depend on the
    # number of lanes, must not decide on which side of it this falls.
    reach = _BELOW * (root / (2.0 * jnp.maximum(outside, 1e-300))) ** 2
    rounds = jnp.where(subset, jnp.ceil(reach - number), jnp.inf)
    fewest = jnp.clip(jnp.min(rounds), 1.0, float(NEVER) / 2).astype(jnp.int64)
    # Rounding may have overshot: the last of these rounds must still be theirs.
    last = plays + fewest - 1
    stays = index_values(totals, last, width) > outside
    return jnp.where(jnp.all(stays | ~subset), fewest, 1)

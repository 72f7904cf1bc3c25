"""Drawing who is chosen, one round or many rounds at a time."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jaxtyping import Bool, Float, Int

from bayesduel.ops.masks import materialize
from bayesduel.ops.sampling import cumulative, waiting_time
from bayesduel.simulation._binomial_draws import binomial
from bayesduel.types import RoundCount, RunKey

_FEW = 64
"""Up to so many choices are drawn one by one, more of them by halving the arms."""

_AT_ONCE = 16
"""Choices drawn at once, where they are drawn one by one."""


def winner(
    uniform: Float[Array, ""], chances: Float[Array, " n"]
) -> Float[Array, " n"]:
    """Draw who is chosen in one round: 1 for the winner, or 0 for all.

    Nobody is chosen with the rest of the probability.
    """
    upper = cumulative(chances)
    lower = jnp.concatenate([jnp.zeros(1, dtype=upper.dtype), upper[:-1]])
    return ((lower <= uniform) & (uniform < upper)).astype(jnp.float64)


def ranking(
    uniforms: Float[Array, " n"],
    weights: Float[Array, " n"],
    offered: Bool[Array, " n"],
    places: int,
) -> Float[Array, " n"]:
    """Draw a Plackett-Luce ranking of the offered arms.

    Arms arrive after exponential times with their weights as rates; the order is that
    of drawing without replacement in proportion to the weights. ``places`` for the
    first arm, one less for each later one, 0 at last.
    """
    (arrival,) = materialize(
        jnp.where(offered, -jnp.log1p(-uniforms) / weights, jnp.inf)
    )
    earlier = jnp.sum(arrival[None, :] < arrival[:, None], axis=1, dtype=jnp.int32)
    return jnp.where(offered, jnp.maximum(places - earlier, 0), 0).astype(jnp.float64)


def rounds_until_no_choice(
    uniform: Float[Array, ""], nobody: Float[Array, ""], most: RoundCount
) -> tuple[RoundCount, RoundCount]:
    """Draw the rounds up to the first in which nobody is chosen, that one included.

    Returns the rounds played, at most ``most``, and those of them with a choice: all of
    them if ``most`` cuts. With ``nobody`` = 0 it does.
    """
    choices, ends = waiting_time(uniform, nobody, most)
    return choices + jnp.where(ends, 1, 0), choices


def count_winners(
    rng_key: RunKey, chances: Float[Array, " n"], number: RoundCount
) -> Float[Array, " n"]:
    """Draw how often each outcome happens in ``number`` rounds.

    A multinomial draw of whole numbers; consumes ``rng_key``. A few rounds are drawn
    one after the other, more of them by binomial draws between halves of the outcomes.
    The chances are in proportion to the probabilities; some are positive if ``number``
    is.
    """
    key_few, key_many = jax.random.split(rng_key)
    few = number <= _FEW
    one_by_one = _one_by_one(key_few, chances, jnp.where(few, number, 0))
    halving = _by_halves(key_many, chances, jnp.where(few, 0, number))
    return one_by_one + halving


def _one_by_one(
    rng_key: RunKey, chances: Float[Array, " n"], number: RoundCount
) -> Float[Array, " n"]:
    upper = cumulative(chances)
    lower = jnp.concatenate([jnp.zeros(1, dtype=upper.dtype), upper[:-1]])
    places = np.arange(_AT_ONCE)

    def going(loop: tuple[Int[Array, ""], Float[Array, " n"]]) -> Bool[Array, ""]:
        return loop[0] * _AT_ONCE < number

    def draw(
        loop: tuple[Int[Array, ""], Float[Array, " n"]],
    ) -> tuple[Int[Array, ""], Float[Array, " n"]]:
        turn, counts = loop
        key = jax.random.fold_in(rng_key, turn.astype(jnp.uint32))
        uniforms = jax.random.uniform(key, (_AT_ONCE,), dtype=jnp.float64)
        # Just below the total, so that rounding never leaves a choice without an arm.
        target = jnp.minimum(uniforms, 1.0 - 2.0**-52) * upper[-1]
        wanted = turn * _AT_ONCE + places < number
        hits = (lower[None, :] <= target[:, None]) & (target[:, None] < upper[None, :])
        drawn = jnp.sum(hits & wanted[:, None], axis=0, dtype=jnp.int32)
        return turn + 1, counts + drawn.astype(counts.dtype)

    start = (jnp.int64(0), jnp.zeros_like(chances))
    return lax.while_loop(going, draw, start)[1]


def _by_halves(
    rng_key: RunKey, chances: Float[Array, " n"], number: RoundCount
) -> Float[Array, " n"]:
    """Split the choices between two halves of the arms, and again, down to arms."""
    num_arms = chances.shape[0]
    levels = max(int(np.ceil(np.log2(num_arms))), 1)
    leaves = 2**levels
    padding = jnp.zeros(leaves - num_arms, dtype=chances.dtype)
    sums = jnp.concatenate([chances, padding])
    shares = []  # Per level: how much of each node belongs to its left half.
    for _ in range(levels):
        left, right = sums.reshape(-1, 2)[:, 0], sums.reshape(-1, 2)[:, 1]
        sums = left + right
        share = jnp.where(sums > 0, left / jnp.where(sums > 0, sums, 1.0), 0.0)
        missing = jnp.zeros(leaves // 2 - share.shape[0], dtype=share.dtype)
        shares.append(jnp.concatenate([jnp.clip(share, 0.0, 1.0), missing]))
    table = jnp.stack(shares[::-1])
    level_of = np.arange(levels, dtype=np.int32)

    def going(loop: tuple[Int[Array, ""], Int[Array, " m"]]) -> Bool[Array, ""]:
        return loop[0] < levels

    def split(
        loop: tuple[Int[Array, ""], Int[Array, " m"]],
    ) -> tuple[Int[Array, ""], Int[Array, " m"]]:
        level, counts = loop
        key = jax.random.fold_in(rng_key, level.astype(jnp.uint32))
        here = (level_of == level)[:, None]
        share = jnp.sum(jnp.where(here, table, 0.0), axis=0)
        parents = counts[: leaves // 2]
        drawn = binomial(key, parents, share)
        children = jnp.stack([drawn, parents - drawn], axis=1)
        return level + 1, children.reshape(leaves)

    root = jnp.where(np.arange(leaves) == 0, number, 0)
    first = jnp.where(number > 0, 0, levels).astype(jnp.int32)
    counts = lax.while_loop(going, split, (first, root))[1][:num_arms]
    return counts.astype(chances.dtype)


def independent_rewards(
    rng_key: RunKey,
    chances: Float[Array, " n"],
    rounds: RoundCount,
    *,
    levels: int,
    in_bulk: bool,
) -> Float[Array, " n"]:
    """Draw every arm's sum of rewards, in steps of the smallest one.

    Binomial(levels * rounds, chances); consumes ``rng_key``. A chance is the mean share
    of the largest reward, 0 for arms that are not offered; ``levels`` is the number of
    steps to it. There is at most one round unless ``in_bulk``.
    """
    if not in_bulk:
        shape = (levels, chances.shape[0])
        uniforms = jax.random.uniform(rng_key, shape, dtype=jnp.float64)
        hits = jnp.sum(uniforms < chances[None, :], axis=0, dtype=jnp.int32)
        return jnp.where(rounds > 0, hits.astype(jnp.float64), 0.0)
    # Level by level: their number times that of the rounds may be no int64.
    shape = (levels, chances.shape[0])
    drawn = binomial(
        rng_key, jnp.broadcast_to(rounds, shape), jnp.broadcast_to(chances, shape)
    )
    return jnp.sum(drawn.astype(jnp.float64), axis=0)

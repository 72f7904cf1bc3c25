"""Worlds in which a rival has more wins than the leader: how likely, and one of them.

Between a rival i and the leader w of K arms decide the pairs {i, w}, {i, j} and {j, w}
for all other j. Their signs are independent under the posterior. With X_ij = [i beats
j], the rival has more wins than the leader exactly where

    2 X_iw + sum_j X_ij + sum_j X_jw >= K,

since w has K - 1 - X_iw - sum_j X_jw wins. The chance of that is computed by adding
products of probabilities and nothing else, so that the smallest ones keep their digits.

The decisive pairs of every rival stand in 2 K + 1 rows: {i, w}, which counts twice;
then {i, j} for j = 0, ..., K - 1; then {j, w} likewise. Rows without a pair (j is i or
w) never point the rival's way.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jaxtyping import Bool, Float

from bayesduel.ops.masks import column_of, element_of
from bayesduel.types import Arm

EQUAL_COSTS = 1e-9
"""Costs that differ by less, relatively, are equal: their order must not depend on the
order in which numbers were added."""


class Signs(NamedTuple):
    """Chances that pairs point a rival's way, and that they point the other way."""

    favorable: Float[Array, "..."]
    unfavorable: Float[Array, "..."]


def signs_of_pairs(
    chance: Float[Array, "K K"], ahead: Bool[Array, "K K"], *, flips_only: bool
) -> Signs:
    """Return [i, j]: how i beats j in a world that is to favor i.

    With ``flips_only`` a majority that already points that way is taken as certain.
    """
    if not flips_only:
        return Signs(chance, chance.T)
    return Signs(jnp.where(ahead, 1.0, chance), jnp.where(ahead, 0.0, chance.T))


def decisive_signs(pairs: Signs, leader: Arm) -> Signs:
    """Return [row, rival]; the column of the leader means nothing."""
    num_arms = pairs.favorable.shape[0]
    arms = jnp.arange(num_arms, dtype=jnp.int32)
    is_pair = ~np.eye(num_arms, dtype=bool) & (arms != leader)[:, None]

    def rows(values: Array, without_pair: float) -> Array:
        direct = column_of(values, leader)
        return jnp.concatenate(
            [
                direct[None, :],
                jnp.where(is_pair, values.T, without_pair),
                jnp.where(is_pair, direct[:, None], without_pair),
            ]
        )

    return Signs(rows(pairs.favorable, 0.0), rows(pairs.unfavorable, 1.0))


def dethroning_chances(signs: Signs, leader: Arm) -> Float[Array, " K"]:
    """Return Phi_i, the chance that i has more wins than the leader; 0 of itself."""
    num_arms = signs.favorable.shape[1]
    tail, _ = lax.scan(
        _add_row, _nothing_left(signs), _behind_first(signs), reverse=True
    )
    found = _with_first_row(signs, tail)
    return jnp.where(jnp.arange(num_arms, dtype=jnp.int32) == leader, 0.0, found)


def sample_world(uniforms: Float[Array, " E"], signs: Signs) -> Bool[Array, " E"]:
    """Draw the decisive signs of one rival, given that they dethrone the leader.

    Row after row, each sign with its own chance times the chance that the rows behind
    it supply what is then still needed: the law of all signs under the condition.

    Parameters
    ----------
    uniforms : float64 (2 K + 1,)
        On [0, 1).
    signs : Signs of (2 K + 1,)
        The column of the rival.

    Returns
    -------
    bool (2 K + 1,)
        Which pairs point the rival's way.
    """
    num_rows = uniforms.shape[0]
    tail, behind = lax.scan(
        _add_row_and_keep, _nothing_left(signs), _behind_first(signs), reverse=True
    )
    tails = jnp.concatenate([tail[None, :], behind])
    points = jnp.asarray(np.where(np.arange(num_rows) == 0, 2, 1), dtype=jnp.int32)
    needed = jnp.int32((num_rows - 1) // 2)
    return lax.scan(_draw_row, needed, (uniforms, signs, tails, points))[1]


def dethroning_slopes(signs: Signs) -> Float[Array, "E K"]:
    """Return the derivative of Phi_i by the chance of every row, [row, rival].

    It is P(enough | the row points its way) - P(enough | it does not), not negative.
    The column of the leader means nothing. O(K^3) operations and memory.
    """
    tail, behind = lax.scan(
        _add_row_and_keep, _nothing_left(signs), _behind_first(signs), reverse=True
    )
    num_arms = tail.shape[-1] - 1
    needs = np.arange(num_arms + 1)
    ways = jnp.where(needs == num_arms - 2, signs.favorable[0][..., None], 0.0)
    ways = ways + jnp.where(needs == num_arms, signs.unfavorable[0][..., None], 0.0)
    _, before = lax.scan(_spend_row_and_keep, ways, _behind_first(signs))
    rest = jnp.sum(before * (_one_less_needed(behind) - behind), axis=-1)
    first = tail[..., num_arms - 2] - tail[..., num_arms]
    return jnp.concatenate([first[None, :], rest])


def _nothing_left(signs: Signs) -> Float[Array, "... N"]:
    """Return P(no row supplies r) for r = 0, ..., K: N = K + 1 entries."""
    rows, *rivals = signs.favorable.shape
    start = np.zeros((*rivals, (rows - 1) // 2 + 1))
    start[..., 0] = 1.0
    return jnp.asarray(start)


def _behind_first(signs: Signs) -> Signs:
    return Signs(signs.favorable[1:], signs.unfavorable[1:])


def _with_first_row(signs: Signs, tail: Float[Array, "... N"]) -> Float[Array, "..."]:
    """Add {i, w}: of the K that are needed it supplies 2."""
    num_arms = tail.shape[-1] - 1
    direct = signs.favorable[0] * tail[..., num_arms - 2]
    return direct + signs.unfavorable[0] * tail[..., num_arms]


def _one_less_needed(tail: Float[Array, "... N"]) -> Float[Array, "... N"]:
    """Return the tail at max(r - 1, 0)."""
    return jnp.concatenate([tail[..., :1], tail[..., :-1]], axis=-1)


def _add_row(tail: Array, row: Signs) -> tuple[Array, None]:
    """Return P(this row and those behind it supply r)."""
    favorable, unfavorable = (each[..., None] for each in row)
    return favorable * _one_less_needed(tail) + unfavorable * tail, None


def _add_row_and_keep(tail: Array, row: Signs) -> tuple[Array, Array]:
    return _add_row(tail, row)[0], tail


def _spend_row_and_keep(ways: Array, row: Signs) -> tuple[Array, Array]:
    """Return P(r is still needed after this row), given the same before it."""
    favorable, unfavorable = (each[..., None] for each in row)
    supplied = favorable * ways
    moved = jnp.concatenate(
        [supplied[..., :1] + supplied[..., 1:2], supplied[..., 2:], ways[..., :1] * 0],
        axis=-1,
    )
    return unfavorable * ways + moved, ways


def _draw_row(needed: Arm, row: Any) -> tuple[Arm, Bool[Array, ""]]:
    """Draw one sign; ``needed`` is what this row and those behind it must supply."""
    uniform, sign, tail, points = row
    less = jnp.maximum(needed - points, 0)
    yes = sign.favorable * element_of(tail, less)
    no = sign.unfavorable * element_of(tail, needed)
    drawn = uniform * (yes + no) < yes
    return jnp.where(drawn, less, needed), drawn

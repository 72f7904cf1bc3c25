"""Reading and marking entries by masks.

In a batch, where every lane has its own index, a masked sum over a few arms is cheaper
than a gather and a select far cheaper than a scatter. Of many arms only the row that is
wanted is read.
"""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jaxtyping import Bool, Float, Shaped

from bayesduel.types import Arm

MANY_ARMS = 64
"""Above this, a pass over all pairs costs more than the bookkeeping that avoids it."""


def ordered_pair_mask(num_arms: int, row: Arm, column: Arm) -> Bool[Array, "K K"]:
    """Mark [row, column] (a select is cheaper than a scatter in a batch)."""
    arms = jnp.arange(num_arms, dtype=jnp.int32)
    return (arms == row)[:, None] & (arms == column)[None, :]


def materialize[*Values](*values: *Values) -> tuple[*Values]:
    """Compute values once, before they are broadcast.

    XLA merges a cheap-looking computation into each consumer; if that is K x K, numbers
    of one lane are then computed K^2 times. It may also round them differently in each,
    so that a number differs from itself: what is compared with what was computed from
    it must be computed once.
    """
    return lax.optimization_barrier(values)


def mark_largest(
    values: Float[Array, " n"], among: Bool[Array, " n"] | None = None
) -> Bool[Array, " n"]:
    """Mark all entries that have the largest value, of all or of those ``among``.

    No entry is marked where there is none to choose among. Each value is computed once,
    so that the largest one is equal to itself.
    """
    if among is None:
        (values,) = materialize(values)
        return values == jnp.max(values)
    (values,) = materialize(jnp.where(among, values, -jnp.inf))
    return among & (values == jnp.max(values))


def compute_if[Value](
    condition: Bool[Array, ""], compute: Callable[[], Value], otherwise: Value
) -> Value:
    """Return ``compute()`` where the condition holds, else ``otherwise``.

    A loop of one turn at most. In a batch a conditional would compute both sides for
    all lanes; this one is skipped when no lane needs it.
    """

    def turn(loop: tuple[Array, Value]) -> tuple[Array, Value]:
        return jnp.bool_(False), compute()

    return lax.while_loop(lambda loop: loop[0], turn, (condition, otherwise))[1]


def row_of(matrix: Shaped[Array, "K K"], row: Arm) -> Shaped[Array, " K"]:
    """Return ``matrix[row]``."""
    if matrix.shape[0] > MANY_ARMS:
        return lax.dynamic_index_in_dim(matrix, row, 0, keepdims=False)
    return _pick(matrix, _is(row, matrix.shape[0])[:, None], axis=0)


def column_of(matrix: Shaped[Array, "R K"], column: Arm) -> Shaped[Array, " R"]:
    """Return ``matrix[:, column]``."""
    if matrix.shape[1] > MANY_ARMS:
        return lax.dynamic_index_in_dim(matrix, column, 1, keepdims=False)
    return _pick(matrix, _is(column, matrix.shape[1])[None, :], axis=1)


def entry_of(matrix: Shaped[Array, "K K"], row: Arm, column: Arm) -> Shaped[Array, ""]:
    """Return ``matrix[row, column]``."""
    return element_of(column_of(matrix, column), row)


def element_of(vector: Shaped[Array, " K"], index: Arm) -> Shaped[Array, ""]:
    """Return ``vector[index]``."""
    return _pick(vector, _is(index, vector.shape[0]), axis=0)


def _is(index: Arm, size: int) -> Bool[Array, " K"]:
    return jnp.arange(size, dtype=jnp.int32) == index


def _pick(values: Array, mask: Array, axis: int) -> Array:
    if values.dtype == bool:
        return jnp.any(values & mask, axis=axis)
    zero = jnp.zeros((), dtype=values.dtype)
    return jnp.sum(jnp.where(mask, values, zero), axis=axis, dtype=values.dtype)


def first_marked(mask: Bool[Array, " n"]) -> Bool[Array, " n"]:
    """Mark the first true entry alone, none if there is none.

    By a minimum of indices: in a batch a running count costs four times as much.
    """
    size = mask.shape[0]
    index = jnp.arange(size, dtype=jnp.int32)
    return index == jnp.min(jnp.where(mask, index, size))


def upper_triangle(matrix: Shaped[Array, "K K"]) -> Shaped[Array, " P"]:
    """List what is above the diagonal, row by row: one entry per unordered pair.

    By slices: a gather would put the lanes in the wrong order.
    """
    num_arms = matrix.shape[0]
    return jnp.concatenate([matrix[arm, arm + 1 :] for arm in range(num_arms)])


def symmetric_matrix(
    values: Shaped[Array, " P"], num_arms: int
) -> Shaped[Array, "K K"]:
    """Lay out one number per unordered pair as a symmetric matrix, 0 on the diagonal.

    The inverse of :func:`upper_triangle`.
    """
    ends = np.cumsum(np.arange(num_arms - 1, -1, -1))
    rows = [
        jnp.concatenate(
            [
                jnp.zeros(arm + 1, dtype=values.dtype),
                values[end - (num_arms - 1 - arm) : end],
            ]
        )
        for arm, end in enumerate(ends.tolist())
    ]
    upper = jnp.stack(rows)
    return upper + upper.T

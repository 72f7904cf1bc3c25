"""Masked reads and writes, against plain indexing."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayesduel.ops import masks
from bayesduel.ops.masks import MANY_ARMS

SIZES = [4, MANY_ARMS + 1]


@pytest.mark.parametrize("num_arms", SIZES)
@pytest.mark.parametrize("dtype", [bool, np.int32, np.float64])
def test_reading(num_arms, dtype):
    matrix = np.random.default_rng(1).integers(0, 2, (num_arms, num_arms)).astype(dtype)
    with jax.enable_x64(True):
        for row, column in ((0, 0), (1, 3), (num_arms - 1, 2)):
            at = jnp.int32(row), jnp.int32(column)
            found = masks.row_of(jnp.asarray(matrix), at[0])
            np.testing.assert_array_equal(found, matrix[row])
            assert found.dtype == dtype
            found = masks.column_of(jnp.asarray(matrix), at[1])
            np.testing.assert_array_equal(found, matrix[:, column])
            assert masks.entry_of(jnp.asarray(matrix), *at) == matrix[row, column]


def test_computing_only_where_it_is_wanted():
    """Per lane, and not at all if no lane wants it."""
    computed = []

    def one(wanted, value):
        def compute():
            jax.debug.callback(computed.append, value)
            return 2.0 * value

        return masks.compute_if(wanted, compute, value)

    batched = jax.jit(jax.vmap(one))
    values = jnp.array([1.0, 2.0, 3.0])
    found = batched(jnp.array([True, False, True]), values)
    assert found.tolist() == [2.0, 2.0, 6.0]
    jax.effects_barrier()
    assert computed
    del computed[:]
    assert batched(jnp.zeros(3, dtype=bool), values).tolist() == [1.0, 2.0, 3.0]
    jax.effects_barrier()
    assert not computed


def test_first_marked_entry():
    every = np.array(list(itertools.product([False, True], repeat=4)))
    for mask in every:
        expected = np.zeros(4, dtype=bool)
        expected[np.flatnonzero(mask)[:1]] = True
        np.testing.assert_array_equal(masks.first_marked(jnp.asarray(mask)), expected)

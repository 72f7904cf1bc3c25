"""What rules of one run are made of."""

import numpy as np
import pytest

from bayesduel.ops.rules import inverted, record


@pytest.mark.parametrize("size", [1, 2, 5, 17])
def test_inverses_are_those_of_lapack(size):
    rng = np.random.default_rng(size)
    for _ in range(20):
        matrix = rng.normal(size=(size, size))
        np.testing.assert_allclose(inverted(matrix) @ matrix, np.eye(size), atol=1e-9)
        before = matrix.copy()
        inverted(matrix)
        assert np.array_equal(matrix, before)


def test_a_pivot_of_zero_is_exchanged():
    swap = np.array([[0.0, 2.0], [1.0, 0.0]])
    assert np.array_equal(inverted(swap), np.array([[0.0, 1.0], [0.5, 0.0]]))


def test_numbers_of_a_record_change_by_name_and_keep_their_kinds():
    now = record(leader=2, level=0.5, over=False)
    now.leader += 1
    now.over = True
    assert (now.leader, now.level, bool(now.over)) == (3, 0.5, True)
    assert now.dtype["leader"].kind == "i" and now.dtype["over"].kind == "b"

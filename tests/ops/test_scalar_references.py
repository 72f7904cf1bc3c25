"""A named tuple of arrays by reference."""

from typing import NamedTuple

import numpy as np
import pytest
from numba.core.errors import TypingError

from bayesduel.ops.scalar.compiled import compiled, reference
from bayesduel.ops.scalar.compiler import standalone

PAIR = np.dtype([("wins", np.int64), ("share", np.float64)])


class Inner(NamedTuple):
    words: np.ndarray
    used: np.ndarray


class State(NamedTuple):
    numbers: np.ndarray
    pairs: np.ndarray
    signs: np.ndarray
    inner: Inner
    last: np.ndarray


def new_state():
    return State(
        numbers=np.arange(5.0),
        pairs=np.zeros((3, 4), dtype=PAIR),
        signs=np.arange(24, dtype=np.int8).reshape(2, 3, 4),
        inner=Inner(np.arange(7, dtype=np.uint16), np.full(1, 3)),
        last=np.full((2, 2), 1.5, dtype=np.float32),
    )


@compiled
def _change(state, i, j):
    pair = state.pairs[i, j]
    pair.wins += state.inner.words[6]
    pair.share = state.last[1, 1] + state.numbers[-1]
    state.inner.used[0] += 1
    state.signs[1, i, j] = -1


@standalone
def _read(arrays):
    state = reference(arrays)
    _change(state, 1, 2)
    _change(state, 2, 3)
    row = state.pairs[2].share
    part = state.numbers[1:4]
    sizes = (state.numbers.size, state.pairs.size, state.signs.size, row.size)
    return sizes, state.pairs.shape, state.signs.strides, part[-1], row[3], len(part)


def test_fields_are_those_of_the_tuple():
    """Numbers, records and tuples, one to three axes, rows and parts of them."""
    state = new_state()
    sizes, shape, strides, part, share, length = _read(state)
    assert sizes == (5, 12, 24, 4)
    assert shape == (3, 4) and strides == (12, 4, 1)
    assert (part, share, length) == (3.0, 5.5, 3)
    assert state.pairs["wins"].sum() == 12 and state.pairs[1, 2]["share"] == 5.5
    assert state.inner.used[0] == 5
    expected = np.arange(24, dtype=np.int8).reshape(2, 3, 4)
    expected[1, 1, 2] = expected[1, 2, 3] = -1
    assert np.array_equal(state.signs, expected)


def test_two_states_do_not_share_words():
    """A compiled function reads what never changes once, but of each state."""

    @standalone
    def both(one, other):
        first, second = reference(one), reference(other)
        _change(first, 0, 0)
        return first.pairs[0, 0].wins - second.pairs[0, 0].wins

    assert both(new_state(), new_state()) == 6


def test_what_is_no_state_is_refused():
    @standalone
    def of_an_array(array):
        return reference(array)

    with pytest.raises(TypingError, match="reference"):
        of_an_array(np.zeros(2))
    with pytest.raises(Exception, match="contiguous arrays"):
        _read(new_state()._replace(numbers=np.arange(10.0)[::2]))

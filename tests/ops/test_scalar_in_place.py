"""``min``, ``max`` and ``int`` of kernels beside those of Python."""

import itertools

import numpy as np
import pytest
from numba.core.errors import TypingError

from bayesduel.ops.scalar.compiler import standalone

CONSTANT = -1

NUMBERS = (
    *(0, 1, -7, 2**40),
    *(0.0, -0.0, 1.0, 2.5, -np.inf, 1e300),
    *(np.int16(-3), np.int16(12), np.uint16(65535), np.int8(-1)),
)


def _extremes(one, other):
    return min(one, other), max(one, other)


def test_extremes_are_those_of_python():
    """Of all combinations of types; the first of two equal ones."""
    found = standalone(_extremes)
    for one, other in itertools.product(NUMBERS, repeat=2):
        wanted = _extremes(one, other)
        ours = found(one, other)
        assert ours == wanted, (one, other)
        assert [np.signbit(each) for each in ours] == [
            np.signbit(each) for each in wanted
        ], (one, other)


def test_extremes_of_what_is_no_number():
    """As in Python: the first one, unless the other is known to be beyond it."""
    found = standalone(_extremes)
    for one, other in ((np.nan, 1.0), (1.0, np.nan)):
        assert np.array_equal(found(one, other), _extremes(one, other), equal_nan=True)


@pytest.mark.parametrize("number", [True, False, 2.9, -2.9, 2.0**40, 5, np.uint16(9)])
def test_integers_are_those_of_python(number):
    found = standalone(lambda value: int(value))(number)
    assert found == int(number) and isinstance(found, int)


def test_a_changing_constant_is_refused():
    """A variable has one type, which for Numba is the constant itself."""

    def last(count):
        arm = CONSTANT
        for each in range(count):
            arm = each
        return arm

    with pytest.raises(TypingError, match="arm"):
        standalone(last)(3)


def test_an_integer_that_becomes_a_fraction_is_one_from_the_start():
    def total(values):
        running = 0
        for value in values:
            running += value
        return running

    assert standalone(total)(np.array([0.5, 0.25])) == 0.75
    assert standalone(total)(np.array([], dtype=float)) == 0.0

"""Building blocks of rules of one run."""

import math
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from bayesduel.arguments.limits import LONGEST_HORIZON
from bayesduel.ops.rules import inverted, last_round_within, lowest, record, top

FALSE_ALARM = 1e-5


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


@pytest.mark.parametrize("round_", [1, 2, 3, 7, 2981, 10**6, 10**6 + 1, 10**9])
def test_the_last_round_within_a_bound_is_the_last_whose_logarithm_is(round_):
    """Also where the bound is the logarithm of a round, or next to it."""
    at = math.log(round_)
    for bound in (at, math.nextafter(at, 99.0), math.nextafter(at, -1.0), at + 0.3):
        if bound >= 0.0:
            result = last_round_within(bound, 1)
            assert math.log(result) <= bound < math.log(result + 1)
    assert last_round_within(at, round_) == round_
    assert last_round_within(99.0, round_) == LONGEST_HORIZON


def test_of_nearly_equal_sums_the_first_is_the_lowest():
    least = 3.0 * (1.0 - 1e-12)
    assert lowest(np.array([4.0, 3.0, least])) == 1
    assert lowest(np.array([4.0, 3.1, least])) == 2
    assert lowest(np.array([0.0, 0.0])) == 0


def test_top_marks_the_largest_values_with_ties_at_random():
    rng = np.random.default_rng(12)
    for size in range(1, 7):
        values = rng.permutation([-math.inf, -1.0, 0.0, 2.0, 3.0, math.inf])
        assert set(values[top(rng, values, size)]) == set(np.sort(values)[-size:])
    values, counts = np.array([1.0, 2.0, 1.0, 1.0, 0.0, 1.0]), {}
    for _ in range(6000):
        marked = tuple(np.flatnonzero(top(rng, values, 3)).tolist())
        counts[marked] = counts.get(marked, 0) + 1
    sets = [tuple(sorted((1, *pair))) for pair in combinations((0, 2, 3, 5), 2)]
    assert set(counts) == set(sets)
    assert stats.chisquare([counts[item] for item in sets]).pvalue > FALSE_ALARM

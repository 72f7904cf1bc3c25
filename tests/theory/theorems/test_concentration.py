"""Confidence of bounds, numbers of comparisons, and the index rule's rho."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.theory.matrices import MSLR5, MULTISOL, random_matrix
from theory import InvalidPreferenceError, TieError
from theory.theorems import (
    copeland_score_failure,
    double_thompson_bound,
    double_thompson_counts,
    double_thompson_refined_bound,
    lowest_index,
    relative_bound_failure,
    relative_bound_failures,
    unoffered_index_range,
)

# D-TS, Lemmas 4 and 6.


def test_failure_by_hand():
    assert float(relative_bound_failure(1, alpha=3.0)) == 1
    # alpha = 1.5: log t / log 2 + 1 peels, exponent 3/2.
    value = relative_bound_failure([[4.0], [16.0]], alpha=1.5)
    assert value == pytest.approx(np.array([[3 / 8], [5 / 64]]))
    assert copeland_score_failure(16, 7, alpha=1.5) == pytest.approx(35 / 64)
    # At the usual alpha it says nothing in the first 605 rounds, and something later.
    rounds = np.arange(1, 5000)
    above = relative_bound_failure(rounds) >= 1
    assert above[:605].all() and not above[605:].any()


def sum_of_failures(alpha):
    """The infinite sum: two million terms, and the integral beyond from both sides."""
    first = 2_000_000
    rounds = np.arange(1.0, first)
    total = relative_bound_failure(rounds, alpha=alpha).sum()
    excess, peel = 2 * alpha / (alpha + 0.5) - 1, math.log(alpha + 0.5)
    logs = math.log(first)
    tail = (logs / peel + 1) / excess + 1 / (peel * excess**2)
    return total + math.exp(-excess * logs) * tail


@pytest.mark.parametrize("alpha", [0.51, 1.5, 2.5, 20.0])
def test_sum_of_failures(alpha):
    total = sum_of_failures(alpha)
    bound = relative_bound_failures(alpha=alpha)
    assert total <= bound <= 1.2 * total
    printed = relative_bound_failures(alpha=alpha, as_printed=True)
    # The printed sum needs alpha < 2.5; nothing of this is said there.
    assert (printed >= total) == (alpha < 2.5)
    peel = alpha + 0.5
    formula = 2 / (math.log(peel) * (2 * alpha / peel - 1) ** 2)
    assert printed == pytest.approx(formula, rel=1e-9)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: relative_bound_failure(0.5), "rounds must be finite and at least 1"),
        (lambda: relative_bound_failure(5, alpha=0.5), "alpha"),
        (lambda: relative_bound_failures(alpha=0.3), "alpha"),
        (lambda: copeland_score_failure(5, 1), "num_arms"),
        (lambda: double_thompson_counts(MSLR5, alpha=0.5), "alpha"),
        (lambda: double_thompson_counts(MSLR5, epsilon=0), "epsilon"),
        (lambda: double_thompson_counts(MSLR5, beta=2), "beta"),
        (lambda: double_thompson_counts(MSLR5)(2), "horizon"),
    ],
)
def test_bad_parameters(call, text):
    with pytest.raises(ValueError, match=text):
        call()


# D-TS, Lemmas 1, 2, 3 and 5.


@given(st.integers(0, 10**6), st.integers(2, 8))
def test_counts_add_up_to_the_bounds(seed, num_arms):
    matrix = random_matrix(np.random.default_rng(seed), num_arms)
    options = {"alpha": 0.7, "epsilon": 0.2}
    counts = double_thompson_counts(matrix, **options)
    bound = double_thompson_bound(matrix, **options)
    assert counts.log_coefficients.sum() == pytest.approx(bound.log_coefficient)
    assert not counts.loglog_coefficients.any()
    counts = double_thompson_counts(matrix, refined=True, beta=2.2, **options)
    bound = double_thompson_refined_bound(matrix, beta=2.2, **options)
    assert counts.log_coefficients.sum() == pytest.approx(bound.log_coefficient)
    # The bound has a term for i against itself.
    losses = (matrix < 0.5).sum(axis=1)
    mine = 0.0
    for arm in np.flatnonzero(losses > losses.min()):
        limit = np.sort(matrix[:, arm])[::-1][losses.min()]
        mine += 1 / (0.5 * math.log(0.25 / (limit * (1 - limit)))) if limit < 1 else 0.0
    expected = bound.loglog_coefficient - 2.2 * 1.2**2 * mine
    assert counts.loglog_coefficients.sum() == pytest.approx(
        expected, rel=1e-6, abs=1e-9
    )
    shape = counts(1e6)
    logs = math.log(1e6)
    expected = counts.log_coefficients * logs
    expected += counts.loglog_coefficients * math.log(logs)
    assert shape == pytest.approx(expected)


def test_counts_of_single_pairs():
    counts = double_thompson_counts(MSLR5, alpha=0.6, epsilon=0.1)
    # First arm 0 beats arm 3 with 0.757.
    d = 0.757 * math.log(1.514) + 0.243 * math.log(0.486)
    assert counts.log_coefficients[0, 3] == pytest.approx(1.1 / d, rel=1e-12)
    assert counts.log_coefficients[3, 0] == pytest.approx(2.4 / 0.257**2, rel=1e-12)
    refined = double_thompson_counts(MSLR5, alpha=0.6, epsilon=0.1, refined=True)
    # Arm 3 meets its best superior, arm 0, log T times and arm 1 log log T times.
    assert refined.log_coefficients[3, 0] == counts.log_coefficients[3, 0]
    assert refined.log_coefficients[3, 1] == 0
    d = 0.727 * math.log(0.727 / 0.757) + 0.273 * math.log(0.273 / 0.243)
    expected = 2.5 * 1.1**2 / d
    assert refined.loglog_coefficients[3, 1] == pytest.approx(expected, rel=1e-9)
    assert (refined.loglog_coefficients[0] == 0).all()


def test_counts_need_distinct_superiors_and_no_ties():
    with pytest.raises(InvalidPreferenceError, match="beats 3.*arms 1 and 2 both"):
        double_thompson_counts(MULTISOL, refined=True)
    tied = MSLR5.copy()
    tied[3, 4] = tied[4, 3] = 0.5
    with pytest.raises(TieError, match="arms 3 and 4"):
        double_thompson_counts(tied)


# Subset choice, Lemma 1.


def test_rho_by_hand():
    inf = math.inf
    indices = [[inf, inf, inf], [2.0, 1.5, inf], [1.2, 1.5, 1.9], [1.2, 1.6, 1.0]]
    offered = [[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 0]]
    prime, rho = lowest_index(indices, np.array(offered, dtype=bool))
    assert prime.tolist() == [inf, 2.0, 1.5, 1.2]
    assert rho.tolist() == [inf, 2.0, 1.5, 1.2]
    low, high = unoffered_index_range([inf, 2.0], [1, 4])
    assert low.tolist() == [0.0, 1.5] and high.tolist() == [inf, 2.0]


@pytest.mark.parametrize(
    ("indices", "offered", "text"),
    [
        ([1.0, 2.0], [True, False], "one row per round"),
        ([[1.0, 2.0]], [[1, 0]], "bool .*int64"),
        ([[1.0, math.nan]], [[True, False]], r"indices\[0\] must not be nan"),
        ([[1.0, 2.0]], [[False, False]], r"offered\[0\] must offer an arm"),
    ],
)
def test_bad_histories(indices, offered, text):
    with pytest.raises(ValueError, match=text):
        lowest_index(indices, offered)


def test_bad_ranges():
    with pytest.raises(ValueError, match="rho must not be negative"):
        unoffered_index_range(-0.1, 2)
    with pytest.raises(ValueError, match=r"plays\[1\] must be at least 1"):
        unoffered_index_range(0.5, [1, 0])

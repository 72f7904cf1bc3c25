"""Prices of duels as they are given: labels, bad ones, ties without an answer."""

import numpy as np
import pandas as pd
import pytest

from tests.theory.identification.test_bound import UNEQUAL
from tests.theory.matrices import from_upper
from theory import (
    InvalidPreferenceError,
    PreferenceMatrix,
    TieError,
    identification_bound,
)


def test_labels_bring_prices_into_order():
    matrix = PreferenceMatrix(UNEQUAL, arm_names=["tea", "coffee", "water"])
    prices = np.array([[0, 5, 2], [5, 0, 3], [2, 3, 0.0]])
    plain = identification_bound(matrix, prices)
    names = ["water", "tea", "coffee"]
    order = [2, 0, 1]
    table = pd.DataFrame(prices[np.ix_(order, order)], index=names, columns=names)
    named = identification_bound(matrix, table[["tea", "water", "coffee"]])
    assert named.value == plain.value
    assert np.array_equal(named.prices, prices)
    other = table.rename(index={"tea": "milk"}, columns={"tea": "milk"})
    with pytest.raises(InvalidPreferenceError, match="'tea' among them"):
        identification_bound(matrix, other)


def changed(i, j, value):
    prices = np.ones((3, 3))
    prices[i, j] = prices[j, i] = value
    return prices


@pytest.mark.parametrize(
    ("prices", "text"),
    [
        (np.ones((2, 2)), r"prices must have one row per arm, shape \(3, 3\)"),
        (changed(0, 1, -1.0), r"prices\[0, 1\] must not be negative, got -1"),
        (changed(1, 2, np.nan), r"prices\[1, 2\] must be a number, got nan"),
        (
            np.triu(changed(0, 2, np.inf)),
            r"prices\[0, 2\] must be symmetric, as entry \(2, 0\)",
        ),
        (changed(1, 2, 1e10), r"prices\[1, 2\] .*at most 1e\+09 times"),
        (changed(0, 2, 1e-101), r"prices\[0, 2\] .*from 1e-100 to 1e\+100"),
        (changed(0, 2, 1e101), r"prices\[0, 2\] .*from 1e-100 to 1e\+100"),
        (changed(0, 1, np.inf), r"prices must let enough pairs .* \(0, 1\) among"),
        ("one", "prices must hold real numbers"),
    ],
)
def test_bad_prices_are_named(prices, text):
    with pytest.raises(ValueError, match=text):
        identification_bound(UNEQUAL, prices)


def test_a_tie_that_leaves_no_answer_is_named():
    matrix = from_upper([[0, 0, 0.1], [0, 0, 0.1], [0, 0, 0]])
    with pytest.raises(TieError, match=r"infinite: arms 0 and 1 tie.*got 0.5"):
        identification_bound(matrix)
    # Ties are named even where pairs that cannot be asked stand in the way, too.
    with pytest.raises(TieError, match="arms 0 and 1 tie"):
        identification_bound(matrix, changed(0, 2, np.inf))

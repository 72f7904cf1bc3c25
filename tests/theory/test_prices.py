"""Prices of duels: of arms or pairs, by name, in a matrix, and in T*."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import theory
from theory import InvalidPreferenceError, PreferenceMatrix, pair_prices
from theory.validation import price_table

CYCLIC = [
    [0.5, 0.6, 0.6, 0.6],
    [0.4, 0.5, 0.9, 0.1],
    [0.4, 0.1, 0.5, 0.9],
    [0.4, 0.9, 0.1, 0.5],
]
NAMES = ("a", "b", "c", "d")


@pytest.mark.parametrize(
    ("prices", "expected"),
    [((1, 1, 1, 1), 157.14), ((1, 1, 10, 10), 653.02), ((10, 1, 1, 1), 827.60)],
)
def test_the_least_cost_at_prices_of_arms(prices, expected):
    """Half of the first is the number of duels, 78.57; CVXPY agrees on all three."""
    bound = theory.identification_bound(CYCLIC, prices, verify=True)
    assert bound.value == pytest.approx(expected, abs=0.005)
    table = np.add.outer(prices, prices) * (1.0 - np.eye(4))
    assert np.array_equal(bound.prices, table)
    of_matrix = PreferenceMatrix(CYCLIC, prices=prices)
    assert theory.identification_bound(of_matrix).value == bound.value
    assert theory.identification_bound(of_matrix, table * 2).value == pytest.approx(
        2 * bound.value, rel=1e-12
    )
    cost = (table * bound.duels).sum() / 2
    assert cost == pytest.approx(bound.value, rel=1e-9)


def test_prices_of_a_matrix_are_those_of_sensitivity():
    prices = (10, 1, 1, 1)
    given = theory.sensitivity(CYCLIC, program="identify", prices=prices)
    duals = theory.sensitivity(
        PreferenceMatrix(CYCLIC, prices=prices), program="identify"
    )
    assert given.value == duals.value == pytest.approx(827.60, abs=0.005)


@pytest.mark.parametrize(
    "prices",
    [
        [1, 2, 3, 4],
        np.array([1.0, 2, 3, 4]),
        pd.Series([4, 3, 2, 1], index=["d", "c", "b", "a"]),
        pd.Series([1, 2, 3, 4]),
        {"b": 2, "a": 1, "d": 4, "c": 3},
        np.add.outer([1, 2, 3, 4], [1, 2, 3, 4]),
        pd.DataFrame(
            np.add.outer([4, 3, 2, 1], [4, 3, 2, 1]), NAMES[::-1], NAMES[::-1]
        ),
    ],
)
def test_prices_of_every_form(prices):
    expected = pair_prices([1, 2, 3, 4])
    assert np.array_equal(price_table(prices, 4, NAMES), expected)
    matrix = PreferenceMatrix(CYCLIC, arm_names=NAMES, prices=prices)
    assert np.array_equal(matrix.prices, expected)
    assert not matrix.prices.flags.writeable


@pytest.mark.parametrize(
    ("prices", "words"),
    [
        ([1, 2, 3], r"an entry for each of 4 arms, or of their pairs"),
        ([1, 2, -3, 4], r"prices\[2\] must be a number from 0 on, got -3.0"),
        ([1, np.nan, 3, 4], r"prices\[1\] must be a number from 0 on"),
        ({"a": 1, "b": 2, "c": 3, "e": 4}, "'d' among them"),
        (pd.Series([1, 2, 3, 4], index=list("abce")), "'d' among them"),
        (np.arange(16).reshape(4, 4), "must be symmetric"),
        (np.ones((3, 3)), r"shape \(4, 4\)"),
        ([1e-12, 1, 1, 1e9], "at most 1e\\+09 times the least"),
        ("cheap", "real numbers"),
        ([[[1.0]]], "square"),
    ],
)
def test_what_is_refused(prices, words):
    with pytest.raises(InvalidPreferenceError, match=words):
        PreferenceMatrix(CYCLIC, arm_names=NAMES, prices=prices)


def test_names_need_an_order():
    with pytest.raises(InvalidPreferenceError, match="'0' among them"):
        price_table({"a": 1, "b": 2}, 2)
    assert price_table({"1": 5, "0": 3}, 2)[0, 1] == 8


def test_pair_prices():
    prices = pair_prices([1, 0, 2.5], judge=2)
    assert prices.tolist() == [[0, 3, 5.5], [3, 0, 4.5], [5.5, 4.5, 0]]
    for given, words in (
        ({"prices": [1]}, "prices"),
        ({"prices": [1, -1]}, r"prices\[1\] must be finite, 0 or more"),
        ({"prices": [1, np.inf]}, r"prices\[1\]"),
        ({"prices": [1, 1], "judge": -1}, "judge"),
    ):
        with pytest.raises(InvalidPreferenceError, match=words):
            pair_prices(**given)


def test_a_matrix_keeps_its_prices():
    plain = PreferenceMatrix(CYCLIC)
    priced = PreferenceMatrix(CYCLIC, prices=[1, 2, 3, 4])
    assert priced != plain and priced.checksum != plain.checksum
    assert priced == PreferenceMatrix(CYCLIC, prices=pair_prices([1, 2, 3, 4]))
    for same in (copy.deepcopy(priced), pickle.loads(pickle.dumps(priced))):
        assert same == priced and same.checksum == priced.checksum
    part = priced.submatrix([3, 1])
    assert part.prices.tolist() == [[0, 6], [6, 0]]
    assert plain.submatrix([3, 1]).prices is None
    features = PreferenceMatrix(CYCLIC, features=priced.prices)
    assert features.checksum != priced.checksum

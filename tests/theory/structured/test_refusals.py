"""Matrices that are no instance of a model, and what the texts say of it."""

import numpy as np
import pytest
from scipy.special import expit

from theory import (
    InvalidPreferenceError,
    PreferenceMatrix,
    TieError,
    structured_lower_bound,
)

UTILITIES = np.array([1.0, 0.0, -1.0])
MATRIX = expit(np.subtract.outer(UTILITIES, UTILITIES))


def changed(i, j, amount):
    matrix = MATRIX.copy()
    matrix[i, j] += amount
    matrix[j, i] -= amount
    return matrix


def test_rounding_is_no_misfit():
    bound = structured_lower_bound(changed(0, 2, 1e-7))
    assert bound.value == pytest.approx(structured_lower_bound(UTILITIES).value, 1e-5)


CYCLE = [[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]]
UNORDERED = [[0.5, 0.8, 0.7], [0.2, 0.5, 0.6], [0.3, 0.4, 0.5]]
TIED = [[0.5, 0.5, 0.7], [0.5, 0.5, 0.7], [0.3, 0.3, 0.5]]
SEVEN = expit(np.subtract.outer(np.arange(7) / 4, np.arange(7) / 4))


@pytest.mark.parametrize(
    ("preferences", "model", "error", "match"),
    [
        (changed(0, 2, 0.05), "bradley-terry", InvalidPreferenceError, r"by 0\.0\d"),
        (changed(0, 2, 0.05), "thurstone", InvalidPreferenceError, "model 'thurstone'"),
        (UNORDERED, "transitive", InvalidPreferenceError, r"0, 1, 2 miss it by 0\.1"),
        (CYCLE, "transitive", InvalidPreferenceError, "beats all others"),
        (SEVEN, "transitive", InvalidPreferenceError, "at most 6 arms.*every order"),
        (TIED, "transitive", TieError, "arms 0 and 1 tie"),
        (TIED, "thurstone", TieError, "arms 0 and 1 tie"),
        ([0.0, 1.0, 1.0], "bradley-terry", TieError, "arms 1 and 2 tie"),
        (
            [[0.5, 1.0], [0.0, 0.5]],
            "bradley-terry",
            InvalidPreferenceError,
            r"strictly between.*\(0, 1\)",
        ),
        (
            [40.0, 0.0],
            "bradley-terry",
            InvalidPreferenceError,
            "arm 1 against 0 has less",
        ),
    ],
)
def test_what_is_no_instance_of_a_model(preferences, model, error, match):
    with pytest.raises(error, match=match):
        structured_lower_bound(preferences, model)


def test_utilities_that_features_do_not_span():
    with pytest.raises(InvalidPreferenceError, match=r"misses that by 0\."):
        structured_lower_bound(UTILITIES, features=[[1.0], [0.5], [-1.0]])


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"model": "plackett-luce"}, "model must be one of bradley-terry, thurstone"),
        ({"cost": "weak"}, "cost must be one of duels, copeland, gap"),
        ({"cost": np.zeros((3, 3))}, r"\(0, 1\) is free"),
        ({"cost": np.ones((2, 2))}, "one row per arm"),
        ({"cost": -np.ones((3, 3))}, "negative"),
        ({"tolerance": 0}, "tolerance must be from 1e-9 to 0.1"),
        ({"features": np.eye(2)}, r"features must have one row per arm"),
        ({"features": [[1], [np.nan], [0]]}, r"features\[1, 0\]"),
        ({"preferences": [1.0]}, "at least two finite utilities"),
        ({"preferences": [1.0, np.inf]}, "at least two finite utilities"),
        ({"preferences": np.arange(101) / 50}, "at most 100 arms"),
        ({"model": "transitive"}, r"must be a matrix \(K, K\)"),
        (
            {"model": "transitive", "preferences": MATRIX, "features": np.eye(3)},
            "features does not go with 'transitive'",
        ),
    ],
)
def test_arguments(arguments, match):
    with pytest.raises(ValueError, match=match):
        structured_lower_bound(**({"preferences": UTILITIES} | arguments))


@pytest.mark.parametrize("model", ["bradley-terry", "transitive"])
def test_pairs_that_cannot_be_asked_may_leave_nothing(model):
    prices = np.full((3, 3), np.inf)
    prices[1, 2] = prices[2, 1] = 1.0
    with pytest.raises(InvalidPreferenceError, match="constant is infinite"):
        structured_lower_bound(MATRIX, model, cost=prices)


def test_names_of_arms_reach_the_prices():
    pandas = pytest.importorskip("pandas")
    names = ["a", "b", "c"]
    matrix = PreferenceMatrix(MATRIX, arm_names=names)
    prices = np.array([[0, 1.0, 2.0], [1.0, 0, 3.0], [2.0, 3.0, 0]])
    turned = pandas.DataFrame(prices, names, names).loc[names[::-1], names[::-1]]
    bound = structured_lower_bound(matrix, cost=turned)
    assert bound.prices.tolist() == prices.tolist()

"""What is no instance of a model, and what the texts say of it."""

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


@pytest.mark.parametrize("model", ["bradley-terry", "thurstone"])
def test_a_matrix_that_does_not_obey_a_model(model):
    with pytest.raises(InvalidPreferenceError, match=r"misses that by 0\.0\d") as error:
        structured_lower_bound(changed(0, 2, 0.05), model)
    assert model in str(error.value) and error.value.argument == "preferences"


def test_rounding_is_no_misfit():
    found = structured_lower_bound(changed(0, 2, 1e-7))
    assert found.value == pytest.approx(structured_lower_bound(UTILITIES).value, 1e-5)


def test_a_matrix_that_is_not_transitive():
    matrix = [[0.5, 0.8, 0.7], [0.2, 0.5, 0.6], [0.3, 0.4, 0.5]]
    with pytest.raises(InvalidPreferenceError, match=r"0, 1, 2 miss it by 0\.1"):
        structured_lower_bound(matrix, "transitive")


def test_utilities_that_features_do_not_span():
    with pytest.raises(InvalidPreferenceError, match=r"misses that by 0\."):
        structured_lower_bound(UTILITIES, features=[[1.0], [0.5], [-1.0]])


@pytest.mark.parametrize("model", ["bradley-terry", "thurstone", "transitive"])
def test_a_tied_best_arm(model):
    matrix = [[0.5, 0.5, 0.7], [0.5, 0.5, 0.7], [0.3, 0.3, 0.5]]
    with pytest.raises(TieError, match="arms 0 and 1 tie"):
        structured_lower_bound(matrix, model)
    if model != "transitive":
        with pytest.raises(TieError, match="arms 1 and 2 tie"):
            structured_lower_bound([0.0, 1.0, 1.0], model)


def test_no_best_arm():
    cycle = [[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]]
    with pytest.raises(InvalidPreferenceError, match="beats all others"):
        structured_lower_bound(cycle, "transitive")


def test_certain_wins():
    with pytest.raises(InvalidPreferenceError, match=r"strictly between.*\(0, 1\)"):
        structured_lower_bound([[0.5, 1.0], [0.0, 0.5]])
    with pytest.raises(InvalidPreferenceError, match="arm 1 against 0 has less"):
        structured_lower_bound([40.0, 0.0])


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


def test_too_many_orders():
    utilities = np.arange(7) / 4
    matrix = expit(np.subtract.outer(utilities, utilities))
    with pytest.raises(InvalidPreferenceError, match="at most 6 arms.*every order"):
        structured_lower_bound(matrix, "transitive")


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
    found = structured_lower_bound(matrix, cost=turned)
    assert found.prices.tolist() == prices.tolist()

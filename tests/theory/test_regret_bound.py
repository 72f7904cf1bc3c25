"""Regret bounds that grow faster than log T, and how they are written."""

import math

import numpy as np
import pytest

from theory import PowerTerm, RegretBound


def make(**changes):
    fields = {"name": "example", "log_coefficient": 0.0, "kind": "upper"}
    return RegretBound(**(fields | {"regret": "copeland"} | changes))


def test_power_terms():
    bound = make(
        log_coefficient=2.0,
        constant=-1.0,
        power_terms=(PowerTerm(3.0, 0.5, 1), PowerTerm(4.0, 1 / 3)),
    )
    rounds = np.array([[2, 10, 1e6]])
    logs = np.log(rounds)
    expected = 3 * np.sqrt(rounds) * logs + 4 * np.cbrt(rounds) + 2 * logs - 1
    assert bound(rounds) == pytest.approx(expected, rel=1e-12)
    assert bound(rounds).shape == (1, 3) and bound(rounds).dtype == np.float64
    assert bound.formula == "3 T^0.5 log T + 4 T^0.3333 + 2 log T - 1"


def test_both_logarithms():
    terms = {"log_coefficient": 2.0, "loglog_coefficient": 3.0, "constant": 5.0}
    bound = make(**terms, minimum_horizon=3)
    horizons = np.array([[3, 10], [100, 10**9]])
    expected = 5 + 2 * np.log(horizons) + 3 * np.log(np.log(horizons))
    assert bound(horizons) == pytest.approx(expected)
    with pytest.raises(ValueError, match="at least 3 for 'example'"):
        bound(2)


@pytest.mark.parametrize("horizon", [1, -5, 1.999, np.nan, np.inf, [10, 1]])
def test_bad_horizons(horizon):
    with pytest.raises(ValueError, match="at least 2 for 'example'"):
        make()(horizon)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"kind": "lower-ish"}, "kind must be one of"),
        ({"log_coefficient": np.inf}, "log_coefficient must be a finite"),
        ({"remainder": "O(K)"}, r"remainder must be empty .* got 'O\(K\)'"),
    ],
)
def test_bad_bounds(changes, text):
    with pytest.raises(ValueError, match=text):
        make(**changes)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "0"),
        ({"log_coefficient": 66.7693}, "66.77 log T"),
        ({"loglog_coefficient": 2.5, "constant": 7.0}, "2.5 log log T + 7"),
        ({"power_terms": (PowerTerm(2.0, 1.0),)}, "2 T"),
        ({"power_terms": (PowerTerm(2.0, 0.5, 0.5),)}, "2 T^0.5 (log T)^0.5"),
        ({"power_terms": (PowerTerm(2.0, 0.0, 2.0),)}, "2 (log T)^2"),
    ],
)
def test_formula(changes, text):
    assert make(**changes).formula == text


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ((math.nan, 0.5), "coefficient must be a finite"),
        ((1.0, -0.1), "power must be a finite number, not negative"),
        ((1.0, math.inf), "power"),
        ((1.0, 0.5, -1.0), "log_power"),
    ],
)
def test_bad_terms(values, text):
    with pytest.raises(ValueError, match=text):
        PowerTerm(*values)

"""Regret bounds that grow faster than log T, and how they are written."""

import math

import numpy as np
import pytest

from theory import PowerTerm, RegretBound
from theory.arguments import integer_from


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


def test_integers():
    for value in (3, np.int32(3), 3.0, np.float64(3)):
        number = integer_from(value, 3, "x")
        assert number == 3 and type(number) is int
    for value in (2, 3.5, True, "3", None, math.inf, math.nan, np.array(3), 3 + 0j):
        with pytest.raises(ValueError, match="x must be an integer of at least 3"):
            integer_from(value, 3, "x")

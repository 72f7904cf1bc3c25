"""Numbers after ``name:parameter=`` are numbers as everybody writes them."""

import math

import pytest

from bayesduel import instances, policies
from bayesduel.arguments.literals import literal
from bayesduel.errors import PolicyParameterError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("10", 10), ("-3", -3), ("+3", 3), ("007", 7), ("0.5", 0.5), (".5", 0.5)),
        *(("5.", 5.0), ("1e3", 1000.0), ("1E-3", 1e-3), ("inf", math.inf)),
        *(("TRUE", True), ("false", False), ("kl", "kl"), ("", ""), ("-", "-")),
        *(
            ("1_0", "1_0"),
            ("0x10", "0x10"),
            ("\uff15", "\uff15"),
            ("1e\u0663", "1e\u0663"),
        ),
        *((" 1", " 1"), ("1\n", "1\n"), ("infinity", "infinity"), ("--1", "--1")),
    ],
)
def test_what_is_a_number(text, value):
    result = literal(text)
    assert result == value and type(result) is type(value)


def test_very_long_numbers_are_read_as_no_integers():
    assert literal("9" * 5000) == math.inf
    assert literal("9" * 400) == int("9" * 400)


@pytest.mark.parametrize("number", ["1_0", "\uff15"])
def test_other_spellings_are_refused(number):
    with pytest.raises(PolicyParameterError, match="alpha must be a number, got"):
        policies.parse_policy(f"rucb:alpha={number}")
    with pytest.raises(ValueError, match="num_arms must be an integer"):
        instances.load(f"zoghi500:num_arms={number}")


def test_numbers_that_no_float_holds_are_refused():
    with pytest.raises(PolicyParameterError, match="must be a finite number above"):
        policies.parse_policy(f"rucb:alpha={'9' * 400}").check(3, 100)


def test_matrices_of_too_many_arms_are_refused_before_they_are_made():
    for name in ("equal-gap:gap=0.1,num_arms=5001", "zoghi500:num_arms=" + "9" * 22):
        with pytest.raises(ValueError, match="num_arms must be at most 5000, got"):
            instances.load(name)

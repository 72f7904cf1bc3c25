"""Absurd numbers and foreign types are refused by our own words, and at once."""

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import theory
from bayesduel.errors import FitError, errors_as
from theory import copeland_program, divergences, theorems
from theory.arguments import (
    as_number,
    integer_from,
    items_of,
    number_above,
    number_from,
    one_of,
    seed_of,
    short_repr,
    true_or_false,
)
from theory.errors import ArgumentTypeError, InvalidPreferenceError

ORDER = [[0.5, 0.6, 0.65], [0.4, 0.5, 0.6], [0.35, 0.4, 0.5]]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: theorems.batch_sizes(1e300, 3), "horizon must be at most 2^62"),
        (
            lambda: theorems.batch_sizes(10**9, 10**8),
            "num_batches must be at most 10000",
        ),
        (
            lambda: theorems.batched_lower_bound(1e300, 4),
            "num_arms must be at most 2^62",
        ),
        (lambda: theorems.seed_rank_moments(10**9), "num_arms must be at most 1000000"),
        (lambda: theorems.pcomp_bound(ORDER, 2**31), "num_batches must be at most 62"),
        (lambda: divergences.kl_to_half("0.1"), "gaps must hold real numbers"),
        (lambda: divergences.kl_upper(0.5, 10**400), "level must hold real numbers"),
        (
            lambda: divergences.bernoulli_kl([0.5, 0.4], [0.1] * 3),
            "must have shapes that",
        ),
        (lambda: copeland_program.ecw_costs(0.5), "gaps must be a square table"),
        (lambda: copeland_program.ecw_costs(ORDER), "gaps[0, 0] must be antisymmetric"),
        (
            lambda: copeland_program.ecw_evidence(np.zeros((2, 2)), 2),
            "winner must be an integer from 0 to 1, got 2",
        ),
        (
            lambda: copeland_program.constraint_slack(
                np.ones((3, 3)), np.zeros((2, 2))
            ),
            "evidence must have the shape of the gaps, (2, 2), got (3, 3)",
        ),
        (
            lambda: theorems.kl_ucb_constant(np.broadcast_to(0.5, (10**9,))),
            "means must hold at most 25,000,000 numbers",
        ),
        (
            lambda: theory.PreferenceMatrix(ORDER, arm_names=itertools.repeat("a")),
            "arm_names must be a sequence",
        ),
        (lambda: theory.PreferenceMatrix(ORDER, name=5), "name must be a str, got 5"),
        (lambda: theory.PreferenceMatrix(ORDER).submatrix(7), "indices must be a seq"),
    ],
)
def test_public_functions_say_what_is_wrong(call, text):
    with pytest.raises(ValueError) as raised:
        call()
    assert text in str(raised.value)


def test_thresholds_of_any_size_are_finite():
    # The products T K^2 and 6 T K^2 B leave the range of floats.
    big = 6 * Fraction(2) ** 1020 * 2**124 * 1000
    expected = math.log(big.numerator)
    result = theorems.log_inverse_delta(2.0**1020, 2**62, 1000)
    assert result == pytest.approx(expected, rel=1e-15)
    threshold = theorems.kl_threshold(2.0**1020, 2**62)
    assert threshold == pytest.approx(1144 * math.log(2), rel=1e-15)


def test_types_are_both_kinds_of_error():
    assert issubclass(ArgumentTypeError, InvalidPreferenceError)
    assert issubclass(ArgumentTypeError, TypeError)


def kind_and_value(value):
    """Return a name that is the same in every process, unlike an address."""
    return type(value).__name__ if type(value) is object else repr(value)


WRONG = [None, "5", b"5", True, np.bool_(True), [5], np.array(5), object(), 5j, {}]


@pytest.mark.parametrize(
    "value", [*WRONG, sparse.eye(1), Decimal("NaN")], ids=kind_and_value
)
def test_numbers_are_no_other_things(value):
    for check in (number_above, number_from):
        with pytest.raises(ValueError, match="width must be"):
            check(value, 0, "width")
    with pytest.raises(ValueError, match="width must be an integer of at least 0"):
        integer_from(value, 0, "width")


def test_numbers_of_many_kinds_are_read():
    for value in (2, 2.0, np.int32(2), np.float32(2), Fraction(2), Decimal(2)):
        assert number_above(value, 1, "width") == number_from(value, 2, "width") == 2.0
    for value in (2, 2.0, np.int32(2), np.float32(2)):
        assert integer_from(value, 2, "width", 2) == 2
    assert as_number(10**400) == as_number(Decimal("1e400")) == math.inf
    with pytest.raises(ValueError, match="at most 3, got 4"):
        integer_from(4, 0, "width", 3)


def test_seeds_are_integers():
    assert seed_of(2**63 - 1, "seed") == 2**63 - 1 and seed_of(np.int8(3), "seed") == 3
    for value in (*WRONG, 1.0, -1, 2**63):
        with pytest.raises(ValueError, match="seed must be an integer from 0 to 2"):
            seed_of(value, "seed")


def test_words_switches_and_collections():
    assert one_of("a", {"a": 1}, "form") == "a"
    assert true_or_false(np.bool_(False), "flag") is False
    assert items_of([1, 2], "pair", 2) == items_of(np.array([1, 2]), "pair") == (1, 2)
    for value in (None, 5, "ab", {"a": 1, "b": 2}, [1], itertools.count()):
        with pytest.raises(ArgumentTypeError, match="pair must be 2 things"):
            items_of(value, "pair", 2)


def test_what_is_shown_is_short_and_one_line():
    assert short_repr([1, 2]) == "[1, 2]"
    assert short_repr(np.eye(2)) == "array([[1., 0.], [0., 1.]])"
    assert len(short_repr("a" * 10**5)) == 100
    assert short_repr(10**5000) == "a int that cannot be printed"


def test_errors_hold_their_parts_whoever_raises_them():
    with pytest.raises(
        FitError, match="draws must be an integer of at least 1"
    ) as made:
        integer_from(0, 1, "draws", kind=FitError)
    error = made.value
    assert (error.argument, error.value, error.index) == ("draws", 0, None)
    assert error.rule == "must be an integer of at least 1"
    assert error.remedy == "give 1 or more"
    with pytest.raises(FitError, match="could not convert") as made:
        with errors_as(FitError):
            float("x")
    assert not made.value.rule

"""Batched dueling bandits: sizes of batches, bounds, and the proofs behind them."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.theory.matrices import CYCLIC, GAP, MSLR5, from_upper
from theory import InvalidPreferenceError
from theory.theorems import (
    batched_lower_bound,
    hard_gap,
    pcomp_bound,
    scomp2_order,
    scomp_order,
)
from theory.theorems.batch_schedules import (
    batch_radius,
    batch_ratio,
    batch_sizes,
    kl_threshold,
    log_inverse_delta,
    seed_rank_moments,
)

TRANSITIVE = from_upper(
    [[0, 0.1, 0.15, 0.3], [0, 0, 0.1, 0.25], [0, 0, 0, 0.2], [0] * 4]
)

# Sizes and thresholds.


def test_published_sizes_and_thresholds():
    # Agarwal et al. 2022, section 5: T = 1e5, B = 16, K = 100 and K = 6.
    sizes = batch_sizes(100_000, 16)
    assert sizes[:8] == (2, 4, 8, 17, 36, 74, 153, 316)
    assert sizes[8:] == (649, 1333, 2738, 5623, 11547, 23713, 48696, 100_000)
    assert batch_ratio(100_000, 16) == pytest.approx(2.05352503, rel=2e-9)
    log_inverse = log_inverse_delta(100_000, 100, 16)
    assert log_inverse == pytest.approx(25.2876140, abs=1e-7)
    assert log_inverse_delta(100_000, 6, 16) == pytest.approx(19.6607926, abs=1e-7)
    radii = [round(batch_radius(size, log_inverse), 4) for size in sizes[:6]]
    assert radii == [2.5143, 1.7779, 1.2572, 0.8624, 0.5926, 0.4134]
    assert kl_threshold(100_000, 100) == pytest.approx(20.7232658, abs=1e-7)
    assert kl_threshold(100_000, 6) == pytest.approx(15.0964444, abs=1e-7)
    # The printed log(T delta) is negative for the delta of that section.
    assert math.log(100_000 / (100_000 * 100**2)) < 0


@given(st.integers(1, 10**18), st.integers(1, 60))
def test_sizes_are_floors_of_powers(horizon, num_batches):
    num_batches = min(num_batches, horizon)
    sizes = batch_sizes(horizon, num_batches)
    assert len(sizes) == num_batches and sizes[-1] == horizon
    for r, size in enumerate(sizes, start=1):
        assert 1 <= size**num_batches <= horizon**r < (size + 1) ** num_batches


def assert_floor(horizon, num_batches, r, size):
    assert size**num_batches <= horizon**r < (size + 1) ** num_batches


def test_sizes_next_to_perfect_powers():
    """T = a^d and its neighbors, up to 2^62: batches are roots and powers of a."""
    rng = np.random.default_rng(57)
    for degree in range(2, 62, 12):
        base = max(int(2 ** (rng.uniform(1, 61) / degree)), 2)
        for horizon in (base**degree - 1, base**degree, base**degree + 1):
            for num_batches in (degree, min(3 * degree, horizon)):
                for r, size in enumerate(batch_sizes(horizon, num_batches), start=1):
                    assert_floor(horizon, num_batches, r, size)
    assert batch_sizes(2**62, 62) == tuple(2**r for r in range(1, 63))


@pytest.mark.parametrize("horizon", [2**62, 1001])
def test_sizes_of_very_many_batches(horizon):
    """From 63 on no root of T is an integer, unless the batch is the last of a few."""
    num_batches = 1000
    sizes = batch_sizes(horizon, num_batches)
    assert len(sizes) == num_batches and list(sizes) == sorted(sizes)
    for r in range(1, num_batches + 1, 37):
        assert_floor(horizon, num_batches, r, sizes[r - 1])
    assert sizes[499] == math.isqrt(horizon)


def test_floating_point_would_be_wrong():
    # (1e9^(1/3))^3 falls short by more than any small constant repairs.
    assert batch_sizes(10**9, 3) == (10**3, 10**6, 10**9)
    assert math.floor(((10.0**9) ** (1 / 3)) ** 3 + 1e-9) == 10**9 - 1
    assert batch_sizes(np.int64(1000), 3) == batch_sizes(1e3, 3) == (10, 100, 1000)


@pytest.mark.parametrize("num_arms", [1, 2, 6])
def test_rank_of_the_seed_by_enumeration(num_arms):
    for p in (Fraction(1, 3), Fraction(4, 5)):
        mean = second = Fraction(0)
        for members in product((0, 1), repeat=num_arms):
            weight = math.prod(p if member else 1 - p for member in members)
            index = members.index(1) + 1 if any(members) else num_arms
            mean, second = mean + weight * index, second + weight * index**2
        expected = (float(mean), float(second))
        assert seed_rank_moments(num_arms, float(p)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: batch_sizes(0, 1), "horizon must be an integer of at least 1"),
        (lambda: batch_sizes(10.5, 2), "horizon"),
        (lambda: batch_sizes(10, 11), "at most the horizon 10"),
        (lambda: batch_ratio(10, 0), "num_batches"),
        (lambda: log_inverse_delta(0, 3, 2), "horizon"),
        (lambda: log_inverse_delta(10, 3.5, 2), "num_arms"),
        (lambda: batch_radius(0, 2.0), "num_duels"),
        (lambda: batch_radius(1, 0.0), "log_inverse"),
        (lambda: kl_threshold(0.1, 2), "horizon"),
        (lambda: seed_rank_moments(5, 1.2), r"in \(0, 1\]"),
        (lambda: seed_rank_moments(5, 0.0), "probability"),
    ],
)
def test_bad_sizes(call, text):
    with pytest.raises(ValueError, match=text):
        call()


# Upper bounds.


def test_pcomp_by_hand():
    gaps = MSLR5[0, 1:] - 0.5
    for num_batches in (2, 7, 16):
        bound = pcomp_bound(MSLR5, num_batches)
        horizons = np.array([2.0**num_batches, 1e5, 1e9]) + 25
        log_term = np.log(6 * horizons * 25 * num_batches)
        shape = 3 * 5 * horizons ** (1 / num_batches) * log_term
        assert bound(horizons) == pytest.approx(shape * (1 / gaps).sum(), rel=1e-12)
        worst = pcomp_bound(MSLR5, num_batches, worst_case=True)
        assert worst(horizons) == pytest.approx(shape * 5 / gaps.min(), rel=1e-12)
        assert (worst(horizons) > bound(horizons)).all()
        with pytest.raises(ValueError, match="horizons must be"):
            bound(2**num_batches - 1)


def test_orders():
    gaps = np.array([0.1, 0.15, 0.3])
    growth = 1e6**0.2 * np.log(1e6)
    expected = {
        "instance": 2 * (1 / gaps).sum(),
        "worst case": 8 / 0.1,
        "larger seed set": 4 ** (4 / 3) / 0.1,
    }
    for form, factor in expected.items():
        bound = scomp_order(TRANSITIVE, 5, form=form)
        assert float(bound(1e6)) == pytest.approx(factor * growth, rel=1e-12)
        assert bound.order_only and "6 batches" in bound.name
    bound = scomp2_order(TRANSITIVE, 5)
    assert float(bound(1e6)) == pytest.approx(4 * 5 / 0.1 * growth, rel=1e-12)
    assert bound.order_only and "11 batches" in bound.name
    bound = scomp_order(TRANSITIVE, 5, form="worst case")
    assert bound.policy == "SCOMP"
    for bound in (pcomp_bound(TRANSITIVE, 5), scomp2_order(TRANSITIVE, 5)):
        assert bound.regret == "condorcet_mean" and bound.source and bound.assumptions
        # The default of the policies is the test of the experiments.
        assert 'elimination="hoeffding"' in bound.condition and not bound.anytime
    assert pcomp_bound(TRANSITIVE, 5).kind == "upper"


def test_order_of_the_arms_does_not_matter():
    turn = np.array([2, 0, 3, 1])
    turned = TRANSITIVE[np.ix_(turn, turn)]
    for make in (pcomp_bound, scomp_order, scomp2_order):
        assert make(turned, 4)(1e5) == pytest.approx(
            make(TRANSITIVE, 4)(1e5), rel=1e-12
        )


def with_entry(matrix, one, other, value):
    changed = matrix.copy()
    changed[one, other], changed[other, one] = value, 1.0 - value
    return changed


@pytest.mark.parametrize(
    ("makes", "matrix", "words"),
    [
        ("all", GAP, "best arm 0 does not beat arm 4"),
        ("all", with_entry(MSLR5, 0, 1, 0.5), "0 does not beat arm 1.*0.5"),
        ("seeded", CYCLIC, "1 > 2 > 3 > 1"),
        ("seeded", with_entry(TRANSITIVE, 0, 3, 0.7), "transitivity .*; arms 0, 1, 3"),
        ("seeded", with_entry(TRANSITIVE, 0, 3, 0.9), "inequality .*; arms 0, 1, 3"),
    ],
)
def test_broken_assumptions_name_the_arms(makes, matrix, words):
    assert pcomp_bound(CYCLIC, 4)(100) > 0
    for make in (pcomp_bound, scomp_order, scomp2_order)[makes == "seeded" :]:
        with pytest.raises(InvalidPreferenceError, match=words):
            make(matrix, 4)


def test_numbers_of_batches_and_forms_are_checked():
    with pytest.raises(ValueError, match="form must be one of"):
        scomp_order(TRANSITIVE, 4, form="best")
    for number in (1, 2.5, "4"):
        for make in (pcomp_bound, scomp_order, scomp2_order):
            with pytest.raises(ValueError, match="num_batches must be an integer of a"):
                make(TRANSITIVE, number)


# Lower bound.


def test_published_gaps_of_the_hard_family():
    # Agarwal et al. 2022, appendix C, for K = 100, B = 16, T = 1e5.
    gaps = [round(hard_gap(100, 1e5, 16, j), 6) for j in (1, 2, 3, 4)]
    assert gaps == [0.026042, 0.018173, 0.012681, 0.00885]
    # Symbols of the printed formula are lost; the proof needs this product.
    for j in range(1, 17):
        before = 1e5 ** ((j - 1) / 16)
        product_ = hard_gap(100, 1e5, 16, j) ** 2 * before
        assert product_ == pytest.approx(100 / (576 * 16**2), rel=1e-12)


@pytest.mark.parametrize("gap_index", [1, 2])
def test_forms_of_the_lower_bound(gap_index):
    num_arms, num_batches = 30, 5
    horizons = np.array([1e3, 1e6])
    gaps = np.array([hard_gap(num_arms, t, num_batches, gap_index) for t in horizons])
    order, printed, explicit = (
        batched_lower_bound(num_arms, num_batches, gap_index, form=form)
        for form in ("order", "printed", "explicit")
    )
    rounds = horizons ** (1 / num_batches)
    expected = num_arms * rounds / (num_batches**2 * gaps)
    assert order(horizons) == pytest.approx(expected, rel=1e-12)
    # The last line of the proof has one power of B less than the theorem.
    last_line = gaps * horizons ** (gap_index / num_batches) / (4 * num_batches)
    assert printed(horizons) == pytest.approx(last_line, rel=1e-12)
    assert printed(horizons) == pytest.approx(
        expected / (2304 * num_batches), rel=1e-12
    )
    assert explicit(horizons) == pytest.approx(last_line / 3, rel=1e-12)
    kinds = [bound.kind for bound in (order, printed, explicit)]
    assert kinds == ["order only", "order only", "worst-case lower"]
    # Some j does for every algorithm, and the smallest value belongs to j = 1.
    for bound in (order, printed, explicit):
        assert (bound.condition == "") == (gap_index == 1)
        assert bound.remainder == "" or bound is not explicit
    first = batched_lower_bound(num_arms, num_batches, 1, form="explicit")
    assert (first(horizons) <= explicit(horizons)).all()
    assert "family" in explicit.assumptions[1]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: hard_gap(100, 1e5, 1), r"sqrt\(K\) <= 6 B"),
        (lambda: hard_gap(4, 1e5, 3, 4), "gap_index must be at most 3"),
        (lambda: hard_gap(4, math.nan, 3), "horizon"),
        (lambda: hard_gap(1, 10, 3), "num_arms"),
        (lambda: batched_lower_bound(4, 1), "num_batches"),
        (lambda: batched_lower_bound(4, 4, 0), "gap_index"),
        (lambda: batched_lower_bound(4, 4, form="best"), "form must be one of"),
        (lambda: batched_lower_bound(2, 4, form="explicit"), "at least 3"),
        (lambda: batched_lower_bound(100, 3, form="explicit"), "3 B .* got 100"),
    ],
)
def test_bad_lower_bounds(call, text):
    with pytest.raises(ValueError, match=text):
        call()

"""Derivatives of the constants, kinks, and the pairs that make a constant large."""

import json
import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.theory.brute_force import quantities
from tests.theory.matrices import (
    ALL_WIN,
    GAP,
    MULTISOL,
    SHAPES,
    from_upper,
    random_matrix,
    shaped,
)
from theory import (
    PreferenceMatrix,
    TieError,
    bottlenecks,
    copeland_lower_bound,
    ecw_rmed_constant,
    sensitivity,
)

SOLVE = {"cw": copeland_lower_bound, "ecw": ecw_rmed_constant}


def moved(matrix, i, j, change):
    """The same matrix with |gap| of one pair larger by `change`."""
    other = np.array(matrix, dtype=float)
    shift = math.copysign(1.0, other[i, j] - 0.5) * change
    other[i, j] += shift
    other[j, i] -= shift
    return other


def quotients(matrix, i, j, program, here):
    """Difference quotients towards smaller and larger gaps, of the value ``here``."""
    step = 1e-6 * abs(matrix[i, j] - 0.5)
    less, more = (
        SOLVE[program](moved(matrix, i, j, change)).value for change in (-step, step)
    )
    return (here - less) / step, (more - here) / step


@pytest.mark.parametrize("program", SOLVE)
@pytest.mark.parametrize("name", SHAPES)
def test_derivatives_by_differences(name, program):
    matrix = shaped(name, 0, exponent=1.0)
    result, here = sensitivity(matrix, program=program), SOLVE[program](matrix).value
    assert result.value == pytest.approx(here, rel=1e-12)
    scale = abs(result.derivative).max()
    for i, j in combinations(range(len(matrix)), 2):
        before, after = quotients(matrix, i, j, program, here)
        room = 1e-4 * (abs(result.derivative[i, j]) + scale)
        # The optimum is concave in the prices, so the slope falls at a kink.
        assert after <= before + room
        assert after - room <= result.derivative[i, j] <= before + room


def test_known_kinks():
    # Three winners are equally good: a change of the others' pairs does not hurt.
    here = SOLVE["cw"](MULTISOL).value
    before, after = quotients(MULTISOL, 0, 3, "cw", here)
    assert before == pytest.approx(0, abs=1e-3) and after < -9
    assert after - 1e-3 <= sensitivity(MULTISOL).derivative[0, 3] <= 1e-3


@given(st.integers(0, 10**6), st.integers(2, 8), st.sampled_from(["cw", "ecw"]))
def test_signs_shares_and_relabeling(seed, num_arms, program):
    rng = np.random.default_rng(seed)
    matrix = random_matrix(rng, num_arms)
    duals = sensitivity(matrix, program=program)
    gaps, _, costs = quantities(matrix)
    assert (duals.derivative <= 0).all() and (duals.derivative[costs == 0] == 0).all()
    for table in (duals.derivative, duals.elasticity, duals.share):
        assert np.array_equal(table, table.T)
    total = 1.0 if duals.value else 0.0
    assert np.triu(duals.share).sum() == pytest.approx(total, rel=1e-9)
    # |g| d'(|g|) / d(|g|) is at least 2, and close to it for small gaps.
    assert (duals.elasticity <= -2 * duals.share + 1e-12).all()
    small = np.abs(gaps) <= 0.25
    assert (duals.elasticity >= -2.2 * duals.share - 1e-12)[small].all()
    order = rng.permutation(num_arms)
    turned = sensitivity(matrix[np.ix_(order, order)], program=program)
    if program == "cw":  # One optimum, as all prices differ.
        expected = duals.derivative[np.ix_(order, order)]
        scale = abs(expected).max()
        assert turned.derivative == pytest.approx(expected, rel=1e-6, abs=1e-6 * scale)


def test_certain_preferences_and_worthless_instances():
    order = from_upper([[0, 0.5, 0.48], [0, 0, 0.5], [0, 0, 0]])
    duals = sensitivity(order)
    assert duals.derivative[0, 1] == duals.elasticity[0, 1] == -math.inf
    # No evidence on the pair: its gap does not matter, and nothing is nan.
    assert duals.derivative[1, 2] == 0
    assert not np.isnan(duals.elasticity).any()
    nothing = sensitivity(ALL_WIN)
    assert nothing.value == 0
    for table in (nothing.derivative, nothing.elasticity, nothing.share):
        assert (table == 0).all()


@pytest.mark.parametrize("function", [sensitivity, bottlenecks])
def test_errors_of_the_sensitivity(function):
    tied = GAP.copy()
    tied[3, 4] = tied[4, 3] = 0.5
    with pytest.raises(TieError, match="arms 3 and 4"):
        function(tied)
    with pytest.raises(ValueError, match="program must be one of cw, ecw"):
        function(GAP, program="best")


# Bottlenecks.


@pytest.mark.parametrize("program", SOLVE)
def test_records_are_ordered(program):
    matrix = shaped("one loss, two levels", 4, exponent=0.8)
    duals = sensitivity(matrix, program=program)
    for order, table in (("share", duals.share), ("elasticity", -duals.elasticity)):
        result = bottlenecks(matrix, program=program, order=order)
        amounts = [table[row["first"], row["second"]] for row in result.records]
        assert amounts == sorted(amounts, reverse=True) and min(amounts) > 0
        assert len(amounts) == np.count_nonzero(np.triu(duals.share))
        total = 0.0
        for row in result.records:
            pair = row["first"], row["second"]
            total += row["share"]
            assert row["cumulative_share"] == pytest.approx(total)
            assert row["share"] == pytest.approx(duals.share[pair])
            assert row["elasticity"] == duals.elasticity[pair]
            assert row["derivative"] == duals.derivative[pair]
        assert total == pytest.approx(1)
        assert json.loads(json.dumps(result.records, allow_nan=False))
        assert (result.value, result.winner) == (duals.value, duals.winner)


def test_orders_can_differ():
    # A pair with a gap next to 1/2 reacts more than its share says.
    matrix = from_upper([[0, 0.2, 0.499], [0, 0, 0.1], [0, 0, 0]])
    by_share = bottlenecks(matrix).records
    by_elasticity = bottlenecks(matrix, order="elasticity").records
    assert [row["second"] for row in by_share] == [1, 2]
    ratio = [row["elasticity"] / row["share"] for row in by_share]
    assert ratio[0] > -2.2 and ratio[1] < -3
    assert {row["second"] for row in by_elasticity} == {1, 2}
    with pytest.raises(ValueError, match="order must be one of share, elasticity"):
        bottlenecks(matrix, order="size")


def test_report():
    names = ["tea", "coffee", "milk", "water", "juice"]
    result = bottlenecks(PreferenceMatrix(GAP, arm_names=names))
    lines = result.report().splitlines()
    assert (
        lines[0].startswith("Copeland lower bound: C* = 11.0249") and "tea" in lines[0]
    )
    assert lines[1].split() == "pair P share so far duels elasticity".split()
    assert len(lines) == 2 + len(result.records)
    # Every row names the arm that wins more often first.
    assert any(line.startswith("water > coffee") for line in lines)
    assert not any(line.startswith("coffee > water") for line in lines)
    assert {len(line) for line in lines[1:]} == {len(lines[1])}
    short = result.report(limit=2).splitlines()
    assert len(short) == 5 and short[-1].startswith(f"and {len(lines) - 4} more pairs")
    text = bottlenecks(GAP, program="ecw").report()
    assert "C_E = 1252.51" in text
    assert "0 > 3" in text.splitlines()[2]

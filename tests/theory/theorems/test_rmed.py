"""Bounds of the literature: published formulas, their order, and their assumptions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.theory.brute_force import quantities
from tests.theory.matrices import (
    CYCLIC,
    GAP,
    MSLR5,
    MULTISOL,
    REFERENCE,
    from_upper,
    levels,
    random_matrix,
)
from theory import (
    InvalidPreferenceError,
    PreferenceMatrix,
    TieError,
    condorcet_lower_bound,
    copeland_lower_bound,
    ecw_rmed_constant,
)
from theory.divergences import bernoulli_kl
from theory.theorems import (
    ccb_order,
    double_thompson_bound,
    double_thompson_refined_bound,
    ecw_kl_sum_bound,
    ecw_kl_worst_case_bound,
    ecw_rmed_bound,
    rmed1_bound,
)


def condorcet_copeland(matrix):
    return condorcet_lower_bound(matrix, regret="copeland")


def general(matrix):
    return double_thompson_bound(matrix, alpha=0.6, epsilon=0.1)


def refined(matrix):
    return double_thompson_refined_bound(matrix, alpha=0.6, epsilon=0.1, beta=2.5)


ROWS = [
    ccb_order,
    ecw_kl_sum_bound,
    ecw_kl_worst_case_bound,
    condorcet_lower_bound,
    condorcet_copeland,
    rmed1_bound,
    general,
    refined,
]
# None: the matrix breaks an assumption.
EXPECTED = {
    "cyclic": [800, 248.317481, 297.980977, 0.815075, 5.433835, 7.449524]
    + [937.855364, (208.889537, 52.085808)],
    "gap": [150000, 39997.333084, 54996.332991, None, None, None]
    + [29790.996564, (5751.047358, 94.123216)],
    "multisol": [2500, 397.307969, 546.298458, None, None, None, 585.993111, None],
    "mslr5": [100000, 33581.094235, 37497.499767, 11.153124, 66.769318, 11.153124]
    + [33012.317488, (2724.337883, 6000.398738)],
}


@pytest.mark.parametrize("name", REFERENCE)
@pytest.mark.parametrize("row", range(len(ROWS)), ids=[f.__name__ for f in ROWS])
def test_reference_values(name, row):
    expected = EXPECTED[name][row]
    if expected is None:
        with pytest.raises(InvalidPreferenceError):
            ROWS[row](REFERENCE[name])
        return
    log_term, loglog_term = expected if isinstance(expected, tuple) else (expected, 0)
    bound = ROWS[row](REFERENCE[name])
    assert bound.log_coefficient == pytest.approx(log_term, rel=1e-6)
    assert bound.loglog_coefficient == pytest.approx(loglog_term, rel=1e-6)
    assert bound.constant == 0


def test_every_bound_says_what_it_is():
    regrets = dict.fromkeys(ROWS, "copeland")
    regrets |= {condorcet_lower_bound: "condorcet_mean", rmed1_bound: "condorcet_mean"}
    # None of these theorems names all of its constants.
    kinds = dict.fromkeys(ROWS, "asymptotic upper") | {
        ccb_order: "order only",
        condorcet_lower_bound: "asymptotic lower",
        condorcet_copeland: "asymptotic lower",
    }
    policies = dict.fromkeys(ROWS, "") | {
        ccb_order: "CCB",
        ecw_kl_sum_bound: "ECW-RMED",
        ecw_kl_worst_case_bound: "ECW-RMED",
        rmed1_bound: "RMED1",
        general: "D-TS",
        refined: "D-TS",
    }
    for row in ROWS:
        bound = row(PreferenceMatrix(CYCLIC))
        assert bound.regret == regrets[row] and bound.kind == kinds[row]
        assert bound.policy == policies[row] and bound.anytime
        assert bound.condition == ("alpha = 0.6" if row in (general, refined) else "")
        assert bound.order_only == (row is ccb_order)
        assert bound.source and bound.assumptions and bound.remainder
        assert bound.minimum_horizon == (3 if row is refined else 2)


def test_ties_are_refused():
    matrix = CYCLIC.copy()
    matrix[1, 2] = matrix[2, 1] = 0.5
    for row in ROWS:
        with pytest.raises(TieError, match="arms 1 and 2"):
            row(matrix)


# The formulas once more, written out.


@given(st.integers(0, 10**6), st.integers(2, 9))
def test_double_thompson_by_loops(seed, num_arms):
    matrix = random_matrix(np.random.default_rng(seed), num_arms)
    gaps, losses, _ = quantities(matrix)
    alpha, epsilon, beta = 0.7, 0.3, 2.2
    half = {gap: float(bernoulli_kl(0.5 + gap, 0.5)) for gap in gaps.ravel()}
    everything = log_term = loglog_term = 0.0
    for i in range(num_arms):
        for j in range(num_arms):
            if gaps[i, j] < 0:
                term = 4 * alpha / gaps[i, j] ** 2
                everything += term + (1 + epsilon) / half[gaps[i, j]]
    least = losses.min()
    for i in range(num_arms):
        ranked = sorted(range(num_arms), key=lambda j: (-gaps[j, i], j))  # noqa: B023
        for index, j in enumerate(ranked, start=1):
            if losses[i] == least:
                if gaps[i, j] < 0:
                    log_term += 4 * alpha / gaps[i, j] ** 2
                elif i != j:
                    log_term += (1 + epsilon) / half[gaps[i, j]]
            elif index <= least + 1:
                log_term += 4 * alpha / gaps[i, j] ** 2
            else:
                q = 0.5 + gaps[ranked[least], i]
                divergence = float(bernoulli_kl(0.5 + gaps[j, i], q))
                loglog_term += beta * (1 + epsilon) ** 2 / divergence
    bound = double_thompson_bound(matrix, alpha=alpha, epsilon=epsilon)
    assert bound.log_coefficient == pytest.approx(everything, rel=1e-9)
    bound = double_thompson_refined_bound(
        matrix, alpha=alpha, epsilon=epsilon, beta=beta
    )
    assert bound.log_coefficient == pytest.approx(log_term, rel=1e-9)
    assert bound.loglog_coefficient == pytest.approx(loglog_term, rel=1e-6)
    # Every term of the refined log T constant is a term of the general one.
    assert log_term <= everything * (1 + 1e-12)


def test_refined_bound_with_certain_preferences():
    # P(0 beats 2) = 1: the divergence to it is infinite, so nothing is added.
    matrix = from_upper([[0, 0.2, 0.5], [0, 0, 0.1], [0, 0, 0]])
    bound = double_thompson_refined_bound(matrix, alpha=0.6, epsilon=0.1, beta=2.5)
    only_arm_1 = 1 / bernoulli_kl(0.5, 0.7) + 1 / bernoulli_kl(0.4, 0.7)
    expected = 2.5 * 1.1**2 * only_arm_1
    assert bound.loglog_coefficient == pytest.approx(expected, rel=1e-12)


def test_gap_condition_names_the_arm():
    with pytest.raises(InvalidPreferenceError, match="beats 3.*number 2 and number 3"):
        refined(MULTISOL)
    # Equal up to rounding is equal: a bound of 1e30 would be noise.
    matrix = from_upper([[0, 0.2, 0.3], [0, 0, 0.3 - 1e-10], [0, 0, 0]])
    with pytest.raises(InvalidPreferenceError, match="beats 2"):
        refined(matrix)


# Relations.


@given(st.integers(0, 10**6), st.integers(2, 10))
def test_bounds_of_the_efficient_constant(seed, num_arms):
    matrix = random_matrix(np.random.default_rng(seed), num_arms)
    constant = ecw_rmed_constant(matrix).value
    by_sum = ecw_kl_sum_bound(matrix).log_coefficient
    worst = ecw_kl_worst_case_bound(matrix).log_coefficient
    assert constant <= by_sum * (1 + 1e-12)
    assert constant <= worst * (1 + 1e-12)
    if levels(matrix)[0] >= 1:
        assert by_sum <= worst * (1 + 1e-12)


@given(st.integers(0, 10**6), st.integers(2, 9))
def test_condorcet_bounds(seed, num_arms):
    rng = np.random.default_rng(seed)
    matrix = random_matrix(rng, num_arms, noise=rng.choice([0.2, 1.0]))
    if levels(matrix)[0] > 0:
        matrix[0], matrix[:, 0] = 0.7, 0.3
        matrix[0, 0] = 0.5
    gaps, losses, costs = quantities(matrix)
    winner = int(losses.argmin())
    by_gap = by_copeland = 0.0
    for i in set(range(num_arms)) - {winner}:
        superiors = np.flatnonzero(gaps[i] < 0)
        by_copeland += costs[i, superiors].min()
        by_gap += min(
            (gaps[winner, i] + gaps[winner, j]) / (2 * bernoulli_kl(matrix[i, j], 0.5))
            for j in superiors
        )
    lower, copeland = condorcet_lower_bound(matrix), condorcet_copeland(matrix)
    assert lower.log_coefficient == pytest.approx(by_gap, rel=1e-8)
    assert copeland.log_coefficient == pytest.approx(by_copeland, rel=1e-8)
    # A weaker demand than the one on all matrices.
    optimal = copeland_lower_bound(matrix).value
    assert copeland.log_coefficient <= optimal * (1 + 1e-9)
    assert lower.log_coefficient <= rmed1_bound(matrix).log_coefficient * (1 + 1e-12)


def test_condorcet_regret_of_another_kind():
    with pytest.raises(ValueError, match="'borda'"):
        condorcet_lower_bound(MSLR5, regret="borda")
    with pytest.raises(InvalidPreferenceError, match="best arm 0 does not beat arm 4"):
        rmed1_bound(GAP)


@pytest.mark.parametrize(
    ("function", "parameters", "text"),
    [
        (double_thompson_bound, {"alpha": 0.5}, "alpha"),
        (double_thompson_bound, {"epsilon": 0.0}, "epsilon"),
        (double_thompson_refined_bound, {"alpha": 0.4}, "alpha"),
        (double_thompson_refined_bound, {"epsilon": -1}, "epsilon"),
        (double_thompson_refined_bound, {"beta": 2.0}, "beta"),
    ],
)
def test_bad_parameters(function, parameters, text):
    with pytest.raises(ValueError, match=f"{text} must be a finite number"):
        function(MSLR5, **parameters)


def test_the_theorem_on_ecw_rmed_needs_one_best_winner():
    circle = from_upper([[0, 0.1, -0.1], [0, 0, 0.1], [0, 0, 0]])
    assert ecw_rmed_constant(circle).value == 0
    with pytest.raises(InvalidPreferenceError, match="winners 0, 1, 2 have the same v"):
        ecw_rmed_bound(circle)
    # Three winners again, that a fourth arm tells apart.
    gaps = [[0, 0.1, -0.1, 0.4], [0, 0, 0.1, 0.2], [0, 0, 0, 0.3], [0, 0, 0, 0]]
    result = ecw_rmed_constant(from_upper(gaps))
    assert len({round(value, 6) for value in result.value_by_winner.values()}) == 3
    assert ecw_rmed_bound(from_upper(gaps)) == result.bound

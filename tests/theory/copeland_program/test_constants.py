"""The optimal exploration program: every form, every certificate, every error."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.theory.brute_force import (
    enumerate_program,
    quantities,
    reversal_program,
)
from tests.theory.checks import by_separation, check_optimum
from tests.theory.matrices import (
    ALL_WIN,
    CYCLIC,
    GAP,
    MULTISOL,
    REFERENCE,
    SHAPES,
    from_upper,
    gaps_of,
    levels,
    random_matrix,
    shaped,
    winners,
)
from theory import PreferenceMatrix, copeland_lower_bound, ecw_rmed_constant
from theory.copeland_program import candidate_slack, find_violations

METHODS = ["prefix", "cvxpy"]

# Komiyama, Honda and Nakagawa (2016): matrices of Tables 2 and 3; constants computed by
# enumeration of all constraints.
CONSTANTS = {
    "cyclic": (27.548665, 49.663496),
    "gap": (11.024943, 1252.510763),
    "multisol": (3.242630, 3.242630),
    "mslr5": (66.769318, 66.769318),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", REFERENCE)
def test_reference_constants(name, method):
    matrix = REFERENCE[name]
    optimal, efficient = CONSTANTS[name]
    optimum = copeland_lower_bound(matrix, method=method)
    assert optimum.value == pytest.approx(optimal, rel=1e-6)
    assert optimum.winner == 0
    check_optimum(optimum, matrix)
    relaxed = ecw_rmed_constant(matrix)
    assert relaxed.value == pytest.approx(efficient, rel=1e-6)
    assert relaxed.winner == 0
    check_optimum(relaxed, matrix, efficient=True)
    assert enumerate_program(matrix, 0) == pytest.approx(optimal, rel=1e-6)


def test_published_facts_about_the_reference_matrices():
    # Komiyama et al. 2016, section 5: the ratio on Gap exceeds 100.
    ratio = ecw_rmed_constant(GAP).value / copeland_lower_bound(GAP).value
    assert ratio == pytest.approx(113.607, rel=1e-5)
    # The same, Table 3(c): three equally good winners.
    optimum = copeland_lower_bound(MULTISOL)
    assert list(optimum.value_by_winner) == [0, 1, 2]
    assert list(optimum.value_by_winner.values()) == pytest.approx([3.242630] * 3, 1e-6)
    # An optimum that is known; others may exist, so only feasibility and value count.
    half = np.full((4, 4), 0.5)
    assert find_violations(half, CYCLIC, 0) == []
    costs = np.triu(quantities(CYCLIC)[2])
    assert (half * costs).sum() == pytest.approx(27.548665, rel=1e-6)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("grid", [None, [0.1, 0.2, 0.4]])
def test_against_enumeration(name, grid):
    for seed in range(3):
        matrix = shaped(name, seed, grid=grid)
        optimum = copeland_lower_bound(matrix)
        check_optimum(optimum, matrix)
        assert sorted(optimum.value_by_winner) == winners(matrix)
        for arm, value in optimum.value_by_winner.items():
            exact = enumerate_program(matrix, arm)
            assert value == pytest.approx(exact, rel=1e-9, abs=1e-9)
        if seed == 0:
            slow = copeland_lower_bound(matrix, method="cvxpy")
            check_optimum(slow, matrix)
            for arm, value in slow.value_by_winner.items():
                exact = optimum.value_by_winner[arm]
                assert value == pytest.approx(exact, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("num_arms", [2, 3, 4, 5])
def test_against_all_reversals(num_arms):
    # The oracle knows nothing of levels and sets: any reversal that dethrones counts.
    rng = np.random.default_rng(num_arms)
    for _ in range(15):
        matrix = random_matrix(rng, num_arms)
        optimum = copeland_lower_bound(matrix)
        for arm, value in optimum.value_by_winner.items():
            exact = reversal_program(matrix, arm)
            assert value == pytest.approx(exact, rel=1e-9, abs=1e-9)


def test_reversals_where_the_second_best_is_far():
    for name in ("condorcet, two levels", "two winners", "all win"):
        matrix = shaped(name, 1)[:5, :5]
        for arm, value in copeland_lower_bound(matrix).value_by_winner.items():
            exact = reversal_program(matrix, arm)
            assert value == pytest.approx(exact, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    "num_arms",
    [9, *(pytest.param(count, marks=pytest.mark.slow) for count in (14, 16))],
)
def test_forms_agree_beyond_enumeration(num_arms):
    rng = np.random.default_rng(num_arms)
    for noise in (0.5, 2.0):
        matrix = random_matrix(rng, num_arms, noise=noise)
        optimum = copeland_lower_bound(matrix)
        check_optimum(optimum, matrix)
        slow = copeland_lower_bound(matrix, method="cvxpy")
        check_optimum(slow, matrix)
        assert slow.value == pytest.approx(optimum.value, rel=1e-8)
        cut = by_separation(matrix, optimum.winner)
        assert cut == pytest.approx(optimum.value, rel=1e-6)
        assert find_violations(optimum.evidence, matrix, optimum.winner) == []


def test_many_levels():
    # One arm with a single loss, all others a rotation: L(2) - L(1) is large.
    num_arms = 15
    rng = np.random.default_rng(0)
    signs = np.array(
        [[1 if 0 < (j - i) % 14 <= 6 else -1 for j in range(14)] for i in range(14)]
    )
    upper = np.zeros((num_arms, num_arms))
    upper[0, 1:] = rng.uniform(0.05, 0.45, num_arms - 1)
    upper[0, 1] *= -1
    upper[1:, 1:] = signs * rng.uniform(0.05, 0.45, (14, 14))
    matrix = from_upper(upper)
    least, second, count = levels(matrix)
    assert least == 1 and second >= 7 and count == 1
    optimum = copeland_lower_bound(matrix)
    check_optimum(optimum, matrix)
    slow = copeland_lower_bound(matrix, method="cvxpy")
    assert slow.value == pytest.approx(optimum.value, rel=1e-8)


def test_gaps_of_very_different_size_are_certified():
    rng = np.random.default_rng(7)
    for _ in range(30):
        matrix = random_matrix(rng, int(rng.integers(3, 11)), exponent=7)
        # An optimum without its certificate is an error.
        optimum = copeland_lower_bound(matrix)
        relaxed = ecw_rmed_constant(matrix)
        assert relaxed.value >= optimum.value * (1 - 1e-9)


def test_sure_pairs_beside_pairs_next_to_one_half_are_certified():
    # Costs of 0.03 and 1e12, at which HiGHS loses its way from a basis that it has.
    for seed in (3, 15, 29, 33):
        rng = np.random.default_rng(seed)
        matrix = random_matrix(rng, 20, grid=[0.5, 1e-6])
        optimum = copeland_lower_bound(matrix)
        assert ecw_rmed_constant(matrix).value >= optimum.value


def test_deterministic_preferences():
    order = from_upper(np.full((4, 4), 0.5))
    optimum = copeland_lower_bound(order)
    check_efficient = ecw_rmed_constant(order)
    # Arm i has i losses: r_0i = i / 6, and a unit of evidence takes 1 / log 2 duels.
    assert optimum.value == pytest.approx(1 / np.log(2), rel=1e-12)
    assert check_efficient.value == pytest.approx(1 / np.log(2), rel=1e-12)
    assert optimum.value == pytest.approx(enumerate_program(order, 0), rel=1e-9)


def test_all_arms_win():
    for matrix in (ALL_WIN, shaped("all win", 3)):
        for optimum in (copeland_lower_bound(matrix), ecw_rmed_constant(matrix)):
            assert optimum.value == 0.0
            assert optimum.value_by_winner == dict.fromkeys(range(5), 0.0)
            assert optimum.winner == 0
            assert optimum.certificate.relative_gap == 0.0
            assert optimum.bound(100) == 0.0
        assert find_violations(optimum.evidence, matrix, 0) == []


def test_two_arms():
    for p in (0.5 + 1e-7, 0.6, 1.0):
        gap = p - 0.5
        divergence = 2 * gap**2 if gap < 1e-6 else p * np.log(2 * p)
        if 1e-6 < gap < 0.5:
            divergence += (1 - p) * np.log(2 * (1 - p))
        matrix = [[0.5, p], [1 - p, 0.5]]
        for method in METHODS:
            value = copeland_lower_bound(matrix, method=method).value
            assert value == pytest.approx(0.5 / divergence, rel=1e-8)


# Relations.


@given(st.integers(0, 10**6), st.integers(2, 10))
def test_efficient_program_costs_at_least_as_much(seed, num_arms):
    matrix = random_matrix(np.random.default_rng(seed), num_arms)
    optimal, efficient = copeland_lower_bound(matrix), ecw_rmed_constant(matrix)
    assert optimal.value_by_winner.keys() == efficient.value_by_winner.keys()
    several = len(optimal.value_by_winner) > 1
    for arm, value in optimal.value_by_winner.items():
        assert efficient.value_by_winner[arm] >= value * (1 - 1e-9)
        if several:  # Theorem 6
            assert efficient.value_by_winner[arm] == value


@pytest.mark.shared
def test_136_rankers(shared_dir):
    path = shared_dir / "data" / "mslr" / "MSLR_Informational_PMat.npz"
    with np.load(path) as file:
        matrix = PreferenceMatrix(file["PMat"])
    assert matrix.loss_winners == (114,) and matrix.superiors(114) == (109,)
    optimal, efficient = copeland_lower_bound(matrix), ecw_rmed_constant(matrix)
    assert optimal.winner == efficient.winner == 114
    assert optimal.value <= efficient.value * (1 + 1e-9)
    gaps = gaps_of(matrix)
    assert candidate_slack(optimal.evidence, gaps, 114) >= 1 - 1e-9
    assert abs(optimal.certificate.relative_gap) <= 1e-8

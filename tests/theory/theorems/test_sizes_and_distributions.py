"""Large instances, and distributions that hold for every matrix."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.theory.brute_force import quantities
from tests.theory.checks import by_separation, check_optimum
from tests.theory.matrices import (
    draw_until,
    from_upper,
    gaps_of,
    levels,
    random_matrix,
    winners,
)
from theory import (
    condorcet_lower_bound,
    copeland_lower_bound,
    ecw_rmed_constant,
)
from theory.copeland_program import find_violations
from theory.theorems import (
    ccb_order,
    double_thompson_bound,
    double_thompson_refined_bound,
    ecw_kl_sum_bound,
    ecw_kl_worst_case_bound,
    pcomp_bound,
    rmed1_bound,
    rucb_bound,
)

# Sizes.


def check_large(matrix):
    """Certificates of both constants, from the matrix."""
    optimal, efficient = copeland_lower_bound(matrix), ecw_rmed_constant(matrix)
    check_optimum(optimal, matrix)
    check_optimum(efficient, matrix, efficient=True)
    assert find_violations(optimal.evidence, matrix, optimal.winner) == []
    for arm, value in optimal.value_by_winner.items():
        assert value <= efficient.value_by_winner[arm] * (1 + 1e-9)
    return optimal


# A total order, and a random tournament.
@pytest.mark.parametrize(("noise", "seed"), [(0.2, 0), (10.0, 3)])
def test_136_arms(noise, seed):
    rng = np.random.default_rng(seed)
    matrix = random_matrix(rng, 136, noise=noise, exponent=2)
    assert levels(matrix)[2] == 1
    assert check_large(matrix).certificate.num_rounds > 0


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.2, 1.0, 3.0, 10.0])
def test_more_matrices_of_136_arms(noise):
    for seed in (9, 21):
        rng = np.random.default_rng(seed)
        check_large(random_matrix(rng, 136, noise=noise, exponent=2))


def naive_efficient_constant(matrix):
    """Theorem 5 of Komiyama et al. 2016 arm by arm, in plain loops."""
    gaps, losses, costs = quantities(matrix)
    least = losses.min()
    values = {}
    for winner in winners(matrix):
        total = costs[winner, gaps[winner] > 0].sum()
        for rival in range(len(matrix)):
            pool = [j for j in range(len(matrix)) if gaps[rival, j] < 0 and j != winner]
            spare = len(pool) - (losses[rival] - least + 1)
            if rival != winner and spare >= 0:
                ordered = sorted(costs[rival, j] for j in pool)
                total += min(
                    sum(ordered[:h]) / (h - spare)
                    for h in range(spare + 1, len(pool) + 1)
                )
        values[winner] = total
    return values


@pytest.mark.parametrize("noise", [0.3, 2.0, 10.0])
def test_efficient_constant_of_many_arms_against_loops(noise):
    matrix = random_matrix(np.random.default_rng(45), 45, noise=noise)
    values = naive_efficient_constant(matrix)
    optimum = ecw_rmed_constant(matrix)
    assert optimum.value_by_winner == pytest.approx(values, rel=1e-10)


# Theorem 6: with two or more winners the efficient program is optimal.


@pytest.mark.parametrize(("num_arms", "count"), [(9, 3), (10, 2)])
def test_theorem_6(num_arms, count):
    rng = np.random.default_rng(num_arms)
    matrix = draw_until(rng, lambda a, b, c: a >= 1 and c == count, num_arms)
    efficient = ecw_rmed_constant(matrix).value_by_winner
    assert copeland_lower_bound(matrix).value_by_winner == efficient
    for arm in winners(matrix):
        assert by_separation(matrix, arm) == pytest.approx(efficient[arm], rel=1e-6)


# Distributions.


def condorcet(rng, num_arms):
    matrix = random_matrix(rng, num_arms)
    sizes = 10 ** rng.uniform(-1.5, np.log10(0.5), num_arms - 1)
    matrix[0, 1:], matrix[1:, 0] = 0.5 + sizes, 0.5 - sizes
    return matrix


BOUNDS = [
    ccb_order,
    ecw_kl_sum_bound,
    ecw_kl_worst_case_bound,
    condorcet_lower_bound,
    rmed1_bound,
    double_thompson_bound,
    double_thompson_refined_bound,
    rucb_bound,
    lambda matrix: pcomp_bound(matrix, 5),
    lambda matrix: copeland_lower_bound(matrix).bound,
    lambda matrix: ecw_rmed_constant(matrix).bound,
]


@given(st.integers(0, 10**6), st.integers(2, 12))
def test_names_of_arms_do_not_matter(seed, num_arms):
    rng = np.random.default_rng(seed)
    matrix = condorcet(rng, num_arms)
    order = rng.permutation(num_arms)
    turned = matrix[np.ix_(order, order)]
    horizons = np.array([1e2, 1e6])
    for make in BOUNDS:
        assert make(turned)(horizons) == pytest.approx(make(matrix)(horizons), rel=1e-8)


@given(st.integers(0, 10**6), st.integers(2, 12))
def test_allocations_follow_the_names(seed, num_arms):
    rng = np.random.default_rng(seed)
    matrix = random_matrix(rng, num_arms)
    order = rng.permutation(num_arms)
    turned = matrix[np.ix_(order, order)]
    for solve in (copeland_lower_bound, ecw_rmed_constant):
        first, second = solve(matrix), solve(turned)
        values = {order[arm]: value for arm, value in second.value_by_winner.items()}
        assert values == pytest.approx(first.value_by_winner, rel=1e-8)
        smallest, *rest = sorted(first.value_by_winner.values())
        if rest and rest[0] <= smallest * (1 + 1e-6):
            continue  # Several winners are as cheap.
        assert first.winner == order[second.winner]
        # Evidence of pairs that cost nothing may differ.
        priced = quantities(turned)[2] > 0
        expected = first.evidence[np.ix_(order, order)]
        assert second.evidence[priced] == pytest.approx(expected[priced], abs=1e-6)


# All that do not grow when every gap grows; the regret of a duel must not depend on it.
FALLING = [
    ccb_order,
    ecw_kl_sum_bound,
    ecw_kl_worst_case_bound,
    lambda matrix: condorcet_lower_bound(matrix, regret="copeland"),
    rmed1_bound,
    double_thompson_bound,
    lambda matrix: pcomp_bound(matrix, 5),
    lambda matrix: copeland_lower_bound(matrix).bound,
    lambda matrix: ecw_rmed_constant(matrix).bound,
]


@given(st.integers(0, 10**6), st.integers(2, 10))
def test_clearer_pairs_never_cost_more(seed, num_arms):
    rng = np.random.default_rng(seed)
    matrix = condorcet(rng, num_arms)
    gaps = gaps_of(matrix)
    larger = gaps + np.sign(gaps) * rng.uniform(0, 1, gaps.shape) * (0.5 - abs(gaps))
    clearer = from_upper(larger)
    for make in FALLING:
        assert make(clearer)(1e6) <= make(matrix)(1e6) * (1 + 1e-9)

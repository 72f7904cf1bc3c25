"""Large instances, and distributions that hold for every matrix."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.theory.brute_force import quantities, solve_cover
from tests.theory.checks import check_optimum
from tests.theory.matrices import (
    CYCLIC,
    GAP,
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
    sensitivity,
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


# Total order, few losses of the winner, random tournament.
@pytest.mark.parametrize(("noise", "seed"), [(0.2, 0), (3.0, 2), (10.0, 3)])
def test_136_arms(noise, seed):
    rng = np.random.default_rng(seed)
    matrix = random_matrix(rng, 136, noise=noise, exponent=2)
    assert levels(matrix)[2] == 1
    assert check_large(matrix).certificate.num_rounds > 0


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.2, 1.0, 3.0, 10.0])
def test_more_matrices_of_136_arms(noise):
    for seed in (9, 10, 11, 21):
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


@pytest.mark.parametrize("num_arms", [20, 45])
@pytest.mark.parametrize("noise", [0.3, 2.0, 10.0])
def test_efficient_constant_of_many_arms_against_loops(num_arms, noise):
    matrix = random_matrix(np.random.default_rng(num_arms), num_arms, noise=noise)
    values = naive_efficient_constant(matrix)
    optimum = ecw_rmed_constant(matrix)
    assert optimum.value_by_winner == pytest.approx(values, rel=1e-10)


@pytest.mark.parametrize("noise", [0.2, 1.0, 10.0])
def test_efficient_constant_of_500_arms(noise):
    matrix = random_matrix(np.random.default_rng(5), 500, noise=noise)
    gaps, losses, costs = quantities_of_many(matrix)
    optimum = ecw_rmed_constant(matrix)
    x, arm, least = optimum.evidence, optimum.winner, losses.min()
    assert np.triu(x * costs).sum() == pytest.approx(optimum.value, rel=1e-9)
    assert (x[arm, gaps[arm] > 0] == 1).all()
    for rival in np.flatnonzero(np.arange(500) != arm):
        pool = (gaps[rival] < 0) & (np.arange(500) != arm)
        size = losses[rival] - least + 1
        if size <= pool.sum():
            assert np.sort(x[rival, pool])[:size].sum() >= 1 - 1e-9
    certificate = optimum.certificate
    assert certificate.dual_bound == pytest.approx(optimum.value, rel=1e-10)
    # A sample of blocks by the definition.
    for rival in range(0, 500, 61):
        pool = (gaps[rival] < 0) & (np.arange(500) != arm)
        ordered = np.sort(costs[rival, pool])
        spare = ordered.size - (losses[rival] - least + 1)
        if rival != arm and spare >= 0:
            lengths = np.arange(spare + 1, ordered.size + 1)
            best = (np.cumsum(ordered)[spare:] / (lengths - spare)).min()
            cost = (x * costs)[rival, pool].sum()
            assert cost == pytest.approx(best, rel=1e-9)


def quantities_of_many(matrix):
    """`quantities` without loops."""
    gaps = gaps_of(matrix)
    losses = (gaps < 0).sum(axis=1)
    excess = losses - losses.min()
    p = np.where(gaps != 0, 0.5 + gaps, 0.7)
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = p * np.log(2 * p) + np.where(p < 1, (1 - p) * np.log(2 - 2 * p), 0)
    divergence = np.where(p == 0, np.log(2), divergence)
    costs = (excess[:, None] + excess) / (2 * (len(matrix) - 1)) / divergence
    return gaps, losses, np.where(gaps != 0, costs, 0)


def test_quantities_of_many():
    matrix = random_matrix(np.random.default_rng(0), 9)
    for first, second in zip(
        quantities(matrix), quantities_of_many(matrix), strict=True
    ):
        assert first == pytest.approx(second, rel=1e-6)


# Theorem 6: with two or more winners the efficient program is optimal.


def by_separation(matrix, arm):
    """Optimum of (P) from violated constraints alone, without the closed form."""
    _, _, costs = quantities(matrix)
    found, sets, value = find_violations(np.zeros_like(costs), matrix, arm), set(), 0.0
    while found:
        for violation in found:
            pairs = [(arm, j) for j in violation.inferiors]
            pairs += [(violation.rival, j) for j in violation.superiors]
            sets.add(frozenset(tuple(sorted(pair)) for pair in pairs))
        value, x = solve_cover(costs, sets, len(costs), with_solution=True)
        found = find_violations(x, matrix, arm, tolerance=1e-7)
    return value


@pytest.mark.parametrize(("num_arms", "count"), [(8, 2), (9, 3), (10, 2), (11, 4)])
def test_theorem_6(num_arms, count):
    rng = np.random.default_rng(num_arms)
    matrix = draw_until(rng, lambda a, b, c: a >= 1 and c == count, num_arms)
    efficient = ecw_rmed_constant(matrix).value_by_winner
    assert copeland_lower_bound(matrix).value_by_winner == efficient
    for arm in winners(matrix):
        assert by_separation(matrix, arm) == pytest.approx(efficient[arm], rel=1e-6)


def test_theorem_6_needs_two_winners():
    for matrix in (CYCLIC, GAP):
        assert winners(matrix) == [0]
        optimal = by_separation(matrix, 0)
        assert optimal == pytest.approx(copeland_lower_bound(matrix).value, rel=1e-6)
        assert optimal < 0.6 * ecw_rmed_constant(matrix).value


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
    for program, solve in (("cw", copeland_lower_bound), ("ecw", ecw_rmed_constant)):
        first, second = solve(matrix), solve(turned)
        values = {order[arm]: value for arm, value in second.value_by_winner.items()}
        assert values == pytest.approx(first.value_by_winner, rel=1e-8)
        if sensitivity(matrix, program=program).unique:
            assert first.winner == order[second.winner]
            # What costs nothing may differ.
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

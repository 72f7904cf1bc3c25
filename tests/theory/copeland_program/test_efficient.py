"""Closed form of the efficient program."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

from tests.theory.brute_force import enumerate_efficient_program, quantities
from tests.theory.matrices import (
    SHAPES,
    gaps_of,
    levels,
    random_matrix,
    shaped,
    winners,
)
from theory import ecw_rmed_constant
from theory.copeland_program import ecw_costs, ecw_evidence, ecw_slack
from theory.copeland_program.efficient import allocate
from theory.copeland_program.program_data import ProgramData, losses

# One block: the cheapest e >= 0 such that every n - k of the n entries add up to 1.


def block_by_enumeration(costs, k):
    n = len(costs)
    if k < 0:
        return 0.0
    rows = [
        [-(j in chosen) for j in range(n)] for chosen in combinations(range(n), n - k)
    ]
    result = linprog(costs, A_ub=np.array(rows, float), b_ub=-np.ones(len(rows)))
    assert result.status == 0
    return result.fun


def block_value(costs, k, *, winner_cost=None):
    """Cost of the block of arm 0 with the given costs of superiors and its k.

    Arm 1 is the winner. With a `winner_cost` it is among the superiors of arm 0.
    """
    num_arms = len(costs) + 2
    table, gaps = np.zeros((num_arms,) * 2), np.zeros((num_arms,) * 2)
    table[0, 2:], gaps[0, 2:] = costs, -0.1
    if winner_cost is not None:
        table[0, 1] = table[1, 0] = winner_cost
        gaps[0, 1], gaps[1, 0] = -0.1, 0.1
    least = k + 1 + (winner_cost is not None)
    return allocate(ProgramData(gaps, table), 1, least)[0][0]


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_block_against_enumeration(n):
    rng = np.random.default_rng(n)
    families = [
        rng.uniform(0.1, 3, n),
        10 ** rng.uniform(-3, 3, n),
        rng.integers(1, 4, n) / 2,
        np.maximum(rng.integers(-2, 3, n), 0) / 3,
        np.zeros(n),
        np.full(n, 0.7),
    ]
    for costs in families:
        for k in range(-2, n):
            exact = block_by_enumeration(costs, k)
            assert block_value(costs, k) == pytest.approx(exact, rel=1e-9, abs=1e-12)
            # The same with the winner among the superiors, where it does not count.
            for price in (0.0, costs.min(), np.median(costs), 1e6):
                value = block_value(costs, k, winner_cost=price)
                assert value == pytest.approx(exact, rel=1e-9, abs=1e-12)


def test_no_digits_are_lost_when_an_expensive_winner_is_removed():
    # min(1 + 2, (1 + 2 + 3) / 2), exactly
    assert block_value([1.0, 2.0, 3.0], 1, winner_cost=1e16) == 3.0


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("grid", [None, [0.1, 0.2, 0.4]])
def test_whole_program_against_enumeration(name, grid):
    for seed in range(2):
        matrix = shaped(name, seed, grid=grid)
        gaps = gaps_of(matrix)
        costs = ecw_costs(gaps)
        for arm in range(len(matrix)):
            if arm not in winners(matrix):
                assert costs[arm] == np.inf
                continue
            exact = enumerate_efficient_program(matrix, arm)
            assert costs[arm] == pytest.approx(exact, rel=1e-9, abs=1e-9)
            x = ecw_evidence(gaps, arm)
            assert np.array_equal(x, x.T)
            assert x.min() >= 0 and x.max() <= 1 and (np.diagonal(x) == 0).all()
            value = np.triu(x * quantities(matrix)[2]).sum()
            assert value == pytest.approx(exact, rel=1e-9, abs=1e-9)
            assert ecw_slack(x, gaps, arm) >= 1 - 1e-12
            one = ecw_rmed_constant(matrix, winner=arm)
            assert one.value == pytest.approx(exact, rel=1e-9, abs=1e-9)
            assert np.array_equal(one.evidence, x)


def test_tie_rules_of_the_allocation():
    # Arm 3 loses to 0, 1 and 2 with equal gaps. For the winner 0, which loses to 4
    # alone, k = 1 - 1 - 1 < 0 where 0 wins, and k = 0 for the arm 4 that beats it.
    gaps = np.zeros((5, 5))
    for i, j in [(0, 1), (0, 2), (0, 3), (4, 0), (1, 4), (2, 4), (3, 4), (1, 2)]:
        gaps[i, j], gaps[j, i] = 0.25, -0.25
    for i, j in [(2, 3), (3, 1)]:
        gaps[i, j], gaps[j, i] = 0.25, -0.25
    assert losses(gaps).tolist() == [1, 2, 2, 2, 3]
    x = ecw_evidence(gaps, 0)
    # Superiors of 4 with equal costs: k = 0, so one of them carries all, the first.
    assert x[4].tolist() == [0, 1, 0, 0, 0]
    assert x[0].tolist() == [0, 1, 1, 1, 0]
    # Equal up to rounding is equal: a third of the sum of three is not preferred.
    for scale in np.linspace(0.1, 1, 19):
        assert ecw_evidence(gaps * scale, 0)[4].tolist() == [0, 1, 0, 0, 0]


def test_large_matrix_needs_little_memory():
    import tracemalloc

    matrix = random_matrix(np.random.default_rng(1), 300, noise=1.0)
    tracemalloc.start()
    optimum = ecw_rmed_constant(matrix)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert optimum.certificate.relative_gap == pytest.approx(0, abs=1e-12)
    # A table of K^3 numbers would take 216 MB.
    assert peak < 40e6, levels(matrix)

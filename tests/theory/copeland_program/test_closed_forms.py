"""The least cost of naming a winner, where a formula gives it."""

import math

import numpy as np
import pytest

from tests.theory.identification.test_bound import information
from tests.theory.matrices import from_upper, random_matrix
from theory import identification_bound


def test_two_arms_cost_one_test():
    for p in (0.6, 0.9999, 1.0):
        found = identification_bound([[0.5, p], [1 - p, 0.5]], [[0, 3], [3, 0]])
        d = information([[0.5, p], [1 - p, 0.5]])[0, 1]
        assert found.value == pytest.approx(3 / d, rel=1e-9)
    assert identification_bound([[0.5, 0.0], [1.0, 0.5]]).value == pytest.approx(
        1 / math.log(2), rel=1e-14
    )


def test_three_arms_in_a_cycle_cost_the_two_cheapest_pairs():
    matrix = from_upper([[0, 0.1, -0.3], [0, 0, 0.2], [0, 0, 0]])
    costs = 1 / information(matrix)[[0, 0, 1], [1, 2, 2]]
    found = identification_bound(matrix)
    assert found.value == pytest.approx(costs.sum() - costs.max(), rel=1e-12)
    assert found.winner == 1 and len(found.value_by_winner) == 3


def closed_form(matrix, winner):
    """A Condorcet winner and an arm that loses to it alone: see the theory note."""
    d = information(matrix)
    spared = []
    total = 0.0
    for arm in range(len(d)):
        if arm == winner:
            continue
        others = [j for j in range(len(d)) if matrix[arm, j] < 0.5 and j != winner]
        own = 1 / d[winner, arm]
        total += own
        spared.append(max(own - min((1 / d[arm, j] for j in others), default=own), 0))
    return total - max(sum(spared) / 2, max(spared))


def test_closed_form_under_a_condorcet_winner():
    rng = np.random.default_rng(1870)
    half = single = 0
    for _ in range(60):
        num_arms = int(rng.integers(3, 9))
        signs = np.triu(np.ones((num_arms, num_arms)), 1)
        # Below the first two arms anything goes.
        signs[2:, 2:] *= np.where(rng.random((num_arms - 2,) * 2) < 0.5, 1, -1)
        matrix = from_upper(signs * 10 ** rng.uniform(-1.5, np.log10(0.5), signs.shape))
        found = identification_bound(matrix)
        assert found.winner == 0
        assert found.value == pytest.approx(closed_form(matrix, 0), rel=1e-9)
        x = found.evidence[0, 1:]
        half += bool((np.abs(x - 0.5) < 1e-9).any())
        single += bool((x < 1e-9).any())
    assert half >= 5 and single >= 5


def test_a_condorcet_winner_lies_between_its_two_verifications():
    rng = np.random.default_rng(1880)
    strict = 0
    for _ in range(40):
        matrix = random_matrix(rng, 6, noise=10.0)
        matrix[0], matrix[:, 0] = 0.8, 0.2
        matrix[0, 0] = 0.5
        costs = 1 / np.where(information(matrix) > 0, information(matrix), 1)
        best_opponent = sum(
            min(costs[i, j] for j in range(6) if matrix[i, j] < 0.5)
            for i in range(1, 6)
        )
        found = identification_bound(matrix)
        assert best_opponent <= found.value * (1 + 1e-9)
        assert found.value <= costs[0, 1:].sum() * (1 + 1e-9)
        strict += best_opponent < 0.99 * found.value < 0.98 * costs[0, 1:].sum()
    assert strict >= 5

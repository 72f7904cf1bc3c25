"""The allocation as a table."""

import json

import numpy as np
import pytest

from tests.theory.brute_force import quantities
from tests.theory.matrices import ALL_WIN, CYCLIC, GAP, REFERENCE, random_matrix
from theory import (
    InvalidPreferenceError,
    PreferenceMatrix,
    copeland_lower_bound,
    ecw_rmed_constant,
)
from theory.copeland_program import AllocationRecord, allocation_table


@pytest.mark.parametrize("solve", [copeland_lower_bound, ecw_rmed_constant])
@pytest.mark.parametrize("name", REFERENCE)
def test_records_say_what_the_matrix_says(name, solve):
    matrix = REFERENCE[name]
    gaps, losses, costs = quantities(matrix)
    optimum = solve(matrix)
    table = allocation_table(optimum, matrix)
    num_arms = len(matrix)
    assert [(row["first"], row["second"]) for row in table] == [
        (i, j) for i in range(num_arms) for j in range(i + 1, num_arms)
    ]
    for row in table:
        assert set(row) == set(AllocationRecord.__annotations__)
        i, j = row["first"], row["second"]
        assert (row["first_name"], row["second_name"]) == (str(i), str(j))
        assert row["preference"] == matrix[i, j]
        assert row["gap"] == pytest.approx(gaps[i, j], rel=1e-12)
        assert row["superior"] == (i if gaps[i, j] > 0 else j)
        assert row["cost"] == pytest.approx(costs[i, j], rel=1e-9)
        excess = losses[i] + losses[j] - 2 * losses.min()
        assert row["regret_per_duel"] == pytest.approx(excess / (2 * (num_arms - 1)))
        assert row["evidence"] == optimum.evidence[i, j]
        duels = row["duels_per_log_round"]
        assert row["evidence"] == pytest.approx(duels * row["divergence"], rel=1e-12)
        spent = row["regret_per_log_round"]
        assert spent == pytest.approx(duels * row["regret_per_duel"], rel=1e-12)
        assert spent == pytest.approx(row["share"] * optimum.value, rel=1e-12)
        if 0 not in (i, j):  # The winner of all four.
            assert row["relation"] == "others"
        else:
            assert row["relation"] == ("won" if gaps[0, max(i, j)] > 0 else "lost")
    total = sum(row["regret_per_log_round"] for row in table)
    assert total == pytest.approx(optimum.value, rel=1e-9)
    assert sum(row["share"] for row in table) == pytest.approx(1, rel=1e-9)


def test_names_and_used_pairs():
    matrix = PreferenceMatrix(GAP, arm_names=["tea", "coffee", "milk", "water", "mate"])
    optimum = copeland_lower_bound(matrix)
    everything = allocation_table(optimum, matrix)
    names = everything[1]["first_name"], everything[1]["second_name"]
    assert names == ("tea", "milk")
    assert json.loads(json.dumps(everything, allow_nan=False)) == everything
    used = allocation_table(optimum, matrix, used_only=True)
    assert 0 < len(used) < len(everything) == 10
    assert used == [row for row in everything if row["evidence"] > 0]


def test_ties_and_worthless_instances():
    matrix = GAP.copy()
    matrix[3, 4] = matrix[4, 3] = 0.5
    optimum = copeland_lower_bound(matrix, ties="ignore")
    rows = {
        (row["first"], row["second"]): row for row in allocation_table(optimum, matrix)
    }
    tie = rows[3, 4]
    assert tie["superior"] is None and tie["relation"] == "others"
    assert tie["gap"] == tie["cost"] == tie["evidence"] == tie["divergence"] == 0
    total = sum(row["regret_per_log_round"] for row in rows.values())
    assert total == pytest.approx(optimum.value, rel=1e-9)
    # Every arm wins: nothing costs anything.
    for row in allocation_table(copeland_lower_bound(ALL_WIN), ALL_WIN):
        assert row["share"] == row["cost"] == row["regret_per_log_round"] == 0


def test_another_winner_than_the_best():
    matrix = REFERENCE["multisol"]
    optimum = copeland_lower_bound(matrix, winner=2)
    relations = {
        (row["first"], row["second"]): row["relation"]
        for row in allocation_table(optimum, matrix)
    }
    assert relations[0, 2] == "lost" and relations[1, 2] == "won"
    assert relations[2, 4] == "won" and relations[0, 1] == "others"


def test_the_matrix_must_be_the_right_one():
    optimum = copeland_lower_bound(GAP)
    with pytest.raises(InvalidPreferenceError, match="5 arms, got 4"):
        allocation_table(optimum, CYCLIC)
    other = random_matrix(np.random.default_rng(0), 5)
    with pytest.raises(InvalidPreferenceError, match="costs 11.02"):
        allocation_table(optimum, other)

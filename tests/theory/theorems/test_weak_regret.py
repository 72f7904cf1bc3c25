"""Bounds on Winner Stays, beside numbers worked out by hand."""

import numpy as np
import pytest

import theory
from tests.policies.instances import ladder
from theory.theorems import (
    strong_winner_stays_bound,
    winner_stays_bound,
    winner_stays_order_bound,
)

CYCLE_BELOW = [
    [0.5, 0.9, 0.7, 0.8],
    [0.1, 0.5, 0.8, 0.2],
    [0.3, 0.2, 0.5, 0.9],
    [0.2, 0.8, 0.1, 0.5],
]
"""Arm 0 beats all others, which form a cycle."""


@pytest.mark.parametrize(
    ("num_arms", "ordered", "winner"), [(5, 300.2, 106.5), (10, 752.6, 398.1)]
)
def test_weak_regret_of_a_ladder(num_arms, ordered, winner):
    matrix = ladder(num_arms, 0.8)
    for bound, value in (
        (winner_stays_order_bound(matrix), ordered),
        (winner_stays_bound(matrix), winner),
    ):
        assert bound.constant == pytest.approx(value, abs=0.06)
        assert bound([2, 10**12]).tolist() == [bound.constant] * 2
        assert (bound.regret, bound.kind) == ("weak_binary", "upper")


def test_the_least_probability_counts_whoever_wins_by_it():
    """K = 4, and P(0 beats 2) = 0.7 is the least one: 25 + 0.7 16 / 0.064."""
    assert winner_stays_bound(CYCLE_BELOW).constant == pytest.approx(25 + 175)


def test_assumptions_are_checked():
    with pytest.raises(theory.errors.InvalidPreferenceError, match="one order"):
        winner_stays_order_bound(CYCLE_BELOW)
    cycle = [[0.5, 0.6, 0.4], [0.4, 0.5, 0.6], [0.6, 0.4, 0.5]]
    with pytest.raises(theory.errors.InvalidPreferenceError, match="beats all"):
        winner_stays_bound(cycle)


def test_strong_regret_grows_with_the_logarithm():
    matrix, beta = ladder(5, 0.8), 2.0
    bound = strong_winner_stays_bound(matrix, beta=beta)
    search = 2 * 0.8**3 * 5 * (np.log(5) + 1) / 0.6**6
    for rounds in (10, 10**6):
        series = 5 * np.log(rounds * (beta - 1)) / np.log(beta) / 0.6
        assert bound(rounds) == pytest.approx(search + series)


@pytest.mark.parametrize("beta", [1.0, 4.001])
def test_beta_has_a_range(beta):
    """At most p / (1 - p) = 4."""
    with pytest.raises(ValueError, match="at most 4"):
        strong_winner_stays_bound(ladder(5, 0.8), beta=beta)


def test_sure_outcomes_have_bounds():
    assert winner_stays_bound(ladder(3, 1.0)).constant == pytest.approx(3 + 9)
    assert strong_winner_stays_bound(ladder(3, 1.0), beta=50.0).log_coefficient > 0

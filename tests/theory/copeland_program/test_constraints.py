"""Slack of every family against the enumeration of all constraints."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.theory.brute_force import constraints, efficient_constraints
from tests.theory.matrices import (
    GAP,
    SHAPES,
    from_upper,
    gaps_of,
    random_matrix,
    shaped,
    winners,
)
from theory.copeland_program import (
    candidate_slack,
    constraint_slack,
    ecw_slack,
)
from theory.divergences import kl_to_half
from theory.identification import counts_suffice


def random_evidence(rng, num_arms, kind):
    shape = (num_arms, num_arms)
    if kind == "raw counts":  # N d, not divided by log t and not clipped
        x = rng.integers(0, 10_000, shape) * rng.uniform(1e-6, 1, shape)
    elif kind == "repeated":
        x = rng.integers(0, 3, shape) / 4
    else:
        x = rng.uniform(0, 1, shape)
    x = np.triu(x, 1)
    return x + x.T


def slack_by_enumeration(matrix, x, arm, sets_of=constraints):
    sums = [sum(x[pair] for pair in chosen) for chosen in sets_of(matrix, arm)]
    return min(sums, default=np.inf)


@pytest.mark.parametrize("kind", ["units", "repeated", "raw counts"])
@pytest.mark.parametrize("name", SHAPES)
def test_slack_against_enumeration(name, kind):
    for seed in range(2):
        matrix = shaped(name, seed)
        gaps = gaps_of(matrix)
        x = random_evidence(np.random.default_rng(seed), len(matrix), kind)
        slack = constraint_slack(x, gaps)
        for arm in range(len(matrix)):
            if arm in winners(matrix):
                exact = slack_by_enumeration(matrix, x, arm)
                assert slack[arm] == pytest.approx(exact, rel=1e-12)
                assert candidate_slack(x, gaps, arm) == slack[arm]
                exact = slack_by_enumeration(matrix, x, arm, efficient_constraints)
                assert ecw_slack(x, gaps, arm) == pytest.approx(exact, rel=1e-12)
            else:
                assert slack[arm] == candidate_slack(x, gaps, arm) == np.inf


@given(st.integers(0, 10**6), st.integers(2, 6), st.booleans())
def test_slack_with_ties(seed, num_arms, tie_a_winner):
    rng = np.random.default_rng(seed)
    gaps = gaps_of(random_matrix(rng, num_arms))
    for _ in range(rng.integers(1, 4)):
        i, j = rng.choice(num_arms, 2, replace=False)
        gaps[i, j] = gaps[j, i] = 0
    if tie_a_winner:
        arm = int((gaps < 0).sum(axis=1).argmin())
        other = (arm + 1) % num_arms
        gaps[arm, other] = gaps[other, arm] = 0
    x = random_evidence(rng, num_arms, "units")
    slack = constraint_slack(x, gaps)
    counts = (gaps < 0).sum(axis=1)
    for arm in np.flatnonzero(counts == counts.min()):
        exact = slack_by_enumeration(0.5 + gaps, x, arm)
        assert slack[arm] == pytest.approx(exact, rel=1e-12)


def test_no_decided_pair_leaves_no_constraint():
    assert constraint_slack(np.zeros((3, 3)), np.zeros((3, 3))).tolist() == [np.inf] * 3


def test_candidates_select():
    matrix = shaped("two winners", 0)
    x = np.full((5, 5), 0.3)
    slack = constraint_slack(x, gaps_of(matrix))
    for chosen in (np.zeros(5, bool), np.arange(5) == winners(matrix)[1]):
        expected = np.where(chosen, slack, np.inf)
        got = constraint_slack(x, gaps_of(matrix), candidates=chosen)
        assert np.array_equal(got, expected)


# Counts of duels.


def test_counts_suffice_at_the_boundary():
    matrix = np.array([[0.5, 0.7], [0.3, 0.5]])
    divergence = float(kl_to_half(0.2))
    counts = np.array([[99, 50], [50, 7]])  # the diagonal does not matter
    for program in ("cw", "ecw"):
        for log_rounds, answer in [
            (50 * divergence, True),
            (50 * divergence * (1 - 1e-9), True),
            (50 * divergence * (1 + 1e-9), False),
        ]:
            got = counts_suffice(counts, log_rounds, matrix, 0, program=program)
            assert got is answer


def test_optimal_and_efficient_demands_differ():
    # On this matrix (0, 3) is hard to tell and the optimum leaves it alone.
    counts = np.full((5, 5), 1000)
    counts[0, 3] = counts[3, 0] = 1
    assert counts_suffice(counts, 7.0, GAP, 0, program="cw")
    assert not counts_suffice(counts, 7.0, GAP, 0, program="ecw")
    assert not counts_suffice(np.zeros((5, 5)), 7.0, GAP, 0)


def test_counts_suffice_ignores_a_tie_at_the_winner():
    matrix = from_upper([[0, 0, 0.2], [0, 0, 0.3], [0, 0, 0]])
    assert counts_suffice(np.full((3, 3), 1000), 5.0, matrix, 0)
    assert counts_suffice(np.full((3, 3), 1000), 5.0, matrix, 1)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"counts": np.full((5, 5), -1)}, r"counts\[0, 0\] must not be negative"),
        ({"counts": np.full((5, 5), np.inf)}, "finite"),
        ({"counts": np.ones((4, 4))}, "one row per arm"),
        ({"counts": np.arange(25).reshape(5, 5)}, r"counts\[0, 4\] must be symmetric"),
        ({"log_rounds": 0.0}, "log_rounds"),
        ({"winner": 1}, r"one of \[0\]"),
        ({"program": "dw"}, "cw, ecw"),
    ],
)
def test_bad_counts(change, text):
    arguments = {"counts": np.ones((5, 5)), "log_rounds": 1.0, "winner": 0} | change
    with pytest.raises(ValueError, match=text):
        counts_suffice(matrix=GAP, **arguments)


def test_every_small_tournament():
    """All 64 tournaments on four arms, with evidence that tells all pairs apart."""
    x = np.zeros((4, 4))
    for power, (i, j) in enumerate(combinations(range(4), 2)):
        x[i, j] = x[j, i] = 3.0**power
    for signs in range(64):
        upper = np.zeros((4, 4))
        for bit, pair in enumerate(combinations(range(4), 2)):
            upper[pair] = 0.2 if signs >> bit & 1 else -0.2
        matrix = from_upper(upper)
        slack = constraint_slack(x, gaps_of(matrix))
        for arm in winners(matrix):
            assert slack[arm] == slack_by_enumeration(matrix, x, arm)

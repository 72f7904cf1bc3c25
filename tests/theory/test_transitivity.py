"""Cycles, and triples that break stochastic transitivity."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.theory.matrices import ALL_WIN, CYCLIC, MSLR5, from_upper, random_matrix
from theory import InvalidPreferenceError, PreferenceMatrix
from theory.preferences import (
    find_cycle,
    find_intransitive_triple,
    require_strong_transitivity,
)


def with_ties(rng, num_arms):
    matrix = random_matrix(rng, num_arms, noise=rng.choice([0.05, 0.5]))
    for i, j in permutations(range(num_arms), 2):
        if rng.uniform() < 0.1:
            matrix[i, j] = matrix[j, i] = 0.5
    return matrix


@given(st.integers(0, 10**6), st.integers(2, 7))
def test_against_loops_and_the_matrix(seed, num_arms):
    matrix = with_ties(np.random.default_rng(seed), num_arms)
    gaps = PreferenceMatrix(matrix).gaps
    cycle = find_cycle(matrix)
    for first, second in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        assert gaps[first, second] > 0
    assert len(set(cycle)) == len(cycle) != 1
    assert (cycle == ()) == PreferenceMatrix(matrix).is_total_order
    holds = {}
    for rule in ("sst", "sti"):
        shortfall = {}
        for i, j, k in permutations(range(num_arms), 3):
            if gaps[i, j] >= 0 and gaps[j, k] >= 0:
                if rule == "sst":
                    shortfall[i, j, k] = max(gaps[i, j], gaps[j, k]) - gaps[i, k]
                else:
                    shortfall[i, j, k] = gaps[i, k] - gaps[i, j] - gaps[j, k]
        triple = find_intransitive_triple(matrix, rule)
        worst = max(shortfall.values(), default=0.0)
        holds[rule] = worst <= 1e-9
        assert (triple is None) == holds[rule]
        if triple:
            assert shortfall[triple] == worst
    assert PreferenceMatrix(matrix).satisfies_sst() == (cycle == () and holds["sst"])
    assert PreferenceMatrix(matrix).satisfies_sti() == (cycle == () and holds["sti"])


def test_known_matrices():
    assert find_cycle(MSLR5) == () and find_cycle(CYCLIC) == (1, 2, 3)
    assert len(find_cycle(ALL_WIN)) >= 3
    order = from_upper(np.full((4, 4), 0.2))
    assert find_intransitive_triple(order, "sst") is None
    assert find_intransitive_triple(order, "sti") is None
    with pytest.raises(ValueError, match="rule must be"):
        find_intransitive_triple(order, "wst")


def test_a_gap_is_said_without_digits_that_nobody_gave():
    matrix = [[0.5, 0.75, 0.672], [0.25, 0.5, 0.6], [0.328, 0.4, 0.5]]
    with pytest.raises(InvalidPreferenceError, match=r"got 0\.172(;|$)") as caught:
        require_strong_transitivity(PreferenceMatrix(np.array(matrix)), "a bound")
    assert caught.value.value == 0.172

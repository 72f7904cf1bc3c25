"""The distributions of random matrices, and the instances of the batched papers.

Every statistical test has a fixed seed and raises a false alarm with probability
FALSE_ALARM for a fresh one.
"""

import itertools
import math
import re
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from bayesduel.instances import generators

FALSE_ALARM = 1e-5


def _uniform_over(counts, cells):
    """Test by chi-square that all cells are equally likely, and no other occurs."""
    assert set(counts) <= set(cells)
    observed = [counts[cell] for cell in cells]
    assert stats.chisquare(observed).pvalue > FALSE_ALARM


def _signs(values):
    upper = np.triu_indices(len(values), 1)
    return tuple((values[upper] > 0.5).tolist())


def _tournaments(num_arms):
    """All sign patterns of the upper triangle, with the wins of every arm."""
    pairs = list(itertools.combinations(range(num_arms), 2))
    by_name = {}
    for signs in itertools.product((False, True), repeat=len(pairs)):
        wins = [0] * num_arms
        for (i, j), sign in zip(pairs, signs, strict=True):
            wins[i if sign else j] += 1
        by_name[signs] = wins
    return by_name


def test_shuffles_are_uniform():
    rng = np.random.default_rng(100)
    counts = Counter(
        tuple(generators.mallows(rng, 4, 0.5).permutation.tolist()) for _ in range(2400)
    )
    _uniform_over(counts, list(itertools.permutations(range(4))))


@pytest.mark.parametrize(
    ("winner", "shuffle"),
    [*((winner, False) for winner in generators.WINNERS), ("condorcet", True)],
)
def test_uniform_random_signs_are_uniform_over_what_is_allowed(winner, shuffle):
    tournaments = _tournaments(4)
    assert len(tournaments) == 64
    allowed = [
        signs
        for signs, wins in tournaments.items()
        if winner == "any"
        or (winner == "condorcet" and max(wins) == 3)
        or (winner == "unique_copeland" and wins.count(max(wins)) == 1)
    ]
    rng = np.random.default_rng(101)
    counts = Counter(
        _signs(
            generators.uniform_random(
                rng, 4, winner=winner, shuffle=shuffle
            ).matrix.values
        )
        for _ in range(1200)
    )
    _uniform_over(counts, allowed)


@pytest.mark.parametrize("winner", ["any", "condorcet"])
def test_uniform_random_sizes_are_uniform(winner):
    rng = np.random.default_rng(102)
    sizes, entries = [], []
    for _ in range(300):
        values = generators.uniform_random(rng, 7, winner=winner).matrix.values
        upper = values[np.triu_indices(7, 1)]
        sizes.extend(np.abs(upper - 0.5).tolist())
        entries.extend(upper.tolist())
    assert stats.kstest(sizes, stats.uniform(0, 0.5).cdf).pvalue > FALSE_ALARM
    if winner == "any":
        assert stats.kstest(entries, stats.uniform.cdf).pvalue > FALSE_ALARM


@pytest.mark.parametrize("num_arms", [2, 3, 36])
def test_uniform_random_conditions_hold(num_arms):
    rng = np.random.default_rng(104)
    for _ in range(20):
        matrix = generators.uniform_random(rng, num_arms).matrix
        assert len(matrix.copeland_winners) == 1
        matrix = generators.uniform_random(rng, num_arms, winner="condorcet").matrix
        assert matrix.condorcet_winner is not None
        matrix = generators.uniform_random(rng, num_arms, min_gap=0.3).matrix
        off_diagonal = matrix.values[~np.eye(num_arms, dtype=bool)]
        assert np.abs(off_diagonal - 0.5).min() >= 0.3 - 1e-12
        assert off_diagonal.min() >= 0
        assert matrix.ties == []


def test_uniform_random_sizes_with_a_minimum():
    rng = np.random.default_rng(105)
    values = generators.uniform_random(rng, 60, winner="any", min_gap=0.1).matrix.values
    sizes = np.abs(values[np.triu_indices(60, 1)] - 0.5)
    assert stats.kstest(sizes, stats.uniform(0.1, 0.4).cdf).pvalue > FALSE_ALARM


def test_syn_btl_distribution():
    """For two arms, w_0 / (w_0 + w_1) with independent uniform weights."""

    def distribution(x):
        return np.where(x <= 0.5, x / (2 * (1 - x)), 1 - (1 - x) / (2 * x))

    rng = np.random.default_rng(106)
    entries = [generators.syn_btl(rng, 2).matrix.values[0, 1] for _ in range(1500)]
    assert stats.kstest(entries, distribution).pvalue > FALSE_ALARM
    matrix = generators.syn_btl(rng).matrix
    assert matrix.num_arms == 100
    assert matrix.satisfies_sst()
    assert matrix.satisfies_sti()


def test_syn_cd_distribution():
    rng = np.random.default_rng(107)
    winners, margins = Counter(), []
    for _ in range(1000):
        matrix, permutation = generators.syn_cd(rng, 5)
        winner = matrix.condorcet_winner
        assert winner is not None
        assert permutation[winner] == 0
        winners[winner] += 1
        others = np.delete(matrix.values[winner], winner)
        assert len(set(others.tolist())) == 1
        margins.append(others[0] - 0.5)
        rest = np.delete(np.delete(matrix.values, winner, 0), winner, 1)
        assert (rest == 0.5).all()
    _uniform_over(winners, list(range(5)))
    assert stats.kstest(margins, stats.uniform(0, 0.5).cdf).pvalue > FALSE_ALARM
    matrix = generators.syn_cd(rng, shuffle=False).matrix
    assert matrix.num_arms == 100
    assert matrix.condorcet_winner == 0
    assert matrix.satisfies_sst()
    assert matrix.satisfies_sti()


def test_batched_instances_entry_by_entry():
    options = {"num_arms": 5, "num_batches": 3, "horizon": 1000}
    gap = generators.batched_gap(2, **options)
    assert gap == pytest.approx(math.sqrt(5) / 72 * 1000 ** (-1 / 6), rel=1e-14)
    one = generators.batched_one_winner(2, 3, **options)
    two = generators.batched_two_levels(2, 1, 3, **options)
    for i, j in itertools.permutations(range(5), 2):
        expected = 0.5 + gap * ((i == 3) - (j == 3))
        assert one.values[i, j] == pytest.approx(expected, abs=1e-15)
        if 3 in (i, j):
            expected = 0.5 + 2 * gap * ((i == 3) - (j == 3))
        else:
            expected = 0.5 + gap * ((i == 1) - (j == 1))
        assert two.values[i, j] == pytest.approx(expected, abs=1e-15)
    assert one.condorcet_winner == two.condorcet_winner == 3
    assert len(one.ties) == 6
    assert len(two.ties) == 3
    for matrix in (one, two):
        assert matrix.satisfies_sst()
        assert matrix.satisfies_sti()
    assert generators.batched_two_levels(2, 3, 3, **options) == one


def test_batched_limit_of_the_number_of_arms():
    """sqrt(K) <= 6 B, so that 1/2 + 2 Delta_1 <= 1."""
    matrix = generators.batched_two_levels(1, 0, 1, num_arms=36, num_batches=1)
    assert matrix.values.max() == 1.0
    with pytest.raises(ValueError, match="for 37 arms.*, got 1; use at least 2"):
        generators.batched_one_winner(1, 0, num_arms=37, num_batches=1)


RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: generators.uniform_random(RNG, 1), "num_arms must be an integer"),
        (
            lambda: generators.uniform_random(RNG, 3, winner="borda"),
            "winner must be one of unique_copeland, condorcet, any, got 'borda'",
        ),
        (
            lambda: generators.uniform_random(RNG, 3, min_gap=0.5),
            "min_gap must be in [0, 1/2), got 0.5",
        ),
        (lambda: generators.batched_gap(0), "batch must be an integer of at least"),
        (lambda: generators.batched_gap(17), "batch must be at most num_batches = 16"),
        (lambda: generators.batched_gap(1, horizon=0), "horizon must be at least 1"),
        (
            lambda: generators.batched_gap(1, num_batches=0),
            "num_batches must be an int",
        ),
        (
            lambda: generators.batched_one_winner(1, 100),
            "winner must be an integer from 0 to 99, got 100",
        ),
        (lambda: generators.batched_two_levels(1, -1, 2), "runner_up must be an int"),
        (lambda: generators.batched_all_ties(1), "num_arms must be an integer"),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()

"""Is there a total order? On worlds that are known, and on real votes."""

import itertools

import numpy as np
import pytest
from scipy.special import betainc, expit

from bayesduel.diagnostics import transitivity
from bayesduel.errors import FitError
from bayesduel.votes import Comparisons, Rankings


def world(preference, votes, seed):
    rng = np.random.default_rng(seed)
    wins = np.triu(rng.binomial(votes, preference), 1)
    return Comparisons.from_wins(wins + np.triu(votes - wins, 1).T)


def test_one_scale_is_recognized():
    utility = np.array([1.2, 0.9, 0.4, 0.0, -0.3, -0.8, -1.1, -1.5])
    preference = expit(utility[:, None] - utility[None, :])
    verdict = transitivity(world(preference, 80, 3))
    assert verdict.verdict == "one scale", str(verdict)
    assert verdict.elpd_difference > 0 and verdict.cycles_p_value > 0.05
    assert verdict.num_triples == 56 and verdict.num_votes == 28 * 80


def test_cycles_are_recognized():
    """Rock, paper, scissors, and three arms below them."""
    preference = np.full((6, 6), 0.5)
    for i, j in itertools.combinations(range(6), 2):
        preference[i, j] = 0.75
    preference[0, 2] = 0.3
    wins = world(preference, 40, 2).wins.copy()
    wins[4, 5] = wins[5, 4] = 0
    verdict = transitivity(Comparisons.from_wins(wins))
    assert verdict.verdict == "no single scale", str(verdict)
    assert verdict.num_open_pairs == 1 and "without a vote: 1" in str(verdict)
    assert verdict.condorcet_exists < 0.2
    assert verdict.expected_cycles > 0.8 > np.mean(verdict.cycles_if_transitive)
    assert "no single scale" in str(verdict)


def test_probabilities_by_hand():
    """Three arms: cycles and Condorcet winners from three Beta tails."""
    wins = np.array([[0, 7, 4], [3, 0, 8], [6, 2, 0]])
    verdict = transitivity(Comparisons.from_wins(wins), num_replicates=20)
    tail = {
        (i, j): 1 - betainc(1 + wins[i, j], 1 + wins[j, i], 0.5)
        for i, j in itertools.permutations(range(3), 2)
    }
    cycle = tail[0, 1] * tail[1, 2] * tail[2, 0] + tail[1, 0] * tail[2, 1] * tail[0, 2]
    assert verdict.expected_cycles == pytest.approx(cycle, rel=1e-10)
    assert verdict.condorcet_exists == pytest.approx(1.0 - cycle, rel=1e-10)
    assert float(verdict.condorcet[0]) == pytest.approx(tail[0, 1] * tail[0, 2])


def test_what_it_is_not_about():
    with pytest.raises(FitError, match="at least 3"):
        transitivity(Comparisons.from_wins([[0, 3], [1, 0]]))
    with pytest.raises(FitError, match="to_comparisons"):
        transitivity(Rankings.from_orders([["a", "b", "c"]]))
    with pytest.raises(FitError, match="whole numbers"):
        transitivity(Comparisons.from_wins(np.full((3, 3), 0.5) - 0.5 * np.eye(3)))

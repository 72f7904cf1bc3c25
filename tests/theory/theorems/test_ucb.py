"""Bounds of RUCB and KL-UCB, and the reduction of Sup-KLUCB."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.theory.matrices import CYCLIC, GAP, MSLR5, MULTISOL, random_matrix
from theory import InvalidPreferenceError, PreferenceMatrix
from theory.theorems import kl_ucb_constant, rmed1_bound, rucb_bound, sup_klucb_constant


def condorcet(rng, num_arms):
    matrix = random_matrix(rng, num_arms)
    sizes = 10 ** rng.uniform(-1.5, np.log10(0.5), num_arms - 1)
    matrix[0, 1:], matrix[1:, 0] = 0.5 + sizes, 0.5 - sizes
    order = rng.permutation(num_arms)
    return matrix[np.ix_(order, order)], int(np.argmin(order))


@given(st.integers(0, 10**6), st.integers(2, 8), st.sampled_from([1.01, 1.5, 4.0]))
def test_rucb_by_loops(seed, num_arms, alpha):
    matrix, winner = condorcet(np.random.default_rng(seed), num_arms)
    bound = rucb_bound(matrix, alpha=alpha)
    gaps = matrix[winner] - 0.5
    total = 0.0
    for i in range(num_arms):
        for j in range(i):
            positive = [gaps[arm] ** 2 for arm in (i, j) if arm != winner]
            total += 2 * alpha * (gaps[i] + gaps[j]) / min(positive)
    root = 1 / (2 * alpha - 1)
    start = ((4 * alpha - 1) * num_arms**2 / (2 * alpha - 1)) ** root
    start *= gaps.max() * (2 * alpha - 1) / (2 * alpha - 2)
    assert bound.log_coefficient == pytest.approx(total, rel=1e-9)
    assert bound.constant == pytest.approx(start, rel=1e-12)
    assert (bound.kind, bound.regret) == ("upper", "condorcet_mean")
    # Pinsker: 1 / (2 d) <= 1 / (4 gap^2), far below 2 alpha / gap^2.
    assert rmed1_bound(matrix).log_coefficient < total


def test_rucb_allows_ties_of_others_and_names_what_is_wrong():
    tied = MSLR5.copy()
    tied[2, 3] = tied[3, 2] = 0.5
    expected = rucb_bound(MSLR5).log_coefficient
    assert rucb_bound(tied).log_coefficient == expected
    for alpha in (1.0, 0.51, math.nan, "2"):
        with pytest.raises(ValueError, match="alpha must be a finite number above"):
            rucb_bound(MSLR5, alpha=alpha)
    with pytest.raises(InvalidPreferenceError, match="best arm 0 does not beat arm 4"):
        rucb_bound(GAP)


def kl(p, q):
    terms = [(p, q), (1 - p, 1 - q)]
    if any(b == 0 < a for a, b in terms):
        return math.inf
    return sum(a * math.log(a / b) for a, b in terms if a > 0)


def test_kl_ucb_by_hand():
    means = [0.3, 0.9, 0.0, 0.9, 0.85]
    expected = sum((0.9 - m) / kl(m, 0.9) for m in means if m < 0.9)
    bound = kl_ucb_constant(means)
    # The numerator of the quoted eq. 1 has the other sign; regret is positive.
    assert bound.log_coefficient == pytest.approx(expected, rel=1e-12) and expected > 0
    assert (bound.kind, bound.regret) == ("asymptotic upper", "expected_reward")
    assert kl_ucb_constant([0.4]).log_coefficient == 0
    assert kl_ucb_constant([0.0, 0.0]).log_coefficient == 0
    # A certain reward: infinite divergences.
    assert kl_ucb_constant([1.0, 0.5, 0.999]).log_coefficient == 0


@pytest.mark.parametrize(
    ("means", "text"),
    [
        ([], "one number per arm"),
        ([[0.5]], "one number per arm"),
        ([0.5, 1.1], r"means\[1\] must lie in \[0, 1\], got 1.1"),
        ([math.nan, 0.5], r"means\[0\] .*, got nan"),
    ],
)
def test_bad_means(means, text):
    with pytest.raises(ValueError, match=text):
        kl_ucb_constant(means)


@pytest.mark.parametrize("score", ["copeland", "borda"])
def test_reduced_bandit_by_loops(score):
    matrix = PreferenceMatrix(GAP)
    scores = (GAP > 0.5).sum(axis=1) / 4 if score == "copeland" else GAP.mean(axis=1)
    best = scores.max()
    by_score = by_reward = 0.0
    for i in range(5):
        for j in range(i + 1):
            mean = scores[i] * scores[j]
            if mean < best**2:
                plays = 1 / kl(mean, best**2)
                by_score += (best - (scores[i] + scores[j]) / 2) * plays
                by_reward += (best**2 - mean) * plays
    bound = sup_klucb_constant(matrix, score=score)
    assert bound.log_coefficient == pytest.approx(by_score, rel=1e-9)
    assert (bound.kind, bound.regret) == ("heuristic", score)
    mine = sup_klucb_constant(matrix, score=score, regret="expected_reward")
    assert mine.log_coefficient == pytest.approx(by_reward, rel=1e-9)
    # The same through the bandit itself.
    first, second = np.triu_indices(5)
    bandit = kl_ucb_constant(scores[first] * scores[second])
    assert mine.log_coefficient == pytest.approx(bandit.log_coefficient, rel=1e-12)


def test_a_condorcet_winner_stops_the_learning():
    for matrix in (CYCLIC, MSLR5):
        assert sup_klucb_constant(matrix).log_coefficient == 0
        borda = sup_klucb_constant(matrix, score="borda", regret="copeland")
        assert borda.log_coefficient > 0 and borda.regret == "copeland"


def test_sup_klucb_errors():
    with pytest.raises(InvalidPreferenceError, match="arms 0 and 1 share the copeland"):
        sup_klucb_constant(MULTISOL)
    with pytest.raises(ValueError, match="score must be one of copeland, borda"):
        sup_klucb_constant(GAP, score="condorcet")
    with pytest.raises(InvalidPreferenceError, match="an arm that beats all"):
        sup_klucb_constant(GAP, regret="condorcet_mean")

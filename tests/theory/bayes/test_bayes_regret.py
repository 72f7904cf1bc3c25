"""Exact Bayes regret of three arms, against recursions in fractions."""

from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from scipy import integrate, special

import theory
from bayesduel.analysis import simulated_bayes_regret
from tests.policies.thompson import oracle
from tests.policies.thompson.oracle import Round
from theory.errors import ArgumentError

PAIRS = list(combinations(range(3), 2))
CHOICES = [*PAIRS, (0, 0), (1, 1), (2, 2)]
START = ((0, 0), (0, 0), (0, 0))


@cache
def probability_ahead(won, lost):
    """P(p > 1/2) under Beta(won + 1, lost + 1): of n + 1 coins at most ``won`` fall."""
    coins = won + lost + 1
    ways = sum(Fraction(special.comb(coins, k, exact=True)) for k in range(won + 1))
    return ways / 2**coins


@cache
def cost(state, choice):
    """Expected Copeland regret of a duel, over all eight sides of 1/2."""
    expected = Fraction(0)
    for sides in product((True, False), repeat=3):
        weight, losses = Fraction(1), [0, 0, 0]
        for (first, second), (won, lost), side in zip(PAIRS, state, sides, strict=True):
            ahead = probability_ahead(won, lost)
            weight *= ahead if side else 1 - ahead
            losses[second if side else first] += 1
        lost = sum(losses[arm] for arm in choice) - 2 * min(losses)
        expected += weight * Fraction(lost, 4)
    return expected


def outcomes(state, choice):
    """States that follow a duel, with their probabilities."""
    if choice not in PAIRS:
        return [(Fraction(1), state)]
    at = PAIRS.index(choice)
    won, lost = state[at]
    results = []
    for first_won in (True, False):
        row = (won + first_won, lost + (not first_won))
        share = Fraction((won if first_won else lost) + 1, won + lost + 2)
        results.append((share, (*state[:at], row, *state[at + 1 :])))
    return results


@cache
def least(state, left):
    """Return the least regret of so many more rounds, with self-duels at any time."""
    return min((total(state, choice, left) for choice in CHOICES), default=Fraction(0))


def total(state, choice, left):
    if left == 0:
        return Fraction(0)
    later = sum(
        (share * least(after, left - 1) for share, after in outcomes(state, choice)),
        start=Fraction(0),
    )
    return cost(state, choice) + later


def regret_of(choose, state, round_, horizon):
    """Regret of a rule, by walking through all of its futures."""
    if round_ > horizon:
        return 0.0
    result = 0.0
    for choice, probability in choose(state, round_).items():
        if probability > 0:
            later = sum(
                float(share) * regret_of(choose, after, round_ + 1, horizon)
                for share, after in outcomes(state, choice)
            )
            result += probability * (float(cost(state, choice)) + later)
    return result


def as_wins(state):
    wins = np.zeros((3, 3), dtype=np.int64)
    for (first, second), (won, lost) in zip(PAIRS, state, strict=True):
        wins[first, second], wins[second, first] = won, lost
    return wins


def test_least_regret_allows_self_duels_at_any_time():
    assert least(START, 5) == Fraction(119, 96)
    for horizon in range(1, 6):
        exact = float(least(START, horizon))
        assert theory.bayes_optimal_regret(horizon) == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize(
    ("horizon", "value"),
    [(10, 2.031), (20, 3.282), pytest.param(40, 5.018, marks=pytest.mark.slow)],
)
def test_least_regret_of_longer_horizons(horizon, value):
    assert theory.bayes_optimal_regret(horizon) == pytest.approx(value, abs=5e-4)


@pytest.mark.parametrize("prior", [0.05, 0.5, 30.0])
def test_two_rounds_by_integrals(prior):
    """A first duel of two arms, then the better pair or arm, with any prior."""
    density = special.betaln(prior, prior)
    mean_ahead = integrate.quad(
        lambda x: np.exp(
            special.xlogy(prior, x) + (prior - 1) * np.log1p(-x) - density
        ),
        0.5,
        1.0,
        limit=500,
    )[0]
    # P(p > 1/2 | one win); the other two pairs are as likely either way.
    ahead = mean_ahead / 0.5
    losses = np.array([1.5 - ahead, 0.5 + ahead, 1.0])
    after = (losses.min() - 0.25) / 2
    expected = min(0.75, 0.375 + after)
    assert theory.bayes_optimal_regret(2, prior=prior) == pytest.approx(expected)


def test_regret_of_a_rule_by_all_its_futures():
    """A rule that mixes, depends on the round, and orders arms either way."""

    def shares(state, round_):
        (won, lost), *_ = state
        first = (won + 1) / (won + lost + 2)
        return {(0, 1): first / 2, (1, 2): 0.25, (2, 2): 0.75 - first / 2} | (
            {(0, 0): 0.0} if round_ % 2 else {}
        )

    def choices(wins, round_):
        chosen = np.zeros(wins.shape)
        won, lost = wins[:, 0, 1], wins[:, 1, 0]
        first = (won + 1) / (won + lost + 2)
        chosen[:, 0, 1], chosen[:, 1, 0] = first / 4, first / 4
        chosen[:, 2, 1], chosen[:, 2, 2] = 0.25, 0.75 - first / 2
        return chosen

    expected = [regret_of(shares, START, 1, horizon) for horizon in range(1, 6)]
    np.testing.assert_allclose(theory.bayes_regret(choices, 5), expected, rtol=1e-12)


@pytest.mark.parametrize("alpha", [None, oracle.ALPHA])
def test_choices_of_double_thompson_sampling(alpha):
    """By enumeration and adaptive integrals, also where counts are lopsided."""
    states = [START, ((40, 0), (0, 40), (40, 0)), ((30, 1), (0, 0), (3, 17))]
    rng = np.random.default_rng(0)
    states += [tuple(map(tuple, rng.integers(0, 15, (3, 2)))) for _ in range(12)]
    choices = theory.bayes.DoubleThompsonChoices(horizon=40, alpha=alpha)
    for state, round_ in zip(
        states, [1, 200, 60, *rng.integers(1, 90, 12)], strict=True
    ):
        wins = as_wins(state)
        twin = Round(wins, int(round_), elimination=alpha is not None)
        second = twin.second_distribution.copy()
        np.fill_diagonal(second, 0.0)
        np.fill_diagonal(second, 1 - second.sum(axis=1))
        expected = twin.first_distribution[:, None] * second
        result = choices(wins[None], int(round_))[0]
        np.testing.assert_allclose(result, expected, atol=1e-9)


@pytest.mark.slow
def test_simulated_regret_is_the_exact_one():
    """False-alarm rate of both rounds: 2 x 6e-5."""
    exact = theory.bayes_regret(theory.bayes.DoubleThompsonChoices(20, 0.51), 20)
    result = simulated_bayes_regret(
        "d-ts", horizon=20, checkpoints=[5, 20], num_runs=1000, seed=3
    )
    error = (result.mean - exact[[4, 19]]) / result.standard_error
    assert np.abs(error).max() < 4
    assert exact[-1] > theory.bayes_optimal_regret(20)


def wrong_in_round_2(wins, round_):
    return np.full(wins.shape, 1 / 9 if round_ == 1 else 0.2)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: theory.bayes_optimal_regret(0), "horizon"),
        (lambda: theory.bayes_optimal_regret(3, prior=0.0), "prior"),
        (lambda: theory.bayes_regret(lambda wins, round_: wins, 61), "horizon"),
        (lambda: theory.bayes_regret(lambda wins, round_: np.ones(3), 2), "shape"),
        (
            lambda: theory.bayes_regret(wrong_in_round_2, 3),
            r"add to 1 in round 2.*row 0.*1\.8",
        ),
        (lambda: theory.bayes.DoubleThompsonChoices(5, alpha=0.5), "alpha"),
    ],
)
def test_bad_arguments(call, text):
    with pytest.raises(ArgumentError, match=text):
        call()

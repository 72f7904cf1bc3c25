"""Evidence for a winner: enumeration, bets that are fair at
their bound, and counts of any size."""

import math
from functools import cache
from itertools import combinations, product

import mpmath
import numpy as np
import pytest

from tests.theory.matrices import random_matrix
from theory import InvalidPreferenceError, anytime_evidence
from theory.identification import likelihood_evidence
from theory.identification.evidence import _log_bets


def least_over_tournaments(values, winner):
    """The least sum of values[i, j] over the pairs in which j is better, by trial.

    Over all tournaments in which an arm is no Copeland winner.
    """
    num_arms = len(values)
    pairs = list(combinations(range(num_arms), 2))
    least = math.inf
    for signs in product((True, False), repeat=len(pairs)):
        wins = [0] * num_arms
        total = 0.0
        for (i, j), first in zip(pairs, signs, strict=True):
            wins[i if first else j] += 1
            total += values[j, i] if first else values[i, j]
        if wins[winner] < max(wins):
            least = min(least, total)
    return least


def played(rng, num_arms, scale=40):
    """Numbers of wins; some pairs have no duels, some are even."""
    duels = np.triu(
        rng.poisson(rng.choice([0, 2, scale], (num_arms,) * 2, p=[0.1, 0.1, 0.8])), 1
    )
    first = rng.binomial(duels, np.triu(random_matrix(rng, num_arms), 1))
    return first + (duels - first).T


@pytest.mark.parametrize("num_arms", [2, 3, 4, 5])
def test_both_agree_with_enumeration(num_arms):
    rng = np.random.default_rng(1900 + num_arms)
    named = 0
    for _ in range(15 if num_arms < 5 else 4):
        wins = played(rng, num_arms)
        losses = wins.T
        duels = np.maximum(wins + losses, 1)
        share = wins / duels
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(wins > 0, wins * np.log(2 * share), 0.0)
        ratio = np.where(wins > losses, terms + terms.T, 0.0)
        stake = rng.uniform(0.05, 0.9)
        prior = rng.choice([0.5, 1.0, 3.0])
        bets = np.array(
            [
                [log_bet(int(w), int(n), prior) for w, n in zip(*rows, strict=True)]
                for rows in zip(wins, losses, strict=True)
            ]
        )
        values = np.log(1 - stake + stake * np.exp(bets))
        likelihood = likelihood_evidence(wins)
        anytime = anytime_evidence(wins, prior=prior, weight=stake)
        for arm in range(num_arms):
            truth = least_over_tournaments(ratio, arm)
            assert likelihood[arm] == pytest.approx(truth, rel=1e-9, abs=1e-9)
            truth = least_over_tournaments(values, arm)
            assert anytime[arm] == pytest.approx(truth, rel=1e-7, abs=1e-7)
        assert (anytime <= likelihood + 1e-9).all()
        named += (likelihood > 0).sum()
    assert named >= 3


@cache
def log_bet(wins, losses, prior, bound=0.5):
    """The integral over p in (bound, 1], in 50 digits."""
    with mpmath.workdps(50):
        part = mpmath.betainc(losses + prior, wins + prior, 0, 1 - mpmath.mpf(bound))
        whole = mpmath.betainc(prior, prior, 0, 1 - mpmath.mpf(bound))
        stakes = wins * mpmath.log(bound) + losses * mpmath.log(1 - bound)
        return float(mpmath.log(part / whole) - stakes)


def least_over_states(better, neither, winner):
    """The least sum over the pairs of what their states cost, by trial.

    Over all states in which an arm is wrong: some rival is clearly better than more
    arms than it is itself not clearly worse than.
    """
    num_arms = len(better)
    pairs = list(combinations(range(num_arms), 2))
    least = math.inf
    for states in product((1, 0, -1), repeat=len(pairs)):
        sign, total = np.zeros((num_arms, num_arms)), 0.0
        for (i, j), state in zip(pairs, states, strict=True):
            sign[i, j], sign[j, i] = state, -state
            total += {1: better[i, j], 0: neither[i, j], -1: better[j, i]}[state]
        close = num_arms - 1 - (sign[winner] < 0).sum()
        if close < (sign > 0).sum(axis=1).max():
            least = min(least, total)
    return least


@pytest.mark.parametrize(("num_arms", "width"), [(2, 0.1), (3, 0.02), (4, 0.05)])
def test_with_a_width_pairs_have_three_states(num_arms, width):
    rng = np.random.default_rng(1950 + num_arms)
    named = 0
    for _ in range(5):
        wins = played(rng, num_arms, scale=300)
        better, neither = np.zeros((2, num_arms, num_arms))
        for i, j in np.argwhere(~np.eye(num_arms, dtype=bool)).tolist():
            counts = int(wins[i, j]), int(wins[j, i])
            against = log_bet(*counts[::-1], 0.5, 0.5 - width)
            better[i, j] = np.log(0.7 + 0.3 * np.exp(against))
            far = [
                log_bet(*count, 0.5, 0.5 + width) for count in (counts, counts[::-1])
            ]
            neither[i, j] = np.log(0.7 + 0.15 * np.exp(far).sum())
        evidence = anytime_evidence(wins, weight=0.3, width=width)
        for arm in range(num_arms):
            truth = least_over_states(better, neither, arm)
            assert evidence[arm] == pytest.approx(truth, rel=1e-7, abs=1e-7)
        named += (evidence > 1).sum()
    assert named >= 3


def test_near_winners_are_right_with_a_width():
    # Even to the last duel, and both far above the third.
    wins = np.array([[0, 5000, 800], [5000, 0, 800], [200, 200, 0]])
    assert anytime_evidence(wins).max() < 0
    assert (anytime_evidence(wins, width=0.05)[:2] > 10).all()
    # A width of nearly nothing forgives nothing, and costs a factor of two.
    clear = np.array([[0, 300, 90], [200, 0, 80], [10, 20, 0]])
    narrow = anytime_evidence(clear, width=1e-9)
    lost = anytime_evidence(clear) - narrow
    assert (lost > -1e-6).all() and (lost < math.log(4)).all()


@pytest.mark.parametrize("bound", [0.4, 0.5, 0.55])
@pytest.mark.parametrize("prior", [0.001, 0.5, 1000.0])
def test_bets_are_supermartingales_under_the_null(prior, bound):
    wins, losses = (item.astype(float) for item in np.mgrid[0:60, 0:60])
    now = np.exp(_log_bets(wins, losses, prior, bound))
    won = np.exp(_log_bets(wins + 1, losses, prior, bound))
    lost = np.exp(_log_bets(wins, losses + 1, prior, bound))
    assert now[0, 0] == pytest.approx(1.0)
    # Fair at the bound, and losing below.
    assert bound * won + (1 - bound) * lost == pytest.approx(now, rel=1e-9)
    for p in (0.0, 0.3, bound - 0.01):
        assert (p * won + (1 - p) * lost < now).all()


@pytest.mark.parametrize(("prior", "bound"), [(0.5, 0.5), (0.001, 0.4), (20.0, 0.55)])
def test_bets_stay_fair_where_the_tail_underflows(prior, bound):
    wins, losses = (item.astype(float) for item in np.mgrid[0:40:13, 700:2600:97])
    now, won, lost = (
        _log_bets(wins + more, losses + less, prior, bound)
        for more, less in ((0, 0), (1, 0), (0, 1))
    )
    assert np.isfinite(now).all()
    fair = np.logaddexp(math.log(bound) + won, math.log1p(-bound) + lost)
    assert fair == pytest.approx(now, abs=1e-9)


def test_many_straight_losses_are_never_all_lost():
    # The evidence is 1/2 + E / 2, which is more than a half.
    lost = [anytime_evidence([[0, n], [0, 0]])[1] for n in (1000, 1074, 1080, 3000)]
    assert (np.diff(lost) < 0).all()
    assert min(lost) > math.log(0.5)


def test_a_long_run_of_wins_keeps_its_digits():
    evidence = anytime_evidence([[0, 10**9], [0, 0]], weight=0.5)
    assert evidence[0] == pytest.approx(10**9 * math.log(2), rel=1e-7)
    assert evidence[1] == pytest.approx(math.log(0.5), rel=1e-9)
    assert anytime_evidence(np.zeros((4, 4))) == pytest.approx(np.zeros(4), abs=1e-12)


@pytest.mark.parametrize(
    ("wins", "options", "text"),
    [
        ([[0, 1.5], [2, 0]], {}, r"wins\[0, 1\] must be a whole number.*, got 1.5"),
        ([[0, 1], [-2, 0]], {}, r"wins\[1, 0\] .*, got -2"),
        ([[0, 1e17], [2, 0]], {}, r"from 0 to 1e12"),
        ([[0, 1, 2]], {}, "square"),
        ([[0, 1], [2, 0]], {"weight": 1.0}, r"weight must be in \(0, 1\)"),
        ([[0, 1], [2, 0]], {"width": 0.5}, r"width must be in \[0, 1/2\)"),
        ([[0, 1], [2, 0]], {"prior": 1e4}, "prior must be from 0.001 to 1000"),
    ],
)
def test_bad_input_is_named(wins, options, text):
    with pytest.raises(ValueError, match=text):
        anytime_evidence(wins, **options)
    if not options:
        with pytest.raises(InvalidPreferenceError, match=text):
            likelihood_evidence(wins)

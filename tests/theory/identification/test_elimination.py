"""Evidence that some arm is better: a slow twin, fair bets, and false eliminations."""

import math

import numpy as np
import pytest
from scipy import stats

from tests.theory.identification.test_evidence import log_bet, played
from theory import InvalidPreferenceError, elimination_evidence

FALSE_ALARM = 1e-6
STAKE = 0.5


def twin(wins, retired=(), stake=STAKE, prior=0.5):
    """The sum over the rivals, pair by pair, from integrals in 50 digits."""
    results = []
    for arm in range(len(wins)):
        total = 0.0
        for rival in range(len(wins)):
            if rival == arm:
                continue
            bet = log_bet(int(wins[rival, arm]), int(wins[arm, rival]), prior)
            worth = math.log(1 - stake + stake * math.exp(bet))
            total += min(worth, 0.0) if rival in retired else worth
        results.append(total)
    return np.array(results)


@pytest.mark.parametrize("num_arms", [2, 3, 5])
def test_it_is_the_sum_of_what_bets_are_worth(num_arms):
    rng = np.random.default_rng(40 + num_arms)
    for _ in range(6):
        wins = played(rng, num_arms)
        np.fill_diagonal(wins, 7)  # Not read.
        retired = [int(arm) for arm in np.flatnonzero(rng.random(num_arms) < 0.3)]
        known = {
            "prior": float(rng.choice([0.5, 2.0])),
            "weight": rng.uniform(0.02, 0.5),
        }
        expected = twin(wins, retired, known["weight"], known["prior"])
        evidence = elimination_evidence(wins, retired=retired, **known)
        np.testing.assert_allclose(evidence, expected, rtol=1e-7, atol=1e-9)


def test_bets_on_an_even_pair_are_fair_after_any_number_of_duels():
    """Their mean is exactly 1, and less where the arm is better."""
    for duels in (1, 2, 7, 40):
        won = np.arange(duels + 1)
        worth = [
            math.exp(elimination_evidence([[0, w], [duels - w, 0]])[0]) for w in won
        ]
        even = stats.binom.pmf(won, duels, 0.5) @ worth
        assert even == pytest.approx(1.0, rel=1e-9)
        assert stats.binom.pmf(won, duels, 0.6) @ worth < 1.0


@pytest.fixture(scope="module")
def table():
    """The value of the bet against "i is better" after so many wins and losses."""
    most = 160
    worth = np.zeros((most, most))
    for won in range(most):
        for lost in range(most - won):
            bet = log_bet(won, lost, 0.5) if won + lost < 40 else _log_bet(won, lost)
            worth[won, lost] = np.logaddexp(math.log1p(-STAKE), math.log(STAKE) + bet)
    return worth


def _log_bet(won, lost):
    from scipy.special import betainc, betaln

    part = betainc(lost + 0.5, won + 0.5, 0.5)
    whole = betaln(won + 0.5, lost + 0.5) + math.log(part)
    return whole + (won + lost) * math.log(2.0) - math.log(math.pi / 2)


@pytest.mark.parametrize("asks", ["evenly", "where it hurts"])
def test_a_best_arm_is_seldom_eliminated(table, asks):
    """All arms are equal, so that every one is a best arm: the hardest case.

    Two arms join later, one leaves when it has the most evidence against arm 0, and the
    votes go evenly, or to the rival with the most evidence against arm 0.
    """
    rng, runs, delta, gone = np.random.default_rng(8), 800, 0.2, 0
    for _ in range(runs):
        won, lost = np.zeros(5, dtype=int), np.zeros(5, dtype=int)
        there, retired = [1, 2], []
        for vote in range(300):
            if vote in (40, 80):
                there.append(len(there) + len(retired) + 1)
            if vote == 100:
                retired = [max(there, key=lambda j: table[lost[j], won[j]])]
                there.remove(retired[0])
            rival = there[vote % len(there)]
            if asks != "evenly":
                rival = max(there, key=lambda j: table[lost[j], won[j]])
            if won[rival] + lost[rival] >= len(table) - 1:
                continue
            beaten = rng.random() < 0.5
            lost[rival] += beaten
            won[rival] += not beaten
            evidence = sum(table[lost[j], won[j]] for j in there)
            evidence += sum(min(table[lost[j], won[j]], 0.0) for j in retired)
            if evidence >= math.log(1 / delta):
                gone += 1
                break
    # Else the rate is above delta, but for a false alarm.
    assert stats.binom.sf(gone - 1, runs, delta) > FALSE_ALARM
    assert gone > 0.05 * runs


def test_tables_of_the_last_test_are_the_evidence(table):
    for won, lost in ((0, 0), (3, 1), (9, 60)):
        evidence = elimination_evidence([[0, lost], [won, 0]], weight=STAKE)
        assert evidence[0] == pytest.approx(table[won, lost], rel=1e-9)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"weight": 1.0}, "weight must be"),
        ({"prior": 0.0}, "prior must be"),
        ({"retired": [2]}, r"retired\[0\] must be an integer from 0 to 1"),
        ({"retired": 1}, "retired must be a sequence"),
        ({"wins": [[0, -1], [1, 0]]}, "wins"),
    ],
)
def test_what_is_refused(given, words):
    with pytest.raises(InvalidPreferenceError, match=words):
        elimination_evidence(**{"wins": [[0, 1], [1, 0]], **given})

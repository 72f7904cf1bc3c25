"""Rules for stopping on counts: what they say, and what they refuse."""

import math
from collections import defaultdict
from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import beta, binomtest

import theory
from bayesduel.errors import StoppingRuleError
from bayesduel.stopping import (
    AnytimeEvidence,
    Budget,
    FirstOf,
    FixedNumber,
    LeaderTest,
    LookEvery,
    PosteriorProbability,
    SeparateIntervals,
    StoppingRule,
    StoppingState,
)
from tests.policies.instances import CONDORCET


def counted(rng, num_arms, scale):
    """Wins after about so many duels of every pair."""
    duels = rng.poisson(scale, (num_arms, num_arms))
    return rng.binomial(duels, rng.uniform(0.1, 0.9, (num_arms, num_arms)))


def test_evidence_is_that_of_the_theory():
    rng = np.random.default_rng(2000)
    stopped = 0
    for run in range(40):
        wins, width = counted(rng, 5, 150), 0.04 * (run % 2)
        state = AnytimeEvidence(0.05, width, prior=1.0, weight=0.3).evaluate(wins)
        evidence = theory.anytime_evidence(wins, prior=1.0, weight=0.3, width=width)
        assert evidence.max() == evidence[state.leader]
        assert state.evidence == pytest.approx(evidence.max(), rel=1e-11, abs=1e-11)
        assert state.threshold == math.log(20)
        assert state.stopped == (state.evidence >= state.threshold)
        assert state.answer == (state.leader if state.stopped else -1)
        stopped += state.stopped
    assert 0 < stopped < 40


def beaten_by_trial(wins, leader, prior):
    """Sum over rivals of P(the rival has more wins), over all tournaments."""
    num_arms = len(wins)
    pairs = list(combinations(range(num_arms), 2))
    total = 0.0
    ends = [(wins[i, j] + prior, wins[j, i] + prior) for i, j in pairs]
    sides = [{True: beta.sf(0.5, *end), False: beta.cdf(0.5, *end)} for end in ends]
    for signs in product((True, False), repeat=len(pairs)):
        scores, probability = np.zeros(num_arms), 1.0
        for (i, j), side, first in zip(pairs, sides, signs, strict=True):
            probability *= side[first]
            scores[i if first else j] += 1
        total += probability * (scores > scores[leader]).sum()
    return total


@pytest.mark.parametrize(("num_arms", "prior"), [(2, 1.0), (3, 0.5), (4, 3.0)])
def test_posterior_agrees_with_enumeration(num_arms, prior):
    rng = np.random.default_rng(2010 + num_arms)
    for _ in range(4):
        wins = counted(rng, num_arms, 12)
        state = PosteriorProbability(0.1, prior).evaluate(wins)
        truth = beaten_by_trial(wins, state.leader, prior)
        assert math.exp(-state.evidence) == pytest.approx(truth, rel=1e-9)
        assert state.stopped == (truth <= 0.1)


def test_the_posterior_keeps_small_probabilities():
    wins = 20_000 * CONDORCET
    state = PosteriorProbability(1e-12).evaluate(np.floor(wins))
    assert state.stopped and 27 < state.evidence < 1000
    sure = np.where(np.tri(3, k=-1), 0, 10**9)
    assert PosteriorProbability(1e-12).evaluate(sure).evidence == math.inf


def test_the_first_rule_that_stops_decides():
    wins = np.array([[0, 66], [34, 0]])
    assert Budget(101).evaluate(wins).stopped is False
    patient, quick = AnytimeEvidence(0.01), AnytimeEvidence(0.4)
    both = patient | Budget(100)
    assert both == FirstOf((patient, Budget(100)))
    assert both.evaluate(wins) == StoppingState(True, -1, -1, 100.0, 100.0)
    assert (patient | Budget(101)).evaluate(wins) == patient.evaluate(wins)
    assert (both | quick).evaluate(wins).answer == -1
    assert (quick | both).evaluate(wins).answer == 0


def test_weight_makes_arms_that_join_harmless():
    wins = np.array([[0, 300, 90], [200, 0, 80], [10, 20, 0]])
    more = np.zeros((5, 5))
    more[:3, :3] = wins
    fixed = AnytimeEvidence(0.05, weight=0.25)
    # Nothing was bet on the new pairs: what has been won stays.
    joined = theory.anytime_evidence(more, weight=0.25)
    assert joined[0] <= fixed.evaluate(wins).evidence
    assert (joined <= 0).all()


def test_intervals_are_those_of_wilson():
    rng, level = np.random.default_rng(2020), 0.8
    apart = 0
    for _ in range(20):
        wins = counted(rng, 4, 60)
        won, met = wins.sum(1), wins.sum(1) + wins.sum(0) - 2 * np.diag(wins)
        won = won - np.diag(wins)
        ends = [
            binomtest(int(w), int(n)).proportion_ci(level, method="wilson")
            for w, n in zip(won, met, strict=True)
        ]
        leader = int(np.argmax(won / met))
        least = min(ends[leader].low - e.high for e in ends if e is not ends[leader])
        state = SeparateIntervals(level).evaluate(wins)
        assert state.leader == leader
        assert state.evidence == pytest.approx(least, abs=1e-12)
        assert state.stopped == (least > 0) == (state.answer == leader)
        apart += state.stopped
    assert 0 < apart < 20


def test_the_leader_is_tested_against_the_runner_up():
    rng = np.random.default_rng(2030)
    stopped = 0
    for _ in range(60):
        wins = counted(rng, 4, 25)
        np.fill_diagonal(wins, 0)
        shares = wins.sum(1) / (wins.sum(1) + wins.sum(0))
        second, first = np.argsort(shares)[-2:].tolist()
        won, lost = int(wins[first, second]), int(wins[second, first])
        p_value = binomtest(won, won + lost).pvalue if won + lost else 1.0
        state = LeaderTest(0.05).evaluate(wins)
        assert state.leader == first
        if won > lost:
            assert math.exp(-state.evidence) == pytest.approx(min(1.0, p_value))
        assert state.stopped == (won > lost and p_value < 0.05)
        stopped += state.stopped
    assert 0 < stopped < 60


def test_heuristics_without_a_duel_of_some_arm():
    wins = np.array([[0, 9, 0], [0, 0, 0], [0, 0, 0]])
    assert LeaderTest(0.05).evaluate(wins).answer == 0
    assert not SeparateIntervals(0.95).evaluate(wins).stopped
    assert SeparateIntervals(0.95).evaluate(np.zeros((2, 2))).evidence == -1.0
    assert LeaderTest(0.05).evaluate(np.zeros((2, 2))).evidence == 0.0
    assert FixedNumber(9).evaluate(wins).answer == 0


def test_one_looks_every_so_often():
    rule = LookEvery(AnytimeEvidence(0.3), 50)
    wins = np.array([[0, 66], [33, 0]])
    assert not rule.evaluate(wins).stopped
    assert rule.evaluate(wins).evidence == AnytimeEvidence(0.3).evaluate(wins).evidence
    wins[0, 1] += 1
    assert rule.evaluate(wins).answer == 0


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: AnytimeEvidence(0.0), "delta must be in "),
        (lambda: AnytimeEvidence(0.1, 0.5), "width must be in "),
        (lambda: AnytimeEvidence(0.1, prior=0), "prior must be"),
        (lambda: AnytimeEvidence(0.1, weight=1.5), "weight must be in "),
        (lambda: PosteriorProbability(2), "delta must be"),
        (lambda: PosteriorProbability(0.1, math.nan), "prior must be from 0.001"),
        (lambda: Budget(0), "duels must be an integer of at least 1"),
        (lambda: FirstOf(()), "rules must be a tuple"),
        (lambda: FirstOf([Budget(3)]), "rules must be a tuple"),
        (lambda: FixedNumber(0), "duels must be an integer of at least 1"),
        (lambda: SeparateIntervals(1.0), "level must be in "),
        (lambda: LeaderTest(0), "alpha must be in "),
        (lambda: LookEvery(3, 3), "rule must be a rule of bayesduel.stopping"),
        (lambda: LookEvery(Budget(3), 0.5), "duels must be an integer"),
        (lambda: Budget(3) | 5, "must be a rule of bayesduel.stopping"),
    ],
)
def test_bad_parameters_are_named(make, text):
    with pytest.raises(StoppingRuleError, match=text):
        make()


def test_counts_are_checked():
    rules = AnytimeEvidence(0.1), PosteriorProbability(0.1), Budget(5), FixedNumber(5)
    rules += SeparateIntervals(0.9), LeaderTest(0.1), LookEvery(Budget(5), 2)
    for rule in rules:
        assert isinstance(rule, StoppingRule)
        with pytest.raises(ValueError, match="a whole number"):
            rule.evaluate([[0, 1.5], [2, 0]])
        with pytest.raises(ValueError, match="square"):
            rule.evaluate([1, 2])


def test_an_exact_tie_costs_a_second_delta_at_most():
    """With two arms at 1/2 each is wrong by one way to break the tie; enumerated."""
    delta = 0.1
    rule = AnytimeEvidence(delta, weight=0.99)
    options, named = {0: 1.0}, 0.0
    for number in range(1, 61):
        after: dict[int, float] = defaultdict(float)
        for won, probability in options.items():
            after[won] += probability / 2
            after[won + 1] += probability / 2
        options = {}
        for won, probability in after.items():
            if rule.evaluate([[0, won], [number - won, 0]]).stopped:
                named += probability
            else:
                options[won] = probability
    # One delta is not enough; 0.21 would be named by four fifths of the evidence.
    assert delta < named <= 2 * delta
    assert named + sum(options.values()) == pytest.approx(1, abs=1e-12)


def test_two_ways_to_break_ties_make_all_wrong_arms_lose():
    pairs = list(combinations(range(4), 2))
    most = 0
    for signs in product((1, 0, -1), repeat=len(pairs)):
        wins = np.zeros(4, dtype=int)
        for (i, j), sign in zip(pairs, signs, strict=True):
            wins[i if sign > 0 else j] += sign != 0
        ties = [pair for pair, sign in zip(pairs, signs, strict=True) if not sign]
        wrong = wins < wins.max()
        losers = set()
        for ways in product((0, 1), repeat=len(ties)):
            broken = wins.copy()
            for pair, way in zip(ties, ways, strict=True):
                broken[pair[way]] += 1
            losers.add(tuple((broken < broken.max())[wrong].tolist()))
        needed = next(
            n
            for n in (1, 2, 3)
            for some in combinations(losers, min(n, len(losers)))
            if np.any(some, axis=0).all()
        )
        most = max(most, needed)
    assert most == 2


def test_unknown_duels_count_against_every_name():
    rng = np.random.default_rng(2050)
    for width in (0.0, 0.05):
        rule = AnytimeEvidence(0.05, width)
        for _ in range(10):
            wins = counted(rng, 4, 20)
            unknown = np.zeros((4, 4), dtype=int)
            unknown[1, 2] = unknown[2, 1] = 3
            least = rule.evaluate(wins, unknown).evidence
            evidence = theory.anytime_evidence(wins, width=width, unknown=unknown)
            assert least == pytest.approx(evidence.max(), rel=1e-11, abs=1e-11)
            for won in range(4):
                full = wins.copy()
                full[1, 2] += won
                full[2, 1] += 3 - won
                full_found = theory.anytime_evidence(full, width=width)
                assert (evidence <= full_found + 1e-9).all()
    with pytest.raises(ValueError, match="unknown must be symmetric"):
        rule.evaluate(np.zeros((2, 2)), [[0, 1], [0, 0]])

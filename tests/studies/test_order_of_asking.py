"""Evidence counts in the order of asking: answers cannot be sorted by what they say."""

import numpy as np
import pytest
from scipy.stats import binom

from bayesduel.stopping import AnytimeEvidence
from bayesduel.studies import Study
from bayesduel.studies.stopping import evidence_in_order

FALSE_ALARM = 1e-5
STUDIES, VOTES, DELTA = 4, 40, 0.05
PROBABILITY = 0.499
"""That the first arm, which is the wrong one, beats the other."""


def named(study):
    rule = AnytimeEvidence(DELTA, weight=0.5)
    outcome = evidence_in_order(study._current(), rule).outcome
    return outcome.stopped and outcome.answer == 0


def in_order(study, votes):
    for ticket, vote in votes:
        study.tell(ticket, vote)
    return named(study)


def wins_first(study, votes):
    """Tell the votes for the first arm before all others, and look each time."""
    for ticket, vote in votes:
        if getattr(ticket, vote) == "a":
            study.tell(ticket, vote)
            if named(study):
                return True
    return in_order(study, votes)


def withdraws(study, votes):
    for ticket, vote in votes:
        if getattr(ticket, vote) == "a":
            study.tell(ticket, vote)
        else:
            study.withdraw(ticket)
    return named(study)


def undoes(study, votes):
    """Tell every vote, and let those for the other arm be told anew."""
    for ticket, vote in votes:
        study.tell(ticket, vote)
        if getattr(ticket, vote) == "b":
            study.undo(ticket)
            study.tell(ticket, "left" if vote == "right" else "right")
    return named(study)


def undoes_for_good(study, votes):
    for ticket, vote in votes:
        study.tell(ticket, vote)
        if getattr(ticket, vote) == "b":
            study.undo(ticket)
            study.tell(ticket, "skip")
    return named(study)


@pytest.mark.parametrize("attack", [wins_first, withdraws, undoes, undoes_for_good])
def test_who_chooses_what_to_tell_names_no_wrong_arm_more_often(tmp_path, attack):
    rng = np.random.default_rng(27)
    wrong = 0
    for number in range(STUDIES):
        path = tmp_path / f"{number}.study"
        with Study.create(path, ["a", "b"], "balanced", delta=DELTA) as study:
            votes = []
            for ticket in study.ask(VOTES):
                better = "a" if rng.random() < PROBABILITY else "b"
                votes.append((ticket, "left" if ticket.left == better else "right"))
            wrong += attack(study, votes)
    assert binom.sf(wrong - 1, STUDIES, DELTA) > FALSE_ALARM


@pytest.fixture
def study(make):
    return make(arms=["a", "b"])


def side(ticket, arm):
    return "left" if ticket.left == arm else "right"


def anytime(study):
    return next(line for line in study.status().stopping if line.rule == "anytime")


def test_an_open_question_holds_back_or_counts_against(study):
    tickets = study.ask(30)
    for ticket in tickets[:10] + tickets[20:]:
        study.tell(ticket, side(ticket, "a"))
    rule = AnytimeEvidence(0.05, weight=0.5)
    evidence = evidence_in_order(study._current(), rule)
    ten = rule.evaluate([[0, 10], [0, 0]])
    assert evidence.outcome == ten
    assert (evidence.held_back, evidence.waits_for, evidence.against) == (10, 11, 0)
    assert "10 of them wait for the answer to question 11" in anytime(study).meaning
    for ticket in tickets[11:20]:
        study.tell(ticket, side(ticket, "a"))
    evidence = evidence_in_order(study._current(), rule)
    assert evidence.outcome == rule.evaluate([[0, 29], [0, 0]], [[0, 1], [1, 0]])
    assert (evidence.held_back, evidence.waits_for, evidence.against) == (0, 0, 1)
    assert "against the named arm: 1 not answered" in anytime(study).meaning


def test_a_question_asked_anew_holds_nothing_back(study):
    (late,) = study.ask()
    study.clock.now += 4000.0
    for _ in range(12):
        (ticket,) = study.ask()
        study.tell(ticket, side(ticket, "a"))
    rule = AnytimeEvidence(0.05, weight=0.5)
    unsure = rule.evaluate([[0, 12], [0, 0]], [[0, 1], [1, 0]])
    assert evidence_in_order(study._current(), rule).outcome == unsure
    study.tell(late, side(late, "a"))
    sure = rule.evaluate([[0, 13], [0, 0]])
    assert evidence_in_order(study._current(), rule).outcome == sure


def test_skips_are_no_votes_and_it_is_said_what_they_hide(study):
    for ticket in study.ask(12):
        study.tell(ticket, side(ticket, "a"))
    for ticket in study.ask(8):
        study.skip(ticket)
    rule = AnytimeEvidence(0.05, weight=0.5)
    evidence = evidence_in_order(study._current(), rule)
    assert evidence.outcome == rule.evaluate([[0, 12], [0, 0]])
    strict = rule.evaluate([[0, 12], [0, 0]], [[0, 8], [8, 0]])
    assert evidence.against_skips == strict
    assert "if skips counted against it too" in anytime(study).meaning

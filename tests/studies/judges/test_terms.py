"""Terms of a study: both orders as one vote, costs, and when to stop."""

import json
import math
import random

import numpy as np
import pytest

from bayesduel.models import BradleyTerry
from bayesduel.studies import Judging, Spending, Study, answer_line
from tests.studies.helpers import (
    DRINKS,
    WORDS,
    assert_replays,
    better_of,
    happens,
    mirrored,
    refused,
    tell_answer,
)


@pytest.mark.parametrize(
    ("make_terms", "words"),
    [
        (lambda: Judging(both_orders="both"), "both_orders must be one of tie, no"),
        (lambda: Judging(gold_share=1.0), r"gold_share must be in \[0, 1\)"),
        (lambda: Judging(gold_threshold=1.1), r"gold_threshold must be in \[0, 1\]"),
        (lambda: Judging(gold_least=0), "gold_least must be an integer of at least 1"),
        (lambda: Judging(quickest=-1), "quickest must be a number of seconds"),
        (lambda: Spending(cost=0), "cost must be a number above 0"),
        (lambda: Spending(price=math.inf), "price must be a number from 0"),
        (lambda: Spending(arm_prices={"tea": -1}), r"arm_prices\['tea'\] must be"),
        (lambda: Spending(arm_prices=3), "arm_prices must map names of arms"),
    ],
)
def test_terms_out_of_range_are_refused(make_terms, words):
    refused(words, make_terms)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"judging": "tie"}, r"judging must be a Judging\(...\), or None"),
        ({"spending": Spending(arm_prices={"ale": 1})}, "arm_prices must be an arm of"),
        ({"stop_when": "anytime"}, "stop_when must be a sequence of some of anytime"),
        ({"stop_when": ["never"]}, r"stop_when\[0\] must be one of anytime, posterior"),
        ({"stop_when": ["judges"] * 2}, r"stop_when\[1\] must be one of .* each once"),
    ],
)
def test_terms_that_fit_no_study_make_no_file(tmp_path, options, words):
    path = tmp_path / "drinks.study"
    refused(words, Study.create, path, DRINKS, "balanced", **options)
    assert not path.exists()


def test_terms_come_back_and_old_studies_have_the_usual_ones(make):
    terms = Judging(both_orders="tie", quickest=0.5)
    spending = Spending(cost=9, arm_prices={"tea": 1})
    study = make(
        judging=terms, spending=spending, stop_when=["posterior", "judges"],
        model=BradleyTerry(prior_scale=1.5), delta=0.01, width=0.1, seed=7, floor=2,
        blocked=[("tea", "milk")],
    )  # fmt: skip
    with Study.open(study.path) as second:
        assert second._settings == study._settings
        assert second._settings.model == BradleyTerry(prior_scale=1.5)
    plain = make()
    (created,) = plain.events()
    assert not {"judging", "spending", "stop_when"} & created.body.keys()
    assert plain._settings.judging == Judging()


@pytest.mark.parametrize(
    ("better", "worse", "words"),
    [
        ("good", "good", "worse must be another one than better"),
        ("", "bad", "better must be a name"),
        ("bad", "good", "better must not be better, as it is known to be worse"),
    ],
)
def test_gold_that_is_none(make, better, worse, words):
    study = make()
    study.add_gold("good", "bad")
    refused(words, study.add_gold, better, worse)
    assert len(study.events()) == 2


@pytest.mark.parametrize(("how", "seed"), [(None, 0), ("tie", 1), ("nothing", 2)])
def test_whatever_happens_replays_to_the_same(make, how, seed):
    rng = random.Random(seed)
    terms = Judging(both_orders=how, gold_share=0.4, gold_threshold=0.6, gold_least=2)
    study = make("balanced", arms=DRINKS, judging=terms, lease=30, budget=60)
    study.add_gold("good", "bad")
    happens(study, rng, 150, lambda: rng.choice(WORDS))
    state = study._current()
    assert_replays(study)
    assert_counts_are_those_of_the_questions(state)
    study.status()


def assert_counts_are_those_of_the_questions(state):
    """Count all over again, from what became of each question."""
    wins, ties, out = (np.zeros_like(state.wins) for _ in range(3))
    votes = skipped = aside = beyond = nothing = 0
    for unit in state.questions.values():
        if unit.gold is not None or unit.twin_of is not None:
            continue
        pair = unit.left, unit.right
        skipped += unit.outcome == "skip"
        counts = unit.outcome not in (None, "skip")
        assert not (unit.withdrawn and unit.outcome)
        aside += counts and unit.is_aside
        beyond += counts and unit.beyond and not unit.is_aside
        if unit.number in state.waiting:
            out[pair] += 1
        if not counts or unit.is_aside or unit.beyond:
            continue
        nothing += unit.outcome == "nothing"
        votes += unit.outcome != "nothing"
        if unit.outcome == "tie":
            ties[pair] += 1
        elif unit.outcome != "nothing":
            wins[pair if unit.outcome == "left" else pair[::-1]] += 1
    assert (state.wins == wins).all()
    assert (state.ties == ties + ties.T).all()
    assert (state.out == out + out.T).all()
    result = state.num_votes, state.num_skipped, state.num_aside, state.num_beyond
    assert result == (votes, skipped, aside, beyond)
    assert state.num_nothing == nothing
    for question in state.open.values():
        unit = state.unit_of(question)
        assert question.answer is None
        assert unit.gold is not None or unit.number in state.waiting


@pytest.mark.parametrize(
    ("how", "first", "second", "outcome"),
    [
        ("tie", "left", "right", "left"),
        ("tie", "right", "left", "right"),
        ("nothing", "tie", "tie", "tie"),
        ("tie", "left", "left", "tie"),
        ("nothing", "right", "right", "nothing"),
        ("nothing", "tie", "left", "nothing"),
        ("tie", "left", "skip", "skip"),
    ],
)
def test_two_answers_are_one_vote(make, how, first, second, outcome):
    study = make(judging=Judging(both_orders=how), budget=9)
    one, another = study.ask(2, judge="Ada", context=7)
    assert (one.left, one.right, one.context) == (another.right, another.left, 7)
    study.tell(another, second)
    state = study._current()
    assert state.num_votes == 0
    assert state.out.sum() == (0 if second == "skip" else 2)
    study.tell(one, first)
    state = study._current()
    left, right = DRINKS.index(one.left), DRINKS.index(one.right)
    assert state.num_votes == (outcome in ("left", "right", "tie"))
    assert state.wins[left, right] == (outcome == "left")
    assert state.wins[right, left] == (outcome == "right")
    assert state.ties[left, right] == (outcome == "tie")
    assert state.num_nothing == (outcome == "nothing")
    assert state.out.sum() == 0
    assert_replays(study)
    for ticket in (one, another):
        study.undo(ticket)
        study.undo(ticket)
    state = study._current()
    assert state.num_votes == state.wins.sum() == state.num_nothing == 0
    assert len(study.open_tickets("Ada")) == 2
    assert_replays(study)
    study.withdraw(another)
    assert study.open_tickets("Ada") == []
    assert study._current().shown.sum() == study._current().out.sum() == 0
    assert_replays(study)


def test_the_other_order_goes_to_the_same_judge(make):
    study = make(judging=Judging(both_orders="tie"), lease=60, budget=2)
    (ada,) = study.ask(judge="Ada")
    (bob,) = study.ask(judge="Bob")
    (again,) = study.ask(judge="Ada")
    assert (again.left, again.right) == (ada.right, ada.left)
    study.tell(ada, "left")
    study.tell(bob, "left")
    study.clock.now += 61
    # Both orders are asked anew, of somebody else.
    first, second = study.ask(2, judge="Cyd")
    assert (first.left, first.right) == (second.right, second.left)
    assert {first.left, first.right} == {ada.left, ada.right}
    assert study.open_tickets("Ada") == []
    # Ada's late second answer still makes a vote of the two.
    study.tell(again, "right")
    assert study.comparisons().num_votes == 1
    assert_replays(study)


@pytest.mark.parametrize("policy", ["d-ts+", "information"])
def test_a_policy_is_told_one_vote_for_both_orders(make, policy):
    study = make(policy, judging=Judging(both_orders="tie"), budget=12)
    while tickets := study.ask(3, judge="Ada"):
        for ticket in tickets:
            study.tell(ticket, better_of(ticket))
    judged = study.comparisons(judged=True)
    assert judged.wins.tolist() == study.comparisons().wins.tolist()
    state = study._current()
    assert (state.num_votes, len(state.questions)) == (12, 24)
    assert sum(policy_event.votes for policy_event in state.policy_events) == 12
    assert study.status().leader == "tea"
    assert_replays(study)


def test_the_anytime_rule_counts_both_orders_once(make):
    alone = make(arms=DRINKS[:2])
    both = make(arms=DRINKS[:2], judging=Judging(both_orders="nothing"))
    for _ in range(7):
        for study in (alone, both):
            tickets = study.ask(1 if study is alone else 2, judge="Ada")
            for ticket in tickets:
                study.tell(ticket, better_of(ticket))
    contradictory = both.ask(2, judge="Ada")
    for ticket in contradictory:
        both.tell(ticket, "left")
    first, second = (study.status().stopping[0] for study in (alone, both))
    assert first.evidence == second.evidence > 0
    assert both.status().contradictions == 1
    # A judge may not choose after seeing where the two lead: an undo counts against.
    both.undo(contradictory[0])
    both.tell(contradictory[0], "right")
    assert both.status().stopping[0].evidence < first.evidence


def test_a_judge_who_always_says_left_spends_the_budget(make):
    study = make(judging=Judging(both_orders="nothing"), budget=5)
    while tickets := study.ask(judge="Ada"):
        study.tell(tickets[0], "left")
    status = study.status()
    assert (status.votes, status.contradictions) == (0, 5)
    assert status.judges.lines[0].contradictions == 5
    (line,) = [item for item in status.stopping if item.rule == "budget"]
    assert line.stopped
    assert_replays(study)


def test_no_question_is_asked_that_costs_more_than_is_left(make):
    spending = Spending(cost=1.0, price=0.1, arm_prices={"milk": 0.05})
    study = make(spending=spending)
    study.set_judge("Bob", price=0.3)
    while tickets := study.ask(judge="Ada", n=2) + study.ask(judge="Bob"):
        for ticket in tickets:
            study.tell(ticket, better_of(ticket))
        assert study.status().spent <= 1.0 + 1e-9
    assert "the next question costs" in study.resting
    status = study.status()
    state, lines = study._current(), status.judges.lines
    milk = sum("milk" in state.names_of(x) for x in state.questions.values())
    number = {line.judge: line.left + line.right for line in lines}
    expected = 0.1 * number["Ada"] + 0.3 * number["Bob"] + 0.05 * milk
    assert status.spent == pytest.approx(expected)
    assert math.fsum(line.cost for line in lines) == pytest.approx(expected)
    assert_replays(study)


def test_a_price_that_divides_the_cost_is_spent_to_the_end(make):
    study = make(spending=Spending(cost=0.3, price=0.1))
    (undone, *others) = study.ask(9)
    assert len(others) == 2
    for ticket in (undone, *others):
        study.tell(ticket, "left")
    # An undone answer was paid, and the second answer is not paid again.
    study.undo(undone)
    study.tell(undone, "right")
    (line,) = [item for item in study.status().stopping if item.rule == "cost"]
    assert line.stopped
    assert study.status().spent == pytest.approx(0.3)
    assert study.ask() == []


def test_money_for_questions_out_is_free_when_they_are_asked_anew(make):
    both = Judging(both_orders="tie")
    study = make(spending=Spending(cost=1.0, price=0.5), judging=both, lease=60)
    (away,) = study.ask(judge="Ada")
    assert study.ask(judge="Bob") == []
    assert "the next question costs 1, and 0 of 1 is left" in study.resting
    study.clock.now += 61
    tickets = study.ask(2, judge="Bob")
    assert {tickets[0].left, tickets[0].right} == {away.left, away.right}
    for ticket in tickets:
        study.tell(ticket, better_of(ticket))
    assert (study.status().votes, study.status().spent) == (1, 1.0)
    # A late answer is kept, and paid.
    study.tell(away, "left")
    assert (study.status().spent, study.ask(judge="Ada")) == (1.5, [])
    assert "the next question costs 0.5, and 0 of 1 is left" in study.resting
    assert_replays(study)


def test_nothing_is_asked_once_it_is_certain(make):
    study = make(arms=DRINKS[:2], stop_when=["anytime"], delta=0.2, budget=500)
    while tickets := study.ask():
        assert not study.status().stopping[0].stopped
        study.tell(tickets[0], better_of(tickets[0]))
    assert study.resting == "anytime says stop: tea"
    assert study.status().votes < 500


def test_judges_stop_when_none_of_them_changes_the_leader(make):
    study = make(arms=DRINKS[:2], stop_when=["judges"])
    tell_answer(study, "Ada", 3, better_of)
    assert study.ask(judge="Ada")  # Without her there would be no vote.
    tell_answer(study, "Bob", 1, lambda ticket: mirrored(better_of(ticket)))
    line = study.status().stopping[2]
    assert (line.leader, line.evidence, line.threshold) == ("tea", 1, 2)
    assert not line.stopped
    assert study.status().judges.leaders_without == {"Ada": "coffee", "Bob": "tea"}
    tell_answer(study, "Cyd", 4, better_of)
    assert study.resting == "judges says stop: tea"
    line = study.status().stopping[2]
    assert line.stopped
    assert (line.answer, line.amounts()) == ("tea", ("3 judges", "3 judges"))


def test_lines_of_json_know_gold_and_judges(make):
    study = make()

    def say(**words):
        return json.loads(answer_line(study, json.dumps(words)))

    gold = {"do": "add_gold", "better": "good", "worse": "bad"}
    assert say(**gold) == {"new": True}
    assert say(**gold) == {"new": False}
    assert say(do="set_judge", name="Ada", limit=0) == {"new": True}
    assert "Ada has had the 0 questions" in say(do="ask", judge="Ada")["resting"]
    assert "at least two" in say(do="set_judge", name="Ada", arms=["tea"])["error"]

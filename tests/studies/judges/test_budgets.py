"""What answers cost, and when nothing more is asked."""

import json
import math

import pytest

from bayesduel.studies import Judging, Spending, answer_line
from tests.studies.helpers import DRINKS, assert_replays, better_of, mirrored, told


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
    milk = sum(
        "milk" in (study._current().names_of(each))
        for each in study._current().questions.values()
    )
    by_judge = {line.judge: line for line in status.judges.lines}
    number = {
        name: line.left + line.right for name, line in by_judge.items()
    }  # fmt: skip
    expected = 0.1 * number["Ada"] + 0.3 * number["Bob"] + 0.05 * milk
    assert status.spent == pytest.approx(expected)
    assert math.fsum(line.cost for line in by_judge.values()) == pytest.approx(expected)
    assert_replays(study)


def test_a_price_that_divides_the_cost_is_spent_to_the_end(make):
    study = make(spending=Spending(cost=0.3, price=0.1))
    (undone, *others) = study.ask(9)
    assert len(others) == 2
    for ticket in (undone, *others):
        study.tell(ticket, "left")
    # What is undone was paid, and its second answer is not paid again.
    study.undo(undone)
    study.tell(undone, "right")
    (line,) = [each for each in study.status().stopping if each.rule == "cost"]
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
    assert study.status().spent == 1.5
    assert study.ask(judge="Ada") == []
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
    told(study, "Ada", 3, better_of)
    assert study.ask(judge="Ada")  # Without her there would be no vote.
    told(study, "Bob", 1, lambda ticket: mirrored(better_of(ticket)))
    line = study.status().stopping[2]
    assert (line.leader, line.evidence, line.threshold) == ("tea", 1, 2)
    assert not line.stopped
    assert study.status().judges.leaders_without == {"Ada": "coffee", "Bob": "tea"}
    told(study, "Cyd", 4, better_of)
    assert study.resting == "judges says stop: tea"
    line = study.status().stopping[2]
    assert line.stopped
    assert line.answer == "tea"
    assert line.amounts() == ("3 judges", "3 judges")


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

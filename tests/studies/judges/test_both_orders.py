"""Two answers, to a question in both orders, are one vote."""

import pytest

from bayesduel.studies import Judging
from tests.studies.helpers import DRINKS, assert_replays, better_of


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
    one, other = study.ask(2, judge="Ada", context=7)
    assert (one.left, one.right, one.context) == (other.right, other.left, 7)
    study.tell(other, second)
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
    for ticket in (one, other):
        study.undo(ticket)
        study.undo(ticket)
    state = study._current()
    assert state.num_votes == state.wins.sum() == state.num_nothing == 0
    assert len(study.open_tickets("Ada")) == 2
    assert_replays(study)
    study.withdraw(other)
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
    one, other = study.ask(2, judge="Cyd")
    assert (one.left, one.right) == (other.right, other.left)
    assert {one.left, one.right} == {ada.left, ada.right}
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
    assert state.num_votes == 12
    assert len(state.questions) == 24
    assert sum(each.votes for each in state.told) == 12
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
    one, other = (study.status().stopping[0] for study in (alone, both))
    assert one.evidence == other.evidence > 0
    assert both.status().contradictions == 1
    # A judge may not choose after seeing where the two lead: an undo counts against.
    both.undo(contradictory[0])
    both.tell(contradictory[0], "right")
    assert both.status().stopping[0].evidence < one.evidence


def test_a_judge_who_always_says_left_spends_the_budget(make):
    study = make(judging=Judging(both_orders="nothing"), budget=5)
    while tickets := study.ask(judge="Ada"):
        study.tell(tickets[0], "left")
    status = study.status()
    assert (status.votes, status.contradictions) == (0, 5)
    assert status.judges.lines[0].contradictions == 5
    (line,) = [each for each in status.stopping if each.rule == "budget"]
    assert line.stopped
    assert_replays(study)

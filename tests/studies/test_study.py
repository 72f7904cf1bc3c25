"""Tickets and their answers; everything else about a study but who asks."""

from collections import Counter
from functools import partial

import numpy as np
import pytest

from bayesduel.studies import Study
from bayesduel.votes import Comparisons
from tests.studies.helpers import DRINKS, assert_replays, refused


@pytest.fixture
def make(make):
    return partial(make, arms=DRINKS)


def test_an_answer_is_stored_once(make):
    study = make()
    (ticket,) = study.ask()
    assert study.tell(ticket, "left") is True
    assert study.tell(ticket.number, "left") is False
    refused(r"must be 'left'.*got 'right'; undo", study.tell, ticket, "right")
    assert (study.comparisons().num_votes, len(study.events())) == (1, 3)


def test_a_tie_is_no_win_and_a_skip_no_vote(make):
    study = make()
    first, second = study.ask(2)
    study.tell(first, "tie")
    study.skip(second)
    votes = study.comparisons()
    assert (votes.num_votes, votes.wins.sum()) == (1, 0)
    policy_wins = study._current().policy_wins
    assert policy_wins.sum() == 1
    assert study.status().skipped == 1
    assert_replays(study)


@pytest.mark.parametrize(
    ("number", "answer", "words"),
    [
        (2, "left", "ticket must be the number of a question that was asked, 1 to 1"),
        (0, "left", "ticket must be the number of a question .* got 0"),
        ("1", "left", "ticket must be the number of a question .* got '1'"),
        (1, "Left", "answer must be one of left, right, tie, skip, got 'Left'"),
    ],
)
def test_what_was_never_asked_has_no_answer(make, number, answer, words):
    study = make()
    refused("nothing was asked yet", study.tell, 1, "left")
    study.ask()
    refused(words, study.tell, number, answer)
    assert study.comparisons().num_votes == 0


def test_undo_opens_the_question_again(make):
    study = make()
    (ticket,) = study.ask(judge="Ada", context={"prompt": (3, 4)})
    assert (ticket.judge, ticket.context) == ("Ada", {"prompt": [3, 4]})
    assert study.undo(ticket) is False
    study.tell(ticket, "left")
    assert study.undo(ticket) is True
    assert (study.comparisons().num_votes, study.open_tickets()) == (0, [ticket])
    study.tell(ticket, "right")
    left, right = DRINKS.index(ticket.left), DRINKS.index(ticket.right)
    assert study.comparisons().wins[right, left] == 1
    assert study.comparisons().num_votes == 1
    assert_replays(study)


def test_a_withdrawn_question_takes_its_answer_along(make):
    study = make()
    first, second = study.ask(2)
    study.tell(first, "left")
    assert study.withdraw(first)
    assert study.withdraw(second)
    assert not study.withdraw(second)
    assert (study.comparisons().num_votes, study.open_tickets()) == (0, [])
    for ticket in (first, second):
        refused("must not have been withdrawn", study.tell, ticket, "left")
    assert_replays(study)


def test_each_pair_is_shown_either_way_equally_often(make):
    study = make()
    shown = Counter()
    for ticket in study.ask(60):
        shown[ticket.left, ticket.right] += 1
    assert len(shown) == 12
    assert set(shown.values()) == {5}
    first = {frozenset(pair): pair for pair in reversed(shown)}
    assert len({DRINKS.index(a) < DRINKS.index(b) for a, b in first.values()}) == 2


def test_a_question_without_an_answer_is_asked_again_and_may_be_answered(make):
    study = make(lease=60, budget=8)
    (late,) = study.ask(judge="Ada")
    study.clock.now += 59
    (second,) = study.ask(judge="Bob")
    assert {second.left, second.right} != {late.left, late.right}
    study.clock.now += 2
    assert study.status().stale == 1
    (again,) = study.ask(judge="Bob")
    assert {again.left, again.right} == {late.left, late.right}
    assert "question 1 has no answer" in again.reason
    study.tell(again, "left")
    study.tell(late, "tie")
    assert study.comparisons().num_votes == 2
    assert (study.open_tickets("Bob"), study.open_tickets("Ada")) == ([second], [])
    assert_replays(study)


def test_a_clock_that_is_put_back_makes_nothing_stale(make):
    study = make(lease=60)
    study.ask()
    study.clock.now -= 10**6
    study.ask()
    assert study.status().stale == 0
    study.clock.now += 59
    assert study.status().stale == 0
    study.clock.now += 2
    assert study.status().stale == 2
    assert [event.time for event in study.events()[1:]] == [1000.0, 1000.0 - 10**6]
    assert_replays(study)


def test_the_floor_comes_first(make):
    study = make("information", floor=3, seed=1)
    for _ in range(18):
        (ticket,) = study.ask()
        assert ticket.rule == "floor"
        study.tell(ticket, "left")
    votes = study.comparisons()
    counts = (votes.wins + votes.wins.T)[np.triu_indices(4, 1)]
    assert set(counts) == {3}
    (ticket,) = study.ask()
    assert ticket.rule == "information"
    assert "nats" in ticket.reason


def test_expected_information_asks_what_is_unknown(make):
    study = make("information")
    wins = np.full((4, 4), 50.0)
    wins[2, 3] = wins[3, 2] = 1
    study.import_votes(Comparisons.from_wins(wins, arm_names=DRINKS, ignore_self=True))
    for ticket in study.ask(2):
        assert {ticket.left, ticket.right} == {"milk", "water"}


def test_the_budget_is_kept_with_questions_out(make):
    study = make(budget=5)
    one, *_ = study.ask(3)
    study.skip(one)
    assert len(study.ask(10)) == 3
    assert "budget of 5 votes" in study.resting
    for ticket in study.open_tickets():
        study.tell(ticket, "left")
    assert study.ask() == []
    (line,) = [item for item in study.status().stopping if item.rule == "budget"]
    assert line.stopped
    assert line.answer is None


def test_blocked_and_skipped_pairs_are_not_asked(make):
    study = make(arms=DRINKS[:3], blocked=[("tea", "coffee")])
    tickets = study.ask(6, judge="Ada")
    pairs = {frozenset((ticket.left, ticket.right)) for ticket in tickets}
    assert pairs == {frozenset(("tea", "milk")), frozenset(("coffee", "milk"))}
    with_tea = next(x for x in tickets if "tea" in (x.left, x.right))
    study.skip(with_tea)
    for ticket in study.ask(4, judge="Ada"):
        assert {ticket.left, ticket.right} == {"coffee", "milk"}
    (ticket,) = study.ask(judge="Bob")
    assert {ticket.left, ticket.right} == {"tea", "milk"}
    with_coffee = next(x for x in tickets if "coffee" in (x.left, x.right))
    study.skip(with_coffee)
    assert study.ask(judge="Ada") == []
    assert "no pair may be put to Ada" in study.resting
    study.undo(with_coffee)
    assert study.ask(judge="Ada")
    assert_replays(study)


def test_arms_come_and_go(make):
    study = make()
    for ticket in study.ask(6):
        study.tell(ticket, "left")
    study.add_arm("cocoa", share=0.999)
    study.retire_arm("milk")
    study.retire_arm("milk")
    assert study.arms == ("tea", "coffee", "water", "cocoa")
    votes = study.comparisons()
    assert (votes.arm_names, votes.num_votes) == (study.arms, 3)
    for ticket in study.ask(3):
        assert "cocoa" in (ticket.left, ticket.right)
        study.tell(ticket, "left")
    status = study.status()
    assert (status.retired, status.votes) == (("milk",), 9)
    refused("name must be new, got 'milk'; retired", study.add_arm, "milk")
    refused("must be an arm.*did you mean coffee", study.retire_arm, "cofee")
    for name in ("tea", "coffee"):
        study.retire_arm(name)
    refused("must leave two arms", study.retire_arm, "water")
    assert_replays(study)


def test_questions_about_a_retired_arm_are_asked_no_more(make):
    study = make(budget=2)
    out = study.ask(2, judge="Ada")
    gone = out[0].left
    study.retire_arm(gone)
    results = [item for item in out if gone not in (item.left, item.right)]
    assert study.open_tickets("Ada") == results
    assert study.status().out == len(results)
    # The budget has room for another question; the late answer is kept, and undone.
    assert len(study.ask(2, judge="Ada")) == 2 - len(results)
    assert study.tell(out[0], "left")
    assert study.undo(out[0])
    assert out[0] not in study.open_tickets("Ada")
    assert_replays(study)


def test_votes_are_imported_once_unless_it_is_meant(make, tmp_path):
    study = make()
    text = "left,right,winner\ntea,milk,left\nmilk,tea,tie\ncoffee,tea,left\n"
    path, same = tmp_path / "old.csv", tmp_path / "same.csv"
    path.write_text(text)
    head, *rows = text.splitlines()
    same.write_text("\n".join([head, *reversed(rows)]))
    assert study.import_votes(path) == 3
    study.add_arm("ale")
    for again in (path, same, Comparisons.from_votes(
        ["tea", "milk", "coffee"], ["milk", "tea", "tea"], ["tea", "tie", "coffee"]
    )):  # fmt: skip
        refused(r"by event 2 from .*old.csv.*again", study.import_votes, again)
    assert (study.status().imported, study.import_votes(path, again=True)) == (3, 3)
    path.write_text(text.replace("tie", "left"))
    assert (study.import_votes(path), study.status().imported) == (3, 9)
    assert_replays(study)


def test_votes_from_a_file_count(make, tmp_path):
    study = make(budget=100)
    path = tmp_path / "old.csv"
    rows = "tea,milk,left\n" * 4 + "milk,tea,tie\n" * 3
    path.write_text("left,right,winner\n" + rows)
    assert study.import_votes(path) == 7
    votes = study.comparisons()
    assert (votes.wins[0, 2], votes.ties[0, 2]) == (4, 3)
    policy_wins = study._current().policy_wins
    assert policy_wins.sum() == 7
    assert policy_wins[0, 2] in (5, 6)
    assert (study.status().imported, study.status().ties) == (7, 3)
    assert_replays(study)
    path.write_text("left,right,winner\ntea,beer,left\n")
    words = "votes must be an arm of the study, got 'beer'; name one of"
    refused(words, study.import_votes, path)
    halves = votes.with_split_ties()
    refused("must hold whole votes", study.import_votes, halves)
    assert study.comparisons().num_votes == 7


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"arms": ["tea"]}, "arms must be of at least two"),
        ({"arms": ["tea", "tea"]}, r"arms\[1\] must be different"),
        ({"policy": "d-tz"}, "no policy 'd-tz'.*random, balanced; one of your"),
        ({"policy": 3}, "policy must be the name of a policy"),
        ({"policy": "ucb-no-order"}, "policy must ask for pairs"),
        ({"policy": "rucb:every=10"}, "no delay of its own"),
        ({"policy": "savage"}, "budget must be given for SAVAGE"),
        ({"policy": "d-ts+:alpha=0.1"}, "alpha must be"),
        ({"model": "logit"}, "model must be one of bradley"),
        ({"delta": 0}, r"delta must be in \(0, 1\)"),
        ({"width": 0.5}, r"width must be in \[0, 1/2\)"),
        ({"budget": 0}, "budget must be an integer of at least 1"),
        ({"floor": -1}, "floor must be an integer of at least 0"),
        ({"lease": 0}, "lease must be a number of seconds above 0"),
        ({"blocked": [("tea", "tea")]}, r"blocked\[0\] must be two different arms"),
        ({"blocked": [("tea", "beer")]}, "blocked must be an arm of the study"),
    ],
)
def test_what_fits_no_study_makes_no_file(tmp_path, change, words):
    path = tmp_path / "drinks.study"
    arguments = {"arms": DRINKS, "policy": "balanced"} | change
    with pytest.raises(ValueError, match=words):
        Study.create(path, **arguments)
    assert not path.exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n": 0}, "n must be an integer of at least 1"),
        ({"judge": ""}, "judge must be a name"),
        ({"judge": "\ud800"}, r"judge must be without control .* U\+D800 at posit"),
        ({"context": "\ud800"}, r"context must be without control .* has U\+D800"),
        ({"context": float("nan")}, "context must be a value of JSON"),
        ({"context": "x" * 10**6}, "context must be at most 100000 characters"),
    ],
)
def test_bad_questions_are_refused(make, options, words):
    study = make()
    refused(words, study.ask, **options)
    assert len(study.events()) == 1

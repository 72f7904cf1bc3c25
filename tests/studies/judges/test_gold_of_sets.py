"""Gold questions whose answer is the best of a set, or its best and its worst."""

import json
import pickle
import random
from itertools import permutations

import pytest

from bayesduel.errors import StudyError
from bayesduel.studies import Judging, Study, answer_line, verify_study
from bayesduel.studies.state import Question
from tests.command_line import invoke
from tests.studies.helpers import DRINKS, append, assert_replays, happens, refused, same

ARMS = [*DRINKS, "juice"]
GOLD = ("good", "fair", "dull", "bad")
ORDER = [*GOLD, *ARMS]


def best_of(ticket):
    return min(range(len(ticket.shown)), key=lambda at: ORDER.index(ticket.shown[at]))


def worst_of(ticket):
    return max(range(len(ticket.shown)), key=lambda at: ORDER.index(ticket.shown[at]))


def knows(ticket):
    best = best_of(ticket) + 1
    return (best, worst_of(ticket) + 1) if ticket.worst else best


def errs(ticket):
    worst = worst_of(ticket) + 1
    return (worst, best_of(ticket) + 1) if ticket.worst else worst


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("worst", [False, True])
def test_one_rule_says_what_is_right_of_pairs_and_sets(size, worst):
    if worst and size == 2:
        return
    number = 0
    for arms in permutations(range(size)):
        question = Question(1, arms, None, None, "gold", "", 0.0, 1.0)
        answers = ["left", "right", "tie"] if size == 2 else [
            str(card + 1) for card in range(size)
        ]  # fmt: skip
        if worst:
            answers = [",".join(two) for two in permutations(answers, 2)]
        for question.answer in answers:
            words = {"left": "1", "right": "2", "tie": ""}
            named = words.get(question.answer, question.answer)
            shown = [arms[int(card) - 1] for card in named.split(",") if card]
            wanted = [0, size - 1] if worst else [0]
            assert question.is_right == (shown == wanted)
            number += question.is_right
    # One answer to each order is right.
    assert number == len([*permutations(range(size))])


def test_who_fails_gold_sets_is_set_aside_and_comes_back(make):
    terms = Judging(gold_share=0.5, gold_threshold=0.6, gold_least=4)
    study = make(None, ARMS, choose_from=4, worst=True, judging=terms)
    assert study.add_gold("good", GOLD[1:])
    assert not study.add_gold("good", ("dull", "fair", "bad"))
    shown = []
    for judge, says in (("Ada", knows), ("Bob", errs)):
        for _ in range(12):
            for ticket in study.ask(judge=judge):
                study.tell(ticket, says(ticket))
                if ticket.rule == "gold":
                    shown.append(ticket.shown)
    # Both had the set in several orders, and Bob no more of it once he was set aside.
    assert all({*item} == {*GOLD} for item in shown)
    assert len({*shown}) > 2
    assert "Bob is set aside: 0 of 4 gold questions right, below 60%" in study.resting
    ada, bob = study.status().judges.lines
    assert (ada.gold, ada.gold_right, ada.is_aside) == (6, 6, False)
    assert (bob.gold, bob.gold_right, bob.is_aside) == (4, 0, True)
    status = study.status()
    assert (status.votes, status.aside) == (6, status.judges.everyone.votes)
    assert status.aside > 0
    assert study.choices().num_votes == 6 * 2
    frame = study.to_dataframe()
    assert frame["gold"].sum() == 10 and frame["counts"].sum() == 6
    gold = frame[frame["gold"] & (frame["judge"] == "Ada")]
    assert {*gold["winner"]} == {"good"}
    assert {*gold["worst"].dropna()} == {"bad"}
    page = study.report()
    assert "gold questions were right: Bob" in page and "10 of the" not in page
    assert verify_study(study.path).foreign == ()
    assert_replays(study)
    assert same(study._current(), pickle.loads(pickle.dumps(study._current())))
    study.set_judge("Bob", trusted=True)
    assert study.status().votes == 6 + status.aside
    assert study.status().aside == 0
    assert verify_study(study.path).foreign == ()


def test_gold_sets_leave_the_balance_of_arms_alone(make):
    study = make("balanced", ARMS, choose_from=4, judging=Judging(gold_share=0.5))
    study.add_gold("good", ["fair", "dull", "bad"])
    tickets = [item for item in study.ask(50) if item.rule != "gold"]
    assert len(tickets) == 25
    shown = [arm for ticket in tickets for arm in ticket.shown]
    assert {shown.count(arm) for arm in ARMS} == {20}


@pytest.mark.parametrize(
    ("better", "worse", "words"),
    [
        ("good", ("fair", "bad"), "worse must be the other 3 of the 4"),
        ("good", {"fair", "dull", "bad"}, "worse must be the other 3 of the 4"),
        ("good", ("good", "dull", "bad"), "worse must be others than better"),
        ("good", ("dull", "dull", "bad"), "worse must be others than better"),
        ("good", ("fair", "", "bad"), "worse must be a name"),
        ("fair", ("good", "dull", "bad"), "better must not be better, as it is known "
                                          "to be worse than 'good'"),
        ("good", ("fair", "bad", "dull"), "worse must not end with it, as 'bad' is"),
    ],
)  # fmt: skip
def test_gold_sets_that_are_none(make, better, worse, words):
    study = make(None, ARMS, choose_from=4, worst=True)
    study.add_gold("good", GOLD[1:])
    refused(words, study.add_gold, better, worse)
    assert len(study.events()) == 2


@pytest.mark.parametrize(("kind", "body", "words"), [
    ("gold asked", {"order": [0, 1]}, "in which order it shows its 3 arms"),
    ("gold asked", {"order": [0, 1, 3]}, "in which order it shows its 3 arms"),
    ("gold asked", {"swapped": True}, "in which order it shows its 3 arms"),
    ("gold asked", {}, "in which order it shows its 3 arms"),
    ("gold asked", {"order": "012"}, "its order is '012'"),
    ("gold added", {"better": "a", "worse": "b"}, "not 3 different ones"),
    ("gold added", {"better": "a", "worse": "b", "also": ["c", "d"]}, "not 3 diff"),
    ("gold added", {"better": "a", "worse": "b", "also": [3]}, "its also is"),
])  # fmt: skip
def test_gold_events_that_nobody_could_have_written_are_refused(
    make, kind, body, words
):
    study = make(None, ARMS, choose_from=3)
    study.add_gold("good", ["fair", "bad"])
    if kind == "gold asked":
        body = {"question": 1, "gold": 0, "lease": 9.0, **body}
    refused(f"event 3 of the study is broken.*{words}", append, study, kind, body)
    pairs = make("balanced", ARMS)
    pairs.add_gold("good", "bad")
    with pytest.raises(StudyError, match="in which order it shows its 2 arms"):
        append(pairs, "gold asked", {"question": 1, "gold": 0, "lease": 9.0})


def test_gold_sets_at_the_command_line_and_by_lines(make):
    study = make(None, ARMS, choose_from=3, worst=True)
    gold = ["study", "gold", str(study.path), "good", "fair", "bad"]
    assert invoke(gold).stderr == "stored\n"
    assert invoke(gold).stderr == "this was stored before\n"
    refused = invoke(gold[:-1])
    assert refused.exit_code == 2
    assert "must be the other 2 of the 3 that are shown" in refused.stderr
    line = {"do": "add_gold", "better": "clear", "worse": ["fair", "bad"]}
    assert json.loads(answer_line(study, json.dumps(line))) == {"new": True}
    assert json.loads(answer_line(study, json.dumps(line))) == {"new": False}
    with Study.open(study.path) as again:
        assert again._current().golds == [("good", "fair", "bad"),
                                          ("clear", "fair", "bad")]  # fmt: skip


@pytest.mark.parametrize("worst", [False, True])
def test_whatever_happens_replays_to_the_same_and_asks_the_same(make, worst):
    rng = random.Random(1)
    terms = Judging(gold_share=0.4, gold_threshold=0.5, gold_least=2)
    options = {"choose_from": 3, "worst": worst, "judging": terms}
    study = make("balanced", ARMS, lease=30, budget=60, **options)
    study.add_gold("good", ("fair", "bad"))

    def answer():
        cards = rng.sample(range(1, 4), 1 + worst)
        return rng.choice([tuple(cards) if worst else cards[0], "skip"])

    happens(study, rng, 120, answer)
    assert_replays(study)
    assert verify_study(study.path).foreign == ()
    kinds = [event.kind for event in study.events()]
    assert kinds.count("gold asked") > 3
    assert kinds.count("answered") > 10


def test_a_gold_set_looks_like_any_other_on_the_page(make, page):
    terms = Judging(gold_share=0.9)
    study = make("balanced", ARMS, choose_from=3, worst=True, judging=terms)
    study.add_gold("good", ("fair", "bad"))
    seen, client = [], page(study)
    question = client.question()
    assert question["worst"]
    for _ in range(6):
        names = [card["name"] for card in question["cards"]]
        answer = f"{names.index(min(names, key=ORDER.index)) + 1},"
        answer += f"{names.index(max(names, key=ORDER.index)) + 1}"
        seen.append((question.keys() - {"number"}, {*names} == {"good", "fair", "bad"}))
        reply = client.post("answer", number=question["number"], answer=answer)[1]
        assert not reply["note"]
        question = reply["question"]
    assert {is_gold for _, is_gold in seen} == {True, False}
    assert len({frozenset(keys) for keys, _ in seen}) == 1
    (line,) = study.status().judges.lines
    assert line.gold == line.gold_right == sum(is_gold for _, is_gold in seen)

"""Judges: agreement, gold questions, what is known of each, and whose questions."""

import itertools
import json
import math
import random

import pytest

from bayesduel.studies import Judging, answer_line
from bayesduel.studies.judges import JudgeTable, krippendorff_alpha
from bayesduel.studies.page.server import JudgePage, link_secret, signed_token
from bayesduel.studies.report import report_html
from tests.studies.helpers import (
    DRINKS,
    assert_replays,
    better_of,
    mirrored,
    refused,
    tell_answer,
)
from tests.studies.serving import Client, served


@pytest.mark.parametrize(
    ("observers", "alpha"),
    [
        # Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, A, B and C.
        (["0100000010", "1110010000"], 0.095),
        (["aabbdcccedda", "babbbccceddd"], 0.692),
        (["123321412...", "1233224125.3", ".3332342251.", "12332441251."], 0.743),
    ],
)
def test_alpha_is_that_of_the_published_examples(observers, alpha):
    columns = zip(*observers, strict=True)
    units = [[said for said in column if said != "."] for column in columns]
    assert round(krippendorff_alpha(units), 3) == alpha


def test_alpha_by_counting_all_pairs():
    rng = random.Random(3)
    for _ in range(20):
        units = [rng.choices("abc", k=rng.randint(1, 5)) for _ in range(6)]
        whole = [unit for unit in units if len(unit) > 1]
        said = list(itertools.chain(*whole))
        observed = sum(
            sum(first != second for first, second in itertools.permutations(unit, 2))
            / (len(unit) - 1)
            for unit in whole
        ) / len(said)
        pairs = list(itertools.permutations(said, 2))
        expected = sum(first != second for first, second in pairs) / len(pairs)
        assert krippendorff_alpha(units) == pytest.approx(1 - observed / expected)
    assert math.isnan(krippendorff_alpha([]))
    assert math.isnan(krippendorff_alpha(["aa", "aaa", "b"]))
    assert krippendorff_alpha(["ab", "ab"]) == -0.5


@pytest.mark.parametrize("contexts", [range(4), [None] * 4])
def test_agreement_of_two_judges(make, contexts):
    study = make(arms=DRINKS[:2])
    for turn, context in enumerate(contexts):
        for judge in ("Ada", "Bob"):
            (ticket,) = study.ask(judge=judge, context=context)
            errs = judge == "Bob" and turn == 2
            said = better_of(ticket)
            study.tell(ticket, mirrored(said) if errs else said)
        (alone,) = study.ask(context=context)
        study.tell(alone, "tie")  # Whoever has no name agrees with nobody.
    table = study.status().judges
    # Four units and their mirror images: 16 answers, 8 of each kind, and 2 of 8 units
    # with two different ones. So alpha is 1 - 15 * 2 * 2 / (16 ** 2 - 2 * 8 ** 2).
    assert (table.alpha, table.alpha_units) == (1 - 60 / 128, 4)
    ada, bob, nobody = table.lines
    assert (ada.others, ada.others_agree) == (bob.others, bob.others_agree) == (4, 0.75)
    assert (nobody.others, nobody.others_agree) == (0, None)
    # In a context of its own nothing is repeated; else 3 of 6 pairs differ.
    repeats = (0, None) if contexts[0] == 0 else (6, 0.5)
    assert (bob.repeats, bob.repeats_agree) == repeats


@pytest.mark.parametrize(
    ("without", "leader", "words"),
    [
        (None, None, ()),
        (None, "tea", ("another arm leads without the votes of Ada (nobody)",)),
        ("tea", "tea", ("the same arm leads without the votes of any one judge",)),
    ],
)
def test_nobody_leads_with_or_without_a_judge(without, leader, words):
    table = JudgeTable((), None, 0, leaders_without={"Ada": without})
    assert table.words(leader, ()) == words


def test_gold_comes_as_often_as_said_and_is_no_vote(make):
    study = make(judging=Judging(gold_share=0.25, gold_threshold=0.0))
    assert study.add_gold("good", "bad")
    assert not study.add_gold("good", "bad")
    study.add_gold("good", "tea")
    tickets = study.ask(40, judge="Ada") + study.ask(4, judge="Bob")
    gold = [ticket.number for ticket in tickets[:40] if ticket.rule == "gold"]
    assert len(gold) == 10
    assert len({number % 4 for number in gold}) > 1
    assert sum(ticket.rule == "gold" for ticket in tickets[40:]) == 1
    results = [{x.left, x.right} for x in tickets[:40] if x.rule == "gold"]
    assert results.count({"good", "tea"}) == results.count({"good", "bad"}) == 5
    for ticket in tickets:
        study.tell(ticket, better_of(ticket))
    assert study.comparisons().num_votes == 44 - 11
    assert study.comparisons(judged=True).num_votes == 44 - 11
    ada, bob = study.status().judges.lines
    assert (ada.gold, ada.gold_right, bob.gold) == (10, 10, 1)
    assert study.status().aside == 0
    assert_replays(study)


def test_every_judge_has_all_gold_questions_as_often_and_either_way_round(make):
    study = make(judging=Judging(gold_share=0.5))
    for worse in ("bad", "tea"):
        study.add_gold("good", worse)
    arguments, lefts = {"Ada": [], "Bob": []}, set()
    for judge, had in [*arguments.items()] * 24:
        (ticket,) = study.ask(judge=judge)
        if ticket.rule == "gold":
            had.append(min(ticket.left, ticket.right))
            lefts.add(ticket.left)
        study.tell(ticket, better_of(ticket))
    for had in arguments.values():
        assert had.count("bad") == had.count("good") == 6
    assert lefts == {"good", "bad", "tea"}


def test_who_fails_gold_questions_is_set_aside_and_comes_back(make):
    terms = Judging(gold_share=0.5, gold_threshold=0.6, gold_least=4)
    study = make(judging=terms, budget=200)
    study.add_gold("good", "bad")
    tell_answer(study, "Ada", 20, better_of)
    before = study.comparisons()
    waiting = next(item for item in study.ask(2, judge="Bob") if item.rule != "gold")
    tell_answer(study, "Bob", 30, lambda ticket: mirrored(better_of(ticket)))
    assert study.comparisons().wins.tolist() == before.wins.tolist()
    assert study.ask(judge="Bob") == []
    assert "Bob is set aside: 0 of 4 gold questions right" in study.resting
    status = study.status()
    lines = {line.judge: line for line in status.judges.lines}
    assert lines["Bob"].is_aside
    assert not lines["Ada"].is_aside
    assert status.aside == lines["Bob"].left + lines["Bob"].right > 0
    assert status.votes == before.num_votes
    everyone = status.judges.everyone
    assert everyone is not None
    assert everyone.votes == status.aside
    # Open questions are not asked again; a late answer is kept, but is no vote.
    assert study.open_tickets("Bob") == []
    study.tell(waiting, "left")
    assert "set aside" in study.remark
    assert study.comparisons().num_votes == before.num_votes
    assert_replays(study)
    report = study.report()
    # The late answer is one more of them.
    assert f"With their {everyone.votes + 1} votes tea would lead, too" in report
    assert "set aside" in report
    status = study.status()
    words = "has changed 1 times, so that the error is at most 2 times"
    assert words in status.stopping[0].meaning
    aside = status.aside
    study.set_judge("Bob", trusted=True)
    assert "has changed 2 times" in study.status().stopping[0].meaning
    assert study.comparisons().num_votes == before.num_votes + aside
    assert study.status().aside == 0
    assert study.ask(judge="Bob")
    assert_replays(study)


def test_an_undone_gold_answer_counts_no_more(make):
    study = make(judging=Judging(gold_share=0.9, gold_threshold=1.0, gold_least=1))
    tell_answer(study, "Ada", 3, better_of)
    study.add_gold("good", "bad")
    (ticket,) = study.ask(judge="Ada")
    assert ticket.rule == "gold"
    votes = study.comparisons().num_votes
    assert votes == 3
    study.tell(ticket, mirrored(better_of(ticket)))
    assert study.comparisons().num_votes == 0
    study.undo(ticket)
    assert study.comparisons().num_votes == votes
    assert study.open_tickets("Ada") == [ticket]
    study.tell(ticket, "skip")
    assert study.status().judges.lines[0].gold == 0
    assert not study.status().judges.lines[0].is_aside
    study.undo(ticket)
    study.tell(ticket, better_of(ticket))
    assert study.status().judges.lines[0].gold_right == 1
    study.withdraw(ticket)
    assert study.status().judges.lines[0].gold == 0
    assert_replays(study)


def test_set_aside_changes_what_the_report_says(make):
    study = make(judging=Judging(gold_share=0.3, gold_threshold=0.5, gold_least=2))
    study.add_gold("good", "bad")
    tell_answer(study, "Ada", 12, better_of)
    for name in ("Bob", "Cyd"):
        study.set_judge(name, trusted=True)
        tell_answer(study, name, 30, lambda ticket: mirrored(better_of(ticket)))
    assert study.status().leader == "milk"
    for name in ("Bob", "Cyd"):
        study.set_judge(name)
    status = study.status()
    assert (status.leader, status.judges.everyone.leader) == ("tea", "milk")
    *_, names, words = status.judges.words("tea", status.stopping)
    assert "right: Bob, Cyd" in names
    said = f"with their {status.aside} votes milk would lead, where tea does now"
    assert said in words


def test_limits_and_assignments(make):
    study = make(arms=DRINKS)
    study.set_judge("Ada", limit=5, arms=["tea", "milk"])
    tickets = study.ask(9, judge="Ada")
    assert len(tickets) == 5
    assert all({ticket.left, ticket.right} == {"tea", "milk"} for ticket in tickets)
    assert "Ada has had the 5 questions" in study.resting
    for ticket in tickets:
        study.tell(ticket, "left")
    assert (study.ask(judge="Ada"), len(study.ask(9, judge="Bob"))) == ([], 9)
    study.set_judge("Ada")
    assert study.ask(judge="Ada")
    assert_replays(study)
    for name, options, words in (
        ("Ada", {"arms": ["tea", "ale"]}, "arms must be an arm of the study"),
        ("Ada", {"arms": ["tea", "tea"]}, "arms must be at least two"),
        ("Ada", {"price": -1}, "price must be a number from 0"),
        (None, {}, "name must be that of a judge"),
    ):
        refused(words, study.set_judge, name, **options)


def test_time_sides_and_repeats_of_a_judge(make):
    study = make(arms=DRINKS[:2], judging=Judging(quickest=2.0))
    tickets = study.ask(4, judge="Ada")
    for ticket, seconds in zip(tickets, (1.0, 5.0, 3.0, 10.0), strict=True):
        study.clock.now += seconds
        study.tell(ticket, "left")
    (line,) = study.status().judges.lines
    # The second of four questions at once is read after the first answer.
    assert (line.seconds, line.too_fast) == (4.0, 1)
    # Two of them one way round, two the other: two pairs of six agree.
    assert (line.left_share, line.repeats, line.repeats_agree) == (1.0, 6, 2 / 6)
    # Clopper and Pearson: all of four, lower end 0.025 ** (1 / 4).
    assert line.left_lower == pytest.approx(0.025**0.25)
    assert line.left_upper == 1.0
    exported = [json.loads(text) for text in study.export_judges().splitlines()]
    assert (exported[0]["judge"], exported[0]["seconds"]) == ("Ada", 4.0)


def test_events_say_who_did_it(make):
    study = make()
    first, second = study.ask(2, judge="Ada")
    study.tell(first, "left", judge="Ada")
    study.undo(first, judge="Ada")
    study.skip(second, judge="Ada")
    study.withdraw(first, judge="Ada")
    bodies = [event.body for event in study.events()[3:]]
    assert [body.get("judge", body.get("by")) for body in bodies] == ["Ada"] * 4
    assert bodies[1] == {"question": 1, "by": "Ada"}
    assert_replays(study)


def test_a_judge_touches_no_question_of_another(make):
    study = make()
    first, second = study.ask(2, judge="Ada")
    study.tell(second, "left")
    for deed in (
        lambda: study.tell(first, "left", judge="Bob"),
        lambda: study.undo(second, judge="Bob"),
        lambda: study.withdraw(first, judge="Bob"),
    ):
        refused(r"to whom question \d was put, got 'Bob'", deed)
    line = {"do": "tell", "ticket": 1, "answer": "left", "judge": "Bob"}
    said = json.loads(answer_line(study, json.dumps(line)))["error"]
    assert "to whom question 1" in said
    assert len(study.events()) == 4


def test_the_page_refuses_the_question_of_another(make, page):
    study = make()
    ada = page(study)
    bob = Client(ada.port, "Bob")
    number = ada.question()["number"]
    ada.post("answer", number=number, answer="left")
    (open_one,) = (open_ticket.number for open_ticket in study.open_tickets("Ada"))
    bob.question()
    before = len(study.events())
    answer = {"number": open_one, "answer": "left"}
    for deed, body in (("undo", {"number": number}), ("answer", answer)):
        status, text = bob.post(deed, **body)
        assert status == 403
        assert "must be the one to whom question" in text
    assert len(study.events()) == before


def test_a_page_takes_so_many_names(make, page, monkeypatch):
    monkeypatch.setattr("bayesduel.studies.page.server.MOST_NAMES", 3)
    client, said = page(make()), []
    for client.judge in ("Ada", "Bob", "Cyd", "one more", "Ada"):
        said.append(client.post("question"))
    assert [status for status, _ in said] == [200, 200, 200, 403, 200]
    assert "3 names" in said[3][1]


def test_signed_links_are_for_one_judge_each(make, monkeypatch):
    study = make()
    links = JudgePage(study, judges=["Ada", "Bob"]).links
    assert links == JudgePage(study, judges=["Ada", "Bob"]).links
    secret = study.path.with_name("0.study-links")
    assert secret.stat().st_mode & 0o777 == 0o600
    assert links["Ada"] == signed_token(link_secret(study.path), "Ada")
    with served(study, judges=["Ada", "Bob"]) as port:
        assert Client(port).get()[0] == 404  # The common token.
        for name in ("Ada", "Bob"):
            monkeypatch.setattr("tests.studies.serving.TOKEN", links[name])
            client = Client(port, "somebody else")
            assert f'data-judge="{name}"'.encode() in client.get()[2]
            client.question()
    assert [event.body["judge"] for event in study.events()[1:]] == ["Ada", "Bob"]


def test_late_answers_beyond_the_budget_do_not_count(make):
    study = make(budget=5, lease=10.0)
    tickets = []
    for _ in range(3):
        tickets += study.ask(5)
        study.clock.now += 11
    assert len(tickets) == 15
    remarks = []
    for ticket in tickets:
        assert study.tell(ticket, "left")
        remarks.append(study.remark)
    assert remarks[:5] == [""] * 5
    assert all("budget of 5 votes was spent" in remark for remark in remarks[5:])
    status = study.status()
    assert (status.votes, status.beyond) == (5, 10)
    assert study.comparisons().num_votes == 5
    (line,) = [item for item in status.stopping if item.rule == "budget"]
    assert "10 late answers beyond it do not count" in line.meaning
    page = report_html(study.events(), study.path, 0.9, study.clock.now)
    assert "10 late answers beyond the budget are kept, and do not count" in page
    study.undo(tickets[-1])
    assert (study.status().votes, study.status().beyond) == (5, 9)
    assert_replays(study)


def test_made_up_judges_starve_nobody(make):
    study = make(budget=5)
    for name in "abcde":
        assert study.ask(judge=name)
    (ticket,) = study.ask(judge="the real one")
    assert study.tell(ticket, "left", judge="the real one")
    assert study.comparisons().num_votes == 1
    assert_replays(study)

"""Judges: who answered is kept, nobody touches another one's questions or budget."""

import json

import pytest

from bayesduel.errors import StudyError
from bayesduel.studies import answer_line
from bayesduel.studies.page.server import JudgePage, link_secret, signed_token
from bayesduel.studies.report import report_html
from tests.studies.helpers import assert_replays
from tests.studies.serving import Client, served


def test_events_say_who_did_it(make):
    study = make()
    one, other = study.ask(2, judge="Ada")
    study.tell(one, "left", judge="Ada")
    study.undo(one, judge="Ada")
    study.skip(other, judge="Ada")
    study.withdraw(one, judge="Ada")
    bodies = [each.body for each in study.events()[3:]]
    assert [each.get("judge", each.get("by")) for each in bodies] == ["Ada"] * 4
    assert bodies[1] == {"question": 1, "by": "Ada"}
    assert_replays(study)


def test_a_judge_touches_no_question_of_another(make):
    study = make()
    one, other = study.ask(2, judge="Ada")
    study.tell(other, "left")
    for deed in (
        lambda: study.tell(one, "left", judge="Bob"),
        lambda: study.undo(other, judge="Bob"),
        lambda: study.withdraw(one, judge="Bob"),
    ):
        with pytest.raises(StudyError, match=r"to whom question \d was put, got 'Bob'"):
            deed()
    line = {"do": "tell", "ticket": 1, "answer": "left", "judge": "Bob"}
    assert (
        "to whom question 1"
        in json.loads(answer_line(study, json.dumps(line)))["error"]
    )
    assert len(study.events()) == 4


def test_the_page_refuses_the_question_of_another(make, page):
    study = make()
    ada = page(study)
    bob = Client(ada.port, "Bob")
    number = ada.question()["number"]
    ada.post("answer", number=number, answer="left")
    (open_one,) = (each.number for each in study.open_tickets("Ada"))
    bob.question()
    before = len(study.events())
    for deed, body in (
        ("undo", {"number": number}),
        ("answer", {"number": open_one, "answer": "left"}),
    ):
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
    assert [each.body["judge"] for each in study.events()[1:]] == ["Ada", "Bob"]


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
    assert all("budget of 5 votes was spent" in each for each in remarks[5:])
    status = study.status()
    assert (status.votes, status.beyond) == (5, 10)
    assert study.comparisons().num_votes == 5
    (line,) = [each for each in status.stopping if each.rule == "budget"]
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

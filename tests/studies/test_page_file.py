"""The page while the file of its study is moved, replaced, damaged, locked, or full."""

import shutil
import sqlite3
from contextlib import closing, contextmanager

import pytest

from bayesduel.errors import OutputWriteError, StudyError, StudyFileError
from bayesduel.studies import Study
from bayesduel.studies.disk import EventLog
from bayesduel.studies.page import server as page_module
from tests.studies.helpers import DRINKS, assert_replays


@contextmanager
def moved(path):
    away = path.with_name("elsewhere")
    path.rename(away)
    yield "was moved or deleted while it was open"
    away.rename(path)


@contextmanager
def restored(path):
    """It is deleted, and a copy with all that was stored takes its place."""
    copy = shutil.copy(path, path.with_name("copy"))
    path.unlink()
    yield "was moved or deleted while it was open"
    copy.rename(path)


@contextmanager
def replaced(path, content):
    away = path.with_name("elsewhere")
    path.rename(away)
    path.write_bytes(content)
    yield "" if content else "must be the file of a study"
    away.rename(path)


@contextmanager
def overwritten(path, content):
    """The file stays the same one, with something else in it."""
    whole = path.read_bytes()
    path.write_bytes(content)
    yield ""
    path.write_bytes(whole)


def another_study(path):
    second = path.with_name("another.study")
    with Study.create(second, DRINKS, "balanced", seed=5) as study:
        for _ in range(9):
            study.tell(study.ask()[0], "left")
    return second.read_bytes()


@contextmanager
def locked(path, how):
    with closing(sqlite3.connect(path, isolation_level=None)) as second:
        second.execute(f"BEGIN {how}")
        yield "another program"


TROUBLES = {
    "moved": moved,
    "folder moved": lambda path: moved(path.parent),
    "restored": restored,
    "replaced by text": lambda path: replaced(path, b"left,right\n" * 999),
    "replaced by nothing": lambda path: replaced(path, b""),
    "replaced by another": lambda path: replaced(path, another_study(path)),
    "text in its place": lambda path: overwritten(path, b"left,right\n" * 999),
    "another in its place": lambda path: overwritten(path, another_study(path)),
    "nothing in its place": lambda path: overwritten(path, b""),
    "locked": lambda path: locked(path, "EXCLUSIVE"),
}


@pytest.fixture
def study(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    with Study.create(folder / "drinks.study", DRINKS, "balanced") as made:
        yield made


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(page_module, "_PATIENCE", 0.05)


@pytest.mark.parametrize("trouble", TROUBLES.values(), ids=TROUBLES.keys())
def test_judges_wait_and_go_on(study, page, impatient, caplog, trouble):
    client = page(study)
    first = client.question()["number"]
    _, reply = client.post("answer", number=first, answer="left")
    second = reply["question"]["number"]
    answer = {"number": second, "answer": "right"}
    deeds = [("question", {}), ("answer", answer), ("undo", {"number": first})]
    before = study.events()
    with trouble(study.path) as why:
        for deed, body in deeds:
            status, text = client.post(deed, **body)
            assert status == 503
            assert why in text and "drinks.study" in text
            for part in (str(study.path.parent), "Traceback", "\n"):
                assert part not in text
        # Somebody who comes only now, and whoever loads the page.
        client.judge = "Bob"
        assert client.post("question")[0] == 503
        assert client.get()[0] == client.get("page.js")[0] == 200
        client.judge = "Ada"
    with Study.open(study.path) as another:
        assert another.events() == before
    status, reply = client.post("answer", number=second, answer="right")
    assert (status, reply["answered"]) == (200, 2)
    status, reply = client.post("undo", number=second)
    assert (status, reply["answered"], reply["last"]) == (200, 1, first)
    client.judge = "Bob"
    assert client.post("question")[0] == 200
    assert [event.kind for event in study.events()] == [
        "created", "asked", "answered", "asked", "answered", "asked", "undone", "asked",
    ]  # fmt: skip
    assert_replays(study)
    said = [record.getMessage() for record in caplog.records]
    assert said[-1] == "judges go on"
    assert all("judges wait: " in item for item in said[:-1])
    assert "Traceback" not in caplog.text
    assert len(said) < 5  # Once for what goes wrong, not once for each request.


def test_a_file_that_lacks_answers_takes_no_more(study, page):
    """An older copy would ask question 2 again, about other arms."""
    client = page(study)
    number = client.question()["number"]
    older = shutil.copy(study.path, study.path.with_name("older"))
    client.post("answer", number=number, answer="left")
    away = study.path.with_name("elsewhere")
    study.path.rename(away)
    shutil.copy(older, study.path)
    status, text = client.post("answer", number=2, answer="left")
    assert status == 503
    assert "was replaced by a file that lacks answers of this study" in text
    assert study.path.read_bytes() == older.read_bytes()
    # One that holds more than the page knows of is gone on with.
    with Study.open(away) as second:
        second.tell(2, "left", judge="Ada")
    away.replace(study.path)
    status, reply = client.post("answer", number=2, answer="left")
    assert (status, reply["answered"]) == (200, 2)
    assert client.post("answer", number=3, answer="tie")[0] == 200
    assert_replays(study)


def test_an_answer_is_counted_when_it_is_stored(study, page, monkeypatch):
    client = page(study)
    number = client.question()["number"]
    stored = EventLog._check_file
    calls = []

    def full(self):
        calls.append(1)
        if len(calls) % 2 == 0:  # Just before the answer would be on the disk.
            raise OutputWriteError("the disk is full")
        stored(self)

    with monkeypatch.context() as patched:
        patched.setattr(EventLog, "_check_file", full)
        status, text = client.post("answer", number=number, answer="left")
    assert (status, text) == (503, "the disk is full")
    status, reply = client.post("question")
    assert (reply["answered"], reply["last"]) == (0, None)
    assert reply["question"]["number"] == number
    status, reply = client.post("answer", number=number, answer="left")
    assert (status, reply["answered"], reply["last"]) == (200, 1, number)


def test_what_a_judge_answered_is_looked_up_once(study, page, monkeypatch):
    """Opening a long study takes as long as going through all of its questions."""
    looked = []
    plain = Study.answers_of

    def answers_of(self, judge):
        looked.append(judge)
        return plain(self, judge)

    monkeypatch.setattr(Study, "answers_of", answers_of)
    client = page(study)
    for _ in range(3):
        number = client.question()["number"]
        client.post("answer", number=number, answer="left")
    client.judge = "Bob"
    client.question()
    assert looked == ["Ada", "Bob"]


def test_a_policy_that_cannot_ask_is_said(study, page, monkeypatch):
    client = page(study)

    def gone(*_, **__):
        raise StudyError("policy", "needs mine.py, which is no longer there", "mine:P")

    monkeypatch.setattr(Study, "ask", gone)
    status, text = client.post("question")
    assert status == 503 and "needs mine.py" in text


@pytest.mark.parametrize("kind", ["texts", "images"])
def test_judges_see_no_names_while_the_folder_of_files_is_away(
    make, page, tmp_path, kind
):
    folder, away = tmp_path / "files", tmp_path / "elsewhere"
    folder.mkdir()
    names = ["a.svg", "b.svg", "c.svg"]
    for name in names:
        (folder / name).write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    study = make(arms=names)
    client = page(study, **{kind: folder})
    first = client.question()
    folder.rename(away)
    for body in ({}, {"number": 1, "answer": "left"}):
        reply = client.post("answer" if body else "question", **body)
        assert reply == (503, f"{kind} is no longer there")
    if kind == "images":
        assert client.get(first["cards"][0]["image"])[0] == 404
    away.rename(folder)
    status, result = client.post("answer", number=1, answer="left")
    assert (status, result["answered"]) == (200, 1)
    assert all(card["name"] is None for card in result["question"]["cards"])
    assert [event.kind for event in study.events()].count("answered") == 1


def test_a_locked_file_is_said_by_whoever_reads_it(study):
    (ticket,) = study.ask()
    study.wait_at_most(0.05)
    with locked(study.path, "EXCLUSIVE"):
        for does in (study.status, study.ask):
            with pytest.raises(StudyFileError, match="is locked: another.*; end it"):
                does()
        with pytest.raises(OutputWriteError, match="another program holds the file"):
            study.tell(ticket, "left")
    assert study.tell(ticket, "left")

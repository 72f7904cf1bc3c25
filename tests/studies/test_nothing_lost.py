"""Acknowledged votes are kept: kills, crowds, full disks, copies, damaged files."""

import contextlib
import resource
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from bayesduel.errors import OutputWriteError, StudyError
from bayesduel.studies import Study
from bayesduel.studies.disk import FORMAT
from bayesduel.studies.events import Event
from bayesduel.studies.state import StudyState
from tests.studies.helpers import DRINKS, append, assert_replays, refused

ROOT = Path(__file__).resolve().parents[2]


def said_by_voters(*arguments):
    program = [sys.executable, "-m", "tests.studies.hard_voters", *map(str, arguments)]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize(
    "task",
    [("kill", 1, 8), ("crowd", 3, 20, 1),
     pytest.param(("kill", 0, 100), marks=pytest.mark.slow),
     pytest.param(("crowd", 4, 50, 6), marks=pytest.mark.slow)],
    ids=str,
)  # fmt: skip
def test_killed_voters_and_crowds_lose_nothing_that_was_acknowledged(study, task):
    name, *numbers = task
    assert said_by_voters(name, study.path, *numbers) == ""


@pytest.mark.slow
def test_killed_voters_of_a_policy_lose_nothing(tmp_path):
    """Nor does D-TS+, with questions out, ask anything else for it.

    A voter takes two seconds to start. `python -m tests.studies.hard_voters kill_policy
    FILE SEED 1000` on a new study kills as often as one likes.
    """
    path = tmp_path / "drinks.study"
    Study.create(path, DRINKS, "d-ts+", seed=0).close()
    assert said_by_voters("kill_policy", path, 0, 15) == ""


def test_threads_share_one_study(study):
    def vote():
        for _ in range(5):
            (ticket,) = study.ask()
            study.tell(ticket, "left")

    voters = [threading.Thread(target=vote) for _ in range(6)]
    for voter in voters:
        voter.start()
    for voter in voters:
        voter.join()
    assert study.comparisons().num_votes == 30
    assert_replays(study)


@contextlib.contextmanager
def room_for(size):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_full_disk_stores_nothing_and_loses_nothing(study):
    tickets = study.ask(3)
    study.tell(tickets[0], "left")
    before = len(study.events())
    with room_for(study.path.stat().st_size):
        with pytest.raises(OutputWriteError, match="nothing of this was stored.*room"):
            study.ask(100, context="x" * 10**4)
        with pytest.raises(OutputWriteError):
            for ticket in tickets[1:]:
                study.tell(ticket, "right")
    assert before <= len(study.events()) <= before + 1
    assert_replays(study)
    for ticket in tickets[1:]:
        study.tell(ticket, "right")
    assert (study.comparisons().num_votes, len(study.ask(2))) == (3, 2)
    assert_replays(study)


@pytest.mark.parametrize("name", ["copy", "export"])
def test_no_room_for_a_copy_leaves_no_file(study, tmp_path, name):
    study.ask(20, context="x" * 10**3)
    with room_for(10**4), pytest.raises(OutputWriteError):
        getattr(study, name)(tmp_path / "other")
    assert [file.name for file in tmp_path.iterdir()] == [study.path.name]
    getattr(study, name)(tmp_path / "other")


def test_no_room_for_a_study_leaves_no_file(tmp_path):
    with room_for(100), pytest.raises(OutputWriteError):
        Study.create(tmp_path / "drinks.study", DRINKS, "balanced")
    assert list(tmp_path.iterdir()) == []


def test_a_copy_taken_meanwhile_is_a_study(study, tmp_path):
    ends = threading.Event()

    def vote():
        while not ends.is_set():
            (ticket,) = study.ask()
            study.tell(ticket, "left")

    voter = threading.Thread(target=vote)
    voter.start()
    try:
        # Another process would do the same: through a connection of its own.
        with Study.open(study.path) as second:
            for number in range(3):
                second.copy(tmp_path / f"copy-{number}.study")
    finally:
        ends.set()
        voter.join()
    whole = study.events()
    for number in range(3):
        with Study.open(tmp_path / f"copy-{number}.study") as copy:
            events = copy.events()
            assert events == whole[: len(events)]
            (ticket,) = copy.ask()
            assert copy.tell(ticket, "right")
    refused("path must be a new file", study.copy, tmp_path / "copy-0.study")


def test_events_are_never_changed(study):
    with closing(sqlite3.connect(study.path)) as connection:
        for statement in ("UPDATE events SET time = 0", "DELETE FROM events"):
            with pytest.raises(sqlite3.IntegrityError, match="never"):
                connection.execute(statement)


def test_what_is_no_study_is_not_opened(tmp_path, study):
    path = tmp_path / "other"
    refused("is no file", Study.open, path)
    path.write_text("left,right\n" * 1000)
    refused("cannot be read as a study", Study.open, path)
    path.write_bytes(b"")
    refused("must be the file of a study", Study.open, path)
    refused("must be a new file", Study.create, study.path, DRINKS, "balanced")
    study.close()
    refused("open the study again", study.ask)


def test_a_newer_format_is_said(study):
    with closing(sqlite3.connect(study.path)) as connection:
        connection.execute(f"PRAGMA user_version={FORMAT + 1}")
    words = f"is of format {FORMAT + 1}, and this version reads"
    refused(words, Study.open, study.path)


def test_events_of_the_future_and_gaps_are_said(study):
    study.ask()
    with study._log.writing():
        study._log.append(Event(3, 0.0, "sung", {}), study._current().digest)
    refused("event 3 is of the unknown kind 'sung'", Study.open, study.path)
    with closing(sqlite3.connect(study.path)) as connection, connection:
        connection.execute("DROP TRIGGER events_are_not_changed")
        connection.execute("UPDATE events SET number = 9 WHERE number = 3")
    refused("event 3 of the study is missing", Study.open, study.path)


def test_what_is_done_at_once_is_stored_together_or_not(study):
    (first,) = study.ask(judge="Ada")
    with pytest.raises(KeyError), study.at_once():
        study.tell(first, "left")
        study.ask(judge="Ada")
        raise KeyError
    assert [event.kind for event in study.events()] == ["created", "asked"]
    with study.at_once():
        refused("name must be an arm", study.retire_arm, "beer")
        study.tell(first, "left")
        with pytest.raises(StudyError, match="unknown kind"), study._writing():
            append(study, "sung", {})
        study.ask(judge="Ada")
    kinds = [event.kind for event in study.events()]
    assert kinds == ["created", "asked", "answered", "asked"]
    assert_replays(study)


class InterruptedOnce:
    """A connection of SQLite: Ctrl-C comes while one statement is carried out."""

    def __init__(self, connection, statement):
        self._connection, self._statement = connection, statement

    def __getattr__(self, name):
        return getattr(self._connection, name)

    def execute(self, text, *rest):
        result = self._connection.execute(text, *rest)
        if text == self._statement:
            self._statement = None
            raise KeyboardInterrupt
        return result


@pytest.mark.parametrize("statement", ["BEGIN IMMEDIATE", "BEGIN", "COMMIT"])
def test_after_an_interrupt_votes_are_stored_and_nobody_is_locked_out(study, statement):
    """As where one waits for others to write: it has begun when Ctrl-C is raised."""
    first, second = study.ask(2)
    study._log._connection = InterruptedOnce(study._log._connection, statement)
    with pytest.raises(KeyboardInterrupt):
        study.tell(first, "left")
        study.status()
    assert study.tell(second, "right")
    with Study.open(study.path) as another:
        assert another.tell(second, "right") is False
        another.ask()


@pytest.mark.parametrize("name", ["writing", "_writing"])
def test_an_interrupt_between_two_blocks_leaves_none_open(study, monkeypatch, name):
    first, second = study.ask(2)
    plain = contextlib._GeneratorContextManager.__enter__

    def entered(self):
        result = plain(self)
        if self.gen.__name__ == name:
            monkeypatch.undo()
            raise KeyboardInterrupt
        return result

    monkeypatch.setattr(contextlib._GeneratorContextManager, "__enter__", entered)
    with pytest.raises(KeyboardInterrupt) as stored:
        study.tell(first, "left")
    assert stored.tb is not None  # As a notebook keeps the last traceback.
    assert study.tell(second, "right")
    with Study.open(study.path) as another:
        assert another.tell(second, "right") is False
        another.ask()


@pytest.mark.parametrize("does", ["tell", "status"])
def test_an_interrupt_in_the_middle_of_an_event_leaves_no_half_of_it(
    study, monkeypatch, does
):
    (ticket,) = study.ask()

    def interrupted(*_):
        monkeypatch.undo()
        raise KeyboardInterrupt

    with Study.open(study.path) as second:
        if does == "status":  # It learns from the file what another one was told.
            second.tell(ticket, "left")
        monkeypatch.setattr(StudyState, "_count", interrupted)
        with pytest.raises(KeyboardInterrupt):
            study.tell(ticket, "left") if does == "tell" else study.status()
    assert study.tell(ticket, "left") is (does == "tell")
    assert study.comparisons().num_votes == 1
    assert_replays(study)


KILLED = """
import os, signal, sys
from bayesduel.studies import Study
from bayesduel.studies.state import StudyState
study = Study.open(sys.argv[1])
with study.at_once():
    study.tell(1, "left")
    study.merge_arms("tea", "milk")
    study.ask(50, context="x" * 90_000)  # More than SQLite keeps in memory.
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_kill_in_the_middle_of_a_block_stores_nothing_of_it(study):
    study.ask(3)
    before = study.events()
    program = [sys.executable, "-c", KILLED, str(study.path)]
    done = subprocess.run(program, capture_output=True, text=True)
    assert done.returncode == -9, done.stderr
    with Study.open(study.path) as second:
        assert second.events() == before
        second.merge_arms("tea", "milk")
        assert second.tell(1, "left")
    assert_replays(study)

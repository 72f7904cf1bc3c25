"""Snapshots of long studies are kept, and used only if they fit the events."""

import pickle
import random
import shutil
import subprocess
import sys

import pytest

from bayesduel.studies import Judging, Study, snapshots
from bayesduel.studies.state import StudyState
from tests.studies.helpers import DRINKS, refused, same
from tests.studies.test_contents import vote


@pytest.fixture
def snapshot_folder(monkeypatch, tmp_path):
    """Keep what studies of ten events add up to, in a cache of this test."""
    monkeypatch.setattr(snapshots, "EVERY", 10)
    monkeypatch.setattr(snapshots, "EVERY_TOLD", 10)
    monkeypatch.setenv("BAYESDUEL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "studies"


def replayed(study):
    first, *others = study.events()
    state = StudyState.begin(first)
    for event in others:
        state.apply(event)
    return state


def without_a_replay(monkeypatch):
    """Let nobody apply an event."""

    def refuse(self, event):
        raise AssertionError("an event was replayed")

    monkeypatch.setattr(StudyState, "apply", refuse)


def test_a_state_is_the_same_after_it_was_pickled(make):
    terms = Judging(both_orders="nothing")
    study = make(arms=DRINKS, judging=terms, blocked=[DRINKS[:2]])
    study.add_gold("good", "bad")
    study.set_judge("judge 1", limit=9, arms=DRINKS[1:])
    vote(study, random.Random(5), 30)
    study.import_votes(study.comparisons())
    study.add_arm("mate", share=0.3)
    study.merge_arms("tea", "milk")
    vote(study, random.Random(6), 20)
    state = study._current()
    reply = pickle.loads(pickle.dumps(state))
    assert same(state, reply)
    # Questions are the same objects wherever they stand.
    assert all(reply.questions[item.number] is item for item in reply.open.values())
    assert all(reply.questions[item.number] is item for item in reply.waiting.values())
    for record in reply.judges.values():
        assert all(reply.questions[n] is item for n, item in record.halves.items())
    (ticket,) = study.open_tickets()[:1]
    study.tell(ticket, "left")
    reply.apply(study.events()[-1])
    assert same(study._current(), reply)


def test_a_long_study_opens_without_a_replay(snapshot_folder, tmp_path, monkeypatch):
    path = tmp_path / "drinks.study"
    with Study.create(path, DRINKS, "balanced") as study:
        vote(study, random.Random(1), 20)
    (file,) = snapshot_folder.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    with monkeypatch.context() as patch:
        without_a_replay(patch)
        Study.open(path).close()
    with Study.open(path) as study:
        assert same(study._current(), replayed(study))
        vote(study, random.Random(2), 3)
        assert same(study._current(), replayed(study))


def test_a_policy_goes_on_as_if_it_had_gone_through_all(snapshot_folder, tmp_path):
    path, again = tmp_path / "drinks.study", tmp_path / "again.study"
    with Study.create(path, DRINKS, "d-ts+", seed=3) as study:
        vote(study, random.Random(1), 30)
    assert {item.suffix for item in snapshot_folder.iterdir()} == {".state", ".policy"}
    shutil.copy(path, again)
    tickets = []
    for item in (path, again):
        with Study.open(item) as study:
            tickets.append(study.ask(20))
            recalled = study._rule._recalled
        assert (recalled > 0) == (item == path)
    assert tickets[0] == tickets[1]


def damaged(path, snapshot_folder):
    """Write something else into the middle of what is kept."""
    (file,) = snapshot_folder.glob("*.state")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def of_another_program(path, snapshot_folder):
    (file,) = snapshot_folder.glob("*.state")
    head, _, rest = file.read_bytes().partition(b"\n")
    file.write_bytes(head.replace(b'"program": "', b'"program": "f') + b"\n" + rest)


def writable_by_others(path, snapshot_folder):
    (file,) = snapshot_folder.glob("*.state")
    file.chmod(0o666)


def of_another_study(path, snapshot_folder):
    path.unlink()
    with Study.create(path, DRINKS, "balanced", seed=9) as study:
        vote(study, random.Random(8), 20)
        study._saved = 10**9  # It keeps nothing of its own.


@pytest.mark.parametrize(
    "spoil", [damaged, of_another_program, writable_by_others, of_another_study]
)
def test_what_does_not_fit_is_not_used(snapshot_folder, tmp_path, monkeypatch, spoil):
    path = tmp_path / "drinks.study"
    with Study.create(path, DRINKS, "balanced") as study:
        vote(study, random.Random(1), 20)
    spoil(path, snapshot_folder)
    with monkeypatch.context() as patch:
        without_a_replay(patch)
        with pytest.raises(AssertionError, match="replayed"):
            Study.open(path)
    with Study.open(path) as study:
        assert same(study._current(), replayed(study))


def test_a_changed_vote_is_found_behind_a_snapshot(snapshot_folder, tmp_path):
    path = tmp_path / "drinks.study"
    with Study.create(path, DRINKS, "balanced") as study:
        for ticket in study.ask(20):
            study.tell(ticket, "left")
    data = path.read_bytes()
    word = b'{"question":7,"answer":"left"}'
    assert data.count(word) == 1
    path.write_bytes(data.replace(word, word.replace(b"left", b"skip")))
    refused("its checksum is another one", Study.open, path)


@pytest.mark.parametrize("value", ["off", "/dev/null/none"])
def test_without_a_cache_nothing_is_kept(snapshot_folder, tmp_path, monkeypatch, value):
    monkeypatch.setenv("BAYESDUEL_CACHE", value)
    with Study.create(tmp_path / "drinks.study", DRINKS, "balanced") as study:
        vote(study, random.Random(1), 20)
    assert not snapshot_folder.exists()
    Study.open(tmp_path / "drinks.study").close()


KILLED = """
import os, signal, sys
from bayesduel.files import folders
from bayesduel.studies import Study
from bayesduel.studies import snapshots
snapshots.EVERY = snapshots.EVERY_TOLD = 10
replace = os.replace
def kill(self, other):
    os.kill(os.getpid(), signal.SIGKILL)
folders.Path.replace = kill
study = Study.open(sys.argv[1])
for ticket in study.ask(12):
    study.tell(ticket, "left")
    print(ticket.number, flush=True)
study.close()
"""


def test_a_kill_while_a_snapshot_is_written_loses_nothing(snapshot_folder, tmp_path):
    path = tmp_path / "drinks.study"
    with Study.create(path, DRINKS, "balanced") as study:
        vote(study, random.Random(1), 20)
        before = study._current().num_votes
    program = [sys.executable, "-c", KILLED, str(path)]
    done = subprocess.run(program, capture_output=True, text=True)
    assert done.returncode == -9, done.stderr
    assert len(done.stdout.split()) == 12
    with Study.open(path) as study:
        assert study._current().num_votes >= before + 11
        assert same(study._current(), replayed(study))

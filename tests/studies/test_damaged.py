"""Files that were damaged, replaced, cut, of an older version, or are read-only."""

import json
import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest

from bayesduel.errors import BayesduelError, OutputWriteError, StudyError
from bayesduel.studies import Study, check_study, disk, verify_study
from bayesduel.studies.disk import FORMAT
from tests.command_line import invoke
from tests.studies.helpers import DRINKS, append, assert_replays, refused
from tests.studies.test_nothing_lost import KILLED

FLIPS = 200
SIXTH = b'{"question": 6, "answer": "right"}'


@pytest.fixture
def path(tmp_path):
    """Return a closed study of eight votes, with every kind of event but an audit."""
    path = tmp_path / "drinks.study"
    with Study.create(path, DRINKS, "balanced") as study:
        for word in ("left", "right", "tie", "skip", "left", "right", "left", "left"):
            (ticket,) = study.ask(judge="Ada")
            study.tell(ticket, word)
        study.undo(1)
        study.withdraw(2)
        study.add_arm("cocoa")
        study.retire_arm("milk")
    return path


@pytest.fixture
def old(path, tmp_path):
    """Return the same study as the first format had it, without checksums."""
    with Study.open(path) as study:
        events = study.events()
    old = tmp_path / "old.study"
    with closing(sqlite3.connect(old, isolation_level=None)) as made:
        made.execute("PRAGMA journal_mode=WAL")
        made.executescript(
            """
            PRAGMA application_id=0x62644475; PRAGMA user_version=1;
            CREATE TABLE events (number INTEGER PRIMARY KEY, time REAL NOT NULL,
                                 kind TEXT NOT NULL, body TEXT NOT NULL);
            CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
            BEGIN SELECT RAISE(ABORT, 'never changed'); END;
            CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events
            BEGIN SELECT RAISE(ABORT, 'never deleted'); END;
            """
        )
        rows = [(event.number, event.time, event.kind, json.dumps(event.body))
                for event in events]  # fmt: skip
        made.executemany("INSERT INTO events VALUES (?, ?, ?, ?)", rows)
    return old


def changed(path, find, put):
    """Put other bytes in the place of some, once."""
    data = path.read_bytes()
    assert data.count(find) == 1
    path.write_bytes(data.replace(find, put))


def test_no_flipped_bit_gives_another_vote(path, tmp_path):
    rng = random.Random(1)
    whole, flipped = path.read_bytes(), tmp_path / "flipped.study"
    with Study.open(path) as study:
        events = study.events()
    number = 0
    for _ in range(FLIPS):
        index = rng.randrange(8 * len(whole))
        data = bytearray(whole)
        data[index // 8] ^= 1 << index % 8
        flipped.write_bytes(data)
        try:
            with Study.open(flipped) as study:
                assert study.events() == events, f"bit {index}"
        except BayesduelError as error:
            number += 1
            assert "\n" not in str(error)
    assert number > FLIPS / 20


def test_nothing_sound_is_said_with_the_reason_and_the_file(path, tmp_path):
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    why = f"{path}.* cannot be read as a study: file is not a database"
    refused(why, Study.open, path)
    path.write_bytes(b"left,right\n" * 1000)
    with pytest.raises(StudyError, match="no event is sound.*not a database"):
        check_study(path).save(tmp_path / "saved.study")
    path.write_bytes(b"")
    refused("drinks.study'; remove it, and make it with", Study.open, path)


@pytest.mark.parametrize("lost", [1, 9000])
def test_a_file_that_was_cut_is_refused_in_one_line(path, lost):
    path.write_bytes(path.read_bytes()[:-lost])
    for command in ("status", "check"):
        done = invoke(["study", command, str(path)])
        assert (done.exit_code, len(done.stderr.strip().splitlines())) == (2, 1)


def test_check_says_what_is_sound_and_saves_it(path, tmp_path):
    done = invoke(["study", "check", str(path)])
    assert done.exit_code == 0
    assert "sound: 21 events" in done.stdout
    right = b'{"question":6,"answer":"right"}'
    changed(path, right, right.replace(b"right", b"rigit"))
    saved = tmp_path / "saved.study"
    done = invoke(["study", "check", str(path), "--salvage", str(saved)])
    assert done.exit_code == 2
    assert "sound: 12 events" in done.stdout
    assert "event 13 of the study is broken: its checksum" in done.stderr
    # Later events have checksums of their own, and are listed.
    assert "event 15 with a sound checksum: question 7 was answered left" in done.stdout
    with Study.open(saved) as study:
        assert study.status().votes == 4
        assert study.tell(6, "right")
    assert check_study(saved).fault == ""


@pytest.mark.parametrize(
    ("find", "put", "words"),
    [
        (SIXTH, SIXTH.replace(b"right", b"rigit"),
         "event 13 of the study is broken: its answer is 'rigit'"),
        (SIXTH, SIXTH.replace(b"6", b"7"), "event 13 .* question 7 was not asked"),
        (SIXTH, SIXTH.replace(b"6", b"5"), "event 13 .* question 5 has an answer"),
        (SIXTH, SIXTH.replace(b"answer", b"choice"),
         "event 13 .* has an unknown field 'choice'"),
        (SIXTH, b'["question", 6, "answer", "right"]', "event 13 .* it is no object"),
        (SIXTH, SIXTH.replace(b"}", b" "), "event 13 .* it is no JSON"),
        (b'{"question": 1}', b'{"question": 9}', "question 9 was not asked"),
        (b'{"name": "milk"}', b'{"name": "silk"}', "there is no arm 'silk'"),
        (b'"name": "cocoa"', b'"name": "water"', "arm 'water' is there"),
        (b'"delta": 0.05', b'"delta": 9.05', "event 1 .*delta must be"),
    ],
)  # fmt: skip
def test_events_without_checksums_are_checked_too(old, find, put, words):
    changed(old, find, put)
    refused(words, Study.open, old)


ASKED = {"question": 3, "left": 0, "right": 1, "rule": "", "reason": "", "lease": 9.0}
DUEL = dict.fromkeys(["champion", "exploit", "first", "round", "idle"], 0)
DUEL |= {"second": 3, "votes": 1}


@pytest.mark.parametrize(
    ("kind", "body", "words"),
    [
        ("asked", {"question": 3, "left": 0, "right": 1}, "it has no rule"),
        ("asked", ASKED | {"lease": 10**400}, "its lease is 1000"),
        ("asked", ASKED | {"question": 5}, "question 5 does not follow on 2"),
        ("asked", ASKED | {"right": 0}, "arms [0, 0], and not about 2 different ones"),
        ("asked", ASKED | {"right": 3}, "it asks about arms [0, 3]"),
        ("asked", ASKED | {"twin_of": 2}, "it is not the other order of question 2"),
        ("asked", ASKED | {"replaces": 2}, "question 2, which it replaces, is not"),
        ("asked", ASKED | {"duel": DUEL}, "its duel is of arms 0 and 3"),
        ("asked", ASKED | {"request": 1}, "nothing was asked for in event 1"),
        ("gold asked", {"question": 3, "gold": 7, "lease": 9.0, "swapped": False},
         "there is no gold question 7"),
        ("answered", {"question": 2, "answer": "left"}, "question 2 was withdrawn"),
        ("arm restored", {"name": "silk"}, "there is no arm 'silk'"),
        ("arm renamed", {"name": "silk", "to": "cloth"}, "there is no arm 'silk'"),
        ("arms merged", {"name": "tea", "into": "silk"}, "there is no arm 'silk'"),
        ("imported", {"source": "", "counts": [[0, 1, 2, 0, 0]], "keys": ["a", "b"]},
         "it has 2 keys of 1 rows"),
    ],
)  # fmt: skip
def test_events_that_cannot_follow_are_said_and_what_came_before_is_saved(
    study, tmp_path, kind, body, words
):
    study.retire_arm("water")
    study.ask(2)
    study.withdraw(2)
    before = study.events()
    with suppress(StudyError):  # Its checksum is right: whoever wrote it was wrong.
        append(study, kind, body)
    with pytest.raises(StudyError) as raised:
        Study.open(study.path)
    said = f"{study.path}: event 6 of the study is broken: "
    assert str(raised.value).startswith(said)
    assert words in str(raised.value)
    refused("more>.study: event 6 of the study is broken", verify_study, study.path)
    report = check_study(study.path)
    assert [*report.events] == before and words in report.fault
    report.save(tmp_path / "saved.study")
    with Study.open(tmp_path / "saved.study") as saved:
        assert saved.events() == before


def test_an_old_study_is_chained_when_it_is_written_to(old, path):
    with Study.open(path) as study:
        events, votes = study.events(), study.comparisons().wins
    with Study.open(old) as study, Study.open(old) as second:
        both = zip(study.events(), events, strict=True)
        assert all(event[:4] == other[:4] for event, other in both)
        study.tell(study.ask()[0], "left")
        assert second.comparisons().num_votes == study.comparisons().num_votes
        second.undo(second.events()[-1].body["question"])
        assert (study.comparisons().wins == votes).all()
        assert_replays(study)
    with closing(sqlite3.connect(old)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (FORMAT,)
        with pytest.raises(sqlite3.IntegrityError, match="never"):
            connection.execute("UPDATE events SET time = 0")
    data = old.read_bytes()
    assert SIXTH in data
    old.write_bytes(data.replace(SIXTH, SIXTH.replace(b"right", b"left ")))
    refused("event 13 of the study is broken: its check", Study.open, old)


def test_events_without_checksums_are_found_without_a_header(old):
    with Study.open(old) as study:
        events = study.events()
    old.write_bytes(bytes(100) + old.read_bytes()[100:])
    assert [*check_study(old).events] == events


def test_one_file_holds_what_was_acknowledged(path, tmp_path):
    """Nothing of another process is needed: also while it is open, or was killed."""
    with Study.open(path) as study:
        study.tell(study.ask()[0], "left")
        beside = [file.name for file in tmp_path.iterdir()]
        assert beside == [path.name]
        with Study.open(shutil.copy(path, tmp_path / "copied.study")) as copied:
            assert copied.events() == study.events()


def test_the_log_of_an_old_study_is_taken_in(old, tmp_path):
    with closing(sqlite3.connect(old, isolation_level=None)) as writer:
        row = 22, 0.0, "arm added", '{"name": "beer"}'
        writer.execute("INSERT INTO events VALUES (?, ?, ?, ?)", row)
        killed = tmp_path / "killed.study"
        shutil.copy(old, killed)
        shutil.copy(f"{old}-wal", f"{killed}-wal")
    with Study.open(killed) as study:
        assert "beer" in study.arms
        assert not killed.with_name("killed.study-wal").exists()


def test_the_log_of_another_file_is_no_part_of_a_study(old, path):
    with closing(sqlite3.connect(old, isolation_level=None)) as writer:
        row = 22, 0.0, "arm added", '{"name": "beer"}'
        writer.execute("INSERT INTO events VALUES (?, ?, ?, ?)", row)
        shutil.copy(f"{old}-wal", f"{path}-wal")
    refused("drinks.study-wal lies beside it and belongs", Study.open, path)


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_is_gone_takes_no_votes(path, tmp_path, replaced):
    with Study.open(path) as study:
        tickets = study.ask(2)
        before = shutil.copy(path, tmp_path / "before.study")
        study.tell(tickets[0], "left")
        if replaced:
            os.replace(before, path)
        else:
            path.unlink()
        refused("deleted or replaced while it was open", study.tell, tickets[1], "left")
        study.copy(tmp_path / "rescued.study")
    with Study.open(tmp_path / "rescued.study") as rescued:
        assert len(rescued.events()) == 24


def test_a_file_that_was_written_over_takes_no_votes(path, tmp_path):
    """The file at the path is the same one, but holds a study of before."""
    with Study.open(path) as study:
        study.ask()
        before = path.read_bytes()
        (ticket,) = study.ask()
        with path.open("r+b") as file:
            file.write(before)
        with pytest.raises(BayesduelError):
            study.tell(ticket, "left")


def test_what_may_not_be_written_is_read(path, old, monkeypatch, tmp_path):
    monkeypatch.setattr(disk, "_is_writable", lambda path: False)
    before = sorted(tmp_path.iterdir())
    for file in (path, old):
        with Study.open(file) as study:
            assert study.status().votes == 5
            with pytest.raises(OutputWriteError, match="allow writing"):
                study.ask()
    assert sorted(tmp_path.iterdir()) == before


def test_votes_are_private(path, tmp_path):
    with Study.open(path) as study:
        study.copy(tmp_path / "copy.study")
        study.export(tmp_path / "events.jsonl")
        with pytest.raises(FileExistsError):
            study.export(tmp_path / "events.jsonl")
    for name in ("drinks.study", "copy.study", "events.jsonl"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_questions_are_stored_in_parts(path, monkeypatch):
    """Others get their turn within an `ask` of thousands; a failure keeps the first."""
    with Study.open(path) as study:
        stored = study._next_tickets
        calls = []

        def fail_at_the_third(count, *rest):
            calls.append(count)
            if len(calls) == 3:
                raise OutputWriteError("the disk is full")
            return stored(count, *rest)

        monkeypatch.setattr(study, "_next_tickets", fail_at_the_third)
        tickets = study.ask(250)
        assert calls == [100, 100, 50]
        assert [ticket.number for ticket in tickets] == list(range(9, 209))
        assert study.resting == "the disk is full"
        assert_replays(study)


PAGE = 4096


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A study of 1,321 events on some 70 pages, its file and its history."""
    path, rng = tmp_path_factory.mktemp("original") / "drinks.study", random.Random(1)
    with Study.create(path, DRINKS, "balanced") as study:
        for _ in range(33):
            with study.at_once():
                for ticket in study.ask(20, judge=rng.choice(["Ada", "Bob"])):
                    study.tell(ticket, rng.choice(["left", "right", "tie"]))
        return path.read_bytes(), study.events()


def filled(data, start, end, filling):
    return data[:start] + filling(end - start) + data[end:]


def noise(number):
    return random.Random(number).randbytes(number)


def first_lost(data, damaged, events):
    """Return how many events come before the first one that is on no sound page."""
    pages = [data[at : at + PAGE] for at in range(0, len(data), PAGE)]
    sound = [page for page in pages if page in damaged]
    for index, event in enumerate(events):
        # The checksum of an event stands at the end of its record.
        if not any(event.digest.encode() in page for page in sound):
            return index
    return len(events)


def without_heads(data):
    starts = range(0, len(data), PAGE)
    return b"".join(bytes(8) + data[at + 8 : at + PAGE] for at in starts)


DAMAGES = {
    "cut by a tenth": lambda data: data[: len(data) * 280_000 // 307_200],
    "cut to half": lambda data: data[: len(data) // 2],
    "cut to half of a page": lambda data: data[: 40 * PAGE + PAGE // 2],
    "first page zero": lambda data: filled(data, 0, PAGE, bytes),
    "first page noise": lambda data: filled(data, 0, PAGE, noise),
    "header zero": lambda data: filled(data, 0, 100, bytes),
    "name zero": lambda data: filled(data, 0, 16, bytes),
    "first pages zero": lambda data: filled(data, 0, 3 * PAGE, bytes),
    "zeros in the middle": lambda data: filled(data, 30 * PAGE, 33 * PAGE, bytes),
    "zeros across pages": lambda data: filled(data, 30 * PAGE + 900, 34 * PAGE, bytes),
    "noise in the middle": lambda data: filled(data, 30 * PAGE, 33 * PAGE, noise),
    "heads of pages zero": without_heads,
    "a mark before it": lambda data: b"\xef\xbb\xbf" + data,
    "first bytes lost": lambda data: data[5:],
    "cut and first page zero": lambda data: filled(data[: -9 * PAGE], 0, PAGE, bytes),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_all_events_before_the_first_lost_page_are_saved(original, tmp_path, damage):
    data, events = original
    path, saved = tmp_path / "damaged.study", tmp_path / "saved.study"
    damaged = damage(data)
    path.write_bytes(damaged)
    report = check_study(path)
    many = len(report.events)
    assert many >= first_lost(data, damaged, events)
    assert [*report.events] == events[:many]
    assert many > len(events) * 0.44
    # The table that says so lies on the third page.
    held = f"; the file held {len(events)} events"
    knows = many < len(events) and data[2 * PAGE : 3 * PAGE] in damaged
    assert report.fault and report.fault.endswith(held) == knows
    report.save(saved)
    with Study.open(saved) as study:
        assert study.events() == events[:many]
        assert study.status().votes == report.votes
        assert study.ask()
    assert path.read_bytes() == damaged
    assert {file.name for file in tmp_path.iterdir()} == {path.name, saved.name}


@pytest.mark.parametrize("name", [
    "first page zero", "first page noise", "header zero", "name zero",
    "first pages zero", "heads of pages zero", "a mark before it", "first bytes lost",
])  # fmt: skip
def test_no_event_depends_on_the_pages_that_lead_to_it(original, tmp_path, name):
    data, events = original
    path = tmp_path / "damaged.study"
    path.write_bytes(DAMAGES[name](data))
    assert [*check_study(path).events] == events


def test_what_lies_behind_a_hole_is_said(original, tmp_path):
    data, events = original
    path = tmp_path / "damaged.study"
    path.write_bytes(DAMAGES["zeros in the middle"](data))
    report = check_study(path)
    many = len(report.events)
    assert 0 < len(report.later) < len(events) - many
    # The first event behind the hole is left out: its predecessor is unknown.
    assert [*report.later] == events[-len(report.later) :]
    answers = [item for item in report.later if item.kind == "answered"]
    done = invoke(["study", "check", str(path), "--salvage", str(tmp_path / "new")])
    assert done.exit_code == 2
    assert done.stdout.count("behind the fault") == len(answers)
    assert f"sound: {many} events" in done.stdout
    assert f"saved {tmp_path / 'new'}: {many} events" in done.stdout


def test_events_that_fill_several_pages_are_found(tmp_path):
    path = tmp_path / "long.study"
    with Study.create(path, DRINKS, "balanced") as study:
        for number in range(20):
            (ticket,) = study.ask(context=f"{number} é " * 3000)
            study.tell(ticket, "left")
        events = study.events()
    data = path.read_bytes()
    for damaged in (bytes(PAGE) + data[PAGE:], b"\xef\xbb\xbf" + data, data[5:]):
        path.write_bytes(damaged)
        assert [*check_study(path).events] == events
    path.write_bytes(data[: len(data) // 2])
    report = check_study(path).events
    assert 16 <= len(report) <= 22
    assert [*report] == events[: len(report)]


def test_times_may_be_whole_seconds(make, tmp_path):
    """SQLite keeps such numbers as integers."""
    study = make()
    for seconds in (0, 1, 200, 70_000, 2**40):
        study.clock.now = float(seconds)
        study.tell(study.ask()[0], "left")
    path = tmp_path / "damaged.study"
    path.write_bytes(filled(study.path.read_bytes(), 0, 100, bytes))
    assert [*check_study(path).events] == study.events()


def test_a_fault_in_an_event_is_not_covered_up(original, tmp_path):
    """An answer that was changed in a file without a header stays refused."""
    data, events = original
    path = tmp_path / "damaged.study"
    event = next(event for event in events[900:] if event.body.get("answer") == "left")
    at = data.rindex(event.digest.encode())
    start = data.rindex(b'"left"', 0, at)
    wrong = data[:start] + b'"lift"' + data[start + 6 :]
    path.write_bytes(bytes(100) + wrong[100:])
    report = check_study(path)
    assert [*report.events] == events[: event.number - 1]
    words = f"event {event.number} of the study is broken: its c"
    assert report.fault.startswith(words)
    assert len(report.later) == len(events) - event.number


def test_a_file_that_holds_no_event_is_said(tmp_path):
    path = tmp_path / "other.study"
    for content in (b"", b"left,right\n" * 999, noise(20_000), bytes(20_000)):
        path.write_bytes(content)
        report = check_study(path)
        assert (report.events, report.later) == ((), ())
        assert report.fault


def test_what_a_killed_writer_left_is_taken_back_in_a_copy(study, tmp_path):
    study.ask(3)
    before = study.events()
    program = [sys.executable, "-c", KILLED, str(study.path)]
    assert subprocess.run(program, capture_output=True).returncode == -9
    copied = tmp_path / "copied"
    copied.mkdir()
    for file in study.path.parent.glob(f"{study.path.name}*"):
        shutil.copy(file, copied)
    content = {file: file.read_bytes() for file in copied.iterdir()}
    assert len(content) == 2
    report = check_study(Path(copied, study.path.name))
    assert [*report.events] == before
    assert report.fault == ""
    assert {file: file.read_bytes() for file in copied.iterdir()} == content

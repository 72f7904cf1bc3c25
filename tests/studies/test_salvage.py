"""What is left of a study whose file was cut, overwritten, moved or has holes."""

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bayesduel.studies import Study, check_study
from tests.command_line import invoke
from tests.studies.helpers import DRINKS
from tests.studies.test_nothing_lost import KILLED

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
    """Put other bytes from one place to another."""
    return data[:start] + filling(end - start) + data[end:]


def noise(number):
    return random.Random(number).randbytes(number)


def first_lost(data, damaged, events):
    """Return how many events come before the first one that is on no sound page."""
    pages = [data[at : at + PAGE] for at in range(0, len(data), PAGE)]
    sound = [page for page in pages if page in damaged]
    for place, event in enumerate(events):
        # The checksum of an event stands at the end of its record.
        if not any(event.digest.encode() in page for page in sound):
            return place
    return len(events)


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
    "heads of pages zero": lambda data: b"".join(
        bytes(8) + data[at + 8 : at + PAGE] for at in range(0, len(data), PAGE)
    ),
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
    found = check_study(path)
    many = len(found.events)
    assert many >= first_lost(data, damaged, events)
    assert [*found.events] == events[:many]
    assert many > len(events) * 0.44
    # The table that says so lies on the third page.
    held = f"; the file held {len(events)} events"
    knows = many < len(events) and data[2 * PAGE : 3 * PAGE] in damaged
    assert found.fault and found.fault.endswith(held) == knows
    found.save(saved)
    with Study.open(saved) as study:
        assert study.events() == events[:many]
        assert study.status().votes == found.votes
        assert study.ask()
    assert path.read_bytes() == damaged
    assert {each.name for each in tmp_path.iterdir()} == {path.name, saved.name}


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
    found = check_study(path)
    many = len(found.events)
    assert 0 < len(found.later) < len(events) - many
    # Of the first one behind the hole nobody knows what it follows on.
    assert [*found.later] == events[-len(found.later) :]
    answers = [each for each in found.later if each.kind == "answered"]
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
    found = check_study(path).events
    assert 16 <= len(found) <= 22
    assert [*found] == events[: len(found)]


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
    event = next(each for each in events[900:] if each.body.get("answer") == "left")
    at = data.rindex(event.digest.encode())
    start = data.rindex(b'"left"', 0, at)
    changed = data[:start] + b'"lift"' + data[start + 6 :]
    path.write_bytes(bytes(100) + changed[100:])
    found = check_study(path)
    assert [*found.events] == events[: event.number - 1]
    assert found.fault.startswith(f"event {event.number} of the study is broken: its c")
    assert len(found.later) == len(events) - event.number


def test_a_file_that_holds_no_event_is_said(tmp_path):
    path = tmp_path / "other.study"
    for content in (b"", b"left,right\n" * 999, noise(20_000), bytes(20_000)):
        path.write_bytes(content)
        found = check_study(path)
        assert (found.events, found.later) == ((), ())
        assert found.fault


def test_what_a_killed_writer_left_is_taken_back_in_a_copy(study, tmp_path):
    study.ask(3)
    before = study.events()
    program = [sys.executable, "-c", KILLED, str(study.path)]
    assert subprocess.run(program, capture_output=True).returncode == -9
    copied = tmp_path / "copied"
    copied.mkdir()
    for each in study.path.parent.glob(f"{study.path.name}*"):
        shutil.copy(each, copied)
    content = {each: each.read_bytes() for each in copied.iterdir()}
    assert len(content) == 2
    found = check_study(Path(copied, study.path.name))
    assert [*found.events] == before
    assert found.fault == ""
    assert {each: each.read_bytes() for each in copied.iterdir()} == content

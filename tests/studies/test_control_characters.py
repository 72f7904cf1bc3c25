"""Names that would control a terminal: refused when new, written out where old."""

import io
import json
import re
from functools import partial

import pandas as pd
import pytest

from bayesduel.errors import StudyError
from bayesduel.studies import Items, Study, answer_line, check_study, verify_study
from bayesduel.studies.disk import EventLog
from bayesduel.studies.page.server import JudgePage
from bayesduel.votes import read_comparisons
from tests.command_line import invoke
from tests.studies.helpers import DRINKS, assert_replays
from tests.studies.test_damaged import changed

BAD = {
    "escape": "\x1b[31m", "line end": "\n", "tab": "\t", "return": "\r", "zero": "\0",
    "bell": "\a", "delete": "\x7f", "C1": "\x9b31m", "next line": "\x85",
    "line separator": "\u2028", "override": "\u202e", "embedding": "\u202a",
    "isolate": "\u2066", "half of a pair": "\ud83d",
}  # fmt: skip

CONTROL = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)

RIGHT = [
    "Zoë", "a b", "a\u00a0b", "שלום\u200fx", "👩\u200d🔬", "é", "x=1", "=1", "a\\x1b",
]  # fmt: skip
"""Names that look strange and do no harm."""


def refused(name, character, does):
    """Hold that something is refused with the position, the character, and a remedy."""
    with pytest.raises(StudyError) as caught:
        does()
    said = str(caught.value)
    index = f"has U+{ord(character[0]):04X} at position 2"
    assert said.startswith(f"{name} must be without control characters, and {index}")
    assert said.endswith("leave it out")
    assert CONTROL.search(said) is None and "\n" not in said


@pytest.mark.parametrize("character", BAD.values(), ids=BAD.keys())
def test_new_names_are_refused(study, tmp_path, character):
    bad = f"be{character}a"
    path = tmp_path / "new.study"
    refused("arms[1]", character, lambda: Study.create(path, ["milk", bad], "balanced"))
    assert not path.exists()
    (ticket,) = study.ask(judge="Ada")
    before = study.events()
    for name, does in (
        ("name", lambda: study.add_arm(bad)),
        ("to", lambda: study.rename_arm("tea", bad)),
        ("better", lambda: study.add_gold(bad, "x")),
        ("worse", lambda: study.add_gold("x", bad)),
        ("judge", lambda: study.ask(judge=bad)),
        ("judge", lambda: study.tell(ticket, "left", judge=bad)),
        ("judge", lambda: study.skip(ticket, judge=bad)),
        ("judge", lambda: study.undo(ticket, judge=bad)),
        ("judge", lambda: study.withdraw(ticket, judge=bad)),
        ("judge", lambda: study.set_judge(bad, limit=1)),
        ("by", lambda: Study.open(study.path, by=bad)),
        ("judge", lambda: JudgePage(study, judge=bad)),
        ("judge", lambda: JudgePage(study, judges=["Ada", bad])),
        ("source", lambda: study.import_votes(study.comparisons(), source=bad)),
        ("source", lambda: study.import_study(study.path, source=bad)),
    ):
        refused(name, character, does)
    assert study.events() == before


@pytest.mark.parametrize("character", BAD.values(), ids=BAD.keys())
def test_prompts_may_have_lines_and_nothing_else(study, tmp_path, character):
    bad = f"be{character}a"
    path = tmp_path / "new.study"

    def made():
        with Study.create(path, DRINKS, "balanced", contexts=["one", bad]) as made:
            return made.ask()[0]

    if character in "\n\t":
        made()
        study.ask(context={"a prompt": [bad]})
        return
    refused("contexts[1]", character, made)
    for context in (bad, [bad], {"deep": {"deeper": [1, bad]}}, {bad: 1}):
        refused("context", character, partial(study.ask, context=context))
    assert len(study.events()) == 1


def test_items_name_the_row(tmp_path):
    path = tmp_path / "items.jsonl"
    rows = [
        {"arm": "a", "context": "one\ntwo", "text": "x\x1b[2J"},
        {"arm": "b", "context": "one\ntwo", "text": "y"},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert Items(path).contexts == ("one\ntwo",)
    for name in ("arm", "context"):
        row = {"arm": "a", "context": "two", "text": "z"} | {name: "be\x1ba"}
        path.write_text("".join(json.dumps(item) + "\n" for item in (*rows, row)))
        refused("items[2]", "\x1b", lambda: Items(path))


def test_names_that_do_no_harm_are_taken(tmp_path):
    with Study.create(tmp_path / "new.study", RIGHT, "balanced") as study:
        assert study.arms == tuple(RIGHT)
        for name in RIGHT:
            for ticket in study.ask(judge=name):
                study.tell(ticket, "left", judge=name)
        assert_replays(study)


def test_whoever_sends_a_name_to_the_page_is_told(study, page):
    client = page(study)
    for character in BAD.values():
        client.judge = f"be{character}a"
        status, text = client.post("question")
        assert status == 400
        assert "must be without control characters" in text
    assert len(study.events()) == 1


def test_programs_and_commands_are_told(study):
    said = json.loads(answer_line(study, '{"do": "ask", "judge": "be\\u001ba"}'))
    assert "judge must be without control characters" in said["error"]
    for command, *others in (
        ["ask", "--judge", "be\x1ba"], ["add-arm", "be\x1ba"],
        ["gold", "be\x1ba", "x"], ["retire-arm", "tea", "--by", "be\x1ba"],
    ):  # fmt: skip
        done = invoke(["study", command, str(study.path), *others])
        assert done.exit_code == 2
        assert "control characters, and has U+001B at position 2" in done.stderr
        assert CONTROL.search(done.stderr) is None
    assert len(study.events()) == 1


OLD = {
    "tea": "be\x1b[31ma", "coffee": "cof\nfee", "milk": "\u202emilk", "water": "w\x9bx",
    "Ada": "Ada\x1b]0;owned\a", "Bob": "Bob\r\n", "prompt": "two\nlines\x1b[2J",
    "a list": "a\x7flist", "a gold": "go\x85ld",
}  # fmt: skip
"""Names that an older version accepted, by their names in the test."""


@pytest.fixture
def old(tmp_path):
    """A study of an older version whose names hold control characters."""
    votes = tmp_path / "votes.csv"
    votes.write_text("left,right,winner\ntea,milk,left\n" * 1 + "milk,water,left\n")
    path, pool = tmp_path / "clean.study", ["prompt", "other"]
    with Study.create(path, DRINKS, "balanced", contexts=pool) as clean:
        clean.add_gold("a gold", "water")
        clean.set_judge("Ada", limit=40)
        for judge in ("Ada", "Bob") * 12:
            (ticket,) = clean.ask(judge=judge)
            clean.tell(ticket, "left" if ticket.left < ticket.right else "right",
                       judge=judge)  # fmt: skip
        clean.ask(judge="Ada")
        clean.import_votes(votes, source="a list")
        clean.add_arm("cocoa")
        clean.retire_arm("water")
        events = clean.events()

    def dirty(value):
        if isinstance(value, dict):
            return {dirty(name): dirty(item) for name, item in value.items()}
        if isinstance(value, list):
            return [dirty(item) for item in value]
        return OLD.get(value, value) if isinstance(value, str) else value

    path = tmp_path / "old.study"
    log = EventLog.create(path, events[0].time, dirty(events[0].body))
    with log.writing():
        digest = log.read(0)[0].digest
        for event in events[1:]:
            event = event._replace(body=dirty(event.body))
            digest = log.append(event, digest).digest
    log.close()
    with Study.open(path) as study:
        assert any("\x1b" in str(event.body.get("judge")) for event in study.events())
    return path


COMMANDS = [
    ["status"], ["status", "--contexts", "--full"], ["status", "--json"],
    ["status", "--contexts", "--json"], ["export"], ["export", "--votes"],
    ["export", "--judges"], ["check"], ["verify"], ["ask"], ["ask", "--json"],
    ["ask", "--judge", "Cyd"], ["retire-arm", "no such"], ["tell", "99", "left"],
    ["rename-arm", "no such", "x"], ["import", "VOTES"], ["undo-import", "1"],
    ["judge", "Ada", "--arms", "tea,no such"],
]  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS, ids=map(" ".join, COMMANDS))
def test_old_names_are_written_out_wherever_they_are_printed(old, words):
    command, *others = words
    others = [str(old.with_name("votes.csv")) if second == "VOTES" else second
              for second in others]  # fmt: skip
    done = invoke(["study", command, str(old), *others], env={"COLUMNS": "240"})
    assert done.exit_code in (0, 2), done.stderr
    for text in (done.stdout, done.stderr):
        assert CONTROL.search(text.replace("\r\n", "\n")) is None
    if done.exit_code == 2:
        assert len(done.stderr.strip().splitlines()) == 1
    elif command in ("status", "ask") and "--json" not in words:
        rows = [line for line in done.stdout.splitlines() if "cof\\nfee" in line]
        assert rows and all(len(row.split()) > 3 for row in rows)


def test_reports_and_figures_write_them_out(old, drawn, tmp_path):
    with Study.open(old) as study:
        page = study.report()
        status = study.status()
    assert CONTROL.search(page) is None
    assert "be\\u001b[31ma" in page and "Ada\\u001b]0;owned\\u0007" in page
    assert status.retired == ("w\\u009bx",)
    assert CONTROL.search(str(status)) is None
    assert CONTROL.search(json.dumps(status.as_dict(), ensure_ascii=False)) is None


def test_old_studies_are_sound_and_go_on(old, tmp_path):
    assert check_study(old).fault == ""
    assert verify_study(old).foreign == ()
    with Study.open(old) as study:
        digests = [event.digest for event in study.events()]
        study.rename_arm("be\\u001b[31ma", "tea")
        study.restore_arm("w\\u009bx")
        study.set_judge("Bob\\r\\n", limit=30)
        for ticket in study.ask(3, judge="Cyd"):
            study.tell(ticket, "left", judge="Cyd")
        assert [event.digest for event in study.events()][: len(digests)] == digests
        assert "tea" in study.arms
        assert_replays(study)
        # As a file and as an export it is the same study: each vote counts once.
        study.export(tmp_path / "events.jsonl")
        votes = study.status().votes
    arms = ["tea", "cof\\nfee", "\\u202emilk", "w\\u009bx", "cocoa"]
    with Study.create(tmp_path / "other.study", arms, "balanced") as second:
        assert second.import_study(old.with_name("old.study"))[0] >= votes
        assert second.import_study(tmp_path / "events.jsonl")[0] == 0


def test_an_answer_behind_a_fault_is_written_out(study):
    (ticket,) = study.ask()
    study.tell(ticket, "left")
    (ticket,) = study.ask()
    with study._log.writing():
        body = {"question": 2, "answer": "\x1b[2Jleft"}
        event = study.events()[-1]._replace(number=5, kind="answered", body=body)
        study._log.append(event, study._current().digest)
    study.close()
    left = b'{"question":1,"answer":"left"}'
    changed(study.path, left, left.replace(b"left", b"lift"))
    done = invoke(["study", "check", str(study.path)])
    assert "question 2 was answered \\u001b[2Jleft" in done.stdout
    assert CONTROL.search(done.stdout + done.stderr) is None


FORMULAS = ['=HYPERLINK("http://x","y")', "+1+1", "-1+1", "@SUM(A1)", "＝1+1",
            "'=1", "-3", "+5", "-", "a=1", "'tis"]  # fmt: skip


def test_a_table_of_votes_holds_no_formulas_and_is_read_back(tmp_path):
    path, table = tmp_path / "drinks.study", tmp_path / "votes.csv"
    contexts = ["=cmd", "\t=x", "plain", "-3"]
    with Study.create(path, FORMULAS, "balanced", contexts=contexts) as study:
        assert "'=1" not in study.arms and "=1" in study.arms
        for ticket in study.ask(60, judge="=Ada()"):
            study.tell(ticket, "left" if ticket.left < ticket.right else "right",
                       judge="=Ada()")  # fmt: skip
        arms, votes = study.arms, study.comparisons()
    done = invoke(["study", "export", str(path), "--votes", "--out", str(table)])
    assert done.exit_code == 0
    assert "have a ' before them" in done.stderr
    shown = invoke(["study", "export", str(path), "--votes"])
    assert shown.stdout == table.read_text()
    assert "have a ' before them" in shown.stderr
    frame = pd.read_csv(io.StringIO(shown.stdout), dtype=str)
    cells = set(frame.to_numpy().ravel())
    for cell in cells:
        if isinstance(cell, str) and re.match("[=+@＝\t-]", cell):
            assert cell in ("-3", "+5")
    assert {"'=cmd", "'=Ada()", "'-1+1", "'-", "'\t=x", "a=1", "'tis"} <= cells
    # Whoever reads it gets the same arms, with the same votes.
    read = read_comparisons(table, winner="answer")
    assert sorted(read.arm_names) == sorted(arms)
    again = tmp_path / "again.study"
    with Study.create(again, arms, "balanced") as study:
        study.import_votes(table, winner="answer")
        assert (study.comparisons().wins == votes.wins).all()
    done = invoke(["study", "import", str(path), str(table), "--winner", "answer"])
    assert done.exit_code == 0
    with Study.open(path) as study:
        assert (study.comparisons().wins == 2 * votes.wins).all()


def test_a_table_without_formulas_says_nothing(study, tmp_path):
    study.tell(study.ask()[0], "left")
    done = invoke(["study", "export", str(study.path), "--votes"])
    assert done.stderr == ""
    assert "'" not in done.stdout.replace("'shown'", "")

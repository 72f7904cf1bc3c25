"""``bayesduel study``: a whole study at the command line."""

import json
import os
import re
import signal
from functools import partial
from unittest import mock

import pytest

from bayesduel.studies import Judging, Spending, Study

ARMS = ["tea", "coffee", "<b>milk</b>"]


@pytest.fixture
def run(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    return partial(run, "study")


@pytest.fixture
def file(tmp_path, run):
    path = tmp_path / "drinks.study"
    run("new", path, "--arms", ",".join(ARMS), "-p", "balanced", "--seed", 1)
    return path


def asked_tickets(run, file, *options):
    return json.loads(run("ask", file, "--json", *options).stdout)


def test_a_study_from_beginning_to_end(run, file, tmp_path):
    (ticket,) = asked_tickets(run, file, "--judge", "Ada", "--context", '{"prompt": 3}')
    assert ticket["context"] == {"prompt": 3}
    assert {ticket["left"], ticket["right"]} < set(ARMS)
    result = run("ask", file)
    assert re.search(r"2 +\S+ +\S+ +no pair has fewer", result.stdout)
    assert run("tell", file, 1, "left").stderr == "stored\n"
    assert run("tell", file, 1, "left").stderr == "this was stored before\n"
    result = run("tell", file, 1, "right", code=2)
    assert "error: ANSWER: must be 'left'" in result.stderr
    assert run("undo", file, 1).stderr == "open again\n"
    assert run("tell", file, 1, "tie", "-q").stderr == ""
    assert run("withdraw", file, 2).stderr == "withdrawn\n"
    assert run("add-arm", file, "cocoa").stderr == "4 arms\n"
    assert run("retire-arm", file, "cocoa").stderr == "3 arms\n"
    votes, rows = tmp_path / "old.csv", "tea,coffee,left\n" * 8
    votes.write_text(f"left,right,winner\n{rows}tea,{ARMS[2]},left\n")
    assert run("import", file, votes).stderr == "imported 9 votes\n"
    twice = run("import", file, votes, code=2)
    assert "--again counts them twice" in twice.stderr
    record = json.loads(run("status", file, "--json").stdout)
    assert (record["votes"], record["ties"], record["imported"]) == (1, 1, 9)
    assert (record["leader"], record["retired"]) == ("tea", ["cocoa"])
    lines = run("export", file).stdout.splitlines()
    kinds = [json.loads(line)["kind"] for line in lines]
    assert kinds[:4] == ["created", "asked", "asked", "answered"]
    assert json.loads(lines[-1])["body"]["source"] == str(votes)
    run("export", file, "--out", tmp_path / "e.jsonl")
    assert (tmp_path / "e.jsonl").read_text().splitlines() == lines
    run("copy", file, tmp_path / "copy.study")
    assert run("export", tmp_path / "copy.study").stdout.splitlines() == lines


def test_sigterm_as_a_command_ends_is_said_as_any_other(run, file, monkeypatch):
    plain = signal.signal
    before = plain(signal.SIGTERM, signal.SIG_DFL)

    def restore(number, handler):
        if (number, handler) == (signal.SIGTERM, signal.SIG_DFL):
            os.kill(os.getpid(), number)
        return plain(number, handler)

    monkeypatch.setattr(signal, "signal", restore)
    try:
        result = run("export", file, code=128 + signal.SIGTERM)
    finally:
        plain(signal.SIGTERM, before)
    assert result.stderr == "ended by SIGTERM\n"


def test_judges_are_checked_and_paid(run, tmp_path):
    path, options = tmp_path / "drinks.study", (
        "--both-orders nothing --gold-share 0.5 --gold-least 2 --cost 3 --price 0.1 "
        "--arm-price tea=0.05 --stop-when judges --budget 50 --policy balanced"
    )  # fmt: skip
    run("new", path, "--arms", "tea,coffee", *options.split())
    with Study.open(path) as study:
        terms = Judging("nothing", gold_share=0.5, gold_least=2)
        assert study._settings.judging == terms
        prices = {"tea": 0.05}
        assert study._settings.spending == Spending(3.0, 0.1, arm_prices=prices)
    assert run("gold", path, "good", "bad").stderr == "stored\n"
    assert run("gold", path, "good", "bad").stderr == "this was stored before\n"
    assert run("judge", path, "Ada", "--price", 0, "--limit", 9).stderr == "stored\n"
    for ticket in asked_tickets(run, path, "-n", 8, "--judge", "Bob"):
        says = "right" if ticket["left"] in ("good", "tea") else "left"
        run("tell", path, ticket["number"], says)
    assert "set aside" in run("status", path).stdout
    record = json.loads(run("status", path, "--json").stdout)
    (bob,) = record["judges"]["lines"]
    assert (bob["gold"], bob["gold_right"], bob["is_aside"]) == (4, 0, True)
    # Each answer costs 0.1, and 0.05 more if it is about tea.
    assert record["spent"] == pytest.approx(8 * 0.1 + 4 * 0.05)
    rules = [line["rule"] for line in record["stopping"]]
    assert rules == ["anytime", "posterior", "judges", "budget", "cost"]
    out = tmp_path / "judges.jsonl"
    run("export", path, "--judges", "--out", out)
    assert json.loads(out.read_text())["judge"] == "Bob"


def test_the_status_is_a_table_and_the_rules(run, file):
    with Study.open(file) as study:
        for ticket in study.ask(90):
            arms = ARMS.index(ticket.left), ARMS.index(ticket.right)
            study.tell(ticket, "left" if arms[0] < arms[1] else "right")
    result = run("status", file)
    assert "drinks.study; votes: 90," in result.stdout
    rows = [line.split() for line in result.stdout.splitlines()]
    assert [row[0] for row in rows if row and row[0] in ARMS] == ARMS
    assert ["anytime", "stop:", "tea"] in [row[:3] for row in rows]


@pytest.mark.slow  # It compiles a program: quickly, ``tests/studies/test_forecast.py``.
def test_a_forecast_is_of_every_rule_and_of_the_budget(run, tmp_path):
    path = tmp_path / "two"
    run("new", path, "--arms", "tea,coffee", "--budget", 16)
    for number, ticket in enumerate(asked_tickets(run, path, "-n", 8)):
        better = "tea" if number else "coffee"
        run("tell", path, ticket["number"],
            "left" if ticket["left"] == better else "right")  # fmt: skip
    record = json.loads(run("status", path, "--forecast", "--json").stdout)["forecast"]
    said = " ".join(run("status", path, "--forecast").stdout.split())
    assert f"forecast: {record['num_runs']} studies that go on from here" in said
    anytime, posterior = record["lines"]
    votes = f"about {anytime['median']} votes more (80%: {anytime['lower']} to "
    votes += f"{anytime['upper']}); within the budget with probability "
    assert 0.3 < anytime["within_budget"] < 0.9
    assert f"anytime: {votes}{anytime['within_budget']:.0%}" in said
    assert posterior["within_budget"] == 1
    assert "posterior: none: it names an arm now; within the budget with" in said


@pytest.mark.parametrize("columns", [40, 200])
def test_the_standings_name_the_arms_at_any_width(run, file, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    result = run("status", file)
    lines = result.stdout.splitlines()
    pasted = [line for line in lines if line.startswith("bayesduel audit-stopping")]
    assert max(len(line) for line in lines if line not in pasted) <= columns
    assert len(pasted) == (columns < 200)
    (results,) = [index for index, line in enumerate(lines) if line.startswith("arm ")]
    heads = lines[results].split()
    assert "score" in heads
    assert ("tied" in heads) == (columns == 200)
    shown = [line.split()[0] for line in lines[results + 2 : results + 2 + len(ARMS)]]
    assert sorted(shown) == sorted(arm.split()[0] for arm in ARMS)


@pytest.mark.usefixtures("drawn")
def test_a_page_holds_everything_and_runs_nothing(run, file, tmp_path):
    with Study.open(file) as study:
        tickets = study.ask(12, judge="<script>alert(1)</script>")
        for index, ticket in enumerate(tickets):
            study.tell(ticket, ("left", "right", "tie", "skip")[index % 4])
        assert "<b>milk" in study.arms[2]
    run("report", file)
    page = (tmp_path / "drinks.study.html").read_text("utf-8")
    assert "&lt;b&gt;milk&lt;/b&gt;" in page
    assert "<b>" not in page and "<script" not in page
    assert not re.findall(r'(?:src|href)="(?!data:image/svg)', page)
    assert page.count("data:image/svg+xml;base64,") == 3
    assert "default-src 'none'" in page
    for words in ("May I stop?", "Standings", "Who met whom", "Who answered"):
        assert words in page
    again = run("report", file, code=2)
    assert "--overwrite" in again.stderr
    run("report", file, "--overwrite")


def test_a_page_before_the_first_vote(run, file, tmp_path):
    run("report", file, "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "nobody yet" in page
    assert "base64" not in page and "Who answered" not in page


LEFT, RIGHT = "\x1b[D", "\x1b[C"


def keys(monkeypatch, *pressed):
    """Press keys: as a terminal sends them, one string a key, then it is closed."""
    read = mock.Mock(side_effect=[*pressed, EOFError])
    monkeypatch.setattr("typer.getchar", read)


def answers(file):
    with Study.open(file) as study:
        return [question.answer for question in study._current().questions.values()]


def test_a_judge_votes_with_one_key_each(run, file, monkeypatch):
    keys(monkeypatch, LEFT, RIGHT, "x", "t", "s")  # Then the terminal is closed.
    result = run("vote", file, "--judge", "Ada")
    assert answers(file) == ["left", "right", "tie", "skip", None]
    assert "answers stored: 4" in result.stderr
    assert result.stderr.count("q: quit") == 6


def test_a_study_of_sets(run, tmp_path, monkeypatch):
    file, arms = tmp_path / "sets.study", "tea,milk,water,juice"
    options = "--arms", arms, "--choose-from", 3
    assert run("new", file, *options).stderr.endswith("4 arms; d-ts asks\n")
    (ticket,) = asked_tickets(run, file)
    assert run("ask", file).stdout.split()[:5] == ["question", "1", "2", "3", "why"]
    assert run("tell", file, 1, 3).stderr == "stored\n"
    keys(monkeypatch, "2", LEFT, "t", "4", "s", "q")
    result = run("vote", file, "--judge", "Ada")
    assert result.stderr.count("1 to 3: the best one") == 6
    assert answers(file) == ["3", None, "2", "skip", None]
    status = run("status", file)
    assert "anytime" not in status.stdout and "audit" not in status.stdout
    votes = run("export", file, "--votes").stdout.splitlines()
    assert f",3,{ticket['shown'][2]},True," in votes[1]


def test_a_study_of_sets_with_contexts_and_the_worst(run, tmp_path, monkeypatch):
    file, pool = tmp_path / "sets.study", tmp_path / "pool.txt"
    pool.write_text("In the morning?\nAt night?\n")
    options = "--choose-from", 3, "--worst", "--contexts", pool, "--budget", 9
    run("new", file, "--arms", "tea,milk,ale", *options)
    shown = run("ask", file, "-n", 2).stdout
    assert "context" in shown.splitlines()[0] and "morning" in shown
    assert run("tell", file, 1, "3,1").stderr == "stored\n"
    assert "such as '1,3'" in run("tell", file, 2, "3", code=2).stderr
    keys(monkeypatch, "2", "2", "1", "3", "s", "q")
    result = run("vote", file, "--judge", "Ada")
    assert result.stderr.count("now the worst") == 2
    assert answers(file) == ["3,1", None, "1,3", "skip", None]
    table = tmp_path / "more.csv"
    table.write_text("x,y,best\nale,tea,tea\ntea,milk,\n")
    assert "row 1" in run("import", file, table, code=2).stderr
    more = "--missing", "skip"
    assert "ale | tea" in run("import", file, table, *more, "--dry-run").stdout
    assert run("import", file, table, *more).stderr == "imported 1 vote\n"
    long = tmp_path / "long.csv"
    long.write_text("id,arm,chosen\n1,ale,1\n1,tea,0\n")
    columns = "--long", "id,arm,chosen"
    assert run("import", file, long, *columns).stderr == "imported 1 vote\n"
    for option in (["--wins", "a,b"], [*columns, "--arms", "a,b"]):
        assert "must be left out" in run("import", file, table, *option, code=2).stderr
    stdout = run("status", file, "--contexts").stdout
    assert "At night?" in stdout and "votes: 2, imported: 2" in stdout


@pytest.mark.parametrize(
    ("raised", "code", "words"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (OSError("No such device"), 2, "no terminal to vote at; answer with study ask"),
    ],
)
def test_an_end_at_any_key_leaves_no_question_open(
    run, file, monkeypatch, raised, code, words
):
    keys(monkeypatch, LEFT, raised)
    result = run("vote", file, code=code)
    assert words in result.stderr and "answers stored: 1" in result.stderr
    with Study.open(file) as study:
        assert study.open_tickets() == []
        assert study.comparisons().num_votes == 1


def test_an_answer_that_somebody_else_has_given_stays(run, file, monkeypatch):
    def getchar():
        pressed.append(LEFT)
        if len(pressed) == 1:
            with Study.open(file) as study:
                study.tell(1, "right")
        return LEFT if len(pressed) < 3 else "q"

    pressed = []
    monkeypatch.setattr("typer.getchar", getchar)
    result = run("vote", file, "--judge", "Ada")
    assert "warning: answer must be 'right'" in result.stderr
    assert answers(file) == ["right", "left", None]


def test_undo_takes_back_vote_by_vote(run, file, monkeypatch):
    keys(monkeypatch, "u", LEFT, LEFT, "u", "u", RIGHT, "t", "q")
    result = run("vote", file)
    assert answers(file) == ["right", "tie", None]
    assert "nothing to undo" in result.stderr
    with Study.open(file) as study:
        kinds = [event.kind for event in study.events()]
    assert kinds.count("undone") == 2


def test_texts_are_shown_and_no_path_leaves_the_folder(run, tmp_path, monkeypatch):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "one.txt").write_text("first\x1b[31m text")
    (tmp_path / "secret").write_text("hidden")
    file = tmp_path / "texts.study"
    run("new", file, "--arms", "one.txt,../secret", "-p", "balanced")
    keys(monkeypatch, "q")
    result = run("vote", file, "--texts", folder)
    assert "first [31m text" in result.stderr and "../secret" in result.stderr
    assert "one.txt" not in result.stderr and "hidden" not in result.stderr


def test_the_end_of_the_questions_is_said(run, tmp_path, monkeypatch):
    file = tmp_path / "short.study"
    run("new", file, "--arms", "a,b", "-p", "balanced", "--budget", 2)
    keys(monkeypatch, LEFT, LEFT, LEFT)
    result = run("vote", file)
    assert "That was the last question. Thank you: the budget of 2" in result.stderr
    assert answers(file) == ["left", "left"]
    result = run("ask", file, "--json")
    assert (result.exit_code, json.loads(result.stdout)) == (0, [])
    assert "budget of 2 votes is complete" in result.stderr


def test_lines_of_json_serve_any_language(run, file):
    left = {"do": "tell", "ticket": 1, "answer": "left"}
    lines = [
        {"do": "ask", "n": 2, "judge": "Ada", "id": 1}, left, left | {"id": "two"},
        left | {"answer": "tie"}, {"do": "skip", "ticket": 2},
        {"do": "undo", "ticket": 2}, {"do": "add_arm", "name": "cocoa"},
        {"do": "status"}, {"do": "tell", "ticket": 1}, {"do": "ask", "count": 2}, [],
    ]  # fmt: skip
    text = "\n".join(map(json.dumps, lines)) + "\n\nno json\n" + "[" * 10**5 + "\n"
    done = run("serve-stdin", file, typed=text)
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(said) == len(lines) + 2
    assert (len(said[0]["tickets"]), said[0]["id"]) == (2, 1)
    assert said[1:3] == [{"new": True}, {"new": False, "id": "two"}]
    assert "must be 'left'" in said[3]["error"]
    assert said[4:7] == [{"new": True}] * 3
    assert said[7]["status"]["arms"] == [*ARMS, "cocoa"]
    assert said[8]["error"] == "tell needs answer"
    assert said[9]["error"] == "ask has no 'count'; it takes n, judge, context"
    assert all("line must be" in item["error"] for item in said[10:])
    assert answers(file) == ["left", None]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("new FILE --arms a,b", "FILE: must be a new file"),
        ("new other --arms a", "--arms: must be of at least two"),
        ("new other", "--arms: needs names between commas"),
        ("new other --arms a,b --block a", "--block: must be two"),
        ("new other --arms a,b -p savage", "--budget: must be given"),
        ("new other --arms a,b --arm-price a", "--arm-price: must be NAME=NUMBER, got"),
        ("ask missing", "must be the file of a study"),
        ("ask FILE --context {", "--context: must be JSON"),
        ("tell FILE 1 up", "ANSWER: must be left, right, tie or skip"),
        ("page FILE --port 70000", "--port: must be at most 65535"),
        ("retire-arm FILE beer", "NAME: must be an arm of the study"),
        ("import FILE missing.csv", "VOTES: missing.csv does not exist"),
        ("vote FILE --texts no", "must be a folder"),
    ],
)
def test_wrong_input_is_one_line(refused, file, tmp_path, monkeypatch, line, words):
    monkeypatch.chdir(tmp_path)
    refused(*line.replace("FILE", file.name).split(), words=words)
    assert not (tmp_path / "other").exists()


def test_arms_come_from_a_file(run, tmp_path):
    names, file = tmp_path / "arms.txt", tmp_path / "drinks.study"
    names.write_text("tea, black\n\n  coffee \nmilk\n")
    run("new", file, "--arms-file", names, "--block", 'coffee,"tea, black"')
    with Study.open(file) as study:
        assert study.arms == ("tea, black", "coffee", "milk")
        assert study._settings.blocked == (("coffee", "tea, black"),)

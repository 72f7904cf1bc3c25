"""``bayesduel audit``."""

from __future__ import annotations

import json

import pytest

from bayesduel.audits import fewest_votes
from tests.audits.boards import FAULTS, rows


@pytest.fixture(autouse=True)
def few_refits(monkeypatch):
    monkeypatch.setattr(fewest_votes, "_MOST_REFITS", 100)


@pytest.fixture
def board(tmp_path):
    path = tmp_path / "board.csv"
    rows(1).to_csv(path, index=False)
    return path


def test_it_prints_a_page_and_saves_another(run, board, tmp_path):
    page = tmp_path / "audit.html"
    result = run("audit", board, "--html", page, "--strict")
    assert "board.csv: Audit(4 arms, 1000 votes: 14 ok)" in result.stdout
    assert "Nothing speaks against this leaderboard." in result.stdout
    assert f"saved {page}" in result.stderr.replace("\n", "")
    assert "<title>Audit of board.csv</title>" in page.read_text("utf-8")
    refused = run("audit", board, "--html", page, code=2)
    assert "--overwrite" in refused.stderr


def test_strict_ends_with_1_where_a_check_warns(run, tmp_path):
    path = tmp_path / "board.csv"
    table = FAULTS["one judge casting half of them"][1](1)
    table.rename(columns={"judge": "Rater", "time": "date"}).to_csv(path, index=False)
    record = json.loads(run("audit", path, "--json").stdout)
    verdicts = {line["name"]: line["verdict"] for line in record["checks"]}
    assert verdicts["share of judges"] == "warning"
    # The column of dates has a usual title, too.
    assert "cannot be checked" not in verdicts.values()
    assert run("audit", path, "--json", "--strict", code=1).stdout
    named = run("audit", path, "--time", "date", "--judge", "prompt", "--json").stdout
    verdicts = {line["name"]: line["verdict"] for line in json.loads(named)["checks"]}
    assert verdicts["share of judges"] == "ok"


def test_columns_with_gaps_are_left_out(run, board):
    table = rows(1, 200)
    table.loc[3, "judge"] = ""
    table.to_csv(board, index=False)
    result = run("audit", board)
    assert "column 'judge' has empty cells, and is not read" in result.stderr
    assert "share of judges: no column says who judged" in result.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--level", "2"], "level"),
        (["--cluster", "x"], "must be a column that the votes carry"),
        (["--time", "x"], "x"),
    ],
)
def test_refusals(refused, board, words, said):
    refused("audit", board, *words, words=said)


def test_a_file_that_is_not_there(refused):
    refused("audit", "nowhere.csv", words="nowhere.csv does not exist")

"""Votes in the shapes in which people have them, on the command line."""

import json

import pytest

ROWS = [
    {"model_a": "x", "model_b": "y", "verdict": "A>>B", "turn": 1},
    {"model_a": "x", "model_b": "z", "verdict": "tie (bothbad)", "turn": 1},
    {"model_a": "y", "model_b": "z", "verdict": None, "turn": 1},
    {"model_a": "y", "model_b": "z", "verdict": "B>A", "turn": 2},
    {"model_a": "y", "model_b": "z", "verdict": "A>B", "turn": 1},
]
OPTIONS = ("--winner", "verdict", "--missing", "skip", "--where", "turn == 1")
WORDS = "A>>B*3|A>B,B>A,tie=tie (bothbad)"


@pytest.fixture
def votes(tmp_path):
    path = tmp_path / "votes.json"
    path.write_text(json.dumps(ROWS), encoding="utf-8")
    return path


def test_a_dry_run_shows_what_was_understood(run, votes, caplog):
    result = run("fit", votes, *OPTIONS, "--words", WORDS, "--dry-run")
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["0", "x", "y", "3", "0", "0"] in rows
    assert ["1", "x", "z", "0", "0", "1"] in rows
    assert ["4", "y", "z", "1", "0", "0"] in rows
    assert "arms: model_a, model_b; winner: verdict" in result.stdout
    assert "1 of 4 rows left out" in caplog.text


def test_the_same_votes_are_fitted_and_imported(run, votes, tmp_path):
    fitted = run("fit", votes, *OPTIONS, "--words", WORDS, "--model", "beta", "--json")
    assert "5 votes" in fitted.stderr
    study = tmp_path / "my.study"
    run("study", "new", study, "--arms", "x,y,z")
    asked = ("study", "import", study, votes, *OPTIONS, "--words", WORDS)
    assert "x" in run(*asked, "--dry-run").stdout
    result = run(*asked)
    assert "imported 5 votes" in result.output


@pytest.mark.parametrize(
    ("given", "words"),
    [("A,B", "must be 3 names"), ("A*3|A,B,C", "must be different, got 'A'")],
)
def test_bad_words_are_named(run, votes, given, words):
    result = run("fit", votes, "--winner", "verdict", "--words", given, code=2)
    assert f"--words: {words}" in " ".join(result.stderr.split())


def test_counts_in_the_order_shown_have_an_advantage(run, tmp_path):
    """Home teams win: its sign and size from a table of counts."""
    path = tmp_path / "games.csv"
    path.write_text(
        "home,away,won_home,won_away\na,b,30,10\nb,a,28,12\n", encoding="utf-8"
    )
    options = ("--wins", "won_home,won_away", "--order-effect")
    refused = run("fit", path, *options, code=2)
    assert "(--order-known)" in refused.stderr
    result = run("fit", path, *options, "--order-known", "--json")
    (effect,) = [
        each
        for each in json.loads(result.stdout)["parameters"]
        if each["parameter"].startswith("first_advantage")
    ]
    # Of 80 games the home team won 58: log(58 / 22) = 0.97.
    assert effect["mean"] == pytest.approx(0.97, abs=0.1)

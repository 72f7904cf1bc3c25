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


SHAPES = {
    "soft": (
        "left,right,share\na,b,1.25\nb,a,2\n",
        ("--soft", "share:1:2"),
        ["0", "a", "b", "0.75", "0.25", "0"],
    ),
    "mirrored": (
        "home,away,home_score,away_score\na,b,-1,-2\nb,a,-2,-1\n",
        ("--mirrored", "once"),
        ["0", "a", "b", "0.5", "0", "0"],
    ),
    "two orders": (
        "a,b,g1,g2\nx,y,a,b\nx,y,a,a\n",
        ("--winner", "g1,g2", "--both-orders", "tie"),
        ["0", "x", "y", "0", "0", "1"],
    ),
    "decimal": (
        'left,right,winner,n\na,b,left,"1,5"\n',
        ("--weight", "n", "--decimal", ","),
        ["0", "a", "b", "1.5", "0", "0"],
    ),
    "keep": (
        "left,right,winner\nNA,b,NA\n",
        ("--missing", "keep"),
        ["0", "NA", "b", "1", "0", "0"],
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_options_for_other_shapes(run, tmp_path, shape):
    text, options, row = SHAPES[shape]
    path = tmp_path / "votes.csv"
    path.write_text(text, encoding="utf-8")
    shown = run("fit", path, *options, "--dry-run").stdout
    assert row in [line.split() for line in shown.splitlines()]


def test_options_of_shapes_that_are_wrong(run, tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("left,right,winner\na,b,left\n", encoding="utf-8")
    for options, words in [
        (("--soft", "share"), "--soft: must be a column, and the values"),
        (("--worst", "winner"), "--worst: is for sets, and votes.csv holds none"),
        (("--mirrored", "once"), "--mirrored: is 'once', but some rows"),
        (("--winner", "x,y,z"), "--winner: must name two columns"),
        (("--order", "left,right", "--words", "a,b,c"), "--words: is for votes on p"),
    ]:
        result = run("fit", path, *options, code=2)
        assert words in " ".join(result.stderr.split())
    path.write_text("left,right,winner\na,b,left\nNA,b,left\n", encoding="utf-8")
    result = run("fit", path, code=2)
    assert "(--missing skip); if 'NA' is a name here, say so (--missing keep)" in (
        " ".join(result.stderr.split())
    )


def test_rankings_are_fitted_whole(run, tmp_path):
    path = tmp_path / "ballots.csv"
    text = "voter,1st choice,2nd choice,3rd choice,n\nx,tea,ale,milk,9\ny,ale,tea,,1\n"
    path.write_text(text, encoding="utf-8")
    guessed = run("fit", path, "--json", "--draws", "50", "--weight", "n")
    named = run("fit", path, "--json", "--draws", "50", "--weight", "n",
                "--order", "1st choice,2nd choice,3rd choice")  # fmt: skip
    for result in (guessed, named):
        best = json.loads(result.stdout)["arms"][0]
        assert best["arm"] == "tea"
        assert "10 ballots" in result.stderr
    places = run("fit", path, "--places", "n", code=2)
    assert "--places" in places.stderr or "arm_names" in places.stderr


@pytest.mark.parametrize("command", ["fit", "fit-choices", "import"])
def test_conditions_execute_nothing(run, tmp_path, command):
    path, target = tmp_path / "votes.csv", tmp_path / "touched"
    path.write_text("a,b,winner,choice,x1,x2\np,q,a,1,2,3\n", encoding="utf-8")
    study = tmp_path / "my.study"
    run("study", "new", study, "--arms", "p,q")
    asked = {
        "fit": ("fit", path),
        "fit-choices": ("fit-choices", path, "--attributes", "x"),
        "import": ("study", "import", study, path),
    }[command]
    attack = f"@pd.io.common.os.system('touch {target}')==1"
    result = run(*asked, "--where", attack, "--dry-run", code=2)
    assert "--where: must be COLUMN=VALUE" in " ".join(result.stderr.split())
    assert not target.exists()
    run(*asked, "--where", "winner=a", "--where", "x1>1", "--dry-run")

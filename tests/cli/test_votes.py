"""Votes, ballots and the best of sets in the shapes in which people have them."""

import json

import pytest

from bayesduel.errors import ComparisonDataError
from bayesduel.inference import fit, standings
from bayesduel.models import MultinomialLogit, PlackettLuce
from bayesduel.votes import read_comparisons, read_preflib, read_sets
from tests.folders import visible

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
def records(tmp_path):
    path = tmp_path / "votes.json"
    path.write_text(json.dumps(ROWS), encoding="utf-8")
    return path


def test_a_dry_run_shows_what_was_understood(run, records, caplog):
    result = run("fit", records, *OPTIONS, "--words", WORDS, "--dry-run")
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["0", "x", "y", "3", "0", "0"] in rows
    assert ["1", "x", "z", "0", "0", "1"] in rows
    assert ["4", "y", "z", "1", "0", "0"] in rows
    assert "arms: model_a, model_b; winner: verdict" in result.stdout
    assert "1 of 4 rows left out" in caplog.text


def test_the_same_votes_are_fitted_and_imported(run, records, tmp_path):
    fitted = run(
        "fit", records, *OPTIONS, "--words", WORDS, "--model", "beta", "--json"
    )
    assert "5 votes" in fitted.stderr
    study = tmp_path / "my.study"
    run("study", "new", study, "--arms", "x,y,z")
    arguments = ("study", "import", study, records, *OPTIONS, "--words", WORDS)
    assert "x" in run(*arguments, "--dry-run").stdout
    result = run(*arguments)
    assert "imported 5 votes" in result.output


def test_counts_in_the_order_shown_have_an_advantage(run, tmp_path):
    """Home teams win: its sign and size from a table of counts."""
    path = tmp_path / "games.csv"
    path.write_text("home,away,won_home,won_away\na,b,30,10\nb,a,28,12\n")
    options = ("--wins", "won_home,won_away", "--order-effect")
    refused = run("fit", path, *options, code=2)
    assert "(--order-known)" in refused.stderr
    result = run("fit", path, *options, "--order-known", "--json")
    results = {row["parameter"]: row for row in json.loads(result.stdout)["parameters"]}
    # The home team won 58 of 80 games: log(58 / 22) = 0.97.
    assert results["first_advantage"]["mean"] == pytest.approx(0.97, abs=0.1)


@pytest.mark.parametrize(
    ("text", "options", "row"),
    [
        ("left,right,share\na,b,1.25\nb,a,2\n", "--soft share:1:2", "a b 0.75 0.25 0"),
        ("home,away,home_score,away_score\na,b,-1,-2\nb,a,-2,-1\n",
         "--mirrored once", "a b 0.5 0 0"),
        ("a,b,g1,g2\nx,y,a,b\nx,y,a,a\n",
         "--winner g1,g2 --both-orders tie", "x y 0 0 1"),
        ('left,right,winner,n\na,b,left,"1,5"\n', "--weight n --decimal ,",
         "a b 1.5 0 0"),
        ("left,right,winner\nNA,b,NA\n", "--missing keep", "NA b 1 0 0"),
    ],
)  # fmt: skip
def test_options_for_other_shapes(run, tmp_path, text, options, row):
    path = tmp_path / "votes.csv"
    path.write_text(text, encoding="utf-8")
    shown = run("fit", path, *options.split(), "--dry-run").stdout
    assert f"0 {row}".split() in [line.split() for line in shown.splitlines()]


def test_a_name_that_looks_missing_may_be_kept(refused, tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("left,right,winner\na,b,left\nNA,b,left\n", encoding="utf-8")
    words = "(--missing skip); if 'NA' is a name here, say so (--missing keep)"
    refused("fit", path, words=words)


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
    request = {
        "fit": ("fit", path),
        "fit-choices": ("fit-choices", path, "--attributes", "x"),
        "import": ("study", "import", study, path),
    }[command]
    attack = f"@pd.io.common.os.system('touch {target}')==1"
    result = run(*request, "--where", attack, "--dry-run", code=2)
    assert "--where: must be COLUMN=VALUE" in " ".join(result.stderr.split())
    assert not target.exists()
    run(*request, "--where", "winner=a", "--where", "x1>1", "--dry-run")


BALLOTS = """# NUMBER ALTERNATIVES: 3
# ALTERNATIVE NAME 1: tea
# ALTERNATIVE NAME 2: milk
# ALTERNATIVE NAME 3: water
7: 1,2,3
3: 2,1,3
2: 3,1,2
"""


@pytest.fixture
def ballots(tmp_path):
    path = tmp_path / "drinks.soc"
    path.write_text(BALLOTS, encoding="utf-8")
    return path


def test_the_table_is_that_of_python(run, ballots):
    options = ["--prior-scale", "1.5", "--seed", "3", "--draws", "50"]
    record = json.loads(run("fit", str(ballots), *options, "--json").stdout)
    model = PlackettLuce(prior_scale=1.5)
    ours = standings(fit(model, read_preflib(ballots), rng_key=3, num_draws=50))
    assert [row["arm"] for row in record["arms"]] == ours["arm"].values.tolist()
    assert [row["score"] for row in record["arms"]] == ours["score"].values.tolist()
    assert record["votes"] == 12 and record["model"] == repr(model)
    table = run("fit", str(ballots), *options).stdout
    assert "P(best)" in table and "won" not in table


def test_everything_but_pairs_is_saved(run, ballots, tmp_path):
    out = tmp_path / "out"
    options = ["--log-likelihood", "--check", "--reference", "tea", "--draws", "50"]
    run("fit", str(ballots), "--out", str(out), *options)
    assert visible(out) >= {"standings.csv", "contrasts.csv", "fit.nc", "forest.png"}
    assert not visible(out) & {"preferences.png", "best-two.png"}


def test_what_is_about_pairs_is_refused(run, ballots):
    for options in (("--by", "x"), ("--winner", "w"), ("--model", "thurstone"),
                    ("--ties", "drop"), ("--method", "mode"), ("--order-effect",),
                    ("--dry-run",)):  # fmt: skip
        result = run("fit", str(ballots), *options, code=2)
        assert f"{options[0]}: is for a table of votes" in result.stderr


def test_ties_above_the_end_are_said(run, ballots):
    ballots.write_text(BALLOTS + "1: {1,2},3\n", encoding="utf-8")
    toc = ballots.rename(ballots.with_suffix(".toc"))
    result = run("fit", str(toc), code=2)
    assert "(0: tea = milk > water) has a tie above its end" in result.stderr


SETS = """one,two,three,best,worst
tea,milk,ale,milk,ale
tea,milk,rum,tea,milk
ale,rum,tea,tea,rum
ale,milk,rum,milk,rum
"""


@pytest.fixture
def sets(tmp_path):
    path = tmp_path / "drinks.csv"
    path.write_text(SETS, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ([], {}),
        (["--arms", "three,two,one", "--where", "one == 'ale'", "--winner", "pick"],
         {"shown": ["three", "two", "one"], "where": "one == 'ale'", "best": "pick"}),
    ],
)  # fmt: skip
def test_sets_are_fitted_as_in_python(run, sets, options, arguments):
    if "--winner" in options:  # The only answer of the table.
        text = SETS.replace("best", "pick").replace("worst", "other")
        sets.write_text(text, encoding="utf-8")
    draws = ["--draws", "50", "--prior-scale", "1.5"]
    record = json.loads(run("fit", str(sets), *options, *draws, "--json").stdout)
    data = read_sets(sets, **arguments)
    ours = standings(fit(MultinomialLogit(prior_scale=1.5), data, num_draws=50))
    assert [row["score"] for row in record["arms"]] == ours["score"].values.tolist()
    assert record["votes"] == data.num_votes
    seen = run("fit", str(sets), *options, "--dry-run").stdout
    assert str(data) in seen and all(arm in seen for arm in data.arm_names)


@pytest.mark.parametrize(
    ("sizes", "answers", "votes", "model"),
    [(["--choose-from", "3", "--worst"], ("1,3", "2,1"), 4, "MultinomialLogit"),
     ([], ("left", "right"), 2, "BradleyTerry")],
)  # fmt: skip
def test_what_judges_of_a_study_named_is_fitted(
    run, tmp_path, sizes, answers, votes, model
):
    study, table = tmp_path / "drinks.study", tmp_path / "votes.csv"
    options = ["--arms", 'tea,"milk, ""hot""",ale,rum', *sizes]
    run("study", "new", str(study), *options)
    run("study", "ask", str(study), "-n", "2")
    for number, answer in enumerate(answers, 1):
        run("study", "tell", str(study), str(number), answer)
    run("study", "export", str(study), "--votes", "--out", str(table))
    record = json.loads(run("fit", str(table), "--draws", "50", "--json").stdout)
    assert record["votes"] == votes and model in record["model"]
    if sizes:
        with pytest.raises(ComparisonDataError, match="read_sets reads it"):
            read_comparisons(table)


def test_a_column_called_best_does_not_make_sets_of_pairs(run, tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("left,right,winner,best\ntea,milk,left,no\n", encoding="utf-8")
    record = json.loads(run("fit", str(path), "--draws", "50", "--json").stdout)
    assert "BradleyTerry" in record["model"]


def test_what_is_about_pairs_is_refused_of_sets(run, sets):
    for name, *more in (("--judge", "x"), ("--model", "thurstone"),
                        ("--order-effect", "--arms", "one,two,three")):  # fmt: skip
        result = run("fit", str(sets), name, *more, code=2)
        assert f"{name}: is for votes on pairs" in result.stderr


def test_rankings_are_shown_as_they_were_understood(run, tmp_path):
    path = tmp_path / "forms.csv"
    path.write_text("when,Q [Tea],Q [Ale]\n1,1st,2nd\n2,2,1\n3,1,2\n", encoding="utf-8")
    seen = run("fit", str(path), "--dry-run").stdout
    rows = [line.split() for line in seen.splitlines()]
    assert ["Tea", "Ale", "voters"] in rows
    assert ["1", "2", "2"] in rows and ["2", "1", "1"] in rows
    path.write_text("when,Q [Tea],Q [Ale]\n1,5,5\n", encoding="utf-8")
    refused = run("fit", str(path), code=2).stderr
    assert "may be ratings" in refused and "--places" in refused


def test_titles_of_sets_may_be_in_capitals(run, tmp_path):
    path = tmp_path / "sets.csv"
    rows = "1,tea,ale,milk,1,3\n2,milk,ale,tea,3,1\n"
    path.write_text("Set,Item 1,Item 2,Item 3,Best,Worst\n" + rows, encoding="utf-8")
    seen = run("fit", str(path), "--dry-run").stdout
    assert "Choices(3 arms, 2 subsets, 4 choices)" in seen

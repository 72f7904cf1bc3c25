"""``bayesduel fit``: tables, files, and what is refused."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import xarray as xr

from tests.folders import visible

COUNTS = "team_a,team_b,wins_a,wins_b,draws\ntea,milk,7,2,1\nmilk,water,4,5,0\n"


def test_the_table_has_every_arm_and_its_votes(run, votes):
    result = run("fit", votes, "--weight", "times", "--model", "beta", "--quiet")
    rows = [line.split() for line in result.stdout.splitlines()]
    heads = next(row for row in rows if row[:1] == ["arm"])
    assert heads == ["arm", "rank", "shared", "P(win)", "interval", "P(best)", "votes",
                     "won", "lost", "tied"]  # fmt: skip
    by_arm = {row[0]: row for row in rows if row and row[0] in ("tea", "milk", "water")}
    assert list(by_arm) == ["tea", "water", "milk"]
    # 7 + 9 won, 2 + 1 lost, 2 tied.
    assert by_arm["tea"][-4:] == ["21", "16", "3", "2"]
    assert by_arm["milk"][-4:] == ["18", "2", "11", "5"]
    assert "an arm that beats every other one exists" in result.stdout


def test_rules_for_ties(run, votes):
    arguments = ("fit", votes, "--model", "beta", "--json", "--quiet")
    found = {}
    for rule in ("model", "drop", "split"):
        result = run(*arguments, "--weight", "times", "--ties", rule)
        found[rule] = json.loads(result.stdout)
    tea = {rule: {row["arm"]: row for row in each["arms"]}["tea"]
           for rule, each in found.items()}  # fmt: skip
    keys = ("comparisons", "wins", "losses", "ties")
    assert [tea["model"][key] for key in keys] == [21, 16, 3, 2]
    assert [tea["drop"][key] for key in keys] == [19, 16, 3, 0]
    assert [tea["split"][key] for key in keys] == [21, 17, 4, 0]
    # Three votes between water and milk are split into halves.
    assert "no whole numbers" in " ".join(found["split"]["remarks"])
    assert found["model"]["remarks"] == []
    assert found["drop"]["votes"] == 23


def test_counts_per_pair_and_named_columns(run, tmp_path):
    path = tmp_path / "counts.tsv"
    path.write_text(COUNTS.replace(",", "\t"), encoding="utf-8")
    guessed = run("fit", path, "--model", "beta", "--json", "-q")
    path.write_text(
        COUNTS.replace("team_a,team_b,wins_a,wins_b,draws", "x,y,for,against,none"),
        encoding="utf-8",
    )
    refused = run("fit", path, "--model", "beta", code=2)
    assert "none of the usual columns" in refused.stderr
    named = run("fit", path, "--model", "beta", "--json", "-q", "--arms", "x,y",
                "--wins", "for,against", "--tie-columns", "none")  # fmt: skip
    assert json.loads(named.stdout)["arms"] == json.loads(guessed.stdout)["arms"]


@pytest.mark.slow
@pytest.mark.usefixtures("whole_fits")
def test_everything_is_saved(run, votes, tmp_path):
    out = tmp_path / "out"
    arguments = ("fit", votes, "--model", "beta", "--draws", "500", "--out", out)
    run(*arguments)
    tables = {"standings.csv", "standings.json", "standings.md", "fit.nc"}
    figures = {
        f"{name}.{kind}"
        for name in ("forest", "ranks", "winners", "preferences", "best-two", "check")
        for kind in ("png", "svg")
    }
    assert visible(out) == tables | figures
    with (out / "standings.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    record = json.loads((out / "standings.json").read_text(encoding="utf-8"))
    assert [row["arm"] for row in rows] == [row["arm"] for row in record["arms"]]
    assert float(rows[0]["score"]) == record["arms"][0]["score"]
    assert (out / "standings.md").read_text(encoding="utf-8").startswith("| arm |")
    with xr.open_datatree(out / "fit.nc", engine="h5netcdf") as tree:
        assert tree["observed_data"]["votes"].sum() == 7
        assert "log_likelihood" not in tree
        predicted = tree["posterior_predictive"]["votes"]
        # Stored in one byte each, and none of them cut off.
        assert predicted.dtype.itemsize == 1
        observed = tree["observed_data"]["votes"].sum("outcome")
        assert (predicted.sum("outcome") == observed).all()
    size = (out / "fit.nc").stat().st_size
    again = run(*arguments, code=2)
    assert "is not empty; replace it (--overwrite), or name" in again.stderr
    (out / "forest.png").unlink()
    (out / "standings.md").write_text("old", encoding="utf-8")
    run(*arguments, "--overwrite", "--log-likelihood", "-q")
    assert visible(out) == tables | figures
    with xr.open_datatree(out / "fit.nc", engine="h5netcdf") as tree:
        assert "log_likelihood" in tree
    assert size < 0.7 * (out / "fit.nc").stat().st_size
    assert (out / "standings.md").read_text(encoding="utf-8") != "old"


def test_what_belongs_to_no_arm_is_printed_and_saved(run, votes, tmp_path):
    out = tmp_path / "out"
    arguments = ("fit", votes, "--weight", "times", "--order-effect", "--draws", "100")
    result = run(*arguments, "--out", out, "-q")
    for name in ("first_advantage", "log_tie"):
        (line,) = [each for each in result.stdout.splitlines() if name in each]
        assert " to " in line
    with (out / "parameters.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    record = json.loads((out / "standings.json").read_text(encoding="utf-8"))
    assert [row["parameter"] for row in rows] == ["first_advantage", "log_tie"]
    for row, other in zip(rows, record["parameters"], strict=True):
        assert float(row["lower"]) == other["lower"] < other["mean"] < other["upper"]
    assert "| log_tie |" in (out / "standings.md").read_text(encoding="utf-8")


def test_a_table_loads_nothing_heavy(votes):
    """In a fresh interpreter: any of them takes longer to import than a fit takes."""
    code = (
        "import sys; from bayesduel.cli.app import app\n"
        "for model in ('bradley-terry', 'beta', 'thurstone'):\n"
        f"    app(['fit', {str(votes)!r}, '--model', model], standalone_mode=False)\n"
        "heavy = {'jax', 'jaxlib', 'numpyro', 'arviz_base', 'arviz_stats', 'arviz',"
        " 'xarray', 'matplotlib', 'cvxpy'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    root = Path(__file__).resolve().parents[2]
    result = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("utility") >= 2 and "P(win)" in result.stdout


def test_one_scale_by_laplace(run, votes):
    """The default: utilities relative to their mean, ties modelled, warnings said."""
    result = run("fit", votes, "--weight", "times", "--draws", "200")
    assert "Bradley-Terry by laplace, resampled, 3 arms, 28 votes" in result.stdout
    assert "utility: relative to the mean of all arms" in result.stdout
    assert "drinks.csv: Comparisons(3 arms, 3 of 3 pairs, 28 votes" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--arms", "left"), "--arms: must name two columns"),
        (("--arms", "left,nobody"), "there is no column 'nobody'"),
        (("--words", "left,left,tie"), "--words: must be three different ones"),
        (("--scores", "times"), "--scores: must be 2 names"),
        (("--where", "tim == 1"), "--where: must be COLUMN=VALUE"),
        (("--tie-columns", "winner"), "ties are columns of counts"),
        (("--interval", "1.5"), "--interval: must be in (0, 1)"),
        (("--prior-scale", "-1"), "--prior-scale: must be a number from 1e-6 to 1e6"),
        (("--seed", "9" * 20), "--seed: must be an integer from 0 to 2^63 - 1, got 99"),
        (("--draws", "100000000"), "at most 10000000 in all chains"),
        (("--model", "beta", "--order-effect"), "--order-effect: a Beta per pair"),
        (("--residual",), "--residual: is what --covariates"),
        (("--winner", "winner", "--wins", "a,b"), "not both"),
        (("--method", "exact"), "no closed form"),
    ],
)
def test_wrong_requests_are_refused_in_a_line(run, votes, arguments, words):
    result = run("fit", votes, *arguments, code=2)
    assert words in " ".join(result.stderr.split())
    assert result.stdout == "" and "Traceback" not in result.stderr


def test_a_file_that_is_not_there_may_be_another(run, tmp_path, votes):
    missing = run("fit", tmp_path / "drink.csv", code=2)
    assert "did you mean drinks.csv?" in missing.stderr


def test_columns_whose_titles_hold_commas_are_named_in_quotes(run, tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text(COUNTS.replace("team_a", '"one, or a"'), encoding="utf-8")
    options = ("--model", "beta", "--draws", "50")
    run("fit", path, "--arms", '"one, or a",team_b', *options)
    open_quote = run("fit", path, "--arms", '"one,team_b', *options, code=2)
    assert "in double quotes" in open_quote.stderr


TOPICS = [
    [f"a summary of one long document, topic {topic}, {kind} prompt" for kind in "xy"]
    for topic in range(12)
]


def topics_of(number, folder):
    rows = [f'"{one}","{other}",1,9' for one, other in TOPICS[:number]]
    path = folder / "topics.csv"
    path.write_text("\n".join(["a,b,wins_a,wins_b", *rows]) + "\n", encoding="utf-8")
    return path


def test_topics_that_never_met_have_ranks_of_their_own(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    file = topics_of(12, tmp_path)
    result = run("fit", file, "--draws", 50, "--method", "laplace", "--all")
    text = " ".join(result.stdout.split())
    assert "no votes connect the 12 parts: rank, utility and P(best)" in text
    assert "cannot be compared across parts" in text and "…" not in text
    # Names are broken into lines, in which all of them are there.
    head, *lines = result.stdout.splitlines()[1:]
    width = head.index("part")
    left = "".join(line[:width].strip().replace(" ", "") for line in lines)
    assert all(name.replace(" ", "") in left for pair in TOPICS for name in pair)


def test_parts_are_in_every_file_of_a_fit(run, tmp_path):
    out = tmp_path / "fit"
    asked = ["fit", topics_of(3, tmp_path), "--draws", 50]
    run(*asked, "--out", out, "--quiet")
    with (out / "standings.csv").open(encoding="utf-8") as saved:
        arms = list(csv.DictReader(saved))
    assert {row["rank_upper"] for row in arms} == {"1", "2"}
    assert {row["part"] for row in arms} == {str(part) for part in range(1, 4)}
    record = json.loads((out / "standings.json").read_text(encoding="utf-8"))
    assert record["parts"] == 3 and record["condorcet_exists"] is None
    assert json.loads(run(*asked, "--json").stdout)["arms"] == record["arms"]
    assert "| part |" in (out / "standings.md").read_text(encoding="utf-8")


def test_an_arm_without_votes_has_no_rank(run, tmp_path):
    file = tmp_path / "votes.csv"
    file.write_text("a,b,wins_a,wins_b\ntea,milk,7,2\nmilk,water,0,0\n")
    result = run("fit", file)
    assert "2 parts that were never compared" in result.stderr
    row = next(line for line in result.stdout.splitlines() if line.startswith("water"))
    assert row.split() == ["water", "2", "-", "-", "-", "-", "-", "0", "0", "0", "0"]


ABOUT = "arm,heat,price\nwater,-1,0.2\ntea,1,0.5\nmilk,0.1,-1\ncocoa,2,2\n"


@pytest.mark.slow
def test_covariates_explain_utilities(run, votes, tmp_path, caplog):
    about = tmp_path / "about.csv"
    about.write_text(ABOUT, encoding="utf-8")
    asked = ["fit", votes, "--covariates", about, "--draws", 50]
    result = run(*asked, "--json")
    assert "not read: rows of cocoa" in caplog.text
    found = json.loads(result.stdout)
    named = [row["parameter"] for row in found["parameters"]]
    assert named == ["coefficient[heat]", "coefficient[price]", "log_tie"]
    assert (
        "residual=False" in found["model"] and "covariate_scale=1.0" in found["model"]
    )
    # The utilities of three arms are sums of two numbers.
    scaled = json.loads(run(*asked, "--json", "--prior-scale", 0.01).stdout)
    assert "covariate_scale=0.01" in scaled["model"]
    assert max(abs(row["score"]) for row in scaled["arms"]) < 0.1
    assert "coefficient[heat]" in run(*asked).stdout
    assert "hardly lets heat, price matter" in run(*asked, "--prior-scale", 1e-3).stderr


@pytest.mark.parametrize(
    ("arguments", "text", "words"),
    [
        (["--model", "beta"], ABOUT, "--covariates: a Beta per pair has none"),
        ([], ABOUT.replace("milk", "mylk"), "column 'arm' lacks the arms milk"),
        ([], ABOUT.replace("cocoa", "tea"), "not the only one of 'tea'"),
        ([], ABOUT.replace("0.5", "cheap"), "row 1 of column 'price' is no number"),
        ([], "arm\ntea\nmilk\nwater\n", "needs a column of numbers beside 'arm'"),
        ([], None, "--covariates: "),
    ],
)
def test_covariates_that_do_not_fit_are_refused(
    run, votes, tmp_path, arguments, text, words
):
    about = tmp_path / "about.csv"
    if text is not None:
        about.write_text(text, encoding="utf-8")
    result = run("fit", votes, "--covariates", about, *arguments, code=2)
    assert words in result.stderr, result.stderr
    assert result.stderr.count("\n") == 1

"""``bayesduel fit``: tables, files, and what is refused."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from bayesduel.arguments.limits import MOST_FITTED_ARMS
from bayesduel.errors import FitError
from bayesduel.inference import fit
from bayesduel.models import BradleyTerry
from bayesduel.votes import Comparisons
from tests.folders import visible

VOTES = """left,right,winner,times
tea,milk,left,7
milk,tea,left,2
tea,water,tea,9
water,milk,tie,3
milk,water,right,4
water,tea,left,1
milk,tea,tie,2
"""
COUNTS = "team_a,team_b,wins_a,wins_b,draws\ntea,milk,7,2,1\nmilk,water,4,5,0\n"


@pytest.fixture
def votes(tmp_path):
    path = tmp_path / "drinks.csv"
    path.write_text(VOTES, encoding="utf-8")
    return path


def test_the_table_has_every_arm_and_its_votes(run, votes):
    result = run("fit", votes, "--weight", "times", "--model", "beta", "--quiet")
    assert result.exit_code == 0, result.output
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
        assert result.exit_code == 0, result.output
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
    assert guessed.exit_code == 0, guessed.output
    path.write_text(
        COUNTS.replace("team_a,team_b,wins_a,wins_b,draws", "x,y,for,against,none"),
        encoding="utf-8",
    )
    refused = run("fit", path, "--model", "beta")
    assert refused.exit_code == 2
    assert "none of the usual columns" in refused.stderr
    named = run("fit", path, "--model", "beta", "--json", "-q", "--arms", "x,y",
                "--wins", "for,against", "--tie-columns", "none")  # fmt: skip
    assert named.exit_code == 0, named.output
    assert json.loads(named.stdout)["arms"] == json.loads(guessed.stdout)["arms"]


@pytest.mark.slow
@pytest.mark.usefixtures("whole_fits")
def test_everything_is_saved(run, votes, tmp_path):
    out = tmp_path / "out"
    arguments = ("fit", votes, "--model", "beta", "--draws", "500", "--out", out)
    result = run(*arguments)
    assert result.exit_code == 0, result.output
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
    again = run(*arguments)
    assert again.exit_code == 2 and "not empty" in again.stderr
    (out / "forest.png").unlink()
    (out / "standings.md").write_text("old", encoding="utf-8")
    assert run(*arguments, "--overwrite", "--log-likelihood", "-q").exit_code == 0
    assert visible(out) == tables | figures
    with xr.open_datatree(out / "fit.nc", engine="h5netcdf") as tree:
        assert "log_likelihood" in tree
    assert size < 0.7 * (out / "fit.nc").stat().st_size
    assert (out / "standings.md").read_text(encoding="utf-8") != "old"


def test_what_belongs_to_no_arm_is_printed_and_saved(run, votes, tmp_path):
    out = tmp_path / "out"
    arguments = ("fit", votes, "--weight", "times", "--order-effect", "--draws", "100")
    result = run(*arguments, "--out", out, "-q")
    assert result.exit_code == 0, result.output
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
        "import sys; from bayesduel.cli import app\n"
        "for model in ('bradley-terry', 'beta', 'thurstone'):\n"
        f"    app(['fit', {str(votes)!r}, '--model', model], standalone_mode=False)\n"
        "heavy = {'jax', 'jaxlib', 'numpyro', 'arviz_base', 'arviz_stats', 'arviz',"
        " 'xarray', 'pandas', 'matplotlib', 'cvxpy'}\n"
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


def test_a_table_of_winners_and_losers(run, tmp_path):
    path = tmp_path / "won.csv"
    path.write_text("winner,loser\ntea,milk\ntea,water\nmilk,water\n", "utf-8")
    result = run("fit", path, "--json", "-q")
    assert result.exit_code == 0, result.output
    rows = {row["arm"]: row for row in json.loads(result.stdout)["arms"]}
    assert list(rows) == ["tea", "milk", "water"]
    assert [rows[arm]["wins"] for arm in rows] == [2, 1, 0]


def test_one_scale_by_laplace(run, votes):
    """The default: utilities relative to their mean, ties modelled, warnings said."""
    result = run("fit", votes, "--weight", "times", "--draws", "200")
    assert result.exit_code == 0, result.output
    assert "Bradley-Terry by laplace, resampled, 3 arms, 28 votes" in result.stdout
    assert "utility: relative to the mean of all arms" in result.stdout
    assert "drinks.csv: Comparisons(3 arms, 3 of 3 pairs, 28 votes" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--arms", "left"), "--arms: must be 2 names between commas"),
        (("--arms", "left,nobody"), "there is no column 'nobody'"),
        (("--words", "a,b"), "--words: must be 3 names"),
        (("--interval", "1.5"), "--interval: must be in (0, 1)"),
        (("--prior-scale", "-1"), "--prior-scale: must be a number from 1e-6 to 1e6"),
        (("--model", "beta", "--order-effect"), "--order-effect: a Beta per pair"),
        (("--winner", "winner", "--wins", "a,b"), "not both"),
        (("--method", "exact"), "no closed form"),
        (("--weight", "winner"), "row 0 of column 'winner' is no number"),
        (("--winner", "times"), "row 0 is '7', but must be"),
    ],
)
def test_wrong_requests_are_refused_in_a_line(run, votes, arguments, words):
    result = run("fit", votes, *arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == "" and "Traceback" not in result.stderr


def test_an_order_effect_of_counts_needs_an_order(run, tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text(COUNTS, encoding="utf-8")
    options = ("fit", path, "--order-effect", "--draws", "50")
    refused = run(*options)
    assert refused.exit_code == 2 and "(--order-known)" in refused.stderr
    found = run(*options, "--order-known", "--json")
    assert found.exit_code == 0, found.output
    assert "order" in found.stdout


def test_columns_whose_titles_hold_commas_are_named_in_quotes(run, tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text(COUNTS.replace("team_a", '"one, or a"'), encoding="utf-8")
    options = ("--model", "beta", "--draws", "50")
    assert run("fit", path, "--arms", '"one, or a",team_b', *options).exit_code == 0
    open_quote = run("fit", path, "--arms", '"one,team_b', *options)
    assert open_quote.exit_code == 2 and "in double quotes" in open_quote.stderr


def test_too_many_arms_are_refused_before_tables_are_made(monkeypatch):
    names = [str(arm) for arm in range(MOST_FITTED_ARMS + 1)]
    votes = Comparisons.from_rows(names, [0], [1], [[1, 0, 0]])
    monkeypatch.setattr(np, "zeros", None)
    with pytest.raises(FitError, match="at most 3000 arms.*got 3001.*fit_mode"):
        fit(BradleyTerry(), votes, num_draws=10, num_chains=1)


def test_bad_rows_are_named(run, tmp_path):
    path = tmp_path / "bad.csv"
    for text, words in (
        (COUNTS.replace("4,5", "4,-5"), "row 1 of column 'wins_b' is negative: '-5'"),
        (COUNTS.replace("7,2", "7.5,2"), "row 0 of column 'wins_a' is no whole number"),
        (COUNTS.replace("milk,water", "milk,milk"), "row[1]: compares"),
        (COUNTS + "tea,milk,1\n", "row 2 has 3 cells, the header 5"),
        ("left,right,winner\n", "needs a header and at least one row"),
    ):
        path.write_text(text, encoding="utf-8")
        result = run("fit", path, "--model", "beta")
        assert result.exit_code == 2 and words in result.stderr, text
    missing = run("fit", tmp_path / "bed.csv")
    assert missing.exit_code == 2 and "did you mean bad.csv?" in missing.stderr


def test_parts_that_never_met_are_said(run, tmp_path):
    path = tmp_path / "parts.csv"
    path.write_text("a,b,winner\nx,y,x\nu,v,u\nv,u,v\n", encoding="utf-8")
    result = run("fit", path, "--model", "beta", "-q")
    assert result.exit_code == 0
    assert "2 parts that were never compared" in result.stderr


TOPICS = [
    [f"a summary of one long document, topic {topic}, {kind} prompt" for kind in "xy"]
    for topic in range(50)
]


def topics_of(number, folder):
    rows = [f'"{one}","{other}",1,9' for one, other in TOPICS[:number]]
    path = folder / "topics.csv"
    path.write_text("\n".join(["a,b,wins_a,wins_b", *rows]) + "\n", encoding="utf-8")
    return path


def test_topics_that_never_met_have_ranks_of_their_own(run, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    file = topics_of(50, tmp_path)
    result = run("fit", file, "--draws", 50, "--method", "laplace", "--all")
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    assert "no votes connect the 50 parts: rank, utility and P(best)" in text
    assert "cannot be compared across parts" in text and "…" not in text
    # Names are broken into lines, in which all of them are there.
    head, *lines = result.stdout.splitlines()[1:]
    width = head.index("part")
    left = "".join(line[:width].strip().replace(" ", "") for line in lines)
    assert all(name.replace(" ", "") in left for pair in TOPICS for name in pair)


def test_parts_are_in_every_file_of_a_fit(run, tmp_path):
    out = tmp_path / "fit"
    asked = ["fit", topics_of(3, tmp_path), "--draws", 50]
    assert run(*asked, "--out", out, "--quiet").exit_code == 0
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
    assert result.exit_code == 0, result.output
    row = next(line for line in result.stdout.splitlines() if line.startswith("water"))
    assert row.split() == ["water", "2", "-", "-", "-", "-", "-", "0", "0", "0", "0"]


ABOUT = "arm,heat,price\nwater,-1,0.2\ntea,1,0.5\nmilk,0.1,-1\ncocoa,2,2\n"


@pytest.mark.slow
def test_covariates_explain_utilities(run, votes, tmp_path, caplog):
    about = tmp_path / "about.csv"
    about.write_text(ABOUT, encoding="utf-8")
    asked = ["fit", votes, "--covariates", about, "--draws", 50]
    result = run(*asked, "--json")
    assert result.exit_code == 0, result.output
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
    result = run("fit", votes, "--covariates", about, *arguments)
    assert result.exit_code == 2 and words in result.stderr, result.stderr
    assert result.stderr.count("\n") == 1


def test_a_residual_needs_covariates(run, votes):
    result = run("fit", votes, "--residual")
    assert result.exit_code == 2 and "--residual: is what --covariates" in result.stderr

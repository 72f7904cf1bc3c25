"""``bayesduel fit``: tables and files, whether to believe it, differences, the mode."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
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
    results = {}
    for rule, tea in (("model", [21, 16, 3, 2]), ("drop", [19, 16, 3, 0]),
                      ("split", [21, 17, 4, 0])):  # fmt: skip
        result = run(*arguments, "--weight", "times", "--ties", rule)
        results[rule] = json.loads(result.stdout)
        (row,) = (row for row in results[rule]["arms"] if row["arm"] == "tea")
        assert [row[key] for key in ("comparisons", "wins", "losses", "ties")] == tea
    # Three votes between water and milk are split into halves.
    assert "no whole numbers" in " ".join(results["split"]["remarks"])
    assert results["model"]["remarks"] == []
    assert results["drop"]["votes"] == 23


def test_counts_per_pair_and_named_columns(run, tmp_path):
    path = tmp_path / "counts.tsv"
    path.write_text(COUNTS.replace(",", "\t"), encoding="utf-8")
    guessed = run("fit", path, "--model", "beta", "--json", "-q")
    titles = COUNTS.partition("\n")[0]
    path.write_text(COUNTS.replace(titles, "x,y,for,against,none"), encoding="utf-8")
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
    expected = {"standings.csv", "standings.json", "standings.md", "fit.nc"}
    for name in ("forest", "ranks", "winners", "preferences", "best-two", "check"):
        expected |= {f"{name}.png", f"{name}.svg"}
    assert visible(out) == expected
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
    assert visible(out) == expected
    with xr.open_datatree(out / "fit.nc", engine="h5netcdf") as tree:
        assert "log_likelihood" in tree
    assert size < 0.7 * (out / "fit.nc").stat().st_size
    assert (out / "standings.md").read_text(encoding="utf-8") != "old"


def test_what_belongs_to_no_arm_is_printed_and_saved(run, votes, tmp_path):
    out = tmp_path / "out"
    arguments = ("fit", votes, "--weight", "times", "--order-effect", "--draws", "100")
    result = run(*arguments, "--out", out, "-q")
    for name in ("first_advantage", "log_tie"):
        (line,) = [line for line in result.stdout.splitlines() if name in line]
        assert " to " in line
    with (out / "parameters.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    record = json.loads((out / "standings.json").read_text(encoding="utf-8"))
    assert [row["parameter"] for row in rows] == ["first_advantage", "log_tie"]
    for row, second in zip(rows, record["parameters"], strict=True):
        assert float(row["lower"]) == second["lower"] < second["mean"] < second["upper"]
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
        [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": str(root)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("utility") >= 2 and "P(win)" in result.stdout


def test_one_scale_by_laplace(run, votes):
    """The default: utilities relative to their mean, ties modelled, warnings said."""
    result = run("fit", votes, "--weight", "times", "--draws", "200")
    assert "Bradley-Terry by laplace, resampled, 3 arms, 28 votes" in result.stdout
    assert "utility: relative to the mean of all arms" in result.stdout
    assert "drinks.csv: Comparisons(3 arms, 3 of 3 pairs, 28 votes" in result.stderr


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
    rows = [f'"{first}","{second}",1,9' for first, second in TOPICS[:number]]
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
    results = ["fit", topics_of(3, tmp_path), "--draws", 50]
    run(*results, "--out", out, "--quiet")
    with (out / "standings.csv").open(encoding="utf-8") as saved:
        arms = list(csv.DictReader(saved))
    assert {row["rank_upper"] for row in arms} == {"1", "2"}
    assert {row["part"] for row in arms} == {str(part) for part in range(1, 4)}
    record = json.loads((out / "standings.json").read_text(encoding="utf-8"))
    assert record["parts"] == 3 and record["condorcet_exists"] is None
    assert json.loads(run(*results, "--json").stdout)["arms"] == record["arms"]
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
    results = ["fit", votes, "--covariates", about, "--draws", 50]
    result = run(*results, "--json")
    assert "not read: rows of cocoa" in caplog.text
    record = json.loads(result.stdout)
    named = [row["parameter"] for row in record["parameters"]]
    assert named == ["coefficient[heat]", "coefficient[price]", "log_tie"]
    for words in ("residual=False", "covariate_scale=1.0"):
        assert words in record["model"]
    # The utilities of three arms are sums of two numbers.
    scaled = json.loads(run(*results, "--json", "--prior-scale", 0.01).stdout)
    assert "covariate_scale=0.01" in scaled["model"]
    assert max(abs(row["score"]) for row in scaled["arms"]) < 0.1
    assert "coefficient[heat]" in run(*results).stdout
    said = run(*results, "--prior-scale", 1e-3).stderr
    assert "hardly lets heat, price matter" in said


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
    refused, votes, tmp_path, arguments, text, words
):
    about = tmp_path / "about.csv"
    if text is not None:
        about.write_text(text, encoding="utf-8")
    refused("fit", votes, "--covariates", about, *arguments, words=words)


def test_check_says_in_five_lines_whether_to_believe_the_fit(run, tmp_path):
    """A bias for the arm shown first that nobody asked for; in files, too."""
    rows = ["tea,milk,left", "milk,tea,left"] * 30 + ["tea,milk,right"] * 6
    path = tmp_path / "biased.csv"
    path.write_text("\n".join(["left,right,winner", *rows]), encoding="utf-8")
    result = run("fit", path, "--check", "--out", tmp_path / "out")
    record = json.loads((tmp_path / "out" / "standings.json").read_text())["check"]
    assert not record["good"] and record["verdict"].endswith("see order effect.")
    order = next(x for x in record["findings"] if x["name"] == "order effect")
    assert order["p_value"] < 0.001 and "--order-effect" in order["remedy"]
    lines = result.stdout.rstrip().splitlines()[-5:]
    assert lines[0] == record["verdict"] and lines[2].startswith("  BAD  order effect")
    assert "\n".join(lines) in (tmp_path / "out" / "standings.md").read_text()
    assert order["value"] in (tmp_path / "out" / "check.txt").read_text()


def test_a_fit_not_to_be_believed_is_said_unasked(run, votes, monkeypatch):
    doubt = SimpleNamespace(good=False, against=lambda: "do not believe it")
    monkeypatch.setattr("bayesduel.diagnostics.report", lambda *_, **__: doubt)
    assert "warning: do not believe it" in run("fit", votes, "--draws", 50).stderr


def test_differences_from_a_reference_are_printed_and_saved(run, votes, tmp_path):
    options = ["--weight", "times", "--quiet", "--reference", "milk"]
    options += ["--equivalent", "50", "--scale", "elo"]
    result = run("fit", votes, *options, "--json")
    record = json.loads(result.stdout)
    assert (record["reference"], record["difference"]) == ("milk", "elo")
    rows = {row["arm"]: row for row in record["contrasts"]}
    assert rows["milk"]["mean"] == 0.0 and rows["milk"]["p_equivalent"] == 1.0
    score = {row["arm"]: row["score"] for row in record["arms"]}
    assert rows["tea"]["mean"] == pytest.approx(score["tea"] - score["milk"])
    assert rows["tea"]["lower"] < rows["tea"]["mean"] < rows["tea"]["upper"]
    saved = run("fit", votes, *options, "--out", tmp_path / "out")
    with (tmp_path / "out" / "contrasts.csv").open(encoding="utf-8") as file:
        assert {row["arm"] for row in csv.DictReader(file)} == set(rows)
    for text in (saved.stdout, (tmp_path / "out" / "standings.md").read_text()):
        assert "minus milk" in text and "P(equivalent)" in text


def test_a_fit_by_the_mode_is_printed_and_saved(run, votes, tmp_path):
    out = tmp_path / "out"
    options = ["--weight", "times", "--method", "mode", "--reference", "milk"]
    result = run("fit", votes, *options, "--out", out)
    assert "ModeFit" in result.stdout and "minus milk" in result.stdout
    with (out / "standings.csv").open(encoding="utf-8") as file:
        rows = {row["arm"]: float(row["score"]) for row in csv.DictReader(file)}
    assert abs(sum(rows.values())) < 1e-9
    record = json.loads(run("fit", votes, *options, "--json", "--quiet").stdout)
    by_name = {row["arm"]: row["mean"] for row in record["contrasts"]}
    assert by_name["tea"] == pytest.approx(rows["tea"] - rows["milk"])
    votes.write_text(votes.read_text() + "ale,mead,tie,1\n")
    result = run("fit", votes, *options, "--json")
    (remark,) = json.loads(result.stdout)["remarks"]
    assert remark.startswith("the arms fall into 2 parts")
    assert f"warning: {remark}" in result.stderr.replace("\n", " ")


def test_more_arms_than_have_draws_are_fitted_by_the_mode(run, votes, monkeypatch):
    monkeypatch.setattr("bayesduel.arguments.limits.MOST_FITTED_ARMS", 2)
    arguments = ("fit", votes, "--weight", "times", "--json", "-q")
    record = json.loads(run(*arguments).stdout)
    assert record["method"] == "mode"
    assert record == json.loads(run(*arguments, "--method", "mode").stdout)
    refused = run(*arguments, "--scale", "elo", code=2)
    assert "--method mode has none" in " ".join(refused.stderr.split())
    printed = run("fit", votes, "--weight", "times", "-q").stdout
    assert "estimated from 64 draws" in " ".join(printed.split())


def effects_file(path):
    rng = np.random.default_rng(1)
    rows, utility = ["left,right,winner,longer"], rng.normal(size=5)
    for _ in range(400):
        first, second = rng.choice(5, 2, replace=False)
        longer = 100.0 * rng.normal()
        lead = utility[first] - utility[second] + 0.4 + 0.008 * longer
        said = "left" if rng.random() < 1 / (1 + np.exp(-lead)) else "right"
        said = "tie" if rng.random() < 0.2 else said
        rows.append(f"a{first},a{second},{said},{longer:.6f}")
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize("model", ["bradley-terry", "thurstone", "rao-kupper"])
def test_the_mode_lists_every_effect_as_other_fits_do(run, tmp_path, model):
    path = effects_file(tmp_path / "votes.csv")
    kind = ["--ties", model] if model == "rao-kupper" else ["--model", model]
    options = ["fit", path, *kind, "--order-effect", "--contest-covariate", "longer"]
    by_mode, by_draws = (
        json.loads(run(*options, "--method", method, "--json", "-q").stdout)
        for method in ("mode", "laplace")
    )
    mode, draws = by_mode["parameters"], by_draws["parameters"]
    names = [row["parameter"] for row in draws]
    assert names[:2] == ["contest_effect[longer]", "first_advantage"]
    assert len(names) == 3 and names == [row["parameter"] for row in mode]
    for first, second in zip(mode, draws, strict=True):
        assert list(first) == list(second) and first["meaning"] == second["meaning"]
        half = (second["upper"] - second["lower"]) / 2
        for key in ("mean", "lower", "upper"):
            assert first[key] == pytest.approx(second[key], abs=half / 4)
    assert {*by_mode["arms"][0]} - {"error", "mcse"} < {*by_draws["arms"][0]}
    spread = {row["arm"]: row["score_upper"] - row["score"] for row in by_draws["arms"]}
    for row in by_mode["arms"]:
        half = row["score_upper"] - row["score"]
        assert half == pytest.approx(spread[row["arm"]], rel=0.15)
        assert half == pytest.approx(1.6448536 * row["error"])
    out = tmp_path / "out"
    printed = run(*options, "--method", "mode", "--out", out).stdout
    assert all(name in printed for name in names)
    with (out / "parameters.csv").open(newline="") as file:
        assert [row["parameter"] for row in csv.DictReader(file)] == names
    saved = json.loads((out / "standings.json").read_text())
    assert saved["parameters"] == mode


def test_the_mode_lists_coefficients_of_covariates(run, tmp_path):
    path, about = effects_file(tmp_path / "votes.csv"), tmp_path / "about.csv"
    about.write_text("arm,size,age\na0,0,1\na1,1,0.5\na2,2,0.1\na3,1,0\na4,0.5,2\n")
    options = ["fit", path, "--ties", "split", "--covariates", about]
    options += ["--reference", "a0", "--json", "-q"]
    mode, draws = (
        json.loads(run(*options, "--method", method).stdout)
        for method in ("mode", "laplace")
    )
    names = ["coefficient[size]", "coefficient[age]"]
    assert [row["parameter"] for row in mode["parameters"]] == names
    for first, second in zip(mode["parameters"], draws["parameters"], strict=True):
        half = (second["upper"] - second["lower"]) / 2
        assert first["mean"] == pytest.approx(second["mean"], abs=half / 4)
        assert first["upper"] == pytest.approx(second["upper"], abs=half / 4)
    by_name = {row["arm"]: row for row in draws["contrasts"]}
    for row in mode["contrasts"]:
        second = by_name[row["arm"]]
        half = (second["upper"] - second["lower"]) / 2
        assert row["lower"] == pytest.approx(second["lower"], abs=half / 4 + 1e-12)
    residual = run(*options, "--residual", "--method", "mode", code=2).stderr
    assert "leave out --method mode" in residual


def test_groups_are_fitted_apart_and_named_in_all_that_is_written(run, tmp_path):
    path, out = tmp_path / "votes.csv", tmp_path / "out"
    rows = ["tea,milk,left,1", "milk,tea,right,1", "tea,water,left,1"] * 4
    rows += ["milk,tea,left,2"] * 5 + ["water,tea,tie,3"]
    path.write_text("\n".join(["left,right,winner,topic", *rows]) + "\n")
    arguments = ("fit", path, "--by", "topic", "--ties", "drop", "--scale", "elo")
    said = run(*arguments, "--out", out)
    assert "3: no vote is left in this group" in " ".join(said.stderr.split())
    assert "P(best) are among the arms of the same group" in said.stdout
    record = json.loads((out / "standings.json").read_text())
    assert [group["group"] for group in record["groups"]] == ["1", "2", "3"]
    assert record["groups"][2]["arms"] == []
    with (out / "standings.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [(row["group"], row["arm"]) for row in table] == [
        ("1", "tea"), ("1", "water"), ("1", "milk"), ("2", "milk"), ("2", "tea")
    ]  # fmt: skip
    for name, value in (("--reference", "tea"), ("--method", "mode")):
        refused = run(*arguments, name, value, code=2)
        assert f"{name}: is for one fit" in refused.output


def test_clustered_errors_stand_beside_the_models(run, tmp_path):
    path = tmp_path / "votes.csv"
    said = ["right" if judge % 3 == 0 else "left" for judge in range(9)]
    rows = [f"tea,milk,{word},{judge}" for judge, word in enumerate(said)]
    path.write_text("\n".join(["left,right,winner,by", *rows]) + "\n")
    arguments = ("fit", path, "--cluster", "by", "--order-effect", "-q")
    record = json.loads(run(*arguments, "--json").stdout)
    assert record["clusters"] == 9
    for row in record["parameters"][0], record["arms"][0]:
        assert row["error"] != row["error_clustered"] > 0
    said = run(*arguments)
    assert "9 clusters are independent" in " ".join(said.stdout.split())
    assert ["error", "clustered"] == said.stdout.splitlines()[1].split()[5:7]
    arms, out = tmp_path / "arms.csv", tmp_path / "out"
    arms.write_text("arm,price\ntea,1\nmilk,0\n")
    known = ["--covariates", arms, "--residual", "--by", "left", "--out", out]
    for options, words in (
        (["--method", "nuts"], "--cluster: needs the curvature at a mode"),
        (["--by", "by"], "--cluster: must be another column than --by"),
        (known, "--model: must be BradleyTerry, RaoKupper or Thurstone without judges"),
    ):
        assert words in " ".join(run(*arguments, *options, code=2).stderr.split())
    assert not out.exists()


def test_both_orders_of_one_prompt_are_one_vote(run, tmp_path, caplog):
    """Three prompts: one is answered alike, one always by left, one in one order."""
    path = tmp_path / "votes.csv"
    answers = {"p1": ("tea", "tea"), "p2": ("left", "left"), "p3": ("tea",)}
    rows = [f"{pair},{answer},{prompt},ann"
            for prompt, item in answers.items()
            for pair, answer in zip(("tea,milk", "milk,tea"), item, strict=False)
            ]  # fmt: skip
    path.write_text("\n".join(["left,right,winner,prompt,by", *rows]) + "\n")
    named = ("fit", path, "--context", "prompt", "--judge", "by", "--json")
    for rule, ties in (("tie", 1), ("nothing", 0)):
        said = run(*named, "--both-orders", rule)
        tea = {row["arm"]: row for row in json.loads(said.stdout)["arms"]}["tea"]
        assert [tea[key] for key in ("wins", "losses", "ties")] == [1, 0, ties]
        assert "1 of 5 rows of votes left out" in caplog.text
    for option in ("--order-effect", "--discrimination"):
        refused = run(*named, "--both-orders", "tie", option, code=2)
        assert f"{option}: is for votes" in refused.output


def test_covariates_of_the_contest_are_columns(run, refused, tmp_path):
    path, option = tmp_path / "votes.csv", "--contest-covariate"
    rows = "left,right,winner,longer\na,b,left,2\nb,a,left,\na,b,right,-1\n"
    path.write_text(rows, encoding="utf-8")
    for options, words in (
        ([option, "longer"], "row 1 of column 'longer' is no number: ''"),
        ([option, "a", option, "a"], f"{option}: must be different"),
        ([option, "a", "--model", "beta"], f"{option}: a Beta per pair has"),
    ):
        refused("fit", path, *options, words=words)
    more = "--missing skip --order-effect --draws 50 --contest-scale 1e-5"
    result = run("fit", path, option, "longer", *more.split())
    assert "2 votes, with longer" in result.stderr
    assert "the prior hardly lets longer matter" in result.stderr
    # A small number keeps its digits.
    (row,) = [x for x in result.stdout.splitlines() if "contest_effect[longer]" in x]
    assert "0.00" not in row.split()[1]

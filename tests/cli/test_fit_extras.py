"""``bayesduel fit``: whether to believe it, differences from an arm, and the mode."""

import csv
import json
from types import SimpleNamespace

import numpy as np
import pytest


def test_check_says_in_five_lines_whether_to_believe_the_fit(run, tmp_path):
    """A bias for the arm shown first that nobody asked for; in files, too."""
    rows = ["tea,milk,left", "milk,tea,left"] * 30 + ["tea,milk,right"] * 6
    path = tmp_path / "biased.csv"
    path.write_text("\n".join(["left,right,winner", *rows]), encoding="utf-8")
    result = run("fit", path, "--check", "--out", tmp_path / "out")
    found = json.loads((tmp_path / "out" / "standings.json").read_text())["check"]
    assert not found["good"] and found["verdict"].endswith("see order effect.")
    order = next(x for x in found["findings"] if x["name"] == "order effect")
    assert order["p_value"] < 0.001 and "--order-effect" in order["remedy"]
    lines = result.stdout.rstrip().splitlines()[-5:]
    assert lines[0] == found["verdict"] and lines[2].startswith("  BAD  order effect")
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
    found = json.loads(result.stdout)
    assert (found["reference"], found["difference"]) == ("milk", "elo")
    rows = {row["arm"]: row for row in found["contrasts"]}
    assert rows["milk"]["mean"] == 0.0 and rows["milk"]["p_equivalent"] == 1.0
    score = {row["arm"]: row["score"] for row in found["arms"]}
    assert rows["tea"]["mean"] == pytest.approx(score["tea"] - score["milk"])
    assert rows["tea"]["lower"] < rows["tea"]["mean"] < rows["tea"]["upper"]
    saved = run("fit", votes, *options, "--out", tmp_path / "out")
    with (tmp_path / "out" / "contrasts.csv").open(encoding="utf-8") as file:
        assert {row["arm"] for row in csv.DictReader(file)} == set(rows)
    for text in (saved.stdout, (tmp_path / "out" / "standings.md").read_text()):
        assert "minus milk" in text and "P(equivalent)" in text
    alone = run("fit", votes, "--weight", "times", "--equivalent", "1", code=2)
    assert "--equivalent: needs an arm" in alone.stderr


def test_what_a_fit_cannot_have_is_refused_before(run, votes, tmp_path):
    """Without a folder, and with the name of the option."""
    by_mode = ["--method", "mode"]
    for options, words in (
        (["--reference", "mil"], "--reference: names the unknown arm 'mil'; did you"),
        (["--anchor", "mil=1000"], "--anchor: names the unknown arm 'mil'; did you"),
        (["--model", "beta", "--scale", "elo"], "--scale elo: a Beta per pair has"),
        (["--model", "beta", "--anchor", "tea=1"], "--anchor: a Beta per pair has"),
        ([*by_mode, "--scale", "elo"], "--scale elo: is for a fit with draws"),
        ([*by_mode, "--anchor", "tea=1"], "--anchor: is for a fit with draws"),
        ([*by_mode, "--check"], "--check: is for a fit with draws"),
    ):
        found = run("fit", votes, *options, "--out", tmp_path / "out", "-q", code=2)
        assert found.stderr.splitlines()[-1].startswith(f"error: {words}")
    assert not (tmp_path / "out").exists()


def test_a_fit_by_the_mode_is_printed_and_saved(run, votes, tmp_path):
    out = tmp_path / "out"
    options = ["--weight", "times", "--method", "mode", "--reference", "milk"]
    result = run("fit", votes, *options, "--out", out)
    assert "ModeFit" in result.stdout and "minus milk" in result.stdout
    with (out / "standings.csv").open(encoding="utf-8") as file:
        rows = {row["arm"]: float(row["score"]) for row in csv.DictReader(file)}
    assert abs(sum(rows.values())) < 1e-9
    found = json.loads(run("fit", votes, *options, "--json", "--quiet").stdout)
    by_name = {row["arm"]: row["mean"] for row in found["contrasts"]}
    assert by_name["tea"] == pytest.approx(rows["tea"] - rows["milk"])
    votes.write_text(votes.read_text() + "ale,mead,tie,1\n")
    result = run("fit", votes, *options, "--json")
    (remark,) = json.loads(result.stdout)["remarks"]
    assert remark.startswith("the arms fall into 2 parts")
    assert f"warning: {remark}" in result.stderr.replace("\n", " ")


def effects_file(path):
    """Votes with ties, an order effect and a covariate of the contest; 5 arms."""
    rng = np.random.default_rng(1)
    rows, utility = ["left,right,winner,longer"], rng.normal(size=5)
    for _ in range(400):
        one, other = rng.choice(5, 2, replace=False)
        longer = 100.0 * rng.normal()
        lead = utility[one] - utility[other] + 0.4 + 0.008 * longer
        said = "left" if rng.random() < 1 / (1 + np.exp(-lead)) else "right"
        said = "tie" if rng.random() < 0.2 else said
        rows.append(f"a{one},a{other},{said},{longer:.6f}")
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize("model", ["bradley-terry", "thurstone", "rao-kupper"])
def test_the_mode_lists_every_effect_as_other_fits_do(run, tmp_path, model):
    path = effects_file(tmp_path / "votes.csv")
    kind = ["--ties", model] if model == "rao-kupper" else ["--model", model]
    options = ["fit", path, *kind, "--order-effect", "--contest-covariate", "longer"]
    found = {
        method: json.loads(run(*options, "--method", method, "--json", "-q").stdout)
        for method in ("mode", "laplace")
    }
    mode, draws = (found[name]["parameters"] for name in ("mode", "laplace"))
    names = [row["parameter"] for row in draws]
    assert names[:2] == ["contest_effect[longer]", "first_advantage"]
    assert len(names) == 3 and names == [row["parameter"] for row in mode]
    for one, other in zip(mode, draws, strict=True):
        assert list(one) == list(other) and one["meaning"] == other["meaning"]
        half = (other["upper"] - other["lower"]) / 2
        for key in ("mean", "lower", "upper"):
            assert one[key] == pytest.approx(other[key], abs=half / 4)
    assert set(found["mode"]["arms"][0]) < set(found["laplace"]["arms"][0])
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
    for one, other in zip(mode["parameters"], draws["parameters"], strict=True):
        half = (other["upper"] - other["lower"]) / 2
        assert one["mean"] == pytest.approx(other["mean"], abs=half / 4)
        assert one["upper"] == pytest.approx(other["upper"], abs=half / 4)
    by_name = {row["arm"]: row for row in draws["contrasts"]}
    for row in mode["contrasts"]:
        other = by_name[row["arm"]]
        half = (other["upper"] - other["lower"]) / 2
        assert row["lower"] == pytest.approx(other["lower"], abs=half / 4 + 1e-12)
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
    assert [each["group"] for each in record["groups"]] == ["1", "2", "3"]
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
    rows = [
        f"tea,milk,{'left' if judge % 3 else 'right'},{judge}" for judge in range(9)
    ]
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
            for prompt, each in answers.items()
            for pair, answer in zip(("tea,milk", "milk,tea"), each, strict=False)
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


def test_covariates_of_the_contest_are_columns(run, tmp_path):
    path, option = tmp_path / "votes.csv", "--contest-covariate"
    rows = "left,right,winner,longer\na,b,left,2\nb,a,left,\na,b,right,-1\n"
    path.write_text(rows, encoding="utf-8")
    for options, said in (
        ([option, "longer"], "row 1 of column 'longer' is no number: ''"),
        ([option, "a", option, "a"], f"{option}: must be different"),
        ([option, "a", "--model", "beta"], f"{option}: a Beta per pair has"),
        (["--contest-scale", "1"], "--contest-scale: is that of a --contest-covariate"),
    ):
        result = run("fit", path, *options, code=2)
        assert said in result.stderr
    more = "--missing skip --order-effect --draws 50 --contest-scale 1e-5"
    result = run("fit", path, option, "longer", *more.split())
    assert "2 votes, with longer" in result.stderr
    assert "the prior hardly lets longer matter" in result.stderr
    # A small number keeps its digits.
    (row,) = [x for x in result.stdout.splitlines() if "contest_effect[longer]" in x]
    assert "0.00" not in row.split()[1]

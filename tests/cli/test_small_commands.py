"""``audit-stopping``, ``calibrate``, ``merge`` and ``next``."""

import io
import json
from functools import partial

import numpy as np
import pandas as pd
import pytest

import bayesduel
from bayesduel.diagnostics import Calibration
from bayesduel.models import BradleyTerry, PairwiseBeta
from bayesduel.studies import Study


@pytest.fixture
def audit(run):
    return partial(run, "audit-stopping", "-q")


SMALL = ("-p", "balanced", "--budget", "60", "--runs", "30")


@pytest.mark.usefixtures("uncompiled")
def test_audits_of_matrices(audit, tmp_path):
    out = tmp_path / "audit"
    arguments = "-i gap -i cyclic --stopping p-value:alpha=0.05".split() + [*SMALL]
    result = audit(*arguments, "--out", out)
    assert "balanced: 30 studies of at most 60 votes" in result.stdout
    record = json.loads((out / "audit.json").read_text())
    assert [row["instance"] for row in record["rules"]] == ["gap", "cyclic"]
    assert (out / "false_stops.svg").exists()
    assert json.loads(audit(*arguments, "--json").stdout) == record
    assert "is not empty" in audit(*arguments, "--out", out, code=2).stderr
    audit(*arguments, "--out", out, "--overwrite")


@pytest.mark.usefixtures("uncompiled")
def test_audits_of_votes_and_studies(audit, tmp_path):
    votes = tmp_path / "votes.csv"
    votes.write_text("left,right,winner\n" + "a,b,left\n" * 9 + "b,c,right\n" * 4)
    rule = ("--stopping", "intervals:level=0.9")
    record = json.loads(audit("--from-votes", votes, *SMALL, *rule, "--json").stdout)
    assert record["rules"][0]["instance"] == "draws given 13 votes"
    file = tmp_path / "drinks.study"
    made = {"policy": "balanced", "delta": 0.2, "budget": 60, "model": "bradley-terry"}
    with Study.create(file, ["a", "b", "c"], **made) as study:
        study.import_votes(votes)
    record = json.loads(audit("--from-study", file, "--runs", 20, "--json").stdout)
    known = record["policy"], record["delta"], record["budget"]
    assert known == ("balanced", 0.2, 60)
    names = [row["rule"] for row in record["rules"]]
    assert names[:2] == ["anytime", "posterior by pair"]
    result = audit("--from-study", file, "-p", "d-ts", code=2)
    assert "--policy: a study has its own; leave it out" in result.stderr


FEW_VOTES = """left,right,winner,times
tea,milk,left,2
milk,water,tie,3
water,tea,right,1
tea,water,left,2
"""


@pytest.mark.slow
def test_coverage_of_the_default_of_fit(run, votes):
    """100 data sets: resampled Laplace intervals hold what they promise."""
    votes.write_text(FEW_VOTES)
    result = run("calibrate", votes, "--weight", "times", "--json",
                 "--simulations", "100", "--quiet")  # fmt: skip
    record = json.loads(result.stdout)
    assert record["fit"] == "Bradley-Terry by laplace" and record["simulations"] == 100
    rows = {row["quantity"]: row for row in record["quantities"]}
    assert set(rows) == {"utility", "log_tie", "log_likelihood"}
    # A standard error of 0.03 for one quantity.
    assert abs(rows["log_tie"]["coverage_90"] - 0.9) < 0.15
    assert record["smallest_p_value"] > 1e-5


@pytest.fixture
def simulated(monkeypatch):
    """Stand for the simulations; say what was asked for."""
    calls = []

    def calibrate(model, data, **options):
        calls.append((model, data, options))
        return Calibration(ranks={"utility": np.arange(40) % 20}, num_draws=19)

    monkeypatch.setattr("bayesduel.diagnostics.calibrate", calibrate)
    return calls


def test_a_table_of_a_calibration(run, simulated, votes, tmp_path):
    result = run("calibrate", votes, "--model", "beta", "--weight", "times",
                 "--simulations", "40", "--out", tmp_path / "out")  # fmt: skip
    assert json.loads((tmp_path / "out" / "calibration.json").read_text())["calibrated"]
    assert (tmp_path / "out" / "ranks.svg").exists()
    for words in ("utility", "in 90%", "smallest p-value"):
        assert words in result.stdout
    ((model, data, options),) = simulated
    assert (model, data.num_votes) == (PairwiseBeta(ties=True), 28)
    assert options["method"] == "exact" and options["resample"]


def test_options_reach_the_simulations(run, simulated, tmp_path):
    path = tmp_path / "drinks.csv"
    path.write_text("left,right,winner,longer\ntea,milk,left,2\nmilk,tea,left,-1\n")
    words = "--contest-covariate longer --contest-scale 0.5"
    assert f"bayesduel calibrate votes.csv {words}" in run("calibrate", "-h").stdout
    more = "--plain --prior-scale 3 --seed 7 --simulations 20 --order-effect"
    run("calibrate", path, *words.split(), *more.split(), "--json")
    ((model, data, options),) = simulated
    assert model == BradleyTerry(
        prior_scale=3.0, zero_sum=True, order_effect=True, contest_covariates=True,
        contest_scale=0.5,
    )  # fmt: skip
    assert data.contest_covariates == ("longer",)
    del options["on_progress"]
    assert options == {
        "method": "laplace", "num_simulations": 20, "resample": False, "rng_key": 7,
    }  # fmt: skip


@pytest.fixture
def part(tmp_path, uncompiled):
    experiment = bayesduel.Experiment(
        "cyclic", ["rucb", "rmed1"], num_runs=4, horizon=99
    )

    def part(text):
        experiment.run(out=tmp_path / "sweep", part=text)
        return tmp_path / "sweep"

    return part


def test_parts_are_joined_and_said(run, part):
    for text in ("1/2", "2/2"):
        folder = part(text)
    for _ in range(2):
        done = run("merge", folder)
        assert "RUCB" in done.stdout and "saved the results" in done.stderr
    children = bayesduel.results.load(folder)["cyclic"].children
    assert sorted(children) == ["RMED1", "RUCB"]


def test_what_is_missing_is_named_in_one_line(run, part):
    done = run("merge", part("2/2"), code=2)
    assert "lacks 1 chunks of 1 of its 2 parts: 1; do each" in done.stderr
    assert "1/2" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_folder_of_one_command_has_no_parts(run, tmp_path, uncompiled):
    experiment = bayesduel.Experiment("cyclic", "rucb", num_runs=4, horizon=99)
    experiment.run(out=tmp_path / "one")
    before = {x: x.read_bytes() for x in (tmp_path / "one").iterdir() if x.is_file()}
    done = run("merge", tmp_path / "one", code=2)
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    for words in ("holds the results of one command, and no parts of an experiment",
                  "bayesduel plot draws them"):  # fmt: skip
        assert words in done.stderr
    assert all(file.read_bytes() == content for file, content in before.items())
    done = run("merge", tmp_path, code=2)
    assert "holds no results of compare" in done.stderr


def test_the_pairs_are_those_of_the_function(run, votes):
    given = "--seed", "3", "-n", "6", "-p", "rucb:alpha=0.6"
    record = json.loads(run("next", votes, *given, "--json", "--quiet").stdout)
    expected = bayesduel.next_pairs(votes, "rucb:alpha=0.6", 6, seed=3)
    assert record["pairs"] == [pair._asdict() for pair in expected]
    assert record["policy"] == "rucb:alpha=0.6"
    printed = run("next", votes, *given).stdout
    for index, row in enumerate(record["pairs"], 1):
        cells = str(index), row["first"], row["second"]
        assert any(line.split()[:3] == [*cells] for line in printed.splitlines())
    text = run("next", votes, *given, "--lines", "jsonl").stdout
    assert [json.loads(line) for line in text.splitlines()] == record["pairs"]
    text = run("next", votes, *given, "--lines", "csv").stdout
    assert pd.read_csv(io.StringIO(text)).to_dict("records") == record["pairs"]
    result = run("next", votes, "--lines", "csv", "--json", code=2)
    assert "--lines: goes without --json" in result.stderr


def test_of_many_arms_pairs_come_from_draws(run, votes, monkeypatch):
    usual = json.loads(run("next", votes, "--json", "-q").stdout)
    assert usual["policy"] == "d-ts+" and len(usual["pairs"]) == 20
    for module in ("next_pairs", "player"):
        monkeypatch.setattr(f"bayesduel.simulation.{module}.MOST_ARMS", 2)
    record = json.loads(run("next", votes, "--seed", "3", "--json", "-q").stdout)
    assert record["policy"] == "Thompson sampling at the mode of Bradley-Terry"
    expected = bayesduel.next_pairs(votes, n=20, seed=3)
    assert record["pairs"] == [pair._asdict() for pair in expected]
    refused = run("next", votes, "-p", "rucb", code=2)
    assert "--policy: must be left out with more than 2 arms" in refused.stderr


def test_saved_questions_are_read_back_with_their_answers(run, votes, tmp_path):
    path = tmp_path / "questions.csv"
    run("next", votes, "-n", "4", "--exclude", "milk,tea", "--out", path)
    table = pd.read_csv(path)
    pairs = {frozenset(pair) for pair in table[["first", "second"]].to_numpy().tolist()}
    assert len(table) == 4 and frozenset({"milk", "tea"}) not in pairs
    table.assign(winner=table["first"]).to_csv(path, index=False)
    run("next", path, "-n", "2")
    result = run("next", votes, "--out", path, code=2)
    assert "--out: must not exist" in result.stderr
    run("next", votes, "--out", path, "--overwrite")
    lines = tmp_path / "questions.jsonl"
    run("next", votes, "-n", "4", "--out", lines)
    rows = [json.loads(line) for line in lines.read_text().splitlines()]
    assert len(rows) == 4 and {*rows[0]} == {"first", "second", "reason"}


def test_judges_and_prices_decide_what_is_asked(run, tmp_path):
    path, prices = tmp_path / "votes.csv", tmp_path / "prices.csv"
    path.write_text(
        "first,second,winner,judge\ntea,milk,tea,ann\ntea,coffee,coffee,ann\n"
        "milk,coffee,tie,bob\n"
    )
    prices.write_text(",tea,milk,coffee\ntea,0,2,7\nmilk,2,0,9\ncoffee,7,9,0\n")
    record = json.loads(run("next", path, "-n", "5", "--judge", "ann", "--json").stdout)
    pairs = {frozenset((row["first"], row["second"])) for row in record["pairs"]}
    assert pairs == {frozenset({"milk", "coffee"})}
    arguments = "next", path, "-n", "5", "-p", "track-and-stop:cost=prices"
    record = json.loads(run(*arguments, "--prices", prices, "--json").stdout)
    costs = {"tea": 2, "milk": 2, "coffee": 7}
    for row in record["pairs"]:
        pair = {row["first"], row["second"]}
        cost = 9 if pair == {"milk", "coffee"} else max(costs[arm] for arm in pair)
        assert f"it costs {cost}" in row["reason"]
    assert "cost needs prices" in run(*arguments, code=2).stderr


def test_standing_says_what_the_function_says(run, votes, tmp_path):
    path = tmp_path / "standing.csv"
    given = "standing", votes, "--delta", "0.1", "--model", "bradley-terry"
    record = json.loads(run(*given, "--json", "--quiet", "--out", path).stdout)
    expected = bayesduel.standing(votes, delta=0.1, model="bradley-terry")
    assert record.pop("version")
    assert record == json.loads(json.dumps(expected.as_dict()))
    rows = pd.read_csv(path)
    assert rows["arm"].tolist() == [arm.arm for arm in expected.arms]
    printed = " ".join(run(*given).stdout.split())
    assert f"{expected.leader!r} leads" in printed
    assert expected.stopping.meaning in printed
    names = ",".join([arm.arm for arm in expected.arms] + ["x"])
    more = json.loads(run("standing", votes, "--arm-names", names, "--json").stdout)
    assert more["leader"] is None and len(more["arms"]) == len(expected.arms) + 1
    assert "delta" in run("standing", votes, "--delta", "0", code=2).stderr


def test_prices_of_a_file_reach_policies(run, tmp_path, uncompiled):
    prices = tmp_path / "prices.csv"
    prices.write_text("0,2,11,11\n2,0,11,11\n11,11,0,20\n11,11,20,0\n")
    given = "compare", "-i", "cyclic", "-p", "track-and-stop:cost=prices"
    size = "--horizon", "50", "--runs", "1", "--quiet"
    run(*given, *size, "--prices", prices, "--out", tmp_path / "out")
    results = bayesduel.results.load(tmp_path / "out")
    assert results["cyclic"]["prices"].values[2, 3] == 20.0
    assert "cost needs prices" in run(*given, *size, code=2).stderr

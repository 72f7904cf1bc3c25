"""``bayesduel audit-stopping``: from a design to a table, JSON and a figure."""

import json
from functools import partial

import pytest

from bayesduel.studies import Study

pytestmark = pytest.mark.usefixtures("uncompiled")


@pytest.fixture
def run(run):
    return partial(run, "audit-stopping", "-q")


SMALL = ("-p", "balanced", "--budget", "60", "--runs", "30")


def test_matrices(run, tmp_path):
    out = tmp_path / "audit"
    asked = ("-i", "gap", "-i", "cyclic", *SMALL, "--stopping", "p-value:alpha=0.05")
    result = run(*asked, "--out", out)
    assert "balanced: 30 studies of at most 60 votes" in result.stdout
    kept = json.loads((out / "audit.json").read_text())
    assert [row["instance"] for row in kept["rules"]] == ["gap", "cyclic"]
    assert (out / "false_stops.svg").exists()
    again = run(*asked, "--json")
    assert json.loads(again.stdout) == kept
    assert "is not empty" in run(*asked, "--out", out, code=2).stderr
    run(*asked, "--out", out, "--overwrite")


def test_votes_and_studies(run, tmp_path):
    votes = tmp_path / "votes.csv"
    votes.write_text("left,right,winner\n" + "a,b,left\n" * 9 + "b,c,right\n" * 4)
    rule = ("--stopping", "intervals:level=0.9")
    found = json.loads(run("--from-votes", votes, *SMALL, *rule, "--json").stdout)
    assert found["rules"][0]["instance"] == "draws given 13 votes"
    file = tmp_path / "drinks.study"
    made = {"policy": "balanced", "delta": 0.2, "budget": 60, "model": "bradley-terry"}
    with Study.create(file, ["a", "b", "c"], **made) as study:
        study.import_votes(votes)
    found = json.loads(run("--from-study", file, "--runs", 20, "--json").stdout)
    assert (found["policy"], found["delta"], found["budget"]) == ("balanced", 0.2, 60)
    names = [row["rule"] for row in found["rules"]]
    assert names[:2] == ["anytime", "posterior by pair"]
    result = run("--from-study", file, "-p", "d-ts", code=2)
    assert "--policy: a study has its own; leave it out" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((), "give one of --instance, --from-votes and --from-study"),
        (("--from-votes", "x.csv"), "x.csv does not exist"),
        (("-i", "gap", "--budget", "0"), "budget: must be"),
        (("-i", "gap", "-p", "bt-ts"), "policy: must be one that a kernel plays"),
        (("-i", "gap", "--stopping", "x"), "must be one of anytime"),
    ],
)
def test_what_cannot_be_is_said(run, arguments, text):
    result = run(*arguments, code=2)
    assert text in result.stderr

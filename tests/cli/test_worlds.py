"""Subset choice on the command line: worlds and policies that offer sets."""

import json
import warnings

import pytest

import bayesduel
from bayesduel import policies
from bayesduel.errors import AssumptionWarning
from bayesduel.instances import choice
from tests.cli.test_compare import KEYS
from tests.folders import visible

BASIC = ("compare", "-i", "camera", "-p", "cucb", "--horizon", "1e4")


def test_a_world_is_an_environment_with_parameters(run, engine):
    text = "mnl:num_arms=8,subset_size=3"
    arguments = ("compare", "-i", text, "-p", "cucb", "--runs", 7, "--seed", 3)
    result = run(*arguments, "--regret", "top-k", "--json", code=2)
    assert "did you mean topk" in result.stderr
    result = run(*arguments, "--regret", "topk", "--json")
    rows = json.loads(result.stdout)
    assert [list(row) for row in rows] == [KEYS] * 2
    assert [row["notion"] for row in rows] == ["mnl_no_choice", "topk"]
    assert {(row["policy"], row["num_runs"]) for row in rows} == {("CUCB", 7)}
    (call,) = engine.calls
    assert call.instances == (choice.load_world(text),)
    assert call.regret == ("mnl_no_choice", "topk")


def test_tables_speak_of_the_regret_of_the_world(run, engine, monkeypatch):
    def doubt(policy, world):
        warnings.warn("CombUCB1 doubts", AssumptionWarning, stacklevel=2)

    monkeypatch.setattr(policies.CombinatorialUCB, "warn_about", doubt)
    result = run(*BASIC, "-p", "random-subsets", "--ranking")
    for words in ("camera: expected_reward regret", "CUCB", "slope", "seed 1",
                  "ranking at 10^4 by expected_reward regret"):  # fmt: skip
        assert words in result.stdout
    # Nothing is known of these bounds, and nothing is said of them.
    for words in ("bound", "ratio", "copeland"):
        assert words not in result.stdout
    assert result.stderr.count("warning: CombUCB1 doubts\n") == 1
    assert run(*BASIC, "--quiet").stderr == ""


def test_worlds_with_different_regrets(run, engine, tmp_path):
    """Each is reported, and has a figure, in its own."""
    out = tmp_path / "out"
    both = (*BASIC, "-i", "random-utility", "-i", "random-table:seed=1")
    result = run(*both, "--out", out)
    assert engine.calls[0].regret is None
    for words in ("camera: expected_reward regret", "random-utility: utility_sum",
                  "random-table:seed=1: expected_reward"):  # fmt: skip
        assert words in result.stdout
    assert result.stdout.count("random-utility: ") == 1
    assert visible(out) == {
        f"regret-{notion}.{kind}"
        for notion in ("expected-reward", "utility-sum")
        for kind in ("png", "svg")
    }
    rows = json.loads(run(*both, "--json").stdout)
    assert [row["instance"] for row in rows] == [
        "camera", "random-utility", "random-table:seed=1",
    ]  # fmt: skip
    assert all(row["regret_mean"] > 0 for row in rows)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-p", "d-ts"], "--policy: D-TS asks for duels, but camera is a world of "
         "subset choice; policies that offer sets: choice-bandits, cucb, "),
        (["-i", "cyclic"], "--instance: camera is a world of subset choice and "
         "cyclic a preference matrix; compare duels and sets separately"),
        (["-i", "camra"], "did you mean camera"),
        (["-i", "camera:k=2"], "--instance 'camera:k=2': 'camera' has no parameter"),
        (["-i", "random-table"], "'random-table' needs seed"),
        (["-p", "cucbb"], "did you mean cucb"),
        (["--regret", "topk"], "--regret: 'topk' does not exist here; camera has"),
        (["-i", "mnl", "--regret", "no_choice"], "camera (expected_reward), mnl "
         "(mnl_no_choice); compare them separately"),
    ],
)  # fmt: skip
def test_wrong_input_is_one_line_and_exit_code_2(run, engine, arguments, words):
    result = run(*BASIC, *arguments, code=2)
    assert words in result.stderr
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert not engine.calls


def test_a_matrix_refuses_policies_that_offer_sets(run, engine):
    result = run("compare", "-i", "cyclic", "-p", "cucb", code=2)
    assert result.stderr == (
        "error: --policy: CUCB offers sets, but cyclic is a preference matrix; "
        f"policies that ask for duels: {', '.join(policies.names())}\n"
    )
    bounds = run("bounds", "camera", code=2)
    assert "'camera' is a world of subset choice" in bounds.stderr


def test_worlds_are_listed(run):
    found = json.loads(run("list", "worlds", "--json").stdout)["worlds"]
    assert [row["name"] for row in found] == list(choice.world_names())
    for row in found:
        assert row["about"] and row["source"] and row["feedback"]
        required = "seed" in row["parameters"]
        world = choice.load_world(f"{row['name']}:seed=2" if required else row["name"])
        assert row["regrets"][0] == world.default_notion
        assert set(row["regrets"]) == set(world.notions)
    listed = json.loads(run("list", "subset-policies", "--json").stdout)
    (rows,) = listed.values()
    assert [row["name"] for row in rows] == list(bayesduel.policies.subset_names())
    for row in rows:
        text = ",".join(f"{key}={value}" for key, value in row["parameters"].items())
        policy = bayesduel.policies.parse_policy(f"{row['name']}:{text}")
        assert (policy.label, list(policy.feedbacks)) == (row["label"], row["feedback"])

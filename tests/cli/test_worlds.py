"""Worlds, and policies and worlds of one's own from the folder of the call."""

import json
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import bayesduel
from bayesduel import policies
from bayesduel.arguments import literals
from bayesduel.errors import AssumptionWarning
from bayesduel.instances import choice
from tests.cli.test_compare import KEYS
from tests.command_line import invoke
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


def test_a_matrix_refuses_policies_that_offer_sets(run, engine):
    result = run("compare", "-i", "cyclic", "-p", "cucb", code=2)
    assert result.stderr == (
        "error: --policy: CUCB offers sets, but cyclic is a preference matrix; "
        f"policies that ask for duels: {', '.join(policies.names())}\n"
    )


def test_worlds_are_listed(run):
    record = json.loads(run("list", "worlds", "--json").stdout)["worlds"]
    assert [row["name"] for row in record] == list(choice.world_names())
    for row in record:
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


POLICY = """
from bayesduel import Policy

class {name}(Policy):
    first: int = 0

    def start(self, *given):
        return [0]

    def choose(self, state, rng, round_):
        return self.first, self.first + 1

    def update(self, state, rng, round_, first, second, won):
        state[0] += 1

    def recommend(self, state, rng):
        return self.first
"""


@pytest.fixture
def here(tmp_path, monkeypatch, request):
    """A folder with a policy in a module of its own name, as imported modules stay."""
    name = f"mine_{abs(hash(request.node.name))}"
    (tmp_path / f"{name}.py").write_text(POLICY.format(name="Fixed"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [item for item in sys.path if item])
    yield f"{name}:Fixed"
    sys.modules.pop(name, None)
    literals.FOLDERS.clear()


def called(*words, code=0, **options):
    done = invoke([*map(str, words)], **options)
    assert done.exit_code == code, done.stderr
    return done.stdout


def test_a_study_goes_by_a_policy_of_the_folder(here):
    called("study", "new", "a.study", "--arms", "tea,milk,ale", "-p", f"{here}:first=1")
    (record,) = json.loads(called("study", "ask", "a.study", "--json"))
    assert {record["left"], record["right"]} == {"milk", "ale"}
    called("study", "tell", "a.study", "1", "left")
    assert "of 1" in called("study", "verify", "a.study")
    said = called("study", "serve-stdin", "a.study", input='{"do": "ask"}\n')
    assert json.loads(said)["tickets"][0]["rule"] == f"{here}:first=1"
    called("study", "add-arm", "a.study", "water")
    called("study", "status", "a.study")


@pytest.mark.parametrize("source", ["text", "table", "typed"])
def test_an_experiment_has_a_policy_of_the_folder(here, tmp_path, source):
    options = ["--horizon", "100", "--runs", "2"]
    policy = {"text": f'"{here}:first=1"', "table": f'{{name = "{here}", first = 1}}'}
    if source == "typed":
        options += ["-i", "cyclic", "-p", f"{here}:first=1"]
    else:
        text = f'instances = ["cyclic"]\npolicies = [{policy[source]}]\n'
        Path("sweep.toml").write_text(text)
        options += ["--config", "sweep.toml"]
    assert f"{here}:first=1" in called("config", *options)
    assert "Fixed" in called("compare", *options)


def test_what_plays_no_policy_of_ones_own_says_so_and_not_that_there_is_none(
    here, refused
):
    words = "must be one that a kernel plays"
    refused("audit-stopping", "-i", "gap", "-p", here, "--budget", 50, words=words)


@pytest.mark.parametrize(
    "line", ["study new a.study --arms a,b -p nowhere:X", "compare -i gap -p nowhere:X"]
)
def test_a_policy_that_is_not_there_is_said(here, refused, line):
    for words in ("there is no module 'nowhere'", "run from the folder that holds it"):
        refused(*line.split(), words=words)
    assert not Path("a.study").exists()


def test_nothing_of_the_folder_is_run_unless_a_policy_is_named(tmp_path):
    for name in ("pandas", "pyarrow", "uvicorn", "numpyro", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('run')")
    program = Path(sys.executable).with_name("bayesduel")
    for line in ("study new a.study --arms tea,milk -p balanced", "study ask a.study",
                 "study export a.study --votes"):  # fmt: skip
        command = [program, *line.split()]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True)
        assert done.returncode == 0, done.stderr


WORLD = """
from bayesduel import World

class Even(World):
    num_arms: int = 3
    share: float = 0.5

    def start(self, horizon, rng):
        return None

    def probability(self, state, rng, round_, first, second):
        return self.share if first < second else 1 - self.share

    def regret(self, state, round_, first, second):
        return (first + second) / 2
"""


@pytest.fixture
def there(here, tmp_path):
    module = here.partition(":")[0]
    with (tmp_path / f"{module}.py").open("a") as file:
        file.write(WORLD)
    return f"{module}:Even", here


@pytest.mark.parametrize("source", ["config", "typed"])
def test_an_experiment_has_a_world_of_the_folder(there, source):
    world, policy = there
    options = ["--horizon", "50", "--runs", "2", "--json"]
    if source == "typed":
        options += ["-i", f"{world}:share=0.6|0.7", "-p", policy]
    else:
        instances = f'instances = ["{world}:share=0.6|0.7"]\n'
        Path("sweep.toml").write_text(f'{instances}policies = ["{policy}"]\n')
        options += ["--config", "sweep.toml"]
    rows = json.loads(called("compare", *options))
    assert [row["instance"] for row in rows] == ["Even:share=0.6", "Even:share=0.7"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("no_such_module:X", "there is no module 'no_such_module' for the world"),
        ("{module}:Evn", "has no world 'Evn'; it has Even"),
        ("{module}:Fixed", "is no world but"),
        ("{module}:Even:shar=1", "did you mean share"),
        ("{module}:Even:share=x", "must be a number"),
        ("{module}:Even:share=2", "must be a number from 0 to 1"),
    ],
)
def test_what_is_wrong_with_a_world_is_said(there, refused, text, words):
    text = text.format(module=there[0].partition(":")[0])
    refused("compare", "-i", text, "-p", "random", "--horizon", 50, words=words)


def test_what_needs_a_matrix_refuses_a_world(there, refused):
    for name in (there[0], "drifting:speed=0.1"):
        refused("bounds", name, words="is a world, no preference matrix")

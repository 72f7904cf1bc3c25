"""Policies of one's own: every command finds them in the folder where it is called."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bayesduel.arguments import literals
from tests.command_line import invoke

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
    """A folder with a policy in a module of its own name, in which commands are called.

    A module that was imported stays: so each test has another one.
    """
    name = f"mine_{abs(hash(request.node.name))}"
    (tmp_path / f"{name}.py").write_text(POLICY.format(name="Fixed"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each])
    yield f"{name}:Fixed"
    sys.modules.pop(name, None)
    literals.FOLDERS.clear()


def called(*words, code=0, **options):
    done = invoke([*map(str, words)], **options)
    assert done.exit_code == code, done.stderr
    return done.stdout


def test_a_study_goes_by_a_policy_of_the_folder(here):
    called("study", "new", "a.study", "--arms", "tea,milk,ale", "-p", f"{here}:first=1")
    (asked,) = json.loads(called("study", "ask", "a.study", "--json"))
    assert {asked["left"], asked["right"]} == {"milk", "ale"}
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


def test_what_plays_no_policy_of_ones_own_says_so_and_not_that_there_is_none(here):
    done = invoke(["audit-stopping", "-i", "gap", "-p", here, "--budget", "50"])
    assert done.exit_code == 2
    assert "must be one that a kernel plays" in done.stderr


def test_a_policy_that_is_not_there_is_said(here):
    for words in (
        ["study", "new", "a.study", "--arms", "a,b", "-p", "no_such_module:X"],
        ["compare", "-i", "gap", "-p", "no_such_module:X"],
    ):
        done = invoke(words)
        assert done.exit_code == 2
        assert "there is no module 'no_such_module'" in done.stderr
        assert "run from the folder that holds it" in done.stderr
    assert not Path("a.study").exists()


def test_nothing_of_the_folder_is_run_unless_a_policy_is_named(tmp_path):
    """As it may hold the data of others, with a file that is called like a package."""
    for name in ("pandas", "pyarrow", "uvicorn", "numpyro", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('run')")
    program = Path(sys.executable).with_name("bayesduel")
    for words in (
        ["study", "new", "a.study", "--arms", "tea,milk", "-p", "balanced"],
        ["study", "ask", "a.study"],
        ["study", "export", "a.study", "--votes"],
    ):
        done = subprocess.run([program, *words], cwd=tmp_path, capture_output=True)
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
    """A folder with a policy, as above, and a world in the same module."""
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
def test_what_is_wrong_with_a_world_is_said(there, text, words):
    text = text.format(module=there[0].partition(":")[0])
    done = invoke(["compare", "-i", text, "-p", "random", "--horizon", "50"])
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())


def test_what_needs_a_matrix_refuses_a_world(there):
    for name in (there[0], "drifting:speed=0.1"):
        done = invoke(["bounds", name])
        assert done.exit_code == 2
        assert "is a world, no preference matrix" in " ".join(done.stderr.split())

"""Policies of one's own: every command finds them in the folder where it is called."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bayesduel.arguments import own_modules
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
    own_modules.FOLDERS.clear()


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

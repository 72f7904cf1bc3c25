"""Policies of one's own: labels that tell forms apart, and names for the command."""

import json
import os
import subprocess
import sys
from dataclasses import field
from pathlib import Path

import numpy as np
import pytest

import bayesduel
from bayesduel import policies
from bayesduel.errors import PolicyParameterError, UnknownNameError
from bayesduel.policies.policy import PolicyBase
from tests.fake_policies import Wanderer

ROOT = Path(__file__).resolve().parents[2]

FILE = """
import bayesduel

LIMIT = 3


class ETC(bayesduel.Policy):
    title = "Explore, then commit"
    factor: float = 1.0
    rounds: int = 5

    def check(self, num_arms, horizon):
        if self.factor <= 0:
            raise ValueError(f"factor must be above 0, got {self.factor}")

    def start(self, problem, rng):
        return None

    def choose(self, state, rng, round_):
        return 0, 1

    def update(self, state, rng, round_, first, second, won):
        pass

    def recommend(self, state, rng):
        return 0


class Needy(bayesduel.Policy):
    rounds: int
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Make the module ``mine_for_tests`` importable."""
    (tmp_path / "mine_for_tests.py").write_text(FILE)
    (tmp_path / "broken_for_tests.py").write_text("1 / 0")
    (tmp_path / "needing_for_tests.py").write_text("import nowhere_to_be_found")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in ("mine_for_tests", "broken_for_tests", "needing_for_tests"):
        sys.modules.pop(name, None)


class Many(bayesduel.Policy):
    title = "Many"
    inner: PolicyBase = policies.get("rucb")
    weights: object = field(default_factory=lambda: np.ones(3))
    word: str = "a"


@pytest.mark.parametrize(
    ("policy", "label"),
    [
        (Wanderer(), "Wanderer"),
        (Wanderer(2.0, bulk=3), "Wanderer:scale=2.0,bulk=3"),
        (Many(), "Many"),
        (Many(inner=policies.get("rucb", alpha=1.0)), "Many:inner=RUCB:alpha=1.0"),
    ],
)
def test_labels_are_titles_with_what_was_changed(policy, label):
    assert policy.label == label


def test_arrays_make_different_labels():
    labels = {Many(weights=np.full(3, item)).label for item in (1.0, 2.0, 3.0)}
    assert len(labels) == 3 and "Many" in labels


def test_two_forms_of_one_class_are_compared():
    tree = bayesduel.compare(
        "cyclic", [Wanderer(), Wanderer(2.0)], num_runs=2, horizon=50
    )
    assert list(tree["cyclic"].children) == ["Wanderer", "Wanderer:scale=2.0"]


def test_by_name(module):
    policy = policies.parse_policy("mine_for_tests:ETC:factor=2,rounds=7")
    assert (type(policy).__name__, policy.factor, policy.rounds) == ("ETC", 2.0, 7)
    assert policy.label == "Explore, then commit:factor=2.0,rounds=7"
    assert policies.parse_policy("mine_for_tests:ETC").label == "Explore, then commit"


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("mine_for_tests:ETK", UnknownNameError, "no policy 'ETK'; it has ETC, Needy"),
        ("mine_for_tests:LIMIT", PolicyParameterError, "is no policy but 3"),
        ("mine_for_tests:Needy", PolicyParameterError, "rounds must have a default"),
        ("mine_for_tests:ETC:factr=1", PolicyParameterError, "did you mean factor"),
        ("mine_for_tests:ETC:rounds=1.5", PolicyParameterError, "must be an integer"),
        ("nowhere_for_tests:ETC", UnknownNameError, "no module 'nowhere_for_tests'"),
        ("broken_for_tests:ETC", PolicyParameterError, "ZeroDivisionError"),
        ("needing_for_tests:ETC", PolicyParameterError, "nowhere_to_be_found"),
    ],
)
def test_names_that_lead_nowhere(module, text, error, words):
    with pytest.raises(error, match=words):
        policies.parse_policy(text)


@pytest.mark.slow
def test_the_command_finds_it_in_the_folder_where_it_is_called(module, tmp_path):
    """With workers, which must find it too."""
    code = "from bayesduel.cli import main; main()"
    words = "compare -i cyclic -p mine_for_tests:ETC -p mine_for_tests:ETC:factor=2"
    done = subprocess.run(
        [sys.executable, "-c", code, *words.split(), "--runs", "2", "--horizon", "100",
         "--jobs", "2", "--json", "--quiet"],
        cwd=module,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    labels = [row["policy"] for row in json.loads(done.stdout)]
    assert len({*labels}) == 2 and "factor=2" in labels[1]

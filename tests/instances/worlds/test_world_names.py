"""Worlds by name: those of the package, and classes in users' modules."""

import re
import sys

import numpy as np
import pytest

import bayesduel
from bayesduel import instances
from bayesduel.errors import ArgumentError, UnknownNameError
from bayesduel.instances.catalog import is_path, load_matrix, world_text
from bayesduel.instances.choice import ChoiceWorld
from bayesduel.instances.worlds import Drifting, LinearContexts, Piecewise
from theory import PreferenceMatrix

FILE = """
import numpy as np
import bayesduel


class Drift(bayesduel.World):
    speed: float = 1e-3
    num_arms: int = 5
    kind: str = "cos"
    upward: bool = False

    def start(self, horizon, rng):
        return np.sort(rng.normal(size=self.num_arms))[::-1].copy()

    def probability(self, state, rng, round_, first, second):
        gap = (state[first] - state[second]) * np.cos(self.speed * round_)
        return 1 / (1 + np.exp(-gap))

    def regret(self, state, round_, first, second):
        utility = state * np.cos(self.speed * round_)
        return utility.max() - (utility[first] + utility[second]) / 2


class Needy(bayesduel.World):
    num_arms: int


slow = Drift(speed=1e-5)
LIMIT = 3
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Make modules with worlds importable."""
    (tmp_path / "worlds_for_tests.py").write_text(FILE)
    (tmp_path / "broken_world_for_tests.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in ("worlds_for_tests", "broken_world_for_tests"):
        sys.modules.pop(name, None)


def test_a_class_is_named_as_policies_are(module):
    world = instances.load("worlds_for_tests:Drift:speed=1e-4,num_arms=3,upward=true")
    assert (world.speed, world.num_arms, world.upward) == (1e-4, 3, True)
    assert world.label == "Drift:speed=0.0001,num_arms=3,upward=True"
    assert instances.load("worlds_for_tests:Drift").label == "Drift"
    assert instances.load("worlds_for_tests:slow").speed == 1e-5
    assert instances.load("worlds_for_tests:slow:num_arms=3").speed == 1e-5
    # Words keep their capitals, and may be the path of a file.
    assert instances.load("worlds_for_tests:Drift:kind=A/b.csv").kind == "A/b.csv"


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        (
            "worlds_for_tests:Drft",
            UnknownNameError,
            "no world 'Drft'; it has Drift, Ne",
        ),
        ("worlds_for_tests:LIMIT", ArgumentError, "is no world but 3"),
        ("worlds_for_tests:Needy", ArgumentError, "num_arms must have a default"),
        ("worlds_for_tests:Drift:sped=1", ArgumentError, "did you mean speed"),
        ("worlds_for_tests:Drift:num_arms=1.5", ArgumentError, "must be an integer"),
        ("worlds_for_tests:Drift:speed=fast", ArgumentError, "must be a number"),
        ("worlds_for_tests:Drift:upward=1", ArgumentError, "must be true or false"),
        ("worlds_for_tests:Drift:speed", ArgumentError, "form parameter=value"),
        ("worlds_for_tests:Drift:speed=1,speed=2", ArgumentError, "gives speed twice"),
        ("nowhere_for_tests:Drift", UnknownNameError, "no module 'nowhere_for_tests'"),
        ("broken_world_for_tests:Drift", ArgumentError, "ZeroDivisionError"),
        ("drifting:sped=1", ArgumentError, "did you mean speed"),
        ("drifting:speed=fast", ArgumentError, "must be a number"),
        ("driftin", UnknownNameError, "did you mean drifting"),
    ],
)
def test_names_that_lead_nowhere(module, text, error, words):
    with pytest.raises(error, match=words):
        instances.load(text)


def test_load_reads_any_name():
    assert isinstance(instances.load("gap"), PreferenceMatrix)
    assert isinstance(instances.load("mallows:num_arms=4,phi=0.5"), PreferenceMatrix)
    assert isinstance(instances.load("camera"), ChoiceWorld)
    assert isinstance(instances.load("mnl:num_arms=8,subset_size=3"), ChoiceWorld)
    assert isinstance(instances.load("drifting"), Drifting)
    world = Drifting()
    assert instances.load(world) is world


@pytest.mark.parametrize(
    "text", ["drifting", "drifting:speed=1", "mine:Drift", "camera"]
)
def test_what_needs_a_matrix_refuses_worlds(text):
    with pytest.raises(UnknownNameError, match="is a world.*no preference matrix"):
        load_matrix(text)


def test_names_are_no_paths():
    assert not is_path("mine:Drift:kind=A/b.csv")
    assert not is_path("adversarial:table=a.npy")
    assert is_path("a.npy") and is_path("./drifting")


@pytest.mark.parametrize(
    "text",
    [
        "drifting",
        "drifting:speed=0.001,num_arms=8",
        "piecewise:segments=3,seed=4,spacing=geometric",
        "corrupted:world=drifting:speed=0.1;num_arms=8,budget=7,kind=any",
        "linear-contexts:contexts=fixed,link=probit",
        "ginop-contexts:seed=3",
        "vacdb-contexts",
        "worlds_for_tests:Drift:speed=0.0001,upward=true",
        "worlds_for_tests:Drift:speed=0.1,num_arms=3,kind=Sin,compiled=true",
    ],
)
def test_a_text_stands_for_the_same_world(module, text):
    world = instances.load(text)
    written = world_text(world)
    again = instances.load(written)
    assert again.checksum == world.checksum and again.label == world.label
    assert again.compiled == world.compiled
    assert {*re.split("[:,]", written)} == {*re.split("[:,]", text)}


def test_worlds_without_a_text_say_so():
    world = Piecewise(matrices=["gap", "gap"], changes=[3])
    with pytest.raises(ArgumentError, match="no text names the world piecewise"):
        world_text(world)
    with pytest.raises(ArgumentError, match="no text names the world linear-contexts"):
        world_text(LinearContexts(rows=np.eye(12)))


def test_checksums_tell_worlds_apart(tmp_path):
    forms = [
        *map(
            instances.load,
            ["drifting", "drifting:speed=0.1", "drifting:margin=0.1", "piecewise",
             "piecewise:seed=1", "piecewise:spacing=geometric", "corrupted",
             "corrupted:budget=3", "corrupted:world=gap", "linear-contexts",
             "linear-contexts:seed=1", "linear-contexts:link=probit",
             "ginop-contexts", "vacdb-contexts", "vacdb-contexts:active=0"],
        ),
        Drifting(matrix="gap"),
        Drifting(matrix="gap", to=bayesduel.load("gap").values.T),
    ]  # fmt: skip
    assert len({form.checksum for form in forms}) == len(forms)


def test_a_file_that_changes_makes_another_world(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.full((2, 3, 3), 0.5))
    one = instances.load(f"adversarial:table={path}").checksum
    np.save(path, np.full((3, 3, 3), 0.5))
    assert instances.load(f"adversarial:table={path}").checksum != one


def test_several_values_of_a_parameter_are_several_worlds(module):
    result = bayesduel.compare(
        "worlds_for_tests:Drift:speed=1e-4|1e-3", ["random"], num_runs=2, horizon=20
    )
    names = {"Drift:speed=0.0001", "Drift"}
    assert names <= set(result.children)


def test_descriptions_have_titles_and_parameters():
    result = instances.describe("drifting")
    assert result.title == "entries that walk at random, or move linearly"
    assert "speed=0.01" in result.parameters and "[to]" in result.parameters
    for name in instances.worlds.pair_world_names():
        assert instances.describe(name).source


def test_a_field_annotated_as_a_number_takes_fractions(tmp_path, monkeypatch):
    lines = ["from bayesduel.instances.worlds import Drifting", "class Mine(Drifting):"]
    text = "\n".join([*lines, "    change: float = 5000", "    count: int = 3"])
    (tmp_path / "whole.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert bayesduel.load("whole:Mine:change=2500.5").change == 2500.5
    with pytest.raises(ValueError, match="count must be an integer"):
        bayesduel.load("whole:Mine:count=2.5")

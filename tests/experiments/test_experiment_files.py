"""Experiments as TOML: read as they were written, and refused with the file's name."""

import tomllib

import numpy as np
import pandas as pd
import pytest

import bayesduel
from bayesduel import Experiment, policies, stopping
from bayesduel.errors import AssumptionWarning
from bayesduel.experiments.problems import problem_of
from bayesduel.instances import choice
from bayesduel.policies.lookup import policy_text
from bayesduel.policies.registry import entries
from bayesduel.simulation import driver
from bayesduel.stopping.words import rule_text
from tests.fake_policies import Scripted, Wanderer, instant_run_chunk
from tests.folders import REQUEST
from theory import PreferenceMatrix

NAMED = PreferenceMatrix(
    [[0.5, 1.0], [0.0, 0.5]], name='a "b" \\ c', arm_names=["cafe\u0301", "\x7f\n"],
    source="file mine.csv",
)  # fmt: skip
ANOTHER_GAP = PreferenceMatrix([[0.5, 0.6], [0.4, 0.5]], name="gap")
WRAPPED = [
    "d-ts:self_duels=false,every=10", "d-ts:posterior=thurstone,prior_scale=1.5",
    "rcs:prior=2,look_ahead=false", Wanderer(),
]  # fmt: skip
SAID = {
    "a grid": ((["gap", "sushi"], ["d-ts:alpha=0.6..1/3", "rucb:every=10"]), {}),
    "every argument": (
        (["cyclic"], "d-ts"),
        {
            "num_runs": 7, "horizon": 10**12, "checkpoints": [10, 1000],
            "seed": 2**63 - 1, "regret": ["borda", "copeland"], "shuffle": False,
            "record": "regret", "stopping": stopping.parse_rule(
                "anytime:delta=0.05,prior=1.5|budget:duels=9"
            ),
        },
    ),
    "families": (
        (["mallows:num_arms=4,phi=0.1|0.3", "uniform-random:num_arms=3,seed=1"], "rcs"),
        {},
    ),
    "worlds": ((["camera", "random-table:seed=2"], "cucb"), {"num_runs": 2}),
    "numbers": (([[0.5, 0.1 + 0.2], [0.7 - 1e-17, 0.5]], "d-ts"), {}),
    "names": ((NAMED, "random"), {}),
    "a name of another matrix": ((ANOTHER_GAP, "d-ts"), {}),
    "wrapped policies": (("cyclic", WRAPPED), {}),
}  # fmt: skip


def same(one, other):
    """Compare what results depend on, and what they say of it."""
    assert one == other
    assert one.labels == other.labels
    for mine, theirs in zip(one.instances, other.instances, strict=True):
        for word in ("name", "source", "arm_names", "checksum"):
            assert getattr(mine, word) == getattr(theirs, word)
    assert one.request() == other.request()


@pytest.mark.parametrize("name", SAID)
def test_what_is_written_is_read_as_the_same(name, tmp_path):
    arguments, options = SAID[name]
    experiment = Experiment(*arguments, **options)
    file = tmp_path / "asked.toml"
    file.write_text(experiment.to_toml(), "utf-8")
    again = Experiment.from_file(file)
    same(again, experiment)
    assert again.to_toml() == experiment.to_toml()


def test_a_file_of_tables_is_what_is_typed(tmp_path):
    file = tmp_path / "sweep.toml"
    file.write_text("""
        instances = ["gap", {name = "equal-gap", num_arms = 4, gap = [0.1, 0.2]}]
        policies = [
          {name = "d-ts", alpha = "0.6..1/3", look_ahead = [true, false]},
          {name = "rucb", alpha = [0.6, 1], every = [1, 10], zip = ["alpha", "every"]},
          "random",
        ]
        horizon = 1e6
    """)
    typed = Experiment(
        ["gap", "equal-gap:num_arms=4,gap=0.1|0.2"],
        ["d-ts:alpha=0.6..1/3,look_ahead=true|false", "rucb:alpha=0.6|1&every=1|10",
         "random"],
        horizon=10**6,
    )  # fmt: skip
    same(Experiment.from_file(file), typed)


def test_paths_start_at_the_folder_of_the_file(tmp_path):
    (tmp_path / "mine.csv").write_text("tea,milk\n0.5,0.7\n0.3,0.5\n")
    (tmp_path / "rounded.csv").write_text("0.5,0.7\n0.3001,0.5\n")
    np.save(tmp_path / "large.npy", np.full((3, 3), 0.5))
    file = tmp_path / "asked.toml"
    file.write_text("""
        instances = [
          "mine.csv",
          {file = "rounded.csv", repair = true},
          {file = "large.npy", name = "L", arm_names = ["a", "b", "c"], source = "s"},
          {name = "V", values = [[0.5, 0.6], [0.4, 0.5]]},
        ]
        policies = "d-ts"
    """)
    experiment = Experiment.from_file(file)
    assert experiment.names == ("mine", "rounded", "L", "V")
    mine, rounded, large, _ = experiment.instances
    assert mine.arm_names == ("tea", "milk") and "repaired" in rounded.source
    assert (large.arm_names, large.source) == (("a", "b", "c"), "s")


GOOD = 'instances = "gap"\npolicies = "d-ts"\n'

WRONG = [
    ("", "instances is not there"),
    ('instances = "gap"', "policies is not there"),
    ("runs = 5", "there is no key 'runs'; did you mean num_runs"),
    ('environments = "gap"', "did you mean instances?"),
    ('out = "x"', "the file says what is simulated"),
    (GOOD + 'num_runs = "many"', "num_runs must be an integer"),
    (GOOD + "seed = 1979-05-27", "seed must be an integer"),
    (GOOD + 'checkpoints = "10"', "checkpoints must be a list of rounds"),
    (GOOD + "stopping = 0.05", "stopping must be a rule in words"),
    ('instances = "gap"\npolicies = ["rucb", "d-tss"]', r"policies\[1\]: there is no"),
    ('instances = 1\npolicies = "d-ts"', "instances must be one or several"),
    ('instances = {title = "gap"}', "instances must have a name"),
    ("instances = [{values = [[1]], n = 3}]", r"instances\[0\]: there is no key 'n'"),
    ('policies = {name = "d-ts", alpha = {a = 1}}', "alpha must be a number, true"),
    ('policies = {name = "d-ts", alpha = "1,every=2"}', "alpha must be a number, true"),
    ('policies = {name = "d-ts", alpha = [1], zip = ["every"]}', "zip must be a list"),
    ('policies = {python = "Mine"}', "Mine was made in Python"),
    ('instances = "gap"\npolicies = {name = "d-ts", alpha = [1, 2], every = [1], '
     'zip = ["alpha", "every"]}', "zips 2 of alpha and 1 of every"),
    ("[", "is not TOML"),
    ("a = " + "[" * 5000, "is not TOML"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), WRONG, ids=[item[1] for item in WRONG])
def test_what_is_wrong_is_said_with_the_name_of_the_file(text, words, tmp_path):
    file = tmp_path / "asked.toml"
    file.write_text(text)
    with pytest.raises(ValueError, match=f"asked.toml.*{words}"):
        Experiment.from_file(file)


def test_what_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere.toml does not exist"):
        Experiment.from_file(tmp_path / "nowhere.toml")
    (tmp_path / "a.toml").write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(ValueError, match="a.toml is text in UTF-16"):
        Experiment.from_file(tmp_path / "a.toml")


def local_policy():
    return type("Local", (Wanderer,), {"__module__": "__main__"})()


def test_what_no_text_can_say_is_refused():
    camera = choice.load_world("camera")
    given = choice.ChoiceWorld(
        rule=camera.rule, subset_size=camera.subset_size, name="mine",
        default_notion=camera.default_notion,
    )  # fmt: skip
    large = PreferenceMatrix(np.full((129, 129), 0.5))
    looks = stopping.LookEvery(stopping.Budget(9), 2)
    for wrong, argument, words in (
        (Experiment("gap", ["rucb", local_policy()]), "policies[1]", "no text names"),
        (Experiment(given, "cucb"), "instances[0]", "of your own"),
        (Experiment("gap", "d-ts", stopping=looks), "stopping", "must be one of any"),
        (Experiment(large, "random"), "instances[0]", "numpy.save"),
    ):
        with pytest.raises(ValueError) as raised:
            wrong.to_toml()
        assert str(raised.value).startswith(argument)
        assert words in str(raised.value)


def test_policies_and_rules_have_texts():
    for name, entry in entries().items():
        assert policy_text(entry.default) == name
    fake = "tests.fake_policies:Scripted"
    for text in ("d-ts:alpha=0.6", "ecw-rmed:every=300", fake):
        assert policy_text(policies.parse_policy(text)) == text
    rules = "anytime:delta=1e-09,weight=0.3|p-value:alpha=0.05"
    assert rule_text(stopping.parse_rule(rules)) == rules


@pytest.fixture
def instant(monkeypatch):
    monkeypatch.setattr(driver, "run_chunk", instant_run_chunk([]))


def test_a_folder_holds_its_experiment_and_its_summary(instant, tmp_path):
    experiment = Experiment(
        ["gap", [[0.5, 0.6], [0.4, 0.5]]], [Wanderer(), Scripted()], num_runs=5,
        horizon=100, regret=["copeland", "borda"],
    )  # fmt: skip
    tree = experiment.run(out=tmp_path / "one")
    file = tmp_path / "one" / REQUEST
    same(Experiment.from_file(file), experiment)
    assert (tmp_path / "one" / "experiment-1.csv").is_file()
    Experiment.from_file(file).run(out=tmp_path / "other")
    for name in ("results.nc", "summary.csv", "summary.json", REQUEST):
        first, second = (tmp_path / folder / name for folder in ("one", "other"))
        assert first.read_bytes() == second.read_bytes()
    table = pd.read_csv(tmp_path / "one" / "summary.csv")
    assert len(table) == 2 * 2 * 2
    row = table.query("instance=='gap' and policy=='Scripted' and notion=='borda'")
    final = tree["gap/Scripted"]["regret"].sel(notion="borda").to_numpy()[:, -1]
    assert float(row["regret_mean"].iloc[0]) == pytest.approx(final.mean())
    objects = pd.read_json(tmp_path / "one" / "summary.json")
    assert list(objects.columns) == list(table.columns)


def test_what_no_text_can_say_stops_no_run(instant, tmp_path):
    large = PreferenceMatrix(np.full((130, 130), 0.5), name="large")
    experiment = Experiment(["gap", large], [local_policy()], num_runs=2, horizon=10)
    experiment.run(out=tmp_path)
    with pytest.raises(ValueError, match="Local was made in Python"):
        Experiment.from_file(tmp_path / REQUEST)
    data = tomllib.loads((tmp_path / REQUEST).read_text())
    expected = {"file": "experiment-1.csv", "name": "large", "source": ""}
    assert data["instances"][1] == expected
    fixed = (tmp_path / REQUEST).read_text().replace('{ python = "Local" }', '"random"')
    (tmp_path / "fixed.toml").write_text(fixed)
    again = Experiment.from_file(tmp_path / "fixed.toml")
    assert again.instances == (bayesduel.load("gap"), large)
    assert problem_of(again.instances[1]).name == "large"


def test_worlds_stand_in_a_file_by_their_names(tmp_path):
    world = bayesduel.instances.worlds.Drifting(speed=0.002, num_arms=4)
    with pytest.warns(AssumptionWarning):
        experiment = bayesduel.Experiment(world, "rucb", num_runs=2, horizon=20)
    file = tmp_path / "asked.toml"
    file.write_text(experiment.to_toml())
    assert '"drifting:' in file.read_text()
    with pytest.warns(AssumptionWarning):
        again = bayesduel.Experiment.from_file(file)
    digests = [[chunk.digest for chunk in of.chunks()] for of in (experiment, again)]
    assert digests[0] == digests[1]

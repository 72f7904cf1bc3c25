"""The request: read once, checked once, frozen; its errors say what, why and how."""

import inspect
import pickle
from dataclasses import FrozenInstanceError, replace
from itertools import count

import numpy as np
import pytest

import bayesduel
from bayesduel import Experiment, policies
from bayesduel.errors import (
    ArgumentError,
    InvalidPreferenceError,
    PolicyParameterError,
    SimulationArgumentError,
    UnknownNameError,
    errors_about,
)
from bayesduel.experiments import arguments as checks
from bayesduel.experiments.arguments import expand
from bayesduel.experiments.problems import problem_of
from bayesduel.policies.parameter_values import check_kinds
from bayesduel.simulation import driver
from tests.fake_policies import Wanderer
from tests.policies.instances import CONDORCET
from theory import REGRET_NOTIONS, PreferenceMatrix
from theory.arguments import short_repr

ASKED = {"instances": "cyclic", "policies": "d-ts"}

WRONG_FIELDS = {
    "instances": (["gap", "cyclik"], "cyclik", 1),
    "policies": (["rucb", "d-tss"], "d-tss", 1),
    "num_runs": (0, 0, None),
    "horizon": (2.5, 2.5, None),
    "checkpoints": ([10, 5], 5, 1),
    "seed": (-1, -1, None),
    "regret": (["weak", "copland"], "copland", 1),
    "shuffle": ("no", "no", None),
    "record": ("all", "all", None),
    "stopping": (0.05, 0.05, None),
}
"""By argument: a value, the wrong part of it, and its index."""

WRONG_RUNS = {
    "jobs": 0, "executor": "local", "part": "3", "progress": "no", "out": 5,
    "resume": True, "overwrite": True, "shared": True, "format": "csv",
}  # fmt: skip


def parameters(function):
    return [name for name in inspect.signature(function).parameters if name != "self"]


def error_of(function, **arguments):
    with pytest.raises(ArgumentError) as raised:
        function(**arguments)
    return raised.value


@pytest.mark.parametrize("name", parameters(Experiment.__init__))
def test_every_argument_has_an_error_with_all_fields(name):
    given, value, index = WRONG_FIELDS[name]
    instance = [[0.5, 0.6], [0.4, 0.5]]  # Has a Condorcet winner, for weak regret.
    error = error_of(Experiment, **(ASKED | {"instances": instance, name: given}))
    assert (error.argument, error.value, error.index) == (name, value, index)
    assert error.rule and error.remedy
    position = name if index is None else f"{name}[{index}]"
    assert str(error).startswith(position)
    for part in (error.rule, short_repr(value), error.remedy):
        assert part in str(error)


@pytest.mark.parametrize("name", parameters(Experiment.run))
def test_every_argument_of_a_run_has_an_error_with_all_fields(name):
    error = error_of(Experiment(**ASKED).run, **{name: WRONG_RUNS[name]})
    assert (error.argument, error.value) == (name, WRONG_RUNS[name])
    assert error.rule and error.remedy


def test_errors_name_the_arguments_of_the_function_that_was_called():
    for called, value in (("instance", "cyclik"), ("policy", "d-tss")):
        arguments = {"instance": "gap", "policy": "rucb", called: value}
        error = error_of(bayesduel.simulate, **arguments)
        assert (error.argument, error.value, error.index) == (called, value, None)


def test_what_a_policy_refuses_is_said_of_the_policy():
    wrong = ["rucb", policies.get("d-ts", alpha=0.2)]
    error = error_of(Experiment, instances="gap", policies=wrong)
    assert isinstance(error, PolicyParameterError)
    assert (error.argument, error.index) == ("policies", 1)
    assert error.rule.startswith("alpha must be a finite number above 0.5")


def test_an_error_within_an_argument_keeps_its_own_words():
    inner = ArgumentError("size", "must be even", 3, remedy="add {other=True}")
    with pytest.raises(ArgumentError) as raised, errors_about("table", "a file", 2):
        raise inner
    outer = raised.value
    assert str(outer) == "table[2]: size must be even, got 3; add other=True"
    assert outer.sentence("--table:", {"other": "--other"}.get) == (
        "--table: size must be even, got 3; add --other"
    )
    assert pickle.loads(pickle.dumps(outer)).remedy == "add other=True"


def test_it_is_frozen_normalized_and_checked_again_when_it_is_changed():
    experiment = Experiment("cyclic", ["rucb"], horizon=1e3, checkpoints=[10.0], seed=1)
    with pytest.raises(FrozenInstanceError):
        experiment.seed = 2  # pyright: ignore
    assert experiment.instances == (bayesduel.load("cyclic"),)
    assert experiment.policies == (policies.get("rucb"),)
    assert (experiment.horizon, experiment.checkpoints) == (1000, (10, 1000))
    assert (experiment.num_runs, experiment.regret, experiment.shuffle) == (
        100,
        None,
        True,
    )
    assert replace(experiment) == experiment == pickle.loads(pickle.dumps(experiment))
    assert replace(experiment, seed=2) != experiment
    with pytest.raises(ArgumentError, match="seed must be"):
        replace(experiment, seed=-1)


def test_policies_step_where_they_can():
    request = Experiment("gap", ["rucb", "random"]).without_look_ahead()
    expected = policies.get("rucb", look_ahead=False), policies.get("random")
    assert request.policies == expected


@pytest.mark.parametrize(
    ("instance", "words"),
    [("cyclic", "a preference matrix"), ("camera", "a world of subset choice")],
)
def test_matrices_and_worlds_answer_the_same_questions(instance, words):
    (given,) = Experiment(instance, "rucb" if "matrix" in words else "cucb").instances
    problem = problem_of(given)
    assert (problem.words, problem.name) == (words, given.name)
    for notion in problem.usual_notions:
        problem.check_notion(notion)
    for name, (dims, values) in problem.variables().items():
        if name.startswith("choice_"):
            assert dims[0] == "set"
        else:
            assert dims == problem.axes
            assert np.shape(values) == (given.num_arms,) * len(dims)


GOOD = [[0.5, 0.6], [0.4, 0.5]]
NAN = float("nan")
ROUNDS = "must be an integer from 1 to"
Input, Name = SimulationArgumentError, UnknownNameError
Parameter, Matrix = PolicyParameterError, InvalidPreferenceError

WRONG = [
    ("instances", [], Input, "instances must hold at least one, got []"),
    ("instances", 5, Input, "instances must be one or several, got 5"),
    ("instances", "cyclik", ValueError, "did you mean cyclic"),
    ("instances", "./nowhere.csv", FileNotFoundError, "nowhere.csv"),
    ("instances", [["a", "b"], ["c", "d"]], TypeError, "instances[0] must hold real"),
    ("instances", [GOOD, [[0.5, None], [0.4, 0.5]]], TypeError, "instances[1] must"),
    ("instances", ["gap", [[0.5, 0.6], [0.4]]], Matrix, "instances[1] must be a rect"),
    ("instances", ["gap", [[0.5]]], Matrix, "instances[1]: values must be a squ"),
    ("instances", ["gap", [[0.5, NAN], [0.4, 0.5]]], Matrix, "instances[1]: "),
    ("instances", ["gap", "gap"], Input, "'gap' is given twice"),
    ("instances", [GOOD, GOOD], Input, "'2-arms' is given twice"),
    ("horizon", 0, Input, "horizon must be an integer of at least 1, got 0"),
    ("horizon", 10**400, Input, "must be at most 2^62"),
    ("horizon", NAN, Input, "got nan"),
    ("horizon", "1e5", Input, "got '1e5'"),
    ("num_runs", True, Input, "num_runs must be an integer of at least 1, got True"),
    ("checkpoints", [10, 5], Input, "checkpoints[1] must be above the one before it"),
    ("checkpoints", [5, 5], Input, "checkpoints[1] must be above the one before it"),
    ("checkpoints", [0, 5], Input, f"checkpoints[0] {ROUNDS} the horizon 1000, got 0"),
    ("checkpoints", [5, 2000], Input, f"checkpoints[1] {ROUNDS} the horizon 1000"),
    ("checkpoints", [[1, 2]], Input, "got [1, 2]"),
    ("checkpoints", "10", Input, "checkpoints[0]"),
    ("checkpoints", 5, Input, "checkpoints must be one or several, got 5"),
    ("seed", 2**63, Input, "seed must be an integer from 0 to 2^63 - 1"),
    ("seed", None, Input, "seed must be an integer from 0 to 2^63 - 1, got None"),
    ("regret", "copland", Name, "did you mean copeland"),
    ("regret", ["copeland", "weeak"], Name, "no notion 'weeak'; did you mean weak"),
    ("regret", "zzz", Name, "all: copeland, "),
    ("regret", [1], Name, "no notion 1"),
    ("regret", [], Input, "at least one notion"),
    ("regret", 5, Input, "regret must be one or several, got 5"),
    ("regret", np.array(3), Input, "regret must be one or several"),
    ("record", ["plays"], Input, "plays, regret, quantiles"),
    ("shuffle", "no", Input, "shuffle must be True or False"),
    ("policies", "d-tss", Name, "no policy 'd-tss'; did you mean d-ts"),
    ("policies", "", Name, "all: "),
    ("policies", "d-ts:alpha=0.4", Parameter, "alpha must be a finite number above"),
    ("policies", "d-ts:alphaa=1", Parameter, "'alphaa'; did you mean alpha"),
    ("policies", "d-ts:alpha", Parameter, "not of the form parameter=value"),
    ("policies", "d-ts:alpha=x", Parameter, "alpha must be a number, got 'x'"),
    ("policies", "d-ts:alpha=1,alpha=2", Parameter, "gives alpha twice"),
    ("policies", "rucb:look_ahead=2", Parameter, "look_ahead must be true or false"),
    ("policies", "rmed1:f_power=-2", Parameter, "got -2"),
    ("policies", 5, Input, "policies must be"),
    ("policies", [], Input, "policies must hold at least one, got"),
    ("policies", ["d-ts", None], Input, "policies[1] must be a policy or the name"),
    ("policies", ["d-ts", "d-ts:alpha=0.51"], Input, "'d-ts' and 'd-ts:alpha=0.51' ar"),
    ("policies", policies.RelativeUCB(alpha="2"), Parameter, "alpha must be a number"),
    ("policies", policies.RelativeUCB(alpha=True), Parameter, "a number, got True"),
    ("policies", policies.RelativeUCB(alpha=np.ones(2)), Parameter, "alpha must be a"),
    ("policies", policies.RelativeUCB(look_ahead=1), Parameter, "look_ahead must be"),
    ("policies", policies.DoubleThompson(tie_break=None), Parameter, "must be a word"),
    ("policies", policies.CWRMED(resolve_every=1.5), Parameter, "must be an integer"),
    (
        "policies", policies.PairwiseComparisons(num_batches=10**400), Parameter,
        "an integer below 2^63",
    ),
    ("policies", policies.DelayedFeedback("rucb", 5), Parameter, "must be a policy"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("argument", "value", "error", "words"),
    WRONG,
    ids=[f"{item[0]}: {item[3]}" for item in WRONG],
)
def test_wrong_arguments(argument, value, error, words):
    results = {"instances": GOOD, "policies": "d-ts", "horizon": 1000, argument: value}
    with pytest.raises(error) as raised:
        Experiment(**results)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("name", "value", "error", "words"),
    [
        ("instance", [[0.5]], Matrix, "instance: values must be a square"),
        ("horizon", 0, Input, "horizon must be an integer of at lea"),
        ("num_lanes", 0, Input, "num_lanes must be an integer of at"),
        ("num_lanes", 10**9, Input, "num_lanes must be at most 6"),
        ("progress", "no", Input, "progress must be True or"),
    ],
)
def test_wrong_arguments_of_one_simulation(name, value, error, words):
    with pytest.raises(error, match=words):
        bayesduel.simulate(**{"instance": GOOD, "policy": "d-ts", name: value})


def test_what_is_wrong_is_found_before_anything_runs(monkeypatch, tmp_path):
    monkeypatch.setattr(driver, "run_chunk", None)
    with pytest.raises(Parameter):
        bayesduel.compare(GOOD, ["rucb", "d-ts:alpha=0.3"], out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(Matrix, match="Condorcet winner"):
        Experiment(["cyclic", "gap"], "d-ts", regret=["weak"])


@pytest.mark.parametrize(
    ("given", "checked"),
    [
        ([1, 10], (1, 10, 100)),
        ([1, 100], (1, 100)),
        ([], (100,)),
        (np.array([3, 50]), (3, 50, 100)),
        ([2.0, np.int64(5)], (2, 5, 100)),
    ],
)
def test_checkpoints_end_with_the_horizon(given, checked):
    assert checks.check_checkpoints(given, 100, 5) == checked


@pytest.mark.parametrize("horizon", [1, 12345, 2**62])
def test_default_checkpoints(horizon):
    """Ten per decade, four where there are many arms; every power of ten."""
    few = checks.check_checkpoints(None, horizon, 5)
    many = checks.check_checkpoints(None, horizon, 65)
    for grid in (few, many):
        assert list(grid) == sorted({*grid})
        assert (grid[0], grid[-1]) == (1, horizon)
        assert {10**k for k in range(19) if 10**k <= horizon} <= {*grid}
    assert sum(10**5 <= item < 10**6 for item in few) in (0, 10)
    assert sum(10**5 <= item < 10**6 for item in many) in (0, 4)
    assert len(few) >= len(many)


def test_one_or_several():
    import jax.numpy as jnp
    import xarray as xr

    matrix = PreferenceMatrix(CONDORCET, name="mine")
    arrays = (GOOD, np.array(GOOD), jnp.asarray(GOOD), xr.DataArray(GOOD))
    for single in ("gap", matrix, tuple(map(tuple, GOOD)), *arrays):
        assert len(Experiment(single, "d-ts").instances) == 1
    assert Experiment(["gap", GOOD, matrix], "d-ts").names == ("gap", "2-arms", "mine")
    assert Experiment("gap", Wanderer()).policies == (Wanderer(),)
    assert Experiment("gap", ("d-ts", "rucb")).labels == ("D-TS", "RUCB")
    generator = (name for name in ("gap", "cyclic"))
    assert Experiment(generator, "d-ts").names == ("gap", "cyclic")
    # A name becomes part of a path.
    assert Experiment(PreferenceMatrix(GOOD, name="a/b"), "d-ts").names == ("a-b",)
    (rounded,) = Experiment(np.float32(GOOD), "d-ts").instances
    assert rounded.values == pytest.approx(np.array(GOOD), abs=1e-7)


@pytest.mark.parametrize(
    ("given", "recorded"),
    [
        ("weak", ("weak",)),
        (["weak", "borda", "weak"], ("weak", "borda")),
        (REGRET_NOTIONS, REGRET_NOTIONS),
        (None, ("copeland",)),
    ],
)
def test_notions_are_recorded_once(given, recorded):
    assert Experiment(GOOD, "d-ts", regret=given).notions == {"2-arms": recorded}


@pytest.mark.parametrize(
    "name", ["..", ".", "a\0b", "a\nb", " a", "preference", "arm", "best_set"]
)
def test_names_under_which_results_cannot_be_kept(name):
    matrix = PreferenceMatrix(np.full((2, 2), 0.5), name=name)
    with pytest.raises(SimulationArgumentError, match="instances.*: results cannot"):
        Experiment(matrix, "d-ts")


def test_sizes_beyond_any_machine():
    with pytest.raises(SimulationArgumentError, match="jobs must be at most 1024"):
        bayesduel.compare(GOOD, "d-ts", jobs=10**6)
    with pytest.raises(SimulationArgumentError, match="checkpoints must be at most"):
        Experiment(GOOD, "d-ts", horizon=2**62, checkpoints=count(1))


def test_fields_of_policies_that_are_right():
    for alpha in (2, 2.0, np.float32(2), np.int64(2), np.array(2.0)):
        check_kinds(policies.RelativeUCB(alpha=alpha))


def test_ranges_and_lists_are_crossed_and_the_last_changes_fastest():
    assert expand("d-ts:alpha=0.1..0.3/3,every=1|10") == [
        f"d-ts:alpha={alpha},every={every}"
        for alpha in ("0.1", "0.2", "0.3")
        for every in (1, 10)
    ]
    middle = ["m:Class:every=40", "m:Class:every=70"]
    assert expand("m:Class:every=10..100/4")[1:3] == middle
    assert expand("p:a=2..1/3") == ["p:a=2", "p:a=1.5", "p:a=1"]


def test_zipped_parameters_move_together_and_are_crossed_with_others():
    zipped = [f"p:{pair},c={c}" for pair in ("a=1,b=10", "a=2,b=20") for c in "xy"]
    assert expand("p:a=1|2&b=10|20,c=x|y") == zipped
    assert expand("p:a=1..3/3&b=3..1/3&c=7|8|9")[2] == "p:a=3,b=1,c=9"
    # The number of pairs is that of the values, not their product.
    assert len(expand("p:a=1..2/1000&b=1..2/1000")) == 1000


def test_ranges_of_equal_ratios():
    assert expand("p:a=1..1000/4log") == [f"p:a={a}" for a in (1, 10, 100, 1000)]
    values = [float(item[4:]) for item in expand("p:a=2..0.02/7log")]
    ratios = [first / second for first, second in zip(values[1:], values, strict=False)]
    assert ratios == pytest.approx([100 ** (-1 / 6)] * 6)
    ends = expand("p:a=-1e308..1e308/3")
    assert ends == ["p:a=-1e308", "p:a=0", "p:a=1e308"]


@pytest.mark.parametrize(
    "text", ["d-ts", "folder/a..b/3.csv", "d-ts:alpha=0.6", "module:Class", "C:\\m.csv"]
)
def test_what_has_one_value_stays_as_it_is(text):
    assert expand(text) == [text]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("d-ts:alpha=a..b/3", "no range of numbers"),
        ("d-ts:alpha=false..2/3", "no range of numbers"),
        ("d-ts:alpha=1..2/1", "2 to 1000 values, not 1"),
        ("d-ts:alpha=1..2/1001", "2 to 1000 values, not 1001"),
        ("d-ts:alpha=1||2", "empty place"),
        ("d-ts:alpha=0..2/3log", "both ends must be above 0"),
        (f"d-ts:alpha=1..{'9' * 400}/3", "no range of numbers"),
        (f"d-ts:alpha=1..2/{'9' * 5000}", "a range has 2 to 1000 values"),
        ("d-ts:alpha=1|2&every=1|2|3", "zips 2 of alpha and 3 of every"),
        ("d-ts:alpha=1|2&every=5", "zips 2 of alpha and 1 of every"),
        ("d-ts:alpha=1..2/100,every=1..100/100", "10000 combinations"),
    ],
)
def test_what_is_no_range_is_refused(text, words):
    with pytest.raises(SimulationArgumentError, match=words) as raised:
        Experiment("cyclic", ["rucb", text])
    assert (raised.value.argument, raised.value.index) == ("policies", 1)


def test_an_experiment_has_a_policy_for_each_value():
    matrices = "equal-gap:gap=0.1,num_arms=4|5"
    experiment = Experiment(matrices, ["rucb", "d-ts:alpha=0.6..1/3"])
    assert experiment.labels[0] == "RUCB"
    assert [policy.alpha for policy in experiment.policies[1:]] == [0.6, 0.8, 1.0]
    assert [instance.num_arms for instance in experiment.instances] == [4, 5]

"""The request: read once, checked once, frozen; its errors say what, why and how."""

import inspect
import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

import bayesduel
from bayesduel import Experiment, policies
from bayesduel.errors import ArgumentError, PolicyParameterError, errors_about
from bayesduel.experiments.problems import problem_of
from theory.arguments import short_repr

GOOD = {"instances": "cyclic", "policies": "d-ts"}

WRONG = {
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
"""What is given, what of it is wrong, and where that stands."""

WRONG_RUNS = {
    "jobs": {"jobs": 0},
    "executor": {"executor": "local"},
    "part": {"part": "3"},
    "progress": {"progress": "no"},
    "out": {"out": 5},
    "resume": {"resume": True},
    "overwrite": {"overwrite": True},
    "shared": {"shared": True},
    "format": {"format": "csv"},
}


def parameters(function):
    return [name for name in inspect.signature(function).parameters if name != "self"]


def error_of(function, **arguments):
    with pytest.raises(ArgumentError) as raised:
        function(**arguments)
    return raised.value


@pytest.mark.parametrize("name", parameters(Experiment.__init__))
def test_every_argument_has_an_error_with_all_fields(name):
    given, value, index = WRONG[name]
    instance = [[0.5, 0.6], [0.4, 0.5]]  # Has a Condorcet winner, for weak regret.
    error = error_of(Experiment, **(GOOD | {"instances": instance, name: given}))
    assert (error.argument, error.value, error.index) == (name, value, index)
    assert error.rule and error.remedy
    place = name if index is None else f"{name}[{index}]"
    assert str(error).startswith(place)
    for part in (error.rule, short_repr(value), error.remedy):
        assert part in str(error)


@pytest.mark.parametrize("name", parameters(Experiment.run))
def test_every_argument_of_a_run_has_an_error_with_all_fields(name):
    error = error_of(Experiment(**GOOD).run, **WRONG_RUNS[name])
    assert error.argument == name
    assert error.rule and error.remedy
    assert error.value == WRONG_RUNS[name][name]


def test_errors_name_the_arguments_of_the_function_that_was_called():
    for called, value in (("instance", "cyclik"), ("policy", "d-tss")):
        arguments = {"instance": "gap", "policy": "rucb", called: value}
        error = error_of(bayesduel.simulate, **arguments)
        assert (error.argument, error.value, error.index) == (called, value, None)


def test_what_a_policy_refuses_is_said_of_the_policy():
    error = error_of(
        Experiment, instances="gap", policies=["rucb", policies.get("d-ts", alpha=0.2)]
    )
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
    asked = Experiment("cyclic", ["rucb"], horizon=1e3, checkpoints=[10.0], seed=1)
    with pytest.raises(FrozenInstanceError):
        asked.seed = 2  # pyright: ignore
    assert asked.instances == (bayesduel.load("cyclic"),)
    assert asked.policies == (policies.get("rucb"),)
    assert (asked.horizon, asked.checkpoints) == (1000, (10, 1000))
    assert (asked.num_runs, asked.regret, asked.shuffle) == (100, None, True)
    assert replace(asked) == asked == pickle.loads(pickle.dumps(asked))
    assert replace(asked, seed=2) != asked
    with pytest.raises(ArgumentError, match="seed must be"):
        replace(asked, seed=-1)


def test_policies_step_where_they_can():
    asked = Experiment("gap", ["rucb", "random"]).without_look_ahead()
    assert asked.policies == (
        policies.get("rucb", look_ahead=False), policies.get("random"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("instance", "words"),
    [("cyclic", "a preference matrix"), ("camera", "a world of subset choice")],
)
def test_matrices_and_worlds_answer_the_same_questions(instance, words):
    (given,) = Experiment(instance, "rucb" if "matrix" in words else "cucb").instances
    problem = problem_of(given)
    assert (problem.words, problem.name) == (words, given.name)
    problem.check_notion(problem.default_notion)
    for name, (dims, values) in problem.variables().items():
        if name.startswith("choice_"):
            assert dims[0] == "set"
        else:
            assert dims == problem.axes
            assert np.shape(values) == (given.num_arms,) * len(dims)

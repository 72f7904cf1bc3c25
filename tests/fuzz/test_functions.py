"""Whatever a public function is given, it answers, or refuses in our own words.

Every argument of every function is drawn from values that are right for its name and
from those that are wrong for any. What must hold: an end within 20 seconds and 2 GB,
and either a return or a ``ValueError`` that this project raised itself.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesduel
import theory
from bayesduel import analysis, instances, policies, results
from bayesduel.errors import AssumptionWarning
from bayesduel.experiments import execute, experiment
from bayesduel.policies import Offer, Policy, SubsetPolicy
from bayesduel.policies.subset_base import OfferingPolicy
from tests import public_names
from tests.fuzz.fuzzing import (
    HOSTILE,
    MANY_EXAMPLES,
    WRONG_NUMBERS,
    StartedError,
    is_ours,
    limited,
    short_text,
    started,
)
from theory import PreferenceMatrix

ORDER = [[0.5, 0.6, 0.65], [0.4, 0.5, 0.6], [0.35, 0.4, 0.5]]
CYCLE = [[0.5, 0.6, 0.3], [0.4, 0.5, 0.8], [0.7, 0.2, 0.5]]
TIED = [[0.5, 0.6, 0.6], [0.4, 0.5, 0.5], [0.4, 0.5, 0.5]]
CERTAIN = [[0.5, 1.0], [0.0, 0.5]]
GAPS = np.array(ORDER) - 0.5
TABLE = theory.ChoiceTable(
    [[0, 1], [0, 2], [1, 2]], [[0.5, 0.3], [0.6, 0.1], [0.3, 0.0]]
)

RIGHT: dict[str, list[Any]] = {
    "alpha": [0.51, 0.6, 1.5, 2.0],
    "arm_names": [["tea", "milk", "coffee"], ["a", "b"], None],
    "as_printed": [False, True],
    "batch": [1, 2],
    "best": [1.0],
    "beta": [2.5],
    "candidate": [0, 1],
    "checkpoints": [None, [1, 5]],
    "clip": [False, True],
    "choice_probabilities": [np.array([0.5, 0.0, 0.25])],
    "coefficient": [1.0, 2],
    "coefficients": [[1.0, -0.5], [1e300, -1e300], [0.0, 0.0]],
    "condition": ["", "x"],
    "constant": [0.0, 3],
    "counts": [np.ones((3, 3)), [[0, 5, 5], [5, 0, 5], [5, 5, 0]]],
    "epsilon": [0.1, 1],
    "exclude": [[(0, 1)], [(2, 1), (1, 0)], ()],
    "first": [0, 1, "tea"],
    "instance": ["cyclic", ORDER, "camera", "zoghi500:num_arms=5"],
    "every": [1, 100],
    "evidence": [np.ones((3, 3)), np.full((3, 3), 0.4)],
    "features": [np.eye(3)[:, :2], [[1e300, 0], [0, 1], [0, 1]], np.ones((2, 2)), None],
    "form": ["order", "printed", "explicit", "lemmas", "instance", "rewards", "sum"],
    "gap": [0.05, 1],
    "gap_index": [1, 2],
    "gaps": [GAPS, GAPS[:2, :2]],
    "horizon": [1, 10, 1e5, 2**62],
    "instances": ["cyclic", ["cyclic", "gap"], [ORDER], "mnl"],
    "indices": [[[0.9, 0.5], [0.7, 0.8]]],
    "include_self": [False, True],
    "jobs": [1, None],
    "key": [None],
    "kind": ["upper", "asymptotic lower", "order only"],
    "largest_reward": [1.0, 2],
    "length": [3.0, 1e300],
    "level": [0.1, [0.0, 1.0, np.inf]],
    "link": ["linear", "natural"],
    "log_coefficient": [1.0, 0],
    "log_inverse": [10.0],
    "log_rounds": [5.0, 10],
    "loglog_coefficient": [0.0, 1.0],
    "num_features": [1, 3],
    "matrix": [ORDER, CYCLE, TIED, CERTAIN, PreferenceMatrix(ORDER)],
    "means": [[0.9, 0.8], [1, 0]],
    "method": ["prefix"],
    "min_gap": [0.0, 0.01],
    "minimum_horizon": [2],
    "n": [1, 2],
    "name": ["d-ts", "gap", "mallows", "camera"],
    "name_or_path": ["gap", "zoghi500:num_arms=5", "mallows:num_arms=8,phi=0.5"],
    "notion": ["copeland", "borda", "weak"],
    "num_arms": [2, 3, 16],
    "num_batches": [1, 2, 4, 16],
    "num_duels": [74, 1],
    "num_lanes": [None, 1, 64],
    "num_runs": [1, 2],
    "offered": [[[True, False], [False, True]], np.array([True, False, True])],
    "one_reward": [True, False],
    "optimum": [theory.copeland_lower_bound(ORDER)],
    "order": ["share", "elasticity"],
    "p": [0.5, [0.0, 0.3, 1.0]],
    "pairs": [None, [(0, 1)]],
    "out": [None],
    "p_win": [0.75],
    "path": ["results.nc", "mine.csv"],
    "phi": [0.5, 0],
    "plays": [[1, 2, 10], 3],
    "policies": ["d-ts", ["d-ts", "rucb:alpha=0.6"], [policies.get("rmed1")]],
    "policy": ["d-ts", policies.get("rucb"), "ucb-no-order"],
    "pools": [None],
    "power": [0.5, 1],
    "probabilities": [[[0.5, 0.3], [0.6, 0.1], [0.3, 0.0]]],
    "probability": [None, 0.1, 1],
    "prices": [None, np.ones((3, 3)), [[0, 1, 2], [1, 0, np.inf], [2, np.inf, 0]]],
    "program": ["cw", "ecw", "identify"],
    "q": [0.5, [0.1, 0.3, 0.9]],
    "ratio": [0.5],
    "refined": [False, True],
    "regret": ["copeland", "condorcet_mean"],
    "repair": [False, True],
    "rho": [0.8, np.inf],
    "rng": [np.random.default_rng(0)],
    "rounds": [[1, 100], 1e6],
    "rule": ["sst", "sti"],
    "score": ["copeland", "borda"],
    "second": [2, 1, "milk"],
    "seed": [0, 1],
    "set_size": [1, 2, 3],
    "sets": [[[0, 1], [0, 2], [1, 2]]],
    "table": [TABLE],
    "ties": ["error", "ignore"],
    "shuffle": [True, False],
    "size": [2, 3],
    "step": [0.1],
    "subset_size": [2, 3],
    "text": ["d-ts:alpha=0.6", "mnl:num_arms=8,subset_size=3", "camera", "rucb"],
    "tolerance": [1e-9],
    "top": [0.8],
    "used_only": [False, True],
    "values": [ORDER, CYCLE, np.float32(ORDER), np.array([1.0, 0.8, 0.5])],
    "utilities": ["1good", [0.5, 0.4]],
    "votes": [[[0, 5, 9], [3, 0, 7], [0, 2, 0]], np.ones((3, 3)) - np.eye(3)],
    "weights": [[3.0, 1.0], np.ones(3)],
    "weight": [None, 0.1, 0.9],
    "width": [0.0, 0.05],
    "winner": [None, 0, 1],
    "won": [True, False, None],
    "wins": [np.ones((3, 3)), [[0, 5, 9], [3, 0, 7], [0, 2, 0]]],
    "worst_case": [False, True],
}
"""Values that are right, for some functions at least, by the name of the argument."""

RECORDS = {"AllocationRecord", "BottleneckRecord", "Bottlenecks", "Certificate"}
RECORDS |= {"ComparisonCounts", "Inconsistency", "Optimum", "OrderViolation"}
RECORDS |= {"Sensitivity", "Violation"}
"""Classes of results, which nobody but a function makes."""

FOR_KERNELS = {"cost_tilts", "directed_allocation", "empty_basis", "losses"}
FOR_KERNELS |= {"optimal_basis", "price_table"}
"""Functions for compiled policies, whose arguments are checked before."""


def of_theory() -> dict[str, Callable[..., Any]]:
    """Return every public function, and the methods that take something."""
    found = {
        name: each
        for name, each in public_names.of_theory().items()
        if callable(each) and name not in RECORDS | FOR_KERNELS
    }
    found = {
        name: each
        for name, each in found.items()
        if not (isinstance(each, type) and issubclass(each, Exception))
    }
    matrix = PreferenceMatrix(CYCLE)
    bound = theory.theorems.ccb_order(ORDER)
    found |= {
        "PreferenceMatrix.superiors": lambda candidate: matrix.superiors(candidate),
        "PreferenceMatrix.submatrix": lambda pairs: matrix.submatrix(pairs),
        "PreferenceMatrix.regret_per_pair": matrix.regret_per_pair,
        "RegretBound.call": lambda rounds: bound(rounds),
        "ComparisonCounts.call": lambda horizon: theory.theorems.double_thompson_counts(
            ORDER
        )(horizon),
        "ChoiceTable.from_rule": lambda num_arms, set_size: (
            theory.ChoiceTable.from_rule(num_arms, set_size, lambda sets: 0 * sets)
        ),
        "Bottlenecks.report": lambda num_batches: theory.bottlenecks(ORDER).report(
            num_batches
        ),
    }
    return found


def of_bayesduel() -> dict[str, Callable[..., Any]]:
    """Return the public functions of the package, and its policies."""
    found: dict[str, Callable[..., Any]] = {
        "simulate": bayesduel.simulate,
        "compare": bayesduel.compare,
        "Experiment": bayesduel.Experiment,
        "simulate_chunk": lambda chunk: bayesduel.simulate_chunk(chunk),
        "analysis.lower_bound": lambda matrix: analysis.lower_bound(matrix),
        "policies.get": lambda name, alpha, every: policies.get(
            name, alpha=alpha, every=every
        ),
        "instances.SubmatrixSampler": lambda matrix, size, min_gap, seed: (
            instances.SubmatrixSampler.of(matrix, size, min_gap=min_gap, seed=seed)
        ),
    }
    found |= of_players()
    modules = {
        "instances": (instances, ("describe", "load", "matrix_of_table")),
        "generators": (instances.generators, instances.generators.__all__),
        "choice": (instances.choice, instances.choice.__all__),
        "policies": (policies, ("parse_policy", "label_of", "name_of", "parameters")),
        "results": (results, ("load", "save")),
    }
    for where, (module, names) in modules.items():
        for name in names:
            function = getattr(module, name)
            if inspect.isfunction(function):
                found[f"{where}.{name}"] = function
    for name in policies.__all__:
        kind = getattr(policies, name)
        if isinstance(kind, type) and kind not in (Policy, SubsetPolicy, Offer):
            found[f"policies.{name}"] = played_by(kind)
    return found


def of_players() -> dict[str, Callable[..., Any]]:
    """Return a player, its methods and the next pairs, without compiled programs."""

    def play(**given: Any) -> None:
        player = bayesduel.Player(**given, compiled=False)
        for first, second in player.ask(2):
            player.tell(first, second, won=True)
        player.recommend()

    signature = inspect.signature(bayesduel.Player)
    kept = [each for name, each in signature.parameters.items() if name != "compiled"]
    play.__signature__ = signature.replace(parameters=kept)  # pyright: ignore
    names = ["tea", "milk", "coffee"]
    player = bayesduel.Player("rucb", arm_names=names, compiled=False)
    methods = "ask", "tell", "skip", "withdraw", "tell_counts"
    return {
        "Player": play,
        "next_pairs": bayesduel.next_pairs,
        "standing": bayesduel.standing,
        **{f"Player.{name}": getattr(player, name) for name in methods},
    }


def played_by(kind: type) -> Callable[..., Any]:
    """Return a function that makes a policy and asks whether it can play."""

    def make(**parameters: Any) -> None:
        instance = "mnl" if issubclass(kind, OfferingPolicy) else ORDER
        bayesduel.Experiment(instance, kind(**parameters), horizon=100)

    make.__signature__ = inspect.signature(kind)  # pyright: ignore
    return make


@st.composite
def calls(draw: st.DrawFn, functions: dict[str, Callable[..., Any]]) -> Any:
    """Draw a function and its arguments; mostly one of them is wrong."""
    name = draw(st.sampled_from(sorted(functions)))
    function = functions[name]
    parameters = inspect.signature(function).parameters
    given: dict[str, Any] = {}
    for key, parameter in parameters.items():
        optional = parameter.default is not parameter.empty
        kind = draw(st.integers(0, 9))
        if kind < 5 and optional:
            continue
        if kind < 8 and key in RIGHT:
            given[key] = draw(st.sampled_from(RIGHT[key]))
        else:
            wrong = WRONG_NUMBERS if draw(st.booleans()) else HOSTILE
            given[key] = draw(st.sampled_from(wrong))
    text = ", ".join(f"{key}={short_text(value)}" for key, value in given.items())
    return f"{name}({text})", partial(function, **given)


def check(call: tuple[str, Callable[[], Any]]) -> None:
    """Make one call."""
    text, function = call
    with limited(text):
        try:
            function()
        except StartedError:
            return
        except OSError as error:
            if error.filename is not None or is_ours(error):
                return
            raise AssertionError(f"{text}: {type(error).__name__}: {error}") from error
        except ValueError as error:
            if is_ours(error):
                return
            raise AssertionError(f"{text}: {type(error).__name__}: {error}") from error
        except Exception as error:
            raise AssertionError(f"{text}: {type(error).__name__}: {error}") from error


@contextmanager
def nothing_runs() -> Iterator[None]:
    """Let whatever would compute say that it was asked to, in a folder of its own."""
    with (
        TemporaryDirectory() as folder,
        chdir(folder),
        warnings.catch_warnings(),
        mock.patch.object(experiment, "simulate_chunk", started),
        mock.patch.object(execute, "execute", started),
    ):
        warnings.simplefilter("ignore", AssumptionWarning)
        yield


def check_bayesduel(call: tuple[str, Callable[[], Any]]) -> None:
    """Make one call of the package that simulates."""
    with nothing_runs():
        check(call)


THEORY, BAYESDUEL = of_theory(), of_bayesduel()
SAMPLE = settings(max_examples=200)
EVERYTHING = settings(max_examples=MANY_EXAMPLES)


@SAMPLE
@given(calls(THEORY))
def test_a_sample_of_theory(call):
    check(call)


@SAMPLE
@given(calls(BAYESDUEL))
def test_a_sample_of_the_package(call):
    check_bayesduel(call)


@pytest.mark.slow
@EVERYTHING
@given(calls(THEORY))
def test_theory(call):
    check(call)


@pytest.mark.slow
@EVERYTHING
@given(calls(BAYESDUEL))
def test_the_package(call):
    check_bayesduel(call)

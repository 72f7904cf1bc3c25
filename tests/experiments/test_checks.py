"""Wrong requests are refused before anything is computed, with a text that helps."""

from itertools import count

import numpy as np
import pytest

import bayesduel
from bayesduel import policies
from bayesduel.errors import (
    InvalidPreferenceError,
    PolicyParameterError,
    SimulationArgumentError,
    UnknownNameError,
)
from bayesduel.experiments import Experiment
from bayesduel.experiments import arguments as checks
from bayesduel.policies.parameter_values import check_kinds
from bayesduel.simulation import driver
from tests.fake_policies import Wanderer
from tests.policies.instances import CONDORCET
from theory import REGRET_NOTIONS, PreferenceMatrix

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
    ids=[f"{each[0]}: {each[3]}" for each in WRONG],
)
def test_wrong_arguments(argument, value, error, words):
    asked = {"instances": GOOD, "policies": "d-ts", "horizon": 1000, argument: value}
    with pytest.raises(error) as raised:
        Experiment(**asked)
    assert words in str(raised.value)


def test_wrong_arguments_of_one_simulation():
    for name, value, error, words in (
        (
            "instance",
            [[0.5]],
            InvalidPreferenceError,
            "instance: values must be a square",
        ),
        ("horizon", 0, SimulationArgumentError, "horizon must be an integer of at lea"),
        ("num_lanes", 0, SimulationArgumentError, "num_lanes must be an integer of at"),
        ("num_lanes", 10**9, SimulationArgumentError, "num_lanes must be at most 6"),
        ("progress", "no", SimulationArgumentError, "progress must be True or"),
    ):
        with pytest.raises(error, match=words):
            bayesduel.simulate(**{"instance": GOOD, "policy": "d-ts", name: value})


def test_notions_that_the_matrix_does_not_have():
    """Found out before the simulation, for every matrix of a comparison."""
    with pytest.raises(InvalidPreferenceError, match="Condorcet winner"):
        Experiment(["cyclic", "gap"], "d-ts", regret=["weak"])


def test_one_wrong_policy_is_found_before_the_others_run(monkeypatch, tmp_path):
    monkeypatch.setattr(driver, "run_chunk", None)
    with pytest.raises(PolicyParameterError):
        bayesduel.compare(GOOD, ["rucb", "d-ts:alpha=0.3"], out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


# What is right stays possible


def test_checkpoints_end_with_the_horizon():
    check = checks.check_checkpoints
    assert check([1, 10], 100, 5) == (1, 10, 100)
    assert check([1, 100], 100, 5) == (1, 100)
    assert check([], 100, 5) == (100,)
    assert check(np.array([3, 50]), 100, 5) == (3, 50, 100)
    assert check([2.0, np.int64(5)], 100, 5) == (2, 5, 100)


@pytest.mark.parametrize("horizon", [1, 12345, 2**62])
def test_default_checkpoints(horizon):
    """Ten per decade, four where there are many arms; every power of ten."""
    few = checks.check_checkpoints(None, horizon, 5)
    many = checks.check_checkpoints(None, horizon, 65)
    for grid in (few, many):
        assert list(grid) == sorted({*grid})
        assert grid[0] == 1
        assert grid[-1] == horizon
        assert {10**k for k in range(19) if 10**k <= horizon} <= {*grid}
    assert sum(10**5 <= each < 10**6 for each in few) in (0, 10)
    assert sum(10**5 <= each < 10**6 for each in many) in (0, 4)
    assert len(few) >= len(many)


def test_one_or_several():
    matrix = PreferenceMatrix(CONDORCET, name="mine")
    for single in ("gap", GOOD, np.array(GOOD), matrix, tuple(map(tuple, GOOD))):
        assert len(Experiment(single, "d-ts").instances) == 1
    several = Experiment(["gap", GOOD, matrix], "d-ts")
    assert several.names == ("gap", "2-arms", "mine")
    assert Experiment("gap", Wanderer()).policies == (Wanderer(),)
    assert Experiment("gap", ("d-ts", "rucb")).labels == ("D-TS", "RUCB")
    generator = (name for name in ("gap", "cyclic"))
    assert Experiment(generator, "d-ts").names == ("gap", "cyclic")


def test_arrays_of_other_libraries():
    import jax.numpy as jnp
    import xarray as xr

    for array in (jnp.asarray(GOOD), xr.DataArray(GOOD)):
        assert len(Experiment(array, "d-ts").instances) == 1


def test_notions_are_recorded_once():
    for given, recorded in (
        ("weak", ("weak",)),
        (["weak", "borda", "weak"], ("weak", "borda")),
        (REGRET_NOTIONS, REGRET_NOTIONS),
        (None, ("copeland",)),
    ):
        assert Experiment(GOOD, "d-ts", regret=given).notions == {"2-arms": recorded}


def test_names_of_matrices_fit_into_a_path():
    assert Experiment(PreferenceMatrix(GOOD, name="a/b"), "d-ts").names == ("a-b",)


@pytest.mark.parametrize(
    "name", ["..", ".", "a\0b", "a\nb", " a", "preference", "arm", "best_set"]
)
def test_names_under_which_results_cannot_be_kept(name):
    """Found out after the simulation, that would cost hours."""
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


def test_matrices_in_float32():
    single = np.float32([[0.5, 0.6], [0.4, 0.5]])
    (matrix,) = Experiment(single, "d-ts").instances
    assert matrix.values == pytest.approx(np.array(GOOD), abs=1e-7)

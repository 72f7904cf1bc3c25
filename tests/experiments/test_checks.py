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
from bayesduel.experiments import Experiment, comparison, store
from bayesduel.experiments.request import arguments as checks
from bayesduel.policies.parameter_values import check_kinds
from bayesduel.simulation import driver
from tests.fake_policies import Wanderer
from tests.policies.instances import CONDORCET
from theory import REGRET_NOTIONS, PreferenceMatrix

GOOD = [[0.5, 0.6], [0.4, 0.5]]
NAN, INF = float("nan"), float("inf")
ROUNDS = "must be an integer from 1 to"


@pytest.fixture
def nothing_runs(monkeypatch):
    """Fail the test if a simulation, or a job, is so much as begun."""

    def refuse(*arguments, **options):
        pytest.fail("something was computed")

    monkeypatch.setattr(driver, "run_chunk", refuse)
    monkeypatch.setattr(store, "run_jobs", refuse)
    monkeypatch.setattr(comparison.SimulationJob, "run", refuse)


MATRICES = [
    ([[]], ["square", "(1, 0)"]),
    ([[0.5]], ["square", "2 x 2", "(1, 1)"]),
    ([[0.5, 0.6, 0.7], [0.4, 0.5, 0.6]], ["square", "(2, 3)"]),
    ([[0.5, 0.6], [0.4]], ["rectangular"]),
    (np.full((2, 2, 2), 0.5), ["square", "(2, 2, 2)"]),
    ([[0.5, 0.6, 0.7], [0.4, 0.5, NAN], [0.3, 0.4, 0.5]],
     ["finite", "[1, 2]", "nan", "remove what is missing"]),
    ([[0.5, INF], [0.4, 0.5]], ["finite", "[0, 1]", "inf"]),
    ([[0.5, 1.6], [-0.6, 0.5]], ["values[0, 1]", "in [0, 1]", "1.6"]),
    ([[0.5, 0.6], [0.3, 0.5]], ["must be 1", "(0, 1)", "0.6 + 0.3", "correct"]),
    ([[0.6, 0.6], [0.4, 0.4]], ["diagonal", "[0, 0]", "0.6"]),
]  # fmt: skip


@pytest.mark.parametrize(("values", "words"), MATRICES, ids=str)
def test_matrices(nothing_runs, values, words):
    with pytest.raises(InvalidPreferenceError) as raised:
        bayesduel.simulate(values, "d-ts")
    assert str(raised.value).startswith(("instance: ", "instance must "))
    assert [word for word in words if word not in str(raised.value)] == []
    with pytest.raises(InvalidPreferenceError) as raised:
        bayesduel.compare(["cyclic", values], "d-ts")
    assert str(raised.value).startswith(("instances[1]: ", "instances[1] must "))


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        ([], SimulationArgumentError, "instances must hold at least one, got []"),
        (None, SimulationArgumentError, "instances must be one or several"),
        (5, SimulationArgumentError, "instances must be one or several, got 5"),
        ("cyclik", ValueError, "did you mean cyclic"),
        ("./nowhere.csv", FileNotFoundError, "nowhere.csv"),
        ([["a", "b"], ["c", "d"]], TypeError, "instances[0] must hold real"),
        ([GOOD, [[0.5, None], [0.4, 0.5]]], TypeError, "instances[1] must hold"),
        (["gap", "gap"], SimulationArgumentError, "'gap' is given twice"),
        ([GOOD, GOOD], SimulationArgumentError, "'2-arms' is given twice"),
    ],
    ids=str,
)
def test_environments(nothing_runs, values, error, words):
    with pytest.raises(error) as raised:
        bayesduel.compare(values, "d-ts")
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "horizon must be an integer of at least 1, got 0"),
        (10**400, "must be at most 2^62"),
        (NAN, "got nan"),
        ("1e5", "got '1e5'"),
    ],
    ids=repr,
)
def test_horizons(nothing_runs, value, words):
    for function in (bayesduel.simulate, bayesduel.compare):
        with pytest.raises(SimulationArgumentError) as raised:
            function(GOOD, "d-ts", horizon=value)
        assert "horizon" in str(raised.value)
        assert words in str(raised.value)


@pytest.mark.parametrize(("name", "value"), [("num_runs", True), ("num_lanes", 0)])
def test_counts(nothing_runs, name, value):
    with pytest.raises(SimulationArgumentError) as raised:
        bayesduel.simulate(GOOD, "d-ts", **{name: value})
    assert str(raised.value) == (
        f"{name} must be an integer of at least 1, got {value!r}; give 1 or more"
    )
    assert (raised.value.argument, raised.value.value) == (name, value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([10, 5], "checkpoints[1] must be above the one before it, 10, got 5; sort"),
        ([5, 5], "checkpoints[1] must be above the one before it, 5, got 5"),
        ([0, 5], f"checkpoints[0] {ROUNDS} the horizon 1000, got 0"),
        ([5, 2000], f"checkpoints[1] {ROUNDS} the horizon 1000, got 2000"),
        ([[1, 2]], "got [1, 2]"),
        ("10", "checkpoints[0]"),
        (5, "checkpoints must be one or several, got 5"),
    ],
    ids=repr,
)
def test_checkpoints(nothing_runs, value, words):
    with pytest.raises(SimulationArgumentError) as raised:
        bayesduel.simulate(GOOD, "d-ts", horizon=1000, checkpoints=value)
    assert words in str(raised.value)


@pytest.mark.parametrize("value", [-1, 2**63, None], ids=repr)
def test_seeds(nothing_runs, value):
    with pytest.raises(SimulationArgumentError) as raised:
        bayesduel.simulate(GOOD, "d-ts", seed=value)
    assert str(raised.value) == (
        f"seed must be an integer from 0 to 2^63 - 1, got {value!r}; any of them will "
        "do, such as 0"
    )


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        ("copland", UnknownNameError, "did you mean copeland"),
        (["copeland", "weeak"], UnknownNameError, "no notion 'weeak'; did you mean w"),
        ("zzz", UnknownNameError, "all: copeland, "),
        ([1], UnknownNameError, "no notion 1"),
        ([], SimulationArgumentError, "at least one notion"),
        (5, SimulationArgumentError, "regret must be one or several, got 5"),
    ],
    ids=repr,
)
def test_notions(nothing_runs, value, error, words):
    with pytest.raises(error) as raised:
        bayesduel.simulate(GOOD, "d-ts", regret=value)
    assert "regret" in str(raised.value)
    assert words in str(raised.value)


def test_notions_that_the_matrix_does_not_have(nothing_runs):
    """Found out before the simulation, for every matrix of a comparison."""
    with pytest.raises(InvalidPreferenceError, match="Condorcet winner"):
        bayesduel.compare(["cyclic", "gap"], "d-ts", regret=["weak"])


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        ("d-tss", UnknownNameError, "no policy 'd-tss'; did you mean d-ts"),
        ("", UnknownNameError, "all: .*d-ts, "),
        ("d-ts:alpha=0.4", PolicyParameterError, "alpha must be .* above 0.5.* 0.4"),
        ("d-ts:alphaa=1", PolicyParameterError, "no parameter 'alphaa'.* mean alpha"),
        ("d-ts:alpha", PolicyParameterError, "not of the form parameter=value"),
        ("d-ts:alpha=x", PolicyParameterError, "alpha must be a number, got 'x'"),
        ("d-ts:alpha=1,alpha=2", PolicyParameterError, "gives alpha twice"),
        ("rucb:look_ahead=2", PolicyParameterError, "look_ahead must be true or fa"),
        ("rmed1:f_power=-2", PolicyParameterError, "f_power .* got -2"),
        (None, SimulationArgumentError, "polic.* must be .* got None"),
        (5, SimulationArgumentError, "polic.* must be .* got 5"),
        (bayesduel.policies.get("d-ts", alpha=0.2), PolicyParameterError, "alpha"),
    ],
    ids=str,
)
def test_policies(nothing_runs, value, error, words):
    for function in (bayesduel.simulate, bayesduel.compare):
        with pytest.raises(error, match=words):
            function(GOOD, value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([], "policies must hold at least one, got"),
        (["d-ts", "d-ts:alpha=0.51"], "'d-ts' and 'd-ts:alpha=0.51' are both called"),
        (["d-ts", None], r"policies\[1\] must be a policy or the name of one"),
    ],
)
def test_lists_of_policies(nothing_runs, value, words):
    with pytest.raises(SimulationArgumentError, match=words):
        bayesduel.compare(GOOD, value)


def test_one_wrong_policy_is_found_before_the_others_run(nothing_runs, tmp_path):
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


@pytest.mark.parametrize("horizon", [1, 9, 12345, 2**62])
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


def test_switches(nothing_runs):
    """A text such as "no" would count as true."""
    value = "no"
    for name in ("shuffle", "progress", "resume", "overwrite"):
        with pytest.raises(SimulationArgumentError, match=f"{name} must be True or"):
            bayesduel.compare(GOOD, "d-ts", **{name: value})
    for name in ("shuffle", "progress"):
        with pytest.raises(SimulationArgumentError, match=f"{name} must be True or"):
            bayesduel.simulate(GOOD, "d-ts", **{name: value})


def test_sizes_beyond_any_machine(nothing_runs):
    with pytest.raises(SimulationArgumentError, match="num_lanes must be at most 6"):
        bayesduel.simulate(GOOD, "d-ts", num_lanes=10**9)
    with pytest.raises(SimulationArgumentError, match="jobs must be at most 1024"):
        bayesduel.compare(GOOD, "d-ts", jobs=10**6)
    with pytest.raises(SimulationArgumentError, match="checkpoints must be at most"):
        bayesduel.simulate(GOOD, "d-ts", horizon=2**62, checkpoints=count(1))


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (policies.RelativeUCB(alpha="2"), "RelativeUCB: alpha must be a number"),
        (policies.RelativeUCB(alpha=True), "alpha must be a number, got True"),
        (policies.RelativeUCB(alpha=np.ones(2)), "alpha must be a number"),
        (policies.RelativeUCB(look_ahead=1), "look_ahead must be true or false"),
        (policies.DoubleThompson(tie_break=None), "tie_break must be a word"),
        (policies.CWRMED(resolve_every=1.5), "resolve_every must be an integer"),
        (policies.PairwiseComparisons(num_batches=10**400), "an integer below 2^63"),
        (policies.DelayedFeedback("rucb", 5), "policy must be a policy"),
    ],
    ids=lambda each: "" if isinstance(each, policies.Policy) else each,
)
def test_fields_of_policies(nothing_runs, policy, words):
    with pytest.raises(PolicyParameterError) as raised:
        bayesduel.simulate(GOOD, policy)
    assert words in str(raised.value)


def test_fields_of_policies_that_are_right():
    for alpha in (2, 2.0, np.float32(2), np.int64(2), np.array(2.0)):
        check_kinds(policies.RelativeUCB(alpha=alpha))


def test_matrices_in_float32():
    single = np.float32([[0.5, 0.6], [0.4, 0.5]])
    (matrix,) = Experiment(single, "d-ts").instances
    assert matrix.values == pytest.approx(np.array(GOOD), abs=1e-7)

"""What every registered policy must do, whatever its rule.

A policy enters this suite by being registered. Python plays rules and kernels, a few
runs of a few hundred rounds: to compile them takes longer. What is up to the loop, and
not to the policy, is asked of one policy for each loop, compiled.
"""

from dataclasses import fields, replace
from functools import cache, partial

import numpy as np
import pytest

from bayesduel import policies
from bayesduel.policies.policy import over_model
from bayesduel.simulation import asked_models, driver
from tests.policies.distributions import (
    features,
    rejected,
    same_distribution,
    self_duels,
)
from tests.policies.driving import CHECKPOINTS, FEW_RUNS, simulate_runs
from tests.policies.instances import CONDORCET, DECISIVE, MATRICES, TWO_WINNERS

pytestmark = pytest.mark.usefixtures("hardly_optimized")

FALSE_ALARM = 1e-5
"""Of one test of a distribution."""

NAMES = policies.names()

RULES = [name for name in NAMES if isinstance(policies.get(name), policies.Policy)]
"""Those written for one run, which Numba compiles."""

IN_JAX = [
    name for name in NAMES if name not in RULES and over_model(policies.get(name))
]

QUICK_RULE = "interleaved-filter"
"""The one that is compiled in the least time."""

LOOPS = ["d-ts", pytest.param("rmed1", marks=pytest.mark.slow), QUICK_RULE]
"""One policy for each loop over rounds, and for kernels one that walks through the arms
in their order: its program is for that alone, so it is slow. Rounds in bulk, and
the loop over rounds in JAX: ``simulation``."""

SHORT, FEW = (40, 120, 300), 6

NUMBERS = dict.fromkeys(("parwis", "d-optimal"), 2) | {"cw-rmed": 3}
NUMBERS |= dict.fromkeys(IN_JAX, FEW_RUNS)
"""Runs, where they are not ``FEW``: of rules whose rounds take long, and of those with
a program of its own for every number of lanes."""

LONGEST_HORIZON = 2**62

COMMITTING = {
    "sup-klucb",
    "scb",
    "merge-rucb",
    "savage",
    "savage-copeland",
    "beat-the-mean",
    "interleaved-filter",
}
"""Rules that stay with one arm, for good or for an epoch: weak preferences mislead
them, or cost them millions of rounds first, and two seeds can end in the same plays."""

IGNORES_NUMBERS = {"pure-d-ts", "bt-ts", "scb", "beat-the-mean"}
"""Forms in which no number has a say: two have no confidence bounds, the factor of SCB
belongs to its other stopping rule, that of Beat the Mean decides later."""


TWO_ARMS = np.array([[0.5, 0.95], [0.05, 0.5]])

INSTANCES = MATRICES | {"decisive": DECISIVE, "two arms": TWO_ARMS}


def clear_instance(name):
    """Return a matrix on which 700 rounds show which arm is best."""
    return "decisive" if name in COMMITTING else "condorcet"


def with_other_numbers(policy):
    """Change every hyperparameter that is a number, by little."""
    numbers = [
        field.name
        for field in fields(policy)
        if isinstance(getattr(policy, field.name), float)
    ]
    return replace(policy, **{name: 1.1 * getattr(policy, name) for name in numbers})


FEW_AT_ONCE = {"bt-ts"}
"""Forms that draw 16 rounds at once: what they cost grows with the horizon."""

LOOKING_AHEAD = [
    name
    for name in NAMES
    if getattr(policies.get(name), "look_ahead", False) and name not in FEW_AT_ONCE
]
NUMBERED = [
    name
    for name, policy in zip(NAMES, map(policies.get, NAMES), strict=True)
    if with_other_numbers(policy) != policy
]


simulate_few = partial(simulate_runs, runs=range(FEW_RUNS))


@cache
def runs_of(name, matrix="condorcet", checkpoints=CHECKPOINTS, seed=0):
    return simulate_few(
        policies.get(name), INSTANCES[matrix], checkpoints=checkpoints, seed=seed
    )


def few_runs_of(name, matrix="condorcet", **options):
    """Play the runs that every policy is asked for."""
    options = {"checkpoints": SHORT} | options
    runs = options.pop("runs", range(NUMBERS.get(name, FEW)))
    policy = options.pop("policy", policies.get(name))
    return simulate_runs(policy, INSTANCES[matrix], runs=runs, **options)


first_runs_of = cache(few_runs_of)


def num_programs():
    """Return how many programs of the loop this process holds."""
    return asked_models.play._cache_size()


def plays_of(records):
    return records.ledger["plays"]


def assert_same_runs(records, here, others, there):
    for ours, theirs in (
        (plays_of(records), plays_of(others)),
        (records.recommendation, others.recommendation),
        (records.events, others.events),
    ):
        np.testing.assert_array_equal(ours[here], theirs[there])


# What is up to the policy


@pytest.mark.parametrize(
    "name",
    # Two arms take a program of their own in JAX.
    [pytest.param(x, marks=[pytest.mark.slow] * (x in IN_JAX)) for x in NAMES],
)
def test_two_arms(name, in_python):
    """The smallest problem: arm 0 wins 95 of 100, so one run of six may go wrong."""
    records = few_runs_of(name, "two arms", checkpoints=(300,))
    assert np.all(np.triu(plays_of(records)[:, 0]).sum(axis=(1, 2)) == 300)
    assert np.sum(records.recommendation != 0) <= 1


@pytest.mark.parametrize("name", NAMES)
def test_plays_add_up_to_the_round(name, in_python):
    for matrix in ["condorcet"] if name in IN_JAX else MATRICES:
        records = first_runs_of(name, matrix)
        plays = plays_of(records)
        assert plays.shape == (len(records.events), len(SHORT), 4, 4)
        assert plays.dtype == np.int64
        assert plays.min() >= 0
        assert np.all(plays.sum(axis=(2, 3)) == SHORT)
        assert np.all(np.tril(plays, -1) == 0)
        assert np.all(np.diff(plays, axis=1) >= 0)
        assert records.recommendation.min() >= 0 and records.recommendation.max() < 4


@pytest.mark.parametrize("name", [name for name in NAMES if name not in IN_JAX])
def test_runs_do_not_depend_on_those_before(name, in_python):
    """A policy that changes arrays in place could leave something to the next run.

    What becomes of a state in JAX is up to the loop: ``simulation.test_independence``.
    """
    number = NUMBERS.get(name, FEW)
    last = few_runs_of(name, runs=range(number - 1, number))
    assert_same_runs(last, slice(None), first_runs_of(name), slice(-1, None))


@pytest.mark.parametrize("name", NAMES)
def test_horizon_of_one_round(name, in_python):
    plays = plays_of(few_runs_of(name, checkpoints=(1,)))
    assert plays.shape[1:] == (1, 4, 4)
    assert np.all(plays.sum(axis=(1, 2, 3)) == 1)


@pytest.mark.parametrize("name", NUMBERED)
def test_hyperparameters_reach_the_rule(name, in_python):
    """In JAX they are traced, and not silently those of the program's first call."""
    expected = plays_of(first_runs_of(name))
    before = num_programs()
    other = with_other_numbers(policies.get(name))
    plays = plays_of(few_runs_of(name, policy=other))
    assert num_programs() == before, "a sweep over numbers compiles once"
    assert bool(np.any(plays != expected)) == (name not in IGNORES_NUMBERS)


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOKING_AHEAD)
def test_longest_horizon(name):
    grid = (1000, 10**9, LONGEST_HORIZON)
    records = few_runs_of(name, clear_instance(name), checkpoints=grid)
    plays = plays_of(records)
    assert plays.min() >= 0
    assert plays.sum(axis=(2, 3)).tolist() == [list(grid)] * len(plays)
    # Nearly all rounds belong to the Condorcet winner.
    assert np.all(plays[:, -1, 0, 0] > LONGEST_HORIZON - 10**6)
    assert np.all(records.recommendation == 0)


@pytest.mark.parametrize(
    "name",
    [pytest.param(x, marks=[pytest.mark.slow] * (x != QUICK_RULE)) for x in RULES],
)
def test_compiled_and_plain_rules_play_the_same_runs(name):
    """One with a winner and one with two: to a digit. Of kernels:
    ``simulation.test_uncompiled``."""
    for matrix in ("condorcet", "two winners"):
        plain, compiled = (
            few_runs_of(
                name, matrix, policy=policies.get(name, compiled=each), runs=range(1)
            )
            for each in (False, True)
        )
        assert_same_runs(plain, slice(None), compiled, slice(None))


# What is up to the loop


@pytest.mark.parametrize("name", LOOPS)
def test_runs_do_not_depend_on_segments(name, monkeypatch):
    shares = []
    monkeypatch.setattr(driver, "_SEGMENT_SECONDS", 1e-9)
    records = simulate_few(policies.get(name), TWO_WINNERS, on_progress=shares.append)
    # The shortest segments have 64 events; every lane plays some hundred.
    assert len(shares) > 3
    assert shares == sorted(shares)
    whole = runs_of(name, "two winners")
    np.testing.assert_array_equal(plays_of(records), plays_of(whole))


@pytest.mark.parametrize("name", LOOPS)
def test_runs_do_not_depend_on_the_grid_of_checkpoints(name):
    dense = (*range(1, 7), 40, *range(45, 60), 120, 300, 699, 700)
    expected = plays_of(runs_of(name))
    plays = plays_of(runs_of(name, checkpoints=dense))
    columns = [dense.index(each) for each in CHECKPOINTS]
    np.testing.assert_array_equal(plays[:, columns], expected)


@pytest.mark.parametrize("name", LOOPS)
def test_same_seed_same_runs_another_seed_others(name):
    again = simulate_few(policies.get(name), CONDORCET)
    np.testing.assert_array_equal(plays_of(again), plays_of(runs_of(name)))
    other = plays_of(runs_of(name, seed=1))
    same = np.all(other[:, -1] == plays_of(runs_of(name))[:, -1], axis=(1, 2))
    # Of a rule that stays with one arm two seeds can do the same.
    assert same.mean() < (0.25 if name in COMMITTING else 0.05)


@pytest.mark.parametrize("name", LOOPS)
def test_relabeled_arms_permute_the_distribution(name):
    """Arms are shuffled in each run, so their order must not matter."""
    order = np.array([2, 0, 3, 1])
    instance = clear_instance(name)
    matrix = INSTANCES[instance]
    policy = policies.get(name)
    relabeled = simulate_runs(policy, matrix[np.ix_(order, order)], seed=2)
    own = plays_of(relabeled)
    both = own + np.swapaxes(np.triu(own, 1), 2, 3)
    back = np.argsort(order)
    original = np.triu(both[:, :, back][:, :, :, back])
    ours = plays_of(simulate_runs(policy, matrix))
    found = {**features(original, matrix), **self_duels(original)}
    expected = {**features(ours, matrix), **self_duels(ours)}
    assert not rejected(same_distribution(found, expected), FALSE_ALARM)
    # The test would notice arms that are not put back.
    left = same_distribution(features(own, matrix), features(ours, matrix))
    assert rejected(left, 1e-9)

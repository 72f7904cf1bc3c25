"""Requirements on every registered policy, whatever its rule.

A policy enters this suite by being registered. Python plays rules and kernels, a few
runs of a few hundred rounds: to compile them takes longer. What is up to the loop over
rounds, and not to the policy: ``tests/simulation``.
"""

from dataclasses import fields, replace
from functools import cache

import numpy as np
import pytest

from bayesduel import policies
from bayesduel.policies.policy import over_model
from bayesduel.simulation import driver, model_calls
from tests.policies.driving import FEW_RUNS, assert_same, simulate_runs
from tests.policies.instances import CONDORCET, DECISIVE, TWO_WINNERS

pytestmark = pytest.mark.usefixtures("hardly_optimized")

NAMES = policies.names()

RULES = [name for name in NAMES if isinstance(policies.get(name), policies.Policy)]
"""Those written for one run, which Numba compiles."""

IN_JAX = [
    name for name in NAMES if name not in RULES and over_model(policies.get(name))
]

SHORT, FEW = (40, 120, 300), 6

NUMBERS = dict.fromkeys(("parwis", "d-optimal"), 2) | {"cw-rmed": 3}
NUMBERS |= dict.fromkeys(IN_JAX, FEW_RUNS)
"""Runs, where they are not ``FEW``: of rules whose rounds take long, and of those with
a program of its own for every number of lanes."""

LONGEST_HORIZON = 2**62

COMMITTING = {
    "sup-klucb", "scb", "merge-rucb", "savage", "savage-copeland", "beat-the-mean",
    "interleaved-filter",
}  # fmt: skip
"""Rules that stay with one arm, for good or for an epoch: weak preferences mislead
them, or cost them millions of rounds first."""

WITHOUT_SELF_DUELS = {"ws-w"}
"""Rules that want the best arm in every pair, not twice in it."""

IGNORES_NUMBERS = {"pure-d-ts", "bt-ts", "scb", "beat-the-mean"}
"""Forms in which no number has a say: two have no confidence bounds, the factor of SCB
belongs to its other stopping rule, that of Beat the Mean decides later."""


TWO_ARMS = np.array([[0.5, 0.95], [0.05, 0.5]])

INSTANCES = {
    "condorcet": CONDORCET, "two winners": TWO_WINNERS, "decisive": DECISIVE,
    "two arms": TWO_ARMS,
}  # fmt: skip


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


def few_runs_of(name, matrix="two winners", **options):
    """Play the runs that every policy is asked for."""
    options = {"checkpoints": SHORT} | options
    runs = options.pop("runs", range(NUMBERS.get(name, FEW)))
    policy = options.pop("policy", policies.get(name))
    return simulate_runs(policy, INSTANCES[matrix], runs=runs, **options)


first_runs_of = cache(few_runs_of)


def num_programs():
    """Return how many programs of the loop this process holds."""
    return model_calls.play._cache_size()


def plays_of(records):
    return records.ledger["plays"]


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
    """Without a Condorcet winner, too."""
    records = first_runs_of(name)
    plays = plays_of(records)
    assert plays.shape == (len(records.events), len(SHORT), 4, 4)
    assert plays.dtype == np.int64
    assert plays.min() >= 0
    assert np.all(plays.sum(axis=(2, 3)) == SHORT)
    assert np.all(np.tril(plays, -1) == 0)
    assert np.all(np.diff(plays, axis=1) >= 0)
    assert records.recommendation.min() >= 0 and records.recommendation.max() < 4


@pytest.mark.parametrize("name", [name for name in NAMES if name not in IN_JAX])
def test_a_run_depends_on_its_number_alone(name, in_python, monkeypatch):
    """Not on runs before it, on the grid of checkpoints, nor on the length of segments.

    A policy that changes arrays in place could leave something to the next run. What
    becomes of a state in JAX is up to the loop: ``simulation.test_independence``.
    """
    monkeypatch.setattr(driver, "_SEGMENT_SECONDS", 1e-9)
    dense, shares = (*range(1, 7), 40, *range(45, 60), 120, 299, 300), []
    number = NUMBERS.get(name, FEW)
    last = few_runs_of(
        name, runs=range(number - 1, number), checkpoints=dense,
        on_progress=shares.append,
    )  # fmt: skip
    whole, columns = first_runs_of(name), [dense.index(item) for item in SHORT]
    np.testing.assert_array_equal(plays_of(last)[:, columns], plays_of(whole)[-1:])
    np.testing.assert_array_equal(last.recommendation, whole.recommendation[-1:])
    np.testing.assert_array_equal(last.events, whole.events[-1:])
    # The shortest segments have one event.
    assert shares == sorted(shares) and len(shares) > last.events[0]


@pytest.mark.parametrize("name", ["d-ts", "self-sparring"])
def test_another_seed_plays_other_runs(name, in_python):
    """A kernel, and a rule that Numba compiles."""
    one, other = plays_of(first_runs_of(name)), plays_of(few_runs_of(name, seed=1))
    assert not np.any(np.all(one[:, -1] == other[:, -1], axis=(1, 2)))


@pytest.mark.parametrize("name", NAMES)
def test_horizon_of_one_round(name, in_python):
    plays = plays_of(few_runs_of(name, checkpoints=(1,)))
    assert plays.shape[1:] == (1, 4, 4)
    assert np.all(plays.sum(axis=(1, 2, 3)) == 1)


@pytest.mark.parametrize("name", NUMBERED)
def test_hyperparameters_reach_the_rule(name, in_python):
    """In JAX they are traced, and not silently those of the program's first call."""
    expected, before = plays_of(first_runs_of(name)), num_programs()
    other = with_other_numbers(policies.get(name))

    def differ(runs):
        plays = plays_of(few_runs_of(name, policy=other, runs=runs))
        return np.any(plays != expected[runs.start : runs.stop])

    # Up to the first run that differs: those of rules are played one by one.
    number = len(expected) if name in IN_JAX else 1
    parts = (range(at, at + number) for at in range(0, len(expected), number))
    assert any(map(differ, parts)) == (name not in IGNORES_NUMBERS)
    assert num_programs() == before, "a sweep over numbers compiles once"


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOKING_AHEAD)
def test_longest_horizon(name):
    grid = (1000, 10**9, LONGEST_HORIZON)
    matrix = "decisive" if name in COMMITTING else "condorcet"
    records = few_runs_of(name, matrix, checkpoints=grid)
    plays = plays_of(records)
    assert plays.min() >= 0
    assert plays.sum(axis=(2, 3)).tolist() == [list(grid)] * len(plays)
    # Nearly all rounds belong to the Condorcet winner, alone where it meets itself.
    best = plays[:, -1, 0, 0]
    if name in WITHOUT_SELF_DUELS:
        best = plays[:, -1, 0].sum(axis=1)
    assert np.all(best > LONGEST_HORIZON - 10**6)
    assert np.all(records.recommendation == 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
def test_compiled_and_plain_rules_play_the_same_runs(name):
    """One with a winner and one with two: to a digit. Of kernels:
    ``simulation.test_uncompiled``; quickly, a rule: ``simulation.test_rounds``."""
    for matrix in ("condorcet", "two winners"):
        plain, compiled = (
            few_runs_of(
                name, matrix, policy=policies.get(name, compiled=flag), runs=range(1)
            )
            for flag in (False, True)
        )
        assert_same(plain, compiled)

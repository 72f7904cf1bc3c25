"""What every registered policy must do, whatever its rule.

A policy enters this suite by being registered. All simulations here share one program
per policy where they can: what a program costs is its compilation. What no distribution
is asked of is played a few runs long.
"""

from dataclasses import fields, replace
from functools import cache, partial

import numpy as np
import pytest

from bayesduel import policies
from bayesduel.policies.policy import declared, over_model
from bayesduel.simulation import asked_models, driver
from tests.policies.distributions import (
    features,
    rejected,
    same_distribution,
    self_duels,
)
from tests.policies.driving import CHECKPOINTS, FEW_RUNS, NUM_RUNS, simulate_runs
from tests.policies.instances import (
    CONDORCET,
    DECISIVE,
    MATRICES,
    TWO_WINNERS,
    random_outcomes,
)
from tests.policies.rule_driving import play_rule

pytestmark = pytest.mark.usefixtures("hardly_optimized")

FALSE_ALARM = 1e-5
"""Of one test of a distribution."""

NAMES = policies.names()

RULES = [name for name in NAMES if isinstance(policies.get(name), policies.Policy)]
"""Those written for one run, which Numba compiles."""

OTHERS = [name for name in NAMES if name not in RULES]

IN_JAX = [name for name in OTHERS if over_model(policies.get(name))]

KERNELS = [name for name in OTHERS if name not in IN_JAX]

IN_BULK = {name for name in NAMES if declared(policies.get(name), "explores_in_bulk")}

VARIANTS = {
    "multisbm", "pure-d-ts", "rmed2", "rmed2fh", "savage-copeland", "scomp", "scomp2",
}  # fmt: skip
"""Policies that share nearly all of their code with another one of the list."""

PLAYED_ELSEWHERE = {"cw-rmed"}
"""Its programs take seconds: ``test_duel_by_duel`` and ``rmed`` play it quickly."""


def slowly(names):
    """Return all policies, with these left to the slow tests."""
    return [
        pytest.param(name, marks=[pytest.mark.slow] * (name in names)) for name in NAMES
    ]


CASES = slowly(VARIANTS | PLAYED_ELSEWHERE)

IN_NUMPY = [case for case in CASES if case.values[0] not in IN_JAX]
"""Those that change arrays in place, which one run could leave to the next. What
becomes of a state in JAX is up to the loop: ``simulation.test_independence``."""

FEW = range(5)
"""Runs of the program with a single lane."""

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

DETERMINED = {"interleaved-filter"}
"""Rules without randomness after their first arm, one of four."""

BALANCED = {"information"}
"""Rules that let all pairs meet nearly equally often, in an order that varies."""

BLIND = {"random", "beat-the-mean", "interleaved-filter"}
"""Rules that do not look at outcomes, or not within the horizon of these tests."""

IGNORES_NUMBERS = {"pure-d-ts", "bt-ts", "scb", "beat-the-mean"}
"""Forms in which no number has a say: two have no confidence bounds, the factor of SCB
belongs to its other stopping rule, that of Beat the Mean decides later."""


TWO_ARMS = np.array([[0.5, 0.95], [0.05, 0.5]])

INSTANCES = MATRICES | {"decisive": DECISIVE}


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
    case
    for case, policy in zip(CASES, map(policies.get, NAMES), strict=True)
    if with_other_numbers(policy) != policy
]


simulate_few = partial(simulate_runs, runs=range(FEW_RUNS))


@cache
def runs_of(name, matrix="condorcet", checkpoints=CHECKPOINTS, seed=0):
    return simulate_few(
        policies.get(name), INSTANCES[matrix], checkpoints=checkpoints, seed=seed
    )


@cache
def few_runs_of(name, matrix="condorcet", checkpoints=CHECKPOINTS):
    """Five runs in one lane."""
    return simulate_runs(
        policies.get(name),
        INSTANCES[matrix],
        runs=FEW,
        checkpoints=checkpoints,
        num_lanes=1,
    )


def num_programs():
    """Return how many programs of the loop this process holds."""
    return asked_models.play._cache_size()


def plays_of(records):
    return records.ledger["plays"]


HORIZON = 300


@pytest.mark.parametrize(
    "name",
    # Two arms take a program of their own in JAX.
    [*KERNELS, *(pytest.param(name, marks=pytest.mark.slow) for name in IN_JAX)],
)
def test_two_arms(name):
    """The smallest problem: arm 0 wins 95 of 100."""
    records = simulate_few(policies.get(name), TWO_ARMS, checkpoints=(HORIZON,))
    assert np.all(np.triu(plays_of(records)[:, 0]).sum(axis=(1, 2)) == HORIZON)
    assert np.mean(records.recommendation == 0) > 0.9


@pytest.mark.parametrize("name", RULES)
def test_two_arms_of_a_rule(name):
    """The same in Python, where an index outside of an array is an error."""
    outcomes = random_outcomes(TWO_ARMS, HORIZON, np.random.default_rng(32))
    played = play_rule(policies.get(name), outcomes, HORIZON)
    assert played.recommendation == 0


# The simulator with each policy


@pytest.mark.parametrize("name", [case for case in CASES if case.values[0] in RULES])
def test_compiled_and_plain_rules_play_the_same_runs(name):
    """One with a winner and one with two: to a digit, and Python is slow."""
    for matrix in ("condorcet", "two winners"):
        plain = simulate_runs(
            policies.get(name, compiled=False), INSTANCES[matrix], runs=range(1)
        )
        assert_same_runs(plain, slice(None), runs_of(name, matrix), slice(1))


@pytest.mark.parametrize("name", CASES)
def test_plays_add_up_to_the_round(name):
    for matrix in ["condorcet"] if name in IN_JAX else MATRICES:
        records = runs_of(name, matrix)
        plays = plays_of(records)
        assert plays.shape == (FEW_RUNS, len(CHECKPOINTS), 4, 4)
        assert plays.dtype == np.int64
        assert plays.min() >= 0
        assert np.all(plays.sum(axis=(2, 3)) == CHECKPOINTS)
        assert np.all(np.tril(plays, -1) == 0)
        assert np.all(np.diff(plays, axis=1) >= 0)
        assert records.recommendation.min() >= 0 and records.recommendation.max() < 4


def assert_same_runs(records, here, others, there):
    for ours, theirs in (
        (plays_of(records), plays_of(others)),
        (records.recommendation, others.recommendation),
        (records.events, others.events),
    ):
        np.testing.assert_array_equal(ours[here], theirs[there])


@pytest.mark.parametrize("name", IN_NUMPY)
def test_runs_do_not_depend_on_their_chunk(name):
    later = simulate_runs(policies.get(name), CONDORCET, runs=range(3, 3 + FEW_RUNS))
    assert_same_runs(later, slice(-3), runs_of(name), slice(3, None))


@pytest.mark.slow
@pytest.mark.parametrize("name", IN_JAX)
def test_runs_do_not_depend_on_their_company(name):
    """Runs 0 to 4 alone in one lane, and among all in 16 lanes; others know none."""
    assert_same_runs(few_runs_of(name), slice(None), runs_of(name), FEW)


@pytest.mark.parametrize("name", IN_NUMPY)
def test_runs_do_not_depend_on_segments(name, monkeypatch):
    shares = []
    monkeypatch.setattr(driver, "_SEGMENT_SECONDS", 1e-9)
    records = simulate_few(policies.get(name), TWO_WINNERS, on_progress=shares.append)
    # The shortest segments have 64 events; every lane plays some hundred, or fewer
    # where a pair is dueled in bulk.
    assert len(shares) > (1 if name in IN_BULK else 3)
    assert shares == sorted(shares)
    whole = runs_of(name, "two winners")
    np.testing.assert_array_equal(plays_of(records), plays_of(whole))


@pytest.mark.parametrize("name", CASES)
def test_runs_do_not_depend_on_the_grid_of_checkpoints(name):
    dense = (*range(1, 7), 40, *range(45, 60), 120, 300, 699, 700)
    expected = plays_of(runs_of(name))
    before = num_programs()
    plays = plays_of(runs_of(name, checkpoints=dense))
    assert len(dense) <= 32, "or it is another program"
    assert num_programs() == before, "checkpoints are traced"
    columns = [dense.index(each) for each in CHECKPOINTS]
    np.testing.assert_array_equal(plays[:, columns], expected)


@pytest.mark.parametrize("name", CASES)
def test_same_seed_same_runs_another_seed_others(name):
    again = simulate_few(policies.get(name), CONDORCET)
    np.testing.assert_array_equal(plays_of(again), plays_of(runs_of(name)))
    other = plays_of(runs_of(name, seed=1))
    same = np.all(other[:, -1] == plays_of(runs_of(name))[:, -1], axis=(1, 2))
    # Where a pair meets as often as was planned, two seeds can do the same.
    often = name in COMMITTING or name in IN_BULK
    limit = 0.5 if name in DETERMINED else 0.25 if often else 0.05
    limit = 0.75 if name in BALANCED else limit
    assert same.mean() < limit


@pytest.mark.parametrize("name", CASES)
def test_horizon_of_one_round(name):
    plays = plays_of(runs_of(name, checkpoints=(1,)))
    assert plays.shape == (FEW_RUNS, 1, 4, 4)
    assert np.all(plays.sum(axis=(1, 2, 3)) == 1)


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


@pytest.mark.parametrize("name", NUMBERED)
def test_hyperparameters_reach_the_program(name):
    """They are traced, and not silently those of the program's first call."""
    policy = policies.get(name)
    other = with_other_numbers(policy)
    expected = plays_of(runs_of(name))
    before = num_programs()
    plays = plays_of(simulate_few(other, CONDORCET))
    assert num_programs() == before, "a sweep over numbers compiles once"
    changed = bool(np.any(plays != expected))
    assert changed == (name not in IGNORES_NUMBERS)


@pytest.mark.parametrize("name", CASES)
def test_relabeled_arms_permute_the_distribution(name):
    """Arms are shuffled in each run, so their order must not matter."""
    # Few of what takes long: 32 runs already tell arms apart that are not put back.
    long = name in IN_JAX or name in PLAYED_ELSEWHERE
    runs = range(FEW_RUNS if long else NUM_RUNS)
    order = np.array([2, 0, 3, 1])
    instance = clear_instance(name)
    matrix = INSTANCES[instance]
    policy = policies.get(name)
    relabeled = simulate_runs(policy, matrix[np.ix_(order, order)], seed=2, runs=runs)
    own = plays_of(relabeled)
    both = own + np.swapaxes(np.triu(own, 1), 2, 3)
    back = np.argsort(order)
    original = np.triu(both[:, :, back][:, :, :, back])
    ours = plays_of(runs_of(name, instance) if long else simulate_runs(policy, matrix))
    found = {**features(original, matrix), **self_duels(original)}
    expected = {**features(ours, matrix), **self_duels(ours)}
    assert not rejected(same_distribution(found, expected), FALSE_ALARM)
    if name not in BLIND:
        # The test would notice arms that are not put back.
        left = same_distribution(features(own, matrix), features(ours, matrix))
        assert rejected(left, 1e-9)

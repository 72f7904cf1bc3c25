"""Look-ahead has the distribution of the rounds it jumps over.

Forms that draw are compared with the slow twin; with the step form of the policy in
``thompson.test_scalar_priors`` and ``simulation.test_kernels_step``:
regret and informative duels at checkpoints, rounds of each pair of different arms, and
of each arm with itself, by Kolmogorov-Smirnov tests. Rules without
random choices play the duels of their twins: ``test_duel_by_duel``. Rounds of BT-TS,
whose twin takes long, are held to it one by one in ``thompson``.
"""

from functools import cache, partial

import pytest

from bayesduel import policies
from tests.policies.distributions import disagreements
from tests.policies.driving import simulate_runs
from tests.policies.instances import MATRICES
from tests.reference import plays_of_twins, twins_that

TWINS = twins_that("IN_DISTRIBUTION")

EARLY = (30, 100, 200)
LATE = (50, 200, 500, 1000)


def plays_of(policy, matrix, checkpoints, num_runs, seed):
    """Simulate runs."""
    return simulate_runs(
        policy, MATRICES[matrix], checkpoints=checkpoints, runs=range(num_runs),
        seed=seed,
    ).ledger["plays"]  # fmt: skip


@cache
def twin_plays(name, matrix, checkpoints, num_runs):
    make = partial(TWINS[name], 4)
    return plays_of_twins(make, MATRICES[matrix], checkpoints, num_runs, 60)


LATE_CASES = [
    (name, matrix)
    for turn, name in enumerate(TWINS)
    for index, matrix in enumerate(MATRICES)
    if (turn - index) % 3 == 0
]
"""One matrix for every policy in turn."""

NUM_LATE = 80
"""Runs of a twin: as few notice another alpha, below."""


def test_early_rounds_of_self_sparring_have_the_distribution_of_the_twin(in_python):
    """Others are held to the distribution of their single rounds, state by state."""
    name, matrix = "self-sparring", "two winners"
    ours = plays_of(policies.get(name), matrix, EARLY, 128, seed=61)
    theirs = twin_plays(name, matrix, EARLY, 100)
    assert not disagreements(ours, theirs, MATRICES[matrix])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "matrix"), LATE_CASES)
def test_late_rounds_have_the_distribution_of_the_twin(name, matrix):
    ours = plays_of(policies.get(name), matrix, LATE, 800, seed=62)
    theirs = twin_plays(name, matrix, LATE, NUM_LATE)
    assert not disagreements(ours, theirs, MATRICES[matrix])


@pytest.mark.slow
def test_another_alpha_is_noticed():
    """Negative control: bounds that are 8 percent wider."""
    wider = plays_of(policies.get("d-ts", alpha=0.6), "cyclic", LATE, 800, seed=62)
    theirs = twin_plays("d-ts", "cyclic", LATE, NUM_LATE)
    assert disagreements(wider, theirs, MATRICES["cyclic"])

"""Kernels that step round by round: the distribution of the twin, and of look-ahead."""

from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest

from bayesduel import policies
from tests.policies.distributions import (
    borda_regret,
    features,
    rejected,
    same_distribution,
    same_mean,
    self_duels,
)
from tests.policies.driving import simulate_runs
from tests.policies.instances import MATRICES
from tests.reference import RelativeConfidenceSampling, plays_of_twins

FALSE_ALARM = 1e-5
"""Of one test, all features together."""

MATRIX = MATRICES["cyclic"]
CHECKPOINTS = (30, 100, 200, 300)
LATE = (100, 1000, 3000)
NUM_RUNS = 512

QUICK = ("d-ts", "d-ts+", "pure-d-ts")
"""Forms of one program. Quickly, others are held to the distribution of single rounds
and of how long they wait."""

NAMES = [
    *QUICK,
    *(
        pytest.param(name, marks=pytest.mark.slow)
        for name in ("rcs", "rcs:fallback=random", "rd-ts")
    ),
]


@cache
def steps_of(name, checkpoints):
    """Return the plays of the step form; all rounds are events of the kernel."""
    step = replace(policies.parse_policy(name), look_ahead=False)
    records = simulate_runs(step, MATRIX, checkpoints=checkpoints, runs=range(NUM_RUNS))
    assert np.all(records.events == checkpoints[-1])
    return records.ledger["plays"]


def summary(plays):
    """Return what is compared, self-duels and the regret that they differ in, too."""
    borda = borda_regret(plays, MATRIX)[:, -1]
    return features(plays, MATRIX) | self_duels(plays) | {"Borda regret": borda}


@pytest.mark.slow
def test_steps_of_rcs_have_the_distribution_of_the_twin():
    """Rounds of the others are held to theirs, state by state, elsewhere."""
    make = partial(RelativeConfidenceSampling, 4)
    theirs = plays_of_twins(make, MATRIX, CHECKPOINTS, 50, 90)
    ours = steps_of("rcs", CHECKPOINTS)
    assert not rejected(same_distribution(summary(ours), summary(theirs)), FALSE_ALARM)


@pytest.mark.parametrize("name", NAMES)
def test_steps_have_the_distribution_of_look_ahead(name):
    """Look-ahead D-TS+ has one champion per stretch: there only means agree."""
    records = simulate_runs(
        policies.parse_policy(name),
        MATRIX,
        checkpoints=LATE,
        runs=range(NUM_RUNS),
        seed=1,
    )
    assert records.events.mean() < 0.7 * LATE[-1]
    one, other = steps_of(name, LATE), records.ledger["plays"]
    p_values = same_distribution(features(one, MATRIX), features(other, MATRIX))
    if name == "d-ts+":
        p_values |= same_mean(self_duels(one), self_duels(other))
    else:
        p_values |= same_distribution(summary(one), summary(other))
    assert not rejected(p_values, FALSE_ALARM)

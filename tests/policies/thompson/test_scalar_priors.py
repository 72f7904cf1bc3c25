"""Kernels under priors that are no integers: the distribution of the twin, and of both
forms."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from bayesduel import policies
from tests.policies.distributions import features, rejected, same_distribution
from tests.policies.driving import simulate_runs
from tests.policies.instances import MATRICES
from tests.reference import (
    DoubleThompson,
    DoubleThompsonPlus,
    RelativeConfidenceSampling,
    simulate,
)

FALSE_ALARM = 1e-5
"""Of one test, all features together."""

MATRIX = MATRICES["cyclic"]
CHECKPOINTS = (30, 100, 300)

FAVORITE = np.array(
    [[1, 1, 1, 0.5], [2, 1, 1, 0.1], [1, 3.5, 1, 0.5], [9, 9, 7.5, 1]]
)  # fmt: skip
"""Arm 3 is thought to be the best one, wrongly or not."""

PRIORS = {"half": 0.5, "3/2": 1.5, "table": FAVORITE}
TWINS = {
    "d-ts": DoubleThompson,
    "d-ts+": DoubleThompsonPlus,
    "rcs": RelativeConfidenceSampling,
}
QUICK = {("d-ts", "table"), ("rcs", "half")}


def plays_of(policy, seed, num_runs=512):
    """Simulate by the kernel, arms shuffled in every run."""
    records = simulate_runs(
        policy,
        MATRIX,
        checkpoints=CHECKPOINTS,
        runs=range(num_runs),
        seed=seed,
    )
    return records.ledger["plays"]


def disagreements(one, other):
    return rejected(
        same_distribution(features(one, MATRIX), features(other, MATRIX)), FALSE_ALARM
    )


@pytest.mark.parametrize(
    ("name", "prior"),
    [
        pytest.param(*case, marks=[pytest.mark.slow] * (case not in QUICK))
        for case in product(TWINS, PRIORS)
    ],
)
def test_kernel_has_the_distribution_of_the_twin(name, prior):
    """Single rounds of RD-TS are held to its twin elsewhere."""
    theirs = []
    for run in range(50):
        rng = np.random.default_rng([91, run])
        twin = TWINS[name](4, rng, prior=PRIORS[prior])
        theirs.append(simulate(twin, MATRIX, CHECKPOINTS[-1], CHECKPOINTS, rng))
    policy = policies.get(name, prior=PRIORS[prior])
    assert not disagreements(plays_of(policy, 1), np.stack(theirs))


@pytest.mark.parametrize("name", [*TWINS, "pure-d-ts", "rd-ts"])
def test_both_forms_have_the_same_distribution(name):
    for prior in PRIORS.values():
        policy = policies.get(name, prior=prior)
        step = replace(policy, look_ahead=False)
        assert not disagreements(plays_of(policy, 2), plays_of(step, 3))


def test_another_prior_is_noticed():
    """Negative control: a half and five pseudo-wins."""
    one, other = (plays_of(policies.get("d-ts", prior=each), 4) for each in (0.5, 5))
    assert disagreements(one, other)


@pytest.mark.parametrize("prior", [1e-3, 0.1, 12345.6])
@pytest.mark.parametrize("name", [*TWINS, "rd-ts"])
def test_extreme_priors_are_played(name, prior):
    """Every round is, and some arms meet."""
    plays = plays_of(policies.get(name, prior=prior), 5, num_runs=64)[:, -1]
    assert np.all(plays.sum(axis=(1, 2)) == CHECKPOINTS[-1])
    assert np.all(np.triu(plays, 1).sum(axis=(1, 2)) > 0)

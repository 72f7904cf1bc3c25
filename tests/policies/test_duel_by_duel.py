"""Deterministic rules, duel by duel, against slow twins.

In the form with look-ahead: ``simulation.test_kernels_step`` compares the forms.
"""

from functools import cache

import numpy as np
import pytest

from bayesduel import policies
from tests.policies.instances import random_matrices, random_outcomes
from tests.policies.kernel_driving import play_kernel
from tests.policies.replaying import first_difference
from tests.reference import duels_of, twins_that

HORIZON = 1200
INSTANCES = 8
"""The same for every number of arms."""

TWINS = twins_that("DUEL_BY_DUEL")


@cache
def instances(num_arms, every=1):
    """Outcomes of random matrices: total orders, tournaments, strong and weak gaps.

    All of them, or every so many.
    """
    rng = np.random.default_rng([40, num_arms])
    matrices = random_matrices(rng, INSTANCES, num_arms, (0.05, 0.15, 0.3, 0.5))
    return [random_outcomes(matrix, HORIZON + 2, rng) for matrix in matrices][::every]


@cache
def twin_duels(name, num_arms, every):
    """Return the duels of the twin, and its recommendation, per instance."""
    results = []
    for outcomes in instances(num_arms, every):
        options = {"horizon": HORIZON} if name == "rmed2fh" else {}
        twin = TWINS[name](num_arms, np.random.default_rng(0), **options)
        results.append((duels_of(twin, outcomes, HORIZON), twin.recommend()))
    return results


def played_by_kernel(policy, num_arms, every):
    """Play all instances by the kernel of the policy."""
    kernel = policy.scalar_kernel()
    return [
        play_kernel(kernel, instance, HORIZON)
        for instance in instances(num_arms, every)
    ]


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


CASES = [
    ("rmed1", 4, 1),
    *((name, 4, 2) for name in ("rmed2", "rmed2fh", "ecw-rmed")),
    ("cw-rmed", 4, 3),
    *(
        slow(name, num_arms, 3 if name == "cw-rmed" else 1)
        for name in TWINS
        for num_arms in (3, 5)
    ),
]
"""Names, numbers of arms, and every how manieth instance: the twin of CW-RMED solves
programs for seconds."""


@pytest.mark.parametrize(("name", "num_arms", "every"), CASES)
def test_kernels_play_the_duels_of_the_twin(name, num_arms, every):
    ours = played_by_kernel(policies.get(name), num_arms, every)
    twins = twin_duels(name, num_arms, every)
    differences = [
        first_difference(run.duels, duels)
        for run, (duels, _) in zip(ours, twins, strict=True)
    ]
    assert differences == [None] * len(twins)
    expected = [arm for _, arm in twins]
    assert [run.recommendation for run in ours] == expected
    assert max(run.longest_stretch for run in ours) > 100

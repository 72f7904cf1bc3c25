"""Duels of a policy without its self-duels: the same ones, in its own time."""

import numpy as np
import pytest

from bayesduel import policies
from bayesduel.errors import PolicyParameterError
from bayesduel.policies.policy import kernel_of
from bayesduel.policies.policy_around import innermost
from bayesduel.simulation import driver
from bayesduel.simulation.environments import PairwiseEnvironment
from bayesduel.stopping import Budget
from tests.policies.distributions import rejected, same_distribution
from tests.policies.driving import simulate_runs
from tests.policies.instances import DECISIVE, MATRICES

FALSE_ALARM = 1e-5
"""Of one test, all features together."""


def duels_of(policy, matrix, rounds, seed, num_runs=400):
    records = simulate_runs(
        policies.parse_policy(policy),
        matrix,
        checkpoints=rounds,
        runs=range(num_runs),
        seed=seed,
    )
    return records.ledger["plays"]


@pytest.mark.slow
def test_the_duels_are_those_of_the_policy():
    """Play a policy; without self-duels as many duels as it made have the same
    distribution."""
    matrix = MATRICES["condorcet"]
    with_them = duels_of("rucb", matrix, (10**6,), 3)[:, 0]
    upper = np.triu_indices(4, 1)
    made = with_them[:, *upper]
    least = int(made.sum(axis=1).min())
    assert least > 50
    # The first arm's duels with the others, at a number of duels that all have made.
    plain = duels_of("rucb:self_duels=false", matrix, (least,), 4)[:, 0][:, *upper]
    stopped = driver.run_chunk(
        PairwiseEnvironment(matrix),
        policies.get("rucb"),
        runs=range(400),
        checkpoints=np.array([10**9]),
        seed=5,
        stopping=Budget(least),
    ).ledger["plays"][:, 0][:, *upper]
    p_values = same_distribution(
        {index: plain[:, index] for index in range(6)},
        {index: stopped[:, index] for index in range(6)},
    )
    assert not rejected(p_values, FALSE_ALARM)


@pytest.mark.slow
def test_a_policy_that_explores_no_more_meets_itself():
    """With certain outcomes nothing more is asked within 2^62 rounds.

    Quickly, a rule that is made for it: ``simulation.test_manners``.
    """
    plays = duels_of("rucb:self_duels=false", DECISIVE, (10**4,), 6, num_runs=64)
    own = np.trace(plays[:, 0], axis1=1, axis2=2)
    assert (own > 5000).all() and (own < 10**4).all()


def test_names_and_what_is_refused():
    policy = policies.parse_policy("d-ts:self_duels=false,alpha=0.6")
    assert policy.label == "D-TS:alpha=0.6, no self-duels"
    assert policies.get("d-ts", self_duels=True) == policies.get("d-ts")
    assert policies.get("rcs", self_duels=False, every=10).label.endswith("10 rounds")
    for bad in (policies.WithoutSelfDuels(policy), policies.WithoutSelfDuels("d-ts")):
        with pytest.raises(PolicyParameterError, match="policy must be one that asks"):
            bad.check(4, 100)
    bulky = policies.get("pcomp", self_duels=False)
    with pytest.raises(PolicyParameterError, match="policy must be one that asks"):
        bulky.check(4, 100)
    with pytest.raises(PolicyParameterError, match="self_duels must be true or false"):
        policies.get("d-ts", self_duels=3)
    assert kernel_of(innermost(policies.get("bt-ts", self_duels=False))) is None

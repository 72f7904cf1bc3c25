"""Duels of a policy without its self-duels: the same ones, in its own time."""

import numpy as np
import pytest

from bayesduel import policies
from bayesduel.errors import PolicyParameterError
from bayesduel.policies.policy import kernel_of
from bayesduel.policies.policy_around import innermost
from tests.policies.driving import simulate_runs
from tests.policies.instances import DECISIVE


@pytest.mark.slow
def test_a_policy_that_explores_no_more_meets_itself():
    """With certain outcomes nothing more is asked within 2^62 rounds.

    Quickly, a rule that is made for it: ``simulation.test_manners``. That the duels are
    those of the policy: ``rmed.test_copeland_winner``.
    """
    policy = policies.parse_policy("rucb:self_duels=false")
    records = simulate_runs(
        policy, DECISIVE, checkpoints=(10**4,), runs=range(64), seed=6
    )
    mine = np.trace(records.ledger["plays"][:, 0], axis1=1, axis2=2)
    assert (mine > 5000).all() and (mine < 10**4).all()


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

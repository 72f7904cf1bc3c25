"""Beta distributions per arm, in the policies that hold them."""

from functools import partial

import pytest

from bayesduel import policies
from bayesduel.errors import PolicyParameterError
from bayesduel.posteriors import BetaArms
from tests.policies.distributions import disagreements
from tests.policies.driving import simulate_runs
from tests.policies.instances import MATRICES
from tests.reference import plays_of_twins
from tests.reference.self_sparring import SelfSparring

CHECKPOINTS = (30, 100, 300)


def plays_of(policy, matrix, seed):
    records = simulate_runs(policy, matrix, checkpoints=CHECKPOINTS, seed=seed)
    return records.ledger["plays"]


@pytest.mark.slow
def test_self_sparring_with_a_prior_has_the_distribution_of_the_twin():
    """And not that of the twin with another prior."""
    prior = 0.5
    matrix = MATRICES["condorcet"]
    ours = plays_of(policies.get("self-sparring", prior=prior), matrix, 3)

    for twin_prior in (prior, 20 * prior):
        make = partial(SelfSparring, 4, prior=twin_prior)
        theirs = plays_of_twins(make, matrix, CHECKPOINTS, 100, 71)
        assert bool(disagreements(ours, theirs, matrix)) == (twin_prior != prior)


@pytest.mark.slow
def test_prior_of_sparring_reaches_its_machines():
    """A strong belief in 1/2 lets them explore for longer; 256 runs each."""
    matrix = MATRICES["condorcet"]
    plain = plays_of(policies.get("sparring", inner="ts"), matrix, 4)
    stubborn = plays_of(policies.get("sparring", inner="ts", prior=100), matrix, 4)
    assert plain[:, -1, 0, 0].mean() > stubborn[:, -1, 0, 0].mean()
    assert disagreements(plain, stubborn, matrix)


def test_names_and_labels():
    policy = policies.parse_policy("self-sparring:prior=2,eta=1.5")
    assert policy.posterior == BetaArms(2)
    assert policy.label == "Self-Sparring:eta=1.5,prior=2"
    assert policies.parse_policy("sparring:inner=ts,prior=0.5").posterior.prior == 0.5


@pytest.mark.parametrize("name", ["self-sparring", "sparring"])
def test_what_is_no_beta_distribution_of_an_arm_is_refused(name):
    for prior in (0, 1e9, [[1, 2], [2, 1]], "one"):
        with pytest.raises(PolicyParameterError, match="must be a number above 0"):
            policies.get(name, prior=prior).check(4, 100)
    with pytest.raises(PolicyParameterError, match="a Beta distribution per arm"):
        policies.get(name, posterior=policies.get("d-ts").posterior).check(4, 100)

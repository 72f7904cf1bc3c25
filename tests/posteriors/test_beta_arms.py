"""Beta laws per arm: their draws, and the policies that hold them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from bayesduel import policies
from bayesduel.errors import PolicyParameterError
from bayesduel.posteriors import BetaArms
from bayesduel.posteriors.beta_arms import ArmCounts
from tests.policies.driving import simulate_runs
from tests.policies.instances import MATRICES
from tests.policies.laws import features, rejected, same_law
from tests.reference import simulate
from tests.reference.self_sparring import SelfSparring

FALSE_ALARM = 1e-5
"""Of one test."""

CHECKPOINTS = (30, 100, 300)

COUNTS = ArmCounts(
    gains=np.array([0.0, 0.0, 3.0, 40.5]), losses=np.array([0.0, 9.0, 3.0, 1.5])
)
"""No duel, no win, level, and lopsided by a learning rate of 1.5."""


@pytest.mark.parametrize("prior", [1, 2, 0.5])
def test_draws_have_the_law(prior):
    posterior = BetaArms(prior)
    with jax.enable_x64(True):
        state = ArmCounts(*(jnp.asarray(each) for each in COUNTS))
        draws = np.asarray(posterior.sample(jax.random.key(3), state, 4000))
        mean = np.asarray(posterior.mean(state))
    laws = [
        stats.beta(won + prior, lost + prior) for won, lost in zip(*COUNTS, strict=True)
    ]
    p_values = [
        stats.kstest(draws[:, arm], law.cdf).pvalue for arm, law in enumerate(laws)
    ]
    assert min(p_values) > FALSE_ALARM / 4
    np.testing.assert_allclose(mean, [law.mean() for law in laws], rtol=1e-12)


def plays_of(policy, matrix, seed):
    records = simulate_runs(policy, matrix, checkpoints=CHECKPOINTS, seed=seed)
    return records.ledger["plays"]


@pytest.mark.slow
@pytest.mark.parametrize("prior", [3, 0.5])
def test_self_sparring_with_a_prior_has_the_law_of_the_twin(prior):
    """And not that of the twin with another prior."""
    matrix = MATRICES["condorcet"]
    ours = plays_of(policies.get("self-sparring", prior=prior), matrix, 3)

    def twin_plays(twin_prior):
        found = []
        for run in range(100):
            rng = np.random.default_rng([71, run])
            rule = SelfSparring(4, rng, prior=twin_prior)
            found.append(simulate(rule, matrix, CHECKPOINTS[-1], CHECKPOINTS, rng))
        return np.stack(found)

    def disagree(theirs):
        p_values = same_law(features(ours, matrix), features(theirs, matrix))
        return rejected(p_values, FALSE_ALARM)

    assert not disagree(twin_plays(prior))
    assert disagree(twin_plays(20 * prior))


@pytest.mark.slow
def test_prior_of_sparring_reaches_its_machines():
    """A strong belief in 1/2 lets them explore for longer; 256 runs each."""
    matrix = MATRICES["condorcet"]
    plain = plays_of(policies.get("sparring", inner="ts"), matrix, 4)
    stubborn = plays_of(policies.get("sparring", inner="ts", prior=100), matrix, 4)
    assert plain[:, -1, 0, 0].mean() > stubborn[:, -1, 0, 0].mean()
    p_values = same_law(features(plain, matrix), features(stubborn, matrix))
    assert rejected(p_values, FALSE_ALARM)


def test_names_and_labels():
    policy = policies.parse("self-sparring:prior=2,eta=1.5")
    assert policy.posterior == BetaArms(2)
    assert policy.label == "Self-Sparring:eta=1.5,prior=2"
    assert policies.parse("sparring:inner=ts,prior=0.5").posterior.prior == 0.5


@pytest.mark.parametrize("name", ["self-sparring", "sparring"])
@pytest.mark.parametrize("prior", [0, -1, float("nan"), 1e9, [[1, 2], [2, 1]], "one"])
def test_bad_priors_are_refused(name, prior):
    with pytest.raises(PolicyParameterError, match="prior must be a number above 0"):
        policies.get(name, prior=prior).check(4, 100)


@pytest.mark.parametrize("name", ["self-sparring", "sparring"])
def test_other_posteriors_are_refused(name):
    with pytest.raises(PolicyParameterError, match="a Beta law per arm"):
        policies.get(name, posterior=policies.get("d-ts").posterior).check(4, 100)

"""Markov chains inside policies: against draws from the exact posterior."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from bayesduel.errors import PolicyParameterError
from bayesduel.inference import fit
from bayesduel.models import BradleyTerry
from bayesduel.models.in_policies.laplace import LaplaceBeliefs
from bayesduel.models.in_policies.modes import NormalApproximation
from bayesduel.models.in_policies.pair_models import VoteTables
from bayesduel.posteriors import HMC, Laplace
from tests.models.in_policies.models_of_ones_own import ShownFirst
from tests.models.in_policies.voting import CASES, after_votes, comparisons, sample

FALSE_ALARM = 1e-5
"""The rate for one test of all pairs together."""

CHAINS = 3000


def p_values(draws, reference):
    """Compare the distribution of every P(i beats j), i < j."""
    row, column = np.triu_indices(draws.shape[1], 1)
    return [
        stats.ks_2samp(draws[:, i, j], reference[:, i, j]).pvalue
        for i, j in zip(row, column, strict=True)
    ]


def exact_draws(model, case):
    """Draw from the posterior: by importance, from a normal distribution that is
    close."""
    posterior = fit(
        model, comparisons(*CASES[case]), method="laplace", rng_key=5, num_draws=2500
    )
    assert posterior.extras["correction"].resampled
    return np.concatenate(list(posterior.matrices()))


def walked(posterior, case):
    state = after_votes(posterior, *CASES[case], at_once=8, settle=4)
    with jax.enable_x64(True):
        key = jax.random.key(2)
        return np.asarray(sample(posterior, key, state, posterior.chains))


@pytest.mark.slow
@pytest.mark.parametrize("case", ["lopsided", "never lost"])
def test_state_is_the_posterior_of_a_fit(case):
    """There are as many chains as draws, each independent of the others."""
    model = BradleyTerry(order_effect=True)
    draws = walked(HMC(model, chains=CHAINS), case)
    values = p_values(draws, exact_draws(model, case))
    assert min(values) > FALSE_ALARM / len(values), values


@pytest.mark.slow
def test_chains_of_a_model_of_ones_own():
    """Its derivatives are automatic, and no closed form says what its prior is."""
    draws = walked(HMC(ShownFirst(), chains=CHAINS), "never lost")
    values = p_values(draws, exact_draws(ShownFirst(), "never lost"))
    assert min(values) > FALSE_ALARM / len(values), values


@pytest.mark.slow
def test_the_normal_distribution_is_another_one():
    """Negative control: of an arm that never lost the posterior is skew."""
    model = BradleyTerry(order_effect=True)
    posterior = Laplace(model)
    state = after_votes(posterior, *CASES["never lost"], at_once=8, settle=4)
    with jax.enable_x64(True):
        draws = np.asarray(sample(posterior, jax.random.key(2), state, CHAINS))
    values = p_values(draws, exact_draws(model, "never lost"))
    assert min(values) < FALSE_ALARM / len(values)


def test_there_are_as_many_draws_as_chains():
    posterior = HMC()
    with jax.enable_x64(True):
        mode, walkers = jnp.zeros(4), jnp.asarray(np.arange(8.0).reshape(2, 4))
        distribution = NormalApproximation(mode, jnp.eye(4))
        state = LaplaceBeliefs(VoteTables.empty(4), distribution, None, walkers)
        utility = posterior.sample_utilities(jax.random.key(1), state, 2)
        np.testing.assert_array_equal(utility, walkers)
        with pytest.raises(PolicyParameterError, match="at least 3, as many as draws"):
            posterior.sample(jax.random.key(1), state, 3)
    with pytest.raises(PolicyParameterError, match="chains must be an integer of at"):
        HMC(chains=1).check(4)

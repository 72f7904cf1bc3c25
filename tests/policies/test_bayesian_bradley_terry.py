"""Bradley-Terry Thompson sampling: its posterior, and what one scale is worth."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import expit

import bayesduel
from bayesduel import policies
from bayesduel.errors import PolicyParameterError
from bayesduel.models import BradleyTerry, Comparisons, fit
from bayesduel.policies.bayesian_bradley_terry import BayesianBradleyTerry
from bayesduel.types import Duel, Outcome
from tests.reference.bayesian_bradley_terry import BayesianBradleyTerry as Twin


def played(policy, rounds, num_arms=4):
    """Feed rounds (first, second, wins, number) to a policy; return its state."""
    key = jax.random.key(0)
    with jax.enable_x64(True):
        state = policy.init(key, num_arms, jnp.int64(1000))
        for first, second, wins, number in rounds:
            duel = Duel(
                champion=jnp.int32(0),
                exploit_rounds=jnp.int64(0),
                first=jnp.int32(first),
                second=jnp.int32(second),
                explore_rounds=jnp.int64(number),
            )
            outcome = Outcome(
                exploit_rounds=jnp.int64(0),
                rounds=jnp.int64(number),
                wins=jnp.int64(wins),
            )
            state = policy.update(key, state, jnp.int64(1), duel, outcome)
        return jax.tree.map(np.asarray, state)


ROUNDS = [(0, 1, 1, 1), (2, 0, 1, 1), (0, 1, 0, 1), (3, 1, 1, 1), (1, 2, 1, 1),
          (0, 3, 1, 1), (3, 3, 1, 1), (2, 1, 0, 1), (0, 3, 1, 1)]  # fmt: skip


def test_the_posterior_is_that_of_the_model_and_of_the_twin(strict_jax):
    """Mode and curvature after every round: three Newton steps keep up."""
    policy = BayesianBradleyTerry(prior_variance=2.25)
    state = played(policy, ROUNDS)
    twin = Twin(4, np.random.default_rng(0), prior_variance=2.25)
    for first, second, wins, _ in ROUNDS:
        twin.update(first, second, bool(wins))
    mode, covariance = twin.mode()
    np.testing.assert_array_equal(state.wins, twin.wins)
    np.testing.assert_allclose(state.mode, mode, atol=1e-6)
    found = np.linalg.inv(state.factor @ state.factor.T)
    np.testing.assert_allclose(found, covariance, rtol=1e-5)


def test_the_posterior_is_that_of_fit():
    state = played(BayesianBradleyTerry(), ROUNDS)
    found = fit(
        BradleyTerry(prior_scale=2.0),
        Comparisons.from_wins(state.wins),
        method="laplace",
        num_draws=10,
    ).extras["laplace"]
    np.testing.assert_allclose(state.mode, found.mode, atol=1e-6)
    np.testing.assert_allclose(state.factor, found.factor, rtol=1e-5, atol=1e-7)


def world(num_arms):
    utility = np.linspace(1.2, -1.2, num_arms)
    return expit(utility[:, None] - utility[None, :])


def regret_of(policy, preference, horizon, runs=100):
    found = bayesduel.simulate(
        preference, policy, num_runs=runs, horizon=horizon, seed=5
    )
    return found["regret"].sel(notion="copeland").isel(checkpoint=-1).values


@pytest.mark.slow
def test_one_scale_is_worth_something():
    """In a Bradley-Terry world of 20 arms regret is below that of D-TS."""
    ours, theirs = (
        regret_of(policy, world(20), 4000)
        for policy in (BayesianBradleyTerry(), policies.get("d-ts"))
    )
    error = np.hypot(ours.std(), theirs.std()) / np.sqrt(len(ours))
    # One-sided, a false alarm of 1e-5.
    assert theirs.mean() - ours.mean() > 4.3 * error


def test_bad_parameters():
    for parameters, words in (
        ({"prior_variance": 0.0}, "prior_variance must be"),
        ({"newton_steps": 0}, "newton_steps must be"),
        ({"rounds_at_once": 0}, "rounds_at_once must be"),
    ):
        with pytest.raises(PolicyParameterError, match=words):
            BayesianBradleyTerry(**parameters).check(4, 100)

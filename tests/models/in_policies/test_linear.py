"""D-TS over utilities that are linear in features: states, orders, and who knows what.

The features are those of the model, or of the instance that a policy plays on.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import expit

import bayesduel
from bayesduel import policies
from bayesduel.errors import NarrowPriorWarning, PolicyParameterError
from bayesduel.instances import generators
from bayesduel.models import LinearUtilities
from bayesduel.policies.lookup import policy_text
from bayesduel.policies.parameter_values import with_features
from bayesduel.posteriors import HMC, Laplace
from tests.models.in_policies.voting import (
    CASES,
    after_votes,
    comparisons,
    init,
    mean,
    normal_of_fit,
)

FEATURES = np.array([[1.0, 0.0], [0.5, 2.0], [-1.0, 1.0], [0.3, -0.7]])
MATRIX = generators.random_linear_utilities(np.random.default_rng(11), 20, 2).matrix


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore::bayesduel.errors.DisconnectedComparisonsWarning")
def test_state_is_that_of_a_fit(case):
    model = LinearUtilities(FEATURES)
    state = after_votes(Laplace(model), *CASES[case], settle=1)
    data = comparisons(*CASES[case])
    posterior = normal_of_fit(model, data)
    np.testing.assert_allclose(state.distribution.mode, posterior.mode, atol=1e-6)
    np.testing.assert_allclose(
        state.distribution.factor, posterior.factor, rtol=1e-5, atol=1e-7
    )


@pytest.mark.slow
def test_small_features_are_followed_to_the_mode():
    """Steps are bounded by what they change of utilities, not of coefficients."""
    size = 1e-2
    model = LinearUtilities(size * FEATURES, covariate_scale=10.0 / size)
    won, lost = CASES["never lost"]
    state = after_votes(Laplace(model, newton_steps=3), won, lost, at_once=40, settle=4)
    expected = normal_of_fit(model, comparisons(won, lost)).mode
    np.testing.assert_allclose(state.distribution.mode, expected, rtol=1e-5)


def test_draws_follow_the_order_of_the_arms():
    posterior = Laplace(LinearUtilities(FEATURES))
    order = np.array([2, 0, 3, 1])
    moved = posterior.in_order(jnp.asarray(order, dtype=jnp.int32))
    square = np.ix_(order, order)
    won, lost = CASES["lopsided"]
    plain = after_votes(posterior, won, lost, at_once=40, settle=4)
    other = after_votes(moved, won[square], lost[square], at_once=40, settle=4)
    with jax.enable_x64(True):
        one, two = (
            np.asarray(mean(*item)) for item in ((posterior, plain), (moved, other))
        )
        prior = np.asarray(mean(posterior, init(posterior, jax.random.key(0), 4)))
    np.testing.assert_allclose(two, one[square], atol=1e-6)
    assert np.abs(two - one).max() > 0.05
    np.testing.assert_allclose(prior, 0.5, atol=1e-9)


@pytest.mark.slow
def test_features_of_the_instance_are_found():
    """As if the model had them; arms are shuffled in every run."""
    settings = {"num_runs": 4, "horizon": 300, "seed": 1}
    policy = policies.parse_policy("d-ts:look_ahead=false,posterior=linear")
    result = bayesduel.simulate(MATRIX, policy, **settings)
    assert result.attrs["policy"] == policy.label
    np.testing.assert_array_equal(result["features"], MATRIX.features)
    expected = Laplace(LinearUtilities(MATRIX.features))
    expected = policies.get("d-ts", posterior=expected, look_ahead=False)
    other = bayesduel.simulate(MATRIX, expected, **settings)
    np.testing.assert_array_equal(result["plays"], other["plays"])
    best = int(np.argmax(MATRIX.values.sum(axis=1)))
    assert np.all(result["recommendation"] == best)


def test_who_is_told():
    inner = policies.get("d-ts", posterior="linear")
    for policy in (inner, policies.get("d-ts", posterior="linear", every=10)):
        told_policy = with_features(policy, FEATURES)
        assert with_features(policy, None) is policy
        assert told_policy.label != policy.label
        told_policy.check(4, 100)
        with pytest.raises(PolicyParameterError, match="features must be given"):
            policy.check(4, 100)
    known = policies.get("d-ts", posterior=Laplace(LinearUtilities(FEATURES)))
    assert known.label.startswith("D-TS:posterior=linear,features=array ")
    assert with_features(known, 2 * FEATURES) is known
    plain = policies.get("d-ts", posterior="bradley-terry")
    assert with_features(plain, FEATURES) is plain


def test_what_does_not_fit_is_refused():
    policy = policies.get("d-ts", posterior=HMC(LinearUtilities(FEATURES)))
    with pytest.raises(PolicyParameterError, match="features must have a row for each"):
        bayesduel.simulate("gap", policy, num_runs=1, horizon=10)
    with pytest.raises(PolicyParameterError, match="features must be given"):
        bayesduel.simulate("gap", "bt-ts:posterior=linear", num_runs=1, horizon=10)
    changed = policies.parse_policy("d-ts:posterior=linear,covariate_scale=3")
    assert changed.label == "D-TS:posterior=linear,covariate_scale=3.0"
    assert policy_text(changed) == "d-ts:posterior=linear,covariate_scale=3.0"


def test_instances_of_features():
    features, coefficients = FEATURES, np.array([0.7, -1.1])
    made = generators.linear_utilities(None, features, coefficients, shuffle=False)
    utility = features @ coefficients
    expected = expit(utility[:, None] - utility)
    np.testing.assert_allclose(made.matrix.values, expected, atol=1e-15)
    shuffled = generators.linear_utilities(
        np.random.default_rng(2), features, coefficients
    )
    order = shuffled.permutation
    assert list(order) != [0, 1, 2, 3]
    np.testing.assert_array_equal(shuffled.matrix.features, features[order])
    np.testing.assert_array_equal(
        shuffled.matrix.values, made.matrix.values[np.ix_(order, order)]
    )


@pytest.mark.parametrize("posterior", [Laplace, HMC])
def test_features_that_the_prior_stifles_are_said_with_the_factor(posterior):
    features = np.random.default_rng(0).normal(size=(6, 2)) * [1e-3, 1.0]
    policy = policies.DoubleThompson(posterior=posterior(LinearUtilities(features)))
    with pytest.warns(NarrowPriorWarning, match="multiply feature 0 by 1000 .its"):
        policy.check(6, 100)
    wide = LinearUtilities(features, covariate_scale=2000.0)
    policies.DoubleThompson(posterior=posterior(wide)).check(6, 100)
    unit = LinearUtilities(features * [1e3, 1.0])
    policies.DoubleThompson(posterior=posterior(unit)).check(6, 100)

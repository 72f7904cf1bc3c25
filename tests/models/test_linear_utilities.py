"""Utilities linear in features, against a logistic regression and NumPyro's density."""

import numpy as np
import pytest
from scipy.special import expit, log_expit
from scipy.stats import norm

from bayesduel.errors import FitError
from bayesduel.inference import fit
from bayesduel.models import BradleyTerry, LinearUtilities, Thurstone
from bayesduel.votes import Comparisons
from tests.models.maximum_likelihood import maximum_likelihood

TRUTH = np.array([1.0, -0.5])


def votes(features, coefficients, number, seed):
    rng = np.random.default_rng(seed)
    utility = features @ coefficients
    first, second = np.triu_indices(len(features), 1)
    won = rng.binomial(number, expit(utility[first] - utility[second]))
    counts = np.stack([won, number - won, 0 * won], axis=1).astype(float)
    names = [str(arm) for arm in range(len(features))]
    return Comparisons.from_rows(names, first, second, counts)


def regression(features, data):
    """Maximum likelihood of a logistic regression on differences, and errors."""
    steps = features[data.first] - features[data.second]
    won, lost = data.counts[:, 0], data.counts[:, 1]

    def log_likelihood(slope):
        gap = steps @ slope
        return np.sum(won * log_expit(gap) + lost * log_expit(-gap))

    return maximum_likelihood(log_likelihood, np.zeros(features.shape[1]))[:2]


@pytest.mark.parametrize(
    ("num_arms", "truth", "unit"),
    [
        (12, TRUTH, 1.0),
        (12, TRUTH, [1e-3, 1e3]),
        (4, np.array([0.5, -1.0, 0.2]), 1e-3),
        (2, np.array([1.5]), 1.0),
    ],
)
def test_a_flat_prior_gives_the_regression(num_arms, truth, unit):
    """Whatever the unit of a feature: coefficients may be in the thousands."""
    features = np.random.default_rng(7).normal(size=(num_arms, len(truth)))
    data = votes(features, truth, 40, seed=1)
    expected, errors = regression(features, data)
    model = LinearUtilities(features * unit, covariate_scale=1e6)
    posterior = fit(model, data, method="laplace", num_draws=10, resample=False)
    assert posterior.converged
    result = posterior.extras["laplace"]
    spread = np.sqrt(np.diag(np.linalg.inv(result.factor @ result.factor.T)))
    np.testing.assert_allclose(result.mode * unit, expected, rtol=1e-4)
    np.testing.assert_allclose(spread * unit, errors, rtol=1e-4)


def test_features_are_covariates():
    """Covariates of the model, of the data, and of Bradley-Terry: one posterior."""
    features = np.random.default_rng(7).normal(size=(5, 2))
    data = votes(features, TRUTH, 6, seed=2)
    known = data.with_covariates(features, ["quality", "price"])
    models = [
        (LinearUtilities(features), data),
        (LinearUtilities(features), known),
        (LinearUtilities(), known),
        (BradleyTerry(covariates=True, covariate_scale=2.0), known),
    ]
    modes = [fit(*item, num_draws=10).extras["laplace"].mode for item in models]
    for mode in modes[1:]:
        np.testing.assert_array_equal(mode, modes[0])
    names = [model.coords(given)["covariate"] for model, given in models[:3]]
    assert names == [["feature 0", "feature 1"], *[["quality", "price"]] * 2]


def test_collinear_features_have_the_posterior_of_what_they_say():
    """Two copies of a feature are one whose coefficient has twice the variance."""
    features = np.random.default_rng(7).normal(size=(6, 2))
    data = votes(features, TRUTH, 10, seed=3)
    twice = np.column_stack([features, features[:, 0], np.full(6, 3.0)])
    scales = np.array([2.0 * 2**0.5, 2.0])
    apart = LinearUtilities(features / scales[::-1] * 2.0 * 2**0.5)
    one = fit(apart, data, method="laplace", num_draws=10, resample=False).extras[
        "laplace"
    ]
    posterior = fit(LinearUtilities(twice), data, method="laplace", num_draws=10)
    many = posterior.extras["laplace"]
    expected = one.mode / scales[::-1] * 2.0 * 2**0.5
    np.testing.assert_allclose(
        [many.mode[0] + many.mode[2], many.mode[1]], expected, rtol=1e-6
    )
    covariance = np.linalg.inv(many.factor @ many.factor.T)
    # Votes say nothing about a difference of the copies, or about a constant.
    apart = np.array([1.0, 0.0, -1.0, 0.0])
    assert apart @ covariance @ apart == pytest.approx(2 * 2.0**2)
    assert covariance[3, 3] == pytest.approx(2.0**2)
    (untold,) = posterior.remarks  # No factor makes a constant matter.
    assert "votes tell 2 of 4 directions" in untold
    assert "feature 0, feature 2, feature 3" in untold


FALSE_ALARM = 1e-5


def test_all_votes_for_one_arm():
    """No estimate exists, but the posterior does: by quadrature."""
    won, scale = 5, 10.0
    features = np.array([[1.0], [0.0], [-1.0]])
    counts = np.array([[won, 0, 0], [0, 0, 0]], dtype=float)
    data = Comparisons.from_rows("abc", [0, 1], [1, 2], counts)
    posterior = fit(LinearUtilities(features, covariate_scale=scale), data)
    draws = posterior.flat_draws()["coefficient"][:, 0]
    grid = np.linspace(-9 * scale, 9 * scale, 100_001)
    height = won * log_expit(grid) - 0.5 * (grid / scale) ** 2
    weight = np.exp(height - height.max())
    weight /= weight.sum()
    mean = weight @ grid
    deviation = np.sqrt(weight @ (grid - mean) ** 2)
    number = 1.0 / (1.0 / len(draws) + 1.0 / posterior.correction.effective_proposals)
    width = norm.isf(FALSE_ALARM / 2 / 6) / np.sqrt(number)
    assert abs(draws.mean() - mean) < width * deviation
    positive = min(weight[grid > 0].sum(), 1.0)
    best = posterior.winner_shares()["best_utility"][0]
    assert abs(best - positive) < width * np.sqrt(positive * (1 - positive)) + 1e-6


@pytest.mark.filterwarnings("ignore::bayesduel.errors.DisconnectedComparisonsWarning")
def test_without_a_vote_there_is_the_prior():
    features = np.array([[1.0, 0.0], [0.0, 0.0], [-1.0, 2.0]])
    data = Comparisons.from_wins(np.zeros((3, 3)))
    posterior = fit(LinearUtilities(features), data).extras["laplace"]
    np.testing.assert_array_equal(posterior.mode, 0.0)
    np.testing.assert_allclose(posterior.factor, np.eye(2) / 2.0)


@pytest.mark.parametrize(
    ("features", "text"),
    [
        ([[1.0, np.nan], [0.0, 1.0]], r"features\[0, 1\] must be finite"),
        ([1.0, 2.0], "features must have one row per arm"),
        ("wide", "features"),
        (np.zeros((3, 0)), "features must have one row per arm"),
    ],
)
def test_bad_features_are_refused(features, text):
    with pytest.raises(FitError, match=text):
        LinearUtilities(features)


def test_what_does_not_fit_is_refused():
    data = Comparisons.from_wins([[0, 7, 9], [3, 0, 6], [1, 4, 0]])
    three, scale = np.eye(3), "learn_scale must .* the scale of the residual"
    for features, options, words in (
        (None, {}, "features must be given"),
        (np.eye(2), {}, "features must have one row for each of the 3"),
        (three, {"covariates": False}, "covariates must be True for LinearUtilities"),
        (three, {"learn_scale": True}, scale),
    ):
        with pytest.raises(FitError, match=words):
            fit(LinearUtilities(features, **options), data)
    assert Thurstone(covariates=True).closed_form(object()) is None

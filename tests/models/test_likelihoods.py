"""Every NumPyro model against the same formula written down in NumPy and SciPy."""

import itertools
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, log_expit

from bayesduel.models import (
    BradleyTerry,
    MultinomialLogit,
    PairwiseBeta,
    PlackettLuce,
    Thurstone,
)
from bayesduel.models.array_modules import log_sigmoids
from bayesduel.models.fit.numpyro_models import as_jax, latent_of, log_probabilities
from bayesduel.votes import Choices, Comparisons, Rankings
from tests.compiling import quick_jit

UTILITY = np.array([0.7, -0.4, 1.3, -2.1])
VOTES = Comparisons.from_rows(
    "abcd",
    [0, 2, 1, 3],
    [1, 0, 3, 2],
    [[3, 1, 2], [4, 0, 1], [0, 2, 0], [1, 5, 3]],
    order_known=True,
).with_covariates([[0.5, 1.0], [-1.0, 0.2], [0.0, -0.7], [2.0, 0.1]])
SPREAD = VOTES.covariates.std(axis=0)
LOG_SPREAD = np.log(SPREAD).sum()
"""Coordinates beside residuals are in these units, coefficients in those of the data.
"""
DECIDED = VOTES.without_ties()
CHOICES = Choices.from_counts(
    [[1, 1, 0, 1], [1, 1, 1, 1], [0, 0, 1, 1]],
    [[2, 1, 0, 0], [1, 0, 4, 0], [0, 0, 3, 1]], none=[3, 1, 2], arm_names="abcd",
)  # fmt: skip
BALLOTS = Rankings.from_orders(
    [["a", "c", "b", "d"], ["c", "a"], ["d", "b", ("a", "c")], [("a", "b", "c")]],
    counts=[2, 3, 1, 1],
    arm_names="abcd",
)


def rows_of(votes):
    return zip(votes.first, votes.second, strict=True)


def logs(model, data, **values):
    with jax.enable_x64(True):
        values = {name: jnp.asarray(value) for name, value in values.items()}
        arrays = as_jax(model.arrays(data))
        # One program, where each operation would be compiled by itself.
        return np.asarray(quick_jit(partial(log_probabilities, model, arrays))(values))


def test_bradley_terry_with_ties_and_order():
    """Davidson and Beaver: worths times the advantage, and nu sqrt of the product."""
    worth, advantage, nu = np.exp(UTILITY), np.exp(0.3), 0.8
    expected = []
    for i, j in rows_of(VOTES):
        one, other = advantage * worth[i], worth[j]
        parts = np.array([one, other, nu * np.sqrt(one * other)])
        expected.append(parts / parts.sum())
    result = logs(
        BradleyTerry(ties=True, order_effect=True), VOTES, utility=UTILITY,
        first_advantage=0.3, log_tie=np.log(nu),
    )  # fmt: skip
    np.testing.assert_allclose(np.exp(result), expected, rtol=1e-12)


def test_thurstone():
    """Two impressions with variance 1: their difference has variance 2."""
    difference = stats.norm(scale=np.sqrt(2.0))
    gaps = [UTILITY[j] - UTILITY[i] for i, j in rows_of(DECIDED)]
    expected = [[difference.sf(gap), difference.cdf(gap)] for gap in gaps]
    result = logs(Thurstone(), DECIDED, utility=UTILITY)
    np.testing.assert_allclose(np.exp(result), expected, rtol=1e-12)


def test_thurstone_with_ties_and_order():
    expected = []
    for i, j in rows_of(VOTES):
        distribution = stats.norm(UTILITY[i] - UTILITY[j] + 0.3, np.sqrt(2.0))
        tie = distribution.cdf(0.6) - distribution.cdf(-0.6)
        expected.append([distribution.sf(0.6), distribution.cdf(-0.6), tie])
    result = logs(
        Thurstone(ties=True, order_effect=True), VOTES, utility=UTILITY,
        first_advantage=0.3, log_threshold=np.log(0.6),
    )  # fmt: skip
    np.testing.assert_allclose(np.exp(result), expected, rtol=1e-10)


@pytest.mark.parametrize("outside", [True, False])
def test_multinomial_logit(outside):
    data = CHOICES
    if not outside:
        data = Choices.from_counts(CHOICES.offered, CHOICES.counts[:, :4])
    result = np.exp(logs(MultinomialLogit(), data, utility=UTILITY))
    weights = np.append(np.exp(UTILITY), 1.0)[: 4 + outside]
    offered = np.append(data.offered, np.ones((3, 1), bool), 1)[:, : 4 + outside]
    expected = offered * weights
    expected = expected / expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(result, expected, rtol=1e-12)


def test_best_and_worst():
    """The best of all, then the worst of the others: all that may be said sums to 1."""
    shown = ["a", "b", "d"]
    worth, total = dict(zip("abcd", np.exp(UTILITY), strict=True)), 0.0
    for best, worst in itertools.permutations(shown, 2):
        data = Choices.from_subsets([shown], [best], worst=[worst], arm_names="abcd")
        result = logs(MultinomialLogit(), data, utility=UTILITY)
        result = np.exp(result[data.counts[:, :4] > 0].sum())
        rest = [arm for arm in shown if arm != best]
        expected = worth[best] / sum(worth[arm] for arm in shown)
        expected *= (1 / worth[worst]) / sum(1 / worth[arm] for arm in rest)
        np.testing.assert_allclose(result, expected, rtol=1e-12)
        total += result
    np.testing.assert_allclose(total, 1.0, rtol=1e-12)


def test_plackett_luce():
    """Ballots as products of choices; ties at the end were passed over."""
    worth = dict(zip("abcd", np.exp(UTILITY), strict=True))

    def probability(chosen, pool):
        product = 1.0
        for arm in chosen:
            product *= worth[arm] / sum(worth[item] for item in pool)
            pool = pool.replace(arm, "")
        return product

    expected = {
        (1, 3, 2, 4): probability("acb", "abcd"),
        (2, 0, 1, 0): probability("c", "ac"),
        (3, 2, 3, 1): probability("db", "abcd"),
        (1, 1, 1, 0): 1.0,
    }
    result = np.exp(logs(PlackettLuce(), BALLOTS, utility=UTILITY))[:, 0]
    for places, value in zip(BALLOTS.places, result, strict=True):
        assert np.isclose(value, expected[tuple(places.tolist())], rtol=1e-12)


def test_beta_per_pair():
    theta = np.array([0.7, 0.2, 0.9, 0.4, 0.6, 0.35])  # ab ac ad bc bd cd
    share = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.25])
    model = PairwiseBeta(ties=True)
    result = np.exp(logs(model, VOTES, preference=theta, tie_share=share))
    # Rows: a b, b d, c a, d c.
    won, ties = np.array([[0.7, 0.6, 0.8, 0.65], [0.1, 0.5, 0.2, 0.25]])
    expected = [(1 - ties) * won, (1 - ties) * (1 - won), ties]
    np.testing.assert_allclose(result.T, expected, rtol=1e-12)


def normal(x, scale):
    return stats.norm.logpdf(x, 0.0, scale).sum()


JOINTS = {
    "gaussian": (BradleyTerry(prior_scale=1.5), UTILITY, lambda x: (x, normal(x, 1.5))),
    "learned scale": (
        BradleyTerry(prior_scale=1.5, learn_scale=True),
        np.array([0.4, *UTILITY]),  # Ordered by name: scale, standard_utility.
        lambda x: (
            np.exp(x[0]) * x[1:],
            stats.halfnorm.logpdf(np.exp(x[0]), scale=1.5) + x[0] + normal(x[1:], 1.0),
        ),
    ),
    "covariates": (
        BradleyTerry(
            prior_scale=1.5, covariates=True, covariate_scale=0.7, residual=True
        ),
        np.array([0.8, -0.3, *UTILITY]),
        lambda x: (
            VOTES.covariates @ (x[:2] / SPREAD) + x[2:],
            normal(x[:2] / SPREAD, 0.7) - LOG_SPREAD + normal(x[2:], 1.5),
        ),
    ),
    "covariates and learned scale": (
        BradleyTerry(covariates=True, residual=True, learn_scale=True),
        # covariate_lead, scale, standard_utility.
        np.array([0.8, -0.3, 0.4, *UTILITY]),
        lambda x: (
            VOTES.covariates @ (x[:2] / SPREAD) + np.exp(x[2]) * x[3:],
            stats.halfnorm.logpdf(np.exp(x[2]), scale=2.0)
            + x[2]
            + normal(x[:2] / SPREAD, 1.0)
            - LOG_SPREAD
            + normal(x[3:], 1.0),
        ),
    ),
    "covariates alone": (
        BradleyTerry(covariates=True, covariate_scale=0.7),
        np.array([0.8, -0.3]),
        lambda x: (VOTES.covariates @ x, normal(x, 0.7)),
    ),
}


@pytest.mark.parametrize("name", JOINTS)
def test_joint_density_is_prior_times_likelihood(name):
    model, point, prior = JOINTS[name]
    utility, log_prior = prior(point)
    difference = utility[DECIDED.first] - utility[DECIDED.second]
    log_votes = np.sum(DECIDED.counts[:, 0] * log_expit(difference)) + np.sum(
        DECIDED.counts[:, 1] * log_expit(-difference)
    )
    with jax.enable_x64(True):
        latent = latent_of(model, as_jax(model.arrays(DECIDED)))
        assert latent.size == len(point)
        heights = float(quick_jit(latent.log_density)(point))
        named = np.asarray(quick_jit(latent.named)(point)["utility"])
    assert np.isclose(heights, log_prior + log_votes, rtol=1e-12)
    np.testing.assert_allclose(named, utility, rtol=1e-12)


def test_zero_sum_utilities_have_the_conditional_prior():
    """Density on the plane of a normal distribution given that the sum is 0: covariance
    scale^2 (I - 1/K), whatever coordinates are used for it."""
    model = BradleyTerry(prior_scale=1.5, zero_sum=True)
    empty = Comparisons.from_rows("abcd", [0], [1], [[1, 0, 0]])
    with jax.enable_x64(True):
        latent = latent_of(model, as_jax(model.arrays(empty)))
        assert latent.size == 3
        points = jax.random.normal(jax.random.key(0), (5, 3))
        heights = np.asarray(quick_jit(jax.vmap(latent.log_density))(points))
        utility = np.asarray(quick_jit(jax.vmap(latent.named))(points)["utility"])
    np.testing.assert_allclose(utility.sum(axis=1), 0.0, atol=1e-12)
    votes = log_expit(utility[:, 0] - utility[:, 1])
    expected = votes - np.sum(utility**2, axis=1) / (2 * 1.5**2)
    np.testing.assert_allclose(np.diff(heights), np.diff(expected), rtol=1e-9)
    # The map from coordinates to the plane preserves lengths.
    lengths = np.sum(np.asarray(points) ** 2, axis=1)
    np.testing.assert_allclose(np.sum(utility**2, axis=1), lengths, rtol=1e-9)


def test_preference_matrices_are_those_of_the_votes():
    """Model by model: P(i beats j) given no tie, as the likelihood has it."""
    utility = UTILITY[None, :]
    pairs = list(itertools.permutations(range(4), 2))
    every = Comparisons.from_rows(
        "abcd", *np.transpose(pairs), [[1, 1, 0]] * 12, order_known=True
    )
    for model, values in (
        (BradleyTerry(), {}),
        (BradleyTerry(ties=True), {"log_tie": 0.4}),
        (Thurstone(), {}),
        (Thurstone(ties=True), {"log_threshold": -0.2}),
    ):
        draws = {name: np.array([value]) for name, value in values.items()}
        matrix = model.preference_matrices({"utility": utility, **draws})[0]
        result = np.exp(logs(model, every, utility=UTILITY, **values))
        share = result[:, 0] / (result[:, 0] + result[:, 1])
        np.testing.assert_allclose(matrix[every.first, every.second], share, rtol=1e-12)
        assert np.all(np.diagonal(matrix) == 0.5)


def test_log_sigmoids_in_programs_are_those_of_numpy():
    """With both derivatives, also at 0, where the absolute value has none."""
    points = np.array([-800.0, -40.0, -3.0, -1e-9, 0.0, 1e-9, 0.3, 5.0, 40.0, 800.0])
    with jax.enable_x64(True):
        logs = [lambda x, k=k: log_sigmoids(x)[k] for k in (0, 1)]
        for log, exact, sign in zip(logs, log_sigmoids(points), (1, -1), strict=True):
            given = jnp.asarray(points)
            np.testing.assert_allclose(jax.vmap(log)(given), exact, rtol=1e-14)
            slope = jax.vmap(jax.grad(log))
            curvature = jax.vmap(jax.grad(jax.grad(log)))
            probability = expit(-sign * points)
            np.testing.assert_allclose(slope(given), sign * probability, rtol=1e-12)
            spread = -probability * expit(sign * points)
            np.testing.assert_allclose(curvature(given), spread, rtol=1e-12, atol=1e-16)
    reference = log_expit(points)
    np.testing.assert_allclose(log_sigmoids(points)[0], reference, rtol=1e-13)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("lead", [0.0, 1.5, -1.5, 30.0, -30.0, 600.0])
def test_nothing_cancels_where_one_arm_won_all_votes(ties, lead):
    """Sums of rows against the logarithms of their outcomes, where p is almost 1."""
    model = BradleyTerry(ties=ties)
    tie = np.full(1, -25.0)
    logs = np.array([lead / 2, -lead / 2, tie[0]])[: 3 if ties else 2]
    ahead = int(np.argmax(logs[:2]))
    # log P of what is ahead, from the ratios of the others to it.
    rest = [np.exp(item - logs[ahead]) for at, item in enumerate(logs) if at != ahead]
    expected = logs - logs[ahead] - np.log1p(sum(rest))
    for outcome in range(len(logs)):
        counts = np.zeros((1, len(logs)))
        counts[0, outcome] = 1e6
        total = model.summed_logs(counts, np.full((1, 1), lead), tie[None])
        np.testing.assert_allclose(total, 1e6 * expected[outcome], rtol=1e-13)

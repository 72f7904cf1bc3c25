"""Fits of hundreds of arms: the same numbers, by compiled code, in little memory."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.special import expit, log_expit
from scipy.stats import norm

from bayesduel.inference import fit
from bayesduel.models import BradleyTerry
from bayesduel.models.bradley_terry import add_log_totals
from bayesduel.models.closed_forms import ClosedDensity
from bayesduel.models.fit.draws import generator_of
from bayesduel.models.fit.proposals import _BLOCK, radial_points
from bayesduel.votes import Comparisons

ARMS = 300
ROW, COLUMN = np.triu_indices(ARMS, 1)


def votes_of_all_pairs(ties=False):
    rng = np.random.default_rng(ARMS)
    utility = rng.normal(size=ARMS)
    total = rng.integers(0, 6, len(ROW))
    won = rng.binomial(total, expit(utility[ROW] - utility[COLUMN]))
    tied = rng.integers(0, 3, len(ROW)) * ties
    counts = np.stack([won, total - won, tied], axis=1)
    return Comparisons.from_rows([str(arm) for arm in range(ARMS)], ROW, COLUMN, counts)


def density_of(model, votes=None):
    votes = votes_of_all_pairs(model.ties) if votes is None else votes
    return model.closed_form(model.arrays(votes))


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("zero_sum", [False, True])
def test_compiled_densities_are_those_of_arrays(ties, zero_sum):
    density = density_of(BradleyTerry(ties=ties, zero_sum=zero_sum))
    # No multiple of what a vector of the processor holds, nor of a block.
    points = np.random.default_rng(0).normal(size=(203, density.size))
    assert density._of_draws is not None
    result = density.log_densities(points)
    np.testing.assert_allclose(
        result, ClosedDensity.log_densities(density, points), rtol=1e-12
    )
    # Each draw is by itself, but for the rounding of products.
    parts = [density.log_densities(points[part]) for part in
             (slice(0, 101), slice(101, 203))]  # fmt: skip
    np.testing.assert_allclose(result, np.concatenate(parts), rtol=1e-13)


def test_utilities_too_far_apart_for_products_are_left_to_arrays():
    density = density_of(BradleyTerry(prior_scale=1e3))
    points = 400.0 * np.random.default_rng(0).normal(size=(128, density.size))
    expected = ClosedDensity.log_densities(density, points)
    np.testing.assert_allclose(density.log_densities(points), expected, rtol=1e-13)
    far = points[:8] - points[:8].mean(axis=1, keepdims=True)
    _, of_draws = density._of_draws
    assert of_draws(far, np.full(8, -np.inf)) is None


def test_effects_and_weights_of_rows_are_left_to_arrays():
    votes = replace(votes_of_all_pairs(), order_known=True)
    assert density_of(BradleyTerry(order_effect=True), votes)._of_draws is None
    weights = np.random.default_rng(0).uniform(0.5, 2.0, (len(ROW), 3)) * [1, 1, 0]
    votes = Comparisons.from_rows(votes.arm_names, ROW, COLUMN, weights)
    assert density_of(BradleyTerry(), votes)._of_draws is None


def test_uncompiled_rows_of_any_grouping_add_up():
    """Products of one row and of many, rows with a first arm in common and without."""
    rng = np.random.default_rng(1)
    first = np.array([0, 0, 0, 0, 0, 3, 1, 1, 1, 1, 2])
    second = np.array([1, 2, 3, 4, 1, 4, 0, 2, 3, 4, 0])
    number = np.array([1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 7], dtype=float)
    worths, nu = rng.lognormal(size=(5, 3)), rng.lognormal(size=3)
    totals = worths[first] + worths[second]
    totals += nu * np.sqrt(worths[first] * worths[second])
    for longest in (1, 2, 5, 100):
        table = np.concatenate([np.sqrt(worths), nu[None], np.zeros((1, 3))])
        logs = np.ones(3)
        add_log_totals(table, first, second, number, longest, logs)
        np.testing.assert_allclose(logs, 1.0 + number @ np.log(totals), rtol=1e-14)


def test_memory_does_not_grow_with_pairs_times_draws():
    density = density_of(BradleyTerry())
    points = np.random.default_rng(0).normal(size=(2_000, ARMS))
    density.log_densities(points[:200])  # Compiles, which takes memory.
    tracemalloc.start()
    try:
        density.log_densities(points)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < points.nbytes < len(ROW) * len(points)  # A byte for each would not.


def test_rays_of_several_blocks_are_those_of_one():
    density = density_of(BradleyTerry())
    distribution = density.laplace()
    number = _BLOCK // ARMS + 5
    result = radial_points(np.random.default_rng(2), density, distribution, number)
    white = np.random.default_rng(2).standard_normal((number, ARMS))
    depth = np.linalg.norm(white, axis=1)
    for item in (0, number - 5, number - 1):
        way = result[0][item] - distribution.mode
        ray = solve_triangular(distribution.factor, white[item], trans=1, lower=True)
        cosine = way @ ray / np.linalg.norm(way) / np.linalg.norm(ray)
        assert cosine == pytest.approx(1.0, abs=1e-12)
    heights = density.log_densities(result[0])
    fallen = distribution.log_density - heights
    np.testing.assert_allclose(fallen, 0.5 * np.square(depth), rtol=1e-8)
    np.testing.assert_allclose(result[1], heights, rtol=1e-12)


def test_laplace_is_that_of_a_plain_newton_method():
    """Mode, curvature, draws and weights, by NumPy from the definition."""
    votes, scale = votes_of_all_pairs(), 1.5
    posterior = fit(
        BradleyTerry(prior_scale=scale), votes, method="laplace", resample=False,
        num_draws=30, num_chains=4,
    )  # fmt: skip
    wins = votes.wins
    total, mode = wins + wins.T, np.zeros(ARMS)
    for _ in range(30):
        probability = expit(mode[:, None] - mode)
        weight = total * probability * (1.0 - probability)
        precision = np.diag(weight.sum(axis=1) + scale**-2) - weight
        gradient = (wins - total * probability).sum(axis=1) - mode / scale**2
        mode = mode + cho_solve(cho_factor(precision), gradient)
    factor = np.linalg.cholesky(precision)
    np.testing.assert_allclose(posterior.extras["laplace"].mode, mode, atol=1e-8)
    np.testing.assert_allclose(posterior.extras["laplace"].factor, factor, atol=1e-6)
    white = generator_of(0).standard_normal((120, ARMS))
    points = mode + solve_triangular(factor, white.T, trans=1, lower=True).T
    drawn = posterior.draws["utility"].reshape(-1, ARMS)
    np.testing.assert_allclose(drawn, points, atol=1e-6)
    apart = drawn[:, ROW] - drawn[:, COLUMN]
    heights = log_expit(apart) @ wins[ROW, COLUMN]
    heights += log_expit(-apart) @ wins[COLUMN, ROW]
    heights += norm.logpdf(drawn, scale=scale).sum(axis=1)
    lp = posterior.sample_stats["lp"].ravel()
    np.testing.assert_allclose(lp, heights, rtol=1e-12)
    density = norm.logpdf(white).sum(axis=1) + np.log(np.diagonal(factor)).sum()
    log_weight = posterior.sample_stats["log_weight"].ravel()
    np.testing.assert_allclose(log_weight, heights - density, atol=1e-6)

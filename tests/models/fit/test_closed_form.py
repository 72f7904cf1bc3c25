"""Stock pairwise models on NumPy arrays: against NumPyro's density, and without JAX."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ndtr

from bayesduel.errors import FitError
from bayesduel.inference import fit
from bayesduel.models import (
    BradleyTerry,
    LinearUtilities,
    MultinomialLogit,
    RaoKupper,
    Thurstone,
)
from bayesduel.models.fit.draws import as_key, generator_of, seed_words
from bayesduel.models.fit.laplace_draws import from_approximation
from bayesduel.models.fit.numpyro_models import NumPyroDensity, as_jax, latent_of
from bayesduel.models.fit.proposals import NormalProposer
from bayesduel.models.fit.winners import scores_of, winner_shares
from bayesduel.models.newton import Status, Surface, maximize
from bayesduel.votes import Choices, Comparisons
from tests.compiling import quick_jit

pytestmark = pytest.mark.usefixtures("hardly_optimized")

VOTES = Comparisons.from_rows(
    "abcd",
    [0, 2, 1, 3, 0, 3],
    [1, 0, 3, 2, 2, 1],
    [[31, 17, 9], [14, 3, 5], [2, 12, 0], [9, 5, 3], [2, 2, 1], [0, 7, 2]],
    order_known=True,
)
FEATURES = [[0.5, 1.0], [-1.0, 0.2], [0.0, -0.7], [2.0, 0.1]]
MODELS = [
    Thurstone(zero_sum=True, ties=True, order_effect=True, order_scale=0.4),
    *(
        pytest.param(item, marks=pytest.mark.slow)
        for item in (
            RaoKupper(zero_sum=True, order_effect=True, tie_scale=0.7),
            LinearUtilities(FEATURES, zero_sum=True, covariate_scale=0.7),
            BradleyTerry(prior_scale=1.3),
            Thurstone(prior_scale=0.8),
            Thurstone(zero_sum=True, order_effect=True),
        )
    ),
]
"""Bradley-Terry with ties and an order effect: ``models.test_neutral_rows``."""


def name_of(model):
    options = ("zero_sum", "ties", "order_effect")
    chosen = [name for name in options if getattr(model, name)]
    return "-".join([type(model).__name__, *chosen])


def arrays_of(model):
    return model.arrays(VOTES if model.ties else VOTES.without_ties())


@pytest.fixture
def _double_precision():
    with jax.enable_x64(True):
        yield


def check_density(model, arrays, *, in_programs=True):
    """Compare with NumPyro's density, at points near and far, and JAX's derivatives.

    ``in_programs``: whether the model has its curvature in JAX as well.
    """
    closed, latent = model.closed_form(arrays), latent_of(model, as_jax(arrays))
    assert closed is not None and closed.size == latent.size
    points = np.random.default_rng(3).normal(size=(5, latent.size))
    points *= np.array([0.0, 0.5, 1.0, 2.0, 3.0])[:, None]

    @quick_jit
    @jax.vmap
    def automatic(point):
        density = latent.log_density
        derivatives = jax.grad(density)(point), jax.hessian(density)(point)
        return density(point), *derivatives, latent.named(point)

    *expected, quantities = map(partial(jax.tree.map, np.asarray), automatic(points))
    np.testing.assert_allclose(closed.log_densities(points), expected[0], rtol=1e-10)
    for point, _, gradient, hessian in zip(points, *expected, strict=True):
        value, slope = closed.slope(point)
        assert value == pytest.approx(closed.log_densities(point[None])[0])
        np.testing.assert_allclose(slope, gradient, rtol=1e-8, atol=1e-8)
        # In units in which the diagonal is 1: entries are sums of far larger terms.
        unit = np.sqrt(np.abs(np.diagonal(hessian)))
        np.testing.assert_allclose(
            closed.hessian(point) / np.outer(unit, unit),
            hessian / np.outer(unit, unit),
            atol=1e-8,
        )
    named = closed.named(points)
    for name, values in quantities.items():
        np.testing.assert_allclose(named.pop(name), values, rtol=1e-12, atol=1e-14)
    assert not named
    traced = model.hessian(as_jax(arrays))
    assert (traced is not None) == in_programs
    if in_programs:
        np.testing.assert_allclose(
            quick_jit(traced)(points[2]), expected[2][2], rtol=1e-9, atol=1e-9
        )
    # So the mode is where the slope is none, and the curvature is that found there.
    mode = closed.laplace()
    assert mode.status == Status.CONVERGED and isinstance(mode.mode, np.ndarray)
    value, slope = closed.slope(mode.mode)
    np.testing.assert_allclose(mode.log_density, value, rtol=1e-12)
    curvature = closed.hessian(mode.mode)
    # The gain that a quadratic still promises; the tolerance is 1e-14.
    promise = slope @ np.linalg.solve(-curvature, slope)
    assert 0.0 <= promise <= 1e-13 * (1.0 + abs(value))
    np.testing.assert_allclose(mode.factor @ mode.factor.T, -curvature, rtol=1e-9,
                               atol=1e-9)  # fmt: skip


@pytest.mark.parametrize("model", MODELS, ids=name_of)
@pytest.mark.usefixtures("_double_precision")
def test_density_and_derivatives_are_those_of_the_numpyro_model(model):
    check_density(model, arrays_of(model))


UNITS = np.array([1e-3, 50.0])
"""Units of covariates, on which chains and searches for a mode do not depend."""


@pytest.mark.parametrize(
    "options",
    [
        {"residual": True, "zero_sum": True, "contest_covariates": True},
        {"ties": True, "order_effect": True, "zero_sum": True},
        pytest.param({"residual": True}, marks=pytest.mark.slow),
        pytest.param(
            {"residual": True, "ties": True, "contest_covariates": True},
            marks=pytest.mark.slow,
        ),
        pytest.param({"contest_covariates": True}, marks=pytest.mark.slow),
    ],
    ids="+".join,
)
@pytest.mark.parametrize("kind", [BradleyTerry, Thurstone])
@pytest.mark.usefixtures("_double_precision")
def test_density_with_covariates_is_that_of_the_numpyro_model(kind, options):
    """Coefficients beside residuals, ties, an order effect and effects of contests."""
    model = kind(covariates=True, covariate_scale=0.7, contest_scale=1.3, **options)
    rng = np.random.default_rng(8)
    number = len(VOTES.first)
    data = Comparisons.from_rows(
        VOTES.arm_names, VOTES.first, VOTES.second, VOTES.counts, order_known=True,
        columns={"longer": 3.0 * rng.normal(size=number)},
        contest_covariates=["longer"],
    ).with_covariates(np.array(FEATURES) * UNITS, ["one", "other"])  # fmt: skip
    data = data if model.ties else data.without_ties()
    check_density(model, model.arrays(data), in_programs=False)


@pytest.mark.parametrize(
    ("model", "none", "worst"),
    [
        (MultinomialLogit(prior_scale=0.8), [4, 0, 2], None),
        (MultinomialLogit(zero_sum=True), None, [True, False, True, False]),
    ],
    ids=["nobody may win", "zero sum and the worst"],
)
@pytest.mark.usefixtures("_double_precision")
def test_density_of_choices_is_that_of_the_numpyro_model(model, none, worst):
    """With a lopsided set, one without votes and, if nobody may win, one of one arm."""
    single = [0, 0, 1, int(none is None)]
    offered = [[1, 1, 0, 1], [1, 1, 1, 1], single, [0, 1, 1, 0]]
    counts = [[900, 1, 0, 0], [5, 1, 3, 0], [0, 0, 7, 0], [0, 0, 0, 0]]
    nobody = None if none is None else [*none, 0]
    choices = Choices.from_counts(offered, counts, none=nobody, worst=worst)
    check_density(model, model.arrays(choices))


def test_draws_agree_with_those_of_the_numpyro_density():
    """The same distribution, targets by NumPy and by JAX: one set of proposals, one
    answer."""
    model = BradleyTerry(zero_sum=True, ties=True, order_effect=True, tie_scale=0.7)
    arrays = arrays_of(model)
    by_name = {}
    closed = model.closed_form(arrays)
    distribution = closed.laplace()
    for target in (closed, NumPyroDensity(model, arrays)):
        proposer = NormalProposer(target, distribution, at_mode=False)
        sampled = from_approximation(
            proposer, generator_of(5), (2, 200), resample=True, extras={}
        )
        by_name[type(target).__name__] = sampled
    one, other = by_name["PairwiseDensity"], by_name["NumPyroDensity"]
    assert one.draws.keys() == other.draws.keys()
    for name, values in one.draws.items():
        np.testing.assert_allclose(values, other.draws[name], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        one.extras["correction"].pareto_k, other.extras["correction"].pareto_k
    )


def test_winners_by_utility_are_those_of_the_matrices():
    posterior = fit(Thurstone(ties=True), VOTES, method="laplace", num_draws=50)
    expected = winner_shares(scores_of(posterior.matrices()))
    # On a scale the best arm is all of them.
    expected["best_utility"] = expected["condorcet"]
    assert expected["condorcet"].sum() == pytest.approx(1.0)
    for name, shares in posterior.winner_shares().items():
        np.testing.assert_allclose(shares, expected[name], atol=1e-12)


def test_ties_that_are_next_to_impossible():
    """A threshold of e^-40, and differences of 60: finite, and the right limits."""
    model = Thurstone(ties=True, tie_scale=10.0)
    arrays = arrays_of(model)
    closed = model.closed_form(arrays)
    point = np.array([-40.0, 0.5, -0.25, 0.0, 0.1])
    assert closed.log_densities(point[None])[0] == -np.inf  # Ties did happen.
    none = VOTES.without_ties()
    rare = model.closed_form(model.arrays(none))
    value, slope = rare.slope(point)
    utility = point[1:]
    gap = utility[none.first] - utility[none.second]
    probability = ndtr(np.stack([gap, -gap], axis=1) / np.sqrt(2.0))
    scales = np.array([10.0, 2.0, 2.0, 2.0, 2.0])
    prior = -0.5 * np.sum((point / scales) ** 2) - np.sum(np.log(scales))
    prior -= 2.5 * np.log(2.0 * np.pi)
    expected = np.sum(none.counts[:, :2] * np.log(probability)) + prior
    assert value == pytest.approx(expected, rel=1e-10)
    assert np.all(np.isfinite(slope)) and np.all(np.isfinite(rare.hessian(point)))
    far = np.array([0.0, 60.0, -60.0, 60.0, -60.0])
    for density in (closed, BradleyTerry(ties=True).closed_form(arrays)):
        value, slope = density.slope(far)
        assert np.isfinite(value) and np.all(np.isfinite(slope))
        assert np.all(np.isfinite(density.hessian(far)))


def test_the_search_says_how_it_ended():
    """As the one inside JAX programs does, by the same steps."""

    def on(height, slope, hessian):
        return Surface(
            lambda x: (height(x), slope(x)),
            hessian,
            lambda points: np.array([height(point) for point in points]),
        )

    start = np.array([0.5, -0.25])
    saddle = on(
        lambda x: x[1] ** 2 - x[0] ** 2,
        lambda x: np.array([-2.0 * x[0], 2.0 * x[1]]),
        lambda x: np.diag([-2.0, 2.0]),
    )
    state = maximize(saddle, start, max_iterations=10)
    assert state.status == Status.NOT_CONCAVE and state.iterations == 10
    far = on(
        lambda x: -np.sum((x - 1e4) ** 2),
        lambda x: -2.0 * (x - 1e4),
        lambda x: -2.0 * np.eye(2),
    )
    assert maximize(far, start, max_iterations=5).status == Status.NOT_CONVERGED
    nowhere = on(
        lambda x: np.log(-np.sum(x**2)),
        lambda x: np.full(2, np.nan),
        lambda x: np.full((2, 2), np.nan),
    )
    state = maximize(nowhere, start)
    assert state.status == Status.NOT_FINITE
    assert np.all(state.factor == np.eye(2)) and np.all(state.mode == start)


# Seeds


def test_an_integer_is_the_key_made_of_it():
    for seed in (0, 7, 2**32 + 5, 2**63 - 1):
        key = as_key(seed)
        assert seed_words(seed) == seed_words(key)
        assert generator_of(seed).random() == generator_of(key).random()
    model, data = BradleyTerry(), VOTES.without_ties()
    draws = [
        fit(model, data, method="laplace", rng_key=seed, num_draws=50).draws["utility"]
        for seed in (7, jax.random.key(7), np.int64(7), 8)
    ]
    np.testing.assert_array_equal(draws[0], draws[1])
    np.testing.assert_array_equal(draws[0], draws[2])
    assert not np.array_equal(draws[0], draws[3])


def test_other_seeds_are_refused():
    for seed in (-1, 2**63, True, 0.5, "1", None, jnp.zeros(2)):
        for taken in (seed_words, as_key):
            with pytest.raises(FitError, match="rng_key"):
                taken(seed)

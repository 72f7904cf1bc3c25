"""Newton's method on the log density of a model: it ends, and where it should."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import optimize
from scipy.special import expit, log_expit

from bayesduel.inference.laplace import (
    Status,
    draw_points,
    laplace,
    log_normal_density,
    newton_mode,
)
from bayesduel.inference.numpyro_models import as_jax
from bayesduel.models import BradleyTerry, MultinomialLogit, PairwiseBeta, Thurstone
from bayesduel.votes import Choices, Comparisons
from tests.compiling import quick_jit

WINS = np.array([[0.0, 7, 9, 4], [3, 0, 2, 8], [1, 6, 0, 5], [0, 2, 5, 0]])


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


def arrays_of(model, wins):
    """All pairs in one order, so that shapes do not depend on the counts."""
    row, column = np.triu_indices(len(wins), 1)
    counts = np.stack([wins[row, column], wins[column, row], 0 * wins[row, column]], 1)
    votes = Comparisons(tuple("abcd"[: len(wins)]), row, column, counts)
    return as_jax(model.arrays(votes))


find = jax.jit(laplace, static_argnums=0, static_argnames="max_iterations")


def test_mode_and_curvature_of_bradley_terry():
    """Against a general optimizer and the Laplacian of the textbook."""
    state = find(BradleyTerry(), arrays_of(BradleyTerry(), WINS))
    assert int(state.status) == Status.CONVERGED

    def loss(u):
        gap = u[:, None] - u[None, :]
        return u @ u / 8.0 - np.sum(WINS * log_expit(gap))

    best = optimize.minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(state.mode, best.x, atol=1e-6)
    gap = np.asarray(state.mode)[:, None] - np.asarray(state.mode)[None, :]
    weight = (WINS + WINS.T) * expit(gap) * expit(-gap)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    np.testing.assert_allclose(
        state.factor @ state.factor.T, laplacian + np.eye(4) / 4.0, rtol=1e-9
    )


@pytest.mark.parametrize("size", [1.0, 1e3, 1e6])
@pytest.mark.parametrize(
    "model",
    [
        BradleyTerry(prior_scale=100.0),
        pytest.param(Thurstone(prior_scale=100.0), marks=pytest.mark.slow),
        pytest.param(BradleyTerry(learn_scale=True), marks=pytest.mark.slow),
    ],
    ids=["bradley-terry", "thurstone", "learned scale"],
)
def test_separable_votes_have_a_mode(model, size):
    """a beats b beats c, always: without the prior utilities would run away."""
    wins = np.triu(np.full((3, 3), size), 1)
    state = find(model, arrays_of(model, wins))
    assert int(state.status) == Status.CONVERGED
    assert np.all(np.isfinite(state.factor))
    assert np.all(np.diff(np.asarray(state.mode)[-3:]) < 0)


def test_batches_equal_loops():
    rng = np.random.default_rng(0)
    tables = np.triu(rng.poisson(3.0, (5, 4, 4)), 1)
    tables = np.stack([each + rng.poisson(2.0, (4, 4)) * 1.0 for each in tables])
    model = BradleyTerry()
    for table in tables:
        np.fill_diagonal(table, 0.0)
    each = [arrays_of(model, table) for table in tables]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *each)
    together = jax.jit(jax.vmap(partial(laplace, model)))(stacked)
    for index, arrays in enumerate(each):
        alone = find(model, arrays)
        np.testing.assert_allclose(together.mode[index], alone.mode, atol=1e-10)
        np.testing.assert_allclose(together.factor[index], alone.factor, atol=1e-10)
    assert set(np.asarray(together.status).tolist()) == {int(Status.CONVERGED)}


def test_warm_start_needs_few_steps():
    """One more vote: what a policy pays per round."""
    model = BradleyTerry()
    before = find(model, arrays_of(model, WINS))
    more = WINS.copy()
    more[0, 1] += 1
    after = jax.jit(partial(laplace, model, max_iterations=3))(
        arrays_of(model, more), before.mode
    )
    exact = find(model, arrays_of(model, more))
    np.testing.assert_allclose(after.mode, exact.mode, atol=1e-6)
    assert int(exact.iterations) > 3


def test_multinomial_logit_inside_a_program():
    """Jit and vmap over counts, as a policy on subsets will use it."""
    model = MultinomialLogit(prior_scale=1.5)
    offered = np.array([[1, 1, 0, 1], [0, 1, 1, 1]], dtype=bool)
    counts = np.array([[3.0, 1, 0, 2], [0, 5, 1, 1]])
    arrays = as_jax(model.arrays(Choices.from_counts(offered, counts, none=[4.0, 2.0])))

    @jax.jit
    def modes(counts):
        def one(each):
            return laplace(model, type(arrays)(arrays.offered, each, arrays.sign, 4))

        return jax.vmap(one)(counts)

    state = modes(jnp.stack([arrays.counts, 2.0 * arrays.counts]))
    assert np.all(np.asarray(state.status) == Status.CONVERGED)

    def loss(u, factor):
        weight = np.append(np.exp(u), 1.0)
        every = np.append(np.asarray(arrays.offered)[:, :4], np.ones((2, 1)), 1)
        total = (every * weight).sum(axis=1)
        chosen = np.asarray(arrays.counts)
        log_votes = np.sum(chosen * np.log(weight)) - chosen.sum(axis=1) @ np.log(total)
        return u @ u / (2 * 1.5**2) - factor * log_votes

    for index, factor in enumerate((1.0, 2.0)):
        best = optimize.minimize(loss, np.zeros(4), (factor,), options={"gtol": 1e-9})
        np.testing.assert_allclose(state.mode[index], best.x, atol=1e-5)


def test_programs_allow_no_mixed_dtypes(strict_jax):
    """A policy may call this under the strict rules of the simulator."""
    model = MultinomialLogit()
    arrays = as_jax(model.arrays(Choices.from_subsets([["a", "b"]], ["a"])))
    jax.jit(partial(laplace, model)).lower(arrays)
    votes = arrays_of(BradleyTerry(), WINS)
    jax.jit(partial(laplace, BradleyTerry())).lower(votes)


def test_normal_distribution():
    """Draws have the mode as mean and the inverse curvature as covariance, and the
    density integrates to 1."""
    state = find(BradleyTerry(), arrays_of(BradleyTerry(), WINS))
    points = np.asarray(draw_points(jax.random.key(0), state, 40000))
    covariance = np.linalg.inv(np.asarray(state.factor @ state.factor.T))
    scale = np.sqrt(np.diagonal(covariance))
    error = 5.0 / np.sqrt(len(points))
    np.testing.assert_allclose(
        (points.mean(axis=0) - np.asarray(state.mode)) / scale, 0.0, atol=error
    )
    np.testing.assert_allclose(
        np.cov(points.T) / np.outer(scale, scale),
        covariance / np.outer(scale, scale),
        atol=2 * error,
    )
    from scipy.stats import multivariate_normal

    distribution = multivariate_normal(np.asarray(state.mode), covariance)
    np.testing.assert_allclose(
        log_normal_density(state, jnp.asarray(points[:9])),
        distribution.logpdf(points[:9]),
    )


def test_statuses():
    """What no normal distribution fits is said, never nan."""
    start = jnp.asarray([0.5, -0.25])
    heights = [
        lambda x: x[1] ** 2 - x[0] ** 2,
        lambda x: jnp.log(-jnp.sum(x**2)),
        lambda x: -jnp.sum((x - 1e9) ** 2),
        # From a convex place it still climbs: convex outside one unit of the top.
        lambda x: -jnp.log1p(jnp.sum((x - 3.0) ** 2)),
    ]

    @quick_jit
    def search(kind):
        def height(x):
            return jax.lax.switch(kind, heights, x)

        return newton_mode(height, start, max_iterations=20)

    found = [search(kind) for kind in range(4)]
    assert [int(state.status) for state in found] == [
        Status.NOT_CONCAVE, Status.NOT_FINITE, Status.NOT_CONVERGED, Status.CONVERGED
    ]  # fmt: skip
    for state in found:
        assert np.all(np.isfinite(state.mode)) and np.all(np.isfinite(state.factor))
    np.testing.assert_allclose(found[-1].mode, 3.0, atol=1e-5)


def test_without_a_closed_form():
    for model in (BradleyTerry(learn_scale=True), BradleyTerry(covariates=True)):
        assert model.hessian(None) is None
    assert PairwiseBeta().hessian(None) is None

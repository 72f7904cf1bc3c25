"""Newton's method on the log density of a model: it ends, and where it should."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from bayesduel.models import MultinomialLogit
from bayesduel.models.fit.numpyro_models import as_jax, draw_points, laplace
from bayesduel.models.fit.proposals import log_normal_density
from bayesduel.models.newton import LaplaceState, Status, newton_mode
from bayesduel.votes import Choices
from tests.compiling import quick_jit


@pytest.fixture(autouse=True)
def _double_precision():
    with jax.enable_x64(True):
        yield


def test_programs_allow_no_mixed_dtypes(strict_jax):
    """A policy may call this under the strict rules of the simulator."""
    model = MultinomialLogit()
    arrays = as_jax(model.arrays(Choices.from_subsets([["a", "b"]], ["a"])))
    jax.jit(partial(laplace, model)).lower(arrays)


def test_normal_distribution():
    """Draws have the mode as mean and the inverse curvature as covariance, and the
    density integrates to 1."""
    mode, factor = np.array([0.5, -3.0]), np.array([[2.0, 0.0], [-1.0, 0.3]])
    state = LaplaceState(mode, factor, np.float64(0.0), np.int32(0), np.int32(1))
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
    distribution = stats.multivariate_normal(np.asarray(state.mode), covariance)
    np.testing.assert_allclose(
        log_normal_density(state, points[:9]), distribution.logpdf(points[:9])
    )


@pytest.mark.slow
def test_statuses():
    """A posterior that no normal distribution fits raises an error, never nan."""
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

    result = [search(kind) for kind in range(4)]
    assert [int(state.status) for state in result] == [
        Status.NOT_CONCAVE, Status.NOT_FINITE, Status.NOT_CONVERGED, Status.CONVERGED
    ]  # fmt: skip
    for state in result:
        assert np.all(np.isfinite(state.mode)) and np.all(np.isfinite(state.factor))
    np.testing.assert_allclose(result[-1].mode, 3.0, atol=1e-5)

"""The likeliest world in which two arms are level, against SciPy's optimizers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_expit

from bayesduel.models import BradleyTerry, Thurstone
from bayesduel.models.fit.laplace_draws import density_of
from bayesduel.posteriors import Laplace
from tests.compiling import quick_jit
from tests.models.in_policies.models_of_ones_own import OnAScale
from tests.models.in_policies.voting import CASES, after_votes, comparisons, init, table

pytestmark = pytest.mark.usefixtures("hardly_optimized")

FEATURES = np.array([[1.0, 0.0], [0.5, 2.0], [-1.0, 1.0], [0.3, -0.7]])

MODELS = {
    "bradley-terry": BradleyTerry(),
    "wide": BradleyTerry(prior_scale=100.0),
    "order effect": Thurstone(order_effect=True),
    "ties": BradleyTerry(ties=True, order_effect=True, zero_sum=True),
    "features": BradleyTerry(covariates=True),
    "learned scale": BradleyTerry(learn_scale=True),
    "own": OnAScale(),
}
WORLDS = [
    ("bradley-terry", "lopsided"),
    ("bradley-terry", "never lost"),
    *(pytest.param(name, "lopsided", marks=pytest.mark.slow) for name in [*MODELS][1:]),
    pytest.param("wide", "never lost", marks=pytest.mark.slow),
]


@quick_jit
def level_world(posterior, state, leader, rival):
    return posterior.level_world(state, leader, rival)


def world_of(posterior, state, leader, rival):
    with jax.enable_x64(True):
        result = level_world(posterior, state, jnp.int32(leader), jnp.int32(rival))
        return np.asarray(result.preference), float(result.fall)


def by_scipy(model, data, mode, leader, rival):
    """Return the matrix and the fall of the same world."""
    target = density_of(model, model.arrays(data))

    def gap(point):
        utility = np.asarray(model.utilities(target.named(point[None])))[0]
        return utility[leader] - utility[rival]

    top = float(target.log_densities(mode[None])[0])
    result = minimize(
        lambda point: top - float(target.log_densities(point[None])[0]),
        mode,
        method="SLSQP",
        constraints={"type": "eq", "fun": gap},
        options={"ftol": 1e-13, "maxiter": 500},
    )
    matrix = np.asarray(model.preference_matrices(target.named(result.x[None])))[0]
    return matrix, result.fun


@pytest.mark.parametrize(("name", "case"), WORLDS)
def test_worlds_are_those_of_an_optimizer(name, case):
    """Also where the utilities are no linear functions of the coordinates."""
    model = MODELS[name]
    covariates = FEATURES if name == "features" else None
    # The density of a learned scale is not concave, and a step then goes not far.
    steps = 300 if name == "learned scale" else 20
    posterior = Laplace(model, steps, covariates)
    state = after_votes(posterior, *CASES[case], at_once=40, settle=2)
    data = comparisons(*CASES[case])
    data = data if covariates is None else data.with_covariates(covariates)
    mode = np.asarray(state.distribution.mode)
    for leader, rival in ((0, 1), (3, 1), (2, 0)):
        matrix, fall = world_of(posterior, state, leader, rival)
        theirs = by_scipy(model, data, mode, leader, rival)
        assert fall > 1e-3
        assert fall == pytest.approx(theirs[1], rel=1e-6, abs=1e-7)
        assert matrix[leader, rival] == pytest.approx(0.5, abs=1e-9)
        np.testing.assert_allclose(matrix, theirs[0], atol=2e-4)


def test_two_arms_are_level_where_both_are_at_the_mean():
    """By hand: utilities are 0 there, and at the mode +-u for the one root u.

    Those of arms that nothing is known of are 0 in any case. Of two arms alone:
    ``test_rivals_over_models``.
    """
    scale = MODELS["bradley-terry"].prior_scale
    for wins, losses in ((5, 0), (7, 3), (60, 1)):
        won = table({(0, 1): wins, (1, 0): losses})
        posterior = Laplace(MODELS["bradley-terry"], 20)
        state = after_votes(posterior, won, 0 * won, settle=2)
        matrix, fall = world_of(posterior, state, 0, 1)
        np.testing.assert_allclose(matrix[:2, :2], 0.5, rtol=1e-12)
        np.testing.assert_allclose(matrix, 0.5, atol=1e-9)
        gap = np.linspace(0.0, 40.0, 400_001)
        logs = wins * log_expit(gap) + losses * log_expit(-gap) - gap**2 / 4 / scale**2
        by_hand = logs.max() - (wins + losses) * np.log(0.5)
        assert fall == pytest.approx(by_hand, rel=1e-7)


def test_the_mode_is_the_world_of_the_leader_itself():
    posterior = Laplace(MODELS["bradley-terry"], 20)
    state = after_votes(posterior, *CASES["lopsided"])
    with jax.enable_x64(True):
        at_mode = quick_jit(posterior.matrices_at)(state, state.distribution.mode[None])
    for arm in range(4):
        matrix, fall = world_of(posterior, state, arm, arm)
        np.testing.assert_allclose(matrix, at_mode[0], rtol=1e-12)
        assert fall == 0.0


def test_without_votes_all_arms_are_level():
    with jax.enable_x64(True):
        posterior = Laplace(MODELS["bradley-terry"], 20)
        state = init(posterior, jax.random.key(0), 4)
    matrix, fall = world_of(posterior, state, 0, 2)
    np.testing.assert_allclose(matrix, 0.5, rtol=1e-12)
    assert fall == 0.0

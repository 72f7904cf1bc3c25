"""Draws along rays from the mode: equations by bisection, tails by integrals."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import log_expit, log_ndtr

import bayesduel
from bayesduel import policies
from bayesduel.models import BradleyTerry, LinearUtilities, Thurstone
from bayesduel.models.fit.laplace_draws import density_of
from bayesduel.models.in_policies.modes import (
    NormalApproximation,
    draw_on_rays,
    points_on_rays,
)
from bayesduel.models.in_policies.pair_models import AutomaticDensity, VoteTables
from bayesduel.posteriors import Laplace
from tests.compiling import quick_jit
from tests.models.in_policies.models_of_ones_own import OnAScale, ShownFirst
from tests.models.in_policies.voting import (
    CASES,
    after_votes,
    comparisons,
    normal_of_fit,
    sample,
)
from tests.reference.rays import points_on_rays as by_bisection

MODELS = {
    "bradley-terry": BradleyTerry(),
    "ties": Thurstone(ties=True, order_effect=True),
    "own": ShownFirst(),
}


def cases(names):
    """Only Bradley-Terry is compiled in the fast suite."""
    return [
        pytest.param(name, marks=[pytest.mark.slow] * (name != "bradley-terry"))
        for name in names
    ]


@pytest.mark.parametrize("case", ["lopsided", "never lost"])
@pytest.mark.parametrize("name", cases(MODELS))
def test_draws_solve_the_equation(name, case):
    """That of the module, by bisection, for the same normal numbers."""
    posterior, number = Laplace(MODELS[name]), 200
    state = after_votes(posterior, *CASES[case], at_once=40, settle=2)
    key, distribution = jax.random.key(3), state.distribution
    with jax.enable_x64(True):
        drawn = np.asarray(sample(posterior, key, state, number))
        shape = len(distribution.mode), number
        white = np.asarray(jax.random.normal(key, shape, dtype=jnp.float64)).T
    ways = np.linalg.solve(distribution.factor.T, white.T).T
    data = comparisons(*CASES[case])
    target = density_of(MODELS[name], MODELS[name].arrays(data))
    depth = np.linalg.norm(white, axis=1)
    points = by_bisection(target.log_densities, distribution.mode, ways, depth)
    with jax.enable_x64(True):
        at = quick_jit(posterior.matrices_at)
        matrices, normal = (
            np.asarray(at(state, jnp.asarray(item)))
            for item in (points, distribution.mode + ways)
        )
    error = np.abs(np.log(drawn / matrices))
    assert np.quantile(error, 0.99) < 2e-3 and np.max(error) < 0.05
    assert np.max(np.abs(np.log(normal / drawn))) > 0.1


LAZY = {
    "bradley-terry": MODELS["bradley-terry"],
    "own": OnAScale(),
    "features": LinearUtilities([[1.0, 0.0], [0.5, 2.0], [-1.0, 1.0], [0.3, -0.7]]),
}


@pytest.mark.parametrize("name", cases(LAZY))
def test_draws_of_the_leader_need_no_solution(name):
    """A look at where another arm takes over tells of nearly all of them."""
    posterior, number = Laplace(LAZY[name]), 2000
    if name == "features":
        posterior = posterior.in_order(jnp.asarray([2, 0, 3, 1], jnp.int32))

    @quick_jit
    def both(state):
        key, utility = jax.random.key(5), posterior.utilities(state)
        leader = jnp.argmax(utility).astype(jnp.int32)
        lazy = posterior.utilities_by_number(key, state, number, leader)
        full = posterior.sample_utilities(key, state, number)
        return leader, lazy.stay, lazy.at(jnp.arange(40)), full

    few = np.array([[0, 4, 6, 4], [2, 0, 5, 3], [1, 2, 0, 3], [1, 2, 2, 0]])
    for won in (few, 4 * few):
        state = after_votes(posterior, won, 0 * won, at_once=40, settle=2)
        with jax.enable_x64(True):
            state = jax.tree.map(jnp.asarray, state)
            leader, stay, some, full = jax.tree.map(np.asarray, both(state))
        np.testing.assert_allclose(some, full[:40], rtol=1e-9)
        of_leader = np.argmax(full, axis=1) == int(leader)
        assert np.all(of_leader[stay])
        assert 0.95 * of_leader.sum() < stay.sum() < number


def test_of_a_normal_posterior_draws_are_its_own():
    factor = np.array([[2.0, 0, 0], [1.0, 0.5, 0], [-3.0, 1.0, 4.0]])
    with jax.enable_x64(True):
        distribution = NormalApproximation(jnp.ones(3), jnp.asarray(factor))
        density = AutomaticDensity(
            lambda x: 3.0 - 0.5 * jnp.sum(jnp.square((x - 1.0) @ factor))
        )
        result = draw_on_rays(jax.random.key(1), density, distribution, 500)
        white = np.asarray(jax.random.normal(jax.random.key(1), (3, 500), jnp.float64))
    np.testing.assert_allclose((np.asarray(result) - 1.0) @ factor, white.T, atol=1e-9)


@pytest.mark.parametrize(
    "height",
    [lambda x: jnp.where(x[0] > 0.5, -jnp.inf, -0.5 * x[0] ** 2),
     lambda x: jnp.logaddexp(-0.5 * x[0] ** 2, -8.0 * (x[0] - 5.0) ** 2),
     lambda x: -jnp.minimum(x[0] ** 2, 0.1),
     lambda x: jnp.where(x[0] < 0, jnp.nan, -0.5 * x[0] ** 2)],
    ids=["a wall", "two bumps", "a plain", "no number"],
)  # fmt: skip
def test_draws_are_finite_whatever_the_density(height):
    with jax.enable_x64(True):
        distribution = NormalApproximation(jnp.zeros(1), jnp.eye(1))
        density = AutomaticDensity(height)
        result = draw_on_rays(jax.random.key(0), density, distribution, 300)
    assert np.all(np.isfinite(result))


@partial(quick_jit, static_argnums=0)
def best_on_rays(model, won, mode, ways, depth):
    """Return which arm is best at these depths of rays, and at the mode."""
    density = Laplace(model).pairs(len(won)).falling(VoteTables(won, 0 * won))
    points = points_on_rays(density, mode, mode[None] + depth[:, None] * ways, depth)
    points = jnp.concatenate([points, mode[None]])
    best = jnp.argmax(density.coordinates.utilities(points), axis=1)
    return best[:-1], best[-1]


def probability_of_another(model, won, number=720):
    """P(draws have another best arm than the mode), by exact rays of two coordinates.

    On a ray that is so from some |z| on, beyond which lies exp(-|z|^2 / 2).
    """
    distribution = normal_of_fit(model, comparisons(won, 0 * won))
    angle = (np.arange(number) + 0.5) * 2.0 * np.pi / number
    white = np.stack([np.cos(angle), np.sin(angle)])
    ways = np.linalg.solve(np.asarray(distribution.factor).T, white).T
    low, high = np.zeros(number), np.full(number, 12.0)
    with jax.enable_x64(True):
        rays = map(jnp.asarray, (won, distribution.mode, ways))
        best = partial(best_on_rays, model, *rays)
        for _ in range(40):
            middle = 0.5 * (low + high)
            result, top = best(jnp.asarray(middle))
            inside = np.asarray(result == top)
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return float(np.mean(np.exp(-0.5 * high**2)))


def exact_probability_of_another(model, won, reach, number=1201):
    """Return the same of the posterior, by a grid of the gaps to the best arm."""
    scale, num_arms = model.prior_scale, len(won)
    distribution = normal_of_fit(model, comparisons(won, 0 * won))
    shown = model.closed_form(model.arrays(comparisons(won, 0 * won))).coordinates
    top = int(np.argmax(shown.utilities(np.asarray(distribution.mode)[None])))
    line = np.linspace(-reach, reach, number)
    axes = np.meshgrid(*[line] * (num_arms - 1), indexing="ij")
    utility = np.insert(np.stack(axes), top, 0.0, axis=0)
    # The mean of all utilities is independent of their gaps, in the prior as after it.
    logs = -0.5 * np.sum((utility - utility.mean(axis=0)) ** 2, axis=0) / scale**2
    probability = (
        log_expit if isinstance(model, BradleyTerry) else lambda x: log_ndtr(x / 2**0.5)
    )
    for i, j in np.argwhere(won):
        logs = logs + won[i, j] * probability(utility[i] - utility[j])
    weight = np.exp(logs - logs.max())
    other = np.max(utility, axis=0) > 0
    edge = np.max(utility, axis=0) == 0
    edge &= np.sum(utility == 0, axis=0) > 1
    return np.sum(weight * (other + 0.5 * edge)) / np.sum(weight)


def two_arms(number, share):
    wins = round(number * share)
    return np.array([[0, wins], [number - wins, 0]])


TWO = [(10, 0.6), (400, 0.6), (50, 0.7), (30, 0.8), (20, 0.9), (10, 0.99), (100, 0.99)]


def test_tails_of_two_arms_are_those_of_the_integral():
    """Down to a millionth; the normal distribution is off by factors of up to 500."""
    model = BradleyTerry(prior_scale=3.0)
    for number, share in TWO:
        won = two_arms(number, share)
        exact = exact_probability_of_another(model, won, 60.0, 100_001)
        if exact > 1e-7:
            ratio = probability_of_another(model, won) / exact
            assert 0.95 < ratio < 1.15, (number, share, ratio)


THREE = [
    ([[0, 6, 9], [1, 0, 5], [0, 2, 0]], 3.0),
    ([[0, 12, 8], [4, 0, 6], [0, 1, 0]], 2.0),
    ([[0, 20, 3], [2, 0, 0], [0, 0, 0]], 1.5),
    ([[0, 20, 30], [5, 0, 9], [1, 4, 0]], 3.0),
]


@pytest.mark.slow
def test_tails_of_three_arms_are_those_of_the_integral():
    for won, scale in THREE:
        model = Thurstone(prior_scale=scale, zero_sum=True)
        won = np.array(won)
        exact = exact_probability_of_another(model, won, 25.0)
        ratio = probability_of_another(model, won) / exact
        assert 0.95 < ratio < 1.25, (won, ratio)


def test_the_mode_is_right_however_wide_the_prior():
    """Undamped, Newton's method ends where the prior alone bends the density."""
    model = BradleyTerry(prior_scale=100.0)
    rng = np.random.default_rng(0)
    swept = np.zeros((4, 4), dtype=int)
    swept[0, 1:] = 5
    tables = [two_arms(5, 1.0), swept, *rng.poisson(0.6, (6, 4, 4))]
    for won in tables:
        won = won * (1 - np.eye(len(won), dtype=int))
        state = after_votes(Laplace(model), won, 0 * won, at_once=1, settle=1)
        data = comparisons(won, 0 * won)
        # A concave function has one mode, where a Newton step leads nowhere.
        density = model.closed_form(model.arrays(data))
        mode = np.array(state.distribution.mode)
        step = np.linalg.solve(density.hessian(mode), density.gradient(mode))
        assert np.max(np.abs(step)) < 1e-6


def regret_of(matrix, name, runs, checkpoints, seed):
    result = bayesduel.simulate(
        matrix, policies.parse_policy(name), num_runs=runs, horizon=checkpoints[-1],
        checkpoints=checkpoints, seed=seed,
    )  # fmt: skip
    return result["regret"].sel(notion="copeland").values.squeeze()


@pytest.mark.slow
def test_regret_grows_as_the_lower_bound_has_it():
    """Two arms, p = 0.9: 1 / (2 kl(0.9, 1/2)) = 1.36; 2.25 with the normal
    distribution."""
    matrix = np.array([[0.5, 0.9], [0.1, 0.5]])
    regret = regret_of(matrix, "bt-ts", 100, [10**3, 10**5], 3)
    slopes = (regret[:, 1] - regret[:, 0]) / np.log(100)
    # Three standard errors beside what was asked for.
    assert abs(slopes.mean() - 1.358) < 0.1 + 3 * slopes.std() / np.sqrt(100)

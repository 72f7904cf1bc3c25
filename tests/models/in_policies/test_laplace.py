"""Laplace's method inside policies: fits, derivatives, draws, and what is refused."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats

from bayesduel.errors import PolicyParameterError
from bayesduel.models import BradleyTerry, MultinomialLogit, PairwiseBeta, Thurstone
from bayesduel.models.in_policies.pair_models import (
    AutomaticDensity,
    PairModel,
    VoteTables,
)
from bayesduel.posteriors import Laplace
from bayesduel.types import Outcome
from tests.compiling import quick_jit
from tests.models.in_policies.models_of_ones_own import InNumPy, KnownArms, ShownFirst
from tests.models.in_policies.voting import (
    CASES,
    after_votes,
    comparisons,
    init,
    mean,
    normal_of_fit,
    sample,
    update,
)

pytestmark = pytest.mark.usefixtures("hardly_optimized")

FALSE_ALARM = 1e-5
"""The rate for one test."""

FEATURES = np.array([[1.0, 0.0], [0.5, 2.0], [-1.0, 1.0], [0.3, -0.7]])

MODELS = {
    "bradley-terry": BradleyTerry(),
    "thurstone": Thurstone(prior_scale=1.5),
    "ties": Thurstone(ties=True, zero_sum=True, order_effect=True),
    "own": ShownFirst(),
    "beta": PairwiseBeta(prior=2.0),
}


@pytest.mark.parametrize(
    ("name", "case"),
    [
        *itertools.product(("bradley-terry", "own"), CASES),
        *(
            pytest.param(name, "lopsided", marks=pytest.mark.slow)
            for name in MODELS
            if name not in {"bradley-terry", "own"}
        ),
        pytest.param("ties", "never lost", marks=pytest.mark.slow),
    ],
)
@pytest.mark.filterwarnings("ignore::bayesduel.errors.DisconnectedComparisonsWarning")
def test_state_is_that_of_a_fit(name, case):
    """Mode and covariance: a few Newton steps keep up.

    After a vote that surprises, the mode is reached in the next round.
    """
    posterior = Laplace(MODELS[name])
    data = comparisons(*CASES[case])
    result = normal_of_fit(MODELS[name], data)
    state = after_votes(posterior, *CASES[case])
    np.testing.assert_allclose(state.distribution.mode, result.mode, atol=1e-3)
    state = after_votes(posterior, *CASES[case], settle=1)
    np.testing.assert_allclose(state.distribution.mode, result.mode, atol=1e-6)
    ours, theirs = (
        np.linalg.inv(np.asarray(x) @ np.asarray(x).T)
        for x in (state.distribution.factor, result.factor)
    )
    np.testing.assert_allclose(ours, theirs, rtol=2e-6, atol=1e-7)


@pytest.mark.slow
def test_covariates_are_those_of_a_fit():
    """Without a residual: ``test_linear``."""
    model = BradleyTerry(covariates=True, residual=True)
    posterior = Laplace(model, covariates=FEATURES)
    posterior.check(4)
    won, lost = CASES["lopsided"]
    state = after_votes(posterior, won, lost, settle=1)
    data = comparisons(won, lost).with_covariates(FEATURES)
    result = normal_of_fit(model, data)
    np.testing.assert_allclose(state.distribution.mode, result.mode, atol=1e-6)
    np.testing.assert_allclose(
        state.distribution.factor, result.factor, rtol=1e-5, atol=1e-7
    )


@pytest.mark.parametrize(
    "model",
    [pytest.param(Thurstone(zero_sum=True), marks=pytest.mark.slow),
     BradleyTerry(ties=True, order_effect=True)],
    ids=["zero sum", "ties and order"],
)  # fmt: skip
def test_closed_forms_are_the_derivatives_of_the_density(model, monkeypatch):
    """At points far from the mode too."""
    pairs = Laplace(model).pairs(4)
    assert pairs.in_closed_form
    with jax.enable_x64(True):
        votes = VoteTables(*(jnp.asarray(table) for table in CASES["lopsided"]))
        closed = pairs.density(votes)
        monkeypatch.setattr(PairModel, "_closed", None)
        by_numpyro = Laplace(model).pairs(4).density(votes).log_density

        @quick_jit
        def both(point):
            return [
                (density.log_density(point), *density.gradient_and_hessian(point))
                for density in (closed, AutomaticDensity(by_numpyro))
            ]

        rng = np.random.default_rng(0)
        for scale in (0.0, 0.5, 4.0):
            one, other = both(jnp.asarray(scale * rng.standard_normal(pairs.size)))
            for ours, theirs in zip(one, other, strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


def test_mean_is_exactly_even_where_nothing_is_known():
    with jax.enable_x64(True):
        posterior = Laplace(MODELS["thurstone"])
        result = mean(posterior, init(posterior, jax.random.key(0), 4))
    np.testing.assert_allclose(result, 0.5, atol=1e-15)


@pytest.mark.parametrize(
    ("name", "votes"),
    [
        ("bradley-terry", CASES["lopsided"]),
        ("bradley-terry", CASES["never lost"]),
        ("thurstone", CASES["lopsided"]),
        ("bradley-terry", np.array([[[0, 1], [2, 0]], [[0, 0], [1, 0]]])),
    ],
    ids=["lopsided", "never lost", "thurstone", "2 arms"],
)
def test_mean_is_that_of_the_normal_distribution(name, votes):
    """Closer than that of as many independent draws, by integration over each gap."""
    posterior = Laplace(model := MODELS[name])
    state = after_votes(posterior, *votes, at_once=40)
    with jax.enable_x64(True):
        result = np.asarray(mean(posterior, state))
    covariance = np.linalg.inv(state.distribution.factor @ state.distribution.factor.T)
    nodes, weights = np.polynomial.hermite_e.hermegauss(101)
    distribution = stats.norm.cdf if isinstance(model, Thurstone) else special.expit
    unit = np.sqrt(2.0) if isinstance(model, Thurstone) else 1.0
    errors, spreads = [], []
    for i, j in zip(*np.triu_indices(len(result), 1), strict=True):
        gap = np.eye(len(result))[i] - np.eye(len(result))[j]
        spread = np.sqrt(gap @ covariance @ gap)
        probabilities = distribution(
            (gap @ state.distribution.mode + spread * nodes) / unit
        )
        first, second = (weights @ probabilities**k / weights.sum() for k in (1, 2))
        errors.append(result[i, j] - first)
        spreads.append(second - first**2)
    assert np.mean(np.square(errors)) < np.mean(spreads) / 256


def test_utilities_describe_the_draws_of_the_same_key():
    posterior = Laplace(MODELS["bradley-terry"])
    state = after_votes(posterior, *CASES["lopsided"])
    with jax.enable_x64(True):
        key = jax.random.key(3)
        theta = np.asarray(sample(posterior, key, state, 50))
        draw = quick_jit(posterior.sample_utilities, static_argnums=2)
        utility = np.asarray(draw(key, state, 50))
    gap = utility[:, :, None] - utility[:, None, :]
    np.testing.assert_allclose(theta, special.expit(gap), rtol=1e-12)


@pytest.mark.slow
def test_models_that_know_their_arms_follow_the_order():
    """The state of shuffled arms is that of the others, moved.

    Where features tell them apart: ``test_linear``.
    """
    posterior = Laplace(KnownArms())
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
        prior, first = (
            np.asarray(mean(item, init(item, jax.random.key(0), 4)))
            for item in (posterior, moved)
        )
    np.testing.assert_allclose(two, one[square], atol=1e-6)
    np.testing.assert_allclose(first, prior[square], atol=1e-9)
    assert np.abs(two - one).max() > 0.05


def test_a_self_duel_teaches_nothing():
    posterior = Laplace()
    won, lost = CASES["lopsided"]
    state = after_votes(posterior, won, lost, settle=2)
    with jax.enable_x64(True):
        one, arm = jnp.int64(1), jnp.int32(2)
        votes = Outcome(one, one, one)
        after = update(posterior, jax.random.key(0), state, arm, arm, votes)
    np.testing.assert_array_equal(after.votes.won, state.votes.won)
    np.testing.assert_allclose(
        after.distribution.mode, state.distribution.mode, atol=1e-12
    )


@pytest.mark.parametrize(
    ("posterior", "words"),
    [
        (Laplace(InNumPy()), "preference_matrices of InNumPy"),
        (Laplace("thurstone"), "model must be a model such as"),
        (Laplace(MultinomialLogit()), "which MultinomialLogit is fitted to"),
        (Laplace(BradleyTerry(prior_scale=-1.0)), "prior_scale must be"),
        (Laplace(BradleyTerry(covariates=True), covariates=FEATURES[:3]),
         "a row for each of the 4 arms"),
        (Laplace(BradleyTerry(covariates=True)),
         "covariates must not be True for data without"),
        (Laplace(newton_steps=0), "newton_steps must be an integer of at least 1"),
    ],
)  # fmt: skip
def test_what_a_policy_cannot_hold_is_refused(posterior, words):
    with pytest.raises(PolicyParameterError, match=words):
        posterior.check(4)


def test_arrays_must_keep_their_rows():
    class Sorted(ShownFirst):
        def arrays(self, data):
            rows = super().arrays(data)
            return rows._replace(counts=rows.counts[::-1])

    with pytest.raises(
        PolicyParameterError, match="a field counts, with the votes row"
    ):
        Laplace(Sorted()).check(4)

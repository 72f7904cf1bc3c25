"""Beta and gamma draws against their distribution functions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from bayesduel.posteriors.beta_draws import draw_betas, draw_gammas

FALSE_ALARM = 1e-5
"""Of all laws of one test together."""

PARAMETERS = np.array(
    [(1, 1), (1, 2.5), (7.3, 1), (2, 2), (40, 11), (1, 900), (3e4, 2e4), (2e9, 1.5e9)]
)
NUM_DRAWS = 20_000


@pytest.fixture(scope="module")
def draws():
    with jax.enable_x64(True):
        first, second = (jnp.asarray(each) for each in PARAMETERS.T)
        keys = jax.random.split(jax.random.key(3), NUM_DRAWS)
        batched = jax.jit(jax.vmap(lambda key: draw_betas(key, first, second)))
        return np.asarray(batched(keys)).T


def test_draws_have_the_law_of_beta(draws):
    assert draws.dtype == np.float64
    p_values = [
        stats.kstest(sample, stats.beta(*each).cdf).pvalue
        for sample, each in zip(draws, PARAMETERS, strict=True)
    ]
    assert min(p_values) > FALSE_ALARM / len(p_values), p_values


def test_draws_have_the_law_of_gamma():
    shapes = np.array([1, 1.5, 7, 40, 3e4, 2e9])
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(4), NUM_DRAWS)
        batched = jax.jit(jax.vmap(lambda key: draw_gammas(key, jnp.asarray(shapes))))
        samples = np.asarray(batched(keys)).T
    p_values = [
        stats.kstest(sample, stats.gamma(shape).cdf).pvalue
        for sample, shape in zip(samples, shapes, strict=True)
    ]
    assert min(p_values) > FALSE_ALARM / len(p_values), p_values


def test_entries_are_independent(draws):
    """Also within one entry's two gammas, which share a call of the generator."""
    uniform = [
        stats.beta(*each).cdf(sample)
        for sample, each in zip(draws, PARAMETERS, strict=True)
    ]
    # Neighbors in one sample, and the same place of two samples.
    pairs = [(each[:-1], each[1:]) for each in uniform]
    pairs += [(one, other) for one, other in zip(uniform, uniform[1:], strict=False)]
    p_values = [stats.pearsonr(*pair).pvalue for pair in pairs]
    assert min(p_values) > FALSE_ALARM / len(p_values), p_values


def test_another_law_is_noticed(draws):
    """Negative control: a parameter that is 5 percent off."""
    assert stats.kstest(draws[4], stats.beta(42, 11).cdf).pvalue < FALSE_ALARM


def test_shape_is_kept():
    with jax.enable_x64(True):
        ones = jnp.ones((2, 3))
        assert draw_betas(jax.random.key(0), ones, ones).shape == (2, 3)
        assert draw_gammas(jax.random.key(0), ones).shape == (2, 3)

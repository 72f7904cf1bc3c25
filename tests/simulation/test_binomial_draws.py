"""Binomial draws: the parts of the rejection exactly, the whole in law."""

import math
from functools import cache, partial

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bayesduel.simulation import _binomial_draws
from bayesduel.simulation._binomial_draws import binomial
from bayesduel.simulation.trailing_vmap import map_lanes
from tests.policies.laws import chi_square

FALSE_ALARM = 1e-5

LAWS = [
    (20, 0.5001),
    (21, 0.5),
    (25, 0.45),
    (40, 0.74),
    (100, 0.101),
    (1000, 0.0101),
    (10_000, 0.0012),
    (200, 0.9),
    (100_000, 1.1e-4),
]
"""Just above ten expected successes or failures, and far above."""

LONGEST = (10**6, 2**40, 2**53 + 1, 2**62)


def test_tail_of_the_series_of_stirling():
    counts = np.array([*range(200), 10**3, 10**4, 10**5, 2**40, 2**62], dtype=float)
    with jax.enable_x64(True):
        found = np.asarray(_binomial_draws.stirling_tail(jnp.asarray(counts)))
    for count, tail in zip(counts, found, strict=True):
        if count < 200:
            rest = (count + 0.5) * math.log(count + 1) - (count + 1)
            exact = math.lgamma(count + 1) - rest - 0.5 * math.log(2 * math.pi)
            assert tail == pytest.approx(exact, abs=4e-16 * max(rest, 30))
        assert tail == pytest.approx(1 / (12 * (count + 1)), rel=0.03, abs=0)


@cache
def ratio_program():
    def ratios(number, chance, away):
        hat = _binomial_draws.hat(number, chance)
        return jax.vmap(partial(_binomial_draws.log_ratio_to_mode, hat))(
            away - hat.mode
        )

    return jax.jit(ratios)


@pytest.mark.parametrize("number", [21, 40, 1000, *LONGEST])
def test_ratio_of_two_probabilities(number):
    """Against sixty digits, up to five standard deviations from the mode."""
    for chance in (0.5, 0.3, 0.011, 10.5 / number):
        if number * chance < 10:
            continue
        deviation = math.sqrt(number * chance * (1 - chance))
        # Whole numbers that a float64 can hold, and their difference too.
        step = 2.0 ** max(0, math.frexp(number * chance)[1] - 52)
        mode = step * math.floor((number + 1.0) * chance / step)
        away = step * np.round(np.linspace(-5, 5, 21) * deviation / step)
        away = np.clip(away, -mode, number - mode)
        with jax.enable_x64(True):
            found = ratio_program()(
                jnp.float64(number), jnp.float64(chance), jnp.asarray(mode + away)
            )
        with mpmath.workdps(60):
            share = mpmath.mpf(chance)
            odds = mpmath.log(share / (1 - share))

            def log_probability(count, odds=odds):
                both = mpmath.loggamma(count + 1) + mpmath.loggamma(number - count + 1)
                return count * odds - both

            top = log_probability(int(mode))
            expected = [float(log_probability(int(mode + x)) - top) for x in away]
        precision = max(3e-14, 3e-15 * deviation)
        # The logarithm of XLA is off by up to 2.7e-14 of itself before jaxlib 0.11.1.
        np.testing.assert_allclose(found, expected, rtol=6e-14, atol=precision)


@pytest.mark.parametrize(("number", "chance"), LAWS)
def test_rejection_has_the_binomial_law(number, chance):
    """Proposals on a fine grid, weighted with their chance of being accepted."""
    size = 400_000
    grid = (np.arange(size) + 0.5) / size - 0.5
    rarer = min(chance, 1 - chance)
    with jax.enable_x64(True):
        hat = _binomial_draws.hat(jnp.float64(number), jnp.float64(rarer))
        propose = jax.jit(jax.vmap(_binomial_draws.propose, in_axes=(None, 0)))
        away, accepted = map(np.asarray, propose(hat, jnp.asarray(grid)))
    # Nothing is cut off: the hat is above the probabilities everywhere.
    assert 0.9 < accepted.max() <= 1 and accepted.mean() > 0.7
    counts = away[accepted > 0].astype(int) + int(hat.mode)
    law = np.bincount(counts, weights=accepted[accepted > 0], minlength=number + 1)
    exact = stats.binom.pmf(np.arange(number + 1), number, rarer)
    assert 0.5 * np.abs(law / law.sum() - exact).sum() < 2e-5


@cache
def program():
    return jax.jit(binomial)


def sample(number, chance, size, batch=0):
    with jax.enable_x64(True):
        key = jax.random.fold_in(jax.random.key(70), batch)
        numbers = jnp.full(size, number, dtype=jnp.int64)
        return np.asarray(program()(key, numbers, jnp.full(size, chance)))


@pytest.mark.parametrize(
    ("number", "chance"),
    [
        *[(1, 0.3), (7, 0.5), (30, 0.8), (10**12, 3e-12), *LAWS[1:3]],
        *(
            pytest.param(*law, marks=pytest.mark.slow)
            for law in ((20, 0.5), *LAWS[3:6])
        ),
    ],
)
def test_law_of_the_draws(number, chance):
    drawn = sample(number, chance, 200_000)
    if chance > 0.5:
        drawn, chance = number - drawn, 1 - chance
    most = min(number, 2000)
    assert drawn.min() >= 0 and drawn.max() <= most
    law = stats.binom.pmf(np.arange(most + 1), number, chance)
    assert chi_square(np.bincount(drawn, minlength=most + 1), law) > FALSE_ALARM


@pytest.mark.slow
def test_law_of_many_draws():
    """With the error of jax.random.binomial, P(K <= 11) is off by 6 standard errors."""
    number, chance, size, batches = 10_000, 0.0012, 1_000_000, 30
    counts = np.zeros(100)
    for batch in range(batches):
        drawn = sample(number, chance, size, batch)
        counts += np.bincount(drawn, minlength=100)
    law = stats.binom(number, chance)
    assert chi_square(counts, law.pmf(np.arange(100))) > FALSE_ALARM / 2
    below = stats.binomtest(int(counts[:12].sum()), size * batches, law.cdf(11))
    assert below.pvalue > FALSE_ALARM / 2


@pytest.mark.parametrize("number", LONGEST)
def test_law_of_large_counts(number):
    """By the normal law, from which they differ by less than this sample can see."""
    chance = 0.3
    drawn = sample(number, chance, 4000)
    away = np.array([float(int(each) - round(number * chance)) for each in drawn])
    scaled = away / math.sqrt(number * chance * (1 - chance))
    assert stats.kstest(scaled, stats.norm.cdf).pvalue > FALSE_ALARM
    # Counts of every remainder, also where a float64 has no odd numbers.
    assert stats.binomtest(int(np.sum(drawn % 2)), 4000).pvalue > FALSE_ALARM


@given(
    number=st.one_of(st.integers(0, 100), st.integers(0, 2**62)),
    chance=st.one_of(
        st.floats(0.0, 1.0),
        st.sampled_from([0.0, 5e-324, 1e-300, 2.0**-53, 1 - 2.0**-53, 1.0]),
    ),
)
def test_draws_stay_within_the_trials(number, chance):
    drawn = sample(number, chance, 8)
    assert drawn.dtype == np.int64
    assert drawn.min() >= 0 and drawn.max() <= number
    if chance in (0, 1):
        assert np.all(drawn == number * int(chance))


def test_a_draw_does_not_depend_on_its_company():
    """One lane asks for many proposals, another one for none."""
    with jax.enable_x64(True), jax.numpy_dtype_promotion("strict"):
        keys = jax.random.split(jax.random.key(72), 64)
        numbers = jnp.asarray(np.arange(64) ** 3, dtype=jnp.int64)
        chances = jnp.linspace(0.0, 1.0, 64, dtype=jnp.float64)
        runs = list(zip(keys, numbers, chances, strict=True))
        alone = [int(program()(*each)) for each in runs]
        batched = jax.jit(jax.vmap(binomial))(keys, numbers, chances)
        in_lanes = jax.jit(map_lanes(binomial, 64))(keys, numbers, chances)
    assert batched.tolist() == alone
    assert in_lanes.tolist() == alone

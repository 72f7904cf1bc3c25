"""Bernoulli divergences against multiple precision."""

import jax
import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory.divergences import (
    bernoulli_kl,
    kl_lower,
    kl_to_half,
    kl_upper,
    kl_upper_log,
)

mpmath.mp.dps = 60


def exact_kl(p, q):
    p, q = mpmath.mpf(p), mpmath.mpf(q)

    def part(a, b):
        return mpmath.mpf(0) if a == 0 else a * mpmath.log(a / b)

    return part(p, q) + part(1 - p, 1 - q)


GAPS = np.concatenate(
    [
        10.0 ** -np.arange(1, 16),
        np.linspace(0, 0.5, 41),
        0.5 - 10.0 ** -np.arange(1, 16),
    ]
)


def test_kl_to_half_keeps_all_digits():
    for gap, value in zip(GAPS, kl_to_half(GAPS), strict=True):
        exact = exact_kl(mpmath.mpf(1) / 2 + mpmath.mpf(float(gap)), 0.5)
        assert abs(value - exact) <= 1e-15 * exact, gap


def test_kl_to_half_at_the_ends():
    assert kl_to_half(0.0) == 0
    assert kl_to_half([-0.5, 0.5]).tolist() == [np.log(2), np.log(2)]
    # Where the two formulas meet.
    edge = np.nextafter(0.25, [0, 1])
    assert np.diff(kl_to_half(edge))[0] == pytest.approx(0, abs=1e-16)


@given(st.floats(0, 0.5))
def test_kl_to_half_is_even_and_pinsker_holds(gap):
    value = kl_to_half(np.array([gap, -gap]))
    assert value[0] == value[1]
    assert 2 * gap**2 * (1 - 1e-12) <= value[0] <= np.log(2)


@pytest.mark.parametrize("bad", [0.6, -0.51, np.nan, np.inf])
def test_gaps_out_of_range(bad):
    with pytest.raises(ValueError, match=r"\|\[1\] must lie in \[0, 1\]"):
        kl_to_half([0.1, bad])


@given(st.floats(0, 1), st.floats(0.001, 0.999))
def test_bernoulli_kl(p, q):
    exact = exact_kl(p, q)
    assert abs(float(bernoulli_kl(p, q)) - exact) <= 2e-15 * exact


@pytest.mark.parametrize("p", [1e-9, 0.3, 0.5, 1 - 2**-30])
def test_bernoulli_kl_next_to_equality(p):
    """Its order is the square of the distance, down to neighbouring numbers."""
    shares = np.concatenate([10.0 ** -np.arange(1.0, 17.0), [0.49, 0.5, 0.51, 0.99]])
    rest = np.minimum(p, 1 - p)
    for q in np.concatenate([p + shares * rest, p - shares * rest]):
        exact = exact_kl(p, float(q))
        assert abs(float(bernoulli_kl(p, q)) - exact) <= 2e-15 * exact, q


def test_conventions_of_bernoulli_kl():
    p = np.array([0.0, 1.0, 0.0, 1.0, 0.5, 0.5, 0.3])
    q = np.array([0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.3])
    inf = np.inf
    assert bernoulli_kl(p, q).tolist() == [0, 0, inf, inf, inf, inf, 0]
    assert bernoulli_kl([0.0, 1.0], [0.25, 0.25]) == pytest.approx(
        [-np.log(0.75), np.log(4)]
    )
    assert bernoulli_kl(np.full((2, 1), 0.5), np.full((1, 3), 0.2)).shape == (2, 3)
    with pytest.raises(ValueError, match="q must lie"):
        bernoulli_kl(0.5, 1.5)
    with pytest.raises(ValueError, match="p must lie"):
        bernoulli_kl(-0.5, 0.5)


def exact_upper_rest(rest, level):
    """Return 1 - q for the largest q with KL(1 - rest, q) <= level, by bisection."""
    rest = mpmath.mpf(rest)

    def divergence(log_rest):
        p, left = 1 - rest, mpmath.exp(log_rest)
        value = rest * (mpmath.log(rest) - log_rest)
        return value + (p * mpmath.log(p / (1 - left)) if p > 0 else 0)

    high = mpmath.log(rest)
    low = high - (level + 1) / rest - 1
    for _ in range(160):
        middle = (low + high) / 2
        if divergence(middle) <= level:
            high = middle
        else:
            low = middle
    return mpmath.exp(high)


LEVELS = [1e-15, 1e-8, 1e-3, 0.1, 1.0, 13.0]


@pytest.mark.parametrize("p", [0.0, 0.3, 0.5, 1 - 2**-20])
def test_kl_inverses(p):
    for level in LEVELS:
        rest = exact_upper_rest(1 - mpmath.mpf(p), level)
        upper = float(kl_upper(p, level))
        assert abs(upper - (1 - rest)) <= 2e-14 * (1 - rest)
        # 1 - p is exact for these p, so both sides see the same problem.
        mirrored = float(kl_lower(1 - p, level))
        assert abs(mirrored - rest) <= 1e-15 + 1e-13 * rest


@pytest.mark.parametrize("p", [0.0, 1e-8, 0.5, 1 - 2**-10])
def test_logarithm_of_the_upper_inverse(p):
    """Also where the bound itself rounds to 1, with a rest of 10^-30 and less."""
    for level in [*LEVELS, 40.0, 300.0]:
        rest = exact_upper_rest(1 - mpmath.mpf(p), level)
        exact = -mpmath.log(rest)
        # The distance of the bound from 1 is tiny, and its logarithm is exact.
        assert abs(float(kl_upper_log(p, level)) - exact) <= 4e-14 * exact, level
    assert kl_upper_log(p, 0.0) == pytest.approx(-np.log1p(-p), rel=1e-15)


def test_logarithm_of_the_upper_inverse_at_the_ends():
    assert kl_upper_log([0.0, 0.3, 1.0], np.inf).tolist() == [np.inf] * 3
    assert kl_upper_log([0.0, 1.0], [0.7, 0.0]).tolist() == [0.7, np.inf]
    assert kl_upper([0.4, 0.5], 60.0).tolist() == [1.0, 1.0]
    logs = kl_upper_log([0.4, 0.5], 60.0)
    assert logs[1] > 1.1 * logs[0]
    with pytest.raises(ValueError, match="level must lie"):
        kl_upper_log(0.5, -0.1)


def test_kl_inverses_at_the_ends():
    assert kl_upper([0.0, 0.3, 1.0], 0.0).tolist() == [0.0, 0.3, 1.0]
    assert kl_lower([0.0, 0.3, 1.0], 0.0).tolist() == [0.0, 0.3, 1.0]
    assert kl_upper([0.0, 0.3, 1.0], np.inf).tolist() == [1.0, 1.0, 1.0]
    assert kl_lower([0.0, 0.3, 1.0], np.inf).tolist() == [0.0, 0.0, 0.0]
    assert kl_upper(0.0, 0.7) == pytest.approx(1 - np.exp(-0.7))
    # (level + entropy) / (1 - p) overflows nothing; see algorithm KL-UCB, mean 1.
    assert kl_upper(1 - 1e-16, 500.0) == 1.0
    for bad in (-0.1, np.nan):
        with pytest.raises(ValueError, match="level must lie"):
            kl_upper(0.5, bad)
        with pytest.raises(ValueError, match="p must lie"):
            kl_lower(bad, 0.5)


@given(st.floats(0, 1), st.floats(0, 20))
def test_kl_inverses_are_inverses(p, level):
    upper, lower = float(kl_upper(p, level)), float(kl_lower(p, level))
    assert 0 <= lower <= p <= upper <= 1
    for q in (lower, upper):
        if 1e-9 < q < 1 - 1e-9:
            slope = abs(q - p) / (q * (1 - q))
            error = abs(float(bernoulli_kl(p, q)) - level)
            assert error <= 1e-13 + 1e-13 * level + 1e-14 * slope


def test_same_numbers_under_jit():
    p, level = np.linspace(0, 1, 21), np.geomspace(1e-9, 20, 21)
    with jax.enable_x64(True):
        for function, arguments in (
            (kl_to_half, (p - 0.5,)),
            (bernoulli_kl, (p, p[::-1].copy())),
            (kl_upper, (p, level)),
            (kl_upper_log, (p, level)),
            (kl_lower, (p, level)),
        ):
            traced = jax.jit(function)(*map(jax.numpy.asarray, arguments))
            assert traced.dtype == np.float64
            plain = function(*arguments)
            assert np.asarray(traced) == pytest.approx(plain, rel=1e-13, abs=1e-15)
        # Also with only one traced argument.
        mixed = jax.jit(lambda x: kl_upper(p, x))(jax.numpy.asarray(level))
        assert np.asarray(mixed) == pytest.approx(kl_upper(p, level), rel=1e-13)


def test_single_precision_has_its_own_accuracy():
    # `bayesduel` may run without 64-bit numbers; nothing may become nan.
    gaps = jax.numpy.linspace(-0.5, 0.5, 11, dtype="float32")
    value = jax.jit(kl_to_half)(gaps)
    assert value.dtype == np.float32
    assert np.asarray(value) == pytest.approx(kl_to_half(np.asarray(gaps, float)), 1e-5)


def test_infinite_divergence_under_vmap():
    with jax.enable_x64(True):
        value = jax.vmap(bernoulli_kl)(
            jax.numpy.array([[0.5], [1.0]]), jax.numpy.array([[1.0], [1.0]])
        )
    assert np.asarray(value).tolist() == [[np.inf], [0.0]]


def test_huge_levels_are_no_overflow():
    """Warnings are errors. Where s overflows it is infinite, and the bound 1."""
    levels = np.array([1e300, 1e307, 1.7e308, np.inf])
    for p in (0.0, 1e-9, 0.5, 1 - 1e-9):
        assert kl_upper(p, levels).tolist() == [1.0] * 4
    assert kl_lower(0.5, 1e300) == 0.0
    assert np.isinf(kl_upper_log(0.5, 1.7e308)) and kl_upper_log(0.5, 1e300) > 1e300

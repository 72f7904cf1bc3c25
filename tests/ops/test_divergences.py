"""Divergences of numbers are those of ``theory``."""

import math

import numpy as np
import pytest

import theory
from bayesduel.ops import divergences

PROBABILITIES = (0.0, 1e-300, 1e-9, 0.01, 0.3, 0.5, 0.8, 1.0 - 1e-9, 1.0)
LEVELS = (0.0, 1e-12, 1e-4, 0.1, 1.0, 30.0, 1e5, 1e290, math.inf)


def test_divergence_from_one_half():
    gaps = np.concatenate([[0.0, 1e-9, 0.25, 0.5], np.linspace(0.0, 0.5, 40)])
    ours = [divergences.kl_to_half(gap) for gap in gaps.tolist()]
    np.testing.assert_allclose(ours, theory.divergences.kl_to_half(gaps), rtol=1e-14)


@pytest.mark.parametrize("p", PROBABILITIES)
def test_divergence_of_two_distributions(p):
    ours = [divergences.bernoulli_kl(p, q) for q in PROBABILITIES]
    expected = theory.divergences.bernoulli_kl(
        np.full(len(ours), p), np.array(PROBABILITIES)
    )
    np.testing.assert_allclose(ours, expected, rtol=1e-14, atol=2e-16)


@pytest.mark.parametrize("level", LEVELS)
def test_bounds(level):
    p, levels = np.array(PROBABILITIES), np.full(len(PROBABILITIES), level)
    upper = [divergences.kl_upper_log(item, 1.0 - item, level) for item in p.tolist()]
    lower = [divergences.kl_lower(item, level) for item in p.tolist()]
    np.testing.assert_allclose(
        upper, theory.divergences.kl_upper_log(p, levels), rtol=1e-13
    )
    np.testing.assert_allclose(
        lower, theory.divergences.kl_lower(p, levels), rtol=1e-12
    )


def test_what_a_bound_may_reach():
    """It reaches what is below it, and nothing that is clearly above."""
    for p in PROBABILITIES[2:-1]:
        for level in LEVELS[2:-2]:
            bound = divergences.kl_upper_log(p, 1.0 - p, level)
            assert divergences.may_reach(p, 1.0 - p, level, bound)
            assert divergences.may_reach(p, 1.0 - p, level, 0.9 * bound)
            above = 1.01 * bound + 1e-6
            assert not divergences.may_reach(p, 1.0 - p, level, above)
            assert not divergences.may_reach(p, 1.0 - p, level, math.inf)

"""Draws of kernels, beside those of the generator of NumPy that they come from."""

import numpy as np
import pytest
from scipy import stats

from bayesduel.ops.scalar.compiler import standalone
from bayesduel.ops.scalar.draws import draw_beta, waiting_time_and_level

DRAWS = 2_000
"""Enough for the rare branches of both tables, which one draw in a hundred takes."""


@pytest.mark.parametrize(
    "draw",
    [lambda rng: rng.standard_exponential(), lambda rng: rng.standard_normal()],
    ids=["exponential", "normal"],
)
def test_draws_are_those_of_the_generator(draw):
    ours, numpys = np.random.default_rng(5), np.random.default_rng(5)
    draw_compiled = standalone(draw)
    results = [draw_compiled(ours) for _ in range(DRAWS)]
    wanted = [draw(numpys) for _ in range(DRAWS)]
    np.testing.assert_allclose(results, wanted, rtol=1e-14)
    assert ours.random() == numpys.random()


FALSE_ALARM = 1e-6

LEVELS = 20_000


@pytest.mark.parametrize("hazard", [3.0, 1e-5, 1e-15])
def test_level_is_exponential_below_the_hazard_and_says_nothing_of_the_wait(hazard):
    """Waits of up to 3e15 rounds, of which the longer ones draw it anew: there the
    numbers of rounds leave a level no digits.

    The joint distribution of four parts of the waiting time and ten of the level is
    that of two independent variables.
    """

    rng, rounds = np.random.default_rng(7), int(3 / hazard) + 2
    draws = [waiting_time_and_level(rng, hazard, rounds) for _ in range(LEVELS)]
    idle, level = np.array([(wait, at) for wait, happens, at in draws if happens]).T
    assert np.all((level >= 0.0) & (level <= hazard))
    # Uniform if the level has its distribution.
    share = np.expm1(-level) / np.expm1(-hazard)
    assert stats.kstest(share, "uniform").pvalue > FALSE_ALARM
    ends = np.unique(np.quantile(idle, [0.25, 0.5, 0.75]))
    table, *_ = np.histogram2d(
        np.searchsorted(ends, idle), share, bins=(np.arange(len(ends) + 2), 10)
    )
    table = table[table.sum(axis=1) > 0]
    assert len(table) > 1
    assert stats.chi2_contingency(table).pvalue > FALSE_ALARM


@pytest.mark.parametrize(
    ("first", "second"),
    [(0.5, 0.5), (0.3, 1.0), (7.5, 0.5), (3.0, 40.0)],
)
def test_betas_have_their_distribution(first, second):
    rng = np.random.default_rng([8, int(first), int(second)])
    results = [draw_beta(rng, first, second) for _ in range(4000)]
    distribution = stats.beta(first, second)
    assert stats.kstest(results, distribution.cdf).pvalue > FALSE_ALARM


def test_betas_of_tiny_parameters_are_numbers():
    """One half of them near 0, one near 1: most gammas are too small for numbers."""
    rng = np.random.default_rng(9)
    values = np.array([draw_beta(rng, 1e-4, 1e-4) for _ in range(4000)])
    assert np.all((values >= 0.0) & (values <= 1.0))
    assert stats.binomtest(int((values > 0.5).sum()), 4000).pvalue > FALSE_ALARM

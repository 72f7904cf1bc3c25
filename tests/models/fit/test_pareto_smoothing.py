"""Pareto smoothing, number by number as ArviZ has it."""

from importlib.metadata import version

import numpy as np
import pytest
from arviz_stats.base import array_stats

from bayesduel.models.fit.resampling import smoothed_log_weights

FITS_EVERY_TAIL = version("arviz-stats").startswith("1.0.")
"""Even one whose lower quarter is equal, as one of five draws is: no distribution has
that."""


def random_logs(rng, kind, number):
    """Log weights with light, heavy and very heavy tails, ties, and tiny ones."""
    if kind == "normal":
        return rng.normal(scale=rng.uniform(0.01, 3.0), size=number)
    if kind == "pareto":
        return rng.exponential(scale=rng.uniform(0.1, 3.0), size=number)
    if kind == "bounded":
        return -rng.exponential(size=number) * rng.uniform(0.1, 5.0)
    if kind == "ties":
        return np.round(rng.normal(scale=2.0, size=number), 1)
    if kind == "many ties":
        return rng.choice([-3.0, -1.0, 0.0, 0.5, 4.0], size=number)
    if kind == "nothing":
        logs = rng.normal(scale=3.0, size=number)
        logs[: number // 2] -= 700.0
        return logs
    return rng.standard_cauchy(size=number).clip(-600.0, 600.0)


@pytest.mark.parametrize(
    "kind", ["normal", "pareto", "bounded", "ties", "many ties", "nothing", "cauchy"]
)
def test_weights_and_k_are_those_of_arviz(kind):
    rng = np.random.default_rng(11)
    finite = 0
    for _ in range(60):
        number = int(rng.choice([25, 60, 225, 260, 500, 4000]))
        logs = random_logs(rng, kind, number)
        try:
            expected, k = array_stats.psislw(-logs, r_eff=1.0)
        except ValueError:  # A constant tail.
            with pytest.raises(ValueError, match="must differ"):
                smoothed_log_weights(logs)
            continue
        result, alone = smoothed_log_weights(logs)
        if FITS_EVERY_TAIL and not np.isfinite(alone):
            continue
        np.testing.assert_allclose(result, expected, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(alone, k, rtol=1e-10, atol=1e-10)
        finite += bool(np.isfinite(alone))
    # Five values: the tail is constant, or its lower quarter is, and has no
    # distribution.
    assert finite > 40 or kind == "many ties"


def test_too_few_weights_are_refused():
    with pytest.raises(ValueError, match="25 or more entries, got 24"):
        smoothed_log_weights(np.arange(24.0))

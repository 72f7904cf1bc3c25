"""Several champions share the idle rounds of a stretch as round by round.

On a cycle of three arms all are Copeland winners: Copeland regret tells nothing of who
met itself, Borda regret does.
"""

from functools import cache

import numpy as np
import pytest

from bayesduel import policies
from bayesduel.simulation.driver import run_chunk
from bayesduel.simulation.environments import PairwiseEnvironment
from tests.policies.distributions import (
    borda_regret,
    rejected,
    same_distribution,
    self_duels,
)

FALSE_ALARM = 1e-5
"""Of one test, all features together."""

CYCLE = np.array([[0.5, 0.9, 0.4], [0.1, 0.5, 0.6], [0.6, 0.4, 0.5]])
NAMES = ("d-ts", "ccb")
"""Their step forms, in which each round has a champion of its own, are held to twins in
``thompson.test_scalar_rounds`` and ``simulation.test_kernels_step``."""


@cache
def plays_of(name, checkpoints, num_runs=500, seed=5, **options):
    records = run_chunk(
        PairwiseEnvironment(CYCLE),
        policies.get(name, **options),
        runs=range(num_runs),
        checkpoints=np.array(checkpoints),
        seed=seed,
    )
    return records.ledger["plays"]


def spreads(plays):
    """Return what depends on who met itself, in the middle of stretches and at last."""
    return {
        **self_duels(plays),
        **{
            f"Borda regret at checkpoint {place}": values
            for place, values in enumerate(borda_regret(plays, CYCLE).T)
        },
    }


@pytest.mark.parametrize("name", NAMES)
def test_spread_of_borda_regret_is_that_of_the_step_form(name):
    """Were there one champion per stretch, it would be 2.5 to 4 times as large."""
    ours = plays_of(name, (1000, 3000))
    step = plays_of(name, (1000, 3000), seed=6, look_ahead=False)
    p_values = same_distribution(spreads(ours), spreads(step))
    assert not rejected(p_values, FALSE_ALARM)
    # Quartiles, as single runs with a long wrong belief move a standard deviation.
    one, other = (
        np.subtract(*np.quantile(borda_regret(each, CYCLE)[:, -1], [0.75, 0.25]))
        for each in (ours, step)
    )
    assert 0.75 < one / other < 1.33


@pytest.mark.parametrize("name", NAMES)
def test_a_checkpoint_in_a_stretch_changes_no_bit(name):
    """Nor does the horizon, which cuts a stretch short."""
    dense = (*range(990, 1010), 3000)
    ours = plays_of(name, dense, num_runs=40)
    for few in ((1000, 3000), (995,), (1003,)):
        places = [dense.index(each) for each in few]
        found = plays_of(name, few, num_runs=40)
        np.testing.assert_array_equal(found, ours[:, places])
    assert np.all(np.diff(ours, axis=1) >= 0)
    assert np.all(ours.sum(axis=(2, 3)) == dense)

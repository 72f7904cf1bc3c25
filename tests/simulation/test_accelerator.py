"""Policies over models on an accelerator: the distribution of the runs on a CPU.

These tests need a device that JAX shows besides the CPU, and are skipped without one.
"""

import jax
import numpy as np
import pytest
from scipy import stats

from bayesduel import policies
from bayesduel.simulation.driver import run_chunk
from bayesduel.simulation.runs import PairwiseEnvironment
from tests.policies.instances import CONDORCET

pytestmark = pytest.mark.gpu

FALSE_ALARM = 1e-5
"""False-alarm rate of one test."""

HORIZON = 200


def simulated(text, runs, seed):
    return run_chunk(
        PairwiseEnvironment(CONDORCET),
        policies.parse_policy(text),
        runs=runs,
        checkpoints=np.array([HORIZON // 4, HORIZON]),
        seed=seed,
    )


@pytest.mark.parametrize("text", ["bt-ts", "information:posterior=bradley-terry"])
def test_runs_have_the_distribution_of_those_on_a_cpu(text):
    """Plays of all ordered pairs at two rounds, 400 runs each."""
    there = simulated(text, range(400), seed=1)
    with jax.default_device(jax.devices("cpu")[0]):
        here = simulated(text, range(400), seed=2)
    assert there.device != "cpu"
    one, other = (
        value.ledger["plays"].reshape(len(value.events), -1).T
        for value in (there, here)
    )
    varies = [pair for pair in zip(one, other, strict=True) if np.ptp(pair) > 0]
    p_values = [stats.ks_2samp(*pair).pvalue for pair in varies]
    assert len(p_values) > 8
    assert min(p_values) > FALSE_ALARM / len(p_values)


@pytest.mark.parametrize("text", ["bt-ts", "bt-ts:posterior=bradley-terry-hmc"])
def test_a_run_is_the_same_in_any_chunk(text):
    whole, part = simulated(text, range(40), seed=3), simulated(text, range(24, 40), 3)
    np.testing.assert_array_equal(part.ledger["plays"], whole.ledger["plays"][24:])
    np.testing.assert_array_equal(part.recommendation, whole.recommendation[24:])
    assert np.all(whole.ledger["plays"].sum(axis=(2, 3)) == [HORIZON // 4, HORIZON])

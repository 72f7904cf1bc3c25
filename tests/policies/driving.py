"""Simulating policies of duels, with programs that tests share."""

import numpy as np

from bayesduel.policies.policy import declared
from bayesduel.policies.policy_around import innermost
from bayesduel.simulation.driver import RunRecords, run_chunk
from bayesduel.simulation.runs import PairwiseEnvironment

CHECKPOINTS = (40, 120, 300, 700)
NUM_RUNS = 256
"""False-alarm rate of the test of a distribution."""

FEW_RUNS = 32
"""Where no distribution is tested."""

NUM_LANES = 16
"""Every lane takes a second run. Tests that agree on the last two, on the number of
arms (4), and on the form of a policy share a program, as long as there are at most 128
checkpoints."""


def assert_same(one, other, *names, pick_one=slice(None), pick_other=slice(None)):
    """Assert that runs agree bit for bit: in parts of the ledger, or in all of it."""
    for ours, theirs in (
        *((one.ledger[name], other.ledger[name]) for name in names or one.ledger),
        (one.recommendation, other.recommendation),
        (one.events, other.events),
    ):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours[pick_one], theirs[pick_other])


def simulate_runs(policy, matrix, **options) -> RunRecords:
    """Call the simulator; arms are shuffled in each run unless told otherwise.

    Contextual policies know which arm is which: every arm has a feature of its own.
    """
    contextual = declared(innermost(policy), "contextual")
    environment = PairwiseEnvironment(
        np.array(matrix),
        shuffle=options.pop("shuffle", True),
        features=np.eye(len(matrix)) if contextual else None,
    )
    checkpoints = np.array(options.pop("checkpoints", CHECKPOINTS), dtype=np.int64)
    settings = {"runs": range(NUM_RUNS), "seed": 0, "num_lanes": NUM_LANES} | options
    return run_chunk(environment, policy, checkpoints=checkpoints, **settings)

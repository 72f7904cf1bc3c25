"""Simulating policies of duels, with programs that tests share."""

from dataclasses import fields, replace

import jax
import numpy as np

from bayesduel.simulation.driver import RunRecords, run_chunk
from bayesduel.simulation.environments import PairwiseEnvironment

CHECKPOINTS = (40, 120, 300, 700)
NUM_RUNS = 256
"""Of the test of a distribution."""

FEW_RUNS = 32
"""Where no distribution is tested."""

NUM_LANES = 16
"""Every lane takes a second run. Tests that agree on the last two, on the number of
arms (4), and on the form of a policy share a program, as long as there are at most 128
checkpoints."""


def simulate_runs(policy, matrix, **options) -> RunRecords:
    """Call the simulator; arms are shuffled in each run unless told otherwise.

    Many runs are played a few at a time, by the program of the tests that need few; or
    ``at_once``.
    """
    environment = PairwiseEnvironment(
        np.array(matrix), shuffle=options.pop("shuffle", True)
    )
    checkpoints = np.array(options.pop("checkpoints", CHECKPOINTS), dtype=np.int64)
    runs = options.pop("runs", range(NUM_RUNS))
    settings = {"seed": 0, "num_lanes": NUM_LANES} | options
    settings |= {"checkpoints": checkpoints}
    # A rest of fewer runs would take a program of its own.
    size = FEW_RUNS if len(runs) % FEW_RUNS == 0 else len(runs)
    size = settings.pop("at_once", size)
    chunks = [runs[i : i + size] for i in range(0, len(runs), size)]
    return joined(
        [run_chunk(environment, policy, runs=each, **settings) for each in chunks]
    )


def joined(chunks) -> RunRecords:
    """Put the records of chunks one after the other."""
    if len(chunks) == 1:
        return chunks[0]
    first = chunks[0]
    arrays = {
        field.name: jax.tree.map(
            lambda *values: np.concatenate(values),
            *(getattr(each, field.name) for each in chunks),
        )
        for field in fields(first)
        if not field.name.endswith("_seconds") and field.name != "device"
    }
    return replace(first, **arrays)

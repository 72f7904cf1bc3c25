"""Shared parts of simulator tests: fakes run on small matrices.

The policies are small fakes whose plays are known, or depend on every bit of their
history. ``tests/policies/test_contract.py`` repeats the most important of these checks
with every registered policy.
"""

import numpy as np

from bayesduel.simulation.driver import run_chunk
from bayesduel.simulation.runs import PairwiseEnvironment
from tests.policies.instances import CONDORCET

CHECKPOINTS = (10, 100, 1000, 3000)
RUNS = range(48)


def simulate_runs(policy, matrix=CONDORCET, shuffle=True, **options):
    checkpoints = np.array(options.pop("checkpoints", CHECKPOINTS), dtype=np.int64)
    settings = {"runs": RUNS, "seed": 8, "num_lanes": 48} | options
    environment = PairwiseEnvironment(np.array(matrix), shuffle)
    return run_chunk(environment, policy, checkpoints=checkpoints, **settings)

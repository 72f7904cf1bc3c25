"""Chunks of runs: however they are cut, run r is the same."""

from itertools import pairwise

import numpy as np
import pytest

from bayesduel import policies, stopping
from bayesduel.simulation import SubsetEnvironment
from bayesduel.simulation.driver import run_chunk
from bayesduel.simulation.runs import PairwiseEnvironment
from tests.policies.instances import CONDORCET
from tests.rules import Greedy
from tests.simulation.model_fakes import Scripted
from tests.simulation.set_cases import WINNER, Wandering

RUNS = range(3, 8)


def played(policy, runs, rule=None, **options):
    environment = PairwiseEnvironment(np.array(CONDORCET), shuffle=True)
    if isinstance(policy, policies.SubsetPolicy):
        environment = SubsetEnvironment(WINNER, WINNER.notions)
    return run_chunk(
        environment,
        policy,
        runs=runs,
        checkpoints=np.array([10, 300]),
        seed=5,
        stopping=rule,
        **options,
    )


def columns(records):
    own = {"recommendation": records.recommendation, "events": records.events}
    return records.ledger | records.info | own


@pytest.mark.parametrize(
    ("policy", "rule"),
    [
        (policies.parse_policy("d-ts"), None),
        (policies.parse_policy("rucb"), stopping.parse_rule("budget:duels=100")),
        (Greedy(), None),
        (Wandering(), None),
        (Scripted(), None),
    ],
    ids=["kernel", "kernel that stops", "numpy", "sets", "jax"],
)
def test_chunks_of_any_runs_are_parts_of_the_whole(policy, rule, in_python):
    whole = columns(played(policy, RUNS, rule))
    cuts = (RUNS.start, 5, 6, RUNS.stop)
    pieces = [
        columns(played(policy, range(*ends), rule, num_lanes=2))
        for ends in pairwise(cuts)
    ]
    for name, values in whole.items():
        joined = np.concatenate([each[name] for each in pieces])
        assert joined.dtype == values.dtype
        np.testing.assert_array_equal(joined, values)

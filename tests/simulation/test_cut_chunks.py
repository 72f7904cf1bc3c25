"""Chunks of runs that end early: what is finished counts, the rest is another chunk."""

from types import SimpleNamespace

import numpy as np
import pytest

from bayesduel import policies, stopping
from bayesduel.simulation import SubsetEnvironment
from bayesduel.simulation import runs as simulated
from bayesduel.simulation.driver import run_chunk
from bayesduel.simulation.environments import PairwiseEnvironment
from bayesduel.simulation.runs import Segments
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
def test_a_chunk_that_is_cut_and_its_rest_are_the_whole(policy, rule, in_python):
    whole = columns(played(policy, RUNS, rule))
    pieces, start = [], RUNS.start
    while start < RUNS.stop:
        # No time at all: each chunk ends with its first run, or those beside it.
        piece = played(
            policy, range(start, RUNS.stop), rule, most_seconds=0.0, num_lanes=2
        )
        side_by_side = 2 if isinstance(policy, Scripted) else 1
        assert len(piece.events) == min(side_by_side, RUNS.stop - start)
        pieces.append(columns(piece))
        start += len(piece.events)
    for name, values in whole.items():
        joined = np.concatenate([each[name] for each in pieces])
        assert joined.dtype == values.dtype
        np.testing.assert_array_equal(joined, values)


@pytest.mark.parametrize(
    ("num_runs", "enough"), [(1, None), (5, None), (6, None), (7, 4), (10, 4)]
)
def test_a_chunk_is_cut_where_the_rest_lasts_long(num_runs, enough, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(
        simulated, "time", SimpleNamespace(perf_counter=lambda: clock[0])
    )

    def go_on(limit):
        clock[0] += 1.0
        return 1, 9

    own = Segments(0.5, num_runs, 9, 100, None, most_seconds=4.0)
    found = []
    for run in range(num_runs):
        own.play(range(run, run + 1), go_on)
        found.append(own.is_enough())
    assert (found.index(True) + 1 if any(found) else None) == enough

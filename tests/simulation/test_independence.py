"""A run depends on the seed and its number alone, however chunks are cut."""

from itertools import pairwise

import jax
import numpy as np
import pytest

from bayesduel import policies, stopping
from bayesduel.simulation import SubsetEnvironment, driver
from bayesduel.simulation.driver import default_num_lanes, run_chunk
from bayesduel.simulation.runs import PairwiseEnvironment
from tests.policies.driving import assert_same
from tests.policies.instances import CONDORCET
from tests.rules import Greedy
from tests.simulation.model_fakes import Scripted, Wanderer
from tests.simulation.runs import CHECKPOINTS, RUNS, simulate_runs
from tests.simulation.set_cases import WINNER, Wandering


def test_the_fake_can_tell_runs_apart(wandering):
    """Otherwise the comparisons below would prove nothing."""
    last = wandering.ledger["plays"][:, -1].reshape(len(RUNS), -1)
    assert len(np.unique(last, axis=0)) == len(RUNS)
    assert wandering.events.max() > 20 * wandering.events.min()
    assert len(np.unique(wandering.recommendation)) == 4


@pytest.mark.parametrize(
    ("runs", "num_lanes"),
    [
        (RUNS, 8), (RUNS, 100), (RUNS, None),
        pytest.param(RUNS, 7, marks=pytest.mark.slow), (range(5, 6), 8),
        (range(20), 8), (range(20, len(RUNS)), 8), (range(9, 9 + len(RUNS)), 48),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_beside_a_run_does_not_matter(wandering, runs, num_lanes):
    """All runs in more or fewer lanes, one alone, chunks that meet or overlap."""
    records = simulate_runs(Wanderer(), runs=runs, num_lanes=num_lanes)
    known = range(runs.start, min(runs.stop, len(RUNS)))
    parts = slice(len(known)), slice(known.start, known.stop)
    assert_same(records, wandering, pick_one=parts[0], pick_other=parts[1])


def test_number_of_lanes_by_default():
    for num_runs in (1, 8, 9, 64, 65, 100, 1000):
        lanes = default_num_lanes(num_runs)
        assert lanes % 8 == 0
        assert lanes >= min(num_runs, 64) / 2
        if jax.default_backend() == "cpu":
            assert lanes <= 64
            assert default_num_lanes(num_runs, num_arms=500) == 1


def test_runs_far_from_the_first_are_others(wandering):
    far = simulate_runs(Wanderer(), runs=range(10**9, 10**9 + len(RUNS)))
    assert np.mean(far.events == wandering.events) < 0.2


@pytest.mark.parametrize("seconds", [1e-9, 1e9])
def test_length_of_segments(seconds, monkeypatch):
    shares, given = [], {"checkpoints": (10, 400)}
    whole = simulate_runs(Wanderer(), **given)
    monkeypatch.setattr(driver, "_SEGMENT_SECONDS", seconds)
    assert_same(simulate_runs(Wanderer(), on_progress=shares.append, **given), whole)
    assert shares == sorted(shares)
    # The first call comes before the program is compiled.
    assert shares[0] == 0 < shares[1] <= shares[-1] <= 1
    assert shares[-1] == pytest.approx(1)
    # After each event, or at the end alone.
    assert (len(shares) > 99) if seconds < 1 else (len(shares) == 2)


def test_grid_of_checkpoints(wandering):
    """Checkpoints that grids share agree; so do events and recommendations."""
    grid = (1, 2, 3, 10, 11, 99, 100, 999, 1000, 2999, 3000)
    other = simulate_runs(Wanderer(), checkpoints=grid)
    shared = [item for item in CHECKPOINTS if item in grid]
    np.testing.assert_array_equal(
        other.ledger["plays"][:, [grid.index(item) for item in shared]],
        wandering.ledger["plays"][:, [CHECKPOINTS.index(item) for item in shared]],
    )
    np.testing.assert_array_equal(other.events, wandering.events)
    np.testing.assert_array_equal(other.recommendation, wandering.recommendation)
    assert np.all(other.ledger["plays"].sum(axis=(2, 3)) == grid)
    steps = np.diff(other.ledger["plays"], axis=1)
    assert np.all(steps >= 0)


def test_horizon_does_not_change_the_rounds_before():
    """For a policy that does not read it."""
    near, far = (
        simulate_runs(Wanderer(), checkpoints=(10, 100, last)).ledger["plays"][:, :2]
        for last in (900, 3000)
    )
    np.testing.assert_array_equal(near, far)


def test_seeds():
    seeds = (0, 1, 2**32, 2**32 + 1, 2**63 - 1)
    given = {"checkpoints": (300,)}
    results = [simulate_runs(Wanderer(), seed=seed, **given).events for seed in seeds]
    assert len({tuple(events.tolist()) for events in results}) == len(seeds)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "horizon"),
    [
        ("bt-ts", 100),
        ("bt-ts:posterior=bradley-terry-hmc", 25),
        ("rd-ts:posterior=bradley-terry", 60),
        ("information:posterior=bradley-terry", 25),
    ],
)
def test_policies_over_models(name, horizon):
    """Their floats do not depend on the number of lanes either."""
    policy, part = policies.parse_policy(name), range(2, 9)
    whole, other = (
        simulate_runs(policy, checkpoints=(20, horizon), runs=runs, num_lanes=num_lanes)
        for num_lanes, runs in ((16, range(16)), (3, part))
    )
    assert_same(other, whole, pick_other=slice(part.start, part.stop))


SOME = range(3, 8)


def played(policy, runs, rule=None, **options):
    environment = PairwiseEnvironment(np.array(CONDORCET), shuffle=True)
    if isinstance(policy, policies.SubsetPolicy):
        environment = SubsetEnvironment(WINNER, WINNER.notions)
    given = {"checkpoints": np.array([10, 300]), "seed": 5, "stopping": rule} | options
    return run_chunk(environment, policy, runs=runs, **given)


def columns(records):
    by_name = {"recommendation": records.recommendation, "events": records.events}
    return records.ledger | records.info | by_name


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
    whole = columns(played(policy, SOME, rule))
    cuts = [range(*ends) for ends in pairwise((SOME.start, 5, 6, SOME.stop))]
    pieces = [columns(played(policy, cut, rule, num_lanes=2)) for cut in cuts]
    for name, values in whole.items():
        joined = np.concatenate([cut[name] for cut in pieces])
        assert joined.dtype == values.dtype
        np.testing.assert_array_equal(joined, values)

"""A run depends on the seed and its number, and on nothing else."""

import jax
import numpy as np
import pytest

import bayesduel
from bayesduel import policies
from bayesduel.simulation import driver
from bayesduel.simulation.driver import default_num_lanes
from tests.fake_policies import Wanderer
from tests.simulation.runs import CHECKPOINTS, RUNS, SLOW, same, simulate_runs


def test_the_fake_can_tell_runs_apart(wandering):
    """Otherwise the comparisons below would prove nothing."""
    last = wandering.ledger["plays"][:, -1].reshape(len(RUNS), -1)
    assert len(np.unique(last, axis=0)) == len(RUNS)
    assert wandering.events.max() > 20 * wandering.events.min()
    assert len(np.unique(wandering.recommendation)) == 4
    assert wandering.finished.all()


@pytest.mark.parametrize(
    "num_lanes", [8, 100, *(pytest.param(lanes, marks=SLOW) for lanes in (1, 7, 33))]
)
def test_number_of_lanes(wandering, num_lanes):
    same(simulate_runs(Wanderer(), num_lanes=num_lanes), wandering)


def test_number_of_lanes_by_default(wandering):
    same(simulate_runs(Wanderer(), num_lanes=None), wandering)
    for num_runs in (1, 8, 9, 64, 65, 100, 1000):
        lanes = default_num_lanes(num_runs)
        assert lanes % 8 == 0
        assert lanes >= min(num_runs, 64) / 2
        if jax.default_backend() == "cpu":
            assert lanes <= 64
            assert default_num_lanes(num_runs, num_arms=500) == 1


@pytest.mark.parametrize("run", [0, 5, 47])
def test_a_run_alone(wandering, run):
    alone = simulate_runs(Wanderer(), runs=range(run, run + 1), num_lanes=8)
    same(alone, wandering, pick_other=slice(run, run + 1))


@pytest.mark.parametrize("cut", [20, pytest.param(1, marks=SLOW)])
def test_chunks(wandering, cut):
    for runs in (range(cut), range(cut, len(RUNS))):
        part = simulate_runs(Wanderer(), runs=runs, num_lanes=8)
        same(part, wandering, pick_other=slice(runs.start, runs.stop))


def test_chunks_that_overlap(wandering):
    part = simulate_runs(Wanderer(), runs=range(9, 9 + len(RUNS)))
    same(part, wandering, slice(0, -9), slice(9, None))


def test_runs_far_from_the_first_are_others(wandering):
    far = simulate_runs(Wanderer(), runs=range(10**9, 10**9 + len(RUNS)))
    assert np.mean(far.events == wandering.events) < 0.2


@pytest.mark.parametrize("seconds", [1e-9, 1e9])
def test_length_of_segments(wandering, seconds, monkeypatch):
    shares = []
    monkeypatch.setattr(driver, "_SEGMENT_SECONDS", seconds)
    same(simulate_runs(Wanderer(), on_progress=shares.append), wandering)
    assert shares == sorted(shares)
    # The first call comes before the program is compiled.
    assert shares[0] == 0 < shares[1] <= shares[-1] <= 1
    assert shares[-1] == pytest.approx(1)
    # Segments of 64 events, or of a million after the first.
    assert (len(shares) > 11) if seconds < 1 else (len(shares) <= 4)


def test_packing_the_last_runs(wandering, monkeypatch):
    """The other tests pack where there are 32 lanes and more: here we look at it."""
    plain, sizes = driver._pack, []

    def spy(carry, *others):
        packed = plain(carry, *others)
        sizes.append((carry.lanes.run.shape[0], packed.lanes.run.shape[0]))
        return packed

    monkeypatch.setattr(driver, "_SEGMENT_SECONDS", 1e-9)
    monkeypatch.setattr(driver, "_PATIENCE", 0.0)
    monkeypatch.setattr(driver, "_pack", spy)
    same(simulate_runs(Wanderer()), wandering)
    assert [one for one in sizes if one[0] != one[1]] == [(48, 8)]
    # Few lanes are few enough.
    del sizes[:]
    same(simulate_runs(Wanderer(), num_lanes=8), wandering)
    assert {*sizes} == {(8, 8)}
    monkeypatch.setattr(driver, "_pack", lambda carry, *others: carry)
    same(simulate_runs(Wanderer()), wandering)


@pytest.mark.parametrize(
    "grid",
    [
        (3000,),
        (1, 2, 3, 10, 11, 99, 100, 999, 1000, 2999, 3000),
        pytest.param(tuple(range(1, 3001)), marks=SLOW),
    ],
    ids=lambda grid: f"{len(grid)} checkpoints",
)
def test_grid_of_checkpoints(wandering, grid):
    """Checkpoints that grids share agree; so do events and recommendations."""
    other = simulate_runs(Wanderer(), checkpoints=grid)
    shared = [each for each in CHECKPOINTS if each in grid]
    np.testing.assert_array_equal(
        other.ledger["plays"][:, [grid.index(each) for each in shared]],
        wandering.ledger["plays"][:, [CHECKPOINTS.index(each) for each in shared]],
    )
    np.testing.assert_array_equal(other.events, wandering.events)
    np.testing.assert_array_equal(other.recommendation, wandering.recommendation)
    assert np.all(other.ledger["plays"].sum(axis=(2, 3)) == grid)
    steps = np.diff(other.ledger["plays"], axis=1)
    assert np.all(steps >= 0)


def test_horizon_does_not_change_the_rounds_before():
    """For a policy that does not read it."""
    near, far = (
        simulate_runs(Wanderer(), checkpoints=(10, 100, last)) for last in (900, 3000)
    )
    np.testing.assert_array_equal(
        near.ledger["plays"][:, :2], far.ledger["plays"][:, :2]
    )


def test_seeds():
    seeds = (0, 1, 2**32, 2**32 + 1, 2**63 - 1)
    found = [simulate_runs(Wanderer(), seed=seed).events.tolist() for seed in seeds]
    assert len({*map(tuple, found)}) == len(seeds)


STEPPED_FOR_LONG = {
    "beat-the-mean",
    "bt-ts",
    "interleaved-filter",
    "savage",
    "savage-copeland",
}
"""Policies that look ahead only after millions of rounds that they step through, or
never more than 16 rounds."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        name
        for name in sorted(set(policies.names()) - STEPPED_FOR_LONG)
        if getattr(policies.get(name), "look_ahead", False)
    ],
)
def test_registered_policies_far_out(name):
    """The floats of real policies do not depend on the number of lanes either.

    An event in lane 3 of 8 is computed by other vector instructions than one alone.
    """
    policy, part = policies.get(name), range(2, 9)
    grid = (100, 10**4, 10**6, 10**8)
    matrix = bayesduel.load("mslr5-condorcet").values
    whole, other = (
        simulate_runs(policy, matrix, checkpoints=grid, runs=runs, num_lanes=num_lanes)
        for num_lanes, runs in ((16, range(16)), (3, part))
    )
    same(other, whole, pick_other=slice(part.start, part.stop))

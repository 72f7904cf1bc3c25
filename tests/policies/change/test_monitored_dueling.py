"""A monitor around a policy: constants, windows, and runs beside a twin."""

from functools import partial

import numpy as np
import pytest

import bayesduel
from bayesduel import policies
from bayesduel.errors import PolicyParameterError
from bayesduel.instances.worlds import Piecewise
from bayesduel.policies.change.monitored_dueling import MonitoredDueling, monitoring
from bayesduel.policies.lookup import policy_text
from bayesduel.simulation import monitoring as parts
from tests.policies.distributions import rejected, same_distribution
from tests.policies.instances import ladder
from tests.reference.monitored_dueling import MonitoredDueling as Twin
from tests.reference.weak_regret import BeatTheWinnerReset

FALSE_ALARM = 1e-5


def test_constants_are_those_of_the_published_program():
    result = monitoring(10, 10**6, 10, 0.3)
    assert result.level == pytest.approx(18.6557, abs=5e-5)
    assert (result.window, result.period) == (1660, 77)
    assert result.threshold == pytest.approx(124.436, abs=5e-4)
    assert result.share == pytest.approx(0.579784, abs=5e-7)


@pytest.mark.parametrize("delta", [0.21, 0.3, 0.77, 1.0])
def test_windows_are_the_smallest_even_ones(delta):
    result = monitoring(4, 12345, 3, delta)
    least = 8 * result.level / delta**2
    assert result.window % 2 == 0 and least <= result.window < least + 2


def test_windows_are_those_of_a_queue():
    """Outcomes whose probability changes now and then, so that all is forgotten."""
    rng, rounds = np.random.default_rng(12), 4000
    monitor = parts.new_monitor(3, 600, 1, 1.0)
    window, period = monitor.outcomes.shape[1], 5
    monitor = monitor._replace(period=period, threshold=11.0)

    class Nobody:
        def choose(self):
            return 0, 0

        def update(self, first, second, won):
            assert first == second

    twin = Twin(3, rng, make_inner=Nobody, window=window, threshold=11.0, period=period)
    results = []
    for round_ in range(1, rounds + 1):
        pair, first, second = parts.due_pair(monitor)
        expected = twin.choose()
        if pair < 0:
            assert expected == (0, 0)
            assert parts.cut_to_period(monitor, 0, 1) == (0, 1)
            twin.update(0, 0, False)
            continue
        assert (first, second) == expected
        won = rng.random() < (0.9 if round_ // 1000 % 2 == pair % 2 else 0.3)
        twin.update(first, second, won)
        if parts.take_outcome(monitor, pair, won):
            results.append(round_)
            assert parts.begins_anew(monitor) and not parts.begins_anew(monitor)
    assert results == twin.resets and len(results) >= 4


def test_stretches_end_where_the_monitor_looks():
    monitor = parts.new_monitor(3, 600, 1, 1.0)._replace(period=10)
    monitor.now[parts.PLACE] = 3
    assert parts.cut_to_period(monitor, 2, 1) == (2, 1)
    assert parts.cut_to_period(monitor, 0, 50) == (0, 4)
    assert parts.due_pair(monitor) == (0, 0, 1)
    monitor.now[parts.PLACE] = 3
    assert parts.cut_to_period(monitor, 99, 1) == (7, 0)
    assert parts.due_pair(None)[0] == -1 and parts.cut_to_period(None, 5, 6) == (5, 6)


def plays_of_twins(matrices, change, grid, num_runs):
    values = np.zeros((num_runs, len(grid), 3, 3), dtype=np.int64)
    settings = monitoring(3, grid[-1], 2, 1.0)
    resets = 0
    for run in range(num_runs):
        rng = np.random.default_rng([9, run])
        names = "window", "threshold", "period"
        options = {name: getattr(settings, name) for name in names}
        inner = partial(BeatTheWinnerReset, 3, rng)
        twin = Twin(3, rng, make_inner=inner, **options)
        for round_ in range(1, grid[-1] + 1):
            first, second = twin.choose()
            chance = matrices[int(round_ >= change)][first, second]
            twin.update(first, second, rng.random() < chance)
            pair = min(first, second), max(first, second)
            for index, checkpoint in enumerate(grid):
                values[run, index][pair] += round_ <= checkpoint
        resets += len(twin.resets)
    return values, resets


MATRICES = [ladder(3, 0.95), ladder(3, 0.95)[::-1, ::-1]]
CHANGE, GRID = 300, (280, 420, 600)


def plays_of_policy(num_runs):
    """Return the plays of pairs around BtWR, which asks for several rounds at once."""
    result = bayesduel.simulate(
        Piecewise(matrices=MATRICES, changes=[CHANGE]),
        MonitoredDueling(inner="btwr", segments=2, delta=1.0),
        num_runs=num_runs,
        horizon=GRID[-1],
        checkpoints=GRID,
    )
    plays = result["plays"].values
    plays = np.triu(plays + plays.transpose(0, 1, 3, 2), 1)
    assert np.all(plays.sum(axis=(2, 3)) == GRID)
    return plays


def test_all_pairs_are_looked_at_and_the_policy_starts_anew(in_python):
    """Three of five rounds are those of the monitor."""
    plays = plays_of_policy(1)
    assert monitoring(3, 600, 2, 1.0).period == 5
    before, after = plays[:, 0], plays[:, 2] - plays[:, 1]
    least = before[:, [0, 0, 1], [1, 2, 2]].min()
    assert least >= 280 // 5
    assert np.all(before[:, 0].sum(axis=1) > before[:, 1, 2] + 120)
    # Arm 2 is the best one then, and arm 0 the worst.
    assert np.all(after[:, :, 2].sum(axis=1) > after[:, 0, 1] + 60)


@pytest.mark.slow
def test_runs_have_the_distribution_of_the_twin():
    """Through a change, after which nearly all runs start anew."""
    theirs, resets = plays_of_twins(MATRICES, CHANGE, GRID, 300)
    assert resets > 0.8 * 300
    ours = plays_of_policy(300)
    cells = [(index, *pair) for index in range(len(GRID))
             for pair in ((0, 1), (0, 2), (1, 2))]  # fmt: skip
    both = [{cell: plays[:, *cell] for cell in cells} for plays in (ours, theirs)]
    assert not rejected(same_distribution(*both), FALSE_ALARM)


@pytest.mark.slow
@pytest.mark.parametrize("inner", ["rucb", "ws-s", "btwr", "d-ts+"])
def test_regret_is_far_smaller_than_without_a_monitor(inner):
    """A kernel, rules, and one that shares its idle rounds among arms."""
    world = Piecewise(num_arms=5, segments=3, delta=0.5)
    monitored = MonitoredDueling(inner=inner, segments=3, delta=0.5)
    results = [
        bayesduel.simulate(world, value, num_runs=12, horizon=200_000)
        for value in (monitored, "random")
    ]
    ours, others = (
        value["regret"].sel(notion="weak").values[:, -1].mean() for value in results
    )
    assert ours < 0.4 * others


def test_texts_name_the_policy_inside():
    policy = policies.parse_policy("mdb:inner=rucb:alpha=0.7,segments=3,delta=0.25")
    assert policy.policy == policies.get("rucb", alpha=0.7)
    assert policy.label == "MDB of RUCB:alpha=0.7:segments=3,delta=0.25"
    assert policy_text(policy) == ("mdb:inner=rucb:alpha=0.7,segments=3,delta=0.25")
    assert policies.get("mdb", inner="ws-s").played.look_ahead is False


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"segments": 0}, "segments"),
        ({"delta": 0.0}, "delta"),
        ({"delta": 1.5}, "delta"),
        ({"inner": "bt-ts"}, "NumPyro"),
        ({"inner": "rucb:every=5"}, "told at once"),
        ({"delta": 0.01}, "must be longer"),
    ],
)
def test_wrong_parameters_are_refused(parameters, said):
    with pytest.raises(PolicyParameterError, match=said):
        policies.get("mdb", **parameters).check(4, 10**6)


def test_it_is_told_at_once_and_meets_no_people():
    for option in ({"every": 5}, {"self_duels": False}):
        with pytest.raises(PolicyParameterError, match="policy must be"):
            policies.get("mdb", **option).check(4, 10**6)
    with pytest.raises(PolicyParameterError, match="monitor"):
        bayesduel.Player("mdb", 4, horizon=10**6)

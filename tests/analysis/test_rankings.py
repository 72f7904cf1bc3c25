"""Paired bootstrap against known distributions, and the rankings that stand on it."""

import math

import numpy as np
import pytest
import xarray as xr
from scipy import stats

from bayesduel.analysis import paired_intervals, rankings
from tests import fake_results as fake

FALSE_ALARM = 1e-5


@pytest.mark.parametrize("distribution", ["normal", "skewed"])
def test_all_intervals_hold_at_once_as_often_as_they_say(distribution):
    """95 % asymptotically: at 30 runs, not too skewed, at least 93 %."""
    rng = np.random.default_rng(3)
    scale = np.array([1.0, 2.0, 1.0, 3.0])
    expected = np.array([0.0, 0.5, 4.0, 4.5])
    hits = 0
    for repetition in range(300):
        shared = 5.0 * rng.gamma(1.0, 1.0, (30, 1))
        if distribution == "normal":
            noise = rng.normal(0.0, scale, (30, 4))
        else:
            noise = rng.exponential(scale, (30, 4)) - scale
        intervals = paired_intervals(
            shared + expected + noise, num_resamples=500, seed=repetition
        )
        truth = expected[intervals.second] - expected[intervals.first]
        hits += bool(((intervals.low <= truth) & (truth <= intervals.high)).all())
    assert hits >= stats.binom.ppf(FALSE_ALARM, 300, 0.93)


def test_the_interval_of_a_normal_difference_is_that_of_student():
    rng = np.random.default_rng(4)
    values = rng.normal([[0.0, 1.0]], 1.0, (150, 2))
    intervals = paired_intervals(values, num_resamples=20_000)
    student = stats.ttest_rel(values[:, 1], values[:, 0]).confidence_interval()
    assert intervals.mean[0] == pytest.approx((values[:, 1] - values[:, 0]).mean())
    assert intervals.low[0] == pytest.approx(student.low, abs=0.03)
    assert intervals.high[0] == pytest.approx(student.high, abs=0.03)
    wider = paired_intervals(values, confidence=0.999, num_resamples=20_000)
    assert wider.low[0] < intervals.low[0] - 0.1


def test_more_pairs_need_wider_intervals():
    """Ten independent columns: the studentized range, not one Student quantile."""
    values = np.random.default_rng(5).normal(size=(200, 10))
    intervals = paired_intervals(values, num_resamples=4000)
    reach = np.median((intervals.high - intervals.low) / 2 / intervals.standard_error)
    wanted = stats.studentized_range.ppf(0.95, 10, 9 * 199) / math.sqrt(2)
    assert wanted == pytest.approx(3.17, abs=0.01)
    assert reach == pytest.approx(wanted, abs=0.15)
    assert len(intervals.mean) == 45


def test_what_runs_share_cancels():
    rng = np.random.default_rng(6)
    shared = rng.lognormal(5.0, 1.5, (60, 1))
    values = shared + rng.normal([[0.0, 1.0]], 1.0, (60, 2))
    assert paired_intervals(values).low[0] > 0
    unpaired = np.column_stack([values[:, 0], np.roll(values[:, 1], 7)])
    assert paired_intervals(unpaired).low[0] < 0


def test_order_of_columns_turns_signs_only():
    values = np.random.default_rng(7).exponential(size=(40, 2))
    first, second = paired_intervals(values), paired_intervals(values[:, ::-1])
    assert first.mean[0] == pytest.approx(-second.mean[0])
    assert first.low[0] == pytest.approx(-second.high[0])


def test_differences_that_rest_on_one_run_are_open_and_spoil_no_other():
    rng = np.random.default_rng(8)
    first = rng.normal(size=50)
    second = first.copy()
    second[17] += 100.0
    third, fourth = first + 3.0, first + rng.normal(1.0, 0.1, 50)
    intervals = paired_intervals(np.column_stack([first, second, third, fourth]))
    pairs = {
        (int(i), int(j)): (float(low), float(high))
        for i, j, low, high in zip(
            intervals.first,
            intervals.second,
            intervals.low,
            intervals.high,
            strict=True,
        )
    }
    assert pairs[0, 1] == (-math.inf, math.inf)
    assert pairs[0, 2] == pytest.approx((3.0, 3.0))
    low, high = pairs[0, 3]
    assert 0.9 < low < 1.0 < high < 1.1
    # Equal columns differ by exactly nothing.
    same = paired_intervals(np.column_stack([first, first]))
    assert (same.mean[0], same.low[0], same.high[0]) == (0.0, 0.0, 0.0)


def test_few_runs_claim_nothing():
    values = np.random.default_rng(9).normal([[0.0, 50.0]], 1.0, (7, 2))
    intervals = paired_intervals(values)
    assert (intervals.low[0], intervals.high[0]) == (-math.inf, math.inf)
    assert intervals.standard_error[0] < 2
    single = paired_intervals([[1.0, 2.0]])
    assert single.mean[0] == 1.0
    assert single.standard_error[0] == math.inf
    assert not paired_intervals(np.ones((20, 1))).mean.size


@pytest.mark.parametrize(
    ("values", "options", "words"),
    [
        ([1.0, 2.0], {}, "values"),
        ([[1.0, math.nan]], {}, "values"),
        (np.eye(9) * 1e200, {}, "values must lie between -1e\\+100 and 1e\\+100"),
        (np.ones((9, 2)), {"confidence": 1.0}, "confidence"),
        (np.ones((9, 2)), {"num_resamples": 99}, "num_resamples"),
    ],
)
def test_wrong_arguments_are_refused(values, options, words):
    with pytest.raises(ValueError, match=words):
        paired_intervals(values, **options)


def _node(label, regret, runs=None, seed=1, rounds=(100, 1000)):
    """Return a node whose final regret is given, run by run."""
    regret = np.asarray(regret, dtype=np.float64)
    grown = np.stack([regret / 2] * (len(rounds) - 1) + [regret], axis=1)
    return xr.Dataset(
        {"regret": (("notion", "run", "checkpoint"), grown[None])},
        coords={
            "notion": ["copeland"],
            "run": np.arange(regret.size) if runs is None else runs,
            "checkpoint": list(rounds),
        },
        attrs={"instance": "toy", "policy": label, "seed": seed},
    )


def _tree(*nodes):
    named = {f"/toy/{node.attrs['policy']}": node for node in nodes}
    return xr.DataTree.from_dict({"/": xr.Dataset(), **named})


def test_ranks_are_as_open_as_the_differences():
    rng = np.random.default_rng(10)
    hardness = rng.gamma(2.0, 50.0, 80)
    near = hardness + rng.normal(0.0, 5.0, 80)
    tree = _tree(
        _node("far", hardness + 60 + rng.normal(0, 5, 80)),
        _node("one", near + rng.normal(0.0, 8.0, 80)),
        _node("two", near + rng.normal(0.0, 8.0, 80)),
        _node("last", hardness + 200),
    )
    (ranking,) = rankings(tree)
    ranks = {p.policy: (p.best_seen, p.worst_seen) for p in ranking.policies}
    assert ranks == {"one": (1, 2), "two": (1, 2), "far": (3, 3), "last": (4, 4)}
    # 80 runs do not exclude rare disasters.
    assert all((p.best_rank, p.worst_rank) == (1, 4) for p in ranking.policies)
    assert [p.policy for p in ranking.policies][2:] == ["far", "last"]
    assert (ranking.round_, ranking.num_runs, ranking.note) == (1000, 80, "")
    assert len(ranking.differences) == 6
    apart = ranking.difference("last", "one")
    assert (apart.lower, apart.higher) == ("one", "last")
    assert apart.is_apart and not apart.is_certain and apart.share > 0.99
    assert apart.low < apart.mean < apart.high
    one = tree["toy/one"]["regret"].values[0, :, -1]
    (shown,) = [p for p in ranking.policies if p.policy == "one"]
    assert shown.mean == pytest.approx(one.mean())
    assert shown.median == pytest.approx(np.median(one))
    assert shown.quantile_90 == pytest.approx(np.quantile(one, 0.9))
    with pytest.raises(ValueError, match="must be asked about two of"):
        ranking.difference("one", "none")


def test_runs_are_paired_by_their_numbers_and_rounds_by_their_values():
    rng = np.random.default_rng(11)
    hardness = rng.gamma(2.0, 50.0, 40)
    order = rng.permutation(40)
    tree = _tree(
        _node("a", hardness),
        _node("b", (hardness + 1)[order], runs=order, rounds=(1000, 5000)),
        _node("c", hardness[5:] + 3, runs=np.arange(5, 40), rounds=(10, 1000)),
    )
    tree["toy/b/regret"][:, :, 0] = (hardness + 1)[order]
    (ranking,) = rankings(tree)
    assert (ranking.num_runs, ranking.round_) == (35, 1000)
    assert [p.policy for p in ranking.policies] == ["a", "b", "c"]
    assert ranking.difference("a", "b").low == pytest.approx(1.0)
    assert ranking.difference("a", "c").high == pytest.approx(3.0)
    assert [p.best_seen for p in ranking.policies] == [1, 2, 3]


def test_rankings_leave_out_failures_and_lone_policies():
    tree = fake.comparison(
        {"mslr5-condorcet": fake.CONDORCET, "arxiv": fake.TIED},
        labels=("D-TS", "RUCB"),
        failed={("arxiv", "RUCB"): "it broke"},
    )
    (ranking,) = rankings(tree)
    assert ranking.instance == "mslr5-condorcet"
    few = rankings(fake.comparison(labels=("D-TS", "RUCB"), num_runs=1))[0]
    assert "1 run cannot tell" in few.note
    assert all((p.best_rank, p.worst_rank) == (1, 2) for p in few.policies)


def test_what_is_not_paired_is_refused():
    values = np.arange(10.0)
    with pytest.raises(ValueError, match="different seeds"):
        rankings(_tree(_node("a", values), _node("b", values, seed=2)))
    with pytest.raises(ValueError, match="no common run"):
        rankings(_tree(_node("a", values), _node("b", values, runs=np.arange(10, 20))))
    with pytest.raises(ValueError, match="no common checkpoint"):
        rankings(_tree(_node("a", values), _node("b", values, rounds=(7, 9))))
    with pytest.raises(ValueError, match="was recorded.*, got 'weak'"):
        rankings(fake.comparison(labels=("D-TS", "RUCB")), notion="weak")

"""How often a ranking is certain in the wrong direction where rare runs go very wrong.

Every distribution has a policy A that costs more on average than B, and less in most
runs.
"""

import io
import math

import numpy as np
import pytest
import xarray as xr
from scipy import stats

from bayesduel.analysis import rankings
from bayesduel.analysis.policy_rankings import enough_runs, reversal, unseen_share

FALSE_ALARM = 1e-5
DECLARED = 0.05
REPETITIONS = 200


def disasters(share, size, usual=60.0):
    """Return a distribution: mostly `usual`, with some runs that cost `size` times as
    much."""
    return lambda rng, n: np.where(rng.random(n) < share, size * usual, usual)


def lognormal(scale):
    return lambda rng, n: 100.0 * rng.lognormal(-(scale**2) / 2, scale, n)


def like_ecw_rmed(rng, n):
    """28 of 500 runs above 30,000, up to 250,000, where the median is 4,900."""
    usual = 4900.0 * rng.lognormal(0.0, 0.25, n)
    long = np.minimum(30_000.0 * np.exp(rng.exponential(0.8, n)), 250_000.0)
    return np.where(rng.random(n) < 0.056, long, usual)


# Distribution of A, mean and standard deviation of the normal B.
DISTRIBUTIONS = {
    "6 % at 3000, else 60": (disasters(0.06, 50), 100.0, 10.0),
    "1 % at 300, else 60": (disasters(0.01, 5), 61.5, 0.5),
    "2 % at 6000, else 1": (disasters(0.02, 6000, 1.0), 100.0, 10.0),
    "log-normal, scale 1.5": (lognormal(1.5), 90.0, 9.0),
    "like ECW-RMED": (like_ecw_rmed, 8600.0, 2100.0),
}


def tree(columns, horizon=1000, preference=None):
    nodes = {
        f"/toy/{label}": xr.Dataset(
            {"regret": (("notion", "run", "checkpoint"), regret[None, :, None])},
            coords={"notion": ["copeland"], "checkpoint": [horizon]},
            attrs={"instance": "toy", "policy": label, "seed": 1},
        )
        for label, regret in columns.items()
    }
    if preference is not None:
        nodes["/toy"] = xr.Dataset({"preference": (("arm", "opponent"), preference)})
    return xr.DataTree.from_dict(nodes)


def wrong_and_right(distribution, num_runs, repetitions, verdict="is_certain", seed=0):
    """Return how often A is told to be better than B, and how often the reverse."""
    draw, mean, deviation = DISTRIBUTIONS[distribution]
    rng = np.random.default_rng([seed, num_runs])
    wrong = right = 0
    for _ in range(repetitions):
        columns = {
            "A": draw(rng, num_runs), "B": rng.normal(mean, deviation, num_runs)
        }  # fmt: skip
        (ranking,) = rankings(tree(columns), num_resamples=200)
        (differences,) = ranking.differences
        if getattr(differences, verdict):
            wrong += differences.lower == "A"
            right += differences.lower == "B"
    return wrong, right


@pytest.mark.slow
@pytest.mark.parametrize(
    ("distribution", "num_runs"),
    [
        ("6 % at 3000, else 60", 10),
        ("1 % at 300, else 60", 300),
        ("2 % at 6000, else 1", 10),
        ("2 % at 6000, else 1", 300),
        ("log-normal, scale 1.5", 10),
        ("like ECW-RMED", 300),
    ],
)
def test_a_wrong_order_is_certain_at_most_as_rarely_as_declared(distribution, num_runs):
    wrong, _ = wrong_and_right(distribution, num_runs, REPETITIONS)
    assert wrong <= stats.binom.ppf(1 - FALSE_ALARM, REPETITIONS, DECLARED)


@pytest.mark.slow
def test_intervals_alone_would_be_wrong_in_half_of_the_cases():
    """The measurement can fail: what was seen tells A from B, in the wrong order."""
    wrong, _ = wrong_and_right("6 % at 3000, else 60", 10, REPETITIONS, "is_apart")
    assert wrong > stats.binom.ppf(FALSE_ALARM, REPETITIONS, 0.94**10) > 60


# All rounds lost cost 1000 here, so that few runs can be enough.
ONE_PER_ROUND = np.array([[0.5, 0.7], [0.3, 0.5]])


@pytest.mark.slow
@pytest.mark.parametrize(("share", "num_runs"), [(0.05, 8), (0.2, 30)])
def test_a_wrong_order_is_rare_where_the_rounds_set_the_limit(share, num_runs):
    rng = np.random.default_rng([3, num_runs])
    mean = 1.0 - share + 1000.0 * share
    wrong = 0
    for _ in range(REPETITIONS):
        columns = {
            "A": np.where(rng.random(num_runs) < share, 1000.0, 1.0),
            "B": np.full(num_runs, 0.95 * mean),
        }
        (ranking,) = rankings(tree(columns, 1000, ONE_PER_ROUND), num_resamples=200)
        (differences,) = ranking.differences
        assert differences.limit == 1000.0
        wrong += differences.is_certain and differences.lower == "A"
    assert wrong <= stats.binom.ppf(1 - FALSE_ALARM, REPETITIONS, DECLARED)


@pytest.mark.slow
def test_no_order_of_many_policies_is_wrong_more_often_than_declared():
    """Five policies with disasters of their own: the unseen ones add up."""
    rng = np.random.default_rng(4)
    wrong = 0
    for _ in range(REPETITIONS):
        columns = {
            f"A{i}": np.where(rng.random(15) < 0.25, 1000.0, 1.0) for i in range(5)
        } | {"B": np.full(15, 240.0)}
        (ranking,) = rankings(tree(columns, 1000, ONE_PER_ROUND), num_resamples=200)
        wrong += any(d.is_certain and d.higher == "B" for d in ranking.differences)
    assert wrong <= stats.binom.ppf(1 - FALSE_ALARM, REPETITIONS, DECLARED)


def test_clear_cases_are_certain():
    rng, num_runs = np.random.default_rng(5), 960
    hardness = rng.gamma(4.0, 25.0, num_runs)
    columns = {"A": hardness, "B": 1.25 * hardness + rng.normal(0, 5, num_runs)}
    (ranking,) = rankings(tree(columns))
    (differences,) = ranking.differences
    assert differences.verdict == "certain"
    assert differences.limit == pytest.approx(50 * columns["B"].mean())
    assert [(p.best_rank, p.worst_rank) for p in ranking.policies] == [(1, 1), (2, 2)]
    assert 0.85 * num_runs < differences.enough_runs <= num_runs
    # Half of the runs are not enough, and say how many are.
    half = {label: regret[: num_runs // 2] for label, regret in columns.items()}
    (ranking,) = rankings(tree(half))
    (differences,) = ranking.differences
    assert differences.verdict == "in the runs seen"
    assert [(p.best_rank, p.worst_rank) for p in ranking.policies] == [(1, 2), (1, 2)]
    assert [(p.best_seen, p.worst_seen) for p in ranking.policies] == [(1, 1), (2, 2)]
    assert 0.8 * num_runs < differences.enough_runs < 1.2 * num_runs


def test_ten_runs_are_enough_against_a_policy_that_never_learns():
    rng = np.random.default_rng(6)
    columns = {"A": rng.normal(60, 10, 10), "B": rng.normal(500, 10, 10)}
    (ranking,) = rankings(tree(columns, 1000, ONE_PER_ROUND))
    (differences,) = ranking.differences
    unseen = 1 - 0.025**0.1
    assert ranking.unseen == pytest.approx(unseen)
    assert differences.reversal == pytest.approx(
        differences.low * (1 - unseen) / unseen
    )
    assert differences.limit == 1000.0 and not differences.is_certain
    more = {"A": rng.normal(60, 10, 14), "B": rng.normal(500, 10, 14)}
    assert rankings(tree(more, 1000, ONE_PER_ROUND))[0].differences[0].is_certain
    assert not rankings(tree(more))[0].differences[0].is_certain


def test_the_rule_is_that_of_exact_probabilities():
    """Two points: where the order turns, the expected regrets are equal."""
    share = unseen_share(50, 0.025)
    assert (1 - share) ** 50 == pytest.approx(0.025, rel=1e-12)
    cost = reversal(40.0, share)
    assert (1 - share) * 60 + share * cost == pytest.approx((1 - share) * 100)
    assert reversal(-3.0, share) == reversal(0.0, share) == 0.0
    for lead, limit in [(1.0, 500.0), (40.0, 5000.0), (300.0, 100.0)]:
        enough = enough_runs(lead, limit, 0.025)
        assert reversal(lead, unseen_share(enough, 0.025)) > limit
        if enough > 1:
            assert reversal(lead, unseen_share(enough - 1, 0.025)) <= limit
    assert enough_runs(0.0, 10.0, 0.025) == enough_runs(5.0, math.inf, 0.025) == 0


@pytest.mark.parametrize("rival", [0.0, 40.0, 5000.0])
def test_an_order_turns_where_unseen_runs_differ_by_the_reversal(rival):
    """By adding such runs in their share; what the rival costs in them is no matter."""
    num_runs, lead = 40, 40.0
    hardness = np.linspace(150.0, 400.0, num_runs)
    (ranking,) = rankings(tree({"A": hardness, "B": hardness + lead}))
    (differences,) = ranking.differences
    assert differences.low == pytest.approx(lead) and not differences.is_certain
    # All that was seen 1000 times, and as many new runs as make this share.
    unseen = round(1000 * num_runs * ranking.unseen / (1 - ranking.unseen))
    for part, winner in ((0.99, "A"), (1.01, "B")):
        means = {
            label: np.concatenate([np.tile(seen, 1000), np.full(unseen, cost)]).mean()
            for label, seen, cost in (
                ("A", hardness, rival + part * differences.reversal),
                ("B", hardness + lead, rival),
            )
        }
        assert min(means, key=means.get) == winner


def test_a_longer_tail_than_the_limit_is_believed():
    """A run that was seen to cost more than 50 times the mean lifts the limit."""
    rng = np.random.default_rng(7)
    first = np.concatenate([rng.normal(1.0, 0.1, 1199), [900.0]])
    (ranking,) = rankings(tree({"A": first, "B": rng.normal(6.0, 0.1, 1200)}))
    (differences,) = ranking.differences
    assert differences.limit == 900.0 > 50 * 6.1
    assert ranking.policies[0].worst_share == pytest.approx(
        np.sort(first)[-60:].sum() / first.sum()
    )


def test_without_any_limit_nothing_is_certain():
    columns = {"A": np.full(5000, 1.0), "B": np.full(5000, 100.0)}
    few = {"num_resamples": 100}
    assert rankings(tree(columns), **few)[0].differences[0].is_certain
    (differences,) = rankings(tree(columns), peak=math.inf, **few)[0].differences
    assert (differences.verdict, differences.limit, differences.enough_runs) == (
        "in the runs seen", math.inf, 0,
    )  # fmt: skip
    for peak in (0.5, math.nan):
        with pytest.raises(ValueError, match="peak must be a number of at least 1"):
            rankings(tree(columns), peak=peak)


def captions(columns, **options):
    from rich.console import Console

    from bayesduel.cli.tables import print_rankings

    printed = io.StringIO()
    print_rankings(
        Console(file=printed, width=1000), rankings(tree(columns, **options))
    )
    return printed.getvalue()


def test_the_command_says_what_is_certain_and_what_only_was_seen():
    rng = np.random.default_rng(8)
    hardness = rng.gamma(4.0, 25.0, 100)
    text = captions({"A": hardness, "B": 2 * hardness, "C": 9990.0 + hardness / 10},
                    horizon=10_000, preference=ONE_PER_ROUND)  # fmt: skip
    assert "1-2   1     A" in text and "3     3     C" in text
    assert "if other runs are like these 100" in text
    assert "a rare disaster in up to 4.3% of all runs, which 100 runs can miss" in text
    assert "clearly different in these runs: A and B; about " in text
    assert "not clearly different" not in text and "medians" not in text
    text = captions({"A": hardness, "B": 4.0 * hardness[::-1]}, horizon=400,
                    preference=ONE_PER_ROUND)  # fmt: skip
    assert "the order of every pair is certain" in text


def test_the_command_tells_medians_and_tails_beside_means():
    """As for ECW-RMED: the mean rests on few runs and most of them are better."""
    rng = np.random.default_rng(9)
    long = rng.normal(50.0, 5.0, 400)
    long[:24] += 4000.0
    text = captions({"steady": rng.normal(90.0, 10.0, 400), "long": long})
    assert "the opposite by medians: steady and long" in text
    assert "long: the worst 5% of its runs make 70% of its mean" in text
    assert "steady: the worst" not in text
    assert "clearly different in these runs" in text

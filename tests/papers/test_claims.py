"""Verdicts on statements, from made-up runs that can decide either way, or not."""

import json
import re

import numpy as np
import pytest
import xarray as xr

from bayesduel.analysis.measured_nodes import Measurement
from bayesduel.papers.claims import check_claim, exploitation
from bayesduel.papers.recipes import Claim

ROUNDS = np.array([250, 500, 1000])
# Arms 0, 1 and 2 beat one another in a circle, and all of them beat arm 3.
CIRCLE = np.array(
    [[0.5, 0.6, 0.4, 0.7], [0.4, 0.5, 0.6, 0.7], [0.6, 0.4, 0.5, 0.7],
     [0.3, 0.3, 0.3, 0.5]]
)  # fmt: skip


def measured(final, *, growth=0.0, instance="E", self_duels=None, num_arms=4):
    """Return runs with this regret at the end, which is t^growth of the rounds."""
    final = np.asarray(final, dtype=float)
    regret = final[:, None] * (ROUNDS / ROUNDS[-1]) ** growth
    plays = np.zeros((final.size, ROUNDS.size, num_arms, num_arms), dtype=np.int64)
    if self_duels is not None:
        plays[:, :, np.arange(num_arms), np.arange(num_arms)] = np.asarray(self_duels)[
            :, None
        ]
    data = xr.Dataset(
        {
            "regret": (("notion", "run", "checkpoint"), regret[None]),
            "plays": (("run", "checkpoint", "arm", "opponent"), plays),
        },
        coords={"notion": ["copeland"], "checkpoint": ROUNDS},
    )
    preference = CIRCLE if num_arms == 4 else None
    return [Measurement(instance, "P", data, preference, tuple("abcd"))]


def verdict(kind, first, second=None, *, scale=1.0, **numbers):
    results = {"p": first, "q": second if second is not None else first}
    claim = Claim(kind, "the statement", ("a",), ("p",), ("q",), **numbers)
    (only,) = check_claim(claim, "a", results, notion="copeland", scale=scale)
    assert (only.statement, only.panel, only.first) == ("the statement", "a", "p")
    assert only.second == "q"
    return only


LOW, HIGH = [10.0, 11.0, 9.0, 10.0], [20.0, 22.0, 19.0, 20.0]
# The mean is that of LOW plus 1, with a standard error of the difference above 3.
UNSURE = [4.0, 18.0, 5.0, 17.0]


@pytest.mark.parametrize(
    ("first", "second", "factor", "holds"),
    [
        (LOW, HIGH, 1.0, True),
        (HIGH, LOW, 1.0, False),
        (LOW, UNSURE, 1.0, None),
        (LOW, LOW, 1.0, None),
        (LOW, HIGH, 0.6, True),
        (LOW, HIGH, 0.4, False),
    ],
)
def test_less(first, second, factor, holds):
    judged = verdict("less", measured(first), measured(second), factor=factor)
    assert judged.holds is holds
    assert judged.word == {True: "holds", False: "does not hold", None: "open"}[holds]


def test_less_is_paired():
    """A small difference of all runs tells more than their spread hides."""
    spread = np.array([10.0, 50.0, 90.0, 200.0])
    assert verdict("less", measured(spread), measured(spread + 1.0 + LOW)).holds
    apart = measured((spread + 1.0 + LOW)[::-1])
    assert verdict("less", measured(spread), apart).holds is None


def test_less_tells_medians_that_say_the_opposite():
    """As for ECW-RMED, a few of whose runs go very wrong."""
    often_better = measured([5.0] * 19 + [500.0])
    judged = verdict("less", measured([10.0] * 20), often_better)
    assert judged.holds is None
    assert judged.details.endswith("; the opposite by medians, 10.0 and 5.00")
    assert "medians" not in verdict("less", measured(LOW), measured(HIGH)).details
    assert "medians" not in verdict("less", measured(HIGH), measured(LOW)).details
    halved = verdict("less", measured(LOW), measured(HIGH), factor=0.4)
    assert "medians" not in halved.details


def test_less_looks_at_its_round_on_the_scale_of_the_runs():
    late, early = measured(HIGH, growth=3.0), measured(LOW)
    assert verdict("less", late, early).holds is False
    assert verdict("less", late, early, at=5000, scale=0.1).holds
    assert "at 500 " in verdict("less", late, early, at=500).details
    assert verdict("less", late, early, at=5000, scale=0.2).holds is False


@pytest.mark.parametrize(
    ("second", "factor", "holds"),
    [(60.0, 1.0, True), (35.0, 1.0, False), (60.0, 0.4, False)],
)
def test_rises_less_is_about_what_the_delay_adds(second, factor, holds):
    """The first rises by 20, the second, which begins higher, by 30 or 5."""
    results = {
        "p": measured(LOW), "p:every=9": measured(np.add(LOW, 20.0)),
        "q:alpha=1": measured(np.add(LOW, 20.0)),
        "q:alpha=1,every=9": measured(np.add(LOW, second - 10.0)),
    }  # fmt: skip
    claim = Claim(
        "rises-less", "s", ("a",), ("p:every=9",), ("q:alpha=1,every=9",), factor
    )
    (only,) = check_claim(claim, "a", results, notion="copeland")
    assert only.holds is holds
    assert only.details.startswith("the delay adds 20")
    del results["q:alpha=1"]
    assert check_claim(claim, "a", results, notion="copeland") == []


@pytest.mark.parametrize("kind", ["less", "similar", "spread", "less-spread", "linear"])
def test_two_runs_cannot_tell(kind):
    judged = verdict(kind, measured(LOW[:2]), measured(HIGH[:2]), value=1.0)
    assert judged.holds is None
    assert "fewer than 3" in judged.details


@pytest.mark.parametrize(
    ("second", "tolerance", "holds"),
    [(LOW, 0.1, True), (HIGH, 0.1, False), (HIGH, 0.6, True), (UNSURE, 0.1, None)],
)
def test_similar(second, tolerance, holds):
    judged = verdict("similar", measured(LOW), measured(second), tolerance=tolerance)
    assert judged.holds is holds


@pytest.mark.parametrize(("value", "holds"), [(1.0, True), (2.0, False), (0.8, None)])
def test_spread_is_the_deviation_over_the_mean(value, holds):
    # Deviation 1.0 over a mean of 1: half of the runs at 0, half at 2.
    judged = verdict("spread", measured([0.0, 2.0] * 200), value=value, tolerance=0.25)
    assert judged.holds is holds
    assert judged.details.startswith("standard deviation over mean 100.1% ± 5.0%")


def test_less_spread():
    rng = np.random.default_rng(1)
    narrow, wide = rng.normal(9, 1, 60), rng.normal(9, 3, 60)
    assert verdict("less-spread", measured(narrow), measured(wide)).holds
    assert verdict("less-spread", measured(wide), measured(narrow)).holds is False
    second = measured(rng.normal(50, 1.05, 60))
    assert verdict("less-spread", measured(narrow), second).holds is None
    same = measured([7.0, 7.0, 7.0])
    assert verdict("less-spread", same, same).holds is None


@pytest.mark.parametrize(
    ("growth", "holds"), [(1.0, True), (0.0, False), (0.5, None)]
)  # fmt: skip
def test_linear_is_the_slope_on_double_logarithmic_axes(growth, holds):
    judged = verdict("linear", measured(HIGH, growth=growth), value=0.5)
    assert judged.holds is holds
    assert f"= {growth:.2f} ± 0.00 from 500" in judged.details


@pytest.mark.parametrize(("late", "holds"), [(0.95, True), (0.8, False), (0.9, None)])
def test_converges_looks_at_the_offers_of_the_second_half(late, holds):
    """Two arms in 500 rounds; before, the worst set is offered all the time."""
    spread = np.array([-0.01, 0.01, -0.02, 0.02])
    good = np.rint(1000 * (late + spread)).astype(int)
    offers = np.zeros((4, 3, 3), dtype=np.int64)
    offers[:, :, 2] = [250, 500, 500]
    offers[:, :, 1] = [250, 500, 500]
    offers[:, 2, 0] += good // 2
    offers[:, 2, 1] += good - good // 2
    offers[:, 2, 2] += 1000 - good
    data = xr.Dataset(
        {
            "regret": (("notion", "run", "checkpoint"), np.ones((1, 4, 3))),
            "offers": (("run", "checkpoint", "arm"), offers),
            "recommendation": (("run", "arm"), np.array([[1, 1, 0]] * 3 + [[1, 0, 1]])),
            "best_set": (("arm",), np.array([True, True, False])),
        },
        coords={
            "notion": ["copeland"],
            "checkpoint": ROUNDS,
            "arm": ["tea", "milk", "ink"],
        },
    )
    judged = verdict("converges", [Measurement("E", "P", data)], value=0.9)
    assert judged.holds is holds
    assert "offers from 500 on are of tea, milk" in judged.details
    assert "3 of 4 runs" in judged.details


def test_what_has_no_regret_divides_nothing():
    none = measured([0.0, 0.0, 0.0, 0.0])
    for kind in ("similar", "spread", "linear"):
        assert verdict(kind, measured(LOW), none).holds is not True
        assert verdict(kind, none, none, value=0.5).holds is None


def test_exploitation_divides_self_duels_of_winners():
    results = [[30, 10, 0, 70], [0, 0, 0, 5]]
    shares = exploitation(measured([1.0, 1.0], self_duels=results)[0])
    assert shares.tolist() == [[0.75, 0.25, 0.0], [0.0, 0.0, 0.0]]


def test_more_diverse():
    even = measured(
        LOW, self_duels=[[3, 3, 4, 9], [4, 3, 3, 9], [3, 4, 3, 9], [3, 3, 3, 9]]
    )
    one = measured(
        LOW, self_duels=[[9, 1, 0, 2], [0, 9, 1, 2], [0, 0, 9, 2], [9, 0, 0, 2]]
    )
    mixed = measured(
        LOW, self_duels=[[9, 1, 0, 2], [3, 3, 3, 2], [2, 3, 3, 2], [3, 3, 3, 2]]
    )
    assert verdict("more-diverse", even, one).holds
    assert verdict("more-diverse", one, even).holds is False
    assert verdict("more-diverse", even, mixed).holds is None


def test_random_matrices_are_the_sample_and_are_paired_by_name():
    ours = [*measured([1.0, 3.0], instance="A"), *measured([2.0], instance="B"),
            *measured([5.0, 7.0], instance="C")]  # fmt: skip
    theirs = [*measured([70.0], instance="C"), *measured([9.0], instance="B"),
              *measured([10.0, 50.0], instance="A")]  # fmt: skip
    judged = verdict("less", ours, theirs)
    assert judged.details.startswith("3.3 ± 1.3 and 36 ± 18")
    # One per matrix: 30 - 2, 9 - 2 and 70 - 6.
    assert "difference 33 ± 17" in judged.details
    # Matrices that one side lacks are left out, and two are too few.
    assert verdict("less", ours, theirs[1:]).holds is None


def test_only_matrices_of_the_right_size_count():
    small = [item for name in "ABC" for item in measured(LOW, instance=name)]
    large = [
        item
        for name in "DEF"
        for item in measured(HIGH, instance=name, num_arms=6)
    ]  # fmt: skip
    rival = [
        item
        for name in "ABCDEF"
        for item in measured([15.0, 15.5], instance=name,
                             num_arms=6 if name > "C" else 4)
    ]  # fmt: skip
    for arms, mean, holds in (((3, 5), "10.0 ±", True), ((6, 9), "20.2 ±", False)):
        judged = verdict("less", small + large, rival, arms=arms)
        assert judged.details.startswith(mean)
        assert judged.holds is holds


def test_a_policy_that_was_not_measured_has_no_verdict():
    claim = Claim("less", "s", ("a",), ("p", "q"), ("r",))
    results = {"p": measured(LOW), "r": measured(HIGH)}
    verdicts = check_claim(claim, "a", results, notion="copeland")
    assert [verdict.first for verdict in verdicts] == ["p"]
    assert check_claim(claim, "a", {}, notion="copeland") == []


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="kind must be one of less, .*'best'"):
        check_claim(Claim("best", "s", ("a",), ("p",)), "a", {}, notion="copeland")


def test_less_tells_by_how_much_unseen_runs_would_have_to_differ():
    """An order by few runs can be undone by some of a kind that was not seen."""
    judged = verdict("less", measured(LOW), measured(HIGH))
    share = 1 - 0.025**0.25
    excess = np.subtract(HIGH, LOW)
    lead = excess.mean() - 2 * excess.std(ddof=1) / 2
    cost = lead * (1 - share) / share
    assert judged.details.endswith(
        f"; in the runs seen, unless in {100 * share:.0f}% of all runs, of a kind not "
        f"seen, the former exceeds the latter by {cost:.2f} on average"
    )
    turned = verdict("less", measured(HIGH), measured(LOW)).details
    assert turned.endswith(f"the latter exceeds the former by {cost:.2f} on average")
    # Not more than all rounds can cost, nor than 50 times the mean.
    many = verdict("less", measured(LOW * 100), measured(HIGH * 100))
    assert many.holds and "unless" not in many.details
    lost = measured(np.add(LOW * 2, 480.0))
    assert "unless" not in verdict("less", measured(LOW * 2), lost).details
    assert "unless" not in verdict("less", measured(LOW), measured(UNSURE)).details
    games = [*measured([5.0], instance="E1"), *measured([6.0], instance="E2"),
             *measured([7.0], instance="E3")]  # fmt: skip
    worse = [*measured([15.0], instance="E1"), *measured([17.0], instance="E2"),
             *measured([16.0], instance="E3")]  # fmt: skip
    assert "71% of all matrices" in verdict("less", games, worse).details


def test_less_knows_what_the_worst_round_of_a_world_costs():
    """Ten runs miss 31 % of all, which would have to differ by 224 in 1000 rounds."""
    ours, theirs = measured([5.0] * 10, num_arms=3), measured([105.0] * 10, num_arms=3)
    text = verdict("less", ours, theirs).details
    assert text.endswith("the former exceeds the latter by 224 on average")
    for worst, is_too_much in ((0.22, True), (0.23, False)):
        known = {"most_regret_per_round": json.dumps({"copeland": worst})}
        ours[0].data.attrs.update(known)
        text = verdict("less", ours, theirs).details
        assert ("unless" not in text) == is_too_much


@pytest.mark.parametrize("factor", [1.0, 0.5])
@pytest.mark.parametrize("rival", [0.0, 300.0, 700.0])
def test_an_order_turns_where_unseen_runs_differ_as_the_verdict_says(factor, rival):
    """Whatever the rival costs there; all runs seen cost more than they differ by."""
    ours, theirs = np.linspace(160.0, 380.0, 10), np.linspace(200.0, 420.0, 10)
    judged = verdict("less", measured(ours), measured(theirs / factor), factor=factor)
    (said,) = re.findall(r"in 31% .* exceeds .* by ([\d.]+) on average", judged.details)
    excess, share = float(said), 1 - 0.025**0.1
    assert judged.holds and excess < min(ours)
    for part, is_undone in ((0.98, False), (1.02, True)):
        first = (1 - share) * ours.mean() + share * (factor * rival + part * excess)
        second = (1 - share) * theirs.mean() + share * factor * rival
        assert (first > second) == is_undone
    turned = verdict("less", measured(theirs), measured(ours / factor), factor=factor)
    latter = "the latter" if factor == 1 else "0.5 times the latter"
    assert not turned.holds
    assert turned.details.endswith(f"{latter} exceeds the former by {said} on average")


def test_what_a_delay_adds_can_differ_by_the_regret_of_two_runs():
    """No run loses more than 667 in its 1000 rounds, but each side has two runs."""
    results = {
        "p": measured(np.add(LOW, 590.0)), "p:every=9": measured(LOW),
        "q": measured(LOW), "q:every=9": measured(np.add(LOW, 610.0)),
    }  # fmt: skip
    claim = Claim("rises-less", "s", ("a",), ("p:every=9",), ("q:every=9",))
    (only,) = check_claim(claim, "a", results, notion="copeland")
    share = 1 - 0.025**0.25
    excess = 1200.0 * (1 - share) / share
    assert 667 < excess < 2 * 667
    assert f"the former exceeds the latter by {excess:.0f} on average" in only.details

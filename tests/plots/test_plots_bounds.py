"""Bounds over measured regret: slopes, levels, and what is said of them."""

from dataclasses import replace

import numpy as np
import pytest

from bayesduel import plots
from bayesduel.plots.policy_looks import policy_looks
from bayesduel.plots.style import INK
from tests import fake_results as fake
from tests.figures import all_text, bounds_over, dashed
from theory import PowerTerm, RegretBound, copeland_lower_bound
from theory.theorems import rmed1_bound


def bound(kind="upper", coefficient=10.0, **changes):
    fields = {"name": "a bound", "regret": "copeland", "minimum_horizon": 2}
    fields |= {"kind": kind, "log_coefficient": coefficient}
    return RegretBound(**(fields | changes))


def test_lower_bound_is_a_dashed_slope_from_a_checkpoint():
    tree = fake.comparison()
    axes = plots.regret(tree, anchor=1000).axes[0]
    line = dashed(axes)[0]
    rounds, values = line.get_data()
    assert rounds[0] == pytest.approx(1000)
    assert rounds[-1] == pytest.approx(10**6)
    slope = (values[-1] - values[0]) / np.log(rounds[-1] / rounds[0])
    assert slope == pytest.approx(66.769318, rel=1e-6)
    lowest = min(
        float(node["regret"].sel(checkpoint=1000).mean())
        for node in tree["mslr5-condorcet"].children.values()
    )
    assert values[0] == pytest.approx(lowest)
    text = all_text(axes.figure)
    assert "slope 66.8" in text
    assert "$10^{3}$" in text


def test_bounds_of_the_mean_gap_are_slopes_that_look_like_slopes():
    """RMED1 starts on its own mean, and the lower bound of that regret beside it."""
    notion = "condorcet_mean"
    tree = fake.comparison(labels=("D-TS", "RMED1"), notions=(notion,))
    look = policy_looks(["D-TS", "RMED1"])
    axes = plots.regret(tree, notion=notion).axes[0]
    # The second one has the next pattern of dashes.
    slopes = [x for x in axes.lines if len(x.get_xdata()) == 64]
    lower, upper = sorted(slopes, key=lambda line: line.get_ydata()[0])
    node = tree["mslr5-condorcet"]
    for line, policy in ((lower, "D-TS"), (upper, "RMED1")):
        rounds, values = line.get_data()
        mean = node[policy]["regret"].sel(notion=notion, checkpoint=10**4).mean()
        assert values[0] == pytest.approx(float(mean)) and rounds[0] == 10**4
        constant = rmed1_bound(fake.CONDORCET).log_coefficient
        assert values[-1] - values[0] == pytest.approx(constant * np.log(100))
        assert line.get_linestyle() != "-"
    anchors = [
        x for x in axes.lines if x.get_marker() == "o" and len(x.get_xdata()) < 2
    ]
    assert len(anchors) == 2
    # That of one policy has its color, the other one is of all.
    assert [x.get_color() for x in (lower, upper)] == [INK, look["RMED1"].text_color]
    (shade,) = axes.patches
    assert (shade.get_x(), shade.get_x() + shade.get_width()) == (10**4, 10**6)
    text = all_text(axes.figure).replace("\n", " ")
    assert "Condorcet lower bound: slope 11.2" in text
    assert "RMED1 (asymptotic upper): slope 11.2" in text
    said = "shaded: bounds from a circle on are slopes per unit of natural log t,"
    assert f"{said} not levels" in text


def test_a_policy_out_of_all_proportion_leaves_the_axis_and_is_named():
    tree = fake.comparison(labels=("D-TS", "RMED1", "RUCB"))
    usual = plots.regret(tree, bounds=None).axes[0].get_ylim()[1]
    node = tree["mslr5-condorcet"]["RUCB"]
    node["regret"] = node["regret"] * 100.0
    figure = plots.regret(tree, bounds=None)
    assert figure.axes[0].get_ylim()[1] < 1.5 * usual
    end = float(node["regret"].isel(checkpoint=-1).mean())
    assert f"above the axis, at its end: RUCB {end:,.0f}" in all_text(figure)
    logarithmic = plots.regret(tree, bounds=None, log_y=True)
    assert logarithmic.axes[0].get_ylim()[1] > end
    assert "above the axis" not in all_text(logarithmic)


@pytest.mark.parametrize("horizon, slopes", [(1, 0), (2, 1), (50, 1)])
def test_a_slope_starts_after_the_first_round(horizon, slopes):
    """Runs of so few rounds record the first one, where no bound is defined."""
    rounds = np.unique([1, (horizon + 1) // 2, horizon])
    found = bounds_over(fake.comparison(labels=("D-TS",), rounds=rounds), "lower")
    drawn = [each.rounds[0] for each in found if each.rounds.size]
    assert len(drawn) == slopes and all(first > 1 for first in drawn)


def test_upper_bound_is_drawn_only_where_it_fits():
    tree = fake.comparison()
    small = bound(coefficient=50.0, name="small")
    (curve,) = bounds_over(tree, small)
    assert curve.text == "small (upper): 50.0 log t" and not curve.slope
    assert curve.values[-1] == pytest.approx(50.0 * np.log(10**6))
    large = bound(coefficient=3000.0, name="large")
    figure = plots.regret(tree, bounds=[small, large], log_y=False)
    assert "large (upper): 3000 log t (above the axes)" in all_text(figure)
    assert [len(x.get_xdata()) for x in figure.axes[0].lines].count(64) == 1


def test_bound_that_grows_with_a_power_of_t_says_so():
    steep = bound(coefficient=0.0, name="steep", power_terms=(PowerTerm(2, 0.25, 1.0),))
    (found,) = bounds_over(fake.comparison(), steep)
    assert found.text == "steep (upper): 2 t^0.25 log t"
    growth = replace(steep, kind="asymptotic upper")
    (found,) = bounds_over(fake.comparison(), growth, anchor=1000)
    assert "steep (asymptotic upper): 2 t^0.25 log t, from" in found.text


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("order only", "order of growth only"),
        ("worst-case lower", "for some instance"),
        ("unproved", "not proved as printed"),
    ],
)
def test_kinds_that_are_named_and_never_drawn(kind, words):
    (found,) = bounds_over(fake.comparison(), [bound(kind, coefficient=1.0)])
    assert words in found.text and not found.rounds.size


def test_asymptotic_upper_bound_starts_from_the_mean_of_its_policy():
    tree = fake.comparison()
    own = bound("asymptotic upper", 40.0, name="of D-TS", policy="D-TS")
    (found,) = bounds_over(tree, own, anchor=1000)
    mean = tree["mslr5-condorcet"]["D-TS"]["regret"].sel(checkpoint=1000).mean()
    # D-TS+ is another policy, and lower there.
    assert found.values[0] == pytest.approx(float(mean)) and found.rounds[0] == 1000
    assert found.values[-1] - found.values[0] == pytest.approx(40 * np.log(1000))
    assert found.text == (
        "of D-TS (asymptotic upper): slope 40.0, from $10^{3}$ on (mean of D-TS)"
    )
    absent = replace(own, policy="CCB", condition="alpha = 0.6")
    (found,) = bounds_over(tree, absent)
    assert not found.rounds.size
    words = "(asymptotic upper, alpha = 0.6): CCB is not shown, not drawn"
    assert found.text.endswith(words)


def test_slope_with_a_log_log_term_is_bent():
    bent = bound("asymptotic upper", 5.0, name="bent", loglog_coefficient=90.0)
    (found,) = bounds_over(fake.comparison(), bent, anchor=1000)
    grown = bent(found.rounds) - bent(1000)
    assert found.values - found.values[0] == pytest.approx(grown)
    words = "5.00 log t + 90.0 log log t, from $10^{3}$ on (lowest mean)"
    assert found.text.endswith(words)


def test_upper_bound_for_a_known_horizon_is_a_level():
    told = bound(coefficient=50.0, name="told", anytime=False, constant=3.0)
    (found,) = bounds_over(fake.comparison(), told)
    np.testing.assert_allclose(found.values, 50 * np.log(10**6) + 3)
    assert found.text == "told (upper): 50.0 log t + 3.00 at t = $10^{6}$"
    late = replace(told, minimum_horizon=2 * 10**6)
    (found,) = bounds_over(fake.comparison(), late)
    assert found.text.endswith("(from 2,000,000 on)")


def test_bounds_of_a_tied_matrix_are_said_to_be_undefined():
    found = bounds_over(fake.comparison({"arxiv": fake.TIED}, ("D-TS",)), "auto")
    assert "not defined (tie between 3 and 5)" in found[0].text
    assert not any(each.rounds.size for each in found)


def test_bounds_per_environment():
    optimum = copeland_lower_bound(fake.CONDORCET)
    figure = plots.regret(
        fake.comparison(fake.TWO_MATRICES), bounds={"mslr5-condorcet": optimum}
    )
    assert [len(dashed(axes)) for axes in figure.axes] == [1, 0]


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ("lowest", "bounds must be"),
        (3.0, "bounds must be"),
        ([["lower"]], "bounds must be"),
        (bound(regret="condorcet_mean"), "condorcet_mean regret"),
    ],
)
def test_nonsense_as_bounds(bounds, words):
    with pytest.raises(ValueError, match=words):
        bounds_over(fake.comparison(), bounds)


def test_anchor_must_be_a_checkpoint():
    words = "anchor must be one of the checkpoints.*got 1234"
    with pytest.raises(ValueError, match=words):
        bounds_over(fake.comparison(), "auto", anchor=1234)

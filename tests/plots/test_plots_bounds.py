"""Bounds over measured regret: slopes, levels, and what is said of them."""

from dataclasses import replace

import numpy as np
import pytest

from bayesduel import plots
from bayesduel.plots.style import INK, looks
from tests import fake_results as fake
from tests.figures import all_text, dashed
from theory import PowerTerm, RegretBound, copeland_lower_bound
from theory.theorems import rmed1_bound


def bound(kind="upper", coefficient=10.0, regret="copeland", name="a bound"):
    return RegretBound(
        name=name,
        log_coefficient=coefficient,
        loglog_coefficient=0.0,
        constant=0.0,
        kind=kind,
        regret=regret,
        assumptions=("none",),
        source="a test",
        minimum_horizon=2,
    )


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
    look = looks(["D-TS", "RMED1"])
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
    assert "shaded: dashed bounds are slopes, not levels" in text


def test_a_policy_out_of_all_proportion_leaves_the_axis_and_is_named():
    tree = fake.comparison(labels=("D-TS", "RMED1", "RUCB"))
    usual = plots.regret(tree).axes[0].get_ylim()[1]
    node = tree["mslr5-condorcet"]["RUCB"]
    node["regret"] = node["regret"] * 100.0
    figure = plots.regret(tree)
    assert figure.axes[0].get_ylim()[1] < 1.5 * usual
    end = float(node["regret"].isel(checkpoint=-1).mean())
    assert f"above the axis, at its end: RUCB {end:,.0f}" in all_text(figure)
    logarithmic = plots.regret(tree, log_y=True)
    assert logarithmic.axes[0].get_ylim()[1] > end
    assert "above the axis" not in all_text(logarithmic)


def test_default_anchor_is_two_decades_before_the_horizon():
    line = dashed(plots.regret(fake.comparison()).axes[0])[0]
    assert line.get_xdata()[0] == pytest.approx(10**4)


@pytest.mark.parametrize("horizon, slopes", [(1, 0), (2, 1), (50, 1)])
def test_a_slope_starts_after_the_first_round(horizon, slopes):
    """Runs of so few rounds record the first one, where no bound is defined."""
    rounds = np.unique([1, (horizon + 1) // 2, horizon])
    lines = dashed(
        plots.regret(fake.comparison(labels=("D-TS",), rounds=rounds)).axes[0]
    )
    assert len(lines) == slopes
    assert all(line.get_xdata()[0] > 1 for line in lines)


def test_anchor_must_be_a_checkpoint():
    with pytest.raises(
        ValueError, match="anchor must be one of the checkpoints.*got 1234"
    ):
        plots.regret(fake.comparison(), anchor=1234)


def test_upper_bound_is_drawn_only_where_it_fits():
    tree = fake.comparison()
    fits = plots.regret(tree, bounds=bound(coefficient=50.0, name="small"))
    top = fits.axes[0].get_ylim()[1]
    assert "small (upper): 50.0 log t" in all_text(fits)
    assert "above the axes" not in all_text(fits)
    curves = [line for line in fits.axes[0].lines if len(line.get_xdata()) == 64]
    assert len(curves) == 1
    assert curves[0].get_ydata()[-1] == pytest.approx(50.0 * np.log(10**6))
    large = plots.regret(
        tree, bounds=bound(coefficient=3000.0, name="large"), log_y=False
    )
    assert "large (upper): 3000 log t (above the axes)" in all_text(large)
    assert large.axes[0].get_ylim()[1] == top
    assert not [line for line in large.axes[0].lines if len(line.get_xdata()) == 64]


def test_bound_that_grows_with_a_power_of_t_says_so():
    steep = replace(
        bound(coefficient=0.0, name="steep"), power_terms=(PowerTerm(2.0, 0.25, 1.0),)
    )
    figure = plots.regret(fake.comparison(), bounds=steep)
    assert "steep (upper): 2 t^0.25 log t" in all_text(figure)
    growth = replace(steep, kind="asymptotic upper")
    figure = plots.regret(fake.comparison(), bounds=growth, anchor=1000)
    assert "steep (asymptotic upper): 2 t^0.25 log t, from" in all_text(figure)
    assert "slope 0" not in all_text(figure)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("order only", "order of growth only"),
        ("worst-case lower", "for some instance"),
        ("unproved", "not proved as printed"),
    ],
)
def test_kinds_that_are_named_and_never_drawn(kind, words):
    before = len(plots.regret(fake.comparison(), bounds=None).axes[0].lines)
    figure = plots.regret(fake.comparison(), bounds=[bound(kind, coefficient=1.0)])
    assert words in all_text(figure)
    assert len(figure.axes[0].lines) == before


def test_asymptotic_upper_bound_starts_from_the_mean_of_its_policy():
    tree = fake.comparison()
    own = replace(bound("asymptotic upper", 40.0, name="of D-TS"), policy="D-TS")
    figure = plots.regret(tree, bounds=own, anchor=1000)
    (line,) = dashed(figure.axes[0])
    rounds, values = line.get_data()
    mean = tree["mslr5-condorcet"]["D-TS"]["regret"].sel(checkpoint=1000).mean()
    # D-TS+ is another policy, and lower there.
    assert values[0] == pytest.approx(float(mean)) and rounds[0] == 1000
    assert values[-1] - values[0] == pytest.approx(40 * np.log(1000))
    text = all_text(figure).replace("\n", " ")
    assert "of D-TS (asymptotic upper): slope 40.0, from $10^{3}$ on (mean of" in text
    absent = replace(own, policy="CCB", condition="alpha = 0.6")
    figure = plots.regret(tree, bounds=absent)
    assert not dashed(figure.axes[0])
    text = all_text(figure).replace("\n", " ")
    assert "(asymptotic upper, alpha = 0.6): CCB is not shown, not drawn" in text


def test_slope_with_a_log_log_term_is_bent():
    bent = replace(bound("asymptotic upper", 5.0, name="bent"), loglog_coefficient=90.0)
    figure = plots.regret(fake.comparison(), bounds=bent, anchor=1000)
    (line,) = dashed(figure.axes[0])
    rounds, values = line.get_data()
    assert len(rounds) == 64
    assert values - values[0] == pytest.approx(bent(rounds) - bent(1000))
    text = all_text(figure).replace("\n", " ")
    assert "5.00 log t + 90.0 log log t, from $10^{3}$ on (lowest mean)" in text


def test_upper_bound_for_a_known_horizon_is_a_level():
    told = replace(bound(coefficient=50.0, name="told"), anytime=False, constant=3.0)
    figure = plots.regret(fake.comparison(), bounds=told)
    levels = [
        line.get_ydata()
        for line in figure.axes[0].lines
        if np.allclose(line.get_ydata(), 50 * np.log(10**6) + 3)
    ]
    assert len(levels) == 1
    assert "told (upper): 50.0 log t + 3.00 at t = $10^{6}$" in all_text(figure)
    late = replace(told, minimum_horizon=2 * 10**6)
    assert "(from 2,000,000 on)" in all_text(
        plots.regret(fake.comparison(), bounds=late)
    )


def test_bound_over_another_regret_is_refused():
    with pytest.raises(ValueError, match="condorcet_mean regret"):
        plots.regret(fake.comparison(), bounds=bound(regret="condorcet_mean"))


def test_bounds_of_a_tied_matrix_are_said_to_be_undefined():
    figure = plots.regret(fake.comparison({"arxiv": fake.TIED}, ("D-TS",)))
    assert "not defined (tie between 3 and 5)" in all_text(figure).replace("\n", " ")
    assert not dashed(figure.axes[0])


def test_bounds_per_environment_and_none():
    optimum = copeland_lower_bound(fake.CONDORCET)
    figure = plots.regret(
        fake.comparison(fake.TWO_MATRICES), bounds={"mslr5-condorcet": optimum}
    )
    assert [len(dashed(axes)) for axes in figure.axes] == [1, 0]
    figure = plots.regret(fake.comparison(fake.TWO_MATRICES), bounds=None)
    assert [len(dashed(axes)) for axes in figure.axes] == [0, 0]


@pytest.mark.parametrize("nonsense", ["lowest", 3.0, ["x"], [["lower"]]])
def test_nonsense_as_bounds(nonsense):
    with pytest.raises(ValueError, match="bounds must be"):
        plots.regret(fake.comparison(), bounds=nonsense)

"""Bounds over measured regret: slopes, levels, by name, and under a model."""

import json
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
import xarray as xr

import bayesduel
import theory
from bayesduel import plots
from bayesduel.analysis import measurements, summary
from bayesduel.analysis.anchored_bounds import lower_slope, model_known_by
from bayesduel.instances import choice
from bayesduel.plots.policy_looks import policy_looks
from bayesduel.plots.style import INK
from tests import fake_results as fake
from tests.figures import all_text, bounds_over, dashed
from theory import (
    PowerTerm,
    RegretBound,
    all_bounds,
    copeland_lower_bound,
    structured_lower_bound,
)
from theory.theorems import choice_table_bounds, pcomp_bound, rmed1_bound, rucb_bound


def bound(kind="upper", coefficient=10.0, **changes):
    fields = {"name": "a bound", "regret": "copeland", "minimum_horizon": 2}
    fields |= {"kind": kind, "log_coefficient": coefficient}
    return RegretBound(**(fields | changes))


def test_lower_bound_is_a_dashed_slope_from_a_checkpoint():
    tree = fake.comparison()
    axes = plots.regret(tree, anchor=1000).axes[0]
    line = dashed(axes)[0]
    rounds, values = line.get_data()
    assert (rounds[0], rounds[-1]) == pytest.approx((1000, 10**6))
    slope = (values[-1] - values[0]) / np.log(rounds[-1] / rounds[0])
    assert slope == pytest.approx(66.769318, rel=1e-6)
    nodes = tree["mslr5-condorcet"].children.values()
    lowest = min(float(x["regret"].sel(checkpoint=1000).mean()) for x in nodes)
    assert values[0] == pytest.approx(lowest)
    text = all_text(axes.figure)
    assert "slope 66.8" in text and "circle" in text


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
    circles = [x for x in axes.lines if x.get_marker() == "o"]
    assert sum(len(x.get_xdata()) < 2 for x in circles) == 2
    # That of one policy has its color, the other one is of all.
    assert [x.get_color() for x in (lower, upper)] == [INK, look["RMED1"].text_color]
    (shade,) = axes.patches
    assert (shade.get_x(), shade.get_x() + shade.get_width()) == (10**4, 10**6)
    text = all_text(axes.figure).replace("\n", " ")
    assert "Condorcet lower bound: slope 11.2" in text
    assert "RMED1 (asymptotic upper): slope 11.2" in text
    assert "circle: where the slope of a bound is drawn from;" in text
    assert "compare steepness, not height" in text


def test_a_policy_out_of_all_proportion_leaves_the_axis_and_is_named():
    tree = fake.comparison(labels=("D-TS", "RMED1", "RUCB"))
    usual = plots.regret(tree, bounds=None).axes[0].get_ylim()[1]
    node = tree["mslr5-condorcet"]["RUCB"]
    node["regret"] = node["regret"] * 100.0
    figure = plots.regret(tree, bounds=None)
    assert figure.axes[0].get_ylim()[1] < 1.5 * usual
    end = float(node["regret"].isel(checkpoint=-1).mean())
    assert f"Off the chart: RUCB ends at {end:,.0f}" in all_text(figure)
    logarithmic = plots.regret(tree, bounds=None, log_y=True)
    assert logarithmic.axes[0].get_ylim()[1] > end
    assert "Off the chart" not in all_text(logarithmic)


@pytest.mark.parametrize("horizon, slopes", [(1, 0), (2, 1), (50, 1)])
def test_a_slope_starts_after_the_first_round(horizon, slopes):
    """Runs of so few rounds record the first one, where no bound is defined."""
    rounds = np.unique([1, (horizon + 1) // 2, horizon])
    result = bounds_over(fake.comparison(labels=("D-TS",), rounds=rounds), "lower")
    drawn = [item.rounds[0] for item in result if item.rounds.size]
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
    (result,) = bounds_over(fake.comparison(), steep)
    assert result.text == "steep (upper): 2 t^0.25 log t"
    growth = replace(steep, kind="asymptotic upper")
    (result,) = bounds_over(fake.comparison(), growth, anchor=1000)
    assert "steep (asymptotic upper): 2 t^0.25 log t, from" in result.text


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("order only", "order of growth only"),
        ("worst-case lower", "for some instance"),
        ("unproved", "not proved as printed"),
    ],
)
def test_kinds_that_are_named_and_never_drawn(kind, words):
    (result,) = bounds_over(fake.comparison(), [bound(kind, coefficient=1.0)])
    assert words in result.text and not result.rounds.size


def test_asymptotic_upper_bound_starts_from_the_mean_of_its_policy():
    tree = fake.comparison()
    given = bound("asymptotic upper", 40.0, name="of D-TS", policy="D-TS")
    (result,) = bounds_over(tree, given, anchor=1000)
    mean = tree["mslr5-condorcet"]["D-TS"]["regret"].sel(checkpoint=1000).mean()
    # D-TS+ is another policy, and lower there.
    assert result.values[0] == pytest.approx(float(mean)) and result.rounds[0] == 1000
    assert result.values[-1] - result.values[0] == pytest.approx(40 * np.log(1000))
    words = "of D-TS (asymptotic upper): slope 40.0, from $10^{3}$ on (mean of D-TS)"
    assert result.text == words
    absent = replace(given, policy="CCB", condition="alpha = 0.6")
    (result,) = bounds_over(tree, absent)
    assert not result.rounds.size
    words = "(asymptotic upper, alpha = 0.6): CCB is not shown, not drawn"
    assert result.text.endswith(words)


def test_slope_with_a_log_log_term_is_bent():
    bent = bound("asymptotic upper", 5.0, name="bent", loglog_coefficient=90.0)
    (result,) = bounds_over(fake.comparison(), bent, anchor=1000)
    grown = bent(result.rounds) - bent(1000)
    assert result.values - result.values[0] == pytest.approx(grown)
    words = "5.00 log t + 90.0 log log t, from $10^{3}$ on (lowest mean)"
    assert result.text.endswith(words)


def test_upper_bound_for_a_known_horizon_is_a_level():
    answered = bound(coefficient=50.0, name="told", anytime=False, constant=3.0)
    (result,) = bounds_over(fake.comparison(), answered)
    np.testing.assert_allclose(result.values, 50 * np.log(10**6) + 3)
    assert result.text == "told (upper): 50.0 log t + 3.00 at t = $10^{6}$"
    late = replace(answered, minimum_horizon=2 * 10**6)
    (result,) = bounds_over(fake.comparison(), late)
    assert result.text.endswith("(from 2,000,000 on)")


def test_bounds_of_a_tied_matrix_are_said_to_be_undefined():
    result = bounds_over(fake.comparison({"arxiv": fake.TIED}, ("D-TS",)), "auto")
    assert "not defined (tie between 3 and 5)" in result[0].text
    assert not any(item.rounds.size for item in result)


def test_bounds_per_environment():
    optimum = copeland_lower_bound(fake.CONDORCET)
    tree = fake.comparison(fake.TWO_MATRICES)
    figure = plots.regret(tree, bounds={"mslr5-condorcet": optimum})
    assert [len(dashed(axes)) for axes in figure.axes] == [1, 0]


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ("lowest", "bounds must be"),
        (3.0, "bounds must be"),
        ([["lower"]], "bounds must be"),
        (bound(regret="condorcet_mean"), "condorcet_mean regret"),
        ("auto", "anchor must be one of the checkpoints.*got 1234"),
    ],
)
def test_nonsense_as_bounds(bounds, words):
    with pytest.raises(ValueError, match=words):
        bounds_over(
            fake.comparison(), bounds, anchor=1234 if bounds == "auto" else None
        )


UTILITIES = [3.0, 2.0, -1.0, -1.5, -2.0]
OBEYS = structured_lower_bound(UTILITIES).preferences
FREE, KNOWN = 2.9001, 2.4111
"""Constants of both classes, as in the documentation on structure."""

MODEL = {"posterior": {"name": "bradley-terry", "prior_scale": 3.0}}
TOLD = {"posterior": MODEL["posterior"] | {"covariates": True}}


def results(matrix=OBEYS, notions=("copeland",), **parameters):
    """Return results of policies on a matrix, by label."""
    given = parameters or {"D-TS": {"posterior": "beta"}, "BT-TS": MODEL}
    tree = fake.comparison({"bt": matrix}, tuple(given), notions=notions)
    for label, values in given.items():
        tree[f"bt/{label}"].attrs["parameters"] = json.dumps(values)
    return tree


def words(figure):
    return all_text(figure).replace("\n", " ")


def drawn_over(tree, bounds, notion="copeland"):
    """Return the bounds that have a curve."""
    return [item for item in bounds_over(tree, bounds, notion) if item.rounds.size]


def slope_of(curve):
    grown = curve.values[-1] - curve.values[0]
    return grown / np.log(curve.rounds[-1] / curve.rounds[0])


def test_every_policy_has_the_lower_bound_of_its_class():
    tree = results()
    free, known = summary(tree).rows
    assert free.lower_bound == pytest.approx(copeland_lower_bound(OBEYS).value)
    assert free.lower_bound == pytest.approx(FREE, abs=1e-3)
    assert known.lower_bound == pytest.approx(KNOWN, abs=1e-3)
    assert known.ratio == pytest.approx(known.slope.value / known.lower_bound)
    assert known.lower_bound_winner == free.lower_bound_winner == 0
    assert not known.note
    first, second = bounds_over(tree, "lower")
    assert slope_of(first) == pytest.approx(free.lower_bound)
    assert slope_of(second) == pytest.approx(known.lower_bound)
    for result, policy in ((first, "D-TS"), (second, "BT-TS")):
        mean = tree[f"bt/{policy}/regret"].sel(checkpoint=10**4).mean()
        assert result.values[0] == pytest.approx(float(mean))
        assert result.text.endswith(f", from $10^{{4}}$ on (mean of {policy})")
    assert "slope 2.90" in first.text
    assert second.text.startswith("Lower bound (bradley-terry): slope 2.41")


def test_slopes_show_both_constants():
    figure = plots.slopes(results(), from_round=1000)
    lines = [x for x in figure.axes[0].lines if x.get_linewidth() == 0.9]
    ends = [(line.get_xdata(), line.get_ydata()) for line in lines]
    result = sorted(np.ptp(y) / np.log(x[1] / x[0]) for x, y in ends)
    assert result == pytest.approx([KNOWN, FREE], abs=1e-3)
    text = words(figure)
    assert "2.9 per log-round" in text and "2.4 per log-round" in text


def test_where_the_matrix_does_not_obey_the_table_says_so_in_one_line():
    tree = results(fake.CONDORCET)
    free, known = summary(tree).rows
    assert free.lower_bound == pytest.approx(66.769318)
    assert known.lower_bound is known.ratio is None
    (note,) = summary(tree).notes()
    assert note == (
        "bt: lower bound over 'bradley-terry': not defined (the matrix must obey the "
        "model 'bradley-terry' within 1e-06; P(0 beats 2) misses that by 0.001767)"
    )
    free, known = bounds_over(tree, "lower")
    assert slope_of(free) == pytest.approx(66.769318)
    assert "lower bound over 'bradley-terry': not defined" in known.text
    assert not known.rounds.size
    alone = results(fake.CONDORCET, **{"BT-TS": MODEL})
    assert "not defined (the matrix must obey" in words(plots.slopes(alone))


def test_the_bound_of_the_gap_to_the_best_arm():
    tree = results(notions=("condorcet_mean",))
    _, known = summary(tree, notion="condorcet_mean").rows
    wanted = structured_lower_bound(UTILITIES, cost="gap").value
    assert known.lower_bound == pytest.approx(wanted, rel=1e-5)
    *_, note = measurements(tree)[1].lower_slope("borda")
    assert note.endswith("not for borda")


def test_features_of_the_instance_give_policies_that_find_them_a_bound_of_their_own():
    features = np.array([[1.0, 0.2], [0.5, -0.4], [-0.3, 0.9], [-1.0, 0.1]])
    utilities = features @ [1.5, 0.3]
    collected = {"D-TS": {"posterior": "beta"}, "BT-TS": {"posterior": "linear"}}
    tree = results(1 / (1 + np.exp(utilities - utilities[:, None])), **collected)
    free, known = summary(tree).rows
    assert known.lower_bound is None
    assert "none is known for policies over 'linear'" in summary(tree).notes()[0]
    tree["bt/features"] = xr.DataArray(features, dims=("arm", "feature"))
    known = summary(tree).rows[1]
    assert not summary(tree).notes()
    wanted = structured_lower_bound(utilities, features=features).value
    assert known.lower_bound == pytest.approx(wanted, rel=1e-5)
    assert wanted < 0.9 * free.lower_bound


def test_ratios_are_over_the_constant_of_the_class_of_a_policy():
    tree = results()
    figure = plots.slope_ratios(tree)
    measured = [row.slope.value for row in summary(tree).rows]
    drawn = [
        float(container.lines[0].get_ydata()[0])
        for container in figure.axes[0].containers
    ]
    free, known = copeland_lower_bound(OBEYS), structured_lower_bound(UTILITIES)
    ratios = np.divide(measured, [free.value, known.value])
    np.testing.assert_allclose(drawn, ratios, rtol=1e-5)
    assert "over $C^*$ of its class" in words(figure)
    assert "$C^*$ of BT-TS is that under bradley-terry" in words(figure)
    # A matrix that does not obey the model.
    second = plots.slope_ratios(results(fake.CONDORCET))
    assert len(second.axes[0].containers[1].lines[0].get_ydata()) == 0
    assert "without BT-TS on bt (no lower bound)" in words(second)
    assert "of its class" not in words(second)


@pytest.mark.parametrize(
    ("parameters", "model"),
    [
        ({}, ""),
        ({"posterior": "beta"}, ""),
        ({"posterior": {"name": "beta", "prior": 2}}, ""),
        ({"posterior": "thurstone-hmc"}, "thurstone"),
        ({"policy": {"name": "d-ts"} | MODEL, "every": 10}, "bradley-terry"),
        ({"policy": TOLD}, "bradley-terry with features of its own"),
    ],
)
def test_what_a_policy_knows_is_read_from_its_parameters(parameters, model):
    assert model_known_by(parameters) == model


def test_a_model_is_solved_once_for_all_policies_over_it(monkeypatch):
    solve = mock.Mock(side_effect=structured_lower_bound)
    monkeypatch.setattr(theory, "structured_lower_bound", solve)
    collected = {"BT-TS": MODEL, "RD-TS": {"posterior": "bradley-terry-hmc"}}
    measured = measurements(results(**collected))
    summary(measured)
    plots.regret(measured)
    plots.slopes(measured)
    assert solve.call_count == 1


def test_bounds_by_name():
    tree = results(fake.CONDORCET, **{"D-TS": {"alpha": 0.6}, "RUCB": {"alpha": 2.0}})
    lower, general, refined = drawn_over(tree, ["lower", "d-ts"])
    assert lower.text.startswith("Copeland lower bound: slope 66.8")
    applied, _ = all_bounds(fake.CONDORCET, policy="D-TS", parameters={"alpha": 0.6})
    assert slope_of(general) == pytest.approx(applied.bounds[0].log_coefficient)
    assert "log log t" in refined.text
    # By acronym, and a single name, the same; asked for twice, drawn once.
    for name in ("D-TS", ["d-ts"], ["d-ts", "D-TS"]):
        texts = [item.text for item in drawn_over(tree, name)]
        assert texts == [general.text, refined.text]


def test_a_theorem_far_above_makes_the_axis_logarithmic():
    notion = "condorcet_mean"
    tree = results(fake.CONDORCET, (notion,), **{"RUCB": {"alpha": 2.0}})
    bound = rucb_bound(fake.CONDORCET, alpha=2.0)
    figure = plots.regret(tree, notion=notion, bounds="rucb")
    axes = figure.axes[0]
    (result,) = drawn_over(tree, "rucb", notion)
    assert result.values[-1] == pytest.approx(bound(10**6))
    assert axes.get_yscale() == "log" and axes.get_ylim()[1] > bound(10**6)
    assert "above the ax" not in words(figure)
    # Nobody asked for it here, and it is left out; or the axis is as it was wished.
    assert plots.regret(tree, notion=notion).axes[0].get_yscale() == "linear"
    linear = plots.regret(tree, notion=notion, bounds="rucb", log_y=False)
    assert "(above the axes)" in words(linear)


def test_a_bound_a_little_above_only_raises_the_axis():
    tree = results(fake.CONDORCET, **{"D-TS": {}})
    top = plots.regret(tree, bounds=None).axes[0].get_ylim()[1]
    twice = 2 * top / np.log(10**6)
    given = {"log_coefficient": twice, "kind": "upper", "regret": "copeland"}
    bound = RegretBound(name="own", **given)
    axes = plots.regret(tree, bounds=bound).axes[0]
    assert axes.get_yscale() == "linear"
    assert axes.get_ylim()[1] > 2 * top


def test_a_bound_on_another_regret_says_which_option_draws_it():
    tree = results(fake.CONDORCET, **{"RMED1": {}})
    with pytest.raises(ValueError, match="RMED1 speaks of condorcet_mean") as caught:
        bounds_over(tree, ["lower", "rmed1"])
    assert "(--regret condorcet_mean) draws it, once the sim" in str(caught.value)
    both = results(fake.CONDORCET, ("copeland", "condorcet_mean"), **{"RMED1": {}})
    with pytest.raises(ValueError, match="draws it$"):
        bounds_over(both, "rmed1")
    assert len(drawn_over(both, ["lower", "rmed1"], "condorcet_mean")) == 2


def test_names_of_policies_that_are_not_shown_or_have_no_theorem():
    tree = results(fake.CONDORCET, **{"D-TS": {}})
    with pytest.raises(ValueError, match="policies: d-ts, .*rmed1"):
        bounds_over(tree, "rd-ts")
    with pytest.raises(ValueError, match="did you mean lower"):
        bounds_over(tree, "lowr")
    result = bounds_over(tree, "ecw-rmed")
    assert any("ECW-RMED is not shown, not drawn" in item.text for item in result)
    cyclic = results(fake.NON_CONDORCET, ("condorcet_mean",), **{"RMED1": {}})
    (result,) = bounds_over(cyclic, "rmed1", "condorcet_mean")
    said = "RMED1: not defined (matrix[0, 1] must be above 1/2: the theorem needs"
    assert said in result.text


def test_of_two_forms_of_a_policy_the_theorem_is_about_one():
    """And batched policies have theorems, in the regret of gaps."""
    notion = "condorcet_mean"
    forms = {
        "PCOMP": {"elimination": "kl", "num_batches": 4},
        "PCOMP:elimination=hoeffding": {"elimination": "hoeffding", "num_batches": 4},
        "SCOMP2": {"num_batches": 4},
    }
    tree = results(OBEYS, (notion,), **forms)
    result = bounds_over(tree, ["pcomp", "scomp2"], notion)
    levels = [item.values[0] for item in result if item.values.size]
    for worst_case in (False, True):
        level = pcomp_bound(OBEYS, 4, worst_case=worst_case)(10**6)
        assert any(np.isclose(value, level) for value in levels)
    texts = " ".join(item.text for item in result)
    assert "not of 'kl'" not in texts
    assert "SCOMP2, 9 batches: order of growth only, not drawn" in texts
    del forms["PCOMP:elimination=hoeffding"]
    alone = bounds_over(results(OBEYS, (notion,), **forms), "pcomp", notion)
    assert any("not of 'kl'" in item.text for item in alone)


def test_all_are_those_of_the_policies_shown():
    tree = results(fake.CONDORCET, **{"D-TS": {}, "RMED1": {}})
    # The lower bound and both theorems on D-TS; that on RMED1 is of another regret.
    assert len(drawn_over(tree, "all")) == 3
    # Only the first of these fits on the axes.
    assert len(drawn_over(tree, "auto")) == 1


def test_applied_theorems_and_structured_optima_are_bounds():
    tree = results()
    assert len(drawn_over(tree, all_bounds(OBEYS, policy="D-TS"))) == 2
    (missing,) = all_bounds(fake.NON_CONDORCET, policy="RMED1")
    (result,) = bounds_over(tree, [missing])
    assert "beats all others" in result.text
    (result,) = drawn_over(tree, structured_lower_bound(UTILITIES))
    assert slope_of(result) == pytest.approx(KNOWN, abs=1e-3)
    with pytest.raises(ValueError, match="whose cost is a regret"):
        bounds_over(tree, structured_lower_bound(UTILITIES, cost="duels"))


@pytest.mark.slow
def test_results_of_few_sets_hold_what_their_theorems_are_about(tmp_path):
    camera, names = choice.load_world("camera"), ["ucb-no-order", "random-subsets"]
    compared = bayesduel.compare(camera, names, num_runs=2, horizon=200, seed=1)
    bayesduel.results.save(compared, tmp_path / "camera.nc")
    tree = bayesduel.results.load(tmp_path / "camera.nc")
    for result in (compared, tree):
        shown = {"notion": camera.default_notion, "bounds": "ucb-no-order"}
        axes = plots.regret(result, **shown).axes[0]
        drawn = [float(line.get_ydata()[-1]) for line in axes.lines]
        for bound in choice_table_bounds(camera.table()):
            assert any(np.isclose(value, bound(200)) for value in drawn)
        assert axes.get_yscale() == "log"
    measured = measurements(compared)[0]
    assert measured.choice_table.best_set == camera.best_set
    # With many sets the result has no table, and a text says so; duels have none.
    many = choice.multinomial_logit(np.linspace(0.9, 0.1, 20), 6)
    result = bayesduel.simulate(many, "ucb-no-order", num_runs=1, horizon=20)
    figure = plots.regret(result, notion=many.default_notion, bounds="ucb-no-order")
    assert "does not hold what its theorems are about" in words(figure)
    assert measurements(results())[0].choice_table is None


def test_of_many_arms_the_bound_under_a_model_is_left_to_whoever_asks():
    scale = np.linspace(-1.5, 1.5, 41)
    matrix = 1 / (1 + np.exp(scale[:, None] - scale))
    bound, _, note = lower_slope(matrix, (), "copeland", "bradley-terry")
    assert bound is None and "not computed for 41 arms" in note
    assert lower_slope(matrix, (), "copeland")[0] is not None


@pytest.mark.parametrize("width", ["full", "column"])
def test_many_bounds_are_letters_on_their_curves(width):
    """The text that explains them leaves the figure to the curves."""
    tree = results(fake.CONDORCET, **{"D-TS": {}, "D-TS+": {}, "ECW-RMED": {}})
    asked = ["lower", "d-ts", "d-ts+", "ecw-rmed"]
    curves = [each for each in bounds_over(tree, asked) if each.values.size]
    assert len(curves) == 7
    figure = plots.regret(tree, bounds=asked, width=width)
    (axes,) = figure.axes
    figure.canvas.draw()
    letters = [text for text in axes.texts if text.get_text() in "abcdefg"]
    assert [text.get_text() for text in letters] == list("abcdefg")
    for text, curve in zip(letters, curves, strict=True):
        x, y = text.get_position()
        at = np.interp(np.log(x), np.log(curve.rounds), curve.values)
        assert y == pytest.approx(at, rel=1e-6)
    # No letter covers another.
    boxes = [text.get_window_extent() for text in letters]
    for index, box in enumerate(boxes):
        assert not box.count_overlaps(boxes[:index])
    (entry,) = axes.get_legend().get_texts()
    assert entry.get_text().count("asymptotic upper") == 1
    for letter in "abcdefg":
        assert f"({letter})\N{NO-BREAK SPACE}" in entry.get_text()
    share = entry.get_window_extent()
    area = share.width * share.height / (figure.bbox.width * figure.bbox.height)
    # The line for each bound took 0.15 and 0.30.
    assert area < {"full": 0.1, "column": 0.16}[width]
    assert share.x1 <= figure.bbox.width


def test_bounds_that_are_not_drawn_have_no_letter():
    tree = results(fake.CONDORCET, **{"D-TS": {}, "D-TS+": {}, "ECW-RMED": {}})
    asked = [bound("order only"), "lower", "d-ts", "d-ts+", "ecw-rmed"]
    text = words(plots.regret(tree, bounds=asked))
    assert "(g)" in text and "(h)" not in text
    assert "; a bound: order of growth only, not drawn" in text


def test_few_bounds_have_a_line_each():
    tree = results(fake.CONDORCET, **{"D-TS": {}, "RMED1": {}})
    axes = plots.regret(tree, bounds=["lower", "d-ts"]).axes[0]
    entries = axes.get_legend().get_texts()
    assert [text.get_text().partition(":")[0] for text in entries] == [
        "Copeland lower bound",
        "D-TS (asymptotic upper, alpha = 0.51)",
        "D-TS, refined (asymptotic upper, alpha = 0.51)",
    ]

"""Figures of growth, against a parameter, and over runs and instances."""

import itertools
from itertools import product

import numpy as np
import pytest

import bayesduel
from bayesduel import plots
from bayesduel.analysis import AuditedRule, StoppingAudit, slope, summary
from tests import fake_results as fake
from tests.figures import all_text, dashed, means
from theory import (
    RegretBound,
    condorcet_lower_bound,
    copeland_lower_bound,
    ecw_rmed_constant,
)
from theory.theorems import ccb_order, double_thompson_refined_bound, rmed1_bound


def test_slopes_are_written_beside_the_lines():
    tree = fake.comparison(horizons=dict.fromkeys(
        [("mslr5-condorcet", label) for label in fake.POLICIES], 10**12
    ))  # fmt: skip
    figure = plots.slopes(tree, from_round=10**6)
    text = all_text(figure)
    for label in fake.POLICIES:
        measured_slope = slope(tree[f"mslr5-condorcet/{label}"], 10**6, 10**12)
        assert (
            f"{measured_slope.value:.1f} ± {measured_slope.standard_error:.1f}" in text
        )
        assert label in text
    assert "66.8" in text
    assert "$10^{6}$ to $10^{12}$" in text
    lines = dashed(figure.axes[0])
    assert len(lines) == len(fake.POLICIES)
    for line in lines:
        rounds, values = line.get_data()
        grown = (values[1] - values[0]) / np.log(rounds[1] / rounds[0])
        assert grown == pytest.approx(66.769318, rel=1e-6)


def test_the_slope_of_the_figure_is_that_of_the_table():
    """One default for both: the last two decades."""
    tree = fake.comparison(horizons={("mslr5-condorcet", "D-TS"): 10**8},
                           labels=("D-TS",))  # fmt: skip
    text = all_text(plots.slopes(tree))
    (row,) = summary(tree).rows
    assert (row.slope.from_round, row.slope.to_round) == (10**6, 10**8)
    assert "$10^{6}$ to $10^{8}$" in text
    assert f"{row.slope.value:.1f} ± {row.slope.standard_error:.1f}" in text


def test_slopes_without_a_bound():
    figure = plots.slopes(fake.comparison({"arxiv": fake.TIED}, ("D-TS",)))
    assert "not defined" in all_text(figure)
    assert not dashed(figure.axes[0])
    figure = plots.slopes(fake.comparison(labels=("D-TS",)), bound=None)
    assert "lower bound" not in all_text(figure)


def upper_of(policy, coefficient=70.0, **changes):
    fields = {"kind": "asymptotic upper", "regret": "copeland", "policy": policy}
    fields |= {"log_coefficient": coefficient} | changes
    return RegretBound(name="a bound", **fields)


def test_upper_bound_starts_on_the_line_of_its_policy():
    figure = plots.slopes(fake.comparison(), bound=upper_of("D-TS"), from_round=1000)
    (line,) = dashed(figure.axes[0])
    mean = fake.comparison()["mslr5-condorcet/D-TS/regret"].sel(checkpoint=1000).mean()
    assert line.get_ydata()[0] == pytest.approx(float(mean))
    text = all_text(figure)
    assert "upper bound" in text and "lower bound" not in text
    assert "a bound (asymptotic upper): 70.0 per log-round" in text.replace("\n", " ")


@pytest.mark.parametrize(
    ("bound", "words"),
    [
        (ccb_order(fake.CONDORCET), "CCB is 'order only'"),
        (upper_of("", kind="upper"), "must be asymptotic"),
        (double_thompson_refined_bound(fake.CONDORCET), "log log T"),
        (rmed1_bound(fake.CONDORCET), "condorcet_mean regret"),
        (upper_of("CCB"), "a bound is of CCB, not shown"),
        (3.0, "must be theory.RegretBounds"),
    ],
)
def test_slopes_refuse_bounds_that_are_no_slopes_of_theirs(bound, words):
    with pytest.raises(ValueError, match=words):
        plots.slopes(fake.comparison(), bound=bound)


def test_slopes_of_another_regret_have_the_bound_of_that_regret():
    tree = fake.comparison(notions=("condorcet_mean", "borda"))
    lines = dashed(plots.slopes(tree, notion="condorcet_mean").axes[0])
    assert len(lines) == len(fake.POLICIES)
    constant = condorcet_lower_bound(fake.CONDORCET).log_coefficient
    for line in lines:
        rounds, values = line.get_data()
        assert values[1] - values[0] == pytest.approx(constant * np.log(100))
        assert list(rounds) == [10**4, 10**6]
    row = summary(tree, notion="condorcet_mean").rows[0]
    assert row.lower_bound == pytest.approx(constant)
    assert row.lower_bound_winner == 0 and not row.note


ALPHAS = (0.51, 1.0, 2.0, 4.0)


def at_label(label):
    return f"mslr5-condorcet/{label}"


def over_alpha(values=ALPHAS, families=("D-TS", "RUCB"), **options):
    return fake.swept(
        {f"{f}:alpha={a}": {"alpha": a, "prior": 1} for f in families for a in values},
        **options,
    )


def final(tree, label, index=-1):
    return tree[at_label(label)]["regret"].to_numpy()[0, :, index]


def test_a_line_for_each_policy_with_its_standard_error():
    tree = over_alpha()
    figure = plots.sweep(tree)
    axes = figure.axes[0]
    assert len(means(axes)) == 2
    drawn = zip(("D-TS", "RUCB"), means(axes), axes.collections, strict=True)
    for family, line, band in drawn:
        assert list(line.get_xdata()) == list(ALPHAS)
        ends = band.get_paths()[0].vertices
        for alpha, mean in zip(*line.get_data(), strict=True):
            values = final(tree, f"{family}:alpha={alpha}")
            assert mean == pytest.approx(values.mean())
            error = values.std(ddof=1) / np.sqrt(values.size)
            at = ends[ends[:, 0] == alpha][:, 1]
            assert at.min() == pytest.approx(mean - error)
            assert at.max() == pytest.approx(mean + error)
    assert axes.get_xlabel() == "alpha"
    text = all_text(figure)
    for words in ("D-TS", "RUCB", "mean of 40 runs, band: ± 1 standard error",
                  "regret after $10^{6}$ rounds", "dotted: default, 0.51"):  # fmt: skip
        assert words in text
    # Both have the same, so it is drawn once.
    assert sum(list(line.get_xdata()) == [0.51, 0.51] for line in axes.lines) == 1


def test_two_values_are_not_joined_into_a_trend():
    tree = over_alpha((0.51, 1.0), ["D-TS"])
    level = fake.comparison(labels=("RMED1",))["mslr5-condorcet/RMED1"]
    tree[at_label("RMED1")] = level
    axes = plots.sweep(tree).axes[0]
    (points,) = axes.containers
    assert points.lines[0].get_linestyle() == "None"
    assert list(points.lines[0].get_xdata()) == [0.51, 1.0]
    for bar, alpha in zip(points.lines[2][0].get_segments(), (0.51, 1.0), strict=True):
        values = final(tree, f"D-TS:alpha={alpha}")
        error = values.std(ddof=1) / np.sqrt(values.size)
        assert np.ptp(bar[:, 1]) == pytest.approx(2 * error)
    # A policy without this parameter is one level.
    (line,) = means(axes)
    assert np.ptp(line.get_ydata()) == 0.0
    assert not plots.sweep(over_alpha((0.51, 1.0, 2.0))).axes[0].containers


@pytest.mark.parametrize(
    ("values", "scale"),
    [((1, 2, 5, 10), "log"), ((0.5, 1.0, 1.5, 2), "linear"), ((0, 1, 10), "linear")],
)
def test_the_axis_is_logarithmic_where_the_grid_is_geometric(values, scale):
    tree = over_alpha(values, ["RUCB"])
    axes = plots.sweep(tree).axes[0]
    assert axes.get_xscale() == scale
    assert axes.get_xlim()[1] == pytest.approx(max(values))
    if min(values) == 0:
        with pytest.raises(ValueError, match="log_x must be False where alpha is 0"):
            plots.sweep(tree, log_x=True)
    else:
        request = plots.sweep(tree, log_x=scale == "linear")
        assert request.axes[0].get_xscale() != scale


def test_rounds_have_a_panel_each():
    tree = over_alpha(families=["D-TS"])
    figure = plots.sweep(tree, at=[1000, 10**5])
    assert len(figure.axes) == 2
    rounds = tree[at_label("D-TS:alpha=1.0")]["checkpoint"].to_numpy()
    for axes, round_ in zip(figure.axes, (1000, 10**5), strict=True):
        index = int(np.flatnonzero(rounds == round_)[0])
        expected = final(tree, "D-TS:alpha=1.0", index).mean()
        assert means(axes)[0].get_ydata()[1] == pytest.approx(expected)
    assert "mslr5-condorcet, $10^{3}$ rounds" in all_text(figure)
    with pytest.raises(ValueError, match="at must be one of the checkpoints.*got 7"):
        plots.sweep(tree, at=7)


def told_late(*pairs):
    """Return results of a policy within another, for pairs of both parameters."""
    results = {}
    for alpha, every in pairs:
        inner = {"name": "rucb", "alpha": alpha}
        label = f"RUCB:alpha={alpha}, told every {every} rounds"
        results[label] = {"policy": inner, "every": every}
    return fake.swept(results)


def test_a_second_parameter_has_a_line_for_each_value():
    crossed = told_late(*product((1.0, 2.0, 4.0), (1, 10)))
    figure = plots.sweep(crossed, "alpha")
    assert len(means(figure.axes[0])) == 2
    assert "RUCB, every=10" in all_text(figure)
    second = plots.sweep(crossed, "every")
    assert len(second.axes[0].containers) == 3  # Two values, which are not joined.
    assert "RUCB, alpha=4" in all_text(second)


def test_a_parameter_that_moves_along_stands_on_the_axis():
    (axes,) = plots.sweep(told_late((1.0, 1), (2.0, 10), (4.0, 100)), "alpha").axes
    assert len(means(axes)) == 1
    assert axes.get_xlabel() == "alpha (with it every)"


def test_parameters_of_matrices():
    gaps = (0.05, 0.1, 0.2)
    names = [*(f"equal-gap:gap={gap},num_arms=5" for gap in gaps), "gap"]
    matrices = dict.fromkeys(names, fake.CONDORCET)
    tree = fake.comparison(matrices, labels=("D-TS", "RUCB"))
    figure = plots.sweep(tree)
    (axes,) = figure.axes
    assert axes.get_xlabel() == "gap"
    for label, line in zip(("D-TS", "RUCB"), means(axes), strict=True):
        assert list(line.get_xdata()) == list(gaps)
        for gap, mean in zip(*line.get_data(), strict=True):
            node = tree[f"equal-gap:gap={gap},num_arms=5/{label}"]
            assert mean == pytest.approx(node["regret"].to_numpy()[0, :, -1].mean())
    assert "without gap (no gap)" in all_text(figure).replace("\n", " ")


def test_what_takes_a_single_value_is_refused():
    with pytest.raises(ValueError, match="parameter must be one .* alpha, got 'be"):
        plots.sweep(over_alpha(), "beta")
    with pytest.raises(ValueError, match="alpha, got 'prior'"):
        plots.sweep(over_alpha(), "prior")


def test_survival_is_the_share_of_runs_with_at_least_that_regret():
    tree = fake.comparison(labels=("D-TS", "RUCB"))
    figure = plots.survival(tree, checkpoint=10**5)
    steps = [line for line in figure.axes[0].lines if len(line.get_xdata()) > 2]
    assert len(steps) == 2
    for line, label in zip(steps, ("D-TS", "RUCB"), strict=True):
        regret = tree[f"mslr5-condorcet/{label}/regret"].sel(checkpoint=10**5)
        values = regret.to_numpy().ravel()
        for x, share in zip(*line.get_data(), strict=True):
            assert share == pytest.approx((values >= x).mean())
        assert line.get_drawstyle() == "steps-pre"
    assert "40 runs, regret after $10^{5}$ rounds" in all_text(figure)
    (reference,) = (x for x in dashed(figure.axes[0]) if len(x.get_xdata()) == 2)
    x, y = reference.get_data()
    np.testing.assert_allclose(x * y, x[-1] * y[-1])
    assert y[-1] == pytest.approx(1 / 40)
    with pytest.raises(ValueError, match="every policy in it failed"):
        plots.survival(fake.failed_node("D-TS", "gap", "no memory"))
    with pytest.raises(ValueError, match="one of the checkpoints"):
        plots.survival(tree, checkpoint=12345)


@pytest.mark.parametrize(
    ("low", "high"),
    [(600, 900), (200, 2100), (370, 5200), (0.2, 40), (5, 4e3), (10, 3e6), (7, 7)],
)
def test_numbers_of_regret_do_not_overlap(low, high):
    tree = fake.comparison(labels=("RUCB",))
    regret = tree["mslr5-condorcet/RUCB/regret"]
    regret[:] = np.geomspace(low, high, 40)[:, None]
    figure = plots.survival(tree, width="column")
    figure.draw_without_rendering()
    axes = figure.axes[0]
    labels = axes.get_xticklabels(which="both")
    boxes = [label.get_window_extent() for label in labels if label.get_text()]
    middle = [(box.x0 + box.x1) / 2 for box in boxes]
    inside = [axes.bbox.x0 <= x <= axes.bbox.x1 for x in middle]
    shown = [*itertools.compress(boxes, inside)]
    assert len(shown) >= 2
    for left, right in itertools.pairwise(sorted(shown, key=lambda box: box.x0)):
        assert left.x1 + 2 < right.x0


def drawn_ratios(figure):
    """Return the points of each policy."""
    return [np.array(x.lines[0].get_xydata()) for x in figure.axes[0].containers]


def test_ratios_are_slopes_over_the_constant_of_the_lower_bound():
    matrices = {"mslr5-condorcet": fake.CONDORCET, "gap": bayesduel.load("gap").values}
    tree = fake.comparison(matrices, labels=("D-TS", "RUCB"))
    figure = plots.slope_ratios(tree, from_round=10**4)
    for label, drawn in zip(("D-TS", "RUCB"), drawn_ratios(figure), strict=True):
        for (where, ratio), (name, matrix) in zip(drawn, matrices.items(), strict=True):
            constant = copeland_lower_bound(matrix).value
            efficient = ecw_rmed_constant(matrix).value
            value = slope(tree[f"{name}/{label}"], 10**4, 10**6).value
            assert ratio == pytest.approx(value / constant)
            # The axis means something: no point is moved along it.
            assert where == pytest.approx(efficient / constant)
    level, diagonal = figure.axes[0].lines[-2:]
    assert list(level.get_ydata()) == [1.0, 1.0]
    np.testing.assert_array_equal(*diagonal.get_data())
    # Straight on the page from point to point, it is the diagonal between them, too.
    axes = figure.axes[0]
    page = axes.transData.transform(diagonal.get_xydata())
    between = axes.transData.inverted().transform((page[1:] + page[:-1]) / 2)
    np.testing.assert_allclose(between[:, 0], between[:, 1], rtol=1e-3)
    assert "$C_E/C^*$: mslr5-condorcet 1.00, gap " in all_text(figure)


def test_environments_of_one_ratio_of_constants_have_columns():
    """Side by side inside of a column, where the place along the axis says nothing."""
    for matrices in (fake.TWO_MATRICES, {"mslr5-condorcet": fake.CONDORCET}):
        tree = fake.comparison(matrices, labels=("D-TS", "RUCB"))
        figure = plots.slope_ratios(tree, from_round=10**4)
        axes = figure.axes[0]
        assert not axes.get_xlabel()
        shown = [label.get_text() for label in axes.get_xticklabels()]
        assert [text.partition("\n")[0] for text in shown] == list(matrices)
        assert all("$C_E / C^*$ = 1" in text for text in shown)
        first, second = drawn_ratios(figure)
        columns = np.arange(len(matrices))
        assert np.all(np.round(first[:, 0]) == columns)
        assert np.all(np.round(second[:, 0]) == columns)
        assert np.all(second[:, 0] - first[:, 0] > 0.1)


def test_ratios_leave_out_environments_without_constants_and_say_so():
    matrices = {"mslr5-condorcet": fake.CONDORCET, "arxiv": fake.TIED}
    tree = fake.comparison(matrices, labels=("D-TS",))
    text = all_text(plots.slope_ratios(tree)).replace("\n", " ")
    assert "1 instance," in text
    assert "without arxiv (no lower bound)" in text
    with pytest.raises(ValueError, match="no instance in it has a lower bound"):
        plots.slope_ratios(tree["arxiv"])
    with pytest.raises(ValueError, match="notion"):
        plots.slope_ratios(tree, notion="borda")


def audited():
    """An audit of two rules on two matrices, by hand."""
    votes = np.array([3, 12, -1, 40]), np.array([40, 40, 40, 40])
    wrong = np.array([True, True, False, False]), np.array([False, False, True, False])
    rules = tuple(
        AuditedRule(name, rule, *runs)
        for name in ("gap", "cyclic")
        for rule, *runs in zip(("p-value", "fixed"), votes, wrong, strict=True)
    )
    return StoppingAudit("D-TS", 0.1, 40, 1, 0, rules)


def test_false_stops_are_shares_of_runs_so_far():
    figure = plots.false_stops(audited())
    assert len(figure.axes) == 2
    quick, fixed, accepted = figure.axes[0].lines
    looked, share = quick.get_data()
    assert looked[0] == 1 and looked[-1] == 40
    expected = np.where(looked < 3, 0.0, np.where(looked < 12, 0.25, 0.5))
    np.testing.assert_allclose(share, expected)
    assert fixed.get_ydata()[-2:].tolist() == [0.0, 0.25]
    assert set(accepted.get_ydata()) == {0.1}
    text = all_text(figure).replace("\n", " ")
    assert "4 runs of at most 40 votes" in text
    assert "votes, looked at after each" in text


def test_rules_of_one_share_are_all_seen():
    """Three rules at 0 % have their colors in turn, over one band, and are named."""
    never = np.full(40, -1), np.zeros(40, bool)
    names = ("anytime", "posterior", "fixed")
    rules = tuple(AuditedRule("gap", name, *never) for name in names)
    figure = plots.false_stops(StoppingAudit("D-TS", 0.1, 40, 1, 0, rules))
    axes = figure.axes[0]
    lines = axes.lines[:3]
    assert len({line.get_color() for line in lines}) == 3
    painted = [_painted(line) for line in lines]
    assert np.all(np.sum(painted, axis=0) == 1)
    assert len(axes.collections) == 1
    assert axes.get_ylim()[1] >= axes.dataLim.ymax
    words = "no study stopped at a wrong arm: anytime, posterior, fixed"
    assert words in all_text(figure)
    # A rule of its own share is one line.
    lines = plots.false_stops(audited()).axes[0].lines
    assert not any(line.is_dashed() for line in lines)


def _painted(line):
    """Return at which of some places along a dashed line there is ink."""
    offset, (on, off) = line._unscaled_dash_pattern
    return (np.arange(0.5, 60.0) + offset) % (on + off) < on

"""Figures over runs and over instances: survival functions, ratios of slopes."""

import itertools

import numpy as np
import pytest

import bayesduel
from bayesduel import plots
from bayesduel.analysis import AuditedRule, StoppingAudit, slope
from tests import fake_results as fake
from tests.figures import all_text
from theory import copeland_lower_bound, ecw_rmed_constant


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
    (reference,) = [
        line
        for line in figure.axes[0].lines
        if len(line.get_xdata()) == 2 and line.get_linestyle() == "--"
    ]
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
    boxes = [each.get_window_extent() for each in labels if each.get_text()]
    shown = [
        box for box in boxes if axes.bbox.x0 <= (box.x0 + box.x1) / 2 <= axes.bbox.x1
    ]
    assert len(shown) >= 2
    for left, right in itertools.pairwise(sorted(shown, key=lambda box: box.x0)):
        assert left.x1 + 2 < right.x0


def drawn_ratios(figure):
    """Return the points of each policy."""
    return [
        np.array(container.lines[0].get_xydata())
        for container in figure.axes[0].containers
    ]


def test_ratios_are_slopes_over_the_constant_of_the_lower_bound():
    matrices = {"mslr5-condorcet": fake.CONDORCET, "gap": bayesduel.load("gap").values}
    tree = fake.comparison(matrices, labels=("D-TS", "RUCB"))
    figure = plots.slope_ratios(tree, from_round=10**4)
    for label, drawn in zip(("D-TS", "RUCB"), drawn_ratios(figure), strict=True):
        for (where, ratio), (name, matrix) in zip(drawn, matrices.items(), strict=True):
            constant = copeland_lower_bound(matrix).value
            efficient = ecw_rmed_constant(matrix).value
            found = slope(tree[f"{name}/{label}"], 10**4, 10**6).value
            assert ratio == pytest.approx(found / constant)
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
    tree = fake.comparison(
        {"mslr5-condorcet": fake.CONDORCET, "arxiv": fake.TIED}, labels=("D-TS",)
    )
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
    np.testing.assert_allclose(
        share, np.where(looked < 3, 0.0, np.where(looked < 12, 0.25, 0.5))
    )
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
    assert "no study stopped at a wrong arm: anytime, posterior, fixed" in all_text(
        figure
    )
    # A rule of its own share is one line.
    assert not any(
        line.is_dashed() for line in plots.false_stops(audited()).axes[0].lines
    )


def _painted(line):
    """Return at which of some places along a dashed line there is ink."""
    offset, (on, off) = line._unscaled_dash_pattern
    return (np.arange(0.5, 60.0) + offset) % (on + off) < on

"""Regret against a parameter: what is drawn is what was measured."""

from itertools import product

import numpy as np
import pytest

from bayesduel import plots
from tests import fake_results as fake
from tests.figures import all_text, means

ALPHAS = (0.51, 1.0, 2.0, 4.0)


def named(label):
    return f"mslr5-condorcet/{label}"


def over_alpha(values=ALPHAS, families=("D-TS", "RUCB"), **options):
    return fake.swept(
        {f"{f}:alpha={a}": {"alpha": a, "prior": 1} for f in families for a in values},
        **options,
    )


def final(tree, label, place=-1):
    return tree[named(label)]["regret"].to_numpy()[0, :, place]


def test_a_line_for_each_policy_with_its_standard_error():
    tree = over_alpha()
    figure = plots.sweep(tree)
    axes = figure.axes[0]
    assert len(means(axes)) == 2
    for family, line, band in zip(
        ("D-TS", "RUCB"), means(axes), axes.collections, strict=True
    ):
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
    tree[named("RMED1")] = level
    axes = plots.sweep(tree).axes[0]
    (points,) = axes.containers
    assert points.lines[0].get_linestyle() == "None"
    assert list(points.lines[0].get_xdata()) == [0.51, 1.0]
    for bar, alpha in zip(points.lines[2][0].get_segments(), (0.51, 1.0), strict=True):
        values = final(tree, f"D-TS:alpha={alpha}")
        error = values.std(ddof=1) / np.sqrt(values.size)
        assert np.ptp(bar[:, 1]) == pytest.approx(2 * error)
    # What has no such parameter is one level all along.
    (line,) = means(axes)
    assert np.ptp(line.get_ydata()) == 0.0
    assert not plots.sweep(over_alpha((0.51, 1.0, 2.0))).axes[0].containers


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ((1, 2, 5, 10), "log"),
        ((0.5, 1.0, 1.5, 2.0), "linear"),
        ((0, 1, 10), "linear"),
    ],
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
        asked = plots.sweep(tree, log_x=scale == "linear")
        assert asked.axes[0].get_xscale() != scale


def test_rounds_have_a_panel_each():
    tree = over_alpha(families=["D-TS"])
    figure = plots.sweep(tree, at=[1000, 10**5])
    assert len(figure.axes) == 2
    rounds = tree[named("D-TS:alpha=1.0")]["checkpoint"].to_numpy()
    for axes, round_ in zip(figure.axes, (1000, 10**5), strict=True):
        place = int(np.flatnonzero(rounds == round_)[0])
        assert means(axes)[0].get_ydata()[1] == pytest.approx(
            final(tree, "D-TS:alpha=1.0", place).mean()
        )
    assert "mslr5-condorcet, $10^{3}$ rounds" in all_text(figure)
    with pytest.raises(ValueError, match="at must be one of the checkpoints.*got 7"):
        plots.sweep(tree, at=7)


def told_late(*pairs):
    """Return results of a policy within another, for pairs of both parameters."""
    return fake.swept(
        {
            f"RUCB:alpha={alpha}, told every {every} rounds": {
                "policy": {"name": "rucb", "alpha": alpha},
                "every": every,
            }
            for alpha, every in pairs
        }
    )


def test_a_second_parameter_has_a_line_for_each_value():
    crossed = told_late(*product((1.0, 2.0, 4.0), (1, 10)))
    figure = plots.sweep(crossed, "alpha")
    assert len(means(figure.axes[0])) == 2
    assert "RUCB, every=10" in all_text(figure)
    other = plots.sweep(crossed, "every")
    assert len(other.axes[0].containers) == 3  # Two values, which are not joined.
    assert "RUCB, alpha=4" in all_text(other)


def test_a_parameter_that_moves_along_stands_on_the_axis():
    (axes,) = plots.sweep(told_late((1.0, 1), (2.0, 10), (4.0, 100)), "alpha").axes
    assert len(means(axes)) == 1
    assert axes.get_xlabel() == "alpha (with it every)"


def test_parameters_of_matrices():
    gaps = (0.05, 0.1, 0.2)
    matrices = {f"equal-gap:gap={gap},num_arms=5": fake.CONDORCET for gap in gaps} | {
        "gap": fake.CONDORCET
    }
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
    with pytest.raises(ValueError, match="result: no number among the parameters"):
        plots.sweep(fake.comparison())
    with pytest.raises(ValueError, match="parameter must be one .* alpha, got 'be"):
        plots.sweep(over_alpha(), "beta")
    with pytest.raises(ValueError, match="alpha, got 'prior'"):
        plots.sweep(over_alpha(), "prior")

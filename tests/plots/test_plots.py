"""Figures: what they show, what they say, and that they leave no trace."""

import subprocess
import sys
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesduel import plots
from bayesduel.plots.labels import spread
from bayesduel.plots.style import looks, width_in_inches
from tests import fake_results as fake
from tests.figures import all_text, dashed, means
from theory import PowerTerm, RegretBound, copeland_lower_bound


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


def test_regret_draws_the_mean_and_one_standard_error():
    tree = fake.comparison(labels=("D-TS",))
    axes = plots.regret(tree).axes[0]
    regret = tree["mslr5-condorcet/D-TS"]["regret"].values[0]
    (line,) = means(axes)
    assert np.allclose(line.get_ydata(), regret.mean(axis=0))
    error = regret.std(axis=0, ddof=1) / np.sqrt(regret.shape[0])
    corners = axes.collections[0].get_paths()[0].vertices
    assert corners[:, 1].max() == pytest.approx((regret.mean(axis=0) + error)[-1])
    assert axes.get_xscale() == "log"
    assert axes.get_xlabel() == "round t"
    assert axes.get_ylabel() == "cumulative Copeland regret"


def test_regret_with_quantiles_says_so():
    tree = fake.comparison(labels=("D-TS",))
    figure = plots.regret(tree, band="quantiles 10-90")
    regret = tree["mslr5-condorcet/D-TS"]["regret"].values[0]
    corners = figure.axes[0].collections[0].get_paths()[0].vertices
    high = np.quantile(regret[:, -1], 0.9)
    assert corners[:, 1].max() == pytest.approx(high)
    assert "10 % to 90 % quantiles" in all_text(figure)
    assert "mean of 40 runs" in all_text(figure)


def test_regret_says_how_many_runs_and_what_the_band_is():
    text = all_text(plots.regret(fake.comparison()))
    assert "mean of 40 runs, band: ± 1 standard error" in text


def test_regret_of_one_run_has_no_band():
    figure = plots.regret(fake.comparison(labels=("D-TS",), num_runs=1))
    assert not figure.axes[0].collections
    assert "1 run" in all_text(figure)
    assert "standard error" not in all_text(figure)


def test_lower_bound_is_a_dashed_slope_from_a_checkpoint():
    tree = fake.comparison()
    axes = plots.regret(tree, anchor=1000).axes[0]
    (line,) = dashed(axes)
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


def test_default_anchor_is_two_decades_before_the_horizon():
    (line,) = dashed(plots.regret(fake.comparison()).axes[0])
    assert line.get_xdata()[0] == pytest.approx(10**4)


@pytest.mark.parametrize("horizon, slopes", [(1, 0), (2, 2), (50, 1)])
def test_a_slope_starts_after_the_first_round(horizon, slopes):
    """Runs of so few rounds record the first one, where no bound is defined."""
    rounds = np.unique([1, (horizon + 1) // 2, horizon])
    lines = dashed(
        plots.regret(fake.comparison(labels=("D-TS",), rounds=rounds)).axes[0]
    )
    assert len(lines) == slopes
    assert all(line.get_xdata()[0] > 1 for line in lines)


def test_anchor_must_be_a_checkpoint():
    with pytest.raises(ValueError, match="anchor: 1234 is no checkpoint"):
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
    large = plots.regret(tree, bounds=bound(coefficient=3000.0, name="large"))
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


@pytest.mark.parametrize("nonsense", ["lower", 3.0, ["x"]])
def test_nonsense_as_bounds(nonsense):
    with pytest.raises(ValueError, match="bounds:"):
        plots.regret(fake.comparison(), bounds=nonsense)


def test_small_multiples_share_one_legend_and_the_look_of_a_policy():
    tree = fake.comparison(
        fake.TWO_MATRICES,
        horizons={("mslr5-non-condorcet", "RUCB"): 10**5},
        failed=None,
    )
    figure = plots.regret(tree)
    assert len(figure.axes) == 2
    titles = [axes.get_legend().get_title().get_text() for axes in figure.axes]
    assert titles == list(fake.TWO_MATRICES)
    assert len(figure.legends) == 1
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == list(fake.POLICIES)
    first, second = ([x.get_color() for x in means(axes)] for axes in figure.axes)
    assert first == second
    assert means(figure.axes[1])[-1].get_xdata()[-1] == 10**5


def test_columns_and_rows():
    environments = {f"env{index}": fake.CONDORCET for index in range(3)}
    tree = fake.comparison(environments, ("D-TS",))
    assert len(plots.regret(tree).axes) == 3
    positions = {
        round(float(axes.get_position().x0), 1)
        for axes in plots.regret(tree, columns=1).axes
    }
    assert len(positions) == 1
    with pytest.raises(ValueError, match="columns"):
        plots.regret(tree, columns=0)


def test_failed_policies_are_left_out():
    key = ("mslr5-condorcet", "RUCB")
    tree = fake.comparison(labels=("D-TS", "RUCB"), failed={key: "boom"})
    assert len(means(plots.regret(tree).axes[0])) == 1
    with pytest.raises(ValueError, match="every policy in it failed"):
        plots.regret(fake.comparison(labels=("RUCB",), failed={key: "boom"}))


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("band", "stderr", "band: must be one of"),
        ("notion", "weak", "was not recorded"),
        ("width", "wide", "'column' or 'full'"),
        ("width", 0.1, "1.5 to 40 inches"),
        ("labels", "inside", "labels: must be"),
    ],
)
def test_wrong_options(option, value, words):
    with pytest.raises(ValueError, match=words):
        plots.regret(fake.comparison(), **{option: value})


@pytest.mark.parametrize("log_x", [True, False])
@pytest.mark.parametrize("log_y", [True, False])
def test_axes_are_as_asked(log_x, log_y):
    figure = plots.regret(fake.comparison(), log_x=log_x, log_y=log_y)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    assert axes.get_xscale() == ("log" if log_x else "linear")
    assert axes.get_yscale() == ("log" if log_y else "linear")
    assert axes.get_xlim()[1] == pytest.approx(10**6)


def test_regret_of_zero_does_not_break_a_logarithmic_axis():
    node = fake.policy_node()
    node["regret"][:] = 0.0
    plots.regret(node, log_y=True).draw_without_rendering()
    plots.regret(node).draw_without_rendering()


def test_single_checkpoint_and_single_node():
    node = fake.policy_node(rounds=np.array([1000]))
    plots.regret(node).draw_without_rendering()


def label_boxes(figure):
    """Return the boxes of the texts right of the axes, after a drawing."""
    figure.draw_without_rendering()
    axes = figure.axes[0]
    return [
        text.get_window_extent() for text in axes.texts if text.get_text()
    ], figure.bbox


@pytest.mark.parametrize("width", ["column", "full"])
@pytest.mark.parametrize("draw", [plots.regret, plots.slopes])
def test_labels_cover_neither_each_other_nor_the_edge(draw, width):
    tree = fake.comparison(level=0.0, constant=66.0)
    boxes, page = label_boxes(draw(tree, width=width))
    assert len(boxes) >= len(fake.POLICIES)
    for index, box in enumerate(boxes):
        assert box.x1 <= page.x1 + 0.5
        assert page.y0 <= box.y0 <= box.y1 <= page.y1 + 0.5
        for other in boxes[index + 1 :]:
            wide = min(box.x1, other.x1) - max(box.x0, other.x0)
            high = min(box.y1, other.y1) - max(box.y0, other.y0)
            assert wide <= 0.5 or high <= 0.26 * box.height


@pytest.mark.parametrize("width", ["column", "full"])
def test_heads_and_legends_stay_inside_the_figure(width):
    figure = plots.regret(fake.comparison(fake.TWO_MATRICES), width=width)
    figure.draw_without_rendering()
    for legend in [*figure.legends, *(axes.get_legend() for axes in figure.axes)]:
        box = legend.get_window_extent()
        assert box.x0 >= figure.bbox.x0 - 0.5
        assert box.x1 <= figure.bbox.x1 + 0.5
        assert box.y1 <= figure.bbox.y1 + 0.5
    for axes in figure.axes:
        assert axes.bbox.height > 60
        assert axes.get_legend().get_window_extent().y0 >= axes.bbox.y1 - 1.0


def test_figures_leave_the_settings_and_pyplot_alone(tmp_path):
    before = dict(mpl.rcParams)
    figure = plots.regret(fake.comparison())
    plots.save(figure, tmp_path / "regret", ("png", "svg", "pdf"))
    plots.slopes(fake.comparison()).savefig(tmp_path / "slopes.png")
    assert dict(mpl.rcParams) == before
    if "matplotlib.pyplot" in sys.modules:
        assert not sys.modules["matplotlib.pyplot"].get_fignums()


def test_figures_import_neither_pyplot_nor_scipy_stats():
    code = (
        "import sys\nfrom tests import fake_results as fake\n"
        "from bayesduel import plots\n"
        "plots.regret(fake.policy_node()).draw_without_rendering()\n"
        "assert not {'matplotlib.pyplot', 'scipy.stats'} & {*sys.modules}\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_figures_look_the_same_under_foreign_settings(tmp_path):
    tree = fake.comparison(labels=("D-TS", "RUCB"))
    (plain,) = plots.save(plots.regret(tree), tmp_path / "plain", ("svg",))
    with mpl.rc_context({"font.size": 30, "axes.grid": True, "lines.linewidth": 9}):
        figure = plots.regret(tree)
    (foreign,) = plots.save(figure, tmp_path / "foreign", ("svg",))
    with mpl.rc_context({"xtick.labelsize": 30, "axes.edgecolor": "red"}):
        (other,) = plots.save(plots.regret(tree), tmp_path / "other", ("svg",))
    assert plain.read_bytes() == other.read_bytes()
    assert plain.stat().st_size == pytest.approx(foreign.stat().st_size, rel=0.5)


def test_saved_files_are_reproducible_and_of_the_asked_width(tmp_path):
    tree = fake.comparison(labels=("D-TS",))
    one = plots.save(plots.regret(tree), tmp_path / "one", ("svg", "png"))
    two = plots.save(plots.regret(tree), tmp_path / "two", ("svg", "png"))
    assert [path.name for path in one] == ["one.svg", "one.png"]
    assert one[0].read_bytes() == two[0].read_bytes()
    header = one[1].read_bytes()[16:24]
    assert int.from_bytes(header[:4], "big") == 2100
    assert plots.regret(tree, width="column").get_figwidth() == pytest.approx(3.4)


def test_notebooks_get_a_picture():
    picture = plots.regret(fake.policy_node())._repr_png_()
    assert picture.startswith(b"\x89PNG")


def test_looks_differ_and_avoid_yellow():
    given_looks = looks([f"policy {index}" for index in range(12)])
    assert len(set(given_looks.values())) == 12
    assert "#F0E442" not in {each.color for each in given_looks.values()}
    assert width_in_inches("column") == 3.4


@given(st.lists(st.floats(-3.0, 3.0), min_size=1, max_size=8), st.floats(0.01, 0.1))
def test_spread_keeps_order_distance_and_range(wanted, height):
    wanted = np.array(wanted)
    placed = spread(wanted, height, 0.0, 1.0)
    order = np.argsort(wanted, kind="stable")
    assert np.all(np.diff(placed[order]) >= height - 1e-9)
    assert placed.min() >= -1e-9
    assert placed.max() <= 1.0 + 1e-9


def test_spread_moves_as_little_as_possible():
    wanted = np.array([0.2, 0.5, 0.8])
    assert np.array_equal(spread(wanted, 0.1, 0.0, 1.0), wanted)
    together = spread(np.array([0.5, 0.5]), 0.1, 0.0, 1.0)
    assert np.allclose(together, [0.45, 0.55])

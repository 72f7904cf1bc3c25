"""Figures: what they show, what they say, and that they leave no trace."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesduel import plots
from bayesduel.plots.axes import spread
from bayesduel.plots.style import looks, width_in_inches
from tests import fake_results as fake
from tests.figures import all_text, means


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
    instances = {f"env{index}": fake.CONDORCET for index in range(3)}
    tree = fake.comparison(instances, ("D-TS",))
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
        ("band", "stderr", "band must be one of"),
        ("notion", "weak", "must be one that was recorded"),
        ("width", "wide", "'column' or 'full'"),
        ("width", 0.1, "1.5 to 40 inches"),
        ("labels", "inside", "labels must be"),
    ],
)
def test_wrong_options(option, value, words):
    with pytest.raises(ValueError, match=words):
        plots.regret(fake.comparison(), **{option: value})


@pytest.mark.parametrize(("log_x", "log_y"), [(True, False), (False, True)])
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


@pytest.mark.parametrize(
    ("draw", "width"), [(plots.regret, "column"), (plots.slopes, "full")]
)
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


def test_heads_and_legends_stay_inside_the_figure():
    figure = plots.regret(fake.comparison(fake.TWO_MATRICES), width="column")
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
    plots.save(figure, tmp_path / "regret", ("pdf",))
    plots.slopes(fake.comparison()).draw_without_rendering()
    assert dict(mpl.rcParams) == before
    if "matplotlib.pyplot" in sys.modules:
        assert not sys.modules["matplotlib.pyplot"].get_fignums()


@pytest.mark.slow
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
    two = plots.save(plots.regret(tree), tmp_path / "two", ("svg",))
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

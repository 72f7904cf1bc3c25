"""Figures: what they show and say, what they refuse, and that they leave no trace."""

import errno
import os
import re
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from bayesduel import analysis, papers, plots
from bayesduel.errors import OutputWriteError
from bayesduel.inference import fit
from bayesduel.models import PairwiseBeta
from bayesduel.plots.axes import spread
from bayesduel.plots.style import looks, width_in_inches
from bayesduel.votes import Comparisons
from tests import fake_results as fake
from tests.figures import all_text, means
from theory import copeland_lower_bound


def test_regret_draws_the_mean_and_one_standard_error():
    tree = fake.comparison(labels=("D-TS",))
    axes = plots.regret(tree).axes[0]
    regret = tree["mslr5-condorcet/D-TS"]["regret"].values[0]
    (line,) = means(axes)
    assert np.allclose(line.get_ydata(), regret.mean(axis=0))
    error = regret.std(axis=0, ddof=1) / np.sqrt(regret.shape[0])
    corners = axes.collections[0].get_paths()[0].vertices
    assert corners[:, 1].max() == pytest.approx((regret.mean(axis=0) + error)[-1])
    assert (axes.get_xscale(), axes.get_xlabel()) == ("log", "round t")
    assert axes.get_ylabel() == "cumulative Copeland regret"
    assert "mean of 40 runs, band: ± 1 standard error" in all_text(axes.figure)


@pytest.mark.parametrize("top", [0.3, 9.0, 11.0, 26.0, 4e3, 3e7])
def test_ticks_of_regret_say_where_they_stand(top):
    """Also where they are 2.5 apart."""
    tree = fake.comparison(labels=("D-TS",))
    node = tree["mslr5-condorcet/D-TS"]
    node["regret"] = node["regret"] * (top / float(node["regret"].mean("run").max()))
    axes = plots.regret(tree).axes[0]
    shown = [label.get_text().replace(",", "") for label in axes.get_yticklabels()]
    np.testing.assert_allclose([float(x) for x in shown], axes.get_yticks(), rtol=1e-9)


def test_regret_with_quantiles_says_so():
    tree = fake.comparison(labels=("D-TS",))
    figure = plots.regret(tree, band="quantiles 10-90")
    regret = tree["mslr5-condorcet/D-TS"]["regret"].values[0]
    corners = figure.axes[0].collections[0].get_paths()[0].vertices
    high = np.quantile(regret[:, -1], 0.9)
    assert corners[:, 1].max() == pytest.approx(high)
    assert "10 % to 90 % quantiles" in all_text(figure)


def test_regret_of_one_run_has_no_band():
    figure = plots.regret(fake.comparison(labels=("D-TS",), num_runs=1))
    assert not figure.axes[0].collections
    assert "1 run" in all_text(figure)
    assert "standard error" not in all_text(figure)


def test_small_multiples_share_one_legend_and_the_look_of_a_policy():
    horizons = {("mslr5-non-condorcet", "RUCB"): 10**5}
    tree = fake.comparison(fake.TWO_MATRICES, horizons=horizons, failed=None)
    figure = plots.regret(tree)
    titles = [axes.get_legend().get_title().get_text() for axes in figure.axes]
    assert titles == list(fake.TWO_MATRICES)
    assert len(figure.legends) == 1
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == list(fake.POLICIES)
    first, second = ([x.get_color() for x in means(axes)] for axes in figure.axes)
    assert first == second
    assert means(figure.axes[1])[-1].get_xdata()[-1] == 10**5


def test_columns():
    tree = fake.comparison(dict.fromkeys("abc", fake.CONDORCET), ("D-TS",))
    for columns, places in ((None, 2), (1, 1)):
        axes = plots.regret(tree, columns=columns, bounds=None).axes
        left = {round(float(panel.get_position().x0), 1) for panel in axes}
        assert (len(axes), len(left)) == (3, places)


def test_failed_policies_are_left_out():
    key = ("mslr5-condorcet", "RUCB")
    tree = fake.comparison(labels=("D-TS", "RUCB"), failed={key: "boom"})
    assert len(means(plots.regret(tree).axes[0])) == 1
    with pytest.raises(ValueError, match="every policy in it failed"):
        plots.regret(fake.comparison(labels=("RUCB",), failed={key: "boom"}))


@pytest.mark.parametrize(("log_x", "log_y"), [(True, False), (False, True)])
def test_axes_are_as_asked(log_x, log_y):
    tree = fake.comparison(labels=("D-TS",))
    figure = plots.regret(tree, log_x=log_x, log_y=log_y, bounds=None)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    assert axes.get_xscale() == ("log" if log_x else "linear")
    assert axes.get_yscale() == ("log" if log_y else "linear")
    assert axes.get_xlim()[1] == pytest.approx(10**6)


def test_no_regret_and_a_single_checkpoint_are_drawn():
    nothing = fake.policy_node()
    nothing["regret"][:] = 0.0
    plots.regret(nothing, log_y=True).draw_without_rendering()
    plots.regret(fake.policy_node(rounds=[1000])).draw_without_rendering()


def label_boxes(figure):
    """Return the boxes of the texts right of the axes, after a drawing."""
    figure.draw_without_rendering()
    axes = figure.axes[0]
    boxes = [text.get_window_extent() for text in axes.texts if text.get_text()]
    return boxes, figure.bbox


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
        for second in boxes[index + 1 :]:
            wide = min(box.x1, second.x1) - max(box.x0, second.x0)
            high = min(box.y1, second.y1) - max(box.y0, second.y0)
            assert wide <= 0.5 or high <= 0.26 * box.height


def test_heads_and_legends_stay_inside_the_figure():
    figure = plots.regret(fake.comparison(fake.TWO_MATRICES), width="column")
    figure.draw_without_rendering()
    for legend in [*figure.legends, *(axes.get_legend() for axes in figure.axes)]:
        box = legend.get_window_extent()
        assert figure.bbox.x0 - 0.5 <= box.x0 <= box.x1 <= figure.bbox.x1 + 0.5
        assert box.y1 <= figure.bbox.y1 + 0.5
    for axes in figure.axes:
        assert axes.bbox.height > 60
        assert axes.get_legend().get_window_extent().y0 >= axes.bbox.y1 - 1.0


@pytest.mark.slow
def test_figures_import_neither_pyplot_nor_scipy_stats():
    code = (
        "import sys\nfrom tests import fake_results as fake\n"
        "from bayesduel import plots\n"
        "plots.regret(fake.policy_node()).draw_without_rendering()\n"
        "assert not {'matplotlib.pyplot', 'scipy.stats'} & {*sys.modules}\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_figures_look_the_same_under_foreign_settings_and_leave_them(tmp_path):
    before = dict(mpl.rcParams)
    tree = fake.comparison(labels=("D-TS",))
    (plain,) = plots.save(plots.regret(tree), tmp_path / "plain", ("svg",))
    with mpl.rc_context({"font.size": 30, "axes.grid": True, "lines.linewidth": 9}):
        figure = plots.regret(tree)
    (foreign,) = plots.save(figure, tmp_path / "foreign", ("svg",))
    with mpl.rc_context({"xtick.labelsize": 30, "axes.edgecolor": "red"}):
        (second,) = plots.save(plots.regret(tree), tmp_path / "other", ("svg",))
    assert dict(mpl.rcParams) == before
    if "matplotlib.pyplot" in sys.modules:
        assert not sys.modules["matplotlib.pyplot"].get_fignums()
    assert plain.read_bytes() == second.read_bytes()
    assert plain.stat().st_size == pytest.approx(foreign.stat().st_size, rel=0.5)


def test_saved_files_are_of_the_asked_width(tmp_path):
    tree = fake.comparison(labels=("D-TS",))
    one = plots.save(plots.regret(tree), tmp_path / "one", ("svg", "png"))
    assert [path.name for path in one] == ["one.svg", "one.png"]
    header = one[1].read_bytes()[16:24]
    assert int.from_bytes(header[:4], "big") == 2100
    column = plots.regret(tree, width="column", bounds=None)
    assert column.get_figwidth() == pytest.approx(3.4)
    # As notebooks ask for it.
    assert column._repr_png_().startswith(b"\x89PNG")


def test_looks_differ_and_avoid_yellow():
    given_looks = looks([f"policy {index}" for index in range(12)])
    assert len(set(given_looks.values())) == 12
    assert "#F0E442" not in {given_look.color for given_look in given_looks.values()}
    assert width_in_inches("column") == 3.4


@given(st.lists(st.floats(-3.0, 3.0), min_size=1, max_size=8), st.floats(0.01, 0.1))
def test_spread_keeps_order_distance_and_range(wanted, height):
    wanted = np.array(wanted)
    placed = spread(wanted, height, 0.0, 1.0)
    order = np.argsort(wanted, kind="stable")
    assert np.all(np.diff(placed[order]) >= height - 1e-9)
    assert -1e-9 <= placed.min() <= placed.max() <= 1.0 + 1e-9


def test_spread_moves_as_little_as_possible():
    wanted = np.array([0.2, 0.5, 0.8])
    assert np.array_equal(spread(wanted, 0.1, 0.0, 1.0), wanted)
    together = spread(np.array([0.5, 0.5]), 0.1, 0.0, 1.0)
    assert np.allclose(together, [0.45, 0.55])


NODE = fake.policy_node(num_runs=9)
TREE = fake.comparison(labels=("D-TS", "RUCB"), num_runs=9)
ORDER = [[0.5, 0.6], [0.4, 0.5]]


def result(values, rounds=(10, 100), axes=("notion", "run", "checkpoint")):
    return xr.Dataset(
        {"regret": (axes, np.asarray(values)[None, None])},
        coords={"notion": ["copeland"], "checkpoint": list(rounds)},
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("results", "must be what bayesduel.simulate or bayesduel.compare returned"),
        (result([1.0, np.nan]), "is nan in row 0 at checkpoint 100"),
        (result([1.0, 2.0], rounds=[100, 10]), "must be at ascending checkpoints"),
        (result([1.0, 2.0], rounds=["a", "b"]), "must be at ascending checkpoints"),
        (result(["a", "b"]), "must hold numbers"),
        (xr.Dataset({"regret": ("x", [1.0, 2.0])}), "must have the axes notion, run"),
    ],
)
def test_results_of_another_layout(given, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        analysis.summary(given)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"band": "stderr"}, "band must be one of"),
        ({"notion": "weak"}, "must be one that was recorded"),
        ({"width": "wide"}, "'column' or 'full'"),
        ({"width": "1_0"}, "width must be"),
        ({"width": True}, "width must be from 1.5 to 40 inches"),
        ({"width": 0.1}, "width must be from 1.5 to 40 inches"),
        ({"height": -1}, "height must be from 0.5 to 200 inches"),
        ({"height": 0.6}, "leave room for the panels"),
        ({"labels": "inside"}, "labels must be"),
        ({"log_x": "no"}, "log_x must be True or False"),
        ({"columns": 0}, "columns must be an integer"),
    ],
)
def test_options_of_figures(options, words):
    with pytest.raises(ValueError, match=words):
        plots.regret(NODE, **options)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: analysis.slope(NODE, 100, np.nan), "to_round must be an integer"),
        (lambda: analysis.rankings(TREE, num_resamples=10**9), "at most 1000000"),
        (lambda: analysis.rankings(TREE, seed=-1), "seed must be an integer of at"),
        (lambda: analysis.rankings(TREE, peak="x"), "peak must be a number of at le"),
        (lambda: analysis.rankings(TREE, confidence=None), "confidence must be in (0"),
        (lambda: analysis.paired_intervals(np.zeros((9, 700)), num_resamples=10**6),
         "num_resamples must be at most 548"),
        (lambda: analysis.anchored_bound(copeland_lower_bound(ORDER), np.nan, 1.0),
         "anchor_round must be an integer of at least 2"),
        (lambda: analysis.lower_bound(ORDER, ("a",)), "must name each of the 2 arms"),
        (lambda: papers.SubmatrixConstants(()).values("__class__"),
         "name must be one of cw, ecw, ccb"),
        (lambda: papers.submatrix_constants(ORDER, 1, 2, overwrite="no"),
         "overwrite must be True or False"),
        (lambda: plots.allocation(ORDER, [1]), "optima must be a mapping"),
        (lambda: plots.allocation(ORDER, {"x": 1}), "optima['x'] must be a theory.Opt"),
        (lambda: papers.reproduction(TREE), "found must be what"),
        (lambda: plots.slopes(fake.comparison(fake.TWO_MATRICES)), "for one instance"),
        (lambda: plots.sweep(fake.comparison()), "result: no number among the param"),
    ],
)  # fmt: skip
def test_arguments(ask, words):
    with pytest.raises(ValueError, match=re.escape(words)):
        ask()


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda p: plots.forest(p, max_arms=0), "max_arms must be an integer"),
        (lambda p: plots.forest(p, by="borda"), "by must be one of score, rank"),
        (lambda p: plots.forest(None), "posterior must be a fit"),
        (lambda p: plots.heat_map([[0.5, 2.0], [0.4, 0.5]]), "values[0, 1] "),
        (lambda p: plots.pair(p, "0", "0"), "two different arms"),
        (lambda p: plots.pair(p, "0", "beer"), "pair must name arms of the fit, which"),
        (lambda p: plots.pair(p, "0", "1", probability=2), "probability must be in"),
        (lambda p: plots.pair(p, "0", "1", scale="glicko"), "scale must be"),
        (lambda p: plots.predictive_check(p, rng_key=-1), "from 0 to 2^63 - 1"),
        (lambda p: plots.coefficients(p), "a model with attributes"),
        (lambda p: plots.false_stops("gap"), "audit must be what"),
    ],
)
def test_arguments_of_figures_of_fits(draw, words):
    posterior = fit(
        PairwiseBeta(), Comparisons.from_wins([[0, 7], [3, 0]]), num_draws=25
    )
    with pytest.raises(ValueError, match=re.escape(words)):
        draw(posterior)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((None, "figure", ["svg"]), "figure must be a matplotlib figure"),
        ((Figure(), ".", ["svg"]), "stem must end with the name of a file"),
        ((Figure(), "figure", "svg"), "formats must be a sequence"),
        ((Figure(), "figure", ["svg", "exe"]), "formats must be one of"),
    ],
)
def test_what_is_saved(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=re.escape(words)):
        plots.save(*arguments)
    # Not even the first of the formats.
    assert not list(tmp_path.iterdir())


def test_a_full_disk_leaves_the_older_figure(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (path,) = plots.save(Figure(), tmp_path / "figure", ["svg"])
    before = path.read_bytes()
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputWriteError, match=r"figure\.svg: No space left on device"):
        plots.save(Figure((1, 1)), tmp_path / "figure", ["svg"])
    assert [file.name for file in tmp_path.iterdir()] == ["figure.svg"]
    assert path.read_bytes() == before

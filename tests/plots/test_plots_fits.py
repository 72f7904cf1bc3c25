"""Figures of fits and of allocations: what they show is what was computed."""

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from matplotlib import font_manager
from matplotlib.collections import PathCollection
from matplotlib.text import Text
from scipy.stats import beta

import bayesduel
from bayesduel import plots
from bayesduel.diagnostics import Calibration
from bayesduel.errors import FitError, MissingGlyphWarning
from bayesduel.inference import fit, standings
from bayesduel.models import ConditionalLogit, PairwiseBeta
from bayesduel.plots import posteriors, style
from bayesduel.plots.posteriors import short_names
from bayesduel.votes import Choices, Comparisons, Rankings
from theory import PreferenceMatrix, TieError, copeland_lower_bound, ecw_rmed_constant

NAMES = ("tea", "coffee", "milk", "water")
WINS = np.array([[0, 7, 9, 0], [3, 0, 6, 8], [1, 4, 0, 5], [0, 2, 5, 0]])


@cache
def fitted():
    votes = Comparisons.from_wins(WINS, arm_names=NAMES)
    return fit(PairwiseBeta(), votes, num_draws=2000, rng_key=2)


def caption(figure):
    return figure.get_supxlabel().replace("\n", " ")


def ticks(axis):
    return [get_ticklabel.get_text() for get_ticklabel in axis.get_ticklabels()]


def test_long_names_that_begin_alike_are_told_apart():
    names = [f"a very long slogan that costs $5, in its version {n}" for n in "abc"]
    written = short_names(names)
    assert len(set(written)) == 3
    assert all(len(item) <= 28 for item in written)


def test_a_dollar_at_the_cut_of_a_name_is_no_mathematics():
    for number in range(40):
        [name] = short_names(["x" * number + "$" + "y" * (40 - number)])
        assert name.count("\\") == name.count("$") == name.count(r"\$")


def test_forest_shows_the_table():
    figure = plots.forest(fitted(), probability=0.8)
    table = standings(fitted(), 0.8)
    axes = figure.axes[0]
    assert ticks(axes.yaxis) == table["arm"].values.tolist()
    thin, thick = axes.collections[:2]
    ends = np.array([line[:, 0] for line in thin.get_segments()])
    np.testing.assert_allclose(ends[:, 0], table["score_lower"])
    np.testing.assert_allclose(ends[:, 1], table["score_upper"])
    inner = np.array([line[:, 0] for line in thick.get_segments()])
    assert np.all(inner[:, 0] > ends[:, 0]) and np.all(inner[:, 1] < ends[:, 1])
    ranks = plots.forest(fitted(), by="rank").axes[0]
    full = standings(fitted())
    widths = [bar.get_width() for bar in ranks.patches]
    expected = full["rank_upper"] - full["rank_lower"] + 1
    np.testing.assert_allclose(widths, expected)
    few = plots.forest(fitted(), max_arms=2)
    assert len(ticks(few.axes[0].yaxis)) == 2
    assert "2 more arms left out" in caption(few)


def test_bars_are_the_winner_probabilities():
    axes = plots.winners(fitted()).axes[0]
    shares = fitted().winner_probabilities()
    shown = ticks(axes.yaxis)
    senses = ("condorcet", "copeland", "borda")
    for bars, sense in zip(axes.containers, senses, strict=True):
        for bar, name in zip(bars, shown, strict=True):
            assert bar.get_width() == pytest.approx(float(shares[sense].sel(arm=name)))
    assert shown[0] == shares["condorcet"].idxmax().item()


def test_heat_map_is_ordered_and_counts():
    figure = plots.heat_map(fitted())
    axes = figure.axes[0]
    order = standings(fitted())["arm"].values.tolist()
    assert ticks(axes.yaxis) == ticks(axes.xaxis) == order
    image = axes.images[0].get_array()
    probability = (
        fitted().probability_of_beating().sel(arm=order, opponent=order).values
    )
    off = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(np.asarray(image)[off], probability[off])
    texts = [text.get_text() for text in axes.texts]
    # Ten votes on each of five pairs, in both halves of the square.
    assert texts.count("10") == 10 and texts.count("0") == 2
    assert "5 of 6 pairs were compared (the others pale)" in caption(figure)


def test_heat_map_of_a_matrix_and_of_a_few_arms_fills_the_width():
    matrix = bayesduel.load("mslr5-non-condorcet")
    figure = plots.heat_map(matrix, max_arms=3)
    axes = figure.axes[0]
    order = [int(name) for name in ticks(axes.yaxis)]
    assert matrix.wins[order].tolist() == sorted(matrix.wins, reverse=True)[:3]
    image = np.ma.filled(axes.images[0].get_array(), np.nan)
    expected = matrix.values[np.ix_(order, order)]
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(image[off], expected[off])
    assert f"{expected[0, 1]:.2f}" in [text.get_text() for text in axes.texts]
    whole = plots.heat_map(np.asarray(matrix.values)).axes[0]
    assert ticks(whole.yaxis)[:3] == [*map(str, order)]
    figure.draw_without_rendering()
    assert axes.get_window_extent().width / figure.bbox.width > 0.7


def test_one_pair_against_its_votes():
    figure = plots.pair(fitted(), "tea", "coffee")
    axes = figure.axes[0]
    line = axes.lines[0]
    top = line.get_xdata()[np.argmax(line.get_ydata())]
    # The mode of Beta(8, 4).
    assert top == pytest.approx(0.7, abs=0.01)
    legend = axes.get_legend()
    assert "7 to 3" in legend.get_texts()[1].get_text()
    assert axes.get_ylabel() == "density" and len(axes.get_yticks()) > 2
    draws = np.concatenate([block[:, 0, 1] for block in fitted().matrices()])
    title = legend.get_title().get_text()
    assert f"probability of winning {draws.mean():.3f}" in title
    assert f"stronger (above 1/2) {np.mean(draws > 0.5):.3f}" in title
    figure.draw_without_rendering()
    # No line can cross it: it is above the axes.
    assert legend.get_window_extent().y0 >= axes.get_window_extent().y1


def test_one_pair_on_the_scale_of_elo():
    """400 points are odds of 10 to 1: shares of the curve are those of Beta(8, 4)."""
    axes = plots.pair(fitted(), "tea", "coffee", scale="elo").axes[0]
    points, height = axes.lines[0].get_data()
    below = np.concatenate([[0.0], np.cumsum(np.diff(points) * height[1:])])
    for elo, share in ((0.0, 1 / 2), (400.0, 10 / 11), (-100.0, 1 / (1 + 10**0.25))):
        of_curve = np.interp(elo, points, below)
        assert of_curve == pytest.approx(beta(8, 4).cdf(share), abs=0.01)
    assert axes.get_xlabel() == "Elo of tea minus that of coffee"
    draws = np.concatenate([block[:, 0, 1] for block in fitted().matrices()])
    low = 400 * np.log10(np.quantile(draws / (1 - draws), 0.05))
    assert f"90% in [{low:.0f}," in axes.get_legend().get_title().get_text()


def test_predictive_check_finds_what_does_not_fit():
    """A prior that pulls to 1/2 far harder than the votes allow."""
    good = plots.predictive_check(fitted())
    assert "0 of 5 pairs" in caption(good)
    votes = Comparisons.from_wins(4 * WINS, arm_names=NAMES)
    stubborn = fit(PairwiseBeta(prior=1e4), votes)
    bad = caption(plots.predictive_check(stubborn))
    assert int(bad.split("; ")[1].split()[0]) >= 3


def test_many_pairs_of_one_place_are_one_large_point(monkeypatch):
    monkeypatch.setattr(posteriors, "_MOST_ROWS", 0)
    wins = 2 * (np.ones((6, 6)) - np.eye(6))
    posterior = fit(PairwiseBeta(prior=50.0), Comparisons.from_wins(wins))
    axes = plots.predictive_check(posterior).axes[0]
    points = [
        collection
        for collection in axes.collections
        if isinstance(collection, PathCollection)
    ]
    areas = [point.get_sizes() for point in points if len(point.get_offsets())]
    assert sum(map(np.sum, areas)) == pytest.approx(15 * posteriors._POINT)
    assert max(map(np.max, areas)) > 10 * posteriors._POINT


def test_other_data_are_refused():
    ballots = Rankings.from_orders([["a", "b", "c"], ["b", "a", "c"]])
    posterior = fit(PairwiseBeta(), ballots.to_comparisons())
    second = replace(posterior, data=ballots)
    for draw in (plots.heat_map, plots.predictive_check):
        with pytest.raises(FitError, match="fit to Comparisons.*'Rankings'"):
            draw(second)


def test_names_with_signs_of_mathematics_are_saved_in_every_format(tmp_path):
    names = ["a" * 60, "cost $5 and $6", "ü", "x_1"]
    votes = Comparisons.from_wins(WINS, arm_names=names)
    figure = plots.forest(fit(PairwiseBeta(), votes, num_draws=100))
    paths = plots.save(figure, tmp_path / "figure", ("png", "svg", "pdf"))
    assert all(path.stat().st_size > 1000 for path in paths)


@pytest.mark.parametrize("tied, words", [(1, "7 to 3, 1 tie"), (2, "7 to 3, 2 ties")])
def test_one_tie_is_no_ties(tied, words):
    votes = Comparisons.from_wins([[0, 7], [3, 0]], ties=[[0, tied], [tied, 0]])
    posterior = fit(PairwiseBeta(ties=True), votes, num_draws=100)
    legend = plots.pair(posterior, "0", "1").axes[0].get_legend()
    assert legend.get_texts()[1].get_text().endswith(words)


def test_other_scripts_get_a_font_that_has_them_or_are_said(monkeypatch, tmp_path):
    names = ["東京", "Ålesund", "x", "y"]
    votes = Comparisons.from_wins(WINS, arm_names=names)
    posterior = fit(PairwiseBeta(), votes, num_draws=100)
    monkeypatch.setattr(style, "_families", lambda: {"Nothing": "no/such/font"})
    figure = plots.forest(posterior)
    with pytest.warns(MissingGlyphWarning, match="no installed font has 京東") as said:
        plots.save(figure, tmp_path / "figure", ("png", "svg"))
    assert len(said) == 1 and figure.missing == "京東"
    monkeypatch.undo()
    # The font of last resort, which comes with matplotlib too, has boxes for all.
    assert not any("Resort" in family for family in style._families())
    # STIX comes with matplotlib: has it what the usual font lacks?
    stix, usual = map(font_manager.findfont, ("STIXGeneral", style.USUAL_FONT))
    letter = min(style._letters(stix) - style._letters(usual))
    monkeypatch.setattr(style, "_families", lambda: {"STIXGeneral": stix})
    text = Text(text=f"a{letter}")
    assert not style.give_fonts([text])
    assert text.get_fontfamily() == [style.USUAL_FONT, "STIXGeneral"]


@pytest.mark.parametrize("mixed", [False, True])
def test_coefficients_in_units_that_can_be_compared(mixed):
    """The one that matters most on top; bars reach as far as 90 % of the persons."""
    rng = np.random.default_rng(2)
    table = rng.normal(size=(200, 3, 2)) * [0.01, 50.0]
    utility = table @ [40.0, -0.02] + rng.gumbel(size=(200, 3))
    best = utility.argmax(axis=1).tolist()
    choices = Choices.from_attributes(table, best, attribute_names=["small", "large"])
    posterior = fit(ConditionalLogit(), choices, num_draws=200)
    if mixed:
        spread = np.full((4, 200, 1), 0.5)
        draws = posterior.draws | {"standard_spread": spread}
        arrays = replace(posterior.arrays, varying=np.array([0]))
        posterior = replace(posterior, draws=draws, arrays=arrays)
    axes = plots.coefficients(posterior, width="column").axes[0]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["large", "small"]
    means = posterior.flat_draws()["standard_coefficient"].mean(axis=0)
    (points,) = [line for line in axes.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(points.get_xdata(), means[::-1])
    widths = [bar.get_width() for bar in axes.patches]
    np.testing.assert_allclose(widths, [0.0, 2 * 1.645 * 0.5] if mixed else [])


def test_bands_of_a_calibration_hold_whole_lines():
    """Uniform ranks stay inside in 95 of 100 cases, ranks in the middle in none."""
    rng = np.random.default_rng(8)
    uniform = rng.integers(0, 20, size=(40, 400))
    narrow = rng.integers(6, 14, size=(40, 3))
    result = Calibration(ranks={"right": uniform, "wrong": narrow}, num_draws=19)
    right, wrong = plots.calibration(result).axes
    inside = []
    for axes in (right, wrong):
        low, high = _edges(axes.collections[0], axes.lines[0].get_xdata())
        lines = np.array([line.get_ydata() for line in axes.lines])
        inside.append(np.all((lines >= low - 1e-9) & (lines <= high + 1e-9), axis=1))
    # Six standard errors of 400 lines; a band cannot be finer than the counts.
    assert 0.95 - 6 * 0.011 < inside[0].mean() < 1.0
    assert not inside[1].any()


def _edges(band, point):
    """Lower and upper edge of a filled band, at the points."""
    corners = band.get_paths()[0].vertices
    results = [corners[np.isclose(corners[:, 0], x), 1] for x in point]
    return np.array([y.min() for y in results]), np.array([y.max() for y in results])


def _panels(figure):
    return [axes for axes in figure.axes if axes.images and axes.get_title(loc="left")]


def _shown(axes):
    return np.ma.filled(axes.images[0].get_array().astype(float), np.nan)


def _off_diagonal(values):
    return values[~np.eye(len(values), dtype=bool)]


def _shuffled():
    """The Gap matrix with its arms moved: the order drawn is not that of numbers."""
    order = [3, 1, 4, 0, 2]
    matrix = bayesduel.load("gap")
    values = matrix.values[np.ix_(order, order)]
    return PreferenceMatrix(values, arm_names=["d", "b", "e", "a", "c"])


@cache
def shuffled():
    return plots.allocation(_shuffled())


@cache
def named(name, width="full"):
    return plots.allocation(bayesduel.load(name), width=width)


def test_panels_show_the_matrix_and_both_allocations_by_copeland_score():
    matrix = _shuffled()
    figure = shuffled()
    probability, lower, efficient = _panels(figure)
    # Wins 1, 2, 2, 3, 2; Borda scores of those with two wins: .5 each, so by number.
    order = [3, 1, 2, 4, 0]
    ordered = np.ix_(order, order)
    expected = _off_diagonal(matrix.values[ordered])
    assert np.allclose(_off_diagonal(_shown(probability)), expected)
    optima = copeland_lower_bound(matrix), ecw_rmed_constant(matrix)
    for axes, optimum in zip((lower, efficient), optima, strict=True):
        duels = optimum.duels_per_log_round[ordered]
        expected = np.where(duels > 0, duels, np.nan)
        shown, expected = _off_diagonal(_shown(axes)), _off_diagonal(expected)
        assert np.allclose(shown, expected, equal_nan=True)
        assert "winner 3" in axes.get_title(loc="left")
        labels = [label.get_text() for label in axes.get_xticklabels()]
        assert labels == ["3", "1", "2", "4", "0"]
        bold = [label.get_fontweight() for label in axes.get_xticklabels()]
        assert bold == ["bold", *["normal"] * 4]
    names = [label.get_text() for label in probability.get_yticklabels()]
    assert names == ["a  3", "b  1", "e  2", "c  4", "d  0"]
    assert "11.0" in lower.get_title(loc="left")
    assert "1253" in efficient.get_title(loc="left")
    assert lower.images[0].norm is efficient.images[0].norm


def test_dots_mark_the_superiors_of_the_row():
    matrix = _shuffled()
    axes = _panels(shuffled())[0]
    order = [3, 1, 2, 4, 0]
    places = axes.collections[0].get_offsets() - np.array([0.36, -0.36])
    marked = {(round(y), round(x)) for x, y in places}
    assert marked == {
        (row, column)
        for row, column in product(range(5), range(5))
        if order[column] in matrix.superiors(order[row])
    }


def test_numbers_stand_in_the_cells_of_small_matrices_only():
    texts = [text.get_text() for text in _panels(shuffled())[2].texts]
    assert texts.count("5000") == 2
    assert texts.count("5.2") == 6
    assert not _panels(named("sushi", "full"))[2].texts


@pytest.mark.parametrize(
    ("name", "width"),
    [("gap", "full"), pytest.param("sushi", 4.0, marks=pytest.mark.slow)],
)
def test_everything_is_inside_the_figure(name, width):
    figure = named(name, width)
    figure.draw_without_rendering()
    box = figure.get_tightbbox()
    wide, tall = figure.get_size_inches()
    assert box.x0 >= -0.01 and box.y0 >= -0.01
    assert box.x1 <= wide + 0.01 and box.y1 <= tall + 0.01
    # At most a twentieth of the height is left empty.
    assert tall - box.height < max(0.2, tall / 20)


def test_optima_can_be_chosen():
    matrix = bayesduel.load("gap")
    chosen = {"optimal": copeland_lower_bound(matrix)}
    figure = plots.allocation(matrix, chosen, height=3.0)
    titles = [axes.get_title(loc="left") for axes in _panels(figure)]
    assert titles == ["P(row beats column)", "optimal"]
    assert figure.get_figheight() == 3.0
    words = "16 arms, as the matrix, .*'optimal'.*, got 5"
    with pytest.raises(ValueError, match=words):
        plots.allocation(bayesduel.load("sushi"), chosen)


def test_what_has_no_constant_is_refused_or_drawn_alone():
    with pytest.raises(TieError):
        plots.allocation(bayesduel.load("arxiv"))
    assert len(_panels(plots.allocation(bayesduel.load("arxiv"), {}))) == 1


def test_no_exploration_at_all_is_drawn():
    """All arms of a cycle are winners, and stand in the order of their Borda scores."""
    cycle = [[0.5, 0.7, 0.4], [0.3, 0.5, 0.9], [0.6, 0.1, 0.5]]
    figure = plots.allocation(cycle)
    figure.draw_without_rendering()
    first, *rest = _panels(figure)
    assert len(rest) == 2
    assert [
        get_xticklabel.get_text() for get_xticklabel in first.get_xticklabels()
    ] == ["1", "0", "2"]
    labels = {axes.get_xlabel() for axes in figure.axes}
    assert "duels per unit of natural log T (white: none)" in labels
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "bold: Copeland winners" in legend
    assert any("superior" in text for text in legend)


@pytest.mark.parametrize(("name", "least"), [("gap", 7.0), ("sushi", 5.5)])
def test_numbers_and_labels_are_large_enough_to_be_read(name, least):
    figure = named(name, "full")
    for axes in _panels(figure):
        written = [*axes.texts, *axes.get_xticklabels(), *axes.get_yticklabels()]
        assert min(text.get_fontsize() for text in written) >= least

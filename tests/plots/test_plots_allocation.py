"""``plots.allocation``: what its panels show."""

from functools import cache

import numpy as np
import pytest

import bayesduel
from bayesduel import plots
from theory import PreferenceMatrix, TieError, copeland_lower_bound, ecw_rmed_constant


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
    return PreferenceMatrix(
        matrix.values[np.ix_(order, order)], arm_names=["d", "b", "e", "a", "c"]
    )


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
    assert np.allclose(
        _off_diagonal(_shown(probability)), _off_diagonal(matrix.values[ordered])
    )
    for axes, optimum in (
        (lower, copeland_lower_bound(matrix)),
        (efficient, ecw_rmed_constant(matrix)),
    ):
        duels = optimum.duels_per_log_round[ordered]
        expected = np.where(duels > 0, duels, np.nan)
        assert np.allclose(
            _off_diagonal(_shown(axes)), _off_diagonal(expected), equal_nan=True
        )
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
    marked = {
        (round(y), round(x))
        for x, y in axes.collections[0].get_offsets() - np.array([0.36, -0.36])
    }
    expected = {
        (row, column)
        for row in range(5)
        for column in range(5)
        if order[column] in matrix.superiors(order[row])
    }
    assert marked == expected


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
    with pytest.raises(
        ValueError, match="16 arms, as the matrix, .*'optimal'.*, got 5"
    ):
        plots.allocation(bayesduel.load("sushi"), chosen)


def test_what_has_no_constant_is_refused_or_drawn_alone():
    with pytest.raises(TieError):
        plots.allocation(bayesduel.load("arxiv"))
    assert len(_panels(plots.allocation(bayesduel.load("arxiv"), {}))) == 1


def test_no_exploration_at_all_is_drawn():
    """All arms of a cycle of three are winners: nothing costs anything.

    Arms of as many wins stand in the order of their Borda scores.
    """
    cycle = [[0.5, 0.7, 0.4], [0.3, 0.5, 0.9], [0.6, 0.1, 0.5]]
    figure = plots.allocation(cycle)
    figure.draw_without_rendering()
    first, *rest = _panels(figure)
    assert len(rest) == 2
    assert [each.get_text() for each in first.get_xticklabels()] == ["1", "0", "2"]
    assert "duels per unit of natural log T (white: none)" in {
        axes.get_xlabel() for axes in figure.axes
    }
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "bold: Copeland winners" in legend
    assert any("superior" in text for text in legend)


@pytest.mark.parametrize(("name", "least"), [("gap", 7.0), ("sushi", 5.5)])
def test_numbers_and_labels_are_large_enough_to_be_read(name, least):
    figure = named(name, "full")
    for axes in _panels(figure):
        written = [*axes.texts, *axes.get_xticklabels(), *axes.get_yticklabels()]
        assert min(text.get_fontsize() for text in written) >= least

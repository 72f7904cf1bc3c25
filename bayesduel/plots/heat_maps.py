"""``plots.heat_map``: P(row beats column) of a fit, or of a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import Normalize

from bayesduel.plots import style
from bayesduel.plots.allocation_maps import best_first
from bayesduel.plots.policy_looks import shown_maps, shown_names
from bayesduel.plots.posteriors import _caption, across_parts, check_pairs, short_names
from bayesduel.plots.style import StyledFigure
from theory import PreferenceMatrix
from theory.arguments import integer_from
from theory.preferences import as_preference_matrix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from bayesduel.inference import Fit

_WITH_NUMBERS = 12
_MOST_LABELS = 40
_SMALLEST = 7.5
"""Points from one label to the next."""


def heat_map(
    posterior: Fit | PreferenceMatrix | ArrayLike,
    *,
    max_arms: int = 136,
    colors: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    width: str | float = "full",
) -> StyledFigure:
    """Draw P(row beats column), of a fit with numbers of votes, the best arm first.

    Cells of pairs that were never compared are pale: there only the model speaks.

    Parameters
    ----------
    posterior : Fit, PreferenceMatrix or array-like (K, K)
        A fit to ``Comparisons``, or the matrix itself: its arms are ordered by Copeland
        score, then by Borda score, then by number.
    max_arms : int
        Only the best so many arms.
    colors : mapping, optional
        ``{"probabilities": "PuOr"}`` is the color map of matplotlib by default.
    names : mapping, optional
        What arms are called, by their names; those of a matrix may be numbers as text.
    width : "full" (7 in), "column" (3.4 in) or float
        Width in inches. Probabilities and numbers of votes are written into the cells
        of up to twelve arms.

    Raises
    ------
    FitError
        If the fit is to other data.

    Examples
    --------
    >>> import bayesduel
    >>> figure = bayesduel.plots.heat_map(bayesduel.load("mslr5-condorcet"))
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['0', '1', '2', '3', '4']
    """
    max_arms, inches = (
        integer_from(max_arms, 1, "max_arms"),
        style.width_in_inches(width),
    )
    fit: Any = posterior
    if isinstance(posterior, PreferenceMatrix | np.ndarray | list | tuple):
        fit, (names_of_arms, probability, votes) = None, _of_matrix(posterior, max_arms)
    else:
        names_of_arms, probability, votes = _of_fit(fit, max_arms)
    called = shown_names(names, names_of_arms, "arms")
    cmap = shown_maps(colors, {"probabilities": "PuOr"})["probabilities"]
    np.fill_diagonal(probability, np.nan)
    fonts = style.font_style(inches) | style.FRAMED
    count = len(names_of_arms)
    # A few arms need no whole page.
    tall = min(0.86 * inches, 0.55 * count + 1.2)
    with style.new_figure(inches, tall, fonts) as figure:
        axes = figure.add_subplot()
        # A few arms fill the width, many are square.
        aspect = "auto" if count <= _WITH_NUMBERS else "equal"
        image = axes.imshow(
            probability, cmap=cmap, norm=Normalize(0.0, 1.0), aspect=aspect
        )
        room = 0.7 * 72.0 * inches  # Points for all labels together.
        step = -(-count // min(_MOST_LABELS, int(room / _SMALLEST)))
        places = np.arange(0, count, step)
        labels = short_names(called[names_of_arms[place]] for place in places)
        axes.set_yticks(places, labels)
        usual = fonts["xtick.labelsize"]
        is_level = sum(map(len, labels)) * 0.7 * usual < room
        axes.set_xticks(places, labels, rotation=0 if is_level else 90)
        axes.tick_params(
            length=0, pad=2.0, labelsize=min(usual, 0.8 * room / len(places))
        )
        axes.set_ylabel("row")
        axes.set_xlabel("column")
        unseen = (
            np.zeros_like(probability, dtype=bool)
            if votes is None
            else (votes == 0) & ~np.eye(count, dtype=bool)
        )
        veil = np.ones((*unseen.shape, 4))
        veil[..., 3] = np.where(unseen, 0.6, 0.0)
        axes.imshow(veil, aspect=aspect)
        if count <= _WITH_NUMBERS:
            _write(axes, probability, votes, fonts["font.size"] - 1.5)
        figure.colorbar(image, ax=axes, label="P(row beats column)", pad=0.02)
        if votes is None:
            return figure
        seen = f"{int(np.sum(votes > 0)) // 2} of {count * (count - 1) // 2} pairs"
        words = f"{seen} were compared"
        if np.any(unseen):
            words += " (the others pale)"
        words = across_parts(fit, "probabilities") + words
        if count <= _WITH_NUMBERS:
            words += "; small numbers: votes"
        _caption(figure, fit, words)
    return figure


def _of_fit(
    posterior: Fit, max_arms: int
) -> tuple[list[str], NDArray[Any], NDArray[Any]]:
    """Return names, P(row beats column) and votes, the best arm first."""
    from bayesduel.inference import standings

    check_pairs(posterior, "heat_map")
    names = standings(posterior)["arm"].values[:max_arms].tolist()
    order = [posterior.arm_names.index(name) for name in names]
    square = np.ix_(order, order)
    wins, ties = posterior.data.wins, posterior.data.ties
    probability = posterior.probability_of_beating().values[square]
    return names, probability, (wins + wins.T + ties)[square]


def _of_matrix(
    given: PreferenceMatrix | ArrayLike, max_arms: int
) -> tuple[list[str], NDArray[Any], None]:
    """Return names and P(row beats column), the best arm first; there are no votes."""
    matrix = as_preference_matrix(given)
    order = best_first(matrix)[:max_arms]
    labels = matrix.arm_names or [str(arm) for arm in range(matrix.num_arms)]
    probability = np.array(matrix.values[np.ix_(order, order)])
    return [labels[arm] for arm in order], probability, None


def _write(
    axes: Axes, probability: NDArray[Any], votes: NDArray[Any] | None, size: float
) -> None:
    """Write probability and number of votes into every cell."""
    for (i, j), value in np.ndenumerate(probability):
        if np.isnan(value):  # An arm and itself, or two that no votes connect.
            continue
        seen = votes is None or votes[i, j]
        ink = "white" if abs(value - 0.5) > 0.3 and seen else style.INK
        middle: dict[str, Any] = {
            "ha": "center",
            "color": ink,
            "textcoords": "offset points",
        }
        if votes is None:
            axes.annotate(f"{value:.2f}", (j, i), (0, 0), va="center", fontsize=size,
                          **middle)  # fmt: skip
            continue
        axes.annotate(f"{value:.2f}", (j, i), (0, 1), va="bottom", fontsize=size,
                      **middle)  # fmt: skip
        axes.annotate(f"{votes[i, j]:g}", (j, i), (0, -1), va="top",
                      fontsize=size - 1.5, **middle)  # fmt: skip

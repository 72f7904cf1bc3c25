"""``plots.allocation`` and ``plots.heat_map``: tables of pairs as colors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.colors import Colormap, LogNorm, Normalize, TwoSlopeNorm
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, StrMethodFormatter

from bayesduel.analysis.text import format_number
from bayesduel.errors import ArgumentError
from bayesduel.plots import style
from bayesduel.plots.policy_looks import shown_maps, shown_names
from bayesduel.plots.posteriors import _caption, across_parts, check_pairs, short_names
from bayesduel.plots.style import StyledFigure
from theory import PreferenceMatrix, arguments
from theory.arguments import integer_from
from theory.preferences import as_preference_matrix

if TYPE_CHECKING:
    from jaxtyping import Int
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage
    from numpy.typing import ArrayLike, NDArray

    from bayesduel.inference import Fit
    from theory import Optimum, StructuredBound

    Allocated = Optimum | StructuredBound


# Both maps keep their order in every common color deficiency and in gray.
_PROBABILITIES, _DUELS = "PuOr", "cividis_r"
# Numbers in the cells up to this many arms, and every arm labelled up to that many.
_WITH_NUMBERS, _MANY_ARMS, _FEW_LABELS = 8, 24, 15
# Points of the numbers and labels, and widths of a digit that a number takes.
_SMALLEST, _LARGEST, _CHARACTERS = 5.5, 8.0, 2.8
# Dots on more arms would be a gray veil.
_WITH_DOTS = 40
# Pairs with less than this part of the most duels have none.
_TRACE = 1e-3
# Powers of ten alone would leave a shorter color bar without two ticks.
_FEW_DECADES = 100.0


class _Heat(NamedTuple):
    """One panel: a title, the numbers in the order drawn, and how to color them."""

    title: str
    values: NDArray[np.float64]
    cmap: Colormap
    norm: Normalize
    is_probability: bool = False


def allocation(
    matrix: PreferenceMatrix | ArrayLike,
    optima: Mapping[str, Allocated] | None = None,
    *,
    colors: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    width: str | float = "full",
    height: float | None = None,
) -> StyledFigure:
    """Draw the optimal exploration of a matrix, beside the matrix itself.

    The first panel shows P(row beats column), the others how often each pair duels per
    unit of log T (natural logarithm) in an allocation that attains the constant of
    CW-RMED (the asymptotic lower bound on Copeland regret) and of ECW-RMED. Optimal
    allocations need not be unique: one is drawn. Arms are ordered by Copeland score,
    best first; among equal scores by Borda score, then by number. A dot marks the
    superiors of the row's arm. Winners are bold; the winner that a panel explores for
    stands in its title.

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K)
    optima : mapping of str to theory.Optimum or theory.StructuredBound, optional
        Panels to draw, by their titles; by default the optima of both programs. Of a
        bound under a model, pairs with less than a thousandth of the most duels are
        left white: an interior-point method leaves traces.
    colors : mapping, optional
        Color maps of matplotlib by "probabilities" and "duels".
    names : mapping, optional
        What arms are called, by their names, or by their numbers as text.
    width : "full" (7 in), "column" (3.4 in) or float
        Width in inches. Below 5 inches the panels stand below each other.
    height : float, optional

    Raises
    ------
    TieError
        If two arms tie and no optima are given: the constants are not defined.
    ValueError
        If an optimum belongs to another number of arms, or the width is unknown.

    References
    ----------
    Komiyama, Honda and Nakagawa (2016), Theorems 2 and 4.

    Examples
    --------
    >>> import bayesduel
    >>> figure = bayesduel.plots.allocation(bayesduel.load("gap"))
    >>> [panel.get_title(loc="left") for panel in figure.axes[:3]]
    ['P(row beats column)', 'CW: winner 0, $C^*$ = 11.0', 'ECW: winner 0, $C_E$ = 1253']
    """
    from theory import Optimum, StructuredBound

    checked = as_preference_matrix(matrix)
    inches, height = style.width_in_inches(width), style.check_height(height)
    if not isinstance(optima, Mapping | None):
        raise ArgumentError("optima", "must be a mapping of titles to optima", optima)
    drawn = _optima(checked) if optima is None else dict(optima)
    for name, optimum in drawn.items():
        if not isinstance(name, str):
            raise ArgumentError("optima", "must have texts as titles", name)
        if not isinstance(optimum, StructuredBound):
            arguments.instance_of(optimum, Optimum, f"optima[{name!r}]")
        if len(_duels(optimum)) != checked.num_arms:
            rule = (
                f"must be of {checked.num_arms} arms, as the matrix, and that of "
                f"{name!r} too"
            )
            remedy = "compute it from this matrix"
            raise ArgumentError("optima", rule, len(_duels(optimum)), remedy=remedy)
    maps = shown_maps(colors, {"probabilities": _PROBABILITIES, "duels": _DUELS})
    if names:
        arms = checked.arm_names or [str(arm) for arm in range(checked.num_arms)]
        called = shown_names(names, arms, "arms")
        checked = replace(checked, arm_names=tuple(called[arm] for arm in arms))
    order = best_first(checked)
    side_by_side = inches >= 5.0
    panels = _panels(checked, drawn, order, maps)
    rows, columns = (1, len(panels)) if side_by_side else (len(panels), 1)
    wide = (inches - 0.4) / columns if side_by_side else inches - 0.9
    tall = rows * (wide + 0.9) + 1.2
    fonts = style.font_style(inches) | style.FRAMED
    with style.new_figure(inches, height or tall, fonts) as figure:
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        cell = wide / checked.num_arms * 72.0
        images = [
            _draw(*panel, checked, order, cell, first=index == 0 or not side_by_side)
            for index, panel in enumerate(zip(grid, panels, strict=True))
        ]
        # Draw one bar for the probabilities, and one for all allocations.
        where: dict[str, Any] = {"location": "bottom", "aspect": 30, "pad": 0.02}
        figure.colorbar(images[0], ax=grid[0], label="probability", **where)
        if len(images) > 1:
            label = "duels per unit of natural log T (white: none)"
            bar = figure.colorbar(images[1], ax=list(grid[1:]), label=label, **where)
            bar.minorticks_off()
            low, high = images[1].get_clim()
            if low is not None and high is not None and high / low < _FEW_DECADES:
                bar.locator = LogLocator(subs=(1.0, 2.0, 5.0))
                bar.formatter = StrMethodFormatter("{x:g}")
                bar.update_ticks()
        dots = checked.num_arms <= _WITH_DOTS
        dot = Line2D(
            [], [], linestyle="none", marker="o", color=style.INK, markersize=2.5,
            label="column beats row (a superior of the row's arm)",
        )  # fmt: skip
        bold = Patch(visible=False, label="bold: Copeland winners")
        legend = figure.legend(
            handles=[dot, bold] if dots else [bold],
            loc="outside lower center",
            ncols=min(columns, 2),
            borderpad=0.1,
        )
        for text in legend.get_texts():
            text.set_color(style.FAINT)
        if height is None:
            # Take away the height that square panels leave empty. Bars and gaps are
            # shares of the height: the second time takes what they give.
            for _ in range(2):
                figure.draw_without_rendering()
                needed = figure.get_tightbbox().height + 0.1
                figure.set_size_inches(figure.get_figwidth(), needed)
    return figure


def _optima(matrix: PreferenceMatrix) -> dict[str, Allocated]:
    from theory import copeland_lower_bound, ecw_rmed_constant

    lower, efficient = copeland_lower_bound(matrix), ecw_rmed_constant(matrix)
    return {
        f"CW: winner {lower.winner}, $C^*$ = {format_number(lower.value)}": lower,
        f"ECW: winner {efficient.winner}, $C_E$ = {format_number(efficient.value)}": (
            efficient
        ),
    }


def _duels(optimum: Allocated) -> NDArray[np.float64]:
    """Return the duels of every pair per unit of log T."""
    from theory import Optimum

    if isinstance(optimum, Optimum):
        return optimum.duels_per_log_round
    return np.where(optimum.duels >= _TRACE * optimum.duels.max(), optimum.duels, 0.0)


def best_first(matrix: PreferenceMatrix) -> Int[np.ndarray, " arm"]:
    """Best Copeland score first, then best Borda score, then smallest number."""
    # Rounded: equal scores must not be told apart by the last bit of a sum.
    borda = np.round(matrix.borda_scores, 12)
    return np.lexsort((np.arange(matrix.num_arms), -borda, -matrix.wins))


def _panels(
    matrix: PreferenceMatrix,
    optima: dict[str, Allocated],
    order: NDArray[np.intp],
    maps: Mapping[str, Colormap],
) -> list[_Heat]:
    """Return the matrix and the allocations in the order drawn, with their colors."""
    ordered = np.ix_(order, order)
    reach = max(float(np.abs(matrix.gaps).max()), 1e-3)
    panels = [
        _Heat(
            "P(row beats column)",
            matrix.values[ordered],
            maps["probabilities"],
            TwoSlopeNorm(0.5, 0.5 - reach, 0.5 + reach),
            is_probability=True,
        )
    ]
    duels = {name: _duels(optimum)[ordered] for name, optimum in optima.items()}
    positive = np.concatenate([table[table > 0] for table in duels.values()] or [[]])
    low = float(positive.min()) if positive.size else 1.0
    high = float(positive.max()) if positive.size else 1.0
    # A range of at least a factor of ten: equal numbers get a color inside of it.
    norm = LogNorm(min(low, high / 10**0.5), max(high, low * 10**0.5))
    cmap = maps["duels"]
    return panels + [_Heat(name, table, cmap, norm) for name, table in duels.items()]


def _draw(
    axes: Axes,
    panel: _Heat,
    matrix: PreferenceMatrix,
    order: NDArray[np.intp],
    cell: float,
    *,
    first: bool,
) -> AxesImage:
    """Draw one square of numbers; cells without duels stay white."""
    count = matrix.num_arms
    shown = np.where(panel.values > 0, panel.values, np.nan)
    if panel.is_probability:
        shown = panel.values.copy()
    np.fill_diagonal(shown, np.nan)
    image = axes.imshow(shown, cmap=panel.cmap, norm=panel.norm, aspect="equal")
    axes.set_title(panel.title)
    axes.plot([-0.5, count - 0.5], [-0.5, count - 0.5], color="#BBBBBB", linewidth=0.5)
    _label_arms(axes, matrix, order, cell, names=first)
    size = min(_LARGEST, cell * 0.8 / _CHARACTERS)
    if count <= _WITH_NUMBERS and size >= _SMALLEST:
        # Write every number into its cell, in ink that is readable there.
        digits = (
            ".2f" if np.allclose(shown, np.round(shown, 2), equal_nan=True) else ".3f"
        )
        for (i, j), value in np.ndenumerate(shown):
            if np.isnan(value):
                continue
            red, green, blue, _ = panel.cmap(float(panel.norm(value)))
            dark = 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.45
            # At most five characters.
            text = f"{value:.0f}" if value >= 99.5 else f"{value:.1f}"
            if value >= 99_950:
                text = f"{value / 1000:.0f}k"
            if panel.is_probability:
                text = f"{value:{digits}}"[1:] if value < 1 else "1"
            axes.text(
                j, i, text,
                ha="center", va="center", color="white" if dark else style.INK,
                fontsize=size,
            )  # fmt: skip
    if count <= _WITH_DOTS:
        # Put a dot into every cell whose column beats its row.
        gaps = matrix.gaps[np.ix_(order, order)]
        rows, columns = np.nonzero(gaps < 0)
        count = len(gaps)
        corner = 0.36 if count <= _WITH_NUMBERS else 0.0
        size = 3.0 if count <= _WITH_NUMBERS else (90.0 / count) ** 2 / 9.0
        axes.scatter(
            columns + corner, rows - corner, s=min(size, 5.0), color=style.INK,
            edgecolors="white", linewidths=0.3,
        )  # fmt: skip
    return image


def _label_arms(
    axes: Axes,
    matrix: PreferenceMatrix,
    order: NDArray[np.intp],
    cell: float,
    *,
    names: bool,
) -> None:
    """Label rows by number and name, columns by number; a few of very many arms."""
    count = matrix.num_arms
    step = 1 if count <= _MANY_ARMS else -(-count // _FEW_LABELS)
    step = max(step, math.ceil(_SMALLEST / (0.8 * cell)))
    places = np.arange(0, count, step)
    numbers = [str(order[row]) for row in places]
    axes.set_xticks(places, numbers, rotation=90 if count > 10 else 0)
    given = matrix.arm_names
    default = given is None or list(given) == [str(arm) for arm in range(count)]
    rows = numbers
    if names and not default and given is not None:
        rows = [f"{given[order[row]]}  {order[row]}" for row in places]
    axes.set_yticks(places, rows)
    size = min(float(mpl.rcParams["ytick.labelsize"]), 0.75 * cell * step)
    axes.tick_params(length=0, pad=1.5, labelsize=size)
    winners = set(matrix.copeland_winners)
    for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
        for label, row in zip(labels, places, strict=True):
            if int(order[row]) in winners:
                label.set_fontweight("bold")
    if names:
        axes.set_ylabel("arm, best Copeland score first")


_CELLS_WITH_NUMBERS = 12
_MOST_LABELS = 40
_LABEL_POINTS = 7.5  # Points from one label to the next.


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
    max_arms = integer_from(max_arms, 1, "max_arms")
    inches = style.width_in_inches(width)
    fit: Any = posterior
    if isinstance(posterior, PreferenceMatrix | np.ndarray | list | tuple):
        fit = votes = None
        matrix = as_preference_matrix(posterior)
        order = best_first(matrix)[:max_arms]
        labels = matrix.arm_names or [str(arm) for arm in range(matrix.num_arms)]
        names_of_arms = [labels[arm] for arm in order]
        probability = np.array(matrix.values[np.ix_(order, order)])
    else:
        from bayesduel.inference import standings

        check_pairs(fit, "heat_map")
        names_of_arms = standings(fit)["arm"].values[:max_arms].tolist()
        order = [fit.arm_names.index(name) for name in names_of_arms]
        square = np.ix_(order, order)
        wins, ties = fit.data.wins, fit.data.ties
        probability = fit.probability_of_beating().values[square]
        votes = (wins + wins.T + ties)[square]
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
        aspect = "auto" if count <= _CELLS_WITH_NUMBERS else "equal"
        image = axes.imshow(
            probability, cmap=cmap, norm=Normalize(0.0, 1.0), aspect=aspect
        )
        room = 0.7 * 72.0 * inches  # Points for all labels together.
        step = -(-count // min(_MOST_LABELS, int(room / _LABEL_POINTS)))
        places = np.arange(0, count, step)
        labels = short_names(called[names_of_arms[index]] for index in places)
        axes.set_yticks(places, labels)
        usual = fonts["xtick.labelsize"]
        is_level = sum(map(len, labels)) * 0.7 * usual < room
        axes.set_xticks(places, labels, rotation=0 if is_level else 90)
        axes.tick_params(
            length=0, pad=2.0, labelsize=min(usual, 0.8 * room / len(places))
        )
        axes.set_ylabel("row")
        axes.set_xlabel("column")
        unseen = np.zeros_like(probability, dtype=bool)
        if votes is not None:
            unseen = (votes == 0) & ~np.eye(count, dtype=bool)
        veil = np.ones((*unseen.shape, 4))
        veil[..., 3] = np.where(unseen, 0.6, 0.0)
        axes.imshow(veil, aspect=aspect)
        if count <= _CELLS_WITH_NUMBERS:
            _write(axes, probability, votes, fonts["font.size"] - 1.5)
        figure.colorbar(image, ax=axes, label="P(row beats column)", pad=0.02)
        if votes is None:
            return figure
        seen = f"{int(np.sum(votes > 0)) // 2} of {count * (count - 1) // 2} pairs"
        words = f"{seen} were compared"
        if np.any(unseen):
            words += " (the others pale)"
        words = across_parts(fit, "probabilities") + words
        if count <= _CELLS_WITH_NUMBERS:
            words += "; small numbers: votes"
        _caption(figure, fit, words)
    return figure


def _write(
    axes: Axes, probability: NDArray[Any], votes: NDArray[Any] | None, size: float
) -> None:
    """Write probability and number of votes into every cell."""
    for (i, j), value in np.ndenumerate(probability):
        if np.isnan(value):  # An arm and itself, or two that no votes connect.
            continue
        seen = votes is None or votes[i, j]
        ink = "white" if abs(value - 0.5) > 0.3 and seen else style.INK
        texts = [(f"{value:.2f}", 0, "center", size)]
        if votes is not None:
            count = f"{votes[i, j]:g}", -1, "top", size - 1.5
            texts = [(f"{value:.2f}", 1, "bottom", size), count]
        for text, above, edge, points in texts:
            axes.annotate(
                text, (j, i), (0, above), ha="center", va=edge, color=ink,
                fontsize=points, textcoords="offset points",
            )  # fmt: skip

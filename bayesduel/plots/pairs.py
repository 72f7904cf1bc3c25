"""Figures of a fit, pair by pair: who beats whom, and whether the votes agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib.colors import Normalize
from matplotlib.ticker import MaxNLocator

from bayesduel.errors import FitError
from bayesduel.inference.fitted import check_posterior
from bayesduel.models.argument_checks import (
    check_integer,
    check_probability,
    check_seed,
)
from bayesduel.plots.allocation import best_first
from bayesduel.plots.posteriors import _caption, short_name
from bayesduel.plots.style import (
    FAINT,
    INK,
    StyledFigure,
    font_style,
    new_figure,
    width_in_inches,
)
from theory import PreferenceMatrix
from theory.arguments import integer_from, shown
from theory.preferences import as_preference_matrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from bayesduel.inference import Posterior

__all__ = ["heat_map", "pair", "predictive_check"]

_BLUE, _ORANGE = "#0072B2", "#D55E00"
_WITH_NUMBERS = 12
_MOST_LABELS = 40
_SMALLEST = 7.5
"""Points from one label to the next."""
_MOST_ROWS = 60


def heat_map(
    posterior: Posterior | PreferenceMatrix | ArrayLike,
    *,
    max_arms: int = 136,
    width: str | float = "full",
) -> StyledFigure:
    """Draw P(row beats column), of a fit with numbers of votes, the best arm first.

    Cells of pairs that were never compared are pale: there only the model speaks.

    Parameters
    ----------
    posterior : Posterior, PreferenceMatrix or array-like (K, K)
        A fit to ``Comparisons``, or the matrix itself: its arms are ordered by Copeland
        score, then by Borda score, then by number.
    max_arms : int
        Only the best so many arms.
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
    max_arms, inches = integer_from(max_arms, 1, "max_arms"), width_in_inches(width)
    fit: Any = posterior
    if isinstance(posterior, PreferenceMatrix | np.ndarray | list | tuple):
        fit, (names, chance, votes) = None, _of_matrix(posterior, max_arms)
    else:
        names, chance, votes = _of_fit(fit, max_arms)
    np.fill_diagonal(chance, np.nan)
    style = font_style(inches) | {"axes.spines.right": True, "axes.spines.top": True}
    count = len(names)
    # A few arms need no whole page.
    tall = min(0.86 * inches, 0.55 * count + 1.2)
    with new_figure(inches, tall, style) as figure:
        axes = figure.add_subplot()
        # A few arms fill the width, many are square.
        aspect = "auto" if count <= _WITH_NUMBERS else "equal"
        image = axes.imshow(
            chance, cmap="PuOr", norm=Normalize(0.0, 1.0), aspect=aspect
        )
        room = 0.7 * 72.0 * inches  # Points for all labels together.
        step = -(-count // min(_MOST_LABELS, int(room / _SMALLEST)))
        places = np.arange(0, count, step)
        labels = [short_name(names[place]) for place in places]
        axes.set_yticks(places, labels)
        usual = style["xtick.labelsize"]
        is_level = sum(map(len, labels)) * 0.7 * usual < room
        axes.set_xticks(places, labels, rotation=0 if is_level else 90)
        axes.tick_params(
            length=0, pad=2.0, labelsize=min(usual, 0.8 * room / len(places))
        )
        axes.set_ylabel("row")
        axes.set_xlabel("column")
        unseen = (
            np.zeros_like(chance, dtype=bool)
            if votes is None
            else (votes == 0) & ~np.eye(count, dtype=bool)
        )
        _pale(axes, unseen, aspect)
        if count <= _WITH_NUMBERS:
            _write(axes, chance, votes, style["font.size"] - 1.5)
        figure.colorbar(image, ax=axes, label="P(row beats column)", pad=0.02)
        if votes is None:
            return figure
        seen = f"{int(np.sum(votes > 0)) // 2} of {count * (count - 1) // 2} pairs"
        words = f"{seen} were compared"
        if np.any(unseen):
            words += " (the others pale)"
        if count <= _WITH_NUMBERS:
            words += "; small numbers: votes"
        _caption(figure, fit, words)
    return figure


def pair(
    posterior: Posterior,
    one: str,
    other: str,
    *,
    probability: float = 0.9,
    width: str | float = "column",
) -> StyledFigure:
    """Draw the posterior of P(one beats other) against what the pair's votes say alone.

    The line is the posterior under a uniform prior given the votes of this pair only,
    ties aside. A posterior far from it learns about the pair from others: narrower if
    they agree, beside it if they do not.

    Parameters
    ----------
    posterior : Posterior
        A fit to ``Comparisons``.
    one, other : str
        Names of two arms.
    probability : float
        Of the central interval that is written above, beside the chance of winning a
        vote and the chance that ``one`` is the stronger.
    width : "full" (7 in), "column" (3.4 in) or float

    Raises
    ------
    FitError
        If the fit is to other data, or there is no such arm.
    """
    from scipy.stats import beta

    _check_pairs(posterior, "pair")
    for name in (one, other):
        if not isinstance(name, str) or name not in posterior.arm_names:
            raise FitError(f"there is no arm {shown(name)} among {posterior.num_arms}")
    if one == other:
        raise FitError(f"a pair needs two different arms, got {one!r} twice")
    probability, inches = check_probability(probability), width_in_inches(width)
    row, column = posterior.arm_names.index(one), posterior.arm_names.index(other)
    draws = np.concatenate([block[:, row, column] for block in posterior.matrices()])
    won, lost = posterior.data.wins[row, column], posterior.data.wins[column, row]
    tied = posterior.data.ties[row, column]
    alone: Any = beta(1.0 + won, 1.0 + lost)
    low, high = np.quantile(draws, [0.5 - probability / 2, 0.5 + probability / 2])
    style = font_style(inches)
    with new_figure(inches, inches * 0.75, style) as figure:
        axes = figure.add_subplot()
        reach = (
            min(draws.min(), alone.ppf(1e-3)),
            max(draws.max(), alone.ppf(1 - 1e-3)),
        )
        grid = np.linspace(*reach, 400)
        axes.hist(
            draws, bins=50, range=reach, density=True, color=_BLUE, alpha=0.45,
            label=f"posterior ({posterior.model.title})",
        )  # fmt: skip
        label = f"its votes alone: {won:g} to {lost:g}"
        label += f", {tied:g} tie{'' if tied == 1 else 's'}" if tied else ""
        axes.plot(grid, alone.pdf(grid), color=_ORANGE, label=label)
        if reach[0] < 0.5 < reach[1]:
            axes.axvline(0.5, color=INK, linewidth=0.6, linestyle=(0, (1, 1)))
        axes.yaxis.set_major_locator(MaxNLocator(4))
        axes.set_ylabel("density")
        axes.set_xlim(*reach)
        axes.set_xlabel(f"P({short_name(one)} beats {short_name(other)})")
        title = (
            f"chance of winning {draws.mean():.3f}, {probability:.0%} in "
            f"[{low:.3f}, {high:.3f}]\n"
            f"chance of being the stronger (above 1/2) {np.mean(draws > 0.5):.3f}"
        )
        # Above the axes, where no line can cross it.
        legend = axes.legend(
            loc="lower left", bbox_to_anchor=(0.0, 1.0), title=title, alignment="left",
            borderaxespad=0.3, borderpad=0.1,
        )  # fmt: skip
        legend.get_title().set_fontsize(style["axes.titlesize"])
    return figure


def predictive_check(
    posterior: Posterior,
    *,
    rng_key: int = 0,
    num_draws: int = 400,
    width: str | float = "full",
) -> StyledFigure:
    """Draw the observed share of wins of every pair against votes drawn from the fit.

    For each pair, the central 90 percent of the shares in replicated votes (as many as
    there were, ties aside) and the observed share. Where the model fits, at most about
    one pair in ten lies outside; fewer where votes are few.

    Parameters
    ----------
    posterior : Posterior
        A fit to ``Comparisons``.
    rng_key : int
    num_draws : int
        Sets of replicated votes.
    width : "full" (7 in), "column" (3.4 in) or float
        Width in inches. Up to sixty pairs are drawn by name; of more, every pair as a
        point.

    Raises
    ------
    FitError
        If the fit is to other data, or votes are no whole numbers.
    """
    from bayesduel.inference.predictions import check_whole, votes_drawn

    _check_pairs(posterior, "predictive_check")
    check_whole(posterior.data, "predictive_check")
    rng_key, inches = check_seed(rng_key), width_in_inches(width)
    num_draws = check_integer("num_draws", num_draws)
    votes = posterior.data.without_ties().without_order()
    if not len(votes.counts):
        raise FitError("predictive_check needs at least one vote that is no tie")
    rng = np.random.default_rng(rng_key)
    number = min(num_draws, posterior.num_draws)
    chosen = np.linspace(0, posterior.num_draws - 1, number).astype(np.int64)
    draws = {name: each[chosen] for name, each in posterior.flat_draws().items()}
    matrices = posterior.model.preference_matrices(draws)
    chance = matrices[:, votes.first, votes.second]
    with np.errstate(divide="ignore"):
        logs = np.log(np.stack([chance, 1.0 - chance], axis=-1))
    counts = votes.counts[:, :2]
    total = counts.sum(axis=1)
    shares = votes_drawn(rng, counts, logs)[..., 0] / total
    low, middle, high = np.quantile(shares, [0.05, 0.5, 0.95], axis=0)
    observed = counts[:, 0] / total
    outside = (observed < low) | (observed > high)
    few = len(total) <= _MOST_ROWS
    tall = 0.15 * len(total) + 1.3 if few else inches * 0.8
    with new_figure(inches, tall) as figure:
        axes = figure.add_subplot()
        if few:
            order = np.argsort(middle)
            names = [
                f"{short_name(posterior.arm_names[one])} vs "
                f"{short_name(posterior.arm_names[other])} ({number:.0f})"
                for one, other, number in zip(
                    votes.first[order], votes.second[order], total[order], strict=True
                )
            ]
            _by_name(axes, names, [each[order] for each in (low, high, observed)],
                     outside[order])  # fmt: skip
        else:
            _by_point(axes, [middle, low, high, observed], outside)
        words = (
            f"{int(outside.sum())} of {len(total)} pairs ({outside.mean():.1%}) "
            "outside their 90 %"
        )
        _caption(figure, posterior, words)
    return figure


def _by_name(
    axes: Axes, names: list[str], values: list[NDArray[Any]], outside: NDArray[Any]
) -> None:
    low, high, observed = values
    rows = np.arange(len(names))
    axes.hlines(rows, low, high, color=_BLUE, linewidth=3.0, alpha=0.5,
                label="90 % of replicated votes")  # fmt: skip
    inside = ~outside
    axes.plot(observed[inside], rows[inside], "o", color=INK, label="observed")
    if np.any(outside):
        axes.plot(observed[outside], rows[outside], "D", color=_ORANGE,
                  label="observed, outside")  # fmt: skip
    axes.set_yticks(rows, names)
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.set_xlim(-0.03, 1.03)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("share of wins of the first (votes)")
    axes.legend(
        loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, borderaxespad=0.0
    )


def _by_point(axes: Axes, values: list[NDArray[Any]], outside: NDArray[Any]) -> None:
    middle, low, high, observed = values
    inside = ~outside
    axes.vlines(middle, low, high, color=_BLUE, linewidth=0.4, alpha=0.25,
                label="90 % of replicated votes")  # fmt: skip
    size = 2.0 if len(middle) > 500 else 3.0
    axes.plot(middle[inside], observed[inside], "o", color=INK, markersize=size,
              markeredgewidth=0, alpha=0.6, label="observed")  # fmt: skip
    axes.plot(middle[outside], observed[outside], "D", color=_ORANGE, markersize=size,
              markeredgewidth=0, label="observed, outside")  # fmt: skip
    axes.plot([0, 1], [0, 1], color=FAINT, linewidth=0.5)
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlabel("share of wins in replicated votes (median)")
    axes.set_ylabel("share of wins in the votes")
    axes.legend(loc="upper left")


def _of_fit(
    posterior: Posterior, max_arms: int
) -> tuple[list[str], NDArray[Any], NDArray[Any]]:
    """Return names, P(row beats column) and votes, the best arm first."""
    from bayesduel.inference import standings

    _check_pairs(posterior, "heat_map")
    names = standings(posterior)["arm"].values[:max_arms].tolist()
    order = [posterior.arm_names.index(name) for name in names]
    square = np.ix_(order, order)
    wins, ties = posterior.data.wins, posterior.data.ties
    chance = posterior.probability_of_beating().values[square]
    return names, chance, (wins + wins.T + ties)[square]


def _of_matrix(
    given: PreferenceMatrix | ArrayLike, max_arms: int
) -> tuple[list[str], NDArray[Any], None]:
    """Return names and P(row beats column), the best arm first; there are no votes."""
    matrix = as_preference_matrix(given)
    order = best_first(matrix)[:max_arms]
    labels = matrix.arm_names or [str(arm) for arm in range(matrix.num_arms)]
    chance = np.array(matrix.values[np.ix_(order, order)])
    return [labels[arm] for arm in order], chance, None


def _pale(
    axes: Axes, mask: NDArray[np.bool_], aspect: Literal["auto", "equal"]
) -> None:
    """Cover the marked cells with a veil."""
    veil = np.ones((*mask.shape, 4))
    veil[..., 3] = np.where(mask, 0.6, 0.0)
    axes.imshow(veil, aspect=aspect)


def _write(
    axes: Axes, chance: NDArray[Any], votes: NDArray[Any] | None, size: float
) -> None:
    """Write probability and number of votes into every cell."""
    for (i, j), value in np.ndenumerate(chance):
        if i == j:
            continue
        seen = votes is None or votes[i, j]
        ink = "white" if abs(value - 0.5) > 0.3 and seen else INK
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


def _check_pairs(posterior: Posterior, purpose: str) -> None:
    from bayesduel.votes import Comparisons

    check_posterior(posterior)
    if not isinstance(posterior.data, Comparisons):
        raise FitError(
            f"{purpose} draws pairs of arms, and needs a fit to Comparisons, not to "
            f"{type(posterior.data).__name__}"
        )

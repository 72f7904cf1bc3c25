"""Figures of a fit, pair by pair: who beats whom, and whether the votes agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import MaxNLocator
from scipy.special import expit, logit

from bayesduel.errors import FitError
from bayesduel.models.argument_checks import (
    check_numbers,
    check_probability,
)
from bayesduel.models.fit.tables import ELO
from bayesduel.plots import style
from bayesduel.plots.policy_looks import shown_colors, shown_names
from bayesduel.plots.posteriors import _caption, check_pairs, short_names
from bayesduel.plots.style import StyledFigure
from theory.arguments import one_of, seed_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from bayesduel.inference import Fit

_MOST_ROWS = 60
_POINT = 4.0
"""Area of the point of one pair, in square points."""


def pair(
    posterior: Fit,
    one: str,
    other: str,
    *,
    probability: float = 0.9,
    scale: str = "probability",
    colors: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    width: str | float = "column",
) -> StyledFigure:
    """Draw the posterior of P(one beats other) against what the pair's votes say alone.

    The line is the posterior under a uniform prior given the votes of this pair only,
    ties aside. A posterior far from it learns about the pair from others: narrower if
    they agree, beside it if they do not.

    Parameters
    ----------
    posterior : Fit
        A fit to ``Comparisons``.
    one, other : str
        Names of two arms.
    probability : float
        Of the central interval that is written above, beside the probability of winning
        a vote and the probability that ``one`` is the stronger.
    scale : {"probability", "elo"}
        What is drawn: P(one beats other), or how far ``one`` is above on Elo's scale,
        400 times the decimal logarithm of the odds.
    colors, names : mapping, optional
        Colors of matplotlib by "posterior" and "votes", and what arms are called, by
        their names.
    width : "full" (7 in), "column" (3.4 in) or float

    Raises
    ------
    FitError
        If the fit is to other data, or there is no such arm.
    """
    from scipy.stats import beta

    check_pairs(posterior, "pair")
    for name in (one, other):
        if not isinstance(name, str) or name not in posterior.arm_names:
            raise FitError(
                "pair",
                f"must name arms of the fit, which has {posterior.num_arms}",
                name,
            )
    if one == other:
        raise FitError("pair", "must be of two different arms", (one, other))
    probability, inches = check_probability(probability), style.width_in_inches(width)
    one_of(scale, ("probability", "elo"), "scale", kind=FitError)
    called = shown_names(names, posterior.arm_names, "arms")
    usual = {"posterior": style.BLUE, "votes": style.ORANGE}
    colored = shown_colors(colors, usual, "parts")
    row, column = posterior.arm_names.index(one), posterior.arm_names.index(other)
    draws = np.concatenate([block[:, row, column] for block in posterior.matrices()])
    won, lost = posterior.data.wins[row, column], posterior.data.wins[column, row]
    tied = posterior.data.ties[row, column]
    alone: Any = beta(1.0 + won, 1.0 + lost)
    ends = [0.5 - probability / 2, 0.5 + probability / 2]
    fonts = style.font_style(inches)
    with style.new_figure(inches, inches * 0.75, fonts) as figure:
        axes = figure.add_subplot()
        reach = (
            min(draws.min(), alone.ppf(1e-3)),
            max(draws.max(), alone.ppf(1 - 1e-3)),
        )
        shown, even, grid = draws, 0.5, np.linspace(*reach, 400)
        height = alone.pdf(grid)
        if scale == "elo":
            shown, even, reach = _elo(draws), 0.0, tuple(_elo(np.array(reach)))
            grid = np.linspace(reach[0], reach[1], 400)
            share = expit(grid / ELO)
            height = alone.pdf(share) * share * (1.0 - share) / ELO
        low, high = np.quantile(shown, ends)
        axes.hist(
            shown, bins=30, density=True, color=colored["posterior"], alpha=0.45,
            label=f"posterior ({posterior.model.title})",
        )  # fmt: skip
        label = f"its votes alone: {won:g} to {lost:g}"
        label += f", {tied:g} tie{'' if tied == 1 else 's'}" if tied else ""
        axes.plot(grid, height, color=colored["votes"], label=label)
        if reach[0] < even < reach[1]:
            axes.axvline(even, color=style.INK, linewidth=0.6, linestyle=(0, (1, 1)))
        axes.yaxis.set_major_locator(MaxNLocator(4))
        axes.set_ylabel("density")
        axes.set_xlim(*reach)
        arms = short_names((called[one], called[other]))
        within = f"[{low:.3f}, {high:.3f}]"
        axes.set_xlabel(f"P({arms[0]} beats {arms[1]})")
        if scale == "elo":
            axes.set_xlabel(f"Elo of {arms[0]} minus that of {arms[1]}")
            within = f"[{low:z.0f}, {high:z.0f}] of Elo"
        title = (
            f"probability of winning {draws.mean():.3f}, {probability:.0%} in "
            f"{within}\n"
            f"probability of being the stronger (above 1/2) {np.mean(draws > 0.5):.3f}"
        )
        if posterior.part_of[row] != posterior.part_of[column]:
            title = "no votes connect the two: what the prior says"
        # Above the axes, where no line can cross it.
        legend = axes.legend(
            loc="lower left", bbox_to_anchor=(0.0, 1.0), title=title, alignment="left",
            borderaxespad=0.3, borderpad=0.1,
        )  # fmt: skip
        legend.get_title().set_fontsize(fonts["axes.titlesize"])
    return figure


def _elo(probability: NDArray[Any]) -> NDArray[Any]:
    """Return what a probability of winning is on Elo's scale, within 4,000 points."""
    return ELO * logit(np.clip(probability, 1e-10, 1.0 - 1e-10))


def predictive_check(
    posterior: Fit,
    *,
    rng_key: int = 0,
    num_draws: int = 400,
    colors: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    width: str | float = "full",
) -> StyledFigure:
    """Draw the observed share of wins of every pair against votes drawn from the fit.

    For each pair, the central 90 percent of the shares in replicated votes (as many as
    there were, ties aside) and the observed share. Where the model fits, at most about
    one pair in ten lies outside; fewer where votes are few.

    Parameters
    ----------
    posterior : Fit
        A fit to ``Comparisons``.
    rng_key : int
    num_draws : int
        Sets of replicated votes.
    colors, names : mapping, optional
        Colors of matplotlib by "replicated", "observed" and "outside", and what arms
        are called, by their names.
    width : "full" (7 in), "column" (3.4 in) or float
        Width in inches. Up to sixty pairs are drawn by name; of more, every pair as a
        point.

    Raises
    ------
    FitError
        If the fit is to other data, or votes are no whole numbers.
    """
    from bayesduel.models.fit.predictions import check_whole, votes_drawn

    check_pairs(posterior, "predictive_check")
    check_whole(posterior.data, "predictive_check")
    rng_key, inches = (
        seed_of(rng_key, "rng_key", kind=FitError),
        style.width_in_inches(width),
    )
    num_draws = check_numbers("num_draws", num_draws)
    called = shown_names(names, posterior.arm_names, "arms")
    usual = {"replicated": style.BLUE, "observed": style.INK, "outside": style.ORANGE}
    colored = shown_colors(colors, usual, "parts")
    votes = posterior.data.without_columns().without_ties().without_order()
    if not len(votes.counts):
        raise FitError("posterior", "must be of at least one vote that is no tie", 0)
    rng = np.random.default_rng(rng_key)
    number = min(num_draws, posterior.num_draws)
    chosen = np.linspace(0, posterior.num_draws - 1, number).astype(np.int64)
    draws = {name: each[chosen] for name, each in posterior.flat_draws().items()}
    matrices = posterior.model.preference_matrices(draws)
    probability = matrices[:, votes.first, votes.second]
    with np.errstate(divide="ignore"):
        logs = np.log(np.stack([probability, 1.0 - probability], axis=-1))
    counts = votes.counts[:, :2]
    total = counts.sum(axis=1)
    shares = votes_drawn(rng, counts, logs)[..., 0] / total
    low, middle, high = np.quantile(shares, [0.05, 0.5, 0.95], axis=0)
    observed = counts[:, 0] / total
    outside = (observed < low) | (observed > high)
    few = len(total) <= _MOST_ROWS
    tall = 0.15 * len(total) + 1.3 if few else inches * 0.8
    with style.new_figure(inches, tall) as figure:
        axes = figure.add_subplot()
        if few:
            order = np.argsort(middle)
            arms = short_names(called[name] for name in posterior.arm_names)
            labels = [
                f"{arms[one]} vs {arms[other]} ({number:.0f})"
                for one, other, number in zip(
                    votes.first[order], votes.second[order], total[order], strict=True
                )
            ]
            _by_name(axes, labels, [each[order] for each in (low, high, observed)],
                     outside[order], colored)  # fmt: skip
        else:
            _by_point(axes, [middle, low, high, observed], outside, colored)
        words = (
            f"{int(outside.sum())} of {len(total)} pairs ({outside.mean():.1%}) "
            "outside their 90 %"
        )
        _caption(figure, posterior, words)
    return figure


def _by_name(
    axes: Axes,
    names: list[str],
    values: list[NDArray[Any]],
    outside: NDArray[Any],
    colored: dict[str, str],
) -> None:
    low, high, observed = values
    rows = np.arange(len(names))
    axes.hlines(rows, low, high, color=colored["replicated"], linewidth=3.0, alpha=0.5,
                label="90 % of replicated votes")  # fmt: skip
    inside = ~outside
    axes.plot(observed[inside], rows[inside], "o", color=colored["observed"],
              label="observed")  # fmt: skip
    if np.any(outside):
        axes.plot(observed[outside], rows[outside], "D", color=colored["outside"],
                  label="observed, outside")  # fmt: skip
    axes.set_yticks(rows, names)
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.set_xlim(-0.03, 1.03)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("share of wins of the first (votes)")
    axes.legend(
        loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, borderaxespad=0.0
    )


def _by_point(
    axes: Axes,
    values: list[NDArray[Any]],
    outside: NDArray[Any],
    colored: dict[str, str],
) -> None:
    middle, low, high, observed = values
    blue = colored["replicated"]
    axes.vlines(middle, low, high, color=blue, linewidth=0.4, alpha=0.25)
    axes.plot([], [], color=blue, linewidth=0.8, label="90 % of replicated votes")
    looks = (
        (~outside, "o", colored["observed"], "observed"),
        (outside, "D", colored["outside"], "outside"),
    )
    for chosen, marker, color, label in looks:
        # With few votes many pairs are one point: its area is their number.
        points = np.round(np.column_stack([middle, observed])[chosen], 6)
        places, counts = np.unique(points, axis=0, return_counts=True)
        axes.scatter(
            *places.T, s=_POINT * counts, marker=marker, color=color, linewidths=0,
            alpha=0.6,
        )  # fmt: skip
        axes.scatter([], [], s=4 * _POINT, marker=marker, color=color, label=label)
    axes.plot([0, 1], [0, 1], color=style.FAINT, linewidth=0.5)
    axes.set_xlim(-0.04, 1.04)
    axes.set_ylim(-0.04, 1.04)
    axes.set_xlabel("share of wins in replicated votes (median)")
    axes.set_ylabel("share of wins in the votes")
    # Above the axes, as points may be anywhere.
    axes.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, borderaxespad=0.3,
        borderpad=0.1, title="area of a point: number of pairs", alignment="left",
    )  # fmt: skip

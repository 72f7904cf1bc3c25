"""Figures of a fit: where every arm stands, and which one is the best."""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from bayesduel.errors import FitError
from bayesduel.models.argument_checks import check_posterior
from bayesduel.models.fit.tables import ELO_MEAN
from bayesduel.plots import style
from bayesduel.plots.policy_looks import shown_colors, shown_names
from bayesduel.plots.style import StyledFigure
from theory.arguments import integer_from, one_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import xarray as xr

    from bayesduel.inference import Fit

_ROW = 0.19
"""Inches per arm."""
_LONGEST_NAME = 28
_LAST_KEPT = 12
_SMALLEST_SHARE = 0.01
_MOST_BARS = 15
_SENSES = {
    "best_utility": "largest utility",
    "condorcet": "beats every other arm (Condorcet)",
    "copeland": "beats most others (Copeland)",
    "borda": "largest mean P(win) (Borda)",
}


def forest(
    posterior: Fit,
    *,
    by: str = "score",
    probability: float = 0.9,
    max_arms: int = 60,
    scale: str = "utility",
    anchor: tuple[str, float] | None = None,
    colors: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    width: str | float = "full",
) -> StyledFigure:
    """Draw where every arm stands, with intervals, the best arm on top.

    Parameters
    ----------
    posterior : Fit
    by : {"score", "rank"}
        Utilities relative to their mean (or, without utilities, the mean probability of
        beating another arm), or ranks.
    probability : float
        Of the thin central interval; the thick one holds half of the draws of a score.
    max_arms : int
        Only the best so many arms.
    scale, anchor
        Of scores, as in :func:`bayesduel.inference.standings`.
    colors, names : mapping, optional
        Colors of matplotlib by arm, and what arms are called, by their names.
    width : "full" (7 in), "column" (3.4 in) or float

    Raises
    ------
    ValueError
        For another ``by``, or an unknown width.

    Examples
    --------
    >>> from bayesduel import plots
    >>> from bayesduel.votes import Comparisons
    >>> from bayesduel.models import PairwiseBeta
    >>> from bayesduel.inference import fit
    >>> found = fit(PairwiseBeta(), Comparisons.from_wins([[0, 7], [3, 0]]))
    >>> plots.forest(found).axes[0].get_xlabel()
    'probability of beating another arm'
    """
    from bayesduel.inference import standings

    one_of(by, ("score", "rank"), "by")
    check_posterior(posterior)
    called = shown_names(names, posterior.arm_names, "arms")
    usual = dict.fromkeys(posterior.arm_names, style.BLUE)
    colored = shown_colors(colors, usual, "arms")
    max_arms, inches = (
        integer_from(max_arms, 1, "max_arms"),
        style.width_in_inches(width),
    )
    table = standings(posterior, probability, scale=scale, anchor=anchor)
    half = standings(posterior, 0.5, scale=scale, anchor=anchor)
    middle = {"utility": 0.0, "elo": ELO_MEAN}.get(table.attrs["score"], 0.5)
    middle = middle if anchor is None else anchor[1]
    within = across_parts(posterior, f"{by}s")
    table, half = (each.isel(arm=slice(0, max_arms)) for each in (table, half))
    count = table.sizes["arm"]
    rows = np.arange(count)
    colored_rows = [colored[name] for name in table["arm"].values.tolist()]
    with style.new_figure(inches, _ROW * count + 0.9) as figure:
        axes = figure.add_subplot()
        low, high = table[f"{by}_lower"].values, table[f"{by}_upper"].values
        if by == "score":
            axes.hlines(rows, low, high, colors=colored_rows, linewidth=1.0)
            inner = half["score_lower"].values, half["score_upper"].values
            axes.hlines(rows, *inner, colors=colored_rows, linewidth=3.0)
            for color in dict.fromkeys(colored_rows):
                own = [row for row in rows if colored_rows[row] == color]
                axes.plot(
                    table["score"][own], own, "o", color="white", markeredgecolor=color
                )
            score = table.attrs["score"]
            axes.set_xlabel("Elo" if score == "elo" else score)
            axes.axvline(middle, color="#BBBBBB", linewidth=0.6, zorder=0)
        else:
            # Half a rank to either side: one certain rank is seen too.
            axes.barh(rows, high - low + 1, left=low - 0.5, height=0.62, alpha=0.75,
                      color=colored_rows)  # fmt: skip
            axes.set_xlabel("rank")
            axes.xaxis.set_major_locator(
                MaxNLocator(8, integer=True, min_n_ticks=2, steps=[1, 2, 5, 10])
            )
            axes.set_xlim(0.3, posterior.num_arms + 0.7)
        axes.set_yticks(rows, _labels(table, called))
        axes.set_ylim(count - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        style.light_grid(axes, "x")
        left_out = posterior.num_arms - count
        more = f"; {left_out} more arms left out" if left_out else ""
        thick = "thick 50%, thin " if by == "score" else ""
        _caption(
            figure, posterior, f"{within}intervals: {thick}{probability:.0%}{more}"
        )
    return figure


def winners(
    posterior: Fit,
    *,
    max_arms: int = _MOST_BARS,
    colors: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    width: str | float = "full",
) -> StyledFigure:
    """Draw the probability that each arm is the best, in every sense that applies.

    Parameters
    ----------
    posterior : Fit
    max_arms : int
        At most so many arms; those below one percent in every sense are left out, and
        counted in the caption.
    colors, names : mapping, optional
        Colors of matplotlib by sense ("condorcet", "copeland", "borda", or
        "best_utility"), and what arms are called, by their names.
    width : "full" (7 in), "column" (3.4 in) or float

    Notes
    -----
    With utilities all senses are one. Without, a Condorcet winner may not exist, and
    several arms may share the first place of Copeland: those bars then add up to less,
    or more, than 1.
    """
    max_arms, inches = (
        integer_from(max_arms, 1, "max_arms"),
        style.width_in_inches(width),
    )
    found = check_posterior(posterior).winner_probabilities()
    senses = ["best_utility"] if "best_utility" in found else list(_SENSES)[1:]
    shares = np.stack([found[sense].values for sense in senses])
    order = np.argsort(-shares[0] - 1e-6 * shares.sum(axis=0), kind="stable")
    # An arm that is alone in its part has no share.
    order = [arm for arm in order if shares[:, arm].max() >= _SMALLEST_SHARE]
    order = order[:max_arms]
    fonts = style.font_style(inches)
    thick = 0.8 / len(senses)
    usual = zip(senses, (style.BLUE, style.ORANGE, style.GREEN), strict=False)
    colored = shown_colors(colors, dict(usual), "senses")
    called = shown_names(names, posterior.arm_names, "arms")
    height = max(_ROW, 0.13 * len(senses)) * 1.15 * len(order) + 1.1
    with style.new_figure(inches, height, fonts) as figure:
        axes = figure.add_subplot()
        for index, sense in enumerate(senses):
            place = np.arange(len(order)) + (index - (len(senses) - 1) / 2) * thick
            bars = axes.barh(
                place, shares[index, order], height=thick * 0.92, color=colored[sense],
                label=_SENSES[sense],
            )  # fmt: skip
            labels = [f"{share:.2f}" for share in shares[index, order]]
            axes.bar_label(
                bars,
                labels,
                padding=2,
                color=style.INK,
                fontsize=fonts["font.size"] - 1.5,
            )
        axes.set_yticks(
            range(len(order)),
            short_names(called[posterior.arm_names[arm]] for arm in order),
        )
        axes.set_ylim(len(order) - 0.4, -0.6)
        axes.set_xlim(0.0, 1.08)
        axes.set_xticks([0.0, 0.25, 0.5, 0.75, 1.0])
        axes.set_xlabel("posterior probability of being the best")
        axes.tick_params(axis="y", length=0)
        if len(senses) > 1:
            axes.legend(loc="lower right")
        left_out = posterior.num_arms - len(order)
        words = f"{left_out} arms left out" if left_out else _SENSES[senses[0]]
        within = across_parts(posterior, "the best")
        if len(senses) > 1 and not within:
            words = f"a Condorcet winner exists: {float(found.condorcet_exists):.2f}"
            words += f"; {left_out} arms left out" if left_out else ""
        _caption(figure, posterior, within + words)
    return figure


def _labels(table: xr.Dataset, called: dict[str, str]) -> list[str]:
    """Return the names of the arms, with the parts they are in where there are more."""
    names = short_names(called[name] for name in table["arm"].values.tolist())
    if table.attrs["parts"] == 1:
        return names
    parts = table["part"].values.tolist()
    return [f"{name} ({part})" for name, part in zip(names, parts, strict=True)]


def short_names(names: Iterable[str]) -> list[str]:
    """Return names that leave room for the figure; $ is no mathematics.

    Different names stay different: those that a cut would make the same are cut later.
    """
    full = [str(name) for name in names]
    shown = {name: _cut(name, _LONGEST_NAME) for name in full}
    room = _LONGEST_NAME
    while True:
        times = Counter(shown.values())
        alike = [name for name, text in shown.items() if times[text] > 1]
        if not alike:
            break
        room += 8
        shown |= {name: _cut(name, room) for name in alike}
    return [shown[name].replace("$", r"\$") for name in full]


def _cut(text: str, room: int) -> str:
    if len(text) <= room:
        return text
    # Long names often begin alike and differ at the end.
    last = room - (_LONGEST_NAME - _LAST_KEPT)
    return f"{text[: room - last - 1]}…{text[-last:]}"


def across_parts(posterior: Fit, what: str) -> str:
    """Say that something is about the arms of one part each, where there are several.

    Ends as the beginning of a caption does.
    """
    parts = len(posterior.parts)
    return f"{what} within {parts} parts that no votes connect; " if parts > 1 else ""


def _caption(figure: StyledFigure, posterior: Fit, words: str) -> None:
    """Say below the figure what was fitted to what."""
    votes = f"{posterior.data.num_votes:,g}"
    if posterior.data.num_votes == int(posterior.data.num_votes):
        votes = f"{int(posterior.data.num_votes):,}"
    text = f"{posterior.model.title} by {posterior.method}, {votes} votes; {words}"
    if posterior.doubts:
        text = f"DOUBTFUL, intervals and probabilities may be wrong. {text}"
    wrapped = textwrap.fill(text, int(19 * figure.get_figwidth()))
    figure.supxlabel(wrapped, fontsize=7, color=style.FAINT)


def check_pairs(posterior: Fit, purpose: str) -> None:
    """Raise unless something is a fit to ``Comparisons``."""
    from bayesduel.votes import Comparisons

    check_posterior(posterior)
    if not isinstance(posterior.data, Comparisons):
        raise FitError(
            "posterior",
            f"must be a fit to Comparisons, since {purpose} draws pairs of arms",
            type(posterior.data).__name__,
        )

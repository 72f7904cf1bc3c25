"""Figures of a fit: where arms and attributes stand, pairs, and calibration."""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import MaxNLocator
from scipy.special import expit, logit

from bayesduel.errors import FitError
from bayesduel.models.argument_checks import (
    check_numbers,
    check_posterior,
    check_probability,
)
from bayesduel.models.fit.tables import ELO, ELO_MEAN
from bayesduel.plots import style
from bayesduel.plots.policy_looks import shown_colors, shown_names
from bayesduel.plots.style import StyledFigure
from theory.arguments import integer_from, one_of, seed_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from bayesduel.diagnostics import Calibration
    from bayesduel.inference import Fit


_ROW = 0.19  # Inches per arm.
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


def _omitted(count: int, more: str = "") -> str:
    return f"{count} {more}arm{'s' * (count != 1)} left out" if count else ""


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
    >>> posterior = fit(PairwiseBeta(), Comparisons.from_wins([[0, 7], [3, 0]]))
    >>> plots.forest(posterior).axes[0].get_xlabel()
    'probability of beating another arm'
    """
    from bayesduel.inference import standings

    one_of(by, ("score", "rank"), "by")
    check_posterior(posterior)
    called = shown_names(names, posterior.arm_names, "arms")
    usual = dict.fromkeys(posterior.arm_names, style.BLUE)
    colored = shown_colors(colors, usual, "arms")
    max_arms = integer_from(max_arms, 1, "max_arms")
    inches = style.width_in_inches(width)
    table = standings(posterior, probability, scale=scale, anchor=anchor)
    half = standings(posterior, 0.5, scale=scale, anchor=anchor)
    middle = {"utility": 0.0, "elo": ELO_MEAN}.get(table.attrs["score"], 0.5)
    middle = middle if anchor is None else anchor[1]
    within = across_parts(posterior, f"{by}s")
    table, half = (numbers.isel(arm=slice(0, max_arms)) for numbers in (table, half))
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
            _mark_centers(axes, table["score"].values, colored_rows)
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
        labels = short_names(called[name] for name in table["arm"].values.tolist())
        if table.attrs["parts"] > 1:
            both = zip(labels, table["part"].values.tolist(), strict=True)
            labels = [f"{one} ({part})" for one, part in both]
        _label_rows(axes, labels)
        style.light_grid(axes, "x")
        omitted = _omitted(posterior.num_arms - count, "more ")
        more = f"; {omitted}" if omitted else ""
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
    max_arms = integer_from(max_arms, 1, "max_arms")
    inches = style.width_in_inches(width)
    probabilities = check_posterior(posterior).winner_probabilities()
    senses = ["best_utility"] if "best_utility" in probabilities else list(_SENSES)[1:]
    shares = np.stack([probabilities[sense].values for sense in senses])
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
            heights = np.arange(len(order)) + thick * (index - (len(senses) - 1) / 2)
            bars = axes.barh(
                heights, shares[index, order], height=thick * 0.92,
                color=colored[sense], label=_SENSES[sense],
            )  # fmt: skip
            labels = [f"{share:.2f}" for share in shares[index, order]]
            size = fonts["font.size"] - 1.5
            axes.bar_label(bars, labels, padding=2, color=style.INK, fontsize=size)
        names_of_arms = (called[posterior.arm_names[arm]] for arm in order)
        _label_rows(axes, short_names(names_of_arms))
        axes.set_xlim(0.0, 1.08)
        axes.set_xticks([0.0, 0.25, 0.5, 0.75, 1.0])
        axes.set_xlabel("posterior probability of being the best")
        if len(senses) > 1:
            axes.legend(loc="lower right")
        omitted = _omitted(posterior.num_arms - len(order))
        words = omitted or _SENSES[senses[0]]
        within = across_parts(posterior, "the best")
        if len(senses) > 1 and not within:
            exists = float(probabilities.condorcet_exists)
            words = f"a Condorcet winner exists: {exists:.2f}"
            words += f"; {omitted}" if omitted else ""
        _caption(figure, posterior, within + words)
    return figure


def _label_rows(axes: Axes, labels: list[str]) -> None:
    """Write a label beside each row, from the top down."""
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)


def _mark_centers(axes: Axes, centers: NDArray[Any], colors: list[str]) -> None:
    for color in dict.fromkeys(colors):
        of_color = [row for row, row_color in enumerate(colors) if row_color == color]
        axes.plot(
            centers[of_color], of_color, "o", color="white", markeredgecolor=color
        )


def short_names(names: Iterable[str]) -> list[str]:
    """Return names that leave room for the figure; $ is no mathematics."""
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
    """Say in a caption that something is within parts, where there are several."""
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
        rule = f"must be a fit to Comparisons, since {purpose} draws pairs of arms"
        raise FitError("posterior", rule, type(posterior.data).__name__)


_ATTRIBUTE_ROW = 0.24  # Inches per attribute.


def coefficients(
    posterior: Fit,
    *,
    probability: float = 0.9,
    colors: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    width: str | float = "full",
) -> StyledFigure:
    """Draw the coefficients of a model of choices, those that matter most on top.

    In units in which they can be compared: what one standard deviation of an attribute
    among the alternatives of a choice adds to utility. A bar below shows, for a mixed
    logit, within which 90 % of the persons are, by the means of both parameters.

    Parameters
    ----------
    posterior : Fit
        Of :class:`~bayesduel.models.ConditionalLogit` or a model made from it.
    probability : float
        Of the thin central interval; the thick one holds half of the draws.
    colors, names : mapping, optional
        Colors of matplotlib, and what attributes are called, by attribute.
    width : "full" (7 in), "column" (3.4 in) or float

    Raises
    ------
    FitError
        If the model has no attributes.
    ValueError
        For an unknown width.

    Examples
    --------
    >>> from bayesduel import plots
    >>> from bayesduel.inference import fit
    >>> from bayesduel.models import ConditionalLogit
    >>> from bayesduel.votes import Choices
    >>> prices = [[3.0, 1.0], [2.0, 2.5], [1.0, 3.0], [2.0, 1.5]]
    >>> choices = Choices.from_attributes(prices, [1, 0, 0, 0])
    >>> figure = plots.coefficients(fit(ConditionalLogit(), choices, num_draws=50))
    >>> figure.axes[0].get_xlabel()
    'utility per standard deviation of the attribute'
    """
    draws = check_posterior(posterior).flat_draws()
    probability, inches = check_probability(probability), style.width_in_inches(width)
    if "standard_coefficient" not in draws:
        rule = "must be of a model with attributes, such as ConditionalLogit"
        raise FitError("posterior", rule, repr(posterior.model))
    standard = draws["standard_coefficient"]
    attributes = list(posterior.data.attribute_names)
    called = shown_names(names, attributes, "attributes")
    usual = dict.fromkeys(attributes, style.BLUE)
    colored = shown_colors(colors, usual, "attributes")
    order = np.argsort(-np.abs(standard.mean(axis=0)), kind="stable")
    rows = np.arange(len(order))
    ordered = [attributes[index] for index in order]
    colored_rows = [colored[attribute] for attribute in ordered]
    with style.new_figure(inches, _ATTRIBUTE_ROW * len(order) + 0.9) as figure:
        axes = figure.add_subplot()
        axes.use_sticky_edges = False  # Bars end within the axes.
        axes.axvline(0.0, color="#BBBBBB", linewidth=0.6, zorder=0)
        mean = standard.mean(axis=0)[order]
        if "standard_spread" in draws:
            varying = np.asarray(posterior.arrays.varying).tolist()
            spread = np.zeros(len(ordered))
            spread[varying] = draws["standard_spread"].mean(axis=0)
            reach = 1.645 * spread[order]
            axes.barh(rows, 2 * reach, left=mean - reach, height=0.7, alpha=0.3,
                      color=style.ORANGE)  # fmt: skip
        for share, thickness in ((probability, 1.0), (0.5, 3.0)):
            tails = [(1.0 - share) / 2.0, (1.0 + share) / 2.0]
            low, high = np.quantile(standard[:, order], tails, axis=0)
            axes.hlines(rows, low, high, colors=colored_rows, linewidth=thickness)
        _mark_centers(axes, mean, colored_rows)
        axes.set_xlabel("utility per standard deviation of the attribute")
        _label_rows(axes, short_names(called[attribute] for attribute in ordered))
        style.light_grid(axes, "x")
        people = "; orange: 90 % of the persons" if "standard_spread" in draws else ""
        _caption(
            figure, posterior, f"intervals: thick 50%, thin {probability:.0%}{people}"
        )
    return figure


_MOST_ROWS = 60
_POINT = 4.0  # Area of the point of one pair, in square points.


def pair(
    posterior: Fit,
    first: str,
    second: str,
    *,
    probability: float = 0.9,
    scale: str = "probability",
    colors: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    width: str | float = "column",
) -> StyledFigure:
    """Draw the posterior of P(first beats second), and what votes on the pair say.

    The line is the posterior under a uniform prior given the votes of this pair only,
    ties aside. A posterior far from it learns about the pair from others: narrower if
    they agree, beside it if they do not.

    Parameters
    ----------
    posterior : Fit
        A fit to ``Comparisons``.
    first, second : str
        Names of two arms.
    probability : float
        Of the central interval that is written above, beside the probability of winning
        a vote and the probability that ``first`` is the stronger.
    scale : {"probability", "elo"}
        What is drawn: P(first beats second), or how far ``first`` is above on Elo's
        scale, 400 times the decimal logarithm of the odds.
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
    for name in (first, second):
        if not isinstance(name, str) or name not in posterior.arm_names:
            rule = f"must name arms of the fit, which has {posterior.num_arms}"
            raise FitError("pair", rule, name)
    if first == second:
        raise FitError("pair", "must be of two different arms", (first, second))
    probability, inches = check_probability(probability), style.width_in_inches(width)
    one_of(scale, ("probability", "elo"), "scale", kind=FitError)
    called = shown_names(names, posterior.arm_names, "arms")
    usual = {"posterior": style.BLUE, "votes": style.ORANGE}
    colored = shown_colors(colors, usual, "parts")
    row, column = posterior.arm_names.index(first), posterior.arm_names.index(second)
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
        arms = short_names((called[first], called[second]))
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
        If the fit is to other data, or votes are not whole numbers.
    """
    from bayesduel.models.fit.predictions import check_whole, votes_drawn

    check_pairs(posterior, "predictive_check")
    check_whole(posterior.data, "predictive_check")
    rng_key = seed_of(rng_key, "rng_key", kind=FitError)
    inches = style.width_in_inches(width)
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
    draws = {name: values[chosen] for name, values in posterior.flat_draws().items()}
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
                f"{arms[winner]} vs {arms[loser]} ({number:.0f})"
                for winner, loser, number in zip(
                    votes.first[order], votes.second[order], total[order], strict=True
                )
            ]
            _by_name(axes, labels, [values[order] for values in (low, high, observed)],
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


_BAND_COLOR = "#CCCCCC"
_SIMULATIONS = 2000
_SEED = 214
_CALIBRATION_COLUMNS = 3


def calibration(
    found: Calibration,
    *,
    probability: float = 0.95,
    colors: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    width: str | float = "full",
) -> StyledFigure:
    """Draw how far ranks of truths are from uniform, with simultaneous bands.

    A panel per quantity, a line per number in it: the empirical distribution of the
    ranks minus the uniform one. If the posterior is right a whole line stays in the
    band with this probability (Sailynoja, Burkner and Vehtari 2022). A line that
    rises above it at the left and falls below at the right says that intervals are too
    narrow; one that is high all along, that what is fitted is too large.

    Parameters
    ----------
    found : Calibration
    probability : float
        That a line stays in its band, in (0, 1).
    colors, names : mapping, optional
        Colors of matplotlib, and what quantities are called, by quantity.
    width : "full" (7 in), "column" (3.4 in) or float

    Raises
    ------
    FitError
        If it is no calibration.

    Examples
    --------
    >>> from bayesduel import plots
    >>> from bayesduel.diagnostics import calibrate
    >>> from bayesduel.models import PairwiseBeta
    >>> from bayesduel.votes import Comparisons
    >>> votes = Comparisons.from_wins([[0, 5], [5, 0]])
    >>> ranks = calibrate(PairwiseBeta(), votes, method="exact", num_simulations=20)
    >>> [axes.get_title("left") for axes in plots.calibration(ranks).axes]
    ['preference', 'log_likelihood']
    """
    from arviz_stats.ecdf_utils import (
        get_pointwise_confidence_band,
        simulate_confidence_bands,
    )

    from bayesduel.diagnostics import Calibration

    if not isinstance(found, Calibration):
        raise FitError("found", "must be what calibrate() returns", found)
    probability, inches = check_probability(probability), style.width_in_inches(width)
    called = shown_names(names, found.ranks, "quantities")
    usual = dict.fromkeys(found.ranks, style.BLUE)
    colored = shown_colors(colors, usual, "quantities")
    columns = min(_CALIBRATION_COLUMNS, len(found.ranks))
    rows = -(-len(found.ranks) // columns)
    with style.new_figure(inches, 0.5 + 1.6 * rows) as figure:
        grid = figure.subplots(rows, columns, squeeze=False, sharex=True)
        panels = list(grid.ravel())
        for axes in panels[len(found.ranks) :]:
            axes.remove()
        point = np.arange(1, found.num_draws + 1) / (found.num_draws + 1)
        number = len(next(iter(found.ranks.values())))
        rng = np.random.default_rng(_SEED)
        level = simulate_confidence_bands(
            number, 1, point, probability, _SIMULATIONS, rng
        )
        low, high = get_pointwise_confidence_band(level, number, point)
        for axes, (name, ranks) in zip(panels, found.ranks.items(), strict=False):
            axes.fill_between(point, low - point, high - point, color=_BAND_COLOR, lw=0)
            flat = np.sort(ranks.reshape(number, -1), axis=0)
            for column in flat.T:
                below = np.searchsorted(
                    column, np.arange(found.num_draws), side="right"
                )
                axes.plot(point, below / number - point, color=colored[name], lw=0.8)
            axes.set_title(called[name], loc="left")
            style.light_grid(axes, "y")
        words = (
            f"rank / {found.num_draws + 1}; empirical distribution minus the uniform "
            f"one; bands hold a whole line: {probability:.0%}"
        )
        figure.supxlabel(words, fontsize=7, color=style.FAINT)
    return figure

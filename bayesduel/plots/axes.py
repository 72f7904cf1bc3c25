"""From a result to lines with bands, and the axes of every regret figure."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator, StrMethodFormatter
from matplotlib.transforms import ScaledTranslation

from bayesduel.analysis.anchored_bounds import model_known_by
from bayesduel.analysis.measured_nodes import Measurement, measurements
from bayesduel.errors import ArgumentError
from bayesduel.plots.style import FAINT, Look, StyledFigure, light_grid, name_in_file
from theory.arguments import one_of

if TYPE_CHECKING:
    from jaxtyping import Float64, Int64
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.text import Text

    from bayesduel.analysis.measured_nodes import Result


#: What a band can be, and how the caption calls it.
BANDS = {
    "standard error": "band: ± 1 standard error",
    "quantiles 10-90": "band: 10 % to 90 % quantiles of runs",
    "quantiles 25-75": "band: 25 % to 75 % quantiles of runs",
    "none": "",
}

_QUANTILES = {"quantiles 10-90": (0.1, 0.9), "quantiles 25-75": (0.25, 0.75)}

_BEYOND = 3.0  # A line more than so many times as high as the next one leaves the axes.


@dataclass(frozen=True, eq=False)
class Line:
    """Mean regret of one policy with its band, over rounds or values of a parameter."""

    policy: str
    rounds: Int64[np.ndarray, " point"] | Float64[np.ndarray, " point"]
    mean: Float64[np.ndarray, " point"]
    low: Float64[np.ndarray, " point"]
    high: Float64[np.ndarray, " point"]
    num_runs: int
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the policy, by name."""

    is_level: bool = False
    """In a sweep: one value for all of the parameter, measured once."""

    @property
    def model(self) -> str:
        """The model of the matrix that the policy knows; empty if none."""
        return model_known_by(self.parameters)

    @property
    def highest(self) -> float:
        """Largest value that the line or its band reaches."""
        return float(np.max(self.high))

    @property
    def has_band(self) -> bool:
        """Whether the band has an inside (one run has none)."""
        return bool(np.any(self.high > self.low))


@dataclass(frozen=True)
class Panel:
    """The policies measured on one instance."""

    instance: str
    lines: tuple[Line, ...]
    first: Measurement

    @property
    def horizon(self) -> int:
        """Last checkpoint of any line."""
        return max(int(line.rounds[-1]) for line in self.lines)

    @property
    def highest(self) -> float:
        """Largest value that a line or its band reaches."""
        return max(line.highest for line in self.lines)

    @property
    def beyond(self) -> tuple[Line, ...]:
        """Lines so high that they would press the others, at least half, flat."""
        ascending = sorted(self.lines, key=lambda line: line.highest)
        for index in range(max(2, -(-len(ascending) // 2)), len(ascending)):
            if ascending[index].highest > _BEYOND * ascending[index - 1].highest:
                return tuple(ascending[index:])
        return ()

    @property
    def top(self) -> float:
        """Largest value that the other lines or their bands reach."""
        beyond = self.beyond
        return max(line.highest for line in self.lines if line not in beyond)


def panels(result: Result, notion: str, band: str) -> list[Panel]:
    """Group the policies of a result by instance, without the failed ones."""
    one_of(band, BANDS, "band")
    groups = by_instance(result)
    return [
        Panel(
            name,
            tuple(line_of(measured, notion, band) for measured in members),
            members[0],
        )
        for name, members in groups.items()
    ]


def by_instance(result: Result) -> dict[str, list[Measurement]]:
    """Group the policies that did not fail by instance, in the order of the result."""
    groups: dict[str, list[Measurement]] = {}
    for measured in measurements(result):
        if measured.has_regret:
            groups.setdefault(measured.instance, []).append(measured)
    if not groups:
        raise ArgumentError("result", "every policy in it failed, nothing can be drawn")
    return groups


def line_of(measured: Measurement, notion: str, band: str) -> Line:
    """Return the mean regret of one policy with its band."""
    statistics = measured.statistics(notion)
    mean, runs = statistics.mean, statistics.num_runs
    low = high = mean
    if band == "standard error" and runs > 1:
        low, high = mean - statistics.standard_error, mean + statistics.standard_error
    elif band in _QUANTILES and runs > 1:
        low, high = statistics.quantiles(_QUANTILES[band])
    return Line(
        measured.policy, measured.rounds, mean, low, high, runs, measured.parameters
    )


_NOTIONS = {
    "copeland": "Copeland", "copeland_losses": "Copeland (losses)",
    "copeland_zoghi": "Copeland (Zoghi, doubled)", "copeland_binary": "binary Copeland",
    "condorcet_mean": "Condorcet (mean gap)", "condorcet_sum": "strong (sum of gaps)",
    "condorcet_max": "strong (larger gap)", "weak": "weak (smaller gap)",
    "weak_binary": "binary weak", "strong_binary": "binary strong", "borda": "Borda",
    "expected_reward": "expected-reward", "mnl_no_choice": "no-choice",
    "no_choice": "no-choice", "utility_sum": "utility", "topk": "top-k",
    "topk_means": "top-k",
}  # fmt: skip

_LOWEST = 1e-3
"""Where an axis begins that reaches to a bound far above, per highest regret."""

TWO_COLUMNS = 5.0  # Inches from which on a figure has room for two panels side by side.


def usual_columns(count: int, inches: float) -> int:
    """Return how many of so many panels stand side by side, unless told."""
    return min(count, 2 if inches >= TWO_COLUMNS else 1)


def panel_grid(
    figure: StyledFigure,
    count: int,
    columns: int,
    *,
    x_label: str,
    y_label: str,
    share: bool = False,
) -> list[Axes]:
    """Return the axes of so many panels, labelled at the left and at the bottom."""
    rows = -(-count // columns)
    grid = figure.subplots(rows, columns, squeeze=False, sharex=share, sharey=share)
    panels, beyond = grid.ravel()[:count], grid.ravel()[count:]
    for axes in beyond:
        axes.remove()
    for index, axes in enumerate(panels):
        if index % columns == 0:
            axes.set_ylabel(y_label)
        if index + columns >= count:
            axes.set_xlabel(x_label)
            axes.tick_params(labelbottom=True)
    return list(panels)


def notion_label(notion: str) -> str:
    """Return the label of the vertical axis, e.g. "cumulative Copeland regret"."""
    words = _NOTIONS.get(notion, notion.replace("_", " "))
    # The only notion of a world need not have a name.
    text = f"cumulative {words.removesuffix('regret')} regret".replace("  ", " ")
    return text.replace(" (", "\n(")  # Higher panels than that are rare.


def band_text(groups: list[Panel], band: str) -> str:
    """Return how many runs the means are of and what the band is."""
    lines = [line for panel in groups for line in panel.lines]
    count = runs_text(line.num_runs for line in lines)
    if count == "1 run":
        return count
    parts = [f"mean of {count}", BANDS[band]]
    return ", ".join(part for part in parts if part)


def runs_text(counts: Iterable[int]) -> str:
    """Return a number of runs, or its range: "1 run", "200 to 1,000 runs"."""
    runs = sorted(set(counts))
    if runs == [1]:
        return "1 run"
    ends = dict.fromkeys([runs[0], runs[-1]])
    return f"{' to '.join(f'{end:,}' for end in ends)} runs"


def draw_line(
    axes: Axes, line: Line, look: Look, *, log_x: bool, all_marked: bool = False
) -> None:
    """Draw one mean with its band; markers about one per decade, or all of them."""
    panel = str(axes.get_gid())
    if line.has_band:
        band = axes.fill_between(
            line.rounds, line.low, line.high, color=look.color, alpha=0.18, linewidth=0
        )
        name_in_file(band, panel, line.policy, "band")
    marked = None
    if not all_marked:
        # Evenly spaced on the axis, the last one in any case.
        x = np.log10(line.rounds) if log_x else line.rounds / line.rounds[-1] * 6.0
        targets = np.arange(x[-1], x[0] - 1e-9, -max(1.0, np.ceil((x[-1] - x[0]) / 8)))
        marked = sorted({int(np.argmin(np.abs(x - target))) for target in targets})
    (drawn,) = axes.plot(
        line.rounds, line.mean, color=look.color, marker=look.marker,
        linestyle=look.line, clip_on=not all_marked, markeredgecolor="white",
        markeredgewidth=0.4, zorder=3,
        markevery=marked,
    )  # fmt: skip
    name_in_file(drawn, panel, line.policy)


def draw_points(axes: Axes, line: Line, look: Look) -> None:
    """Draw means with their bands as bars, and nothing between them."""
    bars = None
    if line.has_band:
        bars = np.stack([line.mean - line.low, line.high - line.mean])
    points = axes.errorbar(
        line.rounds, line.mean, bars, color=look.color, marker=look.marker,
        linestyle="none", elinewidth=0.9, capsize=2.0, markeredgecolor="white",
        markeredgewidth=0.4, zorder=3, clip_on=False,
    )  # fmt: skip
    name_in_file(points.lines[0], str(axes.get_gid()), line.policy)


def scale_axes(
    axes: Axes, panel: Panel, *, log_x: bool, log_y: bool, reach: float = 0.0
) -> None:
    """Set scales, limits and ticks, with room for regret up to ``reach``."""
    first = min(int(line.rounds[0]) for line in panel.lines)
    if log_x and first < panel.horizon:
        axes.set_xscale("log")
        axes.set_xlim(first, panel.horizon)
        axes.xaxis.set_major_locator(LogLocator(base=10.0, numticks=8))
        axes.xaxis.set_minor_locator(NullLocator())
    elif not log_x:
        axes.set_xlim(0, panel.horizon)
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    scale_regret(axes, panel, log_y=log_y, reach=reach)


def scale_regret(axes: Axes, panel: Panel, *, log_y: bool, reach: float = 0.0) -> None:
    """Set scale, limits and ticks of the axis of regret."""
    positive = np.concatenate([line.low[line.low > 0] for line in panel.lines])
    if log_y and positive.size:
        axes.set_yscale("log")
        lowest = float(positive.min()) * 0.8
        if reach > panel.highest:  # Room for what is compared: the ends of the lines.
            lowest = max(lowest, panel.top * _LOWEST)
        axes.set_ylim(lowest, max(panel.highest, reach) * 2.0)
    else:
        axes.set_ylim(0, max(panel.top, reach) * 1.06 or 1.0)
        axes.yaxis.set_major_locator(MaxNLocator(5))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.12g}"))
    light_grid(axes, "y")


def beyond_text(panel: Panel, look: Mapping[str, Look], *, log_y: bool = False) -> str:
    """Return which lines leave the axis of regret at the top, and where they end."""
    ends = [
        f"{look[line.policy].name} ends at {line.mean[-1]:,.0f}"
        for line in (() if log_y else panel.beyond)
    ]
    return f"Off the chart: {', '.join(ends)}" if ends else ""


def words_only(text: str) -> list[Line2D]:
    """Return a legend entry that is no line; none for an empty text."""
    return [Line2D([], [], linestyle="none", label=text)] if text else []


def head_panel(
    axes: Axes, name: str, handles: list[Line2D], inches: float, *, dense: bool = False
) -> None:
    """Write the instance and its bounds above the panel, where no line can be.

    ``dense`` heads hold one long text, in a smaller font.
    """
    for handle in handles:
        handle.set_label(wrap_label(str(handle.get_label()), inches, dense=dense))
    has_lines = any(handle.get_linestyle() != "None" for handle in handles)
    legend = axes.legend(
        handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), title=name,
        alignment="left", borderaxespad=0.3, borderpad=0.1,
        handlelength=1.8 if has_lines else 0.0,
        fontsize=_head_size(inches, dense=dense) if dense else None,
        handletextpad=0.8 if has_lines else 0.0,
    )  # fmt: skip
    legend.get_title().set_fontweight("bold")
    legend.get_title().set_fontsize(mpl.rcParams["axes.titlesize"])


def _head_size(inches: float, *, dense: bool) -> float:
    """Return the size of the letters above a panel of this width, in points."""
    if inches < 3.45:
        return 6.0 if dense else 6.5
    return 7.0 if dense else 8.0


def wrap_label(text: str, inches: float, *, dense: bool = False) -> str:
    """Break a label into lines that fit above a panel of this width."""
    size = _head_size(inches, dense=dense)
    # A long text is as wide as letters are on average, and may end beyond the axes.
    margin, letter = (0.7, 0.54) if dense else (0.85, 0.58)
    characters = max(20, int((inches - margin) * 72.0 / (letter * size)))
    short = re.sub(r"\$10\^\{(\d+)\}\$", "\ue000\\1\ue001", text)
    wrapped = textwrap.fill(
        short, characters, break_long_words=False, break_on_hyphens=False
    )
    return re.sub("\ue000(\\d+)\ue001", r"$10^{\1}$", wrapped)


def head_height(texts: list[str], inches: float, *, dense: bool = False) -> float:
    """Return about how many inches the head of a panel takes."""
    wrapped = [wrap_label(text, inches, dense=dense) for text in texts]
    lines = sum(1 + text.count("\n") for text in wrapped)
    usual = 0.13 if inches < 3.45 else 0.165
    of_text = _head_size(inches, dense=True) / 72.0 * 1.3 if dense else usual
    return usual + lines * of_text + 0.05


def _level_heads(figure: StyledFigure) -> None:
    # Raise what stands above the panels of a row so that all names are at one height.
    rows: dict[int, list[tuple[Axes, Legend]]] = {}
    for axes in figure.axes:
        spec, legend = axes.get_subplotspec(), axes.get_legend()
        if spec is not None and legend is not None:
            rows.setdefault(spec.rowspan.start, []).append((axes, legend))
    for heads in rows.values():
        heights = [legend.get_window_extent().height for _, legend in heads]
        for (axes, legend), height in zip(heads, heights, strict=True):
            raised = (max(heights) - height) / figure.dpi
            up = ScaledTranslation(0.0, raised, figure.dpi_scale_trans)
            legend.set_bbox_to_anchor((0.0, 1.0), axes.transAxes + up)


def caption_below(figure: StyledFigure, caption: str, look: dict[str, Look]) -> None:
    """Write below all panels what the band is, with a legend of policies if given."""
    _level_heads(figure)
    handles = [
        Line2D(
            [],
            [],
            color=entry.color,
            marker=entry.marker,
            linestyle=entry.line,
            markeredgecolor="white",
            markeredgewidth=0.4,
            label=wrap_label(entry.name, figure.get_figwidth()),
        )  # fmt: skip
        for entry in look.values()
    ]
    # The marker hides the gap between two dashes of a short handle.
    dashed = any(entry.line != "-" for entry in look.values())
    most = 6 if figure.get_figwidth() >= TWO_COLUMNS else 3
    for columns in range(max(1, min(len(handles), most)), 0, -1):
        legend = figure.legend(
            handles=handles, loc="outside lower center", ncols=columns, title=caption,
            handlelength=3.2 if dashed else None, columnspacing=1.4, borderpad=0.1,
        )  # fmt: skip
        legend.get_title().set(color=FAINT, multialignment="center")
        extent = legend.get_tightbbox()
        if columns == 1 or extent is None or extent.width <= figure.bbox.width:
            break
        legend.remove()  # Long names need fewer columns.


def label_ends(
    figure: StyledFigure, axes: Axes, panel: Panel, look: dict[str, Look]
) -> None:
    """Write the name of each policy beside the end of its line."""
    rows = [
        [end_text(axes, shown.name, shown.text_color, bold=True)]
        for shown in (look[line.policy] for line in panel.lines)
    ]
    place_at_ends(figure, axes, panel, rows, look)


def end_text(axes: Axes, text: str, color: str, *, bold: bool = False) -> Text:
    """Return a text for the margin right of the axes; its place comes later."""
    weight = "bold" if bold else "normal"
    return axes.text(
        1.0, 0.5, text, transform=axes.transAxes, color=color, fontweight=weight,
        va="center_baseline",
    )  # fmt: skip


def place_at_ends(
    figure: StyledFigure,
    axes: Axes,
    panel: Panel,
    rows: list[list[Text]],
    look: dict[str, Look],
    heading: list[list[Text]] | None = None,
) -> None:
    """Put rows of texts right of the axes at the heights of the line ends, apart."""
    size = float(rows[0][0].get_fontsize()) / 72.0
    lead = 1.4 * size
    heading = heading or []
    # Each column of texts is right of the one before.
    offset, shifted = lead, [*rows, *heading]
    count = max(map(len, shifted))
    for index in range(count):
        shift = ScaledTranslation(offset, 0.0, figure.dpi_scale_trans)
        for row in shifted:
            if index < len(row):
                row[index].set_transform(axes.transAxes + shift)
        inside = [row[index] for row in shifted if len(row) == count]
        widest = max(text.get_window_extent().width for text in inside)
        offset += widest / figure.dpi + 0.9 * size
    figure.draw_without_rendering()
    ends = [(float(line.rounds[-1]), float(line.mean[-1])) for line in panel.lines]
    places = axes.transAxes.inverted().transform(axes.transData.transform(ends))
    # Some lines leave the axes at the top, some end before the others.
    ended, wanted = np.minimum(places, 1.0).T
    height = size * figure.dpi * 1.25 / axes.bbox.height
    top = 1.0 - (1.2 if heading else 0.25) * height
    placed = spread(wanted, height, height / 2, top)
    for position, row in enumerate(reversed(heading)):
        for text in row:
            text.set_y(1.0 + position * 1.2 * height)
    reach = 0.78 * lead * figure.dpi / axes.bbox.width
    for row, line, left, start, end in zip(
        rows, panel.lines, ended, wanted, placed, strict=True
    ):
        for text in row:
            text.set_y(end)
        axes.plot(
            [left, 1.0 + reach], [start, end], transform=axes.transAxes,
            color=look[line.policy].color, linewidth=0.6, clip_on=False,
        )  # fmt: skip


def spread(
    wanted: Float64[np.ndarray, " label"], height: float, low: float, high: float
) -> Float64[np.ndarray, " label"]:
    """Move centers apart to a distance of ``height``, as little as possible.

    Least squares under ``x[k+1] - x[k] >= height`` in the order of ``wanted``: with
    ``k * height`` subtracted it is isotonic regression. Then the stack is shifted into
    ``[low, high]`` if it fits there.

    Examples
    --------
    >>> spread(np.array([1.0, 1.2, 5.0]), 1.0, 0.0, 10.0).round(2).tolist()
    [0.6, 1.6, 5.0]
    """
    from scipy.optimize import isotonic_regression

    order = np.argsort(wanted, kind="stable")
    steps = height * np.arange(wanted.size)
    base = isotonic_regression(wanted[order] - steps).x
    # Clipping keeps the order; a stack too tall for the range overflows at the top.
    base = np.maximum(np.minimum(base, high - height * (wanted.size - 1)), low)
    placed = np.empty_like(wanted)
    placed[order] = base + steps
    return placed

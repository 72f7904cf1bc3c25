"""``plots.sweep``: regret over the values of a parameter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullLocator,
)

from bayesduel.analysis.measured_nodes import recorded_notion
from bayesduel.errors import ArgumentError
from bayesduel.plots import style
from bayesduel.plots.axes import (
    band_text,
    beyond_text,
    caption_below,
    draw_line,
    draw_points,
    head_panel,
    label_ends,
    notion_label,
    panel_grid,
    scale_regret,
    usual_columns,
    words_only,
    wrap_label,
)
from bayesduel.plots.bound_curves import power_text
from bayesduel.plots.lines import BANDS, with_names
from bayesduel.plots.policy_looks import policy_looks
from bayesduel.plots.style import StyledFigure
from bayesduel.plots.sweep_lines import Sweep, sweep_of
from theory.arguments import one_of, true_or_false

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from bayesduel.analysis.measured_nodes import Result
    from bayesduel.plots.lines import Panel

_DOTS = (0, (1, 1.5))
_MOST_TICKS = 7
_TREND = 3
"""So many values at least are joined: two say nothing of what lies between."""

_MARGIN = 0.04


def sweep(
    result: Result,
    parameter: str | None = None,
    *,
    at: int | Sequence[int] | None = None,
    notion: str | None = None,
    band: str = "standard error",
    log_x: bool | None = None,
    log_y: bool = False,
    colors: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    width: str | float = "full",
    height: float | None = None,
) -> StyledFigure:
    """Draw mean cumulative regret against a parameter, one line per kind of policy.

    Parameters
    ----------
    result : xarray.DataTree
        What :func:`bayesduel.compare` returned for several values of the parameter,
        such as ``"d-ts:alpha=0.51..2/10"``. Failed policies are left out.
    parameter : str, optional
        A number among the parameters of policies, or of matrices such as
        ``"equal-gap:gap=0.05|0.1|0.2,num_arms=5"``; by default the one that takes the
        most values. Of policies, each instance has a panel, and a policy without the
        parameter is a level line; of matrices, each family has one. Another parameter
        that takes several values beside has a line for each; one that moves along, as
        when both were zipped, stands on the axis.
    at : int or sequence of int, optional
        Checkpoints at which regret is read, a panel each; by default the last one of
        each policy.
    notion : str, optional
        Which recorded regret. By default Copeland regret, or the first
        notion that was recorded where that was not.
    band : {"standard error", "quantiles 10-90", "quantiles 25-75", "none"}
        See :func:`regret`. It is measured at the markers, and drawn between them where
        a line has three values; two are not joined, and have bars.
    log_x : bool, optional
        Logarithmic axis of the parameter; by default where its values are closer to
        equal ratios than to equal steps.
    log_y : bool
        Logarithmic axis of regret.
    colors, names : mapping, optional
        See :func:`regret`.
    width, height
        See :func:`regret`.

    Returns
    -------
    StyledFigure
        See :func:`regret`. A dotted line marks the default of the parameter, where it
        is between the values.

    Raises
    ------
    ValueError
        When no number takes several values, or this one does not; for an unknown
        notion, band or width, a round that is no checkpoint, and a logarithmic axis of
        values that are not positive.

    Examples
    --------
    >>> import bayesduel
    >>> result = bayesduel.compare(
    ...     "cyclic", "rucb:alpha=0.51|1|2|4", num_runs=4, horizon=1000
    ... )
    >>> figure = bayesduel.plots.sweep(result)
    >>> figure.axes[0].get_xlabel(), figure.axes[0].get_xscale()
    ('alpha', 'log')
    """
    one_of(band, BANDS, "band")
    notion = recorded_notion(result, notion)
    found = sweep_of(result, parameter, at, notion, band)
    look = policy_looks(
        (line.policy for panel in found.panels for line in panel.lines),
        colors=colors,
        names=names,
    )
    found = replace(found, panels=tuple(with_names(found.panels, look)))
    log_x, log_y = _log_x(found, log_x), true_or_false(log_y, "log_y")
    inches, height = style.width_in_inches(width), style.check_height(height)
    columns = usual_columns(len(found.panels), inches)
    rows = -(-len(found.panels) // columns)
    direct = len(found.panels) == 1
    moved = f" (with it {', '.join(found.moved)})" if found.moved else ""
    share = 0.5 if direct and inches >= 5.0 else 0.66
    tall = rows * inches / columns * share + 0.7
    with style.new_figure(inches, height or tall) as figure:
        grid = panel_grid(
            figure,
            len(found.panels),
            columns,
            x_label=found.parameter + moved,
            y_label=notion_label(notion),
        )
        for axes, panel in zip(grid, found.panels, strict=True):
            style.name_in_file(axes, panel.instance)
            _draw(axes, panel, found, look, log_x=log_x, log_y=log_y)
            words = words_only(beyond_text(panel, log_y=log_y))
            head_panel(axes, panel.instance, words, inches / columns)
        caption = wrap_label(_caption(found, band), inches)
        caption_below(figure, caption, {} if direct else look)
        if direct:
            label_ends(figure, grid[0], found.panels[0], look)
    return figure


def _log_x(found: Sweep, asked: bool | None) -> bool:
    values = np.array(found.values)
    positive = bool(values[0] > 0)
    if asked is None and positive and values.size > 2:
        # Whether ratios of neighbors are more alike than their distances.
        ratios, steps = np.diff(np.log(values)), np.diff(values)
        return bool(ratios.max() / ratios.min() < steps.max() / steps.min())
    if asked is None:
        return False
    if true_or_false(asked, "log_x") and not positive:
        raise ArgumentError(
            "log_x",
            f"must be False where {found.parameter} is {values[0]:g}",
            True,
            remedy="a logarithmic axis has numbers above 0 only",
        )
    return asked


def _draw(
    axes: Axes,
    panel: Panel,
    found: Sweep,
    look: dict[str, style.Look],
    *,
    log_x: bool,
    log_y: bool,
) -> None:
    for line in panel.lines:
        if line.rounds.size < _TREND and not line.is_level:
            draw_points(axes, line, look[line.policy])
        else:
            draw_line(axes, line, look[line.policy], log_x=log_x, all_marked=True)
    scale_regret(axes, panel, log_y=log_y)
    values = np.array(found.values)
    first, last = values[0], values[-1]
    if log_x:
        axes.set_xscale("log")
    # A default at the least value is apart from the axis.
    step = _MARGIN * np.log(last / first) if log_x else _MARGIN * (last - first)
    axes.set_xlim(first * np.exp(-step) if log_x else first - step, last)
    _set_ticks(axes, values, log_x=log_x)
    own = {line.policy: found.defaults.get(line.policy) for line in panel.lines}
    inside = {k: x for k, x in own.items() if x is not None and first <= x <= last}
    common = len({*inside.values()}) == 1
    for value in {*inside.values()}:
        label = next(each for each in inside if inside[each] == value)
        color = style.FAINT if common else look[label].color
        axes.axvline(value, color=color, linestyle=_DOTS, linewidth=1.1, zorder=1)


def _set_ticks(axes: Axes, values: np.ndarray, *, log_x: bool) -> None:
    """Put ticks at the values where there is room for them."""
    places = np.log(values) if log_x else values
    steps = np.diff(places)
    roomy = values.size <= _MOST_TICKS and steps.max() < 2 * steps.min()
    if roomy:
        axes.xaxis.set_major_locator(FixedLocator(list(values)))
    elif log_x:
        axes.xaxis.set_major_locator(LogLocator(base=10.0, subs=(1.0, 2.0, 5.0)))
    else:
        axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_minor_locator(NullLocator())
    digits = FuncFormatter(lambda value, _: f"{float(f'{value:.3g}'):g}")
    axes.xaxis.set_major_formatter(digits)


def _caption(found: Sweep, band: str) -> str:
    until = ", ".join(map(power_text, found.rounds))
    text = f"regret after {until} rounds, {band_text(list(found.panels), band)}"
    values = found.values
    inside = {x for x in found.defaults.values() if values[0] <= x <= values[-1]}
    if inside:
        listed = ", ".join(f"{value:g}" for value in sorted(inside))
        text += f"; dotted: default, {listed}"
    if found.left_out:
        text += f"; without {', '.join(found.left_out)} (no {found.parameter})"
    return text

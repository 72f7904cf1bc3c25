"""``plots.regret`` and ``plots.slopes``: mean cumulative regret, and its growth."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D

from bayesduel.analysis.anchored_bounds import anchored_bound
from bayesduel.analysis.measured_nodes import (
    checkpoint_index,
    measurements,
    recorded_notion,
)
from bayesduel.analysis.slopes import slope, slope_span
from bayesduel.analysis.text import format_with_error
from bayesduel.errors import ArgumentError
from bayesduel.plots import axes as layout
from bayesduel.plots import style
from bayesduel.plots.axes import Panel
from bayesduel.plots.bound_curves import (
    AskedBound,
    are_lettered,
    asked_bounds,
    bound_title,
    bounds_of_panel,
    draw_bounds,
    head_texts,
    power_text,
    within,
)
from bayesduel.plots.policy_looks import policy_looks
from bayesduel.plots.style import StyledFigure
from theory.arguments import integer_from, one_of, true_or_false

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesduel.analysis.measured_nodes import Result
    from bayesduel.plots.bound_curves import Bounds


_LINEAR = 3.0
"""A bound that ends higher than so many times the lines is on a logarithmic axis."""

_SHADED = (
    "circle: where the slope of a bound is drawn from; compare steepness, not height"
)


def regret(
    result: Result,
    *,
    notion: str | None = None,
    band: str = "standard error",
    bounds: Bounds = "auto",
    anchor: int | None = None,
    log_x: bool = True,
    log_y: bool | None = None,
    columns: int | None = None,
    colors: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    width: str | float = "full",
    height: float | None = None,
    labels: str = "auto",
) -> StyledFigure:
    """Draw mean cumulative regret over rounds, one panel per instance.

    Parameters
    ----------
    result : xarray.DataTree or xarray.Dataset
        What :func:`bayesduel.simulate` or :func:`bayesduel.compare` returned. Failed
        policies are left out.
    notion : str, optional
        Which recorded regret. By default Copeland regret, or the first
        notion that was recorded where that was not.
    band : {"standard error", "quantiles 10-90", "quantiles 25-75", "none"}
        Mean ± 1 standard error over runs, or quantiles of runs. The figure says which,
        and how many runs.
    bounds : "auto", None, name, bound, list of these or mapping, default "auto"
        Names: "lower" is the lower bound on this regret, of the stored matrix; for
        policies over a model (``posterior="bradley-terry"``) it is the one for policies
        that know the model, and words where the matrix does not obey it. The name of a
        policy ("d-ts") stands for the theorems on it (`theory.all_bounds`), with the
        parameters of the policy where it is shown. "all" is "lower" with the theorems
        on all policies shown that speak of this regret, and "auto" those of them that
        fit on the axes. Bounds: what functions of ``theory`` return. A mapping gives
        any of these per instance.

        Asymptotic bounds, lower and upper, are dashed slopes from one checkpoint on,
        over shaded rounds: from the mean of the policy that the bound is of, from the
        lowest mean if it is of several. Bounds that hold at finite horizons are solid
        curves (a level, where the policy was told the horizon), other kinds are words.
        The legend gives kind and condition; of five bounds or more, letters on the
        curves refer to it.
    anchor : int, optional
        The checkpoint where slopes start; two decades before the horizon by default.
    log_x, log_y : bool
        Logarithmic axes. By default regret has a linear one, unless a bound that was
        asked for ends above three times the lines. On a linear axis, policies with more
        than three times the regret of all others (which are at least half of them)
        leave the axis at the top, and the head of the panel says where they end; if you
        ask for such an axis, bounds above it are words.
    columns : int, optional
        Panels per row; by default two at full width, one at column width.
    colors, names : mapping, optional
        Colors of matplotlib, and texts in place of the labels of policies, such as
        ``{"d-ts": "#336699"}`` and ``{"d-ts": "Double TS"}``. A key is a label, or a
        name with parameters or without; without, it is about all parameters. By
        default each policy has the same color and marker in all figures.
    width : "full" (7 in), "column" (3.4 in) or float
    height : float, optional
    labels : {"auto", "direct", "legend"}
        Names at the ends of the lines or in a legend below; "auto" writes them at
        the ends when there is one panel.

    Returns
    -------
    StyledFigure
        A :class:`matplotlib.figure.Figure` that pyplot does not know: nothing to
        close, no global setting changed. Lines have identifiers ("panel/policy"; spaces
        become hyphens), as artists (``get_gid``) and in SVG files.

    Raises
    ------
    ValueError
        For an unknown notion, band, width, label mode or name of a bound, a bound that
        speaks of another regret, or a color or name of what is not shown.

    Examples
    --------
    >>> import bayesduel
    >>> result = bayesduel.simulate("cyclic", "d-ts", num_runs=4, horizon=1000)
    >>> bayesduel.plots.regret(result, width="column").axes[0].get_xlabel()
    'round t'
    """
    notion = recorded_notion(result, notion)
    groups = layout.panels(result, notion, band)
    look = policy_looks(
        (line.policy for panel in groups for line in panel.lines),
        colors=colors,
        names=names,
    )
    one_of(labels, ("auto", "direct", "legend"), "labels")
    log_x = true_or_false(log_x, "log_x")
    height = style.check_height(height)
    direct = labels == "direct" or (labels == "auto" and len(groups) == 1)
    inches = style.width_in_inches(width)
    if columns is None:
        columns = layout.usual_columns(len(groups), inches)
    columns = min(integer_from(columns, 1, "columns"), len(groups))
    rows = -(-len(groups) // columns)
    drawn = {
        panel.instance: bounds_of_panel(bounds, panel, notion, anchor, look)
        for panel in groups
    }
    if log_y is None:
        log_y = any(
            bound.makes_room and bound.highest > _LINEAR * panel.top
            for panel in groups
            for bound in drawn[panel.instance]
        )
    elif not true_or_false(log_y, "log_y"):
        # Bounds far above a linear axis are words.
        drawn = {x.instance: within(drawn[x.instance], x) for x in groups}
    beyond = [layout.beyond_text(panel, look, log_y=log_y) for panel in groups]
    heads = [
        layout.head_height(
            [*head_texts(shown), *filter(None, [text])],
            inches / columns,
            dense=are_lettered(shown),
        )
        for shown, text in zip(drawn.values(), beyond, strict=True)
    ]
    # A row is as high as the highest head in it.
    heads = sum(max(heads[at : at + columns]) for at in range(0, len(heads), columns))
    wide = inches / columns
    tall = heads + rows * wide * (0.5 if direct and wide >= 5.0 else 0.62) + 0.55
    with style.new_figure(inches, height or tall) as figure:
        y_label = layout.notion_label(notion)
        grid = layout.panel_grid(
            figure, len(groups), columns, x_label="round t", y_label=y_label
        )
        for axes, panel, text in zip(grid, groups, beyond, strict=True):
            style.name_in_file(axes, panel.instance)
            for line in panel.lines:
                layout.draw_line(axes, line, look[line.policy], log_x=log_x)
            shown = drawn[panel.instance]
            reach = max((x.highest for x in shown if x.makes_room), default=0.0)
            layout.scale_axes(axes, panel, log_x=log_x, log_y=log_y, reach=reach)
            handles = draw_bounds(axes, shown, look)
            handles += layout.words_only(text)
            layout.head_panel(
                axes,
                panel.instance,
                handles,
                inches / columns,
                dense=are_lettered(shown),
            )
        caption = layout.band_text(groups, band)
        if any(bound.slope for shown in drawn.values() for bound in shown):
            caption = layout.wrap_label(f"{caption}; {_SHADED}", inches)
        layout.caption_below(figure, caption, {} if direct else look)
        if direct:
            for axes, panel in zip(grid, groups, strict=True):
                layout.label_ends(figure, axes, panel, look)
    return figure


_DASHES = ((0, (4, 2)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))


def slopes(
    result: Result,
    *,
    from_round: int | None = None,
    to_round: int | None = None,
    notion: str | None = None,
    band: str = "standard error",
    bound: Bounds = "auto",
    colors: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    width: str | float = "full",
    height: float | None = None,
) -> StyledFigure:
    """Draw regret at long horizons, with each measured slope written beside its line.

    On a logarithmic axis of rounds, regret that grows like C log t is a straight line
    with slope C. A dashed line with the slope of the lower bound starts on every
    measured line at ``from_round`` (that of an upper bound on its own policy): where
    the two stay together, the policy grows as slowly as theory allows.

    Parameters
    ----------
    result : xarray.DataTree or xarray.Dataset
        Policies on one instance.
    from_round, to_round : int, optional
        Checkpoints between which the slopes are measured. By default the last two
        decades, as in :func:`bayesduel.analysis.summary`: from the checkpoint nearest
        (in log t) to a hundredth of the horizon, to the horizon.
    notion, band
        As in :func:`regret`.
    bound : "auto", None, name, bound or list of these
        Asymptotic ones, as in :func:`regret`; "auto" is "lower".
    colors, names, width, height
        As in :func:`regret`.

    Returns
    -------
    StyledFigure
        As of :func:`regret`.

    Raises
    ------
    ValueError
        When there are several instances, a round is no checkpoint, a policy has
        fewer than two checkpoints, or the bound is not asymptotic, speaks of another
        regret, or grows in another way than log t.

    Examples
    --------
    >>> import bayesduel
    >>> result = bayesduel.simulate("cyclic", "d-ts", num_runs=4, horizon=1000)
    >>> bayesduel.plots.slopes(result).axes[0].texts[0].get_text()
    'D-TS'
    """
    notion = recorded_notion(result, notion)
    groups = layout.panels(result, notion, band)
    if len(groups) != 1:
        instances = ", ".join(panel.instance for panel in groups)
        raise ArgumentError(
            "result",
            f"slopes are drawn for one instance, but there are {len(groups)} "
            f"({instances})",
            remedy=f"pick one, e.g. result[{groups[0].instance!r}]",
        )
    inches = style.width_in_inches(width)
    look = policy_looks(
        (line.policy for line in groups[0].lines), colors=colors, names=names
    )
    (panel,) = groups
    height = style.check_height(height)
    measured = [m for m in measurements(result) if m.has_regret]
    start, end = slope_span(measured, from_round, to_round)
    values = [slope(one, start, end, notion) for one in measured]
    requests = _bounds(bound, panel, notion)
    tall = inches * (0.58 if inches >= 5.0 else 0.9)
    with style.new_figure(inches, height or tall) as figure:
        axes = figure.subplots()
        style.name_in_file(axes, panel.instance)
        for line in panel.lines:
            layout.draw_line(axes, line, look[line.policy], log_x=True)
        layout.scale_axes(axes, panel, log_x=True, log_y=False)
        axes.axvspan(start, end, color=style.SHADE, zorder=0, linewidth=0)
        handles = _dashes(axes, panel, requests, start, end)
        caption = layout.band_text([panel], band)
        if inches < 5.0 and handles:
            # No room above the panel: the margin right of it holds the slopes.
            labels = [f"dashed: {handle.get_label()}" for handle in handles]
            entries = [layout.wrap_label(label, inches) for label in labels]
            caption, handles = "\n".join([*entries, caption]), []
        handles += layout.words_only(layout.beyond_text(panel, look))
        layout.head_panel(axes, panel.instance, handles, inches - 1.6)
        axes.set_xlabel("round t")
        axes.set_ylabel(layout.notion_label(notion))
        layout.caption_below(figure, caption, {})
        shown = [request.bound for request in requests if request.bound is not None]
        # Write name and slope at the end of each line, under one common heading.
        rows = []
        for line, value in zip(panel.lines, values, strict=True):
            color, name = look[line.policy].text_color, look[line.policy].name
            number = format_with_error(value.value, value.standard_error)
            first_text = layout.end_text(axes, name, color, bold=True)
            rows.append([first_text, layout.end_text(axes, number, color)])
        first = values[0]
        span = f"{power_text(first.from_round)} to {power_text(first.to_round)}"
        heading = [
            [layout.end_text(axes, text, style.FAINT)]
            for text in ("regret per log-round,", span)
        ]
        for bound in shown:
            side = "lower bound" if bound.kind == "asymptotic lower" else "upper bound"
            side = "under the model" if "(" in bound.name and len(shown) > 1 else side
            name = layout.end_text(axes, side, style.INK, bold=True)
            number = layout.end_text(axes, f"{bound.log_coefficient:.1f}", style.INK)
            heading.append([name, number])
        layout.place_at_ends(figure, axes, panel, rows, look, heading=heading)
    return figure


def _bounds(bound: Bounds, panel: Panel, notion: str) -> list[AskedBound]:
    from theory.choice import SUBSET_REGRET_NOTIONS

    automatic = isinstance(bound, str) and bound == "auto"
    # Without a matrix the world of the result may provide bounds.
    first = panel.first
    has_none = notion in SUBSET_REGRET_NOTIONS or (
        first.matrix is None and "lower_bounds" not in first.data.attrs
    )
    if bound is None or (automatic and has_none):
        return []
    requests = asked_bounds("lower" if automatic else bound, panel, notion)
    for request in requests:
        asymptotic = request.bound
        if asymptotic is None:
            continue
        grows_otherwise = asymptotic.power_terms or asymptotic.loglog_coefficient
        if grows_otherwise or not asymptotic.kind.startswith("asymptotic"):
            rule = (
                f"must be asymptotic and grow like log t, but {asymptotic.name} is "
                f"{asymptotic.kind!r} with {asymptotic.formula}"
            )
            raise ArgumentError("bound", rule, bound, remedy="use plots.regret")
        if not request.lines:
            rule = f"{asymptotic.name} is of {asymptotic.policy}, not shown here"
            raise ArgumentError("bound", rule, bound)
    return requests


def _dashes(
    axes: Axes, panel: Panel, requests: list[AskedBound], start: int, end: int
) -> list[Line2D]:
    """Start the slope of each bound on every line it is of; return legend entries."""
    ends = np.array([float(start), float(end)])
    top = axes.get_ylim()[1]
    entries: list[Line2D] = []
    styles = cycle(_DASHES)
    for request in requests:
        bound = request.bound
        if bound is None:
            entries += layout.words_only(request.text)
            continue
        dashed: dict[str, Any] = {"color": style.INK, "linewidth": 0.9}
        dashed["linestyle"] = next(styles)
        for line in request.lines:
            index = checkpoint_index(line.rounds, start, "from_round")
            anchored = anchored_bound(bound, start, float(line.mean[index]))
            axes.plot(ends, anchored(ends), zorder=5, **dashed)
            if line not in panel.beyond:
                top = max(top, float(anchored(end)) * 1.03)
        text = (
            f"{bound_title(bound)}: {bound.log_coefficient:.1f} per log-round, "
            f"from t\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{power_text(start)} on"
        )
        entries.append(Line2D([], [], label=text, **dashed))
    axes.set_ylim(axes.get_ylim()[0], top)
    return entries

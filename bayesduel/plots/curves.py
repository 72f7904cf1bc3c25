"""``plots.regret``: mean cumulative regret with bands and bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bayesduel.analysis.measured_nodes import recorded_notion
from bayesduel.plots import style
from bayesduel.plots.axes import (
    band_text,
    beyond_text,
    caption_below,
    draw_line,
    head_height,
    head_panel,
    label_ends,
    notion_label,
    panel_grid,
    scale_axes,
    usual_columns,
    words_only,
    wrap_label,
)
from bayesduel.plots.bound_curves import (
    DrawnBound,
    bounds_of_panel,
    draw_bounds,
    within,
)
from bayesduel.plots.lines import Panel, panels, with_names
from bayesduel.plots.policy_looks import policy_looks
from bayesduel.plots.style import StyledFigure
from theory.arguments import integer_from, one_of, true_or_false

if TYPE_CHECKING:
    from bayesduel.analysis.measured_nodes import Result
    from bayesduel.plots.asked_bounds import Bounds

_LINEAR = 3.0
"""A bound that ends higher than so many times the lines is on a logarithmic axis."""

_SHADED = (
    "shaded: bounds from a circle on are slopes per unit of natural log t, not levels"
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
        The legend gives kind, condition and checkpoint.
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
    >>> import numpy as np, xarray as xr
    >>> rounds = np.array([100, 1000, 10000])
    >>> values = np.log(rounds) * np.array([[2.0], [4.0]])
    >>> data = xr.Dataset(
    ...     {"regret": (("notion", "run", "checkpoint"), values[None])},
    ...     coords={"notion": ["copeland"], "checkpoint": rounds},
    ...     attrs={"instance": "toy", "policy": "P"},
    ... )
    >>> figure = regret(data, width="column")
    >>> figure.axes[0].get_xlabel()
    'round t'
    """
    notion = recorded_notion(result, notion)
    groups = panels(result, notion, band)
    look = policy_looks(
        (line.policy for panel in groups for line in panel.lines),
        colors=colors,
        names=names,
    )
    groups = with_names(groups, look)
    one_of(labels, ("auto", "direct", "legend"), "labels")
    log_x = true_or_false(log_x, "log_x")
    height = style.check_height(height)
    direct = labels == "direct" or (labels == "auto" and len(groups) == 1)
    inches = style.width_in_inches(width)
    usual = usual_columns(len(groups), inches)
    if columns is not None:
        usual = min(integer_from(columns, 1, "columns"), len(groups))
    columns = usual
    rows = -(-len(groups) // columns)
    drawn = {
        panel.instance: bounds_of_panel(bounds, panel, notion, anchor)
        for panel in groups
    }
    asked = None if log_y is None else true_or_false(log_y, "log_y")
    log_y, drawn = _axis_of_regret(asked, groups, drawn)
    beyond = [beyond_text(panel, log_y=log_y) for panel in groups]
    heads = [
        head_height(
            [*(each.text for each in shown), *filter(None, [text])], inches / columns
        )
        for shown, text in zip(drawn.values(), beyond, strict=True)
    ]
    # A row is as high as the highest head in it.
    heads = sum(max(heads[at : at + columns]) for at in range(0, len(heads), columns))
    wide = inches / columns
    tall = heads + rows * wide * (0.5 if direct and wide >= 5.0 else 0.62) + 0.55
    with style.new_figure(inches, height or tall) as figure:
        y_label = notion_label(notion)
        grid = panel_grid(
            figure, len(groups), columns, x_label="round t", y_label=y_label
        )
        for axes, panel, text in zip(grid, groups, beyond, strict=True):
            style.name_in_file(axes, panel.instance)
            for line in panel.lines:
                draw_line(axes, line, look[line.policy], log_x=log_x)
            shown = drawn[panel.instance]
            reach = max((x.highest for x in shown if x.makes_room), default=0.0)
            scale_axes(axes, panel, log_x=log_x, log_y=log_y, reach=reach)
            handles = draw_bounds(axes, shown, look)
            handles += words_only(text)
            head_panel(axes, panel.instance, handles, inches / columns)
        caption = band_text(groups, band)
        if any(each.slope for shown in drawn.values() for each in shown):
            caption = wrap_label(f"{caption}; {_SHADED}", inches)
        caption_below(figure, caption, {} if direct else look)
        if direct:
            for axes, panel in zip(grid, groups, strict=True):
                label_ends(figure, axes, panel, look)
    return figure


def _axis_of_regret(
    log_y: bool | None, groups: list[Panel], drawn: dict[str, list[DrawnBound]]
) -> tuple[bool, dict[str, list[DrawnBound]]]:
    """Choose the scale unless told; on a linear one, bounds far above are words."""
    if log_y is None:
        log_y = any(
            each.makes_room and each.highest > _LINEAR * panel.top
            for panel in groups
            for each in drawn[panel.instance]
        )
    elif not log_y:
        drawn = {x.instance: within(drawn[x.instance], x) for x in groups}
    return log_y, drawn

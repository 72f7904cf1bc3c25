"""``plots.slopes``: measured growth of regret beside the constant of the bound."""

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
from bayesduel.analysis.slopes import Slope, slope, slope_span
from bayesduel.analysis.text import format_with_error
from bayesduel.errors import ArgumentError
from bayesduel.plots import style
from bayesduel.plots.asked_bounds import AskedBound, asked_bounds
from bayesduel.plots.axes import (
    band_text,
    beyond_text,
    caption_below,
    draw_line,
    end_text,
    head_panel,
    notion_label,
    place_at_ends,
    scale_axes,
    words_only,
    wrap_label,
)
from bayesduel.plots.bound_curves import bound_title, power_text
from bayesduel.plots.lines import Panel, panels, with_names
from bayesduel.plots.policy_looks import policy_looks
from bayesduel.plots.style import StyledFigure
from theory.choice import SUBSET_REGRET_NOTIONS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesduel.analysis.measured_nodes import Result
    from bayesduel.plots.asked_bounds import Bounds
    from theory import RegretBound

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
    """Draw regret far out, with each measured slope written beside its line.

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
    notion : str, optional
        Which recorded regret. By default Copeland regret, or the first
        notion that was recorded where that was not.
    band : {"standard error", "quantiles 10-90", "none"}
        See :func:`regret`.
    bound : "auto", None, name, bound or list of these
        Asymptotic ones, as in :func:`regret`; "auto" is "lower".
    colors, names : mapping, optional
        See :func:`regret`.
    width, height
        See :func:`regret`.

    Returns
    -------
    StyledFigure
        See :func:`regret`.

    Raises
    ------
    ValueError
        When there are several instances, a round is no checkpoint, a policy has
        fewer than two checkpoints, or the bound is not asymptotic, speaks of another
        regret, or grows in another way than log t.

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
    >>> figure = slopes(data)
    >>> [text.get_text() for text in figure.axes[0].texts][:2]
    ['P', '3.0 ± 1.0']
    """
    notion = recorded_notion(result, notion)
    groups = panels(result, notion, band)
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
    (panel,) = with_names(groups, look)
    height = style.check_height(height)
    measured = [m for m in measurements(result) if m.has_regret]
    start, end = slope_span(measured, from_round, to_round)
    values = [slope(each, start, end, notion) for each in measured]
    asked = _bounds(bound, panel, notion)
    tall = inches * (0.58 if inches >= 5.0 else 0.9)
    with style.new_figure(inches, height or tall) as figure:
        axes = figure.subplots()
        style.name_in_file(axes, panel.instance)
        for line in panel.lines:
            draw_line(axes, line, look[line.policy], log_x=True)
        scale_axes(axes, panel, log_x=True, log_y=False)
        axes.axvspan(start, end, color=style.SHADE, zorder=0, linewidth=0)
        handles = _dashes(axes, panel, asked, start, end)
        caption = band_text([panel], band)
        if inches < 5.0 and handles:
            # No room above the panel: the margin right of it holds the slopes.
            labels = [f"dashed: {each.get_label()}" for each in handles]
            entries = [wrap_label(each, inches) for each in labels]
            caption, handles = "\n".join([*entries, caption]), []
        handles += words_only(beyond_text(panel))
        head_panel(axes, panel.instance, handles, inches - 1.6)
        axes.set_xlabel("round t")
        axes.set_ylabel(notion_label(notion))
        caption_below(figure, caption, {})
        shown = [each.bound for each in asked if each.bound is not None]
        _write_slopes(figure, axes, panel, values, look, shown)
    return figure


def _may_have_bound(panel: Panel) -> bool:
    """Return whether the result holds a matrix, or bounds that its world provides."""
    return panel.first.matrix is not None or "lower_bounds" in panel.first.data.attrs


def _bounds(bound: Bounds, panel: Panel, notion: str) -> list[AskedBound]:
    automatic = isinstance(bound, str) and bound == "auto"
    has_none = notion in SUBSET_REGRET_NOTIONS or not _may_have_bound(panel)
    if bound is None or (automatic and has_none):
        return []
    asked = asked_bounds("lower" if automatic else bound, panel, notion)
    for each in asked:
        found = each.bound
        if found is None:
            continue
        other = found.power_terms or found.loglog_coefficient
        if other or not found.kind.startswith("asymptotic"):
            raise ArgumentError(
                "bound",
                f"must be asymptotic and grow like log t, but {found.name} is "
                f"{found.kind!r} with {found.formula}",
                bound,
                remedy="use plots.regret",
            )
        if not each.lines:
            raise ArgumentError(
                "bound", f"{found.name} is of {found.policy}, not shown here", bound
            )
    return asked


def _dashes(
    axes: Axes, panel: Panel, asked: list[AskedBound], start: int, end: int
) -> list[Line2D]:
    """Start the slope of each bound on every line it is of; return legend entries."""
    ends = np.array([float(start), float(end)])
    top = axes.get_ylim()[1]
    entries: list[Line2D] = []
    styles = cycle(_DASHES)
    for each in asked:
        bound = each.bound
        if bound is None:
            entries += words_only(each.text)
            continue
        dashed: dict[str, Any] = {"color": style.INK, "linewidth": 0.9}
        dashed["linestyle"] = next(styles)
        for line in each.lines:
            place = checkpoint_index(line.rounds, start, "from_round")
            anchored = anchored_bound(bound, start, float(line.mean[place]))
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


def _write_slopes(
    figure: StyledFigure,
    axes: Axes,
    panel: Panel,
    values: list[Slope],
    look: dict[str, style.Look],
    bounds: list[RegretBound],
) -> None:
    """Write name and slope at the end of each line, under one common heading."""
    rows = []
    for line, value in zip(panel.lines, values, strict=True):
        color = look[line.policy].text_color
        number = format_with_error(value.value, value.standard_error)
        name = end_text(axes, line.title, color, bold=True)
        rows.append([name, end_text(axes, number, color)])
    first = values[0]
    span = f"{power_text(first.from_round)} to {power_text(first.to_round)}"
    heading = [
        [end_text(axes, text, style.FAINT)] for text in ("regret per log-round,", span)
    ]
    for bound in bounds:
        side = "lower bound" if bound.kind == "asymptotic lower" else "upper bound"
        side = "under the model" if "(" in bound.name and len(bounds) > 1 else side
        name = end_text(axes, side, style.INK, bold=True)
        number = end_text(axes, f"{bound.log_coefficient:.1f}", style.INK)
        heading.append([name, number])
    place_at_ends(figure, axes, panel, rows, look, heading=heading)

"""``plots.slopes``: measured growth of regret beside the constant of the bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.lines import Line2D

from bayesduel.analysis.anchored_bounds import anchored_bound, regret_bound
from bayesduel.analysis.measurements import checkpoint_index, measurements
from bayesduel.analysis.slopes import Slope, slope, slope_span
from bayesduel.analysis.text import format_with_error
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
from bayesduel.plots.bound_curves import bound_title, check_notion, lines_of, power_text
from bayesduel.plots.lines import Panel, panels
from bayesduel.plots.style import (
    FAINT,
    INK,
    SHADE,
    Look,
    StyledFigure,
    check_height,
    looks,
    new_figure,
    width_in_inches,
)
from theory.arguments import short_repr
from theory.choice import SUBSET_REGRET_NOTIONS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesduel.analysis.measurements import Result
    from theory import Optimum, RegretBound

__all__ = ["slopes"]


def slopes(
    result: Result,
    *,
    from_round: int | None = None,
    to_round: int | None = None,
    notion: str = "copeland",
    band: str = "standard error",
    bound: Optimum | RegretBound | str | None = "auto",
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
    notion : str, default "copeland"
        Which recorded regret.
    band : {"standard error", "quantiles 10-90", "none"}
        See :func:`regret`.
    bound : "auto", theory.Optimum, theory.RegretBound or None
        An asymptotic bound; "auto" is the lower bound on this regret, of the
        stored matrix.
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
    ...     attrs={"environment": "toy", "policy": "P"},
    ... )
    >>> figure = slopes(data)
    >>> [text.get_text() for text in figure.axes[0].texts][:2]
    ['P', '3.0 ± 1.0']
    """
    groups = panels(result, notion, band)
    if len(groups) != 1:
        names = ", ".join(panel.environment for panel in groups)
        raise ValueError(
            f"result: slopes are drawn for one instance, but there are "
            f"{len(groups)} ({names}); pick one, e.g. result[{groups[0].environment!r}]"
        )
    panel, inches = groups[0], width_in_inches(width)
    height = check_height(height)
    measured = [m for m in measurements(result) if m.has_regret]
    start, end = slope_span(measured, from_round, to_round)
    values = [slope(each, start, end, notion) for each in measured]
    theory_bound, note = _bound(bound, panel, notion)
    tall = inches * (0.58 if inches >= 5.0 else 0.9)
    with new_figure(inches, height or tall) as figure:
        axes = figure.subplots()
        look = looks(line.policy for line in panel.lines)
        for line in panel.lines:
            draw_line(axes, line, look[line.policy], log_x=True)
        scale_axes(axes, panel, log_x=True, log_y=False)
        axes.axvspan(start, end, color=SHADE, zorder=0, linewidth=0)
        handles = _dashes(axes, panel, theory_bound, note, start, end)
        caption = band_text([panel], band)
        if inches < 5.0 and handles:
            # No room above the panel: the margin right of it holds the slopes.
            entry = wrap_label(f"dashed: {handles[0].get_label()}", inches)
            caption, handles = f"{entry}\n{caption}", []
        handles += words_only(beyond_text(panel))
        head_panel(axes, panel.environment, handles, inches - 1.6)
        axes.set_xlabel("round t")
        axes.set_ylabel(notion_label(notion))
        caption_below(figure, caption, {})
        _write_slopes(figure, axes, panel, values, look, theory_bound)
    return figure


def _bound(
    bound: Optimum | RegretBound | str | None, panel: Panel, notion: str
) -> tuple[RegretBound | None, str]:
    if bound is None:
        return None, ""
    if isinstance(bound, str):
        if bound != "auto":
            raise ValueError(
                f"bound: must be 'auto', a bound or None, but is {short_repr(bound)}"
            )
        if panel.first.preference is None or notion in SUBSET_REGRET_NOTIONS:
            return None, ""
        lower, _, note = panel.first.lower_slope(notion)
        return lower, note
    inner = regret_bound(bound)
    check_notion(inner, notion)
    other = inner.power_terms or inner.loglog_coefficient
    if other or not inner.kind.startswith("asymptotic"):
        raise ValueError(
            f"bound: must be asymptotic and grow like log t, but {inner.name} is "
            f"{inner.kind!r} with {inner.formula}; use plots.regret"
        )
    if inner.policy and not lines_of(panel, inner.policy):
        raise ValueError(f"bound: {inner.name} is of {inner.policy}, not shown here")
    return inner, ""


def _dashes(
    axes: Axes,
    panel: Panel,
    bound: RegretBound | None,
    note: str,
    start: int,
    end: int,
) -> list[Line2D]:
    """Start the slope of the bound on every line it is of; return the legend entry."""
    if bound is None:
        return words_only(note)
    ends = np.array([float(start), float(end)])
    dashed = {"color": INK, "linewidth": 0.9, "linestyle": (0, (4, 2))}
    top = axes.get_ylim()[1]
    for line in lines_of(panel, bound.policy):
        anchor = float(line.mean[checkpoint_index(line.rounds, start, "from_round")])
        anchored = anchored_bound(bound, start, anchor)
        axes.plot(ends, anchored(ends), zorder=5, **dashed)
        if line not in panel.beyond:
            top = max(top, float(anchored(end)) * 1.03)
    text = (
        f"{bound_title(bound)}: {bound.log_coefficient:.1f} per log-round, "
        f"from t\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{power_text(start)} on"
    )
    axes.set_ylim(axes.get_ylim()[0], top)
    return [Line2D([], [], label=text, **dashed)]


def _write_slopes(
    figure: StyledFigure,
    axes: Axes,
    panel: Panel,
    values: list[Slope],
    look: dict[str, Look],
    bound: RegretBound | None,
) -> None:
    """Write name and slope at the end of each line, under one common heading."""
    rows = []
    for line, value in zip(panel.lines, values, strict=True):
        color = look[line.policy].text_color
        number = format_with_error(value.value, value.standard_error)
        rows.append(
            [
                end_text(axes, line.policy, color, bold=True),
                end_text(axes, number, color),
            ]
        )
    first = values[0]
    span = f"{power_text(first.from_round)} to {power_text(first.to_round)}"
    heading = [
        [end_text(axes, text, FAINT)] for text in ("regret per log-round,", span)
    ]
    if bound is not None:
        side = "lower bound" if bound.kind == "asymptotic lower" else "upper bound"
        heading.append(
            [
                end_text(axes, side, INK, bold=True),
                end_text(axes, f"{bound.log_coefficient:.1f}", INK),
            ]
        )
    place_at_ends(figure, axes, panel, rows, look, heading=heading)

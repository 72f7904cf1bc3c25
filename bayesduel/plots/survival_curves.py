"""``plots.survival``: how often the regret of a run exceeds a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import (
    LogFormatterMathtext,
    LogLocator,
    MaxNLocator,
    NullLocator,
    StrMethodFormatter,
)

from bayesduel.analysis.measured_nodes import checkpoint_index, recorded_notion
from bayesduel.plots import style
from bayesduel.plots.axes import (
    caption_below,
    head_panel,
    notion_label,
    panel_grid,
    runs_text,
    usual_columns,
    wrap_label,
)
from bayesduel.plots.bound_curves import power_text
from bayesduel.plots.lines import by_instance
from bayesduel.plots.policy_looks import policy_looks
from bayesduel.plots.style import StyledFigure

if TYPE_CHECKING:
    from jaxtyping import Float64
    from matplotlib.axes import Axes

    from bayesduel.analysis.measured_nodes import Measurement, Result


def survival(
    result: Result,
    *,
    checkpoint: int | None = None,
    notion: str | None = None,
    colors: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    width: str | float = "full",
    height: float | None = None,
) -> StyledFigure:
    """Draw the share of runs whose regret is at least x, one panel per instance.

    Both axes are logarithmic, so that the rare runs that a mean rests on are seen. The
    dashed line falls like 1/x. Every policy whose regret grows with the constant of the
    lower bound has a tail about that heavy (Fan and Glynn 2025, Theorem 1).

    Parameters
    ----------
    result : xarray.DataTree or xarray.Dataset
        What :func:`bayesduel.simulate` or :func:`bayesduel.compare` returned. Failed
        policies are left out.
    checkpoint : int, optional
        The round at which regret is read; by default the last of each policy.
    notion : str, optional
        Which recorded regret. By default Copeland regret, or the first
        notion that was recorded where that was not.
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
        When every policy failed, the round is no checkpoint, or the notion was not
        recorded.

    Examples
    --------
    >>> import numpy as np, xarray as xr
    >>> data = xr.Dataset(
    ...     {"regret": (("notion", "run", "checkpoint"), [[[1.0], [9.0], [3.0]]])},
    ...     coords={"notion": ["copeland"], "checkpoint": [100]},
    ...     attrs={"instance": "toy", "policy": "P"},
    ... )
    >>> figure = survival(data)
    >>> [round(float(y), 2) for y in figure.axes[0].lines[0].get_ydata()]
    [1.0, 0.67, 0.33]
    """
    notion = recorded_notion(result, notion)
    groups = by_instance(result)
    found = [measured for members in groups.values() for measured in members]
    values = {id(each): _final(each, checkpoint, notion) for each in found}
    look = policy_looks((x.policy for x in found), colors=colors, names=names)
    inches, height = style.width_in_inches(width), style.check_height(height)
    columns = usual_columns(len(groups), inches)
    rows = -(-len(groups) // columns)
    tall = rows * inches / columns * 0.72 + 0.7
    with style.new_figure(inches, height or tall) as figure:
        grid = panel_grid(
            figure,
            len(groups),
            columns,
            x_label=notion_label(notion),
            y_label="share of runs with at least that regret",
        )
        for axes, (name, members) in zip(grid, groups.items(), strict=True):
            style.name_in_file(axes, name)
            _draw(axes, members, values, look)
            head_panel(axes, name, [], inches / columns)
        caption = wrap_label(_caption(found, values, checkpoint), inches)
        caption_below(figure, caption, look)
    return figure


def _final(
    measured: Measurement, checkpoint: int | None, notion: str
) -> Float64[np.ndarray, " run"]:
    """Return regret at the checkpoint, ascending."""
    place = -1
    if checkpoint is not None:
        place = checkpoint_index(measured.rounds, checkpoint, "checkpoint")
    return np.sort(measured.regret(notion)[:, place])


def _draw(
    axes: Axes,
    members: list[Measurement],
    values: dict[int, Float64[np.ndarray, " run"]],
    look: dict[str, style.Look],
) -> None:
    largest, rarest = 0.0, 1.0
    for measured in members:
        regret = values[id(measured)]
        share = np.arange(regret.size, 0, -1) / regret.size
        shown = look[measured.policy]
        (line,) = axes.step(
            regret, share, where="pre", color=shown.color, linestyle=shown.line
        )
        style.name_in_file(line, str(axes.get_gid()), measured.policy)
        axes.plot(
            regret[-1:], share[-1:], shown.marker, color=shown.color,
            markeredgecolor="white", markeredgewidth=0.4, zorder=4,
        )  # fmt: skip
        largest, rarest = max(largest, regret[-1]), min(rarest, share[-1])
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(base=10.0))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_ylim(rarest * 0.7, 1.3)
    if rarest < 1.0 and largest > 0.0:
        limits = axes.get_xlim()
        ends = np.array([largest * rarest, largest])
        axes.plot(
            ends, largest * rarest / ends, color=style.FAINT, linestyle=(0, (4, 2)),
            linewidth=0.8, zorder=1,
        )  # fmt: skip
        axes.set_xlim(limits)
    _label_regret(axes)
    style.light_grid(axes)


def _label_regret(axes: Axes) -> None:
    """Write numbers that do not overlap: round ones within a decade, powers beyond."""
    low, high = axes.get_xlim()
    axes.xaxis.set_minor_locator(NullLocator())
    if high > 1000.0 * low:
        axes.xaxis.set_major_locator(LogLocator(base=10.0, numticks=8))
        axes.xaxis.set_major_formatter(LogFormatterMathtext())
        return
    within = high <= 10.0 * low
    ticks = MaxNLocator(4) if within else LogLocator(base=10.0, subs=(1.0, 2.0, 5.0))
    axes.xaxis.set_major_locator(ticks)
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.9g}"))


def _caption(
    found: list[Measurement],
    values: dict[int, Float64[np.ndarray, " run"]],
    checkpoint: int | None,
) -> str:
    rounds = sorted({checkpoint or int(each.rounds[-1]) for each in found})
    until = " to ".join(map(power_text, dict.fromkeys([rounds[0], rounds[-1]])))
    return (
        f"{runs_text(values[id(each)].size for each in found)}, regret after {until} "
        "rounds; a marker is the largest; dashed: falls like 1/x"
    )

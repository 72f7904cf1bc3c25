"""``plots.survival`` and ``plots.false_stops``: shares of runs that went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import (
    LogFormatterMathtext,
    LogLocator,
    MaxNLocator,
    NullLocator,
    PercentFormatter,
    StrMethodFormatter,
)

from bayesduel.analysis.audited_rules import StoppingAudit, false_until
from bayesduel.analysis.measured_nodes import checkpoint_index, recorded_notion
from bayesduel.errors import ArgumentError
from bayesduel.ops.shares import share_interval
from bayesduel.plots import axes as layout
from bayesduel.plots import style
from bayesduel.plots.bound_curves import power_text
from bayesduel.plots.policy_looks import policy_looks, rule_looks
from bayesduel.plots.style import StyledFigure

if TYPE_CHECKING:
    from jaxtyping import Float64, Int
    from matplotlib.axes import Axes

    from bayesduel.analysis.audited_rules import AuditedRule
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
        As in :func:`regret`.
    colors, names, width, height
        As in :func:`regret`.

    Returns
    -------
    StyledFigure
        As of :func:`regret`.

    Raises
    ------
    ValueError
        When every policy failed, the round is no checkpoint, or the notion was not
        recorded.

    Examples
    --------
    >>> import bayesduel
    >>> result = bayesduel.simulate("cyclic", "d-ts", num_runs=4, horizon=1000)
    >>> bayesduel.plots.survival(result).axes[0].get_xscale()
    'log'
    """
    notion = recorded_notion(result, notion)
    groups = layout.by_instance(result)
    shown = [measured for members in groups.values() for measured in members]
    # Regret at the checkpoint, ascending.
    values = {}
    for one in shown:
        index = -1
        if checkpoint is not None:
            index = checkpoint_index(one.rounds, checkpoint, "checkpoint")
        values[id(one)] = np.sort(one.regret(notion)[:, index])
    look = policy_looks((x.policy for x in shown), colors=colors, names=names)
    inches, height = style.width_in_inches(width), style.check_height(height)
    columns = layout.usual_columns(len(groups), inches)
    rows = -(-len(groups) // columns)
    tall = rows * inches / columns * 0.72 + 0.7
    with style.new_figure(inches, height or tall) as figure:
        grid = layout.panel_grid(
            figure, len(groups), columns, x_label=layout.notion_label(notion),
            y_label="share of runs with at least that regret",
        )  # fmt: skip
        for axes, (name, members) in zip(grid, groups.items(), strict=True):
            style.name_in_file(axes, name)
            _draw_survival(axes, members, values, look)
            layout.head_panel(axes, name, [], inches / columns)
        rounds = sorted({checkpoint or int(one.rounds[-1]) for one in shown})
        until = " to ".join(map(power_text, dict.fromkeys([rounds[0], rounds[-1]])))
        caption = (
            f"{layout.runs_text(values[id(one)].size for one in shown)}, regret after "
            f"{until} rounds; a marker is the largest; dashed: falls like 1/x"
        )
        layout.caption_below(figure, layout.wrap_label(caption, inches), look)
    return figure


def _draw_survival(
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


_POINTS = 120  # Per line; steps between them are not seen.

_MARKS = 6

_DASH = 4.0  # In widths of the line.


def false_stops(
    audit: StoppingAudit,
    *,
    colors: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    width: str | float = "full",
    height: float | None = None,
) -> StyledFigure:
    """Draw the share of studies that have stopped at a wrong arm, over the votes.

    One panel per instance, one line per rule. The band is the exact interval of 95 % of
    Clopper and Pearson (1934) at each number of votes; the gray line is the error that
    was accepted. Rules with the same share throughout are one line in their colors in
    turn, over a gray band.

    Parameters
    ----------
    audit : StoppingAudit
        What :func:`bayesduel.analysis.audit_stopping` returned.
    colors, names : mapping, optional
        Colors of matplotlib, and what rules are called, by rule as ``audit`` has it.
    width, height
        See :func:`regret`.

    Returns
    -------
    StyledFigure
        As of :func:`regret`.

    Examples
    --------
    >>> from bayesduel.analysis import audit_stopping
    >>> audit = audit_stopping(
    ...     "cyclic", "balanced", rules=["p-value:alpha=0.05"], budget=99, num_runs=50
    ... )
    >>> false_stops(audit).axes[0].get_xlabel()
    'votes, looked at after each'
    """
    if not isinstance(audit, StoppingAudit):
        rule = "must be what analysis.audit_stopping returned"
        raise ArgumentError("audit", rule, audit)
    panels: dict[str, list[AuditedRule]] = {}
    for audited in audit.rules:
        panels.setdefault(audited.instance, []).append(audited)
    inches, height = style.width_in_inches(width), style.check_height(height)
    columns = 2 if len(panels) == 4 else min(len(panels), 3)
    columns = columns if inches >= layout.TWO_COLUMNS else 1
    rows = -(-len(panels) // columns)
    tall = rows * max(1.9, inches / columns * 0.7) + 0.8
    # Numbers of votes at which there is a look, evenly on a log scale.
    first, last = audit.look_every, max(audit.budget, audit.look_every)
    wanted = np.geomspace(first, last, _POINTS) / first
    looks = np.unique(np.floor(wanted + 1e-9).astype(np.int64)) * first
    looked = np.unique(np.append(looks, audit.budget))
    look = rule_looks(
        (audited.rule for audited in audit.rules), colors=colors, names=names
    )
    after = "each" if audit.look_every == 1 else f"every {audit.look_every}"
    with style.new_figure(inches, height or tall) as figure:
        grid = layout.panel_grid(
            figure, len(panels), columns, x_label=f"votes, looked at after {after}",
            y_label="studies stopped\nat a wrong arm", share=True,
        )  # fmt: skip
        for axes, (name, members) in zip(grid, panels.items(), strict=True):
            style.name_in_file(axes, name)
            _draw_false_stops(axes, members, looked, look, audit.delta)
            none = [look[x.rule].name for x in members if not x.row().false_share]
            words = f"no study stopped at a wrong arm: {', '.join(none)}"
            layout.head_panel(
                axes, name, layout.words_only(words if none else ""), inches / columns
            )
        top = max([audit.delta, *(axes.dataLim.ymax for axes in grid)])
        # Room for the width of a line at 0.
        grid[0].set_ylim(-0.03 * top, min(1.02, 1.05 * top))
        runs = layout.runs_text(audited.num_runs for audited in audit.rules)
        caption = (
            f"{audit.policy} asks; {runs} of at most {audit.budget:,} votes; bands: "
            f"exact 95 % intervals; gray line: the accepted error, {audit.delta:g}"
        )
        layout.caption_below(figure, layout.wrap_label(caption, inches), look)
    return figure


def _draw_false_stops(
    axes: Axes,
    members: list[AuditedRule],
    looked: Int[np.ndarray, " look"],
    look: dict[str, style.Look],
    delta: float,
) -> None:
    every = max(1, len(looked) // _MARKS)
    counts = [false_until(audited, looked) for audited in members]
    same = [
        (audited.num_runs, *wrong)
        for audited, wrong in zip(members, counts, strict=True)
    ]
    for index, (audited, wrong) in enumerate(zip(members, counts, strict=True)):
        shown, sharing = look[audited.rule], same.count(same[index])
        low, high = share_interval(wrong, audited.num_runs)
        if same.index(same[index]) == index:
            axes.fill_between(
                looked, low, high, step="post", alpha=0.18, linewidth=0,
                color=shown.color if sharing == 1 else style.FAINT,
            )  # fmt: skip
        # One line for several rules has the colors of all in turn.
        turn = same[:index].count(same[index])
        dashes = shown.line
        if sharing > 1:
            start = -_DASH * turn % (_DASH * sharing)
            dashes = (start, (_DASH, _DASH * (sharing - 1)))
        # Moved on from line to line: markers of lines at zero do not cover each other.
        marks = list(range(index * every // len(members), len(looked) - 1, every))
        marks += [len(looked) - 1] if wrong[-1] else []
        (line,) = axes.step(
            looked, wrong / audited.num_runs, where="post", color=shown.color,
            linestyle=dashes, marker=shown.marker, markevery=marks,
            markeredgecolor="white", markeredgewidth=0.4, zorder=4.0 - 0.1 * index,
        )  # fmt: skip
        style.name_in_file(line, str(axes.get_gid()), audited.rule)
    axes.axhline(delta, color=style.FAINT, linewidth=0.8, zorder=2)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(base=10.0))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(PercentFormatter(xmax=1.0, decimals=None))
    style.light_grid(axes)

"""``plots.false_stops``: how often rules have stopped wrongly after so many looks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import LogLocator, NullLocator, PercentFormatter

from bayesduel.analysis.audited_rules import (
    StoppingAudit,
    false_until,
)
from bayesduel.errors import ArgumentError
from bayesduel.ops.shares import share_interval
from bayesduel.plots import style
from bayesduel.plots.axes import (
    TWO_COLUMNS,
    caption_below,
    head_panel,
    panel_grid,
    runs_text,
    words_only,
    wrap_label,
)
from bayesduel.plots.policy_looks import rule_looks
from bayesduel.plots.style import StyledFigure

if TYPE_CHECKING:
    from jaxtyping import Int
    from matplotlib.axes import Axes

    from bayesduel.analysis.audited_rules import AuditedRule

_POINTS = 120
"""Per line; steps between them are not seen."""

_MARKS = 6

_DASH = 4.0
"""In widths of the line."""


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
        See :func:`regret`.

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
    for each in audit.rules:
        panels.setdefault(each.instance, []).append(each)
    inches, height = style.width_in_inches(width), style.check_height(height)
    columns = 2 if len(panels) == 4 else min(len(panels), 3)
    columns = columns if inches >= TWO_COLUMNS else 1
    rows = -(-len(panels) // columns)
    tall = rows * max(1.9, inches / columns * 0.7) + 0.8
    looked = _looks_of(audit)
    look = rule_looks((each.rule for each in audit.rules), colors=colors, names=names)
    after = "each" if audit.look_every == 1 else f"every {audit.look_every}"
    with style.new_figure(inches, height or tall) as figure:
        grid = panel_grid(
            figure,
            len(panels),
            columns,
            x_label=f"votes, looked at after {after}",
            y_label="studies stopped\nat a wrong arm",
            share=True,
        )
        for axes, (name, members) in zip(grid, panels.items(), strict=True):
            style.name_in_file(axes, name)
            _draw(axes, members, looked, look, audit.delta)
            none = [look[x.rule].name for x in members if not x.row().false_share]
            words = f"no study stopped at a wrong arm: {', '.join(none)}"
            head_panel(axes, name, words_only(words if none else ""), inches / columns)
        top = max([audit.delta, *(axes.dataLim.ymax for axes in grid)])
        # Room for the width of a line at 0.
        grid[0].set_ylim(-0.03 * top, min(1.02, 1.05 * top))
        runs = runs_text(each.num_runs for each in audit.rules)
        caption = (
            f"{audit.policy} asks; {runs} of at most {audit.budget:,} votes; bands: "
            f"exact 95 % intervals; gray line: the accepted error, {audit.delta:g}"
        )
        caption_below(figure, wrap_label(caption, inches), look)
    return figure


def _looks_of(audit: StoppingAudit) -> Int[np.ndarray, " look"]:
    """Return numbers of votes at which there is a look, evenly on a log scale."""
    first, last = audit.look_every, max(audit.budget, audit.look_every)
    wanted = np.geomspace(first, last, _POINTS) / first
    found = np.unique(np.floor(wanted + 1e-9).astype(np.int64)) * first
    return np.unique(np.append(found, audit.budget))


def _draw(
    axes: Axes,
    members: list[AuditedRule],
    looked: Int[np.ndarray, " look"],
    look: dict[str, style.Look],
    delta: float,
) -> None:
    every = max(1, len(looked) // _MARKS)
    counts = [false_until(each, looked) for each in members]
    same = [
        (each.num_runs, *wrong) for each, wrong in zip(members, counts, strict=True)
    ]
    for place, (each, wrong) in enumerate(zip(members, counts, strict=True)):
        shown, sharing = look[each.rule], same.count(same[place])
        low, high = share_interval(wrong, each.num_runs)
        if same.index(same[place]) == place:
            axes.fill_between(
                looked, low, high, step="post", alpha=0.18, linewidth=0,
                color=shown.color if sharing == 1 else style.FAINT,
            )  # fmt: skip
        # One line for several rules has the colors of all in turn.
        turn = same[:place].count(same[place])
        dashes = shown.line
        if sharing > 1:
            start = -_DASH * turn % (_DASH * sharing)
            dashes = (start, (_DASH, _DASH * (sharing - 1)))
        # Moved on from line to line: markers of lines at zero do not cover each other.
        marks = list(range(place * every // len(members), len(looked) - 1, every))
        marks += [len(looked) - 1] if wrong[-1] else []
        (line,) = axes.step(
            looked, wrong / each.num_runs, where="post", color=shown.color,
            linestyle=dashes, marker=shown.marker, markevery=marks,
            markeredgecolor="white", markeredgewidth=0.4, zorder=4.0 - 0.1 * place,
        )  # fmt: skip
        style.name_in_file(line, str(axes.get_gid()), each.rule)
    axes.axhline(delta, color=style.FAINT, linewidth=0.8, zorder=2)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(base=10.0))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(PercentFormatter(xmax=1.0, decimals=None))
    style.light_grid(axes)

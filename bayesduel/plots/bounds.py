"""Which bounds a panel shows, and how: anchored slope, curve, or words only."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.analysis.bounds import anchored_bound, lower_bound, regret_bound
from bayesduel.analysis.measurements import checkpoint_index
from bayesduel.analysis.slopes import last_decades
from bayesduel.analysis.summaries import BOUNDED_NOTIONS
from bayesduel.analysis.text import format_number
from bayesduel.plots.lines import Line, Panel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from theory import Optimum, RegretBound

    OneBound = Optimum | RegretBound
    Bounds = str | None | OneBound | Iterable[OneBound] | Mapping[str, Any]

__all__ = ["DrawnBound", "anchor_of", "bounds_of_panel", "power_text"]

# Statements about growth, not about the level at a finite horizon.
_GROWTH_ONLY = ("asymptotic lower", "asymptotic upper", "heuristic")
# Two constants closer than this (relative) share one line.
_SAME = 1e-6


@dataclass(frozen=True)
class DrawnBound:
    """One bound in one panel.

    Attributes
    ----------
    text : str
        For the legend: name, constant, and where it is anchored or why it is not
        drawn.
    rounds, values : float (n,)
        The curve; empty when only the text is shown.
    slope : bool
        Whether it is a slope from an anchor; a curve of its own otherwise.
    """

    text: str
    rounds: NDArray[np.float64]
    values: NDArray[np.float64]
    slope: bool


def power_text(rounds: int) -> str:
    """Return a round number for a figure, e.g. "$10^{6}$"; "2,500" if no power."""
    text = str(rounds)
    if len(text) > 2 and text.rstrip("0") == "1":
        return f"$10^{{{len(text) - 1}}}$"
    return f"{rounds:,}"


def anchor_of(panel: Panel, anchor: int | None) -> tuple[int, float]:
    """Return the checkpoint where lower bounds start, and the lowest mean there.

    Parameters
    ----------
    panel : Panel
        Only policies that reach the longest horizon count.
    anchor : int, optional
        A checkpoint; by default two decades before the horizon.

    Raises
    ------
    ValueError
        When it is no checkpoint of the policies that count.
    """
    longest = [line for line in panel.lines if line.rounds[-1] == panel.horizon]
    if anchor is None:
        rounds = longest[0].rounds
        anchor = last_decades(rounds)[0] if rounds.size > 1 else int(rounds[0])
        return anchor, min(_mean_at(line, anchor) for line in longest)
    values = [
        float(line.mean[checkpoint_index(line.rounds, anchor, "anchor")])
        for line in longest
    ]
    return anchor, min(values)


def _mean_at(line: Line, round_: int) -> float:
    """Mean regret at a round, linear in log t between checkpoints."""
    return float(np.interp(math.log(round_), np.log(line.rounds), line.mean))


def bounds_of_panel(
    bounds: Bounds, panel: Panel, notion: str, anchor: int | None
) -> list[DrawnBound]:
    """Return what a panel shows of its bounds.

    Raises
    ------
    ValueError
        When a bound speaks of another regret than ``notion``, or ``bounds`` is not
        understood.
    """
    if isinstance(bounds, Mapping):
        per_environment: Any = bounds
        bounds = per_environment.get(panel.environment)
    if bounds is None or bounds is False:
        return []
    if isinstance(bounds, str):
        if bounds != "auto":
            raise ValueError(
                f"bounds: must be 'auto', None, a bound, a list of bounds or a mapping "
                f"from environment to these, but is {bounds!r}"
            )
        return _automatic(panel, notion, anchor)
    many = bounds if isinstance(bounds, Iterable) else [bounds]
    return [_drawn(regret_bound(each), panel, notion, anchor) for each in many]


def _automatic(panel: Panel, notion: str, anchor: int | None) -> list[DrawnBound]:
    """Give the Copeland lower bound, and the ECW-RMED constant where it differs.

    The former starts at the lowest mean, the latter at that of its own policy.
    """
    if notion not in BOUNDED_NOTIONS or panel.first.preference is None:
        return []
    optimum, note = lower_bound(panel.first.preference, panel.first.arms)
    if optimum is None:
        nothing = np.empty(0)
        return [DrawnBound(note, nothing, nothing, slope=True)]
    shown = [_drawn(optimum.bound, panel, notion, anchor)]
    own = tuple(
        line
        for line in panel.lines
        if line.policy.startswith("ECW-RMED") and line.rounds[-1] == panel.horizon
    )
    if own:
        from theory import ecw_rmed_constant

        efficient = ecw_rmed_constant(panel.first.preference)
        if efficient.value > optimum.value * (1 + _SAME):
            alone = replace(panel, lines=own)
            shown.append(_drawn(efficient.bound, alone, notion, anchor))
    return shown


def _drawn(
    bound: RegretBound, panel: Panel, notion: str, anchor: int | None
) -> DrawnBound:
    speaks_of = str(bound.regret)
    if speaks_of != notion and not {speaks_of, notion} <= set(BOUNDED_NOTIONS):
        raise ValueError(
            f"bounds: {bound.name} speaks of {speaks_of} regret, the figure shows "
            f"{notion}; draw a bound only over its own regret"
        )
    nothing = np.empty(0)
    if bound.kind == "order only":
        text = f"{bound.name}: order of growth only, not drawn"
        return DrawnBound(text, nothing, nothing, slope=False)
    if bound.kind in _GROWTH_ONLY:
        return _anchored(bound, panel, anchor)
    return _upper(bound, panel)


def _anchored(bound: RegretBound, panel: Panel, anchor: int | None) -> DrawnBound:
    round_, value = anchor_of(panel, anchor)
    line = anchored_bound(bound, round_, value)
    # Straight over log t, unless it grows faster.
    num_points = 64 if bound.power_terms else 2
    rounds = np.geomspace(round_, panel.horizon, num_points)
    kind = "" if bound.kind == "asymptotic lower" else f" ({bound.kind})"
    slope = f"slope {format_number(bound.log_coefficient)}"
    growth = _formula(bound) if bound.power_terms else slope
    text = f"{bound.name}{kind}: {growth}, from {power_text(round_)}"
    return DrawnBound(text, rounds, line(rounds), slope=True)


def _formula(bound: RegretBound) -> str:
    """Return the leading terms in the letter of the axis."""
    if bound.power_terms:
        return bound.formula.replace("T", "t")
    formula = f"{format_number(bound.log_coefficient)} log t"
    if bound.loglog_coefficient:
        formula += f" + {format_number(bound.loglog_coefficient)} log log t"
    return formula


def _upper(bound: RegretBound, panel: Panel) -> DrawnBound:
    start = max(float(bound.minimum_horizon), float(panel.lines[0].rounds[0]))
    text = f"{bound.name}: {_formula(bound)}"
    if start < panel.horizon:
        rounds = np.geomspace(start, panel.horizon, 64)
        values = np.asarray(bound(rounds), dtype=np.float64)
        if float(values.max()) <= panel.top * 1.05:
            return DrawnBound(text, rounds, values, slope=False)
    nothing = np.empty(0)
    return DrawnBound(f"{text} (above the axes)", nothing, nothing, slope=False)

"""Which bounds a panel shows, and how: anchored slope, curve, or words only."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.analysis.anchored_bounds import (
    BOUNDED_NOTIONS,
    anchored_bound,
    regret_bound,
)
from bayesduel.analysis.measurements import checkpoint_index
from bayesduel.analysis.slopes import last_decades
from bayesduel.analysis.text import format_number
from bayesduel.plots.lines import Line, Panel
from theory.arguments import items_of, short_repr

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from theory import Optimum, RegretBound

    OneBound = Optimum | RegretBound
    Bounds = str | None | OneBound | Iterable[OneBound] | Mapping[str, Any]

__all__ = [
    "DrawnBound",
    "anchor_of",
    "bound_title",
    "bounds_of_panel",
    "check_notion",
    "lines_of",
    "power_text",
]

# Statements about growth, not about the level at a finite horizon.
_GROWTH_ONLY = ("asymptotic lower", "asymptotic upper", "heuristic")
# Why a bound of another kind, but for "upper", is named only.
_NOT_DRAWN = {
    "order only": "order of growth only",
    "worst-case lower": "for some instance, not for a given one",
    "unproved": "not proved as printed",
}
# Two curves closer than this (relative) are one.
_SAME = 1e-6
# How far above the highest line a bound may end.
_ROOM = 1.05


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
    """Return the checkpoint where slopes start, and the lowest mean there.

    By default two decades before the horizon. Only policies that reach the longest
    horizon count; ``ValueError`` if it is no checkpoint of theirs.
    """
    longest = [line for line in panel.lines if line.rounds[-1] == panel.horizon]
    if anchor is None:
        # No bound is defined at round 1.
        rounds = longest[0].rounds
        rounds = rounds[(rounds > 1) | (rounds == panel.horizon)]
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
                f"from instance to these, but is {short_repr(bounds)}"
            )
        return _automatic(panel, notion, anchor)
    many = items_of(bounds, "bounds") if isinstance(bounds, Iterable) else [bounds]
    return [_drawn(regret_bound(each), panel, notion, anchor) for each in many]


def _automatic(panel: Panel, notion: str, anchor: int | None) -> list[DrawnBound]:
    """Give the lower bound, and what theorems on the policies shown fit on the axes."""
    if panel.first.preference is None:
        return []
    lower, _, note = panel.first.lower_slope(notion)
    if lower is None and notion in BOUNDED_NOTIONS:
        return [_words(note)]
    drawn = [] if lower is None else [_drawn(lower, panel, notion, anchor)]
    for bound in _theorems_on(panel):
        if _is_of(bound, notion):
            found = _drawn(bound, panel, notion, anchor)
            fits = found.rounds.size and found.values.max() <= panel.top * _ROOM
            # A line that is there already says nothing new.
            if fits and not any(_is_same(found, each) for each in drawn):
                drawn.append(found)
    return drawn


def _is_same(one: DrawnBound, other: DrawnBound) -> bool:
    return one.rounds.shape == other.rounds.shape and bool(
        np.allclose(one.rounds, other.rounds, rtol=_SAME)
        and np.allclose(one.values, other.values, rtol=_SAME)
    )


def _theorems_on(panel: Panel) -> Iterator[RegretBound]:
    """Apply the theorems on the policies shown, with the parameters of each."""
    from theory import all_bounds, known_theorems

    matrix = panel.first.matrix
    if matrix is None:
        return
    for policy in dict.fromkeys(each.policy for each in known_theorems()):
        own = [x for x in panel.lines if x.policy.partition(":")[0] == policy]
        if policy and len(own) == 1 and own[0].rounds[-1] == panel.horizon:
            for applied in all_bounds(
                matrix,
                policy=policy,
                parameters=own[0].parameters,
            ):
                yield from applied.bounds


def _drawn(
    bound: RegretBound, panel: Panel, notion: str, anchor: int | None
) -> DrawnBound:
    check_notion(bound, notion)
    if bound.kind in _NOT_DRAWN:
        return _words(f"{bound.name}: {_NOT_DRAWN[bound.kind]}, not drawn")
    if bound.kind in _GROWTH_ONLY:
        return _anchored(bound, panel, anchor)
    return _upper(bound, panel)


def _is_of(bound: RegretBound, notion: str) -> bool:
    return bound.regret == notion or {bound.regret, notion} <= set(BOUNDED_NOTIONS)


def check_notion(bound: RegretBound, notion: str) -> None:
    """Raise a ``ValueError`` when a bound speaks of another regret than the figure."""
    if not _is_of(bound, notion):
        raise ValueError(
            f"bounds: {bound.name} speaks of {bound.regret} regret, the figure shows "
            f"{notion}; draw a bound only over its own regret"
        )


def _words(text: str) -> DrawnBound:
    nothing = np.empty(0)
    return DrawnBound(text, nothing, nothing, slope=False)


def bound_title(bound: RegretBound) -> str:
    """Return name, kind where the name does not tell it, and condition."""
    kind = "" if bound.kind == "asymptotic lower" else bound.kind
    said = ", ".join(part for part in (kind, bound.condition) if part)
    return f"{bound.name} ({said})" if said else bound.name


def lines_of(panel: Panel, policy: str) -> tuple[Line, ...]:
    """Return the lines of a policy, whatever its options; all if its name is empty."""
    name = re.compile(rf"{re.escape(policy)}(?![\w+-])" if policy else "")
    return tuple(line for line in panel.lines if name.match(line.policy))


def _to_the_end(panel: Panel, policy: str) -> tuple[Line, ...]:
    return tuple(
        line for line in lines_of(panel, policy) if line.rounds[-1] == panel.horizon
    )


def _anchored(bound: RegretBound, panel: Panel, anchor: int | None) -> DrawnBound:
    """Draw growth from the mean of the policy it is of, from the lowest otherwise."""
    title, of = bound_title(bound), "lowest mean"
    if bound.policy:
        own = _to_the_end(panel, bound.policy)
        if not own:
            return _words(f"{title}: {bound.policy} is not shown, not drawn")
        panel, of = replace(panel, lines=own), f"mean of {bound.policy}"
    round_, value = anchor_of(panel, anchor)
    if round_ < bound.minimum_horizon:
        return _words(
            f"{title}: from {power_text(bound.minimum_horizon)} on, not drawn"
        )
    line = anchored_bound(bound, round_, value)
    # Straight over log t, unless there is another term.
    bent = bool(bound.power_terms or bound.loglog_coefficient)
    rounds = np.geomspace(round_, panel.horizon, 64 if bent else 2)
    slope = f"slope {format_number(bound.log_coefficient)}"
    growth = _formula(bound) if bent else slope
    text = f"{title}: {growth}, from {power_text(round_)} on ({of})"
    return DrawnBound(text, rounds, line(rounds), slope=True)


def _formula(bound: RegretBound) -> str:
    """Return the terms in the letter of the axis."""
    if bound.power_terms:
        return bound.formula.replace("T", "t")
    terms = [f"{format_number(bound.log_coefficient)} log t"]
    if bound.loglog_coefficient:
        terms.append(f"{format_number(bound.loglog_coefficient)} log log t")
    if bound.constant:
        terms.append(format_number(bound.constant))
    return " + ".join(terms).replace("+ -", "- ")


def _upper(bound: RegretBound, panel: Panel) -> DrawnBound:
    """Draw a bound that holds at finite horizons, where it fits on the axes."""
    text = f"{bound_title(bound)}: {_formula(bound)}"
    if panel.horizon < bound.minimum_horizon:
        return _words(f"{text} (from {power_text(bound.minimum_horizon)} on)")
    first = float(panel.lines[0].rounds[0])
    if bound.anytime:
        rounds = np.geomspace(max(bound.minimum_horizon, first), panel.horizon, 64)
        values = np.asarray(bound(rounds), dtype=np.float64)
    else:
        # It is of the end of the run, and regret is not larger before.
        rounds = np.array([first, float(panel.horizon)])
        values = np.full(2, float(bound(panel.horizon)))
        text += f" at t = {power_text(panel.horizon)}"
    if float(values.max()) > panel.top * _ROOM:
        return _words(f"{text} (above the axes)")
    return DrawnBound(text, rounds, values, slope=False)

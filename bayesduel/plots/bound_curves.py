"""Which bounds are asked of a panel, and how they are drawn: slope, curve, or words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import cycle, product
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from bayesduel.analysis.anchored_bounds import (
    BOUNDED_NOTIONS,
    anchored_bound,
    regret_bound,
)
from bayesduel.analysis.measured_nodes import checkpoint_index
from bayesduel.analysis.slopes import last_decades
from bayesduel.analysis.text import format_number
from bayesduel.errors import ArgumentError
from bayesduel.plots.axes import Line, Panel, words_only
from bayesduel.plots.style import INK, SHADE, Look, name_in_file
from theory import all_bounds, known_theorems
from theory.arguments import items_of
from theory.theorems import AppliedTheorem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from theory import Optimum, RegretBound, StructuredBound

    OneBound = str | Optimum | RegretBound | StructuredBound | AppliedTheorem
    Bounds = None | OneBound | Iterable[OneBound] | Mapping[str, Any]


_ALL, _AUTO, _LOWER = "all", "auto", "lower"


@dataclass(frozen=True)
class AskedBound:
    """A bound and the lines that it speaks of, or in words why there is none."""

    bound: RegretBound | None
    lines: tuple[Line, ...] = ()  # None where the policy is not shown.
    text: str = ""


def asked_bounds(bounds: Bounds, panel: Panel, notion: str) -> list[AskedBound]:
    """Return what is asked of a panel by other words than "auto"."""
    if isinstance(bounds, str | AppliedTheorem) or not isinstance(bounds, Iterable):
        items: Any = (bounds,)
    else:
        items = items_of(bounds, "bounds")
    requested: dict[AskedBound, None] = {}  # In order, and each of them once.
    for item in items:
        requested |= dict.fromkeys(_requested(item, panel, notion))
    return list(requested)


def bounds_that_apply(panel: Panel, notion: str) -> Iterator[AskedBound]:
    """Give the lower bounds, then what the theorems on the policies shown say."""
    for candidate in _lower(panel, notion):
        if candidate.bound is not None or notion in BOUNDED_NOTIONS:
            yield candidate
    for policy in sorted({line.policy.partition(":")[0] for line in panel.lines}):
        for candidate in _theorems(panel, policy) if known_theorems(policy) else ():
            if candidate.bound is not None and _is_of(candidate.bound, notion):
                yield candidate


def _requested(item: Any, panel: Panel, notion: str) -> Iterable[AskedBound]:
    if isinstance(item, AppliedTheorem):
        if not item.bounds:
            return [_nothing(item)]
        return [_given(bound, panel, notion) for bound in item.bounds]
    if not isinstance(item, str):
        return [_given(regret_bound(item), panel, notion)]
    name = item.strip().lower()
    if name == _LOWER:
        return _lower(panel, notion)
    if name == _ALL:
        return bounds_that_apply(panel, notion)
    theorems = list(_theorems(panel, _policy_called(item)))
    fitting = [x for x in theorems if x.bound is None or _is_of(x.bound, notion)]
    others = [x.bound for x in theorems if x.bound is not None]
    if not fitting:
        check_notion(others[0], notion, panel)
    return fitting


def _given(bound: RegretBound, panel: Panel, notion: str) -> AskedBound:
    check_notion(bound, notion, panel)
    lines = _lines_called(panel, bound.policy) if bound.policy else panel.lines
    return AskedBound(bound, lines)


def _nothing(applied: AppliedTheorem) -> AskedBound:
    text = f"{applied.theorem.name}: not defined ({applied.reason})"
    return AskedBound(None, text=text)


def _lower(panel: Panel, notion: str) -> Iterator[AskedBound]:
    """Give the lower bound of each class of matrices that policies shown presume."""
    provided = "lower_bounds" in panel.first.data.attrs
    if panel.first.preference is None and not provided:
        return
    for model in dict.fromkeys(line.model for line in panel.lines):
        lower, _, note = panel.first.lower_slope(notion, model)
        lines = tuple(line for line in panel.lines if line.model == model)
        yield AskedBound(lower, lines, note)


def _theorems(panel: Panel, policy: str) -> Iterator[AskedBound]:
    """Apply the theorems on a policy, with the parameters of each line of it."""
    from bayesduel.policies import parameters
    from bayesduel.policies.registry import entries

    instance = panel.first.matrix
    instance = panel.first.choice_table if instance is None else instance
    if instance is None:
        text = f"{policy}: the result does not hold what its theorems are about"
        yield AskedBound(None, text=text)
        return
    lines: Iterable[Line | None] = _lines_called(panel, policy) or (None,)
    applied_theorems: list[tuple[AppliedTheorem, Line | None]] = []
    for line in lines:
        if line is not None:
            values = line.parameters
        else:
            default = (x.default for x in entries().values() if x.acronym == policy)
            values = parameters(next(default))
        every = all_bounds(instance, policy=policy, parameters=values)
        applied_theorems += [(applied, line) for applied in every]
    defined = {
        applied.theorem.name for applied, _ in applied_theorems if applied.bounds
    }
    for applied, line in applied_theorems:
        for bound in applied.bounds:
            yield AskedBound(bound, (line,) if line else ())
        # A theorem may be about only one of two forms of a policy.
        if applied.theorem.name not in defined:
            yield _nothing(applied)


def _lines_called(panel: Panel, policy: str) -> tuple[Line, ...]:
    """Return the lines of a policy by its acronym, whatever its parameters."""
    return tuple(x for x in panel.lines if x.policy.partition(":")[0] == policy)


def _policy_called(name: str) -> str:
    """Return the acronym of a policy that theorems are about."""
    from bayesduel.errors import near_names
    from bayesduel.policies.registry import entries

    bounded = {theorem.policy for theorem in known_theorems()} - {""}
    names = {
        key: entry.acronym
        for key, entry in entries().items()
        if entry.acronym in bounded
    }
    for key, acronym in names.items():
        if name.strip().lower() in (key, acronym.lower()):
            return acronym
    words = (_AUTO, _LOWER, _ALL, *names)
    rule = (
        f"must be a bound, one of {', '.join(words[:3])}, or a policy that a theorem "
        "is about"
    )
    remedy = f"{near_names(name, words)}policies: {', '.join(names)}"
    raise ArgumentError("bounds", rule, name, remedy=remedy)


def _is_of(bound: RegretBound, notion: str) -> bool:
    return bound.regret == notion or {bound.regret, notion} <= set(BOUNDED_NOTIONS)


def check_notion(bound: RegretBound, notion: str, panel: Panel) -> None:
    """Raise a ``ValueError`` when a bound speaks of another regret than the figure."""
    if _is_of(bound, notion):
        return
    wanted = bound.regret
    remedy = f"notion={wanted!r} (--regret {wanted}) draws it"
    if wanted not in panel.first.notions:
        remedy += ", once the simulation has recorded it by the same option"
    rule = f"{bound.name} speaks of {wanted} regret, the figure shows {notion}"
    raise ArgumentError("bounds", rule, bound.name, remedy=remedy)


# Dashes of bounds that are slopes, and of those that are levels.
_SLOPES = ((0, (4, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))
_LEVELS = ("-", (0, (12, 1.2)), (0, (12, 1.2, 1.2, 1.2)))

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
# So many bounds have a line each above the panel; more are lettered, in one text.
_MOST_LISTED = 4
# Where letters stand along their curves, as shares of the axis between the ends.
_LETTERS = (0.35, 0.95)


@dataclass(frozen=True)
class DrawnBound:
    """One bound in one panel: a text, and a curve, empty where only that is shown."""

    text: str
    rounds: NDArray[np.float64]
    values: NDArray[np.float64]
    slope: bool  # From an anchor; a curve of its own otherwise.
    makes_room: bool = False  # It was asked for: the axes reach as far as the curve.
    policy: str = ""  # Whose color it has; empty if of several.
    start: str = ""  # The end of the text, where a slope starts.
    kind: str = ""  # As it stands in the text, in brackets behind the name.

    @property
    def label(self) -> str:
        """Return the text without where it starts: a circle shows that."""
        return self.text.removesuffix(f", {self.start}") if self.start else self.text

    @property
    def without_kind(self) -> str:
        """Return the label without the kind, which a heading names."""
        text = self.label.replace(f" ({self.kind})", "", 1)
        return text.replace(f" ({self.kind}, ", " (", 1)

    @property
    def highest(self) -> float:
        """Largest value of the curve; 0 where there is none."""
        return float(self.values.max()) if self.values.size else 0.0


def power_text(rounds: int) -> str:
    """Return a round number for a figure, e.g. "$10^{6}$"; "2,500" if no power."""
    text = str(rounds)
    if len(text) > 2 and text.rstrip("0") == "1":
        return f"$10^{{{len(text) - 1}}}$"
    return f"{rounds:,}"


def anchor_of(panel: Panel, anchor: int | None) -> tuple[int, float]:
    """Return the checkpoint where slopes start, and the lowest mean there."""
    longest = [line for line in panel.lines if line.rounds[-1] == panel.horizon]
    if anchor is None:
        # No bound is defined at round 1.
        rounds = longest[0].rounds
        rounds = rounds[(rounds > 1) | (rounds == panel.horizon)]
        anchor = last_decades(rounds)[0] if rounds.size > 1 else int(rounds[0])
        # Linear in log t between checkpoints.
        log_round = math.log(anchor)
        means = [np.interp(log_round, np.log(x.rounds), x.mean) for x in longest]
        return anchor, float(min(means))
    values = [
        float(line.mean[checkpoint_index(line.rounds, anchor, "anchor")])
        for line in longest
    ]
    return anchor, min(values)


def bounds_of_panel(
    bounds: Bounds,
    panel: Panel,
    notion: str,
    anchor: int | None,
    look: Mapping[str, Look],
) -> list[DrawnBound]:
    """Return what a panel shows of its bounds."""
    if isinstance(bounds, Mapping):
        per_instance: Any = bounds
        bounds = per_instance.get(panel.instance)
    if bounds is None or bounds is False:
        return []
    automatic = isinstance(bounds, str) and bounds == "auto"
    requested: Iterable[AskedBound] = bounds_that_apply(panel, notion)
    if not automatic:
        requested = asked_bounds(bounds, panel, notion)
    drawn: list[DrawnBound] = []
    for request in requested:
        curve = _drawn(request, panel, anchor, look)
        if automatic and _is_idle(curve, request, drawn, panel):
            continue
        of_one = request.bound is not None and request.bound.policy
        policy = request.lines[0].policy if of_one and request.lines else ""
        drawn.append(replace(curve, makes_room=not automatic, policy=policy))
    return drawn


def _is_idle(
    curve: DrawnBound, request: AskedBound, drawn: list[DrawnBound], panel: Panel
) -> bool:
    """Whether a bound that nobody asked for says nothing on these axes."""
    if request.bound is None or request.bound.kind == "asymptotic lower":
        return False
    fits = bool(curve.rounds.size) and curve.highest <= panel.top * _ROOM
    # A line that is there already says nothing new.
    return not fits or any(
        curve.rounds.shape == earlier.rounds.shape
        and np.allclose(curve.rounds, earlier.rounds, rtol=_SAME)
        and np.allclose(curve.values, earlier.values, rtol=_SAME)
        for earlier in drawn
    )


def _drawn(
    request: AskedBound, panel: Panel, anchor: int | None, look: Mapping[str, Look]
) -> DrawnBound:
    bound = request.bound
    if bound is None:
        return _words(request.text)
    if bound.kind in _NOT_DRAWN:
        return _words(f"{bound.name}: {_NOT_DRAWN[bound.kind]}, not drawn")
    if bound.kind in _GROWTH_ONLY:
        # Draw growth from the lowest mean of the lines that it is of.
        title = bound_title(bound)
        lines = tuple(
            line for line in request.lines if line.rounds[-1] == panel.horizon
        )
        if not lines:
            name = bound.policy or "no policy that it is of"
            return _words(f"{title}: {name} is not shown, not drawn")
        round_, value = anchor_of(replace(panel, lines=lines), anchor)
        if round_ < bound.minimum_horizon:
            return _words(
                f"{title}: from {power_text(bound.minimum_horizon)} on, not drawn"
            )
        line = anchored_bound(bound, round_, value)
        bent = bool(bound.power_terms or bound.loglog_coefficient)
        rounds = np.geomspace(round_, panel.horizon, 64)
        slope = f"slope {format_number(bound.log_coefficient)}"
        growth = _formula(bound) if bent else slope
        names = [look[line.policy].name for line in request.lines]
        if bound.policy:
            of = f"mean of {names[0] if len(names) == 1 else bound.policy}"
        elif len(names) == len(panel.lines):
            of = "lowest mean"
        elif len(names) == 1:
            of = f"mean of {names[0]}"
        else:
            of = f"lowest mean of {', '.join(names[:-1])} and {names[-1]}"
        start = f"from {power_text(round_)} on ({of})"
        text = f"{title}: {growth}, {start}"
        return DrawnBound(
            text, rounds, line(rounds), slope=True, start=start, kind=_kind_in(bound)
        )
    # Draw a bound that holds at finite horizons, where it fits on the axes.
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
    return DrawnBound(text, rounds, values, slope=False, kind=_kind_in(bound))


def _words(text: str) -> DrawnBound:
    nothing = np.empty(0)
    return DrawnBound(text, nothing, nothing, slope=False)


def bound_title(bound: RegretBound) -> str:
    """Return name, kind where the name does not tell it, and condition."""
    said = ", ".join(part for part in (_kind_in(bound), bound.condition) if part)
    return f"{bound.name} ({said})" if said else bound.name


def _kind_in(bound: RegretBound) -> str:
    """Return the kind, or nothing where the name of the bound tells it."""
    return "" if bound.kind == "asymptotic lower" else bound.kind


def _formula(bound: RegretBound) -> str:
    """Return the terms in the letter of the axis."""
    if bound.power_terms:
        return bound.formula_to(3).replace("T", "t")
    terms = [f"{format_number(bound.log_coefficient)} log t"]
    if bound.loglog_coefficient:
        terms.append(f"{format_number(bound.loglog_coefficient)} log log t")
    if bound.constant:
        terms.append(format_number(bound.constant))
    return " + ".join(terms).replace("+ -", "- ")


def within(drawn: list[DrawnBound], panel: Panel) -> list[DrawnBound]:
    """Let lines decide the axes: bounds that hold at finite horizons become words."""
    return [
        replace(bound, makes_room=False)
        if bound.slope or bound.highest <= panel.top * _ROOM
        else _words(f"{bound.text} (above the axes)")
        for bound in drawn
    ]


def are_lettered(bounds: list[DrawnBound]) -> bool:
    """Whether a panel has so many bounds that letters name their curves."""
    return len(bounds) > _MOST_LISTED


def _letters(bounds: list[DrawnBound]) -> list[str]:
    """Return a letter for each bound with a curve, and nothing for the others."""
    names = (letter for size in (1, 2) for letter in _words_of_letters(size))
    return [next(names) if bound.rounds.size else "" for bound in bounds]


def _words_of_letters(size: int) -> Iterator[str]:
    return map("".join, product(ascii_lowercase, repeat=size))


def head_texts(bounds: list[DrawnBound]) -> list[str]:
    """Return what stands above a panel: a text for each bound, or one for many.

    The one text puts bounds of a kind together, and each behind its letter.
    """
    if not are_lettered(bounds):
        return [bound.label for bound in bounds]
    groups: dict[str, list[str]] = {}
    for bound, letter in zip(bounds, _letters(bounds), strict=True):
        text = (
            f"({letter})\N{NO-BREAK SPACE}{bound.without_kind}"
            if letter
            else bound.label
        )
        groups.setdefault(bound.kind if letter else "\0", []).append(text)
    words = groups.pop("\0", [])
    parts = [
        (f"{kind} bounds: " if kind else "") + "; ".join(texts)
        for kind, texts in groups.items()
    ]
    return ["; ".join([*parts, *words])]


def _write_letter(axes: Axes, bound: DrawnBound, letter: str, share: float) -> None:
    """Write a letter on a curve, at a share of the axis between its ends."""
    along = axes.xaxis.get_transform()
    ends = along.transform(bound.rounds[[0, -1]])
    x = along.inverted().transform(ends[:1] + share * (ends[1:] - ends[:1]))
    y = np.interp(along.transform(x), along.transform(bound.rounds), bound.values)
    axes.text(
        float(x[0]), float(y[0]), letter, ha="center", va="center", zorder=6,
        clip_on=True, color=axes.lines[-1].get_color(), fontweight="bold",
        path_effects=[withStroke(linewidth=2.5, foreground="white")],
    )  # fmt: skip


def draw_bounds(
    axes: Axes, bounds: list[DrawnBound], look: dict[str, Look]
) -> list[Line2D]:
    """Draw the bounds that have a curve; return the legend entries of the bounds.

    There is one for each bound, or one for all, if letters name the curves.
    """
    handles: list[Line2D] = []
    lettered = are_lettered(bounds)
    letters = _letters(bounds)
    shares = iter(np.linspace(*_LETTERS, sum(map(bool, letters))))
    limits = axes.get_ylim()
    styles: dict[tuple[str, bool], Iterator[Any]] = {}
    for bound, letter in zip(bounds, letters, strict=True):
        if not bound.rounds.size:
            handles += words_only(bound.text)
            continue
        color = look[bound.policy].text_color if bound.policy in look else INK
        kinds = cycle(_SLOPES if bound.slope else _LEVELS)
        line: dict[str, Any] = {
            "color": color,
            "linewidth": 1.1,
            "linestyle": next(styles.setdefault((color, bound.slope), kinds)),
        }
        (drawn,) = axes.plot(bound.rounds, bound.values, zorder=4, **line)
        name, at = bound.text.partition(":")[0], len(handles)
        name_in_file(drawn, str(axes.get_gid()), f"bound {at}", name)
        if lettered:
            _write_letter(axes, bound, letter, float(next(shares)))
        if bound.slope:
            axes.plot(
                bound.rounds[:1], bound.values[:1], "o", zorder=5, color="white",
                markeredgecolor=color,
            )  # fmt: skip
        handles.append(Line2D([], [], label=bound.label, **line))
    slopes = [slope.rounds for slope in bounds if slope.slope]
    if slopes:  # Along these rounds slopes are compared, and no level is a bound.
        first, last = (
            min(slope[0] for slope in slopes),
            max(slope[-1] for slope in slopes),
        )
        axes.axvspan(first, last, color=SHADE, zorder=0, linewidth=0)
    axes.set_ylim(limits)
    return words_only(*head_texts(bounds)) if lettered else handles

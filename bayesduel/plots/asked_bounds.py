"""Which bounds are asked of a panel: by name, as bounds, or those that apply."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayesduel.analysis.anchored_bounds import BOUNDED_NOTIONS, regret_bound
from bayesduel.errors import ArgumentError
from bayesduel.plots.lines import Line, Panel
from theory import all_bounds, known_theorems
from theory.arguments import items_of
from theory.theorems import AppliedTheorem

if TYPE_CHECKING:
    from theory import Optimum, RegretBound, StructuredBound

    OneBound = str | Optimum | RegretBound | StructuredBound | AppliedTheorem
    Bounds = None | OneBound | Iterable[OneBound] | Mapping[str, Any]

_ALL, _AUTO, _LOWER = "all", "auto", "lower"


@dataclass(frozen=True)
class AskedBound:
    """A bound and the lines that it speaks of, or why there is none.

    Attributes
    ----------
    bound : theory.RegretBound or None
        None where ``text`` says why.
    lines : tuple of Line
        Of the panel; empty where the policy is not shown.
    text : str
        Empty where there is a bound.
    """

    bound: RegretBound | None
    lines: tuple[Line, ...] = ()
    text: str = ""


def asked_bounds(bounds: Bounds, panel: Panel, notion: str) -> list[AskedBound]:
    """Return what is asked of a panel by other words than "auto".

    Raises ``ValueError`` when a bound speaks of another regret than ``notion``, a name
    is of none, or ``bounds`` is not understood.
    """
    if isinstance(bounds, str | AppliedTheorem) or not isinstance(bounds, Iterable):
        items: Any = (bounds,)
    else:
        items = items_of(bounds, "bounds")
    found: dict[AskedBound, None] = {}  # In order, and each of them once.
    for item in items:
        found |= dict.fromkeys(_asked(item, panel, notion))
    return list(found)


def bounds_that_apply(panel: Panel, notion: str) -> Iterator[AskedBound]:
    """Give the lower bounds, then what the theorems on the policies shown say."""
    for asked in _lower(panel, notion):
        if asked.bound is not None or notion in BOUNDED_NOTIONS:
            yield asked
    for policy in sorted({line.policy.partition(":")[0] for line in panel.lines}):
        for asked in _theorems(panel, policy) if known_theorems(policy) else ():
            if asked.bound is not None and _is_of(asked.bound, notion):
                yield asked


def _asked(item: Any, panel: Panel, notion: str) -> Iterable[AskedBound]:
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
    found = list(_theorems(panel, _policy_called(item)))
    fitting = [x for x in found if x.bound is None or _is_of(x.bound, notion)]
    others = [x.bound for x in found if x.bound is not None]
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
        own = tuple(line for line in panel.lines if line.model == model)
        yield AskedBound(lower, own, note)


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
    found: list[tuple[AppliedTheorem, Line | None]] = []
    for line in lines:
        if line is not None:
            own = line.parameters
        else:
            default = (x.default for x in entries().values() if x.acronym == policy)
            own = parameters(next(default))
        every = all_bounds(instance, policy=policy, parameters=own)
        found += [(applied, line) for applied in every]
    defined = {applied.theorem.name for applied, _ in found if applied.bounds}
    for applied, line in found:
        for bound in applied.bounds:
            yield AskedBound(bound, (line,) if line else ())
        # Of two forms of a policy, it may be about one.
        if applied.theorem.name not in defined:
            yield _nothing(applied)


def _lines_called(panel: Panel, policy: str) -> tuple[Line, ...]:
    """Return the lines of a policy by its acronym, whatever its parameters."""
    return tuple(x for x in panel.lines if x.policy.partition(":")[0] == policy)


def _policy_called(name: str) -> str:
    """Return the acronym of a policy that theorems are about."""
    from bayesduel.errors import near_names
    from bayesduel.policies.registry import entries

    bounded = {each.policy for each in known_theorems()} - {""}
    names = {
        key: entry.acronym
        for key, entry in entries().items()
        if entry.acronym in bounded
    }
    for key, acronym in names.items():
        if name.strip().lower() in (key, acronym.lower()):
            return acronym
    words = (_AUTO, _LOWER, _ALL, *names)
    raise ArgumentError(
        "bounds",
        f"must be a bound, one of {', '.join(words[:3])}, or a policy that a theorem "
        "is about",
        name,
        remedy=f"{near_names(name, words)}policies: {', '.join(names)}",
    )


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
    raise ArgumentError(
        "bounds",
        f"{bound.name} speaks of {wanted} regret, the figure shows {notion}",
        bound.name,
        remedy=remedy,
    )

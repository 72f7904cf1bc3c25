"""Colors, markers and names of policies, the same in every figure."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

from matplotlib import colormaps
from matplotlib.colors import Colormap, is_color_like, to_hex

from bayesduel.errors import ArgumentError, near_names
from bayesduel.plots.style import (
    BLUE,
    COLORS,
    GRAY,
    GREEN,
    LINES,
    ORANGE,
    PURPLE,
    SKY,
    YELLOW,
    Look,
)

# Those that are often drawn together differ in color and in marker; no two are alike.
POLICY_LOOKS: dict[str, tuple[str, str]] = {
    "D-TS": (BLUE, "o"), "D-TS+": (ORANGE, "s"), "Pure D-TS": (PURPLE, "X"),
    "BT-TS": (YELLOW, "^"), "RCS": (SKY, "D"), "RD-TS": (SKY, "X"),
    "RD-TS*": (YELLOW, "s"), "Self-Sparring": (GREEN, "v"), "CCB": (SKY, "P"),
    "MergeRUCB": (GRAY, "D"), "RUCB": (YELLOW, "v"), "Sup-KLUCB": (PURPLE, "^"),
    "CW-RMED": (ORANGE, "v"), "ECW-RMED": (GREEN, "^"), "RMED1": (PURPLE, "D"),
    "RMED2": (YELLOW, "P"), "RMED2FH": (GRAY, "s"), "BTM": (GRAY, "^"),
    "SAVAGE": (GREEN, "s"), "SAVAGE-Copeland": (ORANGE, "o"), "IF": (BLUE, "P"),
    "SCB": (YELLOW, "X"), "Doubler": (BLUE, "^"), "MultiSBM": (ORANGE, "D"),
    "Sparring": (PURPLE, "P"), "SCOMP": (BLUE, "s"), "SCOMP2": (ORANGE, "P"),
    "PCOMP": (GREEN, "X"), "WS-W": (SKY, "o"), "WS-S": (BLUE, "X"),
    "BtW": (PURPLE, "v"), "BtWR": (SKY, "s"), "GINOP": (BLUE, "<"),
    "MaxPairUCB": (ORANGE, "<"), "MaxInP": (GRAY, "<"), "CoLSTIM": (GREEN, "<"),
    "FGTS": (SKY, "<"), "PARWiS": (BLUE, "v"), "D-optimal": (PURPLE, "o"),
    "Information": (ORANGE, "X"), "Track-and-Stop": (GREEN, "D"), "WBA": (GRAY, "P"),
    "CUCB": (GREEN, "P"), "CombUCB1": (ORANGE, "^"), "ESCB": (GRAY, "v"),
    "Logit-TS": (SKY, "^"), "MaxMin-UCB": (YELLOW, "D"), "Rec-MaxMin-UCB": (GREEN, "o"),
    "MNL-EE": (YELLOW, "o"), "MNL-TS": (BLUE, "D"), "Random subsets": (GRAY, "o"),
    "Stagewise Elimination": (SKY, "v"), "UCB-no-order": (PURPLE, "s"),
    "Random": (GRAY, "X"),
}  # fmt: skip
"""Color and marker of policies of this package, by acronym; others have those that a
checksum of their names gives."""

RULE_LOOKS: dict[str, tuple[str, str]] = {
    "anytime": (BLUE, "o"), "posterior": (ORANGE, "s"), "intervals": (GREEN, "^"),
    "p-value": (PURPLE, "D"), "fixed": (YELLOW, "v"), "budget": (GRAY, "X"),
}  # fmt: skip
"""Color and marker of the rules for stopping, by name."""

# Markers of other policies, and of parameters that are not the default ones.
_OTHER_MARKERS = ("<", ">", "*", "p", "d")


def policy_looks(
    labels: Iterable[str],
    *,
    colors: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
) -> dict[str, Look]:
    """Give every policy the look that it has in all figures.

    A policy of this package has its color and marker by `POLICY_LOOKS`, another one by
    a checksum of its name. With other parameters than the default ones it keeps its
    color, and a checksum of the parameters chooses the marker. Where two policies of
    one figure would have the same of both, one takes the next that is free; which one
    does not depend on their order. Where lines have one color, all but one are dashed.

    Examples
    --------
    >>> look = policy_looks(["RUCB", "D-TS"], names={"d-ts": "Double TS"})
    >>> look["D-TS"].color, look["D-TS"].marker, look["D-TS"].name
    ('#0072B2', 'o', 'Double TS')
    >>> policy_looks(["D-TS"])["D-TS"][:3] == look["D-TS"][:3]
    True
    """
    unique = list(dict.fromkeys(labels))
    given_colors = {
        label: check_color("colors", color)
        for label, color in _by_label("colors", colors, unique).items()
    }
    look = _looks(unique, POLICY_LOOKS, given_colors)
    for label, name in _by_label("names", names, unique).items():
        look[label] = look[label]._replace(name=name)
    shown = [one.name for one in look.values()]
    for name in shown:
        if shown.count(name) > 1:
            rule = "must give every policy another name"
            raise ArgumentError("names", rule, name, remedy="rename one of them")
    return look


def rule_looks(
    rules: Iterable[str],
    *,
    colors: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
) -> dict[str, Look]:
    """Give every rule for stopping the look that it has in all figures."""
    unique = list(dict.fromkeys(rules))
    # A rule hardly ever comes without parameters: one of a name has the look of it.
    bases = [base_of(rule) for rule in unique]
    alone = {
        rule: RULE_LOOKS[base]
        for rule, base in zip(unique, bases, strict=True)
        if base in RULE_LOOKS and bases.count(base) == 1
    }
    usual = _looks(unique, RULE_LOOKS | alone, {})
    called = shown_names(names, usual, "rules")
    before = {rule: look.color for rule, look in usual.items()}
    colored = shown_colors(colors, before, "rules")
    return {
        rule: look._replace(color=colored[rule], name=called[rule])
        for rule, look in usual.items()
    }


def _looks(
    labels: list[str], table: Mapping[str, tuple[str, str]], colors: Mapping[str, str]
) -> dict[str, Look]:
    looks: dict[str, Look] = {}
    taken: list[tuple[str, str]] = []
    # Parameters give way first.
    for label in sorted(labels, key=lambda x: (x not in table, ":" in x, x)):
        usual = _candidates(label, table)
        free = (candidate for candidate in usual if candidate not in taken)
        color, marker = next(free, usual[0])
        taken.append((color, marker))
        color = colors.get(label, color)
        before = sum(look.color == color for look in looks.values())
        looks[label] = Look(color, marker, LINES[before % len(LINES)], label)
    return {label: looks[label] for label in labels}


def base_of(label: str) -> str:
    """Return a label without parameters, and without the manner of playing.

    Examples
    --------
    >>> [base_of(name) for name in ("D-TS:alpha=2", "D-TS, every=9", "D-TS (fixed)")]
    ['D-TS', 'D-TS', 'D-TS']
    """
    return re.split(r":|,|\||  *\(", label, maxsplit=1)[0]


def _candidates(
    label: str, table: Mapping[str, tuple[str, str]]
) -> list[tuple[str, str]]:
    """Return all looks that a policy, or rule, may have, its usual one first."""
    if label in table:
        return [table[label]]
    base = base_of(label)
    looks = list(product(COLORS, _OTHER_MARKERS))
    if label != base:
        looks = list(product([_candidates(base, table)[0][0]], _OTHER_MARKERS))
    at = zlib.crc32(label.encode()) % len(looks)
    return [*looks[at:], *looks[:at]]


def _by_label(
    argument: str, given: Mapping[str, Any] | None, labels: list[str]
) -> dict[str, Any]:
    """Return what was given by label; what is about one label alone comes first."""
    _check_mapping(argument, given)
    by_label: dict[str, Any] = {}
    for key, value in (given or {}).items():
        if argument == "names":
            check_name(argument, value)
        label = label_called(argument, key, labels)
        if label in labels:
            by_label[label] = value
    for key, value in (given or {}).items():
        base = label_called(argument, key, labels)
        for label in labels:
            if base_of(label) == base and label not in by_label:
                rest = label.removeprefix(base) if argument == "names" else ""
                by_label[label] = value + rest if rest else value
    return by_label


def label_called(argument: str, key: Any, labels: Iterable[str]) -> str:
    """Return the label, or that of several without parameters, that a key means."""
    from bayesduel.policies import parse_policy, registry

    labels = list(dict.fromkeys(labels))
    known = dict.fromkeys([*labels, *map(base_of, labels)])
    if isinstance(key, str):
        text = key.strip()
        name, _, parameters = text.partition(":")
        if name in registry.registered_names():
            text = registry.entry(name).acronym
            try:
                text = parse_policy(key).label if parameters else text
            except ValueError:
                text = key
        # A policy of one's own is called "module:Class" at the command line.
        for label in known:
            if label.lower() in (text.lower(), text.partition(":")[2].lower()):
                return label
    rule = "must be by policies that are shown"
    remedy = (
        f"{near_names(str(key).lower(), map(str.lower, known))}they are "
        f"{', '.join(labels)}"
    )
    raise ArgumentError(argument, rule, key, remedy=remedy)


def check_color(argument: str, color: Any) -> str:
    """Return a color of matplotlib as "#rrggbb"."""
    if not is_color_like(color):
        rule = "must hold colors of matplotlib"
        remedy = 'such as "#336699" or "tab:blue"'
        raise ArgumentError(argument, rule, color, remedy=remedy)
    return to_hex(color)


def check_name(argument: str, name: Any) -> str:
    """Return a text that is not empty."""
    if not isinstance(name, str) or not name.strip():
        rule = "must hold texts that are not empty"
        raise ArgumentError(argument, rule, name, remedy="leave it out")
    return name


def _check_mapping(argument: str, given: Any) -> None:
    if given is not None and not isinstance(given, Mapping):
        raise ArgumentError(
            argument, "must be a mapping", given, remedy='such as {"d-ts": ...}'
        )


def shown_names(
    names: Mapping[str, str] | None, known: Iterable[str], what: str
) -> dict[str, str]:
    """Return what each of these, which are no policies, is called in a figure."""
    called = {key: key for key in known}
    for key, name in _checked("names", names, called, what).items():
        called[key] = check_name("names", name)
    shown = list(called.values())
    twice = next((name for name in (names or {}).values() if shown.count(name) > 1), "")
    if twice:
        rule = f"must give each of the {what} another name"
        raise ArgumentError("names", rule, twice, remedy="rename one of them")
    return called


def shown_colors(
    colors: Mapping[str, Any] | None, usual: Mapping[str, str], what: str
) -> dict[str, str]:
    """Return the color of each of these, which are no policies."""
    given = _checked("colors", colors, usual, what)
    return {**usual, **{key: check_color("colors", x) for key, x in given.items()}}


def shown_maps(
    colors: Mapping[str, Any] | None, usual: Mapping[str, str]
) -> dict[str, Colormap]:
    """Return the color map of each kind of numbers."""
    given = {**usual, **_checked("colors", colors, usual, "kinds of numbers")}
    for color_map in given.values():
        if not (isinstance(color_map, Colormap) or str(color_map) in colormaps):
            rule, remedy = "must hold color maps of matplotlib", 'such as "viridis"'
            raise ArgumentError("colors", rule, color_map, remedy=remedy)
    return {key: colormaps.get_cmap(color_map) for key, color_map in given.items()}


def _checked(
    argument: str, given: Mapping[str, Any] | None, known: Iterable[str], what: str
) -> dict[str, Any]:
    _check_mapping(argument, given)
    known = list(known)
    for key in given or {}:
        if key not in known:
            rule = f"must be by {what} that are shown"
            remedy = f"{near_names(str(key), known)}they are {', '.join(known)}"
            raise ArgumentError(argument, rule, key, remedy=remedy)
    return dict(given or {})

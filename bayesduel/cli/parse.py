"""Reading what was typed: round numbers, counts, checkpoints.

Whether a number is one that can be is said by the library, once. What cannot be read
raises an error that names its option.
"""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Any

from bayesduel.arguments.literals import literal

if TYPE_CHECKING:
    from theory import PreferenceMatrix

_NUMBER = re.compile(r"([0-9][0-9_]*)(?:\.([0-9]+))?(?:[eE]\+?([0-9]+))?")
_POWER = re.compile(r"([0-9]+)\s*(?:\^|\*\*)\s*([0-9]+)")
_DIGITS = re.compile(r"[+-]?[0-9]{1,400}")
_TOO_LARGE = 2**63


def option_error(
    option: str, rule: str, value: Any = None, *, remedy: str = ""
) -> ValueError:
    """Return an error about an option; library code is imported only for one."""
    from bayesduel.errors import ArgumentError

    return ArgumentError(option, rule, value, remedy=remedy)


def rounds(text: str, option: str = "--horizon") -> int:
    """Return a number of rounds from "1000000", "1e6", "2.5e6" or "10^6".

    Examples
    --------
    >>> rounds("1e6"), rounds("10^6"), rounds("1_000_000"), rounds("2.5e3")
    (1000000, 1000000, 1000000, 2500)
    """
    value = _whole_number(text.strip())
    if value is None:
        rule = "must be a whole number of rounds such as 1000000, 1e6 or 10^6"
        raise option_error(option, rule, _cut(text))
    if value >= _TOO_LARGE:
        raise option_error(option, "must be below 2^63", _cut(text))
    return value


def _whole_number(text: str) -> int | None:
    """Return the number; None when it is none; 2^63 or more for what is too large."""
    if text.startswith("-"):
        positive = None if text.startswith("--") else _whole_number(text[1:])
        return None if positive is None else -positive
    if len(text) > 60:
        # Nothing that long is in range, and Python refuses to read 5000 digits.
        return _TOO_LARGE if text.isdecimal() else None
    power = _POWER.fullmatch(text)
    if power:
        base, exponent = int(power[1]), int(power[2])
        return base**exponent if base < 2 or exponent <= 63 else _TOO_LARGE
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    whole, fraction, exponent = match[1], (match[2] or "").rstrip("0"), match[3] or "0"
    if len(fraction) > int(exponent):
        return None
    digits = int(whole.replace("_", "") + fraction)
    shift = int(exponent) - len(fraction)
    return digits * 10**shift if digits == 0 or shift <= 40 else _TOO_LARGE


def integer(text: str, least: int | None = None) -> int:
    """Return a whole number from "10", "1e3" or "10^3".

    Digits are those of ASCII, without underscores; ``int`` would read more.

    Examples
    --------
    >>> integer("10"), integer("-3"), integer("1e3")
    (10, -3, 1000)
    """
    given = text.strip()
    value = int(given) if _DIGITS.fullmatch(given) else None
    if value is None and "_" not in given and not given.startswith("-"):
        value = _whole_number(given)
        if value == _TOO_LARGE:
            raise _refused("below 2^63", text)
    if value is None or (least is not None and value < least):
        bound = "" if least is None else f" of at least {least}"
        raise _refused(f"a whole number{bound} in plain digits", text)
    return value


def number(text: str) -> float:
    """Return a number as :func:`bayesduel.arguments.literals.literal` reads it.

    Examples
    --------
    >>> number("0.5"), number("1e-3")
    (0.5, 0.001)
    """
    value = literal(text.strip())
    if isinstance(value, str | bool):
        raise _refused("a number in plain digits", text)
    try:
        return float(value)
    except OverflowError:
        raise _refused("below 1e308", text) from None


def _refused(rule: str, text: str) -> ValueError:
    """Return an error without an option: Typer puts that before it."""
    return option_error("", f"must be {rule}", _cut(text))


def names(text: str, option: str) -> list[str]:
    """Return names between commas; one that holds a comma stands in double quotes.

    Examples
    --------
    >>> names('"Paris, France", Rome', "--arms")
    ['Paris, France', 'Rome']
    """
    try:
        rows = list(csv.reader([text], skipinitialspace=True, strict=True))
    except csv.Error as problem:
        rule = (
            "must be names between commas, those that hold one in double quotes "
            f"({problem})"
        )
        raise option_error(option, rule, _cut(text)) from problem
    return [name.strip() for name in rows[0]] if rows and rows[0] else [""]


def _cut(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}..."


def checkpoints(text: str | None, horizon: int) -> tuple[int, ...] | None:
    """Return the rounds to record, from "10" (per decade) or "100,1000,1e4".

    A single number is how many checkpoints each factor of ten gets, from round 10 on; a
    list names them. The horizon comes last in any case.

    Examples
    --------
    >>> checkpoints("1", 10_000)
    (10, 100, 1000, 10000)
    >>> checkpoints("100,1e3", 5000)
    (100, 1000)
    """
    option = "--checkpoints"
    if text is None:
        return None
    if "," not in text:
        per_decade = rounds(text, option)
        if not 1 <= per_decade <= 100:
            rule = "must be 1 to 100 checkpoints per decade where it is a single number"
            remedy = f"end a list of one round with a comma: {text},"
            raise option_error(option, rule, text, remedy=remedy)
        grid, step = set(), per_decade
        while True:
            decade, part = divmod(step, per_decade)
            # The factor below ten is rounded to 12 digits in integers: no float can
            # bend the rounds beyond 2^53.
            value = round(10 ** (part / per_decade) * 10**12) * 10**decade // 10**12
            if value >= horizon:
                return (*sorted(grid), horizon)
            grid.add(value)
            step += 1
    chosen = [rounds(part, option) for part in text.split(",") if part.strip()]
    if not chosen:
        raise option_error(
            option, "must name a round", text, remedy="give some, or a number"
        )
    return tuple(chosen)


def load_matrix(text: str, argument: str, *, repair: bool = False) -> PreferenceMatrix:
    """Return a matrix by name or from a file; an error says in which argument."""
    from bayesduel.errors import errors_about
    from bayesduel.instances import catalog

    with errors_about(argument, text):
        return catalog.load_matrix(text, repair=repair)

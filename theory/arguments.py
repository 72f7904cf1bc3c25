"""Checks of numbers, words and switches, made once, where they enter the package.

Each returns the value in plain Python, or raises an error of a ``kind`` with the
``argument``, the rule and the value.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, SupportsFloat, SupportsIndex

import numpy as np

from theory.errors import ArgumentError, ArgumentTypeError, InvalidPreferenceError
from theory.errors import short_repr as short_repr

LARGEST_INTEGER = 2**62  # Rounds, batches and the like at most, as in the simulator
LARGEST_SEED = 2**63 - 1

_MOST_ITEMS = 10**7

type Kind = type[ArgumentError]  # The class of errors that a check raises


def arm_index(
    arm: object, num_arms: int, argument: str, *, kind: Kind = InvalidPreferenceError
) -> int:
    """Return the number of an arm: an integer from 0 to K - 1, no float and no bool."""
    index = _as_integer(arm)
    if index is None or not 0 <= index < num_arms:
        rule = f"must be an integer from 0 to {num_arms - 1}"
        remedy = "arms are numbered from 0"
        raise kind(argument, rule, arm, remedy=remedy)
    return index


def seed_of(value: object, argument: str, *, kind: Kind = ArgumentError) -> int:
    """Return the seed of a random stream, an integer; a float is none."""
    seed = _as_integer(value)
    if seed is None or not 0 <= seed <= LARGEST_SEED:
        rule = "must be an integer from 0 to 2^63 - 1"
        remedy = "any of them will do, such as 0"
        raise kind(argument, rule, value, remedy=remedy)
    return seed


def number_that(
    value: object,
    argument: str,
    rule: str,
    holds: Callable[[float], bool],
    *,
    kind: Kind = ArgumentError,
    remedy: str = "",
) -> float:
    """Return a finite real number for which the rule ``holds``."""
    number = as_number(value)
    if not (math.isfinite(number) and holds(number)):
        raise kind(argument, f"must be {rule}", value, remedy=remedy)
    return number


def number_within(
    value: object,
    least: float,
    most: float,
    argument: str,
    unit: str = "",
    *,
    kind: Kind = ArgumentError,
) -> float:
    """Return a real number from a bound to another."""
    rule = f"from {least:g} to {most:g} {unit}".rstrip()
    return number_that(
        value, argument, rule, lambda number: least <= number <= most, kind=kind
    )


def share_of(value: object, argument: str, *, kind: Kind = ArgumentError) -> float:
    """Return a real number strictly between 0 and 1."""
    rule, remedy = "in (0, 1)", "such as 0.05 or 0.95"
    return number_that(
        value, argument, rule, lambda share: 0 < share < 1, kind=kind, remedy=remedy
    )


def width_of(value: object, argument: str, *, kind: Kind = ArgumentError) -> float:
    """Return how far from 1/2 a pair still counts either way, below 1/2."""
    return number_that(
        value, argument, "in [0, 1/2)", lambda width: 0 <= width < 0.5, kind=kind
    )


def number_above(
    value: object, bound: float, argument: str, *, kind: Kind = ArgumentError
) -> float:
    """Return a real number that is finite and strictly greater than a bound."""
    rule = f"a finite number above {bound:g}"
    return number_that(value, argument, rule, lambda number: number > bound, kind=kind)


def number_from(
    value: object, least: float, argument: str, *, kind: Kind = ArgumentError
) -> float:
    """Return a real number that is finite and not below a bound."""
    more = {-math.inf: "", 0: ", not negative"}.get(least, f" of at least {least:g}")
    rule = f"a finite number{more}"
    return number_that(value, argument, rule, lambda number: number >= least, kind=kind)


def as_number(value: object) -> float:
    """Return a real number as a float; nan for anything else, texts and bools too."""
    if isinstance(value, SupportsFloat) and not _is_no_scalar(value):
        try:
            return float(value)
        except OverflowError:
            return math.inf
        except (TypeError, ValueError):
            return math.nan
    return math.nan


def integer_from(
    value: object,
    least: int,
    argument: str,
    most: int = LARGEST_INTEGER,
    *,
    kind: Kind = ArgumentError,
    why: str = "ask for less",
) -> int:
    """Return an integer within bounds; ``why`` it must not be larger is the remedy."""
    number = whole_number(value)
    if number is None or number < least:
        rule = f"must be an integer of at least {least}"
        remedy = f"give {least} or more"
        raise kind(argument, rule, value, remedy=remedy)
    if number > most:
        rule = f"must be at most {'2^62' if most == LARGEST_INTEGER else most}"
        raise kind(argument, rule, value, remedy=why)
    return number


def whole_number(value: object) -> int | None:
    """Return an integer, or what a float such as 1e6 stands for; None for all else."""
    number = _as_integer(value)
    if number is None and isinstance(value, float | np.floating):
        number = int(value) if float(value).is_integer() else None
    return number


def one_of(
    value: object, allowed: Iterable[str], argument: str, *, kind: Kind = ArgumentError
) -> str:
    """Return a word if it is among those allowed."""
    words = tuple(allowed)
    if not isinstance(value, str) or value not in words:
        rule = f"must be one of {', '.join(words)}"
        raise kind(argument, rule, value, remedy="choose one")
    return value


def true_or_false(
    value: object, argument: str, *, kind: Kind = ArgumentTypeError
) -> bool:
    """Return a Python or NumPy bool; no number, and no text such as "yes"."""
    if not isinstance(value, bool | np.bool_):
        rule, remedy = "must be True or False", "give no text and no number"
        raise kind(argument, rule, value, remedy=remedy)
    return bool(value)


def instance_of[T](value: object, kind: type[T], argument: str) -> T:
    """Return an object of a class of ours."""
    if not isinstance(value, kind):
        rule = f"must be a theory.{kind.__name__}"
        raise ArgumentTypeError(argument, rule, value)
    return value


def items_of(
    values: object,
    argument: str,
    count: int | None = None,
    *,
    kind: Kind = ArgumentTypeError,
) -> tuple[Any, ...]:
    """Return what a finite collection, no text and no dictionary, holds."""
    fits = isinstance(values, Iterable) and not isinstance(values, str | bytes | dict)
    if isinstance(values, np.ndarray):
        fits = values.ndim > 0 and len(values) <= _MOST_ITEMS
    items: tuple[Any, ...] = ()
    if fits:
        try:
            items = tuple(islice(values, _MOST_ITEMS + 1))  # pyright: ignore
        except TypeError:  # An array of another library, without any axis.
            fits = False
    if not fits or len(items) > _MOST_ITEMS or count not in (None, len(items)):
        wanted = "a sequence" if count is None else f"{count} things in a sequence"
        raise kind(argument, f"must be {wanted}", values)
    return items


def _as_integer(value: object) -> int | None:
    """Return an integer, None for anything else, floats and bools too."""
    if isinstance(value, SupportsIndex) and not _is_no_scalar(value):
        try:
            return operator.index(value)
        except TypeError:  # An array of another library.
            return None
    return None


def _is_no_scalar(value: object) -> bool:
    """Whether a value that can be turned into a number is meant as something else."""
    return isinstance(value, bool | np.bool_ | np.ndarray) or bool(
        getattr(value, "ndim", 0)
    )

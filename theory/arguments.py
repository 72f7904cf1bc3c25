"""Checks of numbers, words and switches, made once, where they enter the package.

Each returns the value in plain Python, or raises ``ValueError`` with a text that names
``argument``, the rule and the value.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from itertools import islice
from typing import Any, SupportsFloat, SupportsIndex

import numpy as np

from theory.errors import ArgumentTypeError, InvalidPreferenceError, shown

LARGEST_INTEGER = 2**62
"""Rounds, batches and the like at most, as in the simulator."""

_MOST_ITEMS = 10**7


def arm_index(arm: object, num_arms: int, argument: str) -> int:
    """Return the number of an arm, a Python or NumPy integer from 0 to K - 1, no bool.

    Anything else raises ``InvalidPreferenceError``.
    """
    index = _as_integer(arm)
    if index is None or not 0 <= index < num_arms:
        raise InvalidPreferenceError(
            f"{argument} must be an integer from 0 to {num_arms - 1}; got {shown(arm)}."
        )
    return index


def number_above(value: object, bound: float, argument: str) -> float:
    """Return a real number that is finite and strictly greater than a bound."""
    number = as_number(value)
    if not (math.isfinite(number) and number > bound):
        raise ValueError(
            f"{argument} must be a finite number greater than {bound:g}; got "
            f"{shown(value)}."
        )
    return number


def number_from(value: object, least: float, argument: str) -> float:
    """Return a real number that is finite and not below a bound.

    The bound may be minus infinity.
    """
    number = as_number(value)
    if not (math.isfinite(number) and number >= least):
        rule = {-math.inf: "", 0: " and not negative"}.get(
            least, f" and at least {least:g}"
        )
        raise ValueError(f"{argument} must be finite{rule}; got {shown(value)}.")
    return number


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
    value: object, least: int, argument: str, most: int = LARGEST_INTEGER
) -> int:
    """Return an integer within bounds; no bool.

    A float without fraction, such as 1e6, is one too.
    """
    number = _as_integer(value)
    if number is None and isinstance(value, float | np.floating):
        number = int(value) if float(value).is_integer() else None
    if number is None or number < least:
        raise ValueError(
            f"{argument} must be an integer of at least {least}; got {shown(value)}."
        )
    if number > most:
        limit = "2^62" if most == LARGEST_INTEGER else most
        raise ValueError(f"{argument} must be at most {limit}; got {shown(value)}.")
    return number


def one_of(value: object, allowed: Iterable[str], argument: str) -> str:
    """Return a word if it is among those allowed."""
    words = tuple(allowed)
    if not isinstance(value, str) or value not in words:
        raise ValueError(
            f"{argument} must be one of {', '.join(words)}; got {shown(value)}."
        )
    return value


def true_or_false(value: object, argument: str) -> bool:
    """Return a Python or NumPy bool; no number, and no text such as "yes".

    Anything else raises ``ArgumentTypeError``, as in the two functions below.
    """
    if not isinstance(value, bool | np.bool_):
        raise ArgumentTypeError(
            f"{argument} must be True or False; got {shown(value)}."
        )
    return bool(value)


def instance_of[T](value: object, kind: type[T], argument: str) -> T:
    """Return an object of a class of ours."""
    if not isinstance(value, kind):
        raise ArgumentTypeError(
            f"{argument} must be a theory.{kind.__name__}; got {shown(value)}."
        )
    return value


def items_of(
    values: object, argument: str, count: int | None = None
) -> tuple[Any, ...]:
    """Return what a finite collection holds: a sequence, a set or an array.

    No text and no dictionary; ``count`` things where that is given.
    """
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
        raise ArgumentTypeError(f"{argument} must be {wanted}; got {shown(values)}.")
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

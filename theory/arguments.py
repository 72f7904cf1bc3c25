"""Checks of numbers, words and switches, made once, where they enter the package.

Every text names the argument, the rule and the value.
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
    """Check the number of an arm.

    Parameters
    ----------
    arm : integer
        A Python or NumPy integer, no bool.
    num_arms : int
        K.
    argument : str
        Name of the argument, for the error text.

    Returns
    -------
    int
        The same number.

    Raises
    ------
    InvalidPreferenceError
        If it is no integer or not among 0, ..., K - 1.
    """
    index = _as_integer(arm)
    if index is None or not 0 <= index < num_arms:
        raise InvalidPreferenceError(
            f"{argument} must be an integer from 0 to {num_arms - 1}; got {shown(arm)}."
        )
    return index


def number_above(value: object, bound: float, argument: str) -> float:
    """Check a parameter that must be finite and greater than a bound.

    Parameters
    ----------
    value : real number
        The parameter.
    bound : float
        It must be strictly greater than this.
    argument : str
        Name of the argument, for the error text.

    Returns
    -------
    float
        The same number.

    Raises
    ------
    ValueError
        If it is no real number, not finite, or not greater than the bound.
    """
    number = as_number(value)
    if not (math.isfinite(number) and number > bound):
        raise ValueError(
            f"{argument} must be a finite number greater than {bound:g}; got "
            f"{shown(value)}."
        )
    return number


def number_from(value: object, least: float, argument: str) -> float:
    """Check a parameter that must be finite and not below a bound.

    Parameters
    ----------
    value : real number
        The parameter.
    least : float
        Smallest value allowed; minus infinity for any finite number.
    argument : str
        Name of the argument, for the error text.

    Returns
    -------
    float
        The same number.

    Raises
    ------
    ValueError
        If it is no real number, not finite, or below the bound.
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
    """Check a parameter that must be an integer within bounds.

    Parameters
    ----------
    value : integer
        A Python or NumPy integer, or a float without fraction such as 1e6; no bool.
    least, most : int
        Smallest and largest value allowed.
    argument : str
        Name of the argument, for the error text.

    Returns
    -------
    int
        The same number.

    Raises
    ------
    ValueError
        If it is no integer, or out of bounds.
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
    """Check a word.

    Parameters
    ----------
    value : str
        The word.
    allowed : iterable of str
        Those that are known.
    argument : str
        Name of the argument, for the error text.

    Returns
    -------
    str
        The same word.

    Raises
    ------
    ValueError
        If it is none of them.
    """
    words = tuple(allowed)
    if not isinstance(value, str) or value not in words:
        raise ValueError(
            f"{argument} must be one of {', '.join(words)}; got {shown(value)}."
        )
    return value


def true_or_false(value: object, argument: str) -> bool:
    """Check a switch.

    Parameters
    ----------
    value : bool
        A Python or NumPy bool; no number, and no text such as "yes".
    argument : str
        Name of the argument, for the error text.

    Returns
    -------
    bool
        The same.

    Raises
    ------
    ArgumentTypeError
        If it is anything else.
    """
    if not isinstance(value, bool | np.bool_):
        raise ArgumentTypeError(
            f"{argument} must be True or False; got {shown(value)}."
        )
    return bool(value)


def instance_of[T](value: object, kind: type[T], argument: str) -> T:
    """Check that an argument is an object of a class of ours.

    Parameters
    ----------
    value : object
        The argument.
    kind : type
        The class.
    argument : str
        Name of the argument, for the error text.

    Returns
    -------
    object
        The same.

    Raises
    ------
    ArgumentTypeError
        If it is of another class.
    """
    if not isinstance(value, kind):
        raise ArgumentTypeError(
            f"{argument} must be a theory.{kind.__name__}; got {shown(value)}."
        )
    return value


def items_of(
    values: object, argument: str, count: int | None = None
) -> tuple[Any, ...]:
    """Check that an argument is a finite collection, no text or table of pairs.

    Parameters
    ----------
    values : sequence, set or one-dimensional array
        The collection.
    argument : str
        Name of the argument, for the error text.
    count : int, optional
        How many things it must hold.

    Returns
    -------
    tuple
        What it holds.

    Raises
    ------
    ArgumentTypeError
        If it is no collection, or of another size.
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

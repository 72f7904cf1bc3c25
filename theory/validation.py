"""Checks of tables, made once, where they enter the package."""

from __future__ import annotations

from collections.abc import Sized
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from theory.arguments import short_repr
from theory.errors import ArgumentTypeError, InvalidPreferenceError
from theory.labels import aligned_table

if TYPE_CHECKING:
    from jaxtyping import Float64, Shaped


# mu + mu^T may differ from 1, and the diagonal from 1/2, by rounding only.
SYMMETRY_TOLERANCE = 1e-9

FLOAT32_TOLERANCE = 2.0**-23
"""The same of numbers that are given as float32: their distance from 1 upwards."""

MOST_ARMS = 5000
"""Arms of a matrix at most: its checks take four tables of that size, 0.8 GB."""

MOST_NUMBERS = MOST_ARMS**2
"""Entries of any array at most."""

LARGEST_FEATURE = 1e9
"""Features, and their coefficients, at most: their products are numbers."""


def numeric_array(values: object, argument: str) -> Float64[np.ndarray, "*shape"]:
    """Copy real numbers into a new float64 array in C order.

    Parameters
    ----------
    values : array-like of integers or floats
        Anything that NumPy can read. It is never modified.

    Raises
    ------
    InvalidPreferenceError
        If the rows have different lengths, or the numbers are complex or masked.
    """
    return np.array(real_array(values, argument), dtype=np.float64, order="C")


def real_array(values: object, argument: str) -> Shaped[np.ndarray, "*shape"]:
    """Read real numbers in the precision in which they are given; as `numeric_array`.

    Perhaps the same object comes back.
    """
    if holds_more_than(values, MOST_NUMBERS):
        raise InvalidPreferenceError(
            f"{argument} must hold at most {MOST_NUMBERS:,} numbers; got "
            f"{short_repr(getattr(values, 'shape', values))}: split it."
        )
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InvalidPreferenceError(
            f"{argument} must not have masked entries; got "
            f"{np.ma.count_masked(values)} of them: fill them first."
        )
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InvalidPreferenceError(
            f"{argument} must be a rectangular table of numbers: {error}"
        ) from error
    except TypeError as error:
        raise ArgumentTypeError(
            f"{argument} must hold real numbers; {type(values).__name__} cannot be "
            f"read as an array ({error}): pass a NumPy array."
        ) from error
    if array.dtype.kind == "c":
        raise InvalidPreferenceError(
            f"{argument} must be real; got dtype {array.dtype}: pass its real part."
        )
    if array.dtype.kind not in "iuf":
        remedy = "convert the entries to float first"
        if hasattr(values, "toarray"):
            remedy = "pass its toarray()"
        raise ArgumentTypeError(
            f"{argument} must hold real numbers; got dtype {array.dtype} from "
            f"{type(values).__name__}: {remedy}."
        )
    return array


def feature_table(
    features: object, num_arms: int | None = None
) -> Float64[np.ndarray, "K d"]:
    """Return features of the arms as a new finite float64 table, a row per arm.

    Raises
    ------
    InvalidPreferenceError
        If it is no such table, or its number of rows is not ``num_arms``.
    """
    table = numeric_array(features, "features")
    rows = "K" if num_arms is None else num_arms
    fits = table.ndim == 2 and num_arms in (None, len(table))
    if not fits or 0 in table.shape:
        rule = f"must have one row per arm, shape ({rows}, d)"
        raise InvalidPreferenceError("features", rule, table.shape)
    fine = np.abs(table) <= LARGEST_FEATURE
    if not fine.all():
        i, j = np.argwhere(~fine)[0].tolist()
        rule = f"must be finite, at most {LARGEST_FEATURE:g}; entry ({i}, {j}) is not"
        remedy = "bring features to about unit size"
        value = float(table[i, j])
        raise InvalidPreferenceError("features", rule, value, remedy=remedy)
    return table


def holds_more_than(values: object, most: int) -> bool:
    """Whether a collection holds more than so many things; asks without reading it."""
    if isinstance(values, np.ndarray):
        return values.size > most
    try:
        return isinstance(values, Sized) and len(values) > most
    except OverflowError:  # A range beyond what an index can be.
        return True
    except TypeError:  # An array of another library, without any axis.
        return False


def square_matrix(
    values: object, argument: str, *, infinite: bool = False
) -> Float64[np.ndarray, "K K"]:
    """Copy a square table of finite numbers, at least 2 by 2.

    Columns with labels are brought into the order of the rows.
    ``InvalidPreferenceError`` if the table is not square, smaller or larger than
    `MOST_ARMS`, has an entry that is nan or, unless that is allowed, infinite (the
    first one is named), or rows and columns have other labels.
    """
    table = _square(values, argument, infinite=infinite)
    return np.array(table, dtype=np.float64, order="C")


def _square(values: object, argument: str, *, infinite: bool = False) -> NDArray[Any]:
    """Read a finite square table, in the precision in which it is given."""
    table = aligned_table(values, argument)[0]
    shape = getattr(table, "shape", ())
    rows = len(table) if isinstance(table, list | tuple) else next(iter(shape), 0)
    _refuse_many_arms(rows, argument)
    array = real_array(table, argument)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.shape[0] < 2:
        raise InvalidPreferenceError(
            f"{argument} must be a square table of at least 2 x 2; "
            f"got shape {array.shape}."
        )
    _refuse_many_arms(len(array), argument)
    bad = np.isnan(array) if infinite else ~np.isfinite(array)
    if bad.any():
        i, j = _first(bad)
        rule = "a number" if infinite else "finite"
        raise InvalidPreferenceError(
            f"{argument} must be {rule}; entry ({i}, {j}) is {array[i, j]}: "
            "estimate or remove what is missing first."
        )
    return array


def _refuse_many_arms(num_arms: int, argument: str) -> None:
    if num_arms > MOST_ARMS:
        raise InvalidPreferenceError(
            f"{argument} must have at most {MOST_ARMS} arms; got {num_arms}: leave "
            "some of them out."
        )


def probability_matrix(
    values: object, argument: str = "values"
) -> Float64[np.ndarray, "K K"]:
    """Copy a preference matrix after checking every rule.

    Parameters
    ----------
    values : array-like (K, K)

    Returns
    -------
    float64 (K, K)
        A fresh copy, the numbers unchanged. Of float32 numbers, in which an entry and
        its mirror image need not add up to 1, 1/2 plus half of their difference; 1/2
        where that is within their rounding.

    Raises
    ------
    InvalidPreferenceError
        As `square_matrix`; if an entry is outside [0, 1], if it and its mirror image do
        not add up to 1 within 1e-9 (1.2e-7 if they are given as float32), or if a
        diagonal entry differs from 1/2 by more than that. The worst entry is named.
    """
    given = _square(values, argument)
    single = given.dtype == np.float32
    tolerance = FLOAT32_TOLERANCE if single else SYMMETRY_TOLERANCE
    array = np.array(given, dtype=np.float64, order="C")
    outside = np.maximum(-array, array - 1.0)
    if outside.max() > 0.0:
        i, j = _worst(outside)
        raise InvalidPreferenceError(
            f"{argument} must hold probabilities in [0, 1]; entry ({i}, {j}) is "
            f"{array[i, j]}."
        )
    diagonal = np.abs(np.diagonal(array) - 0.5)
    if diagonal.max() > tolerance:
        i = int(np.argmax(diagonal))
        raise InvalidPreferenceError(
            f"{argument} must have 1/2 on its diagonal; entry ({i}, {i}) is "
            f"{array[i, i]}: an arm ties with itself."
        )
    mismatch = np.abs(array + array.T - 1.0)
    if mismatch.max() > tolerance:
        i, j = _worst(np.triu(mismatch))
        raise InvalidPreferenceError(
            f"{argument}[i, j] + {argument}[j, i] must be 1 within "
            f"{tolerance:.2g}; the worst pair is ({i}, {j}): {array[i, j]} + "
            f"{array[j, i]} = {array[i, j] + array[j, i]}. Correct the entry; nothing "
            "is symmetrized silently."
        )
    return _without_float32_rounding(array) if single else array


def _without_float32_rounding(array: NDArray[np.float64]) -> NDArray[np.float64]:
    gaps = (array - array.T) / 2
    gaps[np.abs(gaps) <= FLOAT32_TOLERANCE / 2] = 0.0
    return 0.5 + gaps


def symmetric_amounts(
    values: object,
    num_arms: int,
    argument: str,
    *,
    infinite: bool = False,
    remedy: str = "add both directions of a duel",
) -> Float64[np.ndarray, "K K"]:
    """Copy a table of counts, evidence or prices: symmetric, non-negative, (K, K).

    Entry (i, j) belongs to the unordered pair; the diagonal is ignored.
    ``InvalidPreferenceError`` if the shape is wrong, or an entry is not finite (nan,
    where infinity is allowed), negative, or different from its mirror image.
    """
    array = square_matrix(values, argument, infinite=infinite)
    if array.shape[0] != num_arms:
        raise InvalidPreferenceError(
            f"{argument} must have one row per arm, shape ({num_arms}, {num_arms}); "
            f"got {array.shape}."
        )
    if array.min() < 0.0:
        i, j = _worst(-array)
        raise InvalidPreferenceError(
            f"{argument} must not be negative; entry ({i}, {j}) is {array[i, j]}."
        )
    if (array != array.T).any():
        # The difference of two infinite entries is no number.
        off = array != array.T
        i, j = _worst(np.abs(np.where(off, array, 0.0) - np.where(off, array.T, 0.0)))
        raise InvalidPreferenceError(
            f"{argument} must be symmetric; entries ({i}, {j}) and ({j}, {i}) are "
            f"{array[i, j]} and {array[j, i]}: {remedy}."
        )
    return array


def symmetric_prices(
    values: object, num_arms: int, argument: str
) -> Float64[np.ndarray, "K K"]:
    """Copy a table of prices of duels, which may be infinite; as above."""
    remedy = "give a pair one price, in both entries"
    return symmetric_amounts(values, num_arms, argument, infinite=True, remedy=remedy)


def _first(condition: NDArray[np.bool_]) -> tuple[int, int]:
    return _worst(condition.astype(np.float64))


def _worst(amount: NDArray[np.float64]) -> tuple[int, int]:
    """Index of the largest entry; among equals the first one in reading order."""
    i, j = np.unravel_index(int(np.argmax(amount)), amount.shape)
    return int(i), int(j)

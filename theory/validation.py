"""Checks of arguments, made once, where they enter the package."""

from __future__ import annotations

import math
import operator
from typing import SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from theory.errors import InvalidPreferenceError
from theory.labels import aligned_table

# mu + mu^T may differ from 1, and the diagonal from 1/2, by rounding only.
SYMMETRY_TOLERANCE = 1e-9


def numeric_array(values: object, argument: str) -> NDArray[np.float64]:
    """Copy real numbers into a new float64 array.

    Parameters
    ----------
    values : array-like of integers or floats
        Anything that NumPy can read. It is never modified.
    argument : str
        Name of the argument, for the error text.

    Returns
    -------
    float64 array
        A fresh copy in C order.

    Raises
    ------
    InvalidPreferenceError
        If the rows have different lengths, or the numbers are complex or masked.
    TypeError
        If the entries are no numbers.
    """
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
    if array.dtype.kind == "c":
        raise InvalidPreferenceError(
            f"{argument} must be real; got dtype {array.dtype}: pass its real part."
        )
    if array.dtype.kind not in "iuf":
        raise TypeError(
            f"{argument} must hold real numbers; got dtype {array.dtype} from "
            f"{type(values).__name__}: convert the entries to float first."
        )
    return np.array(array, dtype=np.float64, order="C")


def square_matrix(values: object, argument: str) -> NDArray[np.float64]:
    """Copy a square table of finite numbers, at least 2 by 2.

    Parameters
    ----------
    values : array-like (K, K)
        The table. Columns with labels are brought into the order of the rows.
    argument : str
        Name of the argument, for the error text.

    Returns
    -------
    float64 (K, K)
        A fresh copy.

    Raises
    ------
    InvalidPreferenceError
        If the table is not square, smaller than 2 by 2, has an entry that is nan or
        infinite (the first one is named), or rows and columns have other labels.
    TypeError
        If the entries are no numbers.
    """
    array = numeric_array(aligned_table(values, argument)[0], argument)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.shape[0] < 2:
        raise InvalidPreferenceError(
            f"{argument} must be a square table of at least 2 x 2; "
            f"got shape {array.shape}."
        )
    if not np.isfinite(array).all():
        i, j = _first(~np.isfinite(array))
        raise InvalidPreferenceError(
            f"{argument} must be finite; entry ({i}, {j}) is {array[i, j]}: "
            "estimate or remove what is missing first."
        )
    return array


def probability_matrix(values: object, argument: str = "values") -> NDArray[np.float64]:
    """Copy a preference matrix after checking every rule.

    Parameters
    ----------
    values : array-like (K, K)
        Entry (i, j) is the probability that arm i beats arm j.
    argument : str
        Name of the argument, for the error text.

    Returns
    -------
    float64 (K, K)
        A fresh copy, the numbers unchanged.

    Raises
    ------
    InvalidPreferenceError
        If the table is not square, smaller than 2 by 2, not finite, outside [0, 1], if
        an entry and its mirror image do not add up to 1 within 1e-9, or if a diagonal
        entry differs from 1/2 by more than that. The worst entry is named.
    TypeError
        If the entries are no numbers.
    """
    array = square_matrix(values, argument)
    outside = np.maximum(-array, array - 1.0)
    if outside.max() > 0.0:
        i, j = _worst(outside)
        raise InvalidPreferenceError(
            f"{argument} must hold probabilities in [0, 1]; entry ({i}, {j}) is "
            f"{array[i, j]}."
        )
    diagonal = np.abs(np.diagonal(array) - 0.5)
    if diagonal.max() > SYMMETRY_TOLERANCE:
        i = int(np.argmax(diagonal))
        raise InvalidPreferenceError(
            f"{argument} must have 1/2 on its diagonal; entry ({i}, {i}) is "
            f"{array[i, i]}: an arm ties with itself."
        )
    mismatch = np.abs(array + array.T - 1.0)
    if mismatch.max() > SYMMETRY_TOLERANCE:
        i, j = _worst(np.triu(mismatch))
        raise InvalidPreferenceError(
            f"{argument}[i, j] + {argument}[j, i] must be 1 within "
            f"{SYMMETRY_TOLERANCE:g}; the worst pair is ({i}, {j}): {array[i, j]} + "
            f"{array[j, i]} = {array[i, j] + array[j, i]}. Correct the entry, or "
            "convert from float32 by rounding; nothing is symmetrized silently."
        )
    return array


def symmetric_amounts(
    values: object, num_arms: int, argument: str
) -> NDArray[np.float64]:
    """Copy a table of counts or of evidence: symmetric and non-negative.

    Parameters
    ----------
    values : array-like (K, K)
        Entry (i, j) belongs to the unordered pair; the diagonal is ignored.
    num_arms : int
        K.
    argument : str
        Name of the argument, for the error text.

    Returns
    -------
    float64 (K, K)
        A fresh copy.

    Raises
    ------
    ValueError
        If the shape is wrong, or an entry is not finite, negative, or different from
        its mirror image.
    TypeError
        If the entries are no numbers.
    """
    array = square_matrix(values, argument)
    if array.shape[0] != num_arms:
        raise ValueError(
            f"{argument} must have one row per arm, shape ({num_arms}, {num_arms}); "
            f"got {array.shape}."
        )
    if array.min() < 0.0:
        i, j = _worst(-array)
        raise ValueError(
            f"{argument} must not be negative; entry ({i}, {j}) is {array[i, j]}."
        )
    if (array != array.T).any():
        i, j = _worst(np.abs(array - array.T))
        raise ValueError(
            f"{argument} must be symmetric; entries ({i}, {j}) and ({j}, {i}) are "
            f"{array[i, j]} and {array[j, i]}: add both directions of a duel."
        )
    return array


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
    index = -1
    if isinstance(arm, SupportsIndex) and not isinstance(arm, (bool, np.ndarray)):
        index = operator.index(arm)
    if not 0 <= index < num_arms:
        raise InvalidPreferenceError(
            f"{argument} must be an integer from 0 to {num_arms - 1}; got {arm!r}."
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
    number = math.nan
    if isinstance(value, SupportsFloat) and not isinstance(value, (bool, np.ndarray)):
        number = float(value)
    if not (math.isfinite(number) and number > bound):
        raise ValueError(
            f"{argument} must be a finite number greater than {bound:g}; got {value!r}."
        )
    return number


def integer_from(value: object, least: int, argument: str) -> int:
    """Check a parameter that must be an integer and not below a bound.

    Parameters
    ----------
    value : integer
        A Python or NumPy integer, or a float without fraction such as 1e6; no bool.
    least : int
        Smallest value allowed.
    argument : str
        Name of the argument, for the error text.

    Returns
    -------
    int
        The same number.

    Raises
    ------
    ValueError
        If it is no integer, or below the bound.
    """
    number = None
    if isinstance(value, SupportsIndex) and not isinstance(value, (bool, np.ndarray)):
        number = operator.index(value)
    elif isinstance(value, float) and value.is_integer():
        number = int(value)
    if number is None or number < least:
        raise ValueError(
            f"{argument} must be an integer of at least {least}; got {value!r}."
        )
    return number


def _first(condition: NDArray[np.bool_]) -> tuple[int, int]:
    return _worst(condition.astype(np.float64))


def _worst(amount: NDArray[np.float64]) -> tuple[int, int]:
    """Index of the largest entry; among equals the first one in reading order."""
    i, j = np.unravel_index(int(np.argmax(amount)), amount.shape)
    return int(i), int(j)

"""Helpers for code that runs on NumPy arrays and on traced arrays alike.

Such code asks an array for its namespace (the array-API standard), assigns nothing in
place, and has no shape that depends on data. It may then be traced by a compiler.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from theory.arguments import arm_index
from theory.errors import InvalidPreferenceError
from theory.validation import (
    SYMMETRY_TOLERANCE,
    check_square,
    real_array,
    refuse_entries,
)

if TYPE_CHECKING:
    from jaxtyping import Float, Int

MOST_ARMS_CUBED = 500
"""Arms at most where NumPy keeps tables of K^3 numbers."""

type Array = Any
"""An array of any library with the array-API standard, inside a module."""

type AnyArrayLike = Any
"""What a function reads itself: an array of any library with the array-API standard, or
what NumPy can make one of. Annotations of shapes would refuse it too early."""


def floating(
    values: AnyArrayLike, argument: str = "values"
) -> tuple[ModuleType, Float[Any, "*shape"]]:
    """Return the namespace of an array and the array in floating point.

    The namespace is NumPy or the library of the array. Floating-point arrays of any
    library come back as they are; integers become float64, and so does anything that
    NumPy can read and is no array. What it cannot read as real numbers raises
    ``InvalidPreferenceError``.
    """
    if is_concrete(values) or not hasattr(values, "__array_namespace__"):
        array = real_array(values, argument)
        return np, array if array.dtype.kind == "f" else array.astype(np.float64)
    namespace = values.__array_namespace__()
    if not namespace.isdtype(values.dtype, "real floating"):
        values = namespace.astype(values, namespace.float64)
    return namespace, values


def gap_table(
    gaps: AnyArrayLike, argument: str = "gaps", *, cubed: bool = False
) -> tuple[ModuleType, Float[Any, "K K"]]:
    """Return the namespace of gaps and the gaps, checked as far as one can look.

    Parameters
    ----------
    gaps : float (K, K)
    cubed : bool
        Whether NumPy would keep tables of K^3 numbers.

    Returns
    -------
    namespace : module
    array : float (K, K)

    Raises
    ------
    InvalidPreferenceError
        If the shape is wrong; of NumPy arrays also if they are not antisymmetric within
        1e-9, and if `cubed` allows fewer arms.
    """
    xp, array = floating(gaps, argument)
    check_square(array, argument)
    if not is_concrete(array):
        return xp, array
    if cubed and len(array) > MOST_ARMS_CUBED:
        raise InvalidPreferenceError(
            argument,
            f"must have at most {MOST_ARMS_CUBED} arms, since K^3 numbers are kept",
            len(array),
            remedy="leave some out, or take ecw_rmed_constant or find_violations, "
            "which need K^2",
        )
    off = np.abs(array + array.T)
    bad = ~((off <= SYMMETRY_TOLERANCE) & (np.abs(array) <= 0.5))
    if bad.any():
        i, j = np.argwhere(bad)[0].tolist()
        rule = "must be antisymmetric and within 1/2 of 0; entry "
        rule += f"({j}, {i}) is {float(array[j, i])}"
        remedy = "subtract 1/2 from a preference matrix"
        refuse_entries(bad, array, argument, rule, remedy=remedy)
    return xp, array


def pair_table(
    values: AnyArrayLike, gaps: Float[Any, "K K"], argument: str
) -> Float[Any, "K K"]:
    """Return a table of pairs in floating point, of the shape of the gaps.

    ``InvalidPreferenceError`` for another shape and, in NumPy arrays, for nan.
    """
    array = floating(values, argument)[1]
    if tuple(array.shape) != tuple(gaps.shape):
        rule = f"must have the shape of the gaps, {tuple(gaps.shape)}"
        raise InvalidPreferenceError(argument, rule, tuple(array.shape))
    if is_concrete(array):
        refuse_entries(np.isnan(array), array, argument, "must be a number")
    return array


def arm_of(arm: AnyArrayLike, num_arms: int, argument: str) -> Int[Any, ""] | int:
    """Return the number of an arm, checked unless it is traced."""
    if isinstance(arm, np.ndarray) and arm.ndim == 0:
        arm = arm[()]
    if hasattr(arm, "__array_namespace__") and not is_concrete(arm):
        return arm
    return arm_index(arm, num_arms, argument)


def is_concrete(array: AnyArrayLike) -> bool:
    """Return whether the entries can be looked at: only NumPy's surely can."""
    return isinstance(array, (np.ndarray, np.generic))

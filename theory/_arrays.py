"""Helpers for code that runs on NumPy arrays and on traced arrays alike.

Such code asks an array for its namespace (the array-API standard), assigns nothing in
place, and has no shape that depends on data. It may then be traced by a compiler.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

type Array = Any
"""An array of NumPy or of another library that follows the array-API standard."""


def floating(values: Array) -> tuple[ModuleType, Array]:
    """Return the namespace of an array and the array in floating point.

    Parameters
    ----------
    values : array, or anything that NumPy can read
        Floating-point arrays of any library are returned as they are.

    Returns
    -------
    namespace : module
        NumPy, or the library of the array.
    array : array
        Integers become float64, and so does anything that is no array.
    """
    if not hasattr(values, "__array_namespace__"):
        return np, np.asarray(values, dtype=np.float64)
    namespace = values.__array_namespace__()
    if not namespace.isdtype(values.dtype, "real floating"):
        values = namespace.astype(values, namespace.float64)
    return namespace, values


def is_concrete(array: Array) -> bool:
    """Return whether the entries can be looked at: only NumPy's surely can."""
    return isinstance(array, (np.ndarray, np.generic))

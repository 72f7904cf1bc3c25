"""Helpers for code that runs on NumPy arrays and on traced arrays alike.

Such code asks an array for its namespace (the array-API standard), assigns nothing in
place, and has no shape that depends on data. It may then be traced by a compiler.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from theory.validation import real_array

if TYPE_CHECKING:
    from jaxtyping import Float

type Array = Any  # An array of any library with the array-API standard, inside a module

# An argument that the function converts: an array of any library with the array-API
# standard, or a value for NumPy. A shape annotation would refuse it too early.
type AnyArrayLike = Any


def floating(
    values: AnyArrayLike, argument: str = "values"
) -> tuple[ModuleType, Float[Any, "*shape"]]:
    """Return the namespace of an array and the array in floating point."""
    # Floating-point arrays of any library stay; all else becomes float64.
    if is_concrete(values) or not hasattr(values, "__array_namespace__"):
        array = real_array(values, argument)
        return np, array if array.dtype.kind == "f" else array.astype(np.float64)
    namespace = values.__array_namespace__()
    if not namespace.isdtype(values.dtype, "real floating"):
        values = namespace.astype(values, namespace.float64)
    return namespace, values


def is_concrete(array: AnyArrayLike) -> bool:
    """Return whether the entries can be looked at: only NumPy's surely can."""
    return isinstance(array, (np.ndarray, np.generic))

"""How functions of kernels are compiled.

Kernels own no memory: all arrays are made by the host. So Numba is told to count no
references to arrays, which took several times as long as the work itself; what would
need memory (a slice that is assigned to, a new array, ``np.min``) is then refused when
the kernel is compiled.
"""

import inspect
from collections.abc import Callable
from typing import Any

from numba import njit

type Records = Any
"""A NumPy array with named fields, of which the static checker knows nothing."""

OPTIONS: Any = {"error_model": "numpy", "nogil": True, "_nrt": False}
"""Divisions do not raise, as in NumPy; other threads of Python go on meanwhile."""

_INLINED: Any = {
    "forceinline": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


def compiled[Function: Callable[..., Any]](function: Function) -> Function:
    """Compile a function that is called from several places, or seldom."""
    # A checked or otherwise wrapped function is no function for Numba.
    dispatcher: Any = njit(**OPTIONS)(inspect.unwrap(function))
    return dispatcher


def inlined[Function: Callable[..., Any]](function: Function) -> Function:
    """Compile a function as part of the one that calls it.

    Passing a state on, a tuple of arrays, takes longer than a short function does. What
    Python would need to call it is left out: that was a fifth of the time of compiling.
    """
    dispatcher: Any = njit(**OPTIONS, **_INLINED)(inspect.unwrap(function))
    return dispatcher

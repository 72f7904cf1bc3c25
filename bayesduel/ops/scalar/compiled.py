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

from bayesduel.ops.scalar.pipelines import (
    InlinedPartCompiler,
    PartCompiler,
    ProgramCompiler,
)

type Records = Any
"""A NumPy array with named fields, of which the static checker knows nothing."""

OPTIONS: Any = {
    "error_model": "numpy",
    "nogil": True,
    "_nrt": False,
    "no_cfunc_wrapper": True,
    "pipeline_class": ProgramCompiler,
}
"""Divisions do not raise, as in NumPy; other threads of Python go on meanwhile; Python
calls what is compiled, and no other language."""

PART_OPTIONS: Any = {
    **OPTIONS,
    "no_cpython_wrapper": True,
    "pipeline_class": PartCompiler,
}
"""Of what compiled code calls, and Python cannot: it becomes code with its callers."""


def compiled[Function: Callable[..., Any]](function: Function) -> Function:
    """Compile a function that is called from several places, or seldom."""
    return _part(function, PartCompiler)


def inlined[Function: Callable[..., Any]](function: Function) -> Function:
    """Compile a function as part of the one that calls it."""
    return _part(function, InlinedPartCompiler)


def standalone(part: Any) -> Any:
    """Compile a part apart, so that Python may call it."""
    return njit(**OPTIONS)(inspect.unwrap(part))


def _part[Function: Callable[..., Any]](
    function: Function, compiler: type[ProgramCompiler]
) -> Function:
    # A checked or otherwise wrapped function is no function for Numba.
    options = {**PART_OPTIONS, "pipeline_class": compiler}
    dispatcher: Any = njit(**options)(inspect.unwrap(function))
    return dispatcher

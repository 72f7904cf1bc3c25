"""How functions of kernels are compiled.

Kernels own no memory: all arrays are made by the host. So Numba is told to count no
references to arrays, which took several times as long as the work itself; what would
need memory (a slice that is assigned to, a new array, ``np.min``) is then refused when
the kernel is compiled. That, and a pipeline of our own, rest on names that Numba calls
private. Where a version of it lacks one, kernels are compiled as any other function:
the same digits, after two to three times as long.
"""

import inspect
from collections.abc import Callable
from typing import Any

from numba import njit

type Records = Any
"""A NumPy array with named fields, of which the static checker knows nothing."""


def _own_pipelines() -> Any:
    """Return the module of our own pipelines, None where Numba lacks what they need."""
    try:
        from bayesduel.ops.scalar import pipelines
    except (ImportError, AttributeError):
        return None
    return pipelines if not pipelines.lacking() else None


_PIPELINES = _own_pipelines()

OPTIONS: Any = {"error_model": "numpy", "nogil": True}
"""Divisions do not raise, as in NumPy; other threads of Python go on meanwhile."""

PART_OPTIONS: Any = OPTIONS
"""Of what compiled code calls, and Python cannot: it becomes code with its callers."""

_INLINED_OPTIONS: Any = OPTIONS

if _PIPELINES is not None:
    # Python calls what is compiled, and no other language.
    _ours = {**OPTIONS, "_nrt": False, "no_cfunc_wrapper": True}
    OPTIONS = {**_ours, "pipeline_class": _PIPELINES.ProgramCompiler}
    _part = {**_ours, "no_cpython_wrapper": True}
    PART_OPTIONS = {**_part, "pipeline_class": _PIPELINES.PartCompiler}
    _INLINED_OPTIONS = {**_part, "pipeline_class": _PIPELINES.InlinedPartCompiler}


def compiled[Function: Callable[..., Any]](function: Function) -> Function:
    """Compile a function that is called from several places, or seldom."""
    return _compiled(function, PART_OPTIONS)


def inlined[Function: Callable[..., Any]](function: Function) -> Function:
    """Compile a function as part of the one that calls it."""
    return _compiled(function, _INLINED_OPTIONS)


def standalone(part: Any) -> Any:
    """Compile a part apart, so that Python may call it."""
    return _compiled(part, OPTIONS)


def _compiled(function: Any, options: dict[str, Any]) -> Any:
    # A checked or otherwise wrapped function is no function for Numba.
    return njit(**options)(inspect.unwrap(function))

"""Marks on the functions of kernels, which Python plays and Numba can compile.

A marked function is the function itself: Python calls it at once, and nothing is
imported or compiled for that. Where a program calls it, it is compiled then, as its
mark says, by ``ops.scalar.compiler``.
"""

import inspect
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any

import numpy as np

# A NumPy array with named fields, of which the static checker knows nothing
type Records = Any

# Functions that are compiled with what calls them
MARKED: set[Callable[..., Any]] = set()

# Implementations of functions ``by_state``, by the class of the state
BY_STATE: dict[Callable[..., Any], dict[type, Callable[..., Any]]] = {}


def compiled[Function: Callable[..., Any]](function: Function) -> Function:
    """Mark a function that Numba compiles where a compiled one calls it."""
    # A checked or otherwise wrapped function is no function for Numba.
    plain: Any = inspect.unwrap(function)
    MARKED.add(plain)
    return plain


def by_state[Function: Callable[..., Any]](stub: Function) -> Function:
    """Let a function be another one for each class of its first argument."""
    # ``implement_one`` enters one; the stub holds for all other classes.
    functions: dict[type, Callable[..., Any]] = {}
    plain: Any = inspect.unwrap(stub)

    @wraps(stub)
    def find(state: Any, *others: Any) -> Any:
        function: Any = functions.get(type(state), plain)
        return function(state, *others)

    BY_STATE[find] = functions
    implementation: Any = find
    return implementation


def implement_one(
    stub: Callable[..., Any], state_class: type, function: Callable[..., Any]
) -> None:
    """Say what a function ``by_state`` is for a class of states."""
    BY_STATE[stub][state_class] = inspect.unwrap(function)


def with_names(function: Callable[..., Any], names: dict[str, Any]) -> FunctionType:
    """Return a function for which some names of its module mean something else."""
    plain: Any = inspect.unwrap(function)
    known = plain.__globals__ | names
    copied = FunctionType(
        plain.__code__, known, plain.__name__, plain.__defaults__, plain.__closure__
    )
    copied.__module__ = plain.__module__
    return copied


def tables(
    num_arms: int, now: Any, arm: Any, pair: Any
) -> tuple[Records, Records, Records]:
    """Return the zeros that a run begins with: ``now``, ``arms`` and ``pairs``."""
    shapes = (1, now), (num_arms, arm), ((num_arms, num_arms), pair)
    one, singles, both = (np.zeros(shape, dtype=kind) for shape, kind in shapes)
    return one, singles, both

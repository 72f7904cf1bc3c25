"""Functions of kernels as Python runs them: nothing is compiled, a debugger can stop.

Kernels read ``state.arms[i].wins``, which Numba understands of an array with named
fields, and NumPy does not. So Python is given objects in place of the entries of such
arrays, and numbers of its own in place of NumPy's, which are faster one by one; what
has become of them is written back. The digits are those of compiled code.
"""

import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from bayesduel.errors import ArgumentError

# Entries of the largest array that is copied; larger ones are read-only
_MOST_ENTRIES = 2**18


def run_uncompiled(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function that could be compiled as it stands; to the same effect."""
    # Arguments do not change where it raises: an ArithmeticError or ValueError where
    # compiled code goes on with infinity, or where an array is too large.
    given = [unpacked(value) for value in arguments]
    with np.errstate(all="ignore"):
        result = inspect.unwrap(function)(*given)
    for argument, copy in zip(arguments, given, strict=True):
        _write_back(argument, copy)
    return result


class _Records(np.ndarray):
    """Objects in an array; its attributes are those of all of them."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return Column(self, name)


class Column:
    """One attribute of objects in an array of one axis."""

    def __init__(self, records: Any, name: str) -> None:
        self._records, self._name, self.size = records, name, len(records)

    def __getitem__(self, index: int) -> Any:
        return getattr(self._records[index], self._name)

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self._records[index], self._name, value)


class _Large:
    """An array that is read entry by entry."""

    def __init__(self, array: Any) -> None:
        self._entry, self.shape, self.size = array.item, array.shape, array.size

    def __getitem__(self, index: Any) -> Any:
        return self._entry(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        rule = "is too large to be played in Python"
        raise ArgumentError("array", rule, self.shape, remedy="compile it")


def unpacked(value: Any) -> Any:
    """Return an argument as Python reads it."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        made: Any = value
        return made._make(map(unpacked, value))
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.names is None:
        return _Large(value) if value.size > _MOST_ENTRIES else value.astype(object)
    names, rows = value.dtype.names, value.reshape(-1).tolist()
    records = np.empty(value.size, dtype=object).view(_Records)
    for row_number, row in enumerate(rows):
        records[row_number] = SimpleNamespace(**dict(zip(names, row, strict=True)))
    return records.reshape(value.shape)


def _write_back(value: Any, changed: Any) -> None:
    """Write what has become of an argument into what it was made of."""
    if isinstance(changed, _Records):
        rows = [tuple(vars(record).values()) for record in changed.reshape(-1)]
        value[...] = np.array(rows, dtype=value.dtype).reshape(value.shape)
    elif isinstance(changed, np.ndarray) and value.flags.writeable:
        value[...] = changed
    elif isinstance(changed, tuple):
        for record, part in zip(value, changed, strict=True):
            _write_back(record, part)

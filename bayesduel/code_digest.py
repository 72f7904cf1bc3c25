"""Whether the code of a user's own policy is still the one that results came from.

Our own policies are identified by the version of this distribution. For any other the
digest covers what its methods execute: their byte code and constants, and in turn the
functions, classes and constants that they name and that are not part of an installed
library. Comments and line numbers do not count. A compiled rule is kept on disk by the
same digest of its functions, where our own code counts as well.
"""

import hashlib
import json
import sys
import sysconfig
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

_OURS = ("bayesduel", "theory")
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def code_digest(policy: Any) -> str:
    """Return a digest of what a policy, or its class, executes; empty for our own.

    Policies and other objects among its fields are included.
    """
    found = _Found()
    _visit(policy, found)
    return _digest(found) if found else ""


def functions_digest(functions: Iterable[Callable[..., Any]]) -> str:
    """Return a digest of what functions execute, of ours as of the user's."""
    found = _Found(with_ours=True)
    for function in functions:
        _visit(function, found)
    return _digest(found)


class _Found(dict[str, Any]):
    """What was visited, by name."""

    def __init__(self, *, with_ours: bool = False) -> None:
        super().__init__()
        self._with_ours = with_ours

    def takes(self, module: str | None) -> bool:
        """Whether what a module defines is to be visited."""
        ours = module is not None and module.partition(".")[0] in _OURS
        return is_users(module) or (ours and self._with_ours)


def _digest(found: _Found) -> str:
    text = json.dumps(found, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _visit_value(value: Any, found: _Found) -> None:
    """Visit the class of an object, and the objects in its fields."""
    _visit_class(type(value), found)
    if is_dataclass(value):
        for field in fields(value):
            _visit(getattr(value, field.name, None), found)


def _visit_class(cls: type, found: _Found) -> None:
    for each in cls.__mro__:
        name = _name(each)
        if name in found or not found.takes(each.__module__):
            continue
        found[name] = {}
        for attribute, member in sorted(vars(each).items()):
            inner = getattr(member, "__func__", getattr(member, "fget", member))
            if isinstance(inner, FunctionType) and not _is_generated(inner):
                found[name][attribute] = _describe(inner, found)
            elif not attribute.startswith("__") and _constant(inner) is not None:
                found[name][attribute] = _constant(inner)


def _is_generated(function: FunctionType) -> bool:
    """Whether ``dataclass`` wrote a method; it follows from the fields."""
    special = function.__name__.startswith("__")
    return special and function.__code__.co_filename == "<string>"


def _visit(value: Any, found: _Found) -> None:
    """Visit whatever a function names."""
    inner = getattr(value, "__wrapped__", value)
    if isinstance(inner, FunctionType):
        name = _name(inner)
        if name not in found and found.takes(inner.__module__):
            found[name] = {}
            found[name] = _describe(inner, found)
    elif isinstance(inner, type):
        _visit_class(inner, found)
    elif not isinstance(inner, (ModuleType, *_PLAIN)):
        _visit_value(inner, found)


def _describe(function: FunctionType, found: _Found) -> dict[str, Any]:
    """Return the code of a function and the plain values that it names."""
    named: dict[str, Any] = {}
    for name in sorted(global_names(function.__code__)):
        if name in function.__globals__:
            named[name] = function.__globals__[name]
    for name, cell in zip(
        function.__code__.co_freevars, function.__closure__ or (), strict=True
    ):
        try:
            named[name] = cell.cell_contents
        except ValueError:  # Not yet assigned.
            continue
    for value in named.values():
        _visit(value, found)
    plain = {name: _constant(value) for name, value in named.items()}
    return {
        "code": _code(function.__code__),
        "defaults": [_constant(each) for each in function.__defaults__ or ()],
        "names": {name: value for name, value in plain.items() if value is not None},
    }


def global_names(code: CodeType) -> set[str]:
    """Return what a function may name, those inside it included."""
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return set(code.co_names).union(*(global_names(each) for each in inner))


def _code(code: CodeType) -> list[Any]:
    """Return what a code object does, without where it stands."""
    constants = [
        _code(each) if isinstance(each, CodeType) else _constant(each)
        for each in code.co_consts
    ]
    return [code.co_code.hex(), list(code.co_names), list(code.co_varnames), constants]


def _constant(value: Any) -> str | None:
    """Return a text for a plain value; None for anything else."""
    if isinstance(value, (*_PLAIN, np.generic)):
        return repr(value)
    if isinstance(value, tuple | list):
        return repr([_constant(each) for each in value])
    if isinstance(value, set | frozenset):
        return repr(sorted(str(_constant(each)) for each in value))
    if isinstance(value, dict):
        pairs = [(str(_constant(key)), _constant(each)) for key, each in value.items()]
        return repr(sorted(pairs, key=lambda pair: pair[0]))
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    return None


def _name(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


def is_users(module: str | None) -> bool:
    """Whether a module is the user's: not ours, not Python's, not an installed one."""
    if module == "__main__":
        return True
    if module is None or module.split(".")[0] in (*_OURS, *sys.stdlib_module_names):
        return False
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return False
    libraries = ("purelib", "platlib", "stdlib")
    folders = {Path(sysconfig.get_path(each)).resolve() for each in libraries}
    return not any(folder in Path(file).resolve().parents for folder in folders)


__all__ = ["code_digest", "functions_digest", "global_names", "is_users"]

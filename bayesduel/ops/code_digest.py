"""Whether code is still the one that results, or compiled programs, came from.

Our own policies are identified by the version of this distribution. For any other the
digest covers what its methods execute: their byte code and constants, and in turn the
functions, classes and constants that they name and that are not part of an installed
library. Comments, line numbers and the rest of a file do not count: a script that asks
for more runs of its policy goes on. A compiled rule is kept on disk by the same digest.
"""

import hashlib
import inspect
import marshal
import sys
import sysconfig
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

_OURS = ("bayesduel", "theory")

type _Found = dict[str, list[bytes]]  # Sources that were visited, by name


def code_digest(policy: Any) -> str:
    """Return a digest of what a policy, or its class, executes; empty for our own."""
    values: _Found = {}
    _visit(policy, is_users, values)
    return _digest(values) if values else ""


def functions_digest(functions: Iterable[Callable[..., Any]]) -> str:
    """Return a digest of what functions execute, of ours as of the user's."""
    values: _Found = {}
    for function in functions:
        _visit(function, lambda module: is_users(module) or _is_ours(module), values)
    return _digest(values)


def _digest(values: _Found) -> str:
    return hashlib.sha256(marshal.dumps(sorted(values.items()), 2)).hexdigest()


def _visit(value: Any, takes: Callable[[str | None], bool], values: _Found) -> None:
    """Note what a function, the methods of a class, or those of an object execute."""
    value = inspect.unwrap(value) if callable(value) else value
    if isinstance(value, type):
        for base in value.__mro__:
            _note(base, takes, values)
    elif isinstance(value, FunctionType):
        _note(value, takes, values)
    elif not isinstance(value, ModuleType):
        _visit(type(value), takes, values)
        for field in fields(value) if is_dataclass(value) else ():
            _visit(getattr(value, field.name, None), takes, values)


def _note(value: Any, takes: Callable[[str | None], bool], values: _Found) -> None:
    """Note a function or class by its name, and visit what it names."""
    name = f"{value.__module__}.{value.__qualname__}"
    if name in values or not takes(value.__module__):
        return
    values[name] = parts = []
    if isinstance(value, type):
        named = {
            x: getattr(y, "__func__", getattr(y, "fget", y))
            for x, y in vars(value).items()
        }
        named = {x: y for x, y in named.items() if not _is_generated(x, y)}
    else:
        parts += [
            _plain(part) for part in (value.__code__, *(value.__defaults__ or ()))
        ]
        known, named = value.__globals__, {}
        with suppress(ValueError):  # A variable that is not yet assigned.
            named |= inspect.getclosurevars(value).nonlocals
        named |= {x: known[x] for x in global_names(value.__code__) & known.keys()}
    for member in sorted(named):
        parts += [member.encode(), _plain(named[member])]
        _visit(named[member], takes, values)


def _is_generated(name: str, member: Any) -> bool:
    """Say whether Python or ``dataclass`` wrote a member of a class."""
    code = getattr(member, "__code__", None)
    return name.startswith("__") and (code is None or code.co_filename == "<string>")


def _plain(value: Any) -> bytes:
    """Return plain values, or what code does, as bytes; nothing of other objects."""
    with suppress(ValueError):
        return marshal.dumps(_placeless(value), 2)  # Others count who else holds it.
    return b""


def _placeless(value: Any) -> Any:
    """Return code that does not know where it stands."""
    if isinstance(value, slice):  # Since Python 3.14 a constant, in another format.
        return value.start, value.stop, value.step
    if not isinstance(value, CodeType):
        return value
    inner = tuple(map(_placeless, value.co_consts))
    blank: Any = {"co_filename": "", "co_firstlineno": 1, "co_linetable": b""}
    return value.replace(**blank, co_consts=inner)


def global_names(code: CodeType) -> set[str]:
    """Return what a function may name, those inside it included."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*(global_names(constant) for constant in inner))


def _is_ours(module: str | None) -> bool:
    return module is not None and module.partition(".")[0] in _OURS


def is_users(module: str | None) -> bool:
    """Whether a module is the user's: not ours, not Python's, not an installed one."""
    if module == "__main__":
        return True
    if module is None or _is_ours(module):
        return False
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or module.partition(".")[0] in sys.stdlib_module_names:
        return False
    libraries = {sysconfig.get_path(x) for x in ("purelib", "platlib", "stdlib")}
    folders = {Path(library).resolve() for library in libraries}
    return not any(folder in Path(file).resolve().parents for folder in folders)

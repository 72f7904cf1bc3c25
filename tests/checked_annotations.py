"""Checks annotations of arrays whenever a test calls a function of ours.

Python itself reports where functions of our modules begin and end
(``sys.monitoring``); ``tests/conftest.py`` asks for that. What goes in and what comes
out is compared with the annotation as far as that speaks of arrays. All else is left to
the static checker, so that a bad argument of a user still meets our own checks. The
first fifty calls of a function are checked, then the first of every test; the others
cost little.
"""

import ast
import atexit
import inspect
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import fields, is_dataclass
from functools import cache, partial
from importlib import import_module
from types import CodeType, FrameType, FunctionType, ModuleType, NoneType, UnionType
from typing import Any, TypeAliasType, Union, get_args, get_origin, get_type_hints

import numpy as np
from jaxtyping import AbstractArray, TypeCheckError, jaxtyped

PACKAGES = ("theory", "bayesduel")
"""The packages whose annotations are checked."""

_MOST_CALLS = 50
_EVENTS = sys.monitoring.events
_SEEKER, _CHECKER = 4, 5
"""Our numbers among the tools that watch; debuggers have others, and Hypothesis has 3.
The first sees where any code begins, once, and says for which the second is to be
called."""

_BOTH_ENDS = _EVENTS.PY_START | _EVENTS.PY_RETURN

_MANY_CALLS = 5
"""In one test: from then on, not even counting them is worth it."""

type _Check = Callable[[Any, str], str]
"""Says which array in a value of some name is not as annotated; nothing if all are."""

_key = object.__hash__
"""The key of a code object. `id` would raise an audit event at each call, and a library
that locks files watches these, which takes longer than all else here."""

_watched: dict[int, tuple[FunctionType, dict[str, _Check]]] = {}
"""Functions whose annotations speak of arrays, by their codes, as below."""

_num_calls: Counter[int] = Counter()
_num_in_this_test: Counter[int] = Counter()
_off: list[CodeType] = []
_open: dict[int, list[tuple[FrameType, dict[str, Any]]]] = {}
"""Frames and arguments of calls on their way."""


def install() -> None:
    """Check all functions of ``PACKAGES`` that are called from now on."""
    tools = {
        _SEEKER: {_EVENTS.PY_START: _seek},
        _CHECKER: {
            _EVENTS.PY_START: _begins,
            _EVENTS.PY_RETURN: _returns,
            _EVENTS.PY_UNWIND: _unwinds,
        },
    }
    for tool, watch in tools.items():
        sys.monitoring.use_tool_id(tool, "annotations of arrays")
        for event, callback in watch.items():
            sys.monitoring.register_callback(tool, event, callback)
        atexit.register(sys.monitoring.set_events, tool, 0)
    sys.monitoring.set_events(_SEEKER, _EVENTS.PY_START)
    # Only of all code, or of none.
    sys.monitoring.set_events(_CHECKER, _EVENTS.PY_UNWIND)


def look_again() -> None:
    """Check the next call of every function."""
    for code in _off:
        sys.monitoring.set_local_events(_CHECKER, code, _BOTH_ENDS)
    _off.clear()
    _num_in_this_test.clear()
    _open.clear()


def _seek(code: CodeType, _: int) -> Any:
    """Let the calls of a code be checked, this one included, if it speaks of arrays."""
    name = sys._getframe(1).f_globals.get("__name__", "")
    if name.partition(".")[0] not in PACKAGES or "<" in code.co_qualname:
        return sys.monitoring.DISABLE
    if getattr(sys.modules[name].__spec__, "_initializing", False):
        return None  # Not all that annotations name can be imported yet.
    function = function_of(code, name)
    if function is not None and (checks := _array_checks(function)):
        _watched[_key(code)] = function, checks
        sys.monitoring.set_local_events(_CHECKER, code, _BOTH_ENDS)
        _check_arguments(code, sys._getframe(1))
    return sys.monitoring.DISABLE


def _begins(code: CodeType, _: int) -> None:
    key = _key(code)
    _num_in_this_test[key] += 1
    if _num_in_this_test[key] == 1 or _num_calls[key] < _MOST_CALLS:
        _check_arguments(code, sys._getframe(1))
    elif _num_in_this_test[key] > _MANY_CALLS:
        sys.monitoring.set_local_events(_CHECKER, code, 0)
        _off.append(code)


def _check_arguments(code: CodeType, frame: FrameType) -> None:
    key = _key(code)
    _num_calls[key] += 1
    function, checks = _watched[key]
    local = frame.f_locals
    given = {each: local[each] for each in checks if each != "return"}
    _compare(function, given)
    _open.setdefault(key, []).append((frame, given))


def _returns(code: CodeType, _: int, value: object) -> None:
    key = _key(code)
    given = _arguments_of(key, sys._getframe(1)) if key in _open else None
    if given is not None:
        function, checks = _watched[key]
        if "return" in checks:
            _compare(function, given | {"return": value})


def _unwinds(code: CodeType, *_: object) -> None:
    if _open and _key(code) in _open:
        _arguments_of(_key(code), sys._getframe(1))


def _arguments_of(key: int, frame: FrameType) -> dict[str, Any] | None:
    """Return the arguments of a call that ends; None where they were not checked."""
    calls = _open[key]
    for place, (its_frame, given) in enumerate(calls):
        if its_frame is frame:
            del calls[place]
            if not calls:
                del _open[key]
            return given
    return None


def _compare(function: FunctionType, values: dict[str, Any]) -> None:
    checks = _array_checks(function)
    with jaxtyped("context"):  # The same letter is the same size in all of them.
        for name, value in values.items():
            if wrong := checks[name](value, name):
                where = f"{function.__module__}.{function.__qualname__}"
                raise TypeCheckError(f"{where}: {wrong}")


@cache
def function_of(code: CodeType, module_name: str) -> FunctionType | None:
    """Return the function of a module, or of a class in it, that has this code."""
    value: Any = sys.modules[module_name]
    for part in code.co_qualname.split("."):
        value = getattr(value, "__dict__", {}).get(part)
    for inner in plain_functions(value):
        if inner.__code__ is code:
            return inner
    return None


def plain_functions(value: Any) -> list[FunctionType]:
    """Return the functions as they are written behind a name of a module or class."""
    parts = [
        getattr(value, each, None) for each in ("fget", "fset", "func", "__func__")
    ]
    inner = [inspect.unwrap(each) for each in (value, *parts) if callable(each)]
    return [each for each in inner if isinstance(each, FunctionType)]


@cache
def _array_checks(function: FunctionType) -> dict[str, _Check]:
    checks = {name: _check_of(hint) for name, hint in hints_of(function).items()}
    return {name: check for name, check in checks.items() if check}


def hints_of(thing: Any) -> dict[str, Any]:
    """Return the annotations, with the names that only the static checker imports."""
    module = sys.modules[thing.__module__]
    # Before Python 3.12.4 `get_type_hints` knows no type parameters.
    own = {each.__name__: each for each in getattr(thing, "__type_params__", ())}
    try:
        return get_type_hints(thing, vars(module), own, include_extras=True)
    except NameError:
        # A class has those of the modules of its bases, too.
        names: dict[str, Any] = {}
        for each in reversed(getattr(thing, "__mro__", (thing,))):
            if each.__module__.partition(".")[0] in PACKAGES:
                names |= _names_of(sys.modules[each.__module__])
        return get_type_hints(thing, names, own, include_extras=True)


@cache
def _names_of(module: ModuleType) -> dict[str, Any]:
    """Return the names of a module, those that only the static checker sees too."""
    names = dict(vars(module))
    source = inspect.getsource(module)
    for node in ast.parse(source).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for statement in node.body:
                _execute(statement, names)
    return names


def _execute(statement: ast.stmt, names: dict[str, Any]) -> None:
    """Execute a statement; what it imports may itself be for the static checker."""
    if isinstance(statement, ast.ImportFrom) and statement.module:
        module = import_module(statement.module)
        for alias in statement.names:
            value = getattr(module, alias.name, None)
            value = _names_of(module)[alias.name] if value is None else value
            names[alias.asname or alias.name] = value
    else:
        exec(compile(ast.Module([statement], []), "TYPE_CHECKING", "exec"), names)


def without_alias(hint: Any) -> Any:
    """Return what an alias stands for; ``NDArray[...]`` is one since NumPy 2.5."""
    while isinstance(hint, TypeAliasType):
        hint = hint.__value__
    origin = get_origin(hint)
    if isinstance(origin, TypeAliasType):
        return without_alias(origin.__value__[get_args(hint)])
    return hint


def _is_array(hint: Any) -> bool:
    if isinstance(hint, type) and issubclass(hint, AbstractArray):
        return True
    plain = np.ndarray in (hint, get_origin(hint)) or hint is jax_array()
    return plain and not getattr(hint, "__parameters__", ())


def jax_array() -> Any:
    """Return the class of JAX's arrays, if JAX is there: theory needs none."""
    return getattr(sys.modules.get("jax"), "Array", None)


def _is_container(hint: Any) -> bool:
    origin = get_origin(hint)
    return isinstance(origin, type) and issubclass(origin, Sequence | Mapping)


@cache
def _fields(kind: Any) -> dict[str, Any]:
    """Return the annotated fields of a record: a NamedTuple or a dataclass of ours."""
    is_ours = isinstance(kind, type) and kind.__module__.partition(".")[0] in PACKAGES
    names = getattr(kind, "_fields", ()) if is_ours else ()
    if is_ours and is_dataclass(kind):
        names = [field.name for field in fields(kind)]
    hints = hints_of(kind) if names else {}
    return {name: hints[name] for name in names}


def misfit(value: Any, hint: Any, name: str) -> str:
    """Say which array in a value is not as a hint says; nothing if all are."""
    check = _check_of(hint)
    return check(value, name) if check else ""


@cache
def _check_of(hint: Any) -> _Check | None:
    """Return how a value is compared with a hint; none if the hint speaks of no array.

    Hints are read once: values are compared a million times.
    """
    hint = without_alias(hint)
    if get_origin(hint) in (Union, UnionType):
        # Beside a text, an array may be anything that our own checks refuse.
        members = [each for each in get_args(hint) if each is not NoneType]
        checks = [_check_of(each) for each in members]
        if None in checks:
            return None
        may_lack = NoneType in get_args(hint)
        return partial(_misfit_of_union, may_lack, [each for each in checks if each])
    if _is_container(hint):
        parts = [None if each is ... else _check_of(each) for each in get_args(hint)]
        if not any(parts):
            return None
        if issubclass(get_origin(hint), tuple) and ... not in get_args(hint):
            return partial(_misfit_of_tuple, get_origin(hint), parts)
        if issubclass(get_origin(hint), Mapping):
            return parts[1] and partial(_misfit_of_rows, get_origin(hint), parts[1])
        return partial(_misfit_of_rows, get_origin(hint), parts[0])
    if _is_array(hint):
        return partial(_misfit_of_array, hint)
    if _record_speaks(hint, set()):
        return partial(_misfit_of_record, hint)
    return None


def _record_speaks(hint: Any, above: set[Any]) -> bool:
    """Return whether a record holds arrays, at any depth; it may hold its own kind."""
    hint = without_alias(hint)
    if hint in above:
        return False
    if _is_array(hint):
        return True
    inner = [each for each in get_args(hint) if each not in (..., NoneType)]
    if get_origin(hint) in (Union, UnionType):
        return all(_record_speaks(each, above) for each in inner)
    if _is_container(hint):
        return any(_record_speaks(each, above) for each in inner)
    return any(_record_speaks(each, above | {hint}) for each in _fields(hint).values())


def _misfit_of_union(
    may_lack: bool, checks: Sequence[_Check], value: Any, name: str
) -> str:
    if may_lack and not hasattr(value, "shape"):
        return ""
    found = ""
    for check in checks:
        wrong = check(value, name)
        if not wrong:
            return ""
        found = found or wrong
    return found


def _misfit_of_array(hint: Any, value: Any, name: str) -> str:
    # Kernels that Python plays have objects in place of arrays of their fields.
    played = type(value).__module__ == "bayesduel.ops.scalar.uncompiled"
    if played or getattr(getattr(value, "dtype", None), "kind", "") == "O":
        return ""
    if _is_such_array(value, hint):
        return ""
    got = f"{getattr(value, 'dtype', type(value))}{getattr(value, 'shape', '')}"
    return f"{name} is annotated {hint}, got {got}"


def _misfit_of_record(kind: Any, value: Any, name: str) -> str:
    if not isinstance(value, kind):
        return ""
    # Names of axes hold within one record: another may be of another size.
    with jaxtyped("context"):
        for each, check in _checks_of_fields(kind):
            if wrong := check(getattr(value, each), f"{kind.__name__}.{each}"):
                return wrong
    return ""


@cache
def _checks_of_fields(kind: Any) -> list[tuple[str, _Check]]:
    checks = {name: _check_of(hint) for name, hint in _fields(kind).items()}
    return [(name, check) for name, check in checks.items() if check]


def _misfit_of_tuple(
    kind: Any, checks: Sequence[_Check | None], value: Any, name: str
) -> str:
    if not isinstance(value, kind):
        return ""
    if len(checks) != len(value):
        return f"{name} must have {len(checks)} parts, got {len(value)}"
    for place, (each, check) in enumerate(zip(value, checks, strict=True)):
        if check and (wrong := check(each, f"{name}[{place}]")):
            return wrong
    return ""


def _misfit_of_rows(kind: Any, check: _Check, value: Any, name: str) -> str:
    if not isinstance(value, kind):
        return ""
    rows = value.items() if isinstance(value, Mapping) else enumerate(value)
    for place, (key, each) in enumerate(rows):
        # Names of axes hold for the first one: another may be of another size.
        with jaxtyped("context") if place else nullcontext():
            if wrong := check(each, f"{name}[{key!r}]"):
                return wrong
    return ""


def _is_such_array(value: Any, hint: Any) -> bool:
    if get_origin(hint) is np.ndarray:
        kind = get_args(get_args(hint)[1])[0]
        kind = object if kind is Any else kind
        return isinstance(value, np.ndarray) and issubclass(value.dtype.type, kind)
    if isinstance(value, np.generic) and getattr(hint, "array_type", 0) is np.ndarray:
        value = np.asarray(value)  # NumPy returns a scalar for an array without axes.
    return isinstance(value, hint)

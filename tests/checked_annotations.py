"""Checks annotations of arrays whenever a test calls a function of ours.

Installed by ``tests/conftest.py`` before our packages are imported: each function of a
module and each method of a class then checks what goes in and what comes out, with
jaxtyping and beartype, as far as its annotation speaks of arrays. All else is left to
the static checker, so that a bad argument of a user still meets our own checks.

jaxtyping's own hook would also wrap the functions inside functions, anew each time that
one is traced, and check every argument twice. Here the first fifty calls of a function
are checked, then one in fifty: that takes less than a hundredth of the time of the
tests, where all calls take half as much again as the tests of theory without.
"""

import ast
import inspect
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from itertools import count
from pathlib import Path
from types import FunctionType, ModuleType, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    TypeAliasType,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)
from zlib import crc32

import numpy as np
from beartype import BeartypeConf, beartype
from beartype.door import is_bearable
from beartype.vale import Is
from jaxtyping import AbstractArray, TypeCheckError, jaxtyped

PACKAGES = ("theory", "bayesduel")
"""What is checked."""

_DECORATOR = "_checks_arrays_"

# A check costs 20 to 100 us, more than some functions of theory take themselves.
_EVERY_CALL_UNTIL = 50
_THEN_ONE_OF = 50

# An integer is a number; an error names what jaxtyping found.
_CONF = BeartypeConf(is_pep484_tower=True, violation_type=TypeCheckError)
_checked = beartype(conf=_CONF)

_last = threading.local()


def install() -> None:
    """Check all modules of ``PACKAGES`` that are imported from now on."""
    loaded = [name for name in PACKAGES if name in sys.modules]
    if loaded:
        raise RuntimeError(f"imported before the check of annotations: {loaded}")
    sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in PACKAGES:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


class _Loader(SourceFileLoader):
    """Decorates functions while a module is compiled."""

    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> Any:
        tree = ast.parse(data, path)
        _decorate(tree)
        return compile(tree, path, "exec", dont_inherit=True, optimize=_optimize)

    def exec_module(self, module: ModuleType) -> None:
        setattr(module, _DECORATOR, checks_arrays)
        super().exec_module(module)

    # Bytecode lies beside that of the plain modules, under a name of its own.
    def get_data(self, path: str) -> bytes:
        return super().get_data(_own_cache(path))

    def set_data(self, path: str, data: Any, *, _mode: int = 0o666) -> None:
        super().set_data(_own_cache(path), data, _mode=_mode)


_VERSION = crc32(Path(__file__).read_bytes())


def _own_cache(path: str) -> str:
    return f"{path[:-4]}.checked-{_VERSION:x}.pyc" if path.endswith(".pyc") else path


def _decorate(parent: ast.Module | ast.ClassDef) -> None:
    """Add the innermost decorator to functions and methods, not to inner functions."""
    for node in parent.body:
        if isinstance(node, ast.ClassDef):
            _decorate(node)
        elif isinstance(node, ast.FunctionDef):
            name = ast.Name(_DECORATOR, ast.Load())
            node.decorator_list.append(ast.copy_location(name, node))


def checks_arrays(function: FunctionType) -> FunctionType:
    """Return a function that checks the arrays that it is called with and returns.

    Annotations are read at the first call: by then all that they name can be imported.
    """
    inner: Callable[..., Any] | None = None
    num_calls = 0
    every_call_until, then_one_of = _EVERY_CALL_UNTIL, _THEN_ONE_OF

    def wrapper(*args, **kwargs):
        nonlocal inner, num_calls
        num_calls += 1
        if num_calls > every_call_until and num_calls % then_one_of:
            return function(*args, **kwargs)
        if inner is None:
            if is_being_imported(function):
                return function(*args, **kwargs)
            inner = build(function)
        return inner(*args, **kwargs)

    build, is_being_imported = _checked_form, _is_being_imported
    # Doctests are looked for in functions with the globals of their module.
    outer = FunctionType(
        wrapper.__code__,
        function.__globals__,
        function.__name__,
        closure=wrapper.__closure__,
    )
    for name in ("__module__", "__qualname__", "__doc__", "__annotations__"):
        setattr(outer, name, getattr(function, name))
    outer.__type_params__ = function.__type_params__
    outer.__dict__.update(function.__dict__)
    outer.__wrapped__ = function
    setattr(outer, _DECORATOR, True)
    return outer


def is_checked(function: Callable[..., Any]) -> bool:
    """Return whether a function checks arrays, below whatever else decorates it."""
    found = inspect.unwrap(function, stop=lambda each: hasattr(each, _DECORATOR))
    return hasattr(found, _DECORATOR)


def _is_being_imported(function: FunctionType) -> bool:
    specification = sys.modules[function.__module__].__spec__
    return getattr(specification, "_initializing", False)


def _checked_form(function: FunctionType) -> Callable[..., Any]:
    hints = {name: array_part(hint) for name, hint in hints_of(function).items()}
    hints = {name: hint for name, hint in hints.items() if hint is not Any}
    if not hints:
        return function
    bare = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    bare.__kwdefaults__ = function.__kwdefaults__
    bare.__qualname__ = function.__qualname__
    bare.__module__ = function.__module__
    bare.__annotations__ = hints
    checked = _checked(bare)

    def call(*args, **kwargs):
        with jaxtyped("context"):
            try:
                return checked(*args, **kwargs)
            except TypeCheckError as error:
                note = getattr(_last, "mismatch", None)
                if note is not None:
                    error.add_note(note)
                    _last.mismatch = None
                raise

    return call


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations, with the names that only the static checker imports."""
    return _resolved(function, function.__module__)


def _resolved(thing: Any, module_name: str) -> dict[str, Any]:
    module = sys.modules[module_name]
    # Before Python 3.12.4 `get_type_hints` knows no type parameters.
    own = {each.__name__: each for each in getattr(thing, "__type_params__", ())}
    try:
        return get_type_hints(thing, vars(module), own, include_extras=True)
    except NameError:
        return get_type_hints(thing, _names_of(module), own, include_extras=True)


def _names_of(module: ModuleType) -> dict[str, Any]:
    """Return the names of a module, those that only the static checker sees too."""
    names = _names.get(module.__name__)
    if names is None:
        names = _names[module.__name__] = dict(vars(module))
        source = module.__loader__.get_source(module.__name__)
        for node in ast.parse(source).body:
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                for statement in node.body:
                    _execute(statement, names)
    return names


_names: dict[str, dict[str, Any]] = {}


def _execute(statement: ast.stmt, names: dict[str, Any]) -> None:
    """Execute a statement; what it imports may itself be for the static checker."""
    if isinstance(statement, ast.ImportFrom):
        module = import_module(statement.module)
        for alias in statement.names:
            try:
                value = getattr(module, alias.name)
            except AttributeError:
                value = _names_of(module)[alias.name]
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


def array_part(hint: Any) -> Any:
    """Return what a hint says of arrays alone, `Any` where it says nothing.

    Records are NamedTuples and dataclasses of ours that have arrays among their fields.
    """
    hint = without_alias(hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _array_part_of_union(arguments)
    if isinstance(hint, type) and issubclass(hint, AbstractArray):
        return _with_numpy_scalars(hint)
    if np.ndarray in (hint, origin) or getattr(hint, "__module__", "") == "jax":
        return Any if getattr(hint, "__parameters__", ()) else hint
    if isinstance(hint, type) and _fits(hint) is not None:
        return _records_of((hint,))
    if isinstance(origin, type) and issubclass(origin, Sequence | Mapping):
        parts = tuple(a if a is ... else array_part(a) for a in arguments)
        if all(part in (Any, ...) for part in parts):
            return Any
        return _containers_of(origin, origin[parts])
    return Any


def _with_numpy_scalars(hint: Any) -> Any:
    """Let what NumPy makes of an array without axes count as one."""
    if hint.array_type is not np.ndarray:
        return hint
    return hint | _passing(lambda it: isinstance(np.asarray(it), hint), np.generic)


def _array_part_of_union(members: tuple[Any, ...]) -> Any:
    given = tuple(member for member in members if member is not NoneType)
    if all(isinstance(each, type) and _fits(each) is not None for each in given):
        return _records_of(given)
    # Beside a number or a text, an array may be anything that our own checks refuse.
    parts = [array_part(member) for member in given]
    if Any in parts:
        return Any
    return _arrays_of(Union[*parts]) if NoneType in members else Union[*parts]


def _arrays_of(hint: Any) -> Any:
    """Return a hint that lets everything pass but wrong arrays."""
    return _passing(lambda it: not hasattr(it, "shape") or _bears(it, hint))


def _containers_of(kind: type, hint: Any) -> Any:
    """Return a hint that lets everything pass but containers of wrong arrays."""
    return _passing(lambda it: not isinstance(it, kind) or _bears(it, hint))


def _records_of(kinds: tuple[type, ...]) -> Any:
    """Return a hint that lets everything pass but records that hold wrong arrays."""

    def fits(value: Any) -> bool:
        kind = next((each for each in kinds if isinstance(value, each)), None)
        return kind is None or _fits(kind)(value)

    return _passing(fits)


def _passing(fits: Callable[[Any], bool], kind: type = object) -> Any:
    """Return a hint that lets pass what is of a kind and fits.

    Beartype takes containers of two hints for one if they read alike, and of a function
    it reads the name: each needs one of its own.
    """

    def passes(value: Any) -> bool:
        return fits(value)

    passes.__qualname__ = f"passes_{next(_numbers)}"
    return Annotated[kind, Is[passes]]


_numbers = count()


_fits_of: dict[type, Callable[[Any], bool] | None] = {}


def _fits(kind: type) -> Callable[[Any], bool] | None:
    """Return whether the fields of a record fit; None where no field has arrays."""
    if kind not in _fits_of:
        _fits_of[kind] = None  # A record may hold others of its kind.
        if kind.__module__.partition(".")[0] in PACKAGES:
            _fits_of[kind] = _fields_fit(kind)
    return _fits_of[kind]


def _bears(value: Any, hint: Any) -> bool:
    if isinstance(hint, type):
        return isinstance(value, hint)  # Much faster.
    return is_bearable(value, hint, conf=_CONF)


def _fields_fit(kind: type) -> Callable[[Any], bool] | None:
    if is_dataclass(kind):
        names = [field.name for field in fields(kind)]
    else:
        names = getattr(kind, "_fields", ())
    hints = _resolved(kind, kind.__module__) if names else {}
    parts = {name: array_part(hints[name]) for name in names}
    parts = {name: part for name, part in parts.items() if part is not Any}

    def fits(record: Any) -> bool:
        # Names of axes hold within one record: another may be of another size.
        with jaxtyped("context"):
            for name, part in parts.items():
                value = getattr(record, name)
                if not _bears(value, part):
                    _last.mismatch = (
                        f"{kind.__name__}.{name} is annotated {hints[name]}, got "
                        f"{getattr(value, 'dtype', type(value))}"
                        f"{getattr(value, 'shape', '')}"
                    )
                    return False
        return True

    return fits if parts else None

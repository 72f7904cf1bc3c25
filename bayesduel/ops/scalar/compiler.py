"""How marked functions of kernels are compiled.

Kernels own no memory: all arrays are made by the host. So Numba is told to count no
references to arrays, which took several times as long as the work itself; what would
need memory (a slice that is assigned to, a new array, ``np.min``) is then refused when
the kernel is compiled. That, and a pipeline of our own, rest on names that Numba calls
private (``_own_code``). Where a version of it lacks one, kernels are compiled as any
other function: the same digits, after two to three times as long.

Nothing but what is compiled needs this module, which imports Numba.
"""

import inspect
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from types import FunctionType
from typing import Any

from numba import njit, types
from numba.core import config
from numba.extending import overload, typeof_impl

from bayesduel.ops.program_cache import kernel_folder
from bayesduel.ops.scalar.compiled import BY_STATE, MARKED
from bayesduel.ops.scalar.draws import raw_bits
from bayesduel.ops.scalar.uncompiled import run_uncompiled

_settings: Any = config
_NAMED_TUPLE: Any = types.BaseNamedTuple


def _own_code() -> Any:
    """Return the module of what is private to Numba, None where it lacks a name."""
    try:
        from bayesduel.ops.scalar import _own_code
    except (ImportError, AttributeError):
        return None
    return None if _own_code.lacking() else _own_code


_OWN = _own_code()

# Divisions do not raise, as in NumPy; other threads of Python go on meanwhile
OPTIONS: Any = {"error_model": "numpy", "nogil": True}

# Options of code that Python cannot call: it is compiled with its callers
_PART_OPTIONS: Any = OPTIONS

# Options of such code where it may make arrays
RULE_PART_OPTIONS: Any = {**OPTIONS, "no_cpython_wrapper": True}

# Functions that are compiled in place of others
_INSTEAD: dict[Callable[..., Any], Any] = {}

if _OWN is not None:
    # Python calls what is compiled, and no other language.
    RULE_PART_OPTIONS = {**RULE_PART_OPTIONS, "pipeline_class": _OWN.RulePartCompiler}
    _ours = {**OPTIONS, "_nrt": False, "no_cfunc_wrapper": True}
    OPTIONS = {**_ours, "pipeline_class": _OWN.ProgramCompiler}
    _unseen = {**_ours, "no_cpython_wrapper": True}
    _PART_OPTIONS = {**_unseen, "pipeline_class": _OWN.PartCompiler}
    _INSTEAD = {raw_bits: _OWN.raw_bits}

_TAUGHT: set[Callable[..., Any]] = set()


def standalone(function: Any) -> Any:
    """Compile a function that Python calls, with all that it calls."""
    learn_states()
    # A checked or otherwise wrapped function is no function for Numba.
    return njit(**OPTIONS)(inspect.unwrap(function))


def learn_states() -> None:
    """Let compiled code find what is found ``by_state``."""
    for stub in BY_STATE.keys() - _TAUGHT:
        _TAUGHT.add(stub)
        _teach(stub)


def _teach(stub: Callable[..., Any]) -> None:
    """Let compiled code find a function by the class of its first argument."""
    functions: Any = BY_STATE[stub]
    otherwise: Any = inspect.unwrap(stub)

    @overload(stub, strict=False, jit_options=_PART_OPTIONS)
    def find(state: Any, *others: Any) -> Callable[..., Any]:
        kind: Any = getattr(state, "instance_class", None)
        return functions.get(kind, otherwise)


@cache
def _part(function: FunctionType) -> Any:
    """Return a marked function as compiled code calls it."""
    return njit(**_PART_OPTIONS)(function)


@typeof_impl.register(FunctionType)
def _type_of_function(function: FunctionType, context: Any) -> Any:
    """Take a marked function for what is compiled of it."""
    if function not in MARKED:
        return None
    return typeof_impl(_part(_INSTEAD.get(function, function)), context)


def is_disabled() -> bool:
    """Say whether Numba was told to compile nothing, by ``NUMBA_DISABLE_JIT=1``."""
    return bool(_settings.DISABLE_JIT)


def cached_program(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Compile a function of Python, or find it on disk as ``name``."""
    # Each name has a folder of its own: two processes that compile one function for two
    # kernels at once could mix them up.
    if is_disabled():
        return partial(run_uncompiled, function)
    compiled: Any = standalone(function)
    cache_on_disk(compiled, name, _OWN and _OWN.ProgramCache)
    return compiled


def cache_on_disk(compiled: Any, name: str, cache: Any = None) -> None:
    """Let Numba keep what it compiles for a function in the folder ``name``."""
    folder = kernel_folder(name)
    if folder is not None:
        configured = _settings.CACHE_DIR
        _settings.CACHE_DIR = str(folder)
        # Where the folder has become unwritable, it is compiled again.
        with suppress(OSError, RuntimeError):
            if cache is None:
                compiled.enable_caching()
            else:
                compiled._cache = cache(compiled.py_func)
        _settings.CACHE_DIR = configured

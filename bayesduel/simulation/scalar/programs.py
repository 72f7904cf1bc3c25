"""The compiled loop, one program per kernel, kept on disk."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from typing import Any

from numba.core import config

from bayesduel.ops.scalar.compiler import standalone
from bayesduel.ops.scalar.uncompiled import run_uncompiled
from bayesduel.program_cache import kernel_folder
from bayesduel.simulation.scalar.loop import play, tell

_settings: Any = config


def is_disabled() -> bool:
    """Say whether Numba was told to compile nothing, by ``NUMBA_DISABLE_JIT=1``."""
    return bool(_settings.DISABLE_JIT)


def program_name(kernel: str, stopping: str = "") -> str:
    """Return what the program of a kernel and a rule for stopping is called."""
    return "-".join(filter(None, (kernel, stopping)))


def is_at_hand(name: str) -> bool:
    """Say whether a program need not be compiled: it is on the disk, or in memory."""
    folder = kernel_folder(name)
    cached_program = (
        folder is not None and next(folder.rglob("*.nbi"), None) is not None
    )
    return cached_program or bool(getattr(program(name), "signatures", ()))


@cache
def program(kernel: str) -> Callable[..., None]:
    """Return the compiled :func:`play` of the kernel of this name."""
    return cached_program(play, kernel)


@cache
def tell_program(kernel: str) -> Callable[..., None]:
    """Return the compiled :func:`tell` of the kernel of this name."""
    return cached_program(tell, f"{kernel}-told")


def cached_program(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Compile a function of Python, or find it on disk as ``name``.

    Where Numba is told to compile nothing, Python runs it.

    Each has a folder of its own, which is a function of all sources: Numba itself would
    only ask whether the file of the function is the same, and two processes that
    compile it for two kernels at once could mix them up.
    """
    if is_disabled():
        return partial(run_uncompiled, function)
    compiled: Any = standalone(function)
    cache_on_disk(compiled, name)
    return compiled


def cache_on_disk(compiled: Any, name: str) -> None:
    """Let Numba keep what it compiles for a function in the folder ``name``."""
    folder = kernel_folder(name)
    if folder is not None:
        configured = _settings.CACHE_DIR
        _settings.CACHE_DIR = str(folder)
        # Where the folder has become unwritable, it is compiled again.
        with suppress(OSError, RuntimeError):
            compiled.enable_caching()
        _settings.CACHE_DIR = configured

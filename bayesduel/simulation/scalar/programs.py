"""The compiled loop, one program per kernel, kept on disk."""

import inspect
from collections.abc import Callable
from contextlib import suppress
from functools import cache

import numba
from numba import njit

from bayesduel.ops.scalar.compiled import OPTIONS
from bayesduel.program_cache import kernel_folder
from bayesduel.simulation.scalar.loop import play


@cache
def program(kernel: str) -> Callable[..., None]:
    """Return :func:`play` for the kernel of this name.

    Each kernel has a folder of its own, which is a function of all sources: Numba
    itself would only ask whether the file of ``play`` is the same, and two processes
    that compile two kernels at once could mix them up.
    """
    compiled = njit(**OPTIONS)(inspect.unwrap(play))
    folder = kernel_folder(kernel)
    if folder is not None:
        configured = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(folder)
        # Where the disk is full or the folder has become unwritable, it is compiled.
        with suppress(OSError, RuntimeError):
            compiled.enable_caching()
        numba.config.CACHE_DIR = configured
    return compiled

"""xarray without Dask, where nothing of Dask can be.

Where Dask is installed, xarray imports all of its arrays to ask whether one is among
its values, and the client of a cluster for the name of its scheduler: of the three
seconds of processor time of a short command that is one. No array can be one of Dask
before somebody has imported it.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from bayesduel.program_cache import process_is_ours


@contextmanager
def dask_unseen() -> Iterator[None]:
    """Let a process of ours that has not imported Dask find none in this block.

    In one of the user's, another thread might just be importing it.
    """
    if "dask" in sys.modules or not process_is_ours():
        yield
        return
    # Python's way to say that a module cannot be imported.
    sys.modules["dask"] = None  # pyright: ignore[reportArgumentType]
    try:
        yield
    finally:
        del sys.modules["dask"]


def let_xarray_ask() -> None:
    """Let xarray ask for Dask where it finds none; it remembers the answer.

    Its memory has no public name. Where it has another one, Dask is imported, and all
    works as before.
    """
    import xarray as xr

    with dask_unseen(), suppress(ImportError, AttributeError):
        xr.Variable((), 0)
        from xarray.namedarray.utils import module_available

        module_available.cache_clear()
        module_available("dask")

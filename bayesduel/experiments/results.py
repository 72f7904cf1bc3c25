"""Results on disk: netCDF or Zarr, all of it or nothing, and read back."""

import sys
from contextlib import nullcontext
from io import BytesIO
from pathlib import Path
from typing import Any

import xarray as xr

from bayesduel.errors import OutputFolderError
from bayesduel.files.folders import (
    as_path,
    check_whole,
    read_checked,
    read_marker,
    write_whole,
)

NETCDF, ZARR = "netcdf", "zarr"

FILE_NAMES = {NETCDF: "results.nc", ZARR: "results.zarr.zip"}
"""Formats, and the name of the results in an output folder."""

FILE_NAME = FILE_NAMES[NETCDF]
"""Name of the usual format."""

_ENGINE = "h5netcdf"
_COMPRESSION = {"zlib": True, "complevel": 4, "shuffle": True}
"""Counts of what was played have mostly zero bytes: a sixteenth of the size is left,
and writing it takes less time."""

_SMALL = 4096
"""Bytes of a variable from which on compression is worth its own tables."""

_CHUNK_BYTES = 2**22
"""About the size of what is compressed at once."""

_TIMINGS = ("created", "run_seconds", "compile_seconds")
"""Attributes that differ from one execution to the next."""


def save(tree: xr.DataTree, path: Path | str, *, overwrite: bool = False) -> Path:
    """Write a result tree as netCDF, all of it or nothing.

    Parameters
    ----------
    tree : xarray.DataTree
        Results of :func:`bayesduel.compare` or :func:`bayesduel.simulate`.
    path : path
        File to write.
    overwrite : bool
        Replace an existing file.

    Raises
    ------
    OutputFolderError
        If the file exists and ``overwrite`` is false.
    OutputWriteError
        If it cannot be written, as when the disk is full.
    """
    path = as_path("path", path)
    if not isinstance(tree, xr.DataTree):
        raise OutputFolderError(
            "tree",
            "must be an xarray.DataTree of results",
            type(tree).__name__,
            remedy="give what compare or simulate returned",
        )
    if path.exists() and not overwrite:
        raise OutputFolderError(
            "path", f"{path} exists", path, remedy="pass overwrite=True to replace it"
        )
    write_whole(path, to_bytes(tree))
    return path


def load(path: Path | str, *, lazy: bool = False) -> xr.DataTree:
    """Read results that were saved: a file, or the folder that holds them.

    Parameters
    ----------
    path : path
        A folder with ``results.nc`` or ``results.zarr.zip``, or such a file.
    lazy : bool
        Open the file and read nothing but coordinates: variables are arrays of Dask,
        which read what is computed, some runs at a time. The file stays open until
        ``close()`` of the tree. It is held against its checksum all the same.

    Returns
    -------
    xarray.DataTree
        As :func:`bayesduel.compare` returned it.

    Raises
    ------
    OutputFolderError
        If there is no result to read, or it is not what was written.
    ImportError
        If it is lazy without Dask, or of Zarr without Zarr; names the extra.

    Examples
    --------
    >>> import tempfile
    >>> import bayesduel
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tree = bayesduel.compare("gap", "rucb", num_runs=2, horizon=9, out=folder)
    ...     bool(bayesduel.results.load(folder).equals(tree))
    True
    """
    path = as_path("path", path)
    file = _file_in(path) if path.is_dir() else path
    if not file.is_file():
        raise OutputFolderError(
            "path",
            f"{file} does not exist",
            file,
            remedy="give the folder of saved results, or a .nc file",
        )
    is_zarr = file.suffix == ".zip"
    if lazy:
        try:
            import dask.array  # noqa: F401
        except ImportError as error:
            raise ImportError(
                "Dask is missing, which lazy needs; install bayesduel with the extra "
                "'distributed'"
            ) from error
        check_whole(file)
    data = b"" if lazy else read_checked(file)
    try:
        if is_zarr:
            from bayesduel.experiments.stored import zarr_files

            tree = zarr_files.opened(file) if lazy else zarr_files.from_bytes(data)
        elif lazy:
            tree = xr.open_datatree(file, engine=_ENGINE, chunks={})
        else:
            tree = tree_from_bytes(data)
    except ImportError:
        raise
    # What a damaged header makes HDF5 raise is any of half a dozen kinds.
    except Exception as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        rule = f"cannot be read as results: {reason}"
        remedy = "name a file that was saved as such, or compute them again"
        raise OutputFolderError(str(file), rule, file, remedy=remedy) from error
    _add_timings(tree, file)
    return tree


load_results = load
"""Read results that were saved; the name of `load` at the top of the package."""


def _file_in(folder: Path) -> Path:
    """Return the results in a folder; the last ones, should there be several."""
    files = [folder / name for name in FILE_NAMES.values()]
    found = [file for file in files if file.is_file()]
    return max(found, key=lambda file: file.stat().st_mtime_ns, default=files[0])


def to_bytes(data: xr.Dataset | xr.DataTree, format: str = NETCDF) -> memoryview:
    """Return the file of results.

    Written in memory first: HDF5 can crash the interpreter where a disk is full.
    """
    dask = sys.modules.get("dask")
    # The client of a cluster, if there is one, would be asked for a lock under the name
    # of a file in memory.
    with dask.config.set(scheduler="synchronous") if dask else nullcontext():
        if format == ZARR and isinstance(data, xr.DataTree):
            from bayesduel.experiments.stored import zarr_files

            return zarr_files.to_bytes(data)
        if isinstance(data, xr.Dataset):
            return data.to_netcdf(engine=_ENGINE, encoding=_compressed(data))
        nodes = {node.path: node.to_dataset(inherit=False) for node in data.subtree}
        encoding = {path: _compressed(dataset) for path, dataset in nodes.items()}
        return data.to_netcdf(engine=_ENGINE, encoding=encoding)


def _compressed(dataset: xr.Dataset) -> dict[str, dict[str, Any]]:
    """Say how the variables of a node are compressed; what is small is not."""
    return {
        str(name): _COMPRESSION | {"chunksizes": _chunk_shape(values)}
        for name, values in dataset.data_vars.items()
        if values.dtype.kind in "fiub" and values.nbytes > _SMALL
    }


def _chunk_shape(values: xr.DataArray) -> tuple[int, ...]:
    """Return the shape of a chunk: all of the last dimensions, some of the first."""
    room, shape = _CHUNK_BYTES // values.dtype.itemsize, []
    for size in reversed(values.shape):
        shape.append(max(1, min(size, room)))
        room //= shape[-1]
    return tuple(reversed(shape))


def tree_from_bytes(data: bytes) -> xr.DataTree:
    """Read what :func:`to_bytes` gave of a tree, as netCDF."""
    with xr.open_datatree(BytesIO(data), engine=_ENGINE) as opened:
        return opened.load()


def dataset_from_bytes(data: bytes) -> xr.Dataset:
    """Read what :func:`to_bytes` gave of a dataset."""
    with xr.open_dataset(BytesIO(data), engine=_ENGINE) as opened:
        return opened.load().drop_encoding()


def without_timings(tree: xr.DataTree) -> tuple[xr.DataTree, dict[str, Any]]:
    """Split off what differs between two executions of the same request.

    That are the attributes named in ``_TIMINGS``, by the path of their node.
    """
    contents, timings = {}, {}
    for node in tree.subtree:
        own = {name: node.attrs[name] for name in _TIMINGS if name in node.attrs}
        dataset = node.to_dataset(inherit=False).drop_encoding()
        dataset.attrs = {
            name: value for name, value in node.attrs.items() if name not in own
        }
        contents[node.path] = dataset
        timings |= {node.path: own} if own else {}
    return xr.DataTree.from_dict(contents), timings


def _add_timings(tree: xr.DataTree, file: Path) -> None:
    """Put back what :func:`without_timings` took away, if the marker knows it."""
    marker = read_marker(file.parent) or {}
    if file.name not in FILE_NAMES.values():
        return
    for node in tree.subtree:
        node.attrs.update(marker.get("timings", {}).get(node.path, {}))


__all__ = ["FILE_NAME", "FILE_NAMES", "load", "save"]

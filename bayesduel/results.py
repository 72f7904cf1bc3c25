"""Results on disk: netCDF or Zarr, all of it or nothing, and read back."""

import sys
import zipfile
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any

import xarray as xr

from bayesduel.errors import OutputFolderError, SimulationArgumentError
from bayesduel.files.folders import (
    as_path,
    check_whole,
    read_checked,
    read_marker,
    write_whole,
)
from theory.arguments import one_of

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
    """Write a result tree as netCDF, either completely or not at all.

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
            tree = _opened_zarr(file) if lazy else _from_zarr(data)
        elif lazy:
            tree = xr.open_datatree(file, engine=_ENGINE, chunks={})
        else:
            tree = tree_from_bytes(data)
    except ImportError:
        raise
    # For a damaged header HDF5 raises any of half a dozen kinds of errors.
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
    existing = [file for file in files if file.is_file()]
    return max(existing, key=lambda file: file.stat().st_mtime_ns, default=files[0])


def to_bytes(data: xr.Dataset | xr.DataTree, format: str = NETCDF) -> memoryview:
    """Return the file of results.

    Written in memory first: HDF5 can crash the interpreter where a disk is full.
    """
    dask = sys.modules.get("dask")
    # The client of a cluster, if there is one, would be asked for a lock under the name
    # of a file in memory.
    with dask.config.set(scheduler="synchronous") if dask else nullcontext():
        if format == ZARR and isinstance(data, xr.DataTree):
            return _to_zarr(data)
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


def without_timings(tree: xr.DataTree) -> tuple[xr.DataTree, dict[str, Any]]:
    """Split off what differs between two executions of the same request.

    That are the attributes named in ``_TIMINGS``, by the path of their node.
    """
    contents, timings = {}, {}
    for node in tree.subtree:
        taken = {name: node.attrs[name] for name in _TIMINGS if name in node.attrs}
        dataset = node.to_dataset(inherit=False).drop_encoding()
        dataset.attrs = {
            name: value for name, value in node.attrs.items() if name not in taken
        }
        contents[node.path] = dataset
        timings |= {node.path: taken} if taken else {}
    return xr.DataTree.from_dict(contents), timings


def _add_timings(tree: xr.DataTree, file: Path) -> None:
    """Put back what :func:`without_timings` took away, if the marker knows it."""
    marker = read_marker(file.parent) or {}
    if file.name not in FILE_NAMES.values():
        return
    for node in tree.subtree:
        node.attrs.update(marker.get("timings", {}).get(node.path, {}))


def check_format(value: Any) -> str:
    """Return ``value`` if it is a format of files whose library is there."""
    one_of(value, FILE_NAMES, "format", kind=SimulationArgumentError)
    if value == ZARR:
        _require_zarr()
    return value


# --- Zarr ----------------------------------------------------------------------------
# One file, a ZIP archive: a folder of many small files would be neither atomic nor
# checksummed. Every tool that reads Zarr reads the archive, or its unpacked folder.

_ZARR_RUNS = 256
_ZARR_BYTES = 2**25
"""Bytes of a chunk; plays of many arms have fewer runs in it."""

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The date of what is in the archive: the same tree is the same file."""

_FORMAT = 2
"""The third has no standard yet for texts and for metadata in one place."""


def _to_zarr(tree: xr.DataTree) -> memoryview:
    """Return the file of a tree."""
    zarr = _require_zarr()
    contents: dict[str, Any] = {}
    nodes = {node.path: node.to_dataset(inherit=False) for node in tree.subtree}
    tree.to_zarr(
        zarr.storage.MemoryStore(contents),
        mode="w",
        zarr_format=_FORMAT,
        consolidated=True,
        encoding={path: _zarr_encoding(dataset) for path, dataset in nodes.items()},
    )
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in sorted(contents, key=_archive_order(nodes)):
            # Chunks are compressed already.
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), contents[name].to_bytes())
    return file.getbuffer()


def _from_zarr(data: bytes) -> xr.DataTree:
    """Read what :func:`_to_zarr` gave."""
    zarr = _require_zarr()
    buffer = zarr.core.buffer.default_buffer_prototype().buffer
    with zipfile.ZipFile(BytesIO(data)) as archive:
        names = archive.namelist()
        contents = {name: buffer.from_bytes(archive.read(name)) for name in names}
    store = zarr.storage.MemoryStore(contents, read_only=True)
    with xr.open_datatree(store, engine="zarr", chunks=None) as opened:
        return _in_order(opened.load(), names)


def _opened_zarr(file: Path) -> xr.DataTree:
    """Open a file, with variables that are read when they are computed."""
    zarr = _require_zarr()
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
    store = zarr.storage.ZipStore(file, mode="r")
    return _in_order(xr.open_datatree(store, engine="zarr", chunks={}), names)


def _archive_order(paths: Iterable[str]) -> Callable[[str], tuple[int, str]]:
    """Return a key that sorts names in the archive by their node, in its order."""
    ranks = {path.strip("/"): rank for rank, path in enumerate(paths)}

    def order(name: str) -> tuple[int, str]:
        node = name
        while node not in ranks:
            node = node.rpartition("/")[0]
        return ranks[node], name

    return order


def _in_order(tree: xr.DataTree, names: Iterable[str]) -> xr.DataTree:
    """Bring the children of all nodes into the order of their names in the archive.

    Zarr knows no order of its groups: they come sorted, or as they were found first.
    """
    mark = "/.zgroup"
    paths = [name.removesuffix(mark) for name in names if name.endswith(mark)]
    ranks = {f"/{path}": rank for rank, path in enumerate(paths)}
    for node in [*tree.subtree]:
        children = sorted(node.children.items(), key=lambda it: ranks[it[1].path])
        if children:
            node.children = dict(children)
    return tree


def _require_zarr() -> ModuleType:
    """Return the library."""
    try:
        import zarr.storage
    except ImportError as error:
        raise ImportError(
            "Zarr is missing; install bayesduel with the extra 'zarr'"
        ) from error
    return zarr


def _zarr_encoding(dataset: xr.Dataset) -> dict[str, dict[str, Any]]:
    """Say how the variables of a node are cut and compressed."""
    from numcodecs import Blosc

    packed = Blosc(cname="zstd", clevel=4, shuffle=Blosc.SHUFFLE)
    return {
        str(name): {"chunks": _zarr_shape(values), "compressors": (packed,)}
        for name, values in dataset.data_vars.items()
        if values.dtype.kind in "fiub" and values.ndim
    }


def _zarr_shape(values: xr.DataArray) -> tuple[int, ...]:
    sizes = {str(name): size for name, size in values.sizes.items()}
    if "run" in sizes:
        per_run = max(1, values.nbytes // max(1, sizes["run"]))
        room = max(1, _ZARR_BYTES // per_run)
        sizes["run"] = max(1, min(sizes["run"], _ZARR_RUNS, room))
    return tuple(sizes.values())


__all__ = ["FILE_NAME", "FILE_NAMES", "load", "save"]

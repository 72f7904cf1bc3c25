"""Result trees as Zarr: one file, a ZIP archive, a function of what it holds.

A folder of many small files would be neither atomic nor checksummed, and the disks of
clusters dislike them. Every tool that reads Zarr reads the archive, or the folder that
it is unpacked to.
"""

import zipfile
from collections.abc import Callable, Iterable
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any

import xarray as xr

_RUNS_PER_CHUNK = 256
"""As a job has at most."""

_CHUNK_BYTES = 2**25
"""Of plays of many arms fewer runs are in a chunk."""

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The date of what is in the archive: the same tree is the same file."""

_FORMAT = 2
"""The third has no standard yet for texts and for metadata in one place."""


def to_bytes(tree: xr.DataTree) -> memoryview:
    """Return the file of a tree.

    Raises ``ImportError`` without Zarr; names the extra.
    """
    zarr = require_zarr()
    contents: dict[str, Any] = {}
    nodes = {node.path: node.to_dataset(inherit=False) for node in tree.subtree}
    tree.to_zarr(
        zarr.storage.MemoryStore(contents),
        mode="w",
        zarr_format=_FORMAT,
        consolidated=True,
        encoding={path: _encoding(dataset) for path, dataset in nodes.items()},
    )
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in sorted(contents, key=_place(nodes)):
            # Chunks are compressed already.
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), contents[name].to_bytes())
    return file.getbuffer()


def from_bytes(data: bytes) -> xr.DataTree:
    """Read what :func:`to_bytes` gave."""
    zarr = require_zarr()
    buffer = zarr.core.buffer.default_buffer_prototype().buffer
    with zipfile.ZipFile(BytesIO(data)) as archive:
        names = archive.namelist()
        contents = {name: buffer.from_bytes(archive.read(name)) for name in names}
    store = zarr.storage.MemoryStore(contents, read_only=True)
    with xr.open_datatree(store, engine="zarr", chunks=None) as opened:
        return _in_order(opened.load(), names)


def opened(file: Path) -> xr.DataTree:
    """Open a file, with variables that are read when they are computed."""
    zarr = require_zarr()
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
    store = zarr.storage.ZipStore(file, mode="r")
    return _in_order(xr.open_datatree(store, engine="zarr", chunks={}), names)


def _place(paths: Iterable[str]) -> Callable[[str], tuple[int, str]]:
    """Return a key that sorts names in the archive by their node, in its order."""
    places = {path.strip("/"): place for place, path in enumerate(paths)}

    def place(name: str) -> tuple[int, str]:
        node = name
        while node not in places:
            node = node.rpartition("/")[0]
        return places[node], name

    return place


def _in_order(tree: xr.DataTree, names: Iterable[str]) -> xr.DataTree:
    """Bring the children of all nodes into the order of their names in the archive.

    Zarr knows no order of its groups: they come sorted, or as they were found first.
    """
    mark = "/.zgroup"
    found = [name.removesuffix(mark) for name in names if name.endswith(mark)]
    places = {f"/{path}": place for place, path in enumerate(found)}
    for node in [*tree.subtree]:
        children = sorted(node.children.items(), key=lambda it: places[it[1].path])
        if children:
            node.children = dict(children)
    return tree


def require_zarr() -> ModuleType:
    """Return the library.

    Raises ``ImportError`` if it is not there; names the extra.
    """
    try:
        import zarr.storage
    except ImportError as error:
        raise ImportError(
            "Zarr is missing; install bayesduel with the extra 'zarr'"
        ) from error
    return zarr


def _encoding(dataset: xr.Dataset) -> dict[str, dict[str, Any]]:
    """Say how the variables of a node are cut and compressed."""
    from numcodecs import Blosc

    packed = Blosc(cname="zstd", clevel=4, shuffle=Blosc.SHUFFLE)
    return {
        str(name): {"chunks": _chunk_shape(values), "compressors": (packed,)}
        for name, values in dataset.data_vars.items()
        if values.dtype.kind in "fiub" and values.ndim
    }


def _chunk_shape(values: xr.DataArray) -> tuple[int, ...]:
    sizes = {str(name): size for name, size in values.sizes.items()}
    if "run" in sizes:
        per_run = max(1, values.nbytes // max(1, sizes["run"]))
        room = max(1, _CHUNK_BYTES // per_run)
        sizes["run"] = max(1, min(sizes["run"], _RUNS_PER_CHUNK, room))
    return tuple(sizes.values())

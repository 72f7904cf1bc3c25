"""Files of finished parts: arrays and attributes, written as fast as they are played.

A zip archive with the bytes of every array, and a text that describes them. netCDF, as
of finished results, would take many times as long for each of thousands of parts.
"""

import json
from collections.abc import Mapping
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np
import xarray as xr

from bayesduel.experiments import results

ENDING = "zip"
_HEADER, _LEVEL = "header.json", 4
_NETCDF = b"\x89HDF"
"""How parts begin that an earlier version has written."""


def to_bytes(data: xr.Dataset | xr.DataTree) -> memoryview:
    """Return the file of a part; the same data make the same bytes."""
    if isinstance(data, xr.Dataset):
        nodes = {"/": data}
    else:
        nodes = {node.path: node.to_dataset(inherit=False) for node in data.subtree}
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        header = {path: _written(archive, node) for path, node in nodes.items()}
        text = json.dumps(header, default=_plain)
        archive.writestr(ZipInfo(_HEADER), text, ZIP_DEFLATED, _LEVEL)
    return file.getbuffer()


def tree_from_bytes(data: bytes) -> xr.DataTree:
    """Read what :func:`to_bytes` gave of a tree."""
    if data.startswith(_NETCDF):
        return results.tree_from_bytes(data)
    return xr.DataTree.from_dict(_nodes(data))


def dataset_from_bytes(data: bytes) -> xr.Dataset:
    """Read what :func:`to_bytes` gave of a dataset."""
    if data.startswith(_NETCDF):
        return results.dataset_from_bytes(data)
    return _nodes(data)["/"]


def _written(archive: ZipFile, dataset: xr.Dataset) -> dict[str, Any]:
    """Write the arrays of a node; return what describes them."""
    variables = []
    for name, variable in dataset.variables.items():
        values = variable.to_numpy()
        if values.dtype.kind in "OT":  # Text, as other formats return it.
            values = values.astype(np.str_)
        member = str(len(archive.namelist()))
        # The first bytes of all numbers, then the second ones: many are the same.
        table = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
        table = table.reshape(-1, values.dtype.itemsize).T
        archive.writestr(ZipInfo(member), table.tobytes(), ZIP_DEFLATED, _LEVEL)
        variables.append(
            {
                "name": name,
                "is_coordinate": name in dataset.coords,
                "dims": variable.dims,
                "shape": values.shape,
                "dtype": values.dtype.str,
                "attrs": variable.attrs,
                "member": member,
            }
        )
    return {"attrs": dataset.attrs, "variables": variables}


def _nodes(data: bytes) -> dict[str, xr.Dataset]:
    with ZipFile(BytesIO(data)) as archive:
        header = json.loads(archive.read(_HEADER))
        return {path: _dataset(archive, node) for path, node in header.items()}


def _dataset(archive: ZipFile, node: Mapping[str, Any]) -> xr.Dataset:
    found: tuple[dict[str, Any], dict[str, Any]] = {}, {}
    for each in node["variables"]:
        dtype = np.dtype(each["dtype"])
        table = np.frombuffer(archive.read(each["member"]), np.uint8)
        table = table.reshape(dtype.itemsize, -1).T.copy()  # Into memory of its own.
        values = table.view(dtype).reshape(each["shape"])
        found[each["is_coordinate"]][each["name"]] = (
            each["dims"],
            values,
            each["attrs"],
        )
    variables, coordinates = found
    return xr.Dataset(variables, coordinates, node["attrs"])


def _plain(value: Any) -> Any:
    """Return the number or list that NumPy's values are."""
    return value.tolist()

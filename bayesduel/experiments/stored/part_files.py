"""Files of finished parts: arrays and attributes, written as fast as they are played.

NumPy's archive of arrays, and a text that describes them. netCDF, as of finished
results, takes ten times as long for each of thousands of parts.
"""

import json
from io import BytesIO
from typing import Any

import numpy as np
import xarray as xr

from bayesduel.experiments import results

ENDING = "npz"
_HEADER = "header"
_NETCDF = b"\x89HDF"
"""How parts begin that an earlier version has written."""


def to_bytes(value: xr.Dataset | xr.DataTree) -> memoryview:
    """Return the file of a part."""
    if isinstance(value, xr.Dataset):
        nodes = {"/": value}
    else:
        nodes = {node.path: node.to_dataset(inherit=False) for node in value.subtree}
    header, arrays = {}, {}
    for path, node in nodes.items():
        header[path] = node.to_dict(data=False)
        for name, variable in node.variables.items():
            values = variable.to_numpy()
            is_text = values.dtype.kind in ("O", "T")  # As other formats return it.
            arrays[f"{path}:{name}"] = values.astype(np.str_) if is_text else values
    file = BytesIO()
    np.savez_compressed(file, **{_HEADER: json.dumps(header)}, **arrays)
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


def _nodes(data: bytes) -> dict[str, xr.Dataset]:
    with np.load(BytesIO(data), allow_pickle=False) as arrays:
        header: dict[str, dict[str, Any]] = json.loads(arrays[_HEADER].item())
        for path, node in header.items():
            for name, each in (*node["coords"].items(), *node["data_vars"].items()):
                each["data"] = arrays[f"{path}:{name}"]
    return {path: xr.Dataset.from_dict(node) for path, node in header.items()}

"""Files of finished parts: arrays and attributes, written as fast as they are played.

NumPy's archive of arrays, and a text that describes them. netCDF, as of finished
results, takes ten times as long for each of thousands of parts.
"""

import json
from collections.abc import Sequence
from io import BytesIO
from typing import Any

import numpy as np
import xarray as xr

from bayesduel.experiments import nodes, results
from bayesduel.experiments.owned_folder import OwnedFolder
from bayesduel.experiments.stored.run_ranges import Place

ENDING = "npz"

PLACES = "places"
"""Attribute that only a plan has."""

_HEADER = "header"
_NETCDF = b"\x89HDF"
"""How parts begin that an earlier version has written."""


def to_bytes(value: xr.Dataset | xr.DataTree) -> memoryview:
    """Return the file of a part."""
    if isinstance(value, xr.Dataset):
        found = {"/": value}
    else:
        found = {node.path: node.to_dataset(inherit=False) for node in value.subtree}
    header, arrays = {}, {}
    for path, node in found.items():
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


def runs_in(folder: OwnedFolder) -> dict[Place, list[xr.Dataset]]:
    """Return all runs in a folder, by instance and policy."""
    stored: dict[Place, list[xr.Dataset]] = {}
    if (folder.path / results.FILE_NAME).is_file():
        for place, dataset in _policy_nodes(results.load(folder.path)):
            stored.setdefault(place, []).append(dataset)
    for data in folder.parts():
        part = dataset_from_bytes(data)
        if PLACES in part.attrs:
            continue
        stored.setdefault(place_of(part), []).append(part)
    return stored


def largest_first(datasets: Sequence[xr.Dataset]) -> list[xr.Dataset]:
    """Order stored runs so that a join stands before its parts."""
    return sorted(datasets, key=lambda each: len(nodes.runs_of(each)), reverse=True)


def place_of(dataset: xr.Dataset) -> Place:
    """Return the instance and the policy that results say they are of."""
    return str(dataset.attrs.get("instance")), str(dataset.attrs.get("policy"))


def _policy_nodes(whole: xr.DataTree) -> list[tuple[Place, xr.Dataset]]:
    """Return what holds runs, by instance and policy as in a comparison's tree."""
    found = []
    for node in whole.subtree:
        if "run" in node.coords or "first_run" in node.attrs:
            _, instance, policy = (*node.path.split("/"), "", "")[:3]
            found.append(((instance, policy), node.to_dataset()))
    return found

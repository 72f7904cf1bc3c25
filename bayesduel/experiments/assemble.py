"""Results of chunks put together, from memory or from a folder, and written."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from bayesduel.errors import OutputFolderError
from bayesduel.experiments.chunk import (
    Arrays,
    NodeNames,
    chunk_digest,
    from_bytes,
    runs_of_chunks,
)
from bayesduel.experiments.folder import RunFolder
from bayesduel.files.folders import OWN, REQUEST, as_path, read_marker, write_whole
from bayesduel.results import (
    FILE_NAMES,
    NETCDF,
    check_format,
    to_bytes,
    without_timings,
)
from bayesduel.simulation import run_summaries

KIND = "comparison"  # Kind of results in the marker of a folder.

PLAN = "instances"
"""Files beside the marker with the nodes of the instances, to merge parts."""

_ADDED = ("events", "run_seconds", "compile_seconds")
"""Attributes that are added up over chunks."""


class Gathered:
    """The results of finished chunks, in any order, and the tree that they make.

    Summaries are joined in the order of their runs as soon as they are neighbors, so
    that memory does not grow with their number.
    """

    def __init__(
        self, request: Mapping[str, Any], instances: Mapping[str, xr.Dataset]
    ) -> None:
        self._request = request
        self._instances = instances
        self._parts: dict[NodeNames, dict[int, Arrays]] = {}
        self._sums: dict[NodeNames, tuple[int, xr.Dataset]] = {}
        self.failures: dict[NodeNames, xr.Dataset] = {}

    def add(self, node_names: NodeNames, runs: range, arrays: Arrays) -> None:
        """Take the results of a chunk."""
        parts = self._parts.setdefault(node_names, {})
        parts[runs.start] = arrays
        if self._request["record"] == "quantiles":
            stop, joined = self._sums.get(node_names, (0, None))
            while (part := parts.pop(stop, None)) is not None:
                joined = _joined(joined, part.dataset())
                stop = int(joined.attrs["num_runs"])
            if joined is not None:
                self._sums[node_names] = stop, joined

    def tree(self) -> xr.DataTree:
        """Return the results; a policy without a finished run is left out."""
        created = datetime.now(UTC).isoformat(timespec="seconds")
        known = self._request["attributes"]  # Sorted where a folder holds them.
        attrs = {x: known[x] for x in ("seed", "num_runs", "horizon", "version")}
        attrs["created"] = created
        contents: dict[str, xr.Dataset] = {"/": xr.Dataset(attrs=attrs)}
        contents |= {f"/{name}": node for name, node in self._instances.items()}
        for entry in self._request["places"]:
            node_names = instance, policy = entry["instance"], entry["policy"]
            parts = self._parts.get(node_names, {})
            ordered = [parts[start] for start in sorted(parts)]
            if node_names in self.failures:
                node = self.failures[node_names]
            elif self._request["record"] == "quantiles":
                node = self._sums.get(node_names, (0, None))[1]
                for part in ordered:
                    node = _joined(node, part.dataset())
            else:
                node = _concatenated(ordered) if ordered else None
            if node is not None:
                contents[f"/{instance}/{policy}"] = node
        return xr.DataTree.from_dict(contents)


def _concatenated(parts: Sequence[Arrays]) -> xr.Dataset:
    """Return the runs of all parts, which are in the order of the runs."""
    first = parts[0]
    variables = {}
    for name, (dims, values) in first.variables.items():
        if "run" in dims and len(parts) > 1:
            arrays = [part.variables[name][1] for part in parts]
            values = np.concatenate(arrays, axis=dims.index("run"))
        variables[name] = dims, values
    attrs = {
        "num_runs": sum(part.attrs["num_runs"] for part in parts),
        **{x: sum(part.attrs[x] for part in parts) for x in _ADDED if x in first.attrs},
    }
    return Arrays(first.attrs | attrs, first.coords, variables).dataset()


def _joined(first: xr.Dataset | None, second: xr.Dataset) -> xr.Dataset:
    """Return the summary of more runs."""
    if first is None:
        return second
    total = run_summaries.join(first, second)
    both = {x: first.attrs[x] + second.attrs[x] for x in _ADDED if x in first.attrs}
    return total.assign_attrs(both)


def finish(
    folder: RunFolder,
    tree: xr.DataTree,
    format: str,
    tables: Callable[[xr.DataTree], Mapping[str, bytes]] | None = None,
) -> None:
    """Write results and the tables beside them; other formats are removed."""
    if tables is None:
        # Pandas takes its time.
        from bayesduel.analysis.summaries import summary_files as tables
    timeless, timings = without_timings(tree)
    name = FILE_NAMES[format]
    folder.write(name, to_bytes(timeless, format), timings=timings)
    folder.remove(*{*FILE_NAMES.values()} - {name})
    for file, data in tables(tree).items():
        write_whole(folder.path / file, data)


def merge(out: Path | str, *, format: str = NETCDF) -> xr.DataTree:
    """Merge the parts of an experiment whose chunks are stored in one folder.

    Parts are those of ``compare(..., part="3/10", out=out)``. If several machines wrote
    them to folders of their own, copy the files of all folders ``chunks`` into one.
    Nothing is simulated, and merging again changes nothing.

    Parameters
    ----------
    out : path
        The folder of all parts.
    format : {"netcdf", "zarr"}
        Of the finished file, as in :func:`bayesduel.compare`.

    Returns
    -------
    xarray.DataTree
        As :func:`bayesduel.compare` returns it without parts. The folder holds the same
        files as after that call.

    Raises
    ------
    OutputFolderError
        If the folder holds no parts, if some are missing or damaged (the text names
        them, and the command that simulates them), or if another process writes to it.

    Examples
    --------
    >>> import tempfile
    >>> import bayesduel
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in ("1/2", "2/2"):
    ...         experiment = bayesduel.Experiment("gap", "rucb", num_runs=30, horizon=9)
    ...         _ = experiment.run(out=folder, part=part)
    ...     sorted(bayesduel.merge(folder)["gap"].children)
    ['RUCB']
    """
    path = as_path("out", out)
    check_format(format)
    marker = read_marker(path)
    if marker is None:
        rule = f"{path} holds no results of compare"
        remedy = "name the folder that the parts were written to"
        raise OutputFolderError("out", rule, path, remedy=remedy)
    finished = {*FILE_NAMES.values()} & {*marker["sha256"]}
    if "parts" not in marker:
        raise OutputFolderError(
            "out",
            f"{path} holds the results of one command, and no parts of an experiment"
            if finished
            else f"{path} holds no parts",
            path,
            remedy="they are whole: bayesduel plot draws them, and "
            "bayesduel.load_results reads them; parts are written by compare --part"
            if finished
            else "an interrupted comparison goes on with {resume}",
        )
    with RunFolder.claim(path, kind=KIND, resume=True) as folder:
        request, count = marker["request"], int(marker["parts"])
        names = dict.fromkeys(entry["instance"] for entry in request["places"])
        instances = {
            name: from_bytes((path / OWN / f"{PLAN}-{index}").read_bytes()).dataset()
            for index, name in enumerate(names)
        }
        gathered, missing, index = Gathered(request, instances), [], 0
        num_runs = request["attributes"]["num_runs"]
        for entry in request["places"]:
            for runs in runs_of_chunks(num_runs, entry["num_arms"], request["record"]):
                data = folder.load(chunk_digest(entry["request"], runs))
                if data is None:
                    missing.append(index % count + 1)
                else:
                    node_names = entry["instance"], entry["policy"]
                    gathered.add(node_names, runs, from_bytes(data))
                index += 1
        if missing:
            parts = sorted({*missing})
            raise OutputFolderError(
                "out",
                f"{path} lacks {len(missing)} chunks of {len(parts)} of its {count} "
                f"parts: {_listed(parts)}",
                path,
                remedy="do each of them again, "
                + _command_of_part(path, f"{parts[0]}/{count}"),
            )
        tree = gathered.tree()
        finish(folder, tree, format)
    return tree


def _command_of_part(path: Path, part: str) -> str:
    request = path / REQUEST
    if not request.is_file():
        return f"by the same request with part={part}"
    return f"bayesduel compare --config {request} --out {path} --part {part}"


def _listed(numbers: Sequence[int]) -> str:
    """Write ascending numbers as arrays of jobs read them: 1,3-5."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(
        str(first) if first == last else f"{first}-{last}" for first, last in spans
    )

"""Results as labelled arrays: into an xarray DataTree, to disk, and back."""

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float, Int, Integer, Shaped

from bayesduel.errors import OutputFolderError
from bayesduel.folders import as_path, read_checked, read_marker, write_whole
from bayesduel.instances.choice import ChoiceWorld
from bayesduel.version import package_version
from theory import PreferenceMatrix

FILE_NAME = "results.nc"
"""Name of the results in an output folder."""

_ENGINE = "h5netcdf"
_TIMINGS = ("created", "run_seconds", "compile_seconds")
"""Attributes that differ from one execution to the next."""

_CONCATENATED = ("run_seconds", "compile_seconds", "events", "num_runs")


@dataclass(frozen=True)
class Configuration:
    """Everything that a result depends on besides the code."""

    matrix: PreferenceMatrix | ChoiceWorld
    environment: str
    policy: str
    policy_name: str
    parameters: str
    checkpoints: tuple[int, ...]
    seed: int
    shuffle: bool
    notions: tuple[str, ...]
    code: str = ""
    """Digest of the code of a policy that is not ours; the version stands for ours."""

    @property
    def horizon(self) -> int:
        """Rounds of each run."""
        return self.checkpoints[-1]

    def fingerprint(self) -> dict[str, Any]:
        """Return what must agree for runs to belong together."""
        own = {"code": self.code} if self.code else {}
        return own | {
            "matrix_sha256": self.matrix.checksum,
            "policy_name": self.policy_name,
            "parameters": self.parameters,
            "horizon": self.horizon,
            "checkpoints": list(self.checkpoints),
            "seed": self.seed,
            "shuffle": int(self.shuffle),
            "version": package_version(),
        }


def chunk_dataset(
    configuration: Configuration,
    runs: range,
    *,
    plays: Int[np.ndarray, "run checkpoint K K"],
    recommendation: Int[np.ndarray, " run"],
    events: Integer[np.ndarray, " run"],
    run_seconds: float,
    compile_seconds: float,
    device: str,
    info: Mapping[str, Shaped[np.ndarray, " run"]] = MappingProxyType({}),
) -> xr.Dataset:
    """Label the results of some runs of one policy on one matrix.

    Parameters
    ----------
    plays : int64 (run, checkpoint, K, K)
        Rounds per unordered pair (upper triangle) and of self-duels (diagonal).
    info : mapping of str to array (run, ...)
        What else the policy tells of its runs.

    Returns
    -------
    xarray.Dataset
        ``plays``, ``regret`` (notion, run, checkpoint), ``recommendation`` and
        ``num_events`` (run), and the entries of ``info``, with the provenance in the
        attributes.
    """
    matrix = configuration.matrix
    assert isinstance(matrix, PreferenceMatrix)
    regret = [
        _total_regret(plays, matrix.regret_per_pair(notion))
        for notion in configuration.notions
    ]
    arms = arm_labels(matrix)
    return xr.Dataset(
        {
            "regret": (("notion", "run", "checkpoint"), np.stack(regret)),
            "plays": (("run", "checkpoint", "arm", "opponent"), plays),
            "recommendation": (("run",), recommendation.astype(np.int64)),
            "num_events": (("run",), events.astype(np.int64)),
            **{name: (("run",), values) for name, values in info.items()},
        },
        coords={**_coordinates(configuration, runs), "arm": arms, "opponent": arms},
        attrs={
            **node_attributes(configuration),
            "num_runs": len(runs),
            "events": int(events.sum()),
            "run_seconds": run_seconds,
            "compile_seconds": compile_seconds,
            "device": device,
        },
    )


def _total_regret(plays: np.ndarray, per_pair: np.ndarray) -> np.ndarray:
    """Return regret (run, checkpoint) in an order of summation that is always the same.

    A matrix product adds up in blocks that depend on the number of runs, so its last
    bits would depend on how the runs were cut into jobs. Here each step is a sum or a
    product of single numbers.
    """
    total = np.zeros(plays.shape[:2])
    for row, column in zip(*np.nonzero(per_pair), strict=True):
        if column >= row:  # Plays stand in the upper triangle.
            total += plays[:, :, row, column] * per_pair[row, column]
    return total


def offers_dataset(
    configuration: Configuration,
    runs: range,
    *,
    offers: Int[np.ndarray, "run checkpoint n"],
    regret: Float[np.ndarray, "run checkpoint notion"],
    recommendation: Bool[np.ndarray, "run n"],
    events: Integer[np.ndarray, " run"],
    run_seconds: float,
    compile_seconds: float,
    device: str,
    info: Mapping[str, Shaped[np.ndarray, " run"]] = MappingProxyType({}),
) -> xr.Dataset:
    """Label the results of some runs of one policy in one world of subset choice.

    Parameters
    ----------
    offers : int64 (run, checkpoint, n)
        Rounds in which each arm was offered.
    regret : float64 (run, checkpoint, notion)
        Cumulative.
    recommendation : bool (run, n)
        The recommended set.
    info : mapping of str to array (run, ...)
        What else the policy tells of its runs.

    Returns
    -------
    xarray.Dataset
        ``offers``, ``regret`` (notion, run, checkpoint), ``recommendation``,
        ``num_events`` (run), ``best_set`` (arm), and the entries of ``info``, with the
        provenance in the attributes.
    """
    return xr.Dataset(
        {
            "regret": (("notion", "run", "checkpoint"), np.moveaxis(regret, -1, 0)),
            "offers": (("run", "checkpoint", "arm"), offers),
            "recommendation": (("run", "arm"), recommendation),
            **problem_variables(configuration.matrix),
            "num_events": (("run",), events.astype(np.int64)),
            **{name: (("run",), values) for name, values in info.items()},
        },
        coords={
            **_coordinates(configuration, runs),
            "arm": arm_labels(configuration.matrix),
        },
        attrs={
            **node_attributes(configuration),
            "num_runs": len(runs),
            "events": int(events.sum()),
            "run_seconds": run_seconds,
            "compile_seconds": compile_seconds,
            "device": device,
        },
    )


def _coordinates(configuration: Configuration, runs: range) -> dict[str, Any]:
    return {
        "notion": list(configuration.notions),
        "run": np.arange(runs.start, runs.stop),
        "checkpoint": np.asarray(configuration.checkpoints, dtype=np.int64),
    }


def node_attributes(configuration: Configuration) -> dict[str, Any]:
    """Return the provenance of a node, also of one whose policy failed."""
    look_ahead = json.loads(configuration.parameters).get("look_ahead", False)
    known = {}
    if isinstance(configuration.matrix, ChoiceWorld):  # Of duels, the matrix tells it.
        worst = configuration.matrix.worst_rounds(configuration.notions)
        known = {"most_regret_per_round": json.dumps(worst)}
    return known | {
        "environment": configuration.environment,
        "policy": configuration.policy,
        "policy_name": configuration.policy_name,
        "parameters": configuration.parameters,
        "horizon": configuration.horizon,
        "seed": configuration.seed,
        "look_ahead": int(look_ahead),
        "shuffle": int(configuration.shuffle),
        "matrix_sha256": configuration.matrix.checksum,
        "version": package_version(),
        "versions": json.dumps(_versions()),
        "fingerprint": json.dumps(configuration.fingerprint(), sort_keys=True),
    }


def join_chunks(chunks: Sequence[xr.Dataset]) -> xr.Dataset:
    """Concatenate chunks of runs in the order of their numbers."""
    ordered = sorted(chunks, key=lambda chunk: int(chunk["run"][0]))
    # "exact": where chunks do not fit together, an error and not a nan.
    joined = xr.concat(
        ordered,
        dim="run",
        data_vars="minimal",
        join="exact",
        combine_attrs="override",
    )
    for name in _CONCATENATED:
        known = [chunk.attrs[name] for chunk in ordered if name in chunk.attrs]
        if len(known) == len(ordered):
            joined.attrs[name] = sum(known)
        else:  # Seconds stand beside the file; a kill between the two loses them.
            joined.attrs.pop(name, None)
    return joined


def failed_dataset(
    configuration: Configuration, num_runs: int, error: str
) -> xr.Dataset:
    """Return the node of a policy that failed: attributes, no variables."""
    return xr.Dataset(
        attrs={**node_attributes(configuration), "num_runs": num_runs, "error": error}
    )


def problem_variables(problem: PreferenceMatrix | ChoiceWorld) -> dict[str, Any]:
    """Return what results hold of an environment: its matrix, or its best set."""
    if isinstance(problem, ChoiceWorld):
        return {"best_set": (("arm",), problem.mask(problem.best_set))}
    return {"preference": (("arm", "opponent"), np.array(problem.values))}


def environment_dataset(problem: PreferenceMatrix | ChoiceWorld) -> xr.Dataset:
    """Return the node of an environment: what it is and where it comes from."""
    arms = arm_labels(problem)
    axes = ("arm",) if isinstance(problem, ChoiceWorld) else ("arm", "opponent")
    return xr.Dataset(
        problem_variables(problem),
        coords={axis: arms for axis in axes},
        attrs={"name": problem.name or "", "source": problem.source or ""},
    )


def build_tree(
    environments: Mapping[str, PreferenceMatrix | ChoiceWorld],
    nodes: Mapping[tuple[str, str], xr.Dataset],
    attributes: Mapping[str, Any],
) -> xr.DataTree:
    """Assemble ``/environment/policy`` nodes into one tree."""
    contents: dict[str, xr.Dataset] = {"/": xr.Dataset(attrs=dict(attributes))}
    for name, matrix in environments.items():
        contents[f"/{name}"] = environment_dataset(matrix)
    for (environment, policy), dataset in nodes.items():
        contents[f"/{environment}/{policy}"] = dataset
    return xr.DataTree.from_dict(contents)


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
            f"tree must be an xarray.DataTree of results, got {type(tree).__name__}; "
            "give what compare or simulate returned"
        )
    if path.exists() and not overwrite:
        raise OutputFolderError(f"{path} exists; pass overwrite=True to replace it")
    write_whole(path, to_bytes(tree))
    return path


def load(path: Path | str) -> xr.DataTree:
    """Read results that were saved: a file, or the folder that holds ``results.nc``.

    Raises
    ------
    OutputFolderError
        If there is no result to read, or it is not what was written.
    """
    path = as_path("path", path)
    file = path / FILE_NAME if path.is_dir() else path
    if not file.is_file():
        raise OutputFolderError(
            f"{file} does not exist; give the folder of saved results, or a .nc file"
        )
    data = read_checked(file)
    try:
        with xr.open_datatree(BytesIO(data), engine=_ENGINE) as opened:
            tree = opened.load()
    # What a damaged header makes HDF5 raise is any of half a dozen kinds.
    except Exception as error:
        raise OutputFolderError(
            f"{file} cannot be read as results: {_first_line(error)}"
        ) from error
    _add_timings(tree, file)
    return tree


def to_bytes(data: xr.Dataset | xr.DataTree) -> memoryview:
    """Return the netCDF file of results.

    Written in memory first: HDF5 can crash the interpreter where a disk is full.
    """
    return data.to_netcdf(engine=_ENGINE)


def dataset_from_bytes(data: bytes) -> xr.Dataset:
    """Read what :func:`to_bytes` gave of a dataset."""
    with xr.open_dataset(BytesIO(data), engine=_ENGINE) as opened:
        return opened.load().drop_encoding()


def without_timings(tree: xr.DataTree) -> tuple[xr.DataTree, dict[str, Any]]:
    """Split off what differs between two executions of the same request.

    Returns
    -------
    tree : xarray.DataTree
        Without the attributes named in ``_TIMINGS``.
    timings : dict
        Those attributes, by the path of their node.
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
    if file.name != FILE_NAME:
        return
    for node in tree.subtree:
        node.attrs.update(marker.get("timings", {}).get(node.path, {}))


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def arm_labels(matrix: PreferenceMatrix | ChoiceWorld) -> Any:
    """Return the names of the arms, or their numbers."""
    if matrix.arm_names is None:
        return np.arange(matrix.num_arms)
    return list(matrix.arm_names)


@cache
def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"


@cache
def _versions() -> dict[str, str]:
    packages = ("jax", "jaxlib", "numpy", "xarray")
    return {"python": platform.python_version()} | {
        name: _version(name) for name in packages
    }

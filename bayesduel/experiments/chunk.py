"""Chunks of runs: the unit that is simulated, stored and put together.

A chunk is some runs of one policy on one instance. A run is a function of the seed and
its number, so the cut into chunks changes no result.
"""

import hashlib
import json
import math
import os
import platform
import zlib
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from multiprocessing import parent_process
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bayesduel.errors import PolicyParameterError, SimulationArgumentError
from bayesduel.experiments.problems import ComparedInstance, Instance
from bayesduel.ops.code_digest import code_digest
from bayesduel.policies.parameter_values import parameters_json
from bayesduel.policies.policy import PolicyBase
from bayesduel.simulation import run_summaries
from bayesduel.simulation.driver import ARMS_OF_ONE_LANE, compiled_as, program_of
from bayesduel.stopping.base import StoppingRule
from bayesduel.version import __version__

RUNS_PER_CHUNK = 20
"""An interrupt loses at most these runs, and cores share the chunks of a request."""

RUNS_PER_SUMMARY = (1024, 256)
"""Runs of a chunk that is summarized, with few arms and with more than few: the size of
a summary does not depend on their number."""

_FEW_ARMS = 16

NodeNames = tuple[str, str]  # The names of an instance and a policy in results.

_NAMES = (
    "notion", "run", "checkpoint", "preference", "prices", "feature", "features",
)  # fmt: skip
"""Names with another meaning in a node than what a policy reports of its runs."""


@dataclass(frozen=True)
class Settings:
    """Settings that determine the runs of one policy on one instance.

    The ``request`` is all that results depend on but the numbers of the runs, as
    canonical JSON; ``kernel`` is equal for chunks of the same compiled program.
    """

    node_names: NodeNames
    notions: tuple[str, ...]
    checkpoints: tuple[int, ...]
    seed: int
    shuffle: bool
    record: str
    stopping: StoppingRule | None
    problem: ComparedInstance = field(compare=False)
    request: str
    kernel: Hashable = field(compare=False, default=None)


@dataclass(frozen=True)
class Chunk:
    """Some runs of one policy on one instance.

    Attributes
    ----------
    instance : PreferenceMatrix or ChoiceWorld
        What answers.
    policy : Policy
        What asks.
    runs : range
        Numbers of the runs.
    settings : Settings
        Shared by all chunks of the policy on the instance.

    Examples
    --------
    >>> import bayesduel
    >>> experiment = bayesduel.Experiment("gap", "rucb", num_runs=50, horizon=100)
    >>> [chunk.runs for chunk in experiment.chunks()]
    [range(0, 20), range(20, 40), range(40, 50)]
    """

    instance: Instance
    policy: PolicyBase
    runs: range
    settings: Settings

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of everything that the result depends on."""
        return chunk_digest(self.settings.request, self.runs)


def chunk_digest(request: str, runs: range) -> str:
    """Return the digest of some runs of a request, as its canonical JSON."""
    text = f'{{"request":{request},"runs":[{runs.start},{runs.stop}]}}'
    return hashlib.sha256(text.encode()).hexdigest()


def runs_of_chunks(num_runs: int, num_arms: int, record: str) -> list[range]:
    """Return the runs of the chunks of a policy on an instance."""
    size = RUNS_PER_CHUNK
    if record == "quantiles":
        size = RUNS_PER_SUMMARY[num_arms > _FEW_ARMS]
    if num_arms >= ARMS_OF_ONE_LANE:
        size = 1
    return [range(x, min(x + size, num_runs)) for x in range(0, num_runs, size)]


def settings_of(
    experiment: Any, problem: ComparedInstance, policy: PolicyBase
) -> Settings:
    """Return the settings of a policy on an instance, with what identifies both."""
    notions, stopping = experiment.notions[problem.name], experiment.stopping
    environment = problem.environment(notions, shuffle=experiment.shuffle)
    instance = problem.instance
    request = {
        "instance": problem.name,
        "matrix_sha256": instance.checksum,
        "arm_names": instance.arm_names and list(instance.arm_names),
        "policy": policy.label,
        "policy_name": policy.name,
        "parameters": parameters_json(policy),
        "code": code_digest(policy),
        "regret": list(notions),
        "horizon": experiment.horizon,
        "checkpoints": list(experiment.checkpoints),
        "seed": experiment.seed,
        "shuffle": int(experiment.shuffle),
        "record": experiment.record,
        "stopping": None if stopping is None else repr(stopping),
        "program": program_of(environment, policy),
        "version": __version__,
    }
    kernel = compiled_as(environment, policy, stopping)
    return Settings(
        node_names=(problem.name, policy.label), notions=notions,
        checkpoints=experiment.checkpoints, seed=experiment.seed,
        shuffle=experiment.shuffle, record=experiment.record, stopping=stopping,
        problem=problem,
        request=json.dumps(request, sort_keys=True, separators=(",", ":")),
        kernel=kernel or (policy.label, instance.num_arms),
    )  # fmt: skip


class Arrays(NamedTuple):
    """The content of a dataset, which is made and read in a tenth of the time."""

    attrs: dict[str, Any]
    coords: list[str]
    variables: dict[str, tuple[tuple[str, ...], np.ndarray]]

    def dataset(self) -> xr.Dataset:
        """Return the dataset."""
        coords = {name: self.variables[name] for name in self.coords}
        data = {k: v for k, v in self.variables.items() if k not in coords}
        return xr.Dataset(data, coords, self.attrs)


def arrays_of(dataset: xr.Dataset) -> Arrays:
    """Return the content of a dataset; texts are arrays of texts of one length."""
    variables: dict[str, Any] = {}
    for name, variable in dataset.variables.items():
        values = variable.to_numpy()
        is_text = values.dtype.kind in ("O", "T")
        variables[str(name)] = (
            tuple(map(str, variable.dims)),
            values.astype(np.str_) if is_text else values,
        )
    return Arrays(dataset.attrs, [str(name) for name in dataset.coords], variables)


def simulate_chunk(
    chunk: Chunk,
    on_progress: Callable[[float], None] | None = None,
    *,
    num_lanes: int | None = None,
) -> xr.Dataset:
    """Simulate the runs of a chunk.

    Parameters
    ----------
    chunk : Chunk
        Of :meth:`bayesduel.Experiment.chunks`.
    on_progress : callable, optional
        Called with the share of the rounds that is played, from 0 to 1.
    num_lanes : int, optional
        Number of runs that are simulated side by side. It affects only the speed.

    Returns
    -------
    xarray.Dataset
        ``regret`` (notion, run, checkpoint), ``recommendation`` and ``num_events``
        (run), the rounds of every pair or arm, and what else the policy reports of its
        runs; or what of it ``record`` keeps. The attributes say where it comes from.

    Raises
    ------
    SimulationArgumentError
        If ``chunk`` is no chunk.
    SimulationError
        If a run stops before its horizon; names run and round.

    Examples
    --------
    >>> import bayesduel
    >>> experiment = bayesduel.Experiment("gap", "rucb", num_runs=50, horizon=100)
    >>> bayesduel.simulate_chunk(experiment.chunks()[2])["run"].values.tolist()
    [40, 41, 42, 43, 44, 45, 46, 47, 48, 49]
    """
    if not isinstance(chunk, Chunk):
        rule = "must be a chunk of an experiment"
        remedy = "take one of Experiment.chunks()"
        raise SimulationArgumentError("chunk", rule, chunk, remedy=remedy)
    return chunk_arrays(chunk, on_progress, num_lanes=num_lanes).dataset()


def chunk_arrays(
    chunk: Chunk,
    on_progress: Callable[[float], None] | None = None,
    *,
    num_lanes: int | None = None,
) -> Arrays:
    """Simulate the runs of a chunk without making a dataset, which takes as long."""
    from bayesduel.ops.program_cache import drop_programs_if_many
    from bayesduel.simulation import driver

    if parent_process() is not None:
        # The arrays of a step are too small for several threads: workers that each
        # start one per core only hinder each other. XLA reads this once.
        os.environ.setdefault("NPROC", "1")
    drop_programs_if_many()
    settings, policy, runs = chunk.settings, chunk.policy, chunk.runs
    problem = settings.problem
    options = {} if num_lanes is None else {"num_lanes": num_lanes}
    records = driver.run_chunk(
        problem.environment(settings.notions, shuffle=settings.shuffle), policy,
        runs=runs, checkpoints=np.asarray(settings.checkpoints, dtype=np.int64),
        seed=settings.seed, on_progress=on_progress, stopping=settings.stopping,
        **options,
    )  # fmt: skip
    variables = problem.measured(
        records.ledger, records.recommendation, settings.notions
    ) | {"num_events": (("run",), records.events.astype(np.int64))}
    reserved = {*variables, *_NAMES, *problem.axes}
    for name in records.info:
        if not isinstance(name, str) or "/" in name or name in reserved:
            raise PolicyParameterError(
                f"{policy.label}: info",
                f"no number of the name {name!r} can be kept",
                remedy="take a word without a slash, and none of "
                f"{', '.join(sorted(reserved))}",
            )
    variables |= {name: (("run",), values) for name, values in records.info.items()}
    if settings.record != "plays":
        del variables[problem.played]
    coords = {
        "notion": np.array(settings.notions),
        "run": np.arange(runs.start, runs.stop),
        "checkpoint": np.asarray(settings.checkpoints, dtype=np.int64),
        **dict.fromkeys(problem.axes, np.asarray(problem.arm_labels)),
    }
    variables |= {name: ((name,), values) for name, values in coords.items()}
    attributes = {
        **node_attributes(chunk),
        "num_runs": len(runs),
        "events": int(records.events.sum()),
        "run_seconds": records.run_seconds,
        "compile_seconds": records.compile_seconds,
        "device": records.device,
    }
    arrays = Arrays(attributes, list(coords), variables)
    if settings.record != "quantiles":
        return arrays
    return arrays_of(run_summaries.summarize(arrays.dataset()))


def node_attributes(chunk: Chunk) -> dict[str, Any]:
    """Return where the results of a chunk come from, also if its policy fails."""
    request = json.loads(chunk.settings.request)
    parameters = json.loads(request["parameters"])
    named = ("instance", "policy", "policy_name", "parameters", "horizon", "seed")
    return (
        chunk.settings.problem.attributes(chunk.settings.notions)
        | {name: request[name] for name in named}
        | {
            "look_ahead": int(parameters.get("look_ahead", False)),
            "shuffle": request["shuffle"],
            "matrix_sha256": request["matrix_sha256"],
            "program": request["program"],
            "version": __version__,
            "versions": json.dumps(_versions()),
            "fingerprint": chunk.settings.request,
        }
    )


@cache
def _versions() -> dict[str, str]:
    packages = ("jax", "jaxlib", "numpy", "xarray")
    return {"python": platform.python_version()} | {x: version(x) for x in packages}


# --- Files -------------------------------------------------------------------------


def to_bytes(arrays: Arrays) -> bytes:
    """Return the content of the file of a chunk: a header in JSON, then the arrays."""
    header = {
        "attrs": arrays.attrs,
        "coords": arrays.coords,
        "variables": [
            (name, dims, values.dtype.str, values.shape)
            for name, (dims, values) in arrays.variables.items()
        ],
    }
    text = json.dumps(header).encode()
    data = b"".join([values.tobytes() for _, values in arrays.variables.values()])
    return len(text).to_bytes(8, "little") + text + zlib.compress(data, 1)


def from_bytes(data: bytes) -> Arrays:
    """Read the content of the file of a chunk."""
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    content = bytearray(zlib.decompress(memoryview(data)[start:]))
    variables, at = {}, 0
    for name, dims, dtype, shape in header["variables"]:
        count = math.prod(shape)
        kind = np.dtype(dtype)
        values = np.frombuffer(content, kind, count, at) if count else np.empty(0, kind)
        variables[name] = (tuple(dims), values.reshape(shape))
        at += count * kind.itemsize
    return Arrays(header["attrs"], header["coords"], variables)

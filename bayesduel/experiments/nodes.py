"""Results as labelled arrays: one node per policy and instance, and their tree."""

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayesduel.errors import PolicyParameterError
from bayesduel.experiments.problems import ComparedInstance, Instance, problem_of
from bayesduel.simulation import run_summaries
from bayesduel.stopping.base import StoppingRule
from bayesduel.version import __version__

if TYPE_CHECKING:
    from bayesduel.simulation.driver import RunRecords

_NAMES = ("notion", "run", "checkpoint", "preference", "feature", "features")
"""That mean something else in a node than what a policy tells of its runs."""

_ADDED = ("run_seconds", "compile_seconds", "events", "num_runs")


@dataclass(frozen=True)
class Configuration:
    """Everything that a result depends on besides the code."""

    instance: Instance
    instance_name: str
    policy: str
    policy_name: str
    parameters: str
    checkpoints: tuple[int, ...]
    seed: int
    shuffle: bool
    notions: tuple[str, ...]
    stopping: StoppingRule | None = None
    record: str = "plays"
    code: str = ""
    """Digest of the code of a policy that is not ours; the version stands for ours."""
    program: str = ""
    """What plays the runs, of :data:`bayesduel.simulation.runs.PROGRAMS`."""

    @cached_property
    def problem(self) -> ComparedInstance:
        """What is asked about the instance."""
        return problem_of(self.instance)

    @property
    def horizon(self) -> int:
        """Rounds of each run."""
        return self.checkpoints[-1]

    def fingerprint(self) -> dict[str, Any]:
        """Return what must agree for runs to belong together."""
        own = {"code": self.code} if self.code else {}
        if self.stopping is not None:
            own["stopping"] = repr(self.stopping)
        if self.record != "plays":
            own["record"] = self.record
        return own | {
            "matrix_sha256": self.instance.checksum,
            "policy_name": self.policy_name,
            "parameters": self.parameters,
            "horizon": self.horizon,
            "checkpoints": list(self.checkpoints),
            "seed": self.seed,
            "shuffle": int(self.shuffle),
            "version": __version__,
            "program": self.program,
        }


def chunk_dataset(
    configuration: Configuration, runs: range, records: "RunRecords", device: str
) -> xr.Dataset:
    """Label what an experiment records of some runs of one policy on one instance.

    That is ``regret`` (notion, run, checkpoint), ``recommendation``, ``num_events``
    (run), what was played (see :mod:`bayesduel.experiments.problems`), and what else
    the policy tells of its runs, with the provenance in the attributes.
    """
    problem = configuration.problem
    own = {
        **problem.measured(
            records.ledger, records.recommendation, configuration.notions
        ),
        "num_events": (("run",), records.events.astype(np.int64)),
    }
    told = {name: (("run",), values) for name, values in records.info.items()}
    taken = {*own, *_NAMES, *problem.axes}
    for name in told:
        if not isinstance(name, str) or "/" in name or name in taken:
            raise PolicyParameterError(
                f"{configuration.policy}: info",
                f"no number of the name {name!r} can be kept",
                remedy="take a word without a slash, and none of "
                f"{', '.join(sorted(taken))}",
            )
    dataset = xr.Dataset(
        own | told,
        coords={
            "notion": list(configuration.notions),
            "run": np.arange(runs.start, runs.stop),
            "checkpoint": np.asarray(configuration.checkpoints, dtype=np.int64),
            **dict.fromkeys(problem.axes, problem.arm_labels),
        },
        attrs={
            **node_attributes(configuration),
            "num_runs": len(runs),
            "events": int(records.events.sum()),
            "run_seconds": records.run_seconds,
            "compile_seconds": records.compile_seconds,
            "device": device,
        },
    )
    if configuration.record == "plays":
        return dataset
    dataset = dataset.drop_vars(problem.played)
    if configuration.record == "regret":
        return dataset
    return run_summaries.summarize(dataset)


def runs_of(dataset: xr.Dataset) -> range:
    """Return the numbers of the runs that a node holds, or sums up."""
    first = dataset.attrs.get("first_run")
    if first is None:
        return range(int(dataset["run"][0]), int(dataset["run"][-1]) + 1)
    return range(int(first), int(first) + int(dataset.attrs["num_runs"]))


def node_attributes(configuration: Configuration) -> dict[str, Any]:
    """Return the provenance of a node, also of one whose policy failed."""
    look_ahead = json.loads(configuration.parameters).get("look_ahead", False)
    return configuration.problem.attributes(configuration.notions) | {
        "instance": configuration.instance_name,
        "policy": configuration.policy,
        "policy_name": configuration.policy_name,
        "parameters": configuration.parameters,
        "horizon": configuration.horizon,
        "seed": configuration.seed,
        "look_ahead": int(look_ahead),
        "shuffle": int(configuration.shuffle),
        "matrix_sha256": configuration.instance.checksum,
        "program": configuration.program,
        "version": __version__,
        "versions": json.dumps(_versions()),
        "fingerprint": json.dumps(configuration.fingerprint(), sort_keys=True),
    }


def join_chunks(chunks: Sequence[xr.Dataset]) -> xr.Dataset:
    """Put chunks of runs, or summaries, together in the order of their numbers."""
    ordered = sorted(chunks, key=lambda chunk: runs_of(chunk).start)
    if "first_run" in ordered[0].attrs:
        joined = run_summaries.join(ordered)
    else:
        # "exact": where chunks do not fit together, an error and not a nan.
        joined = xr.concat(
            ordered,
            dim="run",
            data_vars="minimal",
            join="exact",
            combine_attrs="override",
        )
    for name in _ADDED:
        known = [chunk.attrs[name] for chunk in ordered if name in chunk.attrs]
        if len(known) == len(ordered):
            joined.attrs[name] = sum(known)
        else:  # Seconds stand beside the file; a kill between the two loses them.
            joined.attrs.pop(name, None)
    return joined


def build_tree(
    instances: Mapping[str, xr.Dataset],
    nodes: Mapping[tuple[str, str], xr.Dataset],
    attributes: Mapping[str, Any],
) -> xr.DataTree:
    """Assemble ``/instance/policy`` nodes into one tree."""
    contents: dict[str, xr.Dataset] = {"/": xr.Dataset(attrs=dict(attributes))}
    contents |= {f"/{name}": node for name, node in instances.items()}
    for (instance, policy), dataset in nodes.items():
        contents[f"/{instance}/{policy}"] = dataset
    return xr.DataTree.from_dict(contents)


@cache
def _versions() -> dict[str, str]:
    packages = ("jax", "jaxlib", "numpy", "xarray")
    return {"python": platform.python_version()} | {x: version(x) for x in packages}

"""Result trees with known numbers, in the layout of ``bayesduel.compare``.

The regret of every run is ``offset * spread + C log(1 + t / knee)``, so slopes far
beyond the knee, means and standard errors are known without a simulation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr

from tests.reference.matrices import ARXIV as TIED  # noqa: F401
from tests.reference.matrices import MSLR5_CONDORCET as CONDORCET
from tests.reference.matrices import MSLR5_NON_CONDORCET as NON_CONDORCET

TWO_MATRICES = {"mslr5-condorcet": CONDORCET, "mslr5-non-condorcet": NON_CONDORCET}
# label -> (slope, level at the knee), roughly what the five policies do on the
# Condorcet matrix.
POLICIES: dict[str, tuple[float, float]] = {
    "D-TS": (65.6, -300.0),
    "D-TS+": (65.0, -310.0),
    "ECW-RMED": (68.0, 190.0),
    "RMED1": (67.5, 130.0),
    "RUCB": (69.0, 300.0),
}


def decade_grid(horizon: int, per_decade: int = 4, start: int = 100) -> np.ndarray:
    """Return checkpoints with ``per_decade`` per factor 10, powers of ten included."""
    decades = np.log10(horizon / start)
    exponents = np.linspace(0, decades, round(per_decade * decades) + 1)
    return np.unique(np.rint(start * 10.0**exponents).astype(np.int64))


def policy_node(
    label: str = "D-TS",
    *,
    instance: str = "mslr5-condorcet",
    num_runs: int = 40,
    horizon: int = 10**6,
    rounds: np.ndarray | None = None,
    notions: Sequence[str] = ("copeland",),
    constant: float | None = None,
    level: float | None = None,
    num_arms: int = 5,
    seed: int = 1,
) -> xr.Dataset:
    """Return one policy: regret of run r = C log(1 + t/knee) * factor_r, smooth."""
    default = POLICIES.get(label, (70.0, 0.0))
    constant = default[0] if constant is None else constant
    level = default[1] if level is None else level
    rounds = decade_grid(horizon) if rounds is None else np.asarray(rounds)
    rng = np.random.default_rng(abs(hash_text(label + instance)) + seed)
    factors = rng.normal(1.0, 0.3, size=num_runs)
    # C log t + level far out, zero at t = 0, at most one unit per round.
    grown = np.logaddexp(0.0, (constant * np.log(rounds) + level) / 60.0) * 60.0
    regret = np.minimum(grown[None, :] * factors[:, None], rounds * 0.8)
    regret = np.stack([regret * (1 + index) for index in range(len(notions))])
    plays = np.zeros((num_runs, rounds.size, num_arms, num_arms), dtype=np.int64)
    plays[:, :, 0, 0] = rounds
    return xr.Dataset(
        {
            "regret": (("notion", "run", "checkpoint"), regret),
            "plays": (("run", "checkpoint", "arm", "opponent"), plays),
            "recommendation": (("run",), np.zeros(num_runs, dtype=np.int64)),
        },
        coords={"notion": list(notions), "run": np.arange(num_runs),
                "checkpoint": rounds, "arm": np.arange(num_arms),
                "opponent": np.arange(num_arms)},
        attrs=policy_attrs(label, instance, num_runs, int(rounds[-1])),
    )  # fmt: skip


def policy_attrs(label: str, instance: str, runs: int, horizon: int) -> dict:
    """Return the attributes of one policy node."""
    return {
        "instance": instance, "policy": label, "policy_name": label.lower(),
        "parameters": "{}", "num_runs": runs, "horizon": horizon, "seed": 1,
        "look_ahead": 1, "shuffle": 1, "run_seconds": 0.5, "compile_seconds": 2.5,
        "events": 1234, "version": "0.1.0", "device": "cpu",
    }  # fmt: skip


def failed_node(label: str, instance: str, error: str) -> xr.Dataset:
    """Return the node of a policy that failed: attributes, no variables."""
    attrs = policy_attrs(label, instance, 40, 10**6)
    return xr.Dataset(attrs={**attrs, "error": error})


def environment_node(matrix: np.ndarray, name: str) -> xr.Dataset:
    """Return the node of an instance: the matrix and where it comes from."""
    arms = np.arange(matrix.shape[0])
    return xr.Dataset(
        {"preference": (("arm", "opponent"), matrix)},
        coords={"arm": arms, "opponent": arms},
        attrs={"name": name, "source": "a test"},
    )


def comparison(
    instances: Mapping[str, np.ndarray] | None = None,
    labels: Sequence[str] = tuple(POLICIES),
    *,
    horizons: Mapping[tuple[str, str], int] | None = None,
    failed: Mapping[tuple[str, str], str] | None = None,
    **options: object,
) -> xr.DataTree:
    """Return ``/<instance>/<policy>`` as ``bayesduel.compare`` does."""
    instances = instances or {"mslr5-condorcet": CONDORCET}
    attrs = {"seed": 1, "num_runs": 40, "horizon": 10**6, "version": "0.1.0"}
    nodes: dict[str, xr.Dataset] = {"/": xr.Dataset(attrs=attrs)}
    for name, matrix in instances.items():
        nodes[f"/{name}"] = environment_node(matrix, name)
        for label in labels:
            error = (failed or {}).get((name, label))
            if error is not None:
                nodes[f"/{name}/{label}"] = failed_node(label, name, error)
                continue
            chosen: dict = {"horizon": (horizons or {}).get((name, label), 10**6)}
            chosen.update(options)
            nodes[f"/{name}/{label}"] = policy_node(
                label, instance=name, num_arms=matrix.shape[0], **chosen
            )
    return xr.DataTree.from_dict(nodes)


def hash_text(text: str) -> int:
    """Return a hash that is the same in every process."""
    return int.from_bytes(text.encode()[:6], "little")


def swept(
    parameters: Mapping[str, Mapping[str, object]], **options: object
) -> xr.DataTree:
    """Return results on the Condorcet matrix of policies with these parameters."""
    tree = comparison(labels=tuple(parameters), **options)
    for label, own in parameters.items():
        attrs = tree[f"mslr5-condorcet/{label}"].attrs
        attrs["parameters"] = json.dumps(own)
        attrs["policy_name"] = label.partition(":")[0].lower()
    return tree

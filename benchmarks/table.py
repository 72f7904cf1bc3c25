"""The table of policies and matrices in the documentation: `docs/benchmark.json`.

`python -m benchmarks.table d-ts rucb` measures these policies and replaces their rows;
`python -m benchmarks.table my_policy:MyPolicy` adds one that is in `my_policy.py` here.
Without names every row is measured again.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

import bayesduel
from bayesduel import instances, policies
from bayesduel.analysis import summary
from theory import copeland_lower_bound

RESULTS = Path(__file__).parents[1] / "docs" / "benchmark.json"
RUNS, HORIZON, SEED, AT = 20, 10**6, 0, 10**4
RANDOM = {
    f"{num_arms} arms": [
        f"uniform-random:num_arms={num_arms},min_gap=0.03,seed={seed}"
        for seed in range(1, 11)
    ]
    for num_arms in (5, 8)
}
MATRICES = [*instances.names(), *(name for group in RANDOM.values() for name in group)]
POLICIES = ["d-ts", "d-ts+", "rd-ts", "rcs", "self-sparring", "rucb", "ccb",
            "merge-rucb", "rmed1", "rmed2", "ecw-rmed", "beat-the-mean",
            "interleaved-filter", "savage", "sparring", "random"]  # fmt: skip


def measured(policy):
    """Return a row: by matrix regret, its error, slopes, and the time of a round."""
    found = {name: cell(name, policy) for name in MATRICES}
    row = {name: found[name] for name in instances.names()}
    for title, names in RANDOM.items():
        row[title] = together([found[name] for name in names])
    return {
        name: {key: round(float(value), 6) for key, value in each.items()}
        for name, each in row.items()
    }


def cell(name, policy):
    """Return what a policy comes to on one matrix."""
    played(name, policy, 10)  # Compiles.
    _, overhead = played(name, policy, 10)
    result, seconds = played(name, policy, HORIZON)
    (line,) = summary(result).rows
    if line.error:
        raise SystemExit(f"{policy} failed on {name}: {line.error}")
    node = next(iter(result[line.instance].children.values()))
    regret = node["regret"].isel(notion=0).sel(checkpoint=[AT, HORIZON]).to_numpy()
    constant = copeland_lower_bound(bayesduel.load(name), ties="ignore").value
    early, late = regret.mean(axis=0)
    early_error, late_error = regret.std(axis=0, ddof=1) / RUNS**0.5
    return {
        "regret": early,
        "error": early_error,
        "final": late,
        "final_error": late_error,
        "slope": line.slope.value,
        "constant": constant,
        "ratio": line.slope.value / constant,
        "nanoseconds": 1e9 * (seconds - overhead) / (RUNS * HORIZON),
    }


def played(name, policy, horizon):
    """Return results and the processor's seconds, which other programs do not change.

    They are played in this process, so that its clock counts them.
    """
    began = time.process_time()
    result = bayesduel.compare(
        name, policy, num_runs=RUNS, horizon=horizon, seed=SEED, jobs=1
    )
    return result, time.process_time() - began


def together(cells):
    """Return means over matrices; errors are those of the means."""
    return {
        key: np.linalg.norm([cell[key] for cell in cells]) / len(cells)
        if key.endswith("error")
        else np.mean([cell[key] for cell in cells])
        for key in cells[0]
    }


def main():
    """Measure the policies that are named, and keep the other rows."""
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    kept, labels = stored.get("rows", {}), stored.get("labels", {})
    for policy in sys.argv[1:] or POLICIES:
        kept[policy] = measured(policy)
        labels[policy] = policies.parse_policy(policy).label
        print(policy, {name: each["regret"] for name, each in kept[policy].items()})
        settings = {"runs": RUNS, "horizon": HORIZON, "at": AT, "seed": SEED,
                    "version": bayesduel.__version__}  # fmt: skip
        found = {"settings": settings, "labels": labels, "rows": kept}
        text = json.dumps(found, indent=1)
        RESULTS.write_text(text + "\n")


if __name__ == "__main__":
    main()

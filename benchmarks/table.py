"""The table of policies and matrices in the documentation: `docs/benchmark.json`.

`python -m benchmarks.table d-ts rucb` measures these policies and replaces their rows;
`python -m benchmarks.table my_policy:MyPolicy` adds one that is in `my_policy.py` here.
Without names every row is measured again.
"""

import json
import sys
from pathlib import Path

import bayesduel
from bayesduel import policies
from bayesduel.analysis import summary
from theory import copeland_lower_bound

RESULTS = Path(__file__).parents[1] / "docs" / "benchmark.json"
RUNS, HORIZON, SEED, AT = 20, 10**5, 0, 10**4
MATRICES = ["cyclic", "gap", "multisol", "strong-borda", "mslr5-condorcet",
            "mslr5-non-condorcet", "sushi",
            *(f"uniform-random:num_arms={num_arms},min_gap=0.03,seed={seed}"
              for num_arms, seed in ((5, 1), (5, 2), (8, 3)))]  # fmt: skip
POLICIES = ["d-ts", "d-ts+", "rd-ts", "rcs", "self-sparring", "rucb", "ccb",
            "merge-rucb", "rmed1", "rmed2", "ecw-rmed", "beat-the-mean",
            "interleaved-filter", "savage", "sparring", "random"]  # fmt: skip


def measured(policy):
    """Return a row: by matrix regret, its error, slopes, and the time of a round."""
    result = bayesduel.compare(
        MATRICES, policy, num_runs=RUNS, horizon=HORIZON, seed=SEED
    )
    row = {}
    for line in summary(result).rows:
        node = next(iter(result[line.environment].children.values()))
        if line.error:
            raise SystemExit(f"{policy} failed on {line.environment}: {line.error}")
        regret = node["regret"].isel(notion=0).sel(checkpoint=AT).to_numpy()
        constant = copeland_lower_bound(bayesduel.load(line.environment)).value
        seconds = node.attrs["run_seconds"] / (RUNS * HORIZON)
        row[line.environment] = {
            "regret": round(float(regret.mean()), 1),
            "error": round(float(regret.std(ddof=1) / RUNS**0.5), 1),
            "slope": round(line.slope.value, 2),
            "ratio": round(line.slope.value / constant, 2),
            "nanoseconds": round(1e9 * seconds, 1),
        }
    return row


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

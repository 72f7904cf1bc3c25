"""The figure of each policy's page in the documentation: `docs/policy_curves.json`.

`python -m benchmarks.curves d-ts rucb` simulates these policies and replaces their
curves; without names every curve is simulated again.
"""

import json
import sys
from pathlib import Path

import numpy as np

import bayesduel
from bayesduel import policies
from bayesduel.cli.commands.show import described_policies
from bayesduel.policies.policy import declared

CURVES = Path(__file__).parents[1] / "docs" / "policy_curves.json"
RUNS, SEED = 20, 0
SETTINGS = {
    "policy": {"instance": "mslr5-condorcet", "horizon": 10**5},
    "contextual policy": {"instance": "ginop-contexts", "horizon": 10**4},
    "policy that offers sets": {
        "instance": "mnl:num_arms=8,subset_size=3",
        "horizon": 10**4,
    },
}
SHORT, SHORT_HORIZON = ("d-optimal", "information", "logit-ts"), 10**3
"""Each of their rounds fits a model anew."""


def measured(entry):
    """Return regret of the first run, the mean of all, and 10 and 90 % of them."""
    kind = entry["kind"]
    if declared(policies.get(entry["name"]), "contextual"):
        kind = "contextual policy"
    settings = SETTINGS[kind]
    horizon = SHORT_HORIZON if entry["name"] in SHORT else settings["horizon"]
    per_decade = 8
    rounds = np.geomspace(1, horizon, per_decade * round(np.log10(horizon)) + 1)
    result = bayesduel.compare(
        settings["instance"],
        entry["name"],
        num_runs=RUNS,
        horizon=horizon,
        checkpoints=np.unique(rounds.round().astype(int)),
        seed=SEED,
    )
    node = next(iter(result[settings["instance"]].children.values()))
    regret = node["regret"].isel(notion=0)
    quantiles = regret.quantile([0.1, 0.9], dim="run").to_numpy()
    curves = [regret.isel(run=0), regret.mean("run"), *quantiles]
    run, mean, low, high = np.asarray(curves).tolist()
    shortened = {
        name: [float(f"{value:.4g}") for value in values]
        for name, values in (("run", run), ("mean", mean), ("low", low), ("high", high))
    }
    return {
        "kind": kind,
        "label": entry["label"],
        "rounds": regret["checkpoint"].to_numpy().tolist(),
        **shortened,
    }


def main():
    """Simulate the policies that are named, and keep the other curves."""
    stored = json.loads(CURVES.read_text()) if CURVES.exists() else {"curves": {}}
    asked = sys.argv[1:]
    for entry in described_policies():
        if asked and entry["name"] not in asked:
            continue
        found = measured(entry)
        stored["curves"][entry["name"]] = found
        print(entry["name"], found["mean"][-1], flush=True)
        stored["settings"] = SETTINGS | {"runs": RUNS, "seed": SEED}
        CURVES.write_text(json.dumps(stored) + "\n")


if __name__ == "__main__":
    main()

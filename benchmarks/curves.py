"""The figure of each policy's page in the documentation: `docs/policy_curves.json`.

`python -m benchmarks.curves d-ts rucb` simulates these policies and replaces their
curves; without names every curve is simulated again. Policies for weak regret are
measured by weak regret, all others by the first kind of regret of their instance.
"""

import json
import sys
from pathlib import Path

import numpy as np

import bayesduel
from bayesduel import policies
from bayesduel.cli.commands.show import described_policies
from bayesduel.policies.policy import declared
from bayesduel.policies.registry import entries

CURVES = Path(__file__).parents[1] / "docs" / "policy_curves.json"
RUNS, SEED = 20, 0
WEAK = "policy for weak regret"
SETTINGS = {
    "policy": {"instance": "mslr5-condorcet", "horizon": 10**5},
    "contextual policy": {"instance": "ginop-contexts", "horizon": 10**4},
    "policy that offers sets": {
        "instance": "mnl:num_arms=8,subset_size=3",
        "horizon": 10**4,
    },
    # In some runs a wrong arm leads for long, so that a mean needs many of them.
    WEAK: {
        "instance": "cyclic",
        "horizon": 10**9,
        "regret": "weak_binary",
        "runs": 200,
    },
}
YARDSTICK = "d-ts"
"""What the figures of weak regret show for comparison, besides their own kind."""
SHORT, SHORT_HORIZON = ("d-optimal", "information", "logit-ts"), 10**3
"""Each of their rounds fits a model anew."""


def kind_of(entry):
    """Return the kind of figure that the page of a policy has, a key of SETTINGS."""
    if entries()[entry["name"]].family == "weak_regret":
        return WEAK
    if declared(policies.get(entry["name"]), "contextual"):
        return "contextual policy"
    return entry["kind"]


def measured(entry, kind):
    """Return regret of the first run, the mean of all, and 10 and 90 % of them."""
    settings = SETTINGS[kind]
    horizon = SHORT_HORIZON if entry["name"] in SHORT else settings["horizon"]
    per_decade = 8
    rounds = np.geomspace(1, horizon, per_decade * round(np.log10(horizon)) + 1)
    notion = settings.get("regret")
    result = bayesduel.compare(
        settings["instance"],
        entry["name"],
        num_runs=settings.get("runs", RUNS),
        horizon=horizon,
        checkpoints=np.unique(rounds.round().astype(int)),
        regret=None if notion is None else [notion],
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
        name = entry["name"]
        if asked and name not in asked:
            continue
        stored["curves"][name] = measured(entry, kind_of(entry))
        print(name, stored["curves"][name]["mean"][-1], flush=True)
        if name == YARDSTICK:
            stored["yardstick"] = measured(entry, WEAK)
        stored["settings"] = SETTINGS | {"runs": RUNS, "seed": SEED}
        CURVES.write_text(json.dumps(stored) + "\n")


if __name__ == "__main__":
    main()

"""What is public in `bayesduel.analysis`."""

from __future__ import annotations

import numpy as np

from bayesduel import analysis
from tests import fake_results as fake
from tests.fuzz.targets import values as v
from tests.fuzz.targets.values import Made, Target


def of_analysis() -> dict[str, Target]:
    """Return what is public in `bayesduel.analysis`."""
    rounds = {"from_round": [1000, 7, 10**6], "to_round": [10**6, 1000, 1e6]}
    return {
        "AnchoredBound.__call__": Target(
            analysis.AnchoredBound.__call__,
            {"rounds": [[1000, 10**4], 1e5, [1], [0], [-3.0]]},
            {"self": Made(v.anchored)},
        ),
        "Measurement.regret": Target(
            analysis.Measurement.regret,
            {"notion": v.NOTION},
            {"self": Made(v.measurement)},
        ),
        "Measurement.statistics": Target(
            analysis.Measurement.statistics,
            {"notion": v.NOTION},
            {"self": Made(v.measurement)},
        ),
        "Measurement.lower_slope": Target(
            analysis.Measurement.lower_slope,
            {"notion": v.NOTION, "model": [None, "", "bradley-terry", "x"]},
            {"self": Made(v.measurement)},
        ),
        "simulated_bayes_regret": Target(
            analysis.simulated_bayes_regret,
            {
                "policy": ["d-ts", "rucb:alpha=0.6", "ucb-no-order", "x", "d-ts:x=1"],
                "num_arms": [3, 2, 1, 10**6],
                "horizon": [20, 1e3, 0, 0.5],
                "checkpoints": [None, [5, 20], [20, 5], [30]],
                "prior": [1.0, 0.5, 0.0, -1],
                "num_runs": [10, 1, 10**12],
                "seed": [0, -1, 0.5],
            },
        ),
        "Ranking.difference": Target(
            analysis.Ranking.difference,
            {"lower": ["D-TS", "RUCB", "x"], "higher": ["RUCB", "D-TS"]},
            {"self": Made(v.ranking)},
        ),
        "anchored_bound": Target(
            analysis.anchored_bound,
            {
                "bound": [Made(v.bound), Made(v.anchored)],
                "anchor_round": [1000, 2, 1, 1e3],
                "anchor_value": [120.0, 3],
            },
        ),
        "audit_stopping": Target(
            analysis.audit_stopping,
            {
                "instances": ["gap", ["cyclic", fake.TIED], "camera", []],
                "policy": ["d-ts+", "balanced", "bt-ts", "scb", "pcomp", "nobody"],
                "rules": [None, ["fixed:duels=3"], "anytime:delta=0.1", [], {"a": 1}],
                "delta": v.PROBABILITIES,
                "width": [0.0, 0.05, 0.5],
                "budget": [100, 0, 10**10],
                "look_every": [1, 7, 0],
                "num_runs": [10, 0, 10**9],
                "seed": v.KEYS,
            },
            {"on_progress": None},
        ),
        "lower_bound": Target(
            analysis.lower_bound,
            {
                "preference": [fake.CONDORCET, fake.TIED, Made(v.frame)],
                "arms": [(), tuple("abcde"), ("a",), "abcdef"],
                "method": ["prefix", "cvxpy", "simplex"],
                "verify": [False, True],
            },
        ),
        "measurements": Target(analysis.measurements, {"result": v.RESULTS}),
        "paired_intervals": Target(
            analysis.paired_intervals,
            {
                "values": [
                    np.arange(24.0).reshape(12, 2) ** 2,
                    np.ones((9, 3)),
                    np.eye(10) * 1e308,
                    [[1, 2]],
                ],
                "confidence": [0.95, 0.5],
                "num_resamples": [100, 10**9, 99, 200.0],
                "seed": v.KEYS,
            },
        ),
        "rankings": Target(
            analysis.rankings,
            {
                "comparison": v.RESULTS,
                "notion": v.NOTION,
                "confidence": [0.95, 0.5],
                "peak": [50.0, 1, 1e300],
                "num_resamples": [100, 10**9, 99],
                "seed": v.KEYS,
            },
        ),
        "regret_dataframe": Target(
            analysis.regret_dataframe, {"result": v.RESULTS, "notion": v.NOTION}
        ),
        "slope": Target(
            analysis.slope,
            {
                "result": [Made(v.node), Made(v.measurement), *v.RESULTS],
                "notion": v.NOTION,
            }
            | rounds,
        ),
        "summary": Target(
            analysis.summary,
            {"comparison": v.RESULTS, "notion": v.NOTION}
            | {name: [None, *values] for name, values in rounds.items()},
        ),
        "usual_rules": Target(
            analysis.usual_rules,
            {
                "delta": v.PROBABILITIES,
                "width": [0.0, 0.05, 0.5],
                "budget": [100, 0, 2**63],
            },
        ),
    }

"""Public functions to fuzz in `bayesduel.analysis`."""

from __future__ import annotations

import numpy as np

from bayesduel import analysis
from tests import fake_results as fake
from tests.fuzz.targets import values as v
from tests.fuzz.targets.values import Made, Target, target


def of_analysis() -> dict[str, Target]:
    """Return what is public in `bayesduel.analysis`."""
    rounds = {"from_round": [1000, 7, 10**6], "to_round": [10**6, 1000, 1e6]}
    return {
        "AnchoredBound.__call__": target(
            analysis.AnchoredBound.__call__,
            of=Made(v.anchored),
            rounds=[[1000, 10**4], 1e5, [1], [0], [-3.0]],
        ),
        "Measurement.regret": target(
            analysis.Measurement.regret, of=Made(v.measurement), notion=v.NOTION
        ),
        "Measurement.statistics": target(
            analysis.Measurement.statistics, of=Made(v.measurement), notion=v.NOTION
        ),
        "Measurement.lower_slope": target(
            analysis.Measurement.lower_slope,
            of=Made(v.measurement),
            notion=v.NOTION,
            model=[None, "", "bradley-terry", "x"],
        ),
        "simulated_bayes_regret": target(
            analysis.simulated_bayes_regret,
            policy=["d-ts", "rucb:alpha=0.6", "ucb-no-order", "x", "d-ts:x=1"],
            num_arms=[3, 2, 1, 10**6],
            horizon=[20, 1e3, 0, 0.5],
            checkpoints=[None, [5, 20], [20, 5], [30]],
            prior=[1.0, 0.5, 0.0, -1],
            num_runs=[10, 1, 10**12],
            seed=[0, -1, 0.5],
        ),
        "Ranking.difference": target(
            analysis.Ranking.difference,
            of=Made(v.ranking),
            lower=["D-TS", "RUCB", "x"],
            higher=["RUCB", "D-TS"],
        ),
        "anchored_bound": target(
            analysis.anchored_bound,
            bound=[Made(v.bound), Made(v.anchored)],
            anchor_round=[1000, 2, 1, 1e3],
            anchor_value=[120.0, 3],
        ),
        "audit_stopping": target(
            analysis.audit_stopping,
            instances=["gap", ["cyclic", fake.TIED], "camera", []],
            policy=["d-ts+", "balanced", "bt-ts", "scb", "pcomp", "nobody"],
            rules=[None, ["fixed:duels=3"], "anytime:delta=0.1", [], {"a": 1}],
            delta=v.PROBABILITIES,
            width=[0.0, 0.05, 0.5],
            budget=[100, 0, 10**10],
            look_every=[1, 7, 0],
            num_runs=[10, 0, 10**9],
            prices=[None, [1, 1, 1, 1], [1, -1], np.ones((5, 5)), "x"],
            seed=v.KEYS,
            on_progress=[None],
        ),
        "lower_bound": target(
            analysis.lower_bound,
            preference=[fake.CONDORCET, fake.TIED, Made(v.frame)],
            arms=[(), tuple("abcde"), ("a",), "abcdef"],
            method=["prefix", "cvxpy", "simplex"],
            verify=[False, True],
        ),
        "measurements": target(analysis.measurements, result=v.RESULTS),
        "paired_intervals": target(
            analysis.paired_intervals,
            values=[
                np.arange(24.0).reshape(12, 2) ** 2,
                np.ones((9, 3)),
                np.eye(10) * 1e308,
                [[1, 2]],
            ],
            confidence=[0.95, 0.5],
            num_resamples=[100, 10**9, 99, 200.0],
            seed=v.KEYS,
        ),
        "rankings": target(
            analysis.rankings,
            comparison=v.RESULTS,
            notion=v.NOTION,
            confidence=[0.95, 0.5],
            peak=[50.0, 1, 1e300],
            num_resamples=[100, 10**9, 99],
            seed=v.KEYS,
        ),
        "regret_dataframe": target(
            analysis.regret_dataframe, result=v.RESULTS, notion=v.NOTION
        ),
        "slope": target(
            analysis.slope,
            rounds,
            result=[Made(v.node), Made(v.measurement), *v.RESULTS],
            notion=v.NOTION,
        ),
        "summary": target(
            analysis.summary,
            {name: [None, *values] for name, values in rounds.items()},
            comparison=v.RESULTS,
            notion=v.NOTION,
        ),
        "usual_rules": target(
            analysis.usual_rules,
            delta=v.PROBABILITIES,
            width=[0.0, 0.05, 0.5],
            budget=[100, 0, 2**63],
        ),
    }

"""Naming a winner: errors and duels of policies under a rule for stopping.

``python -m benchmarks.naming --matrix cyclic gap --policy rd-ts:cost=duels --delta 0.1
--runs 100000`` prints a line for each, as do the tables of ``docs/theory/stopping.md``.
"""

import argparse
import math

import numpy as np

import bayesduel
import theory
from bayesduel import policies, stopping
from bayesduel.simulation.driver import run_chunk
from bayesduel.simulation.runs import PairwiseEnvironment

RULES = {
    "evidence": stopping.AnytimeEvidence,
    "posterior": stopping.PosteriorProbability,
}

_CHUNK = 10_000


def measured(
    name: str, policy: str, rule: stopping.StoppingRule, num_runs: int, horizon: int
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return duels of different arms and answers of runs, and seconds of the loop."""
    environment = PairwiseEnvironment(bayesduel.load(name).values)
    parsed = policies.parse_policy(policy)
    duels, answers, seconds = [], [], 0.0
    for start in range(0, num_runs, _CHUNK):
        records = run_chunk(
            environment,
            parsed,
            runs=range(start, min(start + _CHUNK, num_runs)),
            checkpoints=np.array([horizon]),
            seed=2718,
            stopping=rule,
        )
        duels.append(np.triu(records.ledger["plays"][:, -1], 1).sum(axis=(1, 2)))
        answers.append(records.info["answer"])
        seconds += records.run_seconds
    return np.concatenate(duels), np.concatenate(answers), seconds


def main() -> None:
    """Print a line per matrix, policy and delta."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matrix", nargs="+", default=["cyclic"])
    parser.add_argument("--policy", nargs="+", default=["rd-ts:cost=duels"])
    parser.add_argument("--delta", nargs="+", type=float, default=[0.1])
    parser.add_argument("--rule", choices=RULES, default="evidence")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--horizon", type=int, default=10**7)
    asked = parser.parse_args()
    print("matrix policy delta runs wrong undecided duels/(T* log 1/delta) se seconds")
    for name in asked.matrix:
        matrix = bayesduel.load(name)
        least = theory.identification_bound(matrix).value
        for policy in asked.policy:
            for delta in asked.delta:
                rule = RULES[asked.rule](delta)
                duels, answers, seconds = measured(
                    name, policy, rule, asked.runs, asked.horizon
                )
                wrong = (answers >= 0) & ~np.isin(answers, matrix.loss_winners)
                share = duels / (least * math.log(1 / delta))
                print(
                    f"{name} {policy} {delta:g} {len(duels)} {wrong.sum()} "
                    f"{(answers < 0).sum()} {share.mean():.3f} "
                    f"{share.std() / math.sqrt(len(duels)):.4f} {seconds:.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()

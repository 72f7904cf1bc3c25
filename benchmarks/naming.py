"""Naming a winner: errors and duels of policies under a rule for stopping.

``python -m benchmarks.naming --matrix cyclic gap --policy rd-ts:cost=duels --delta 0.1
--runs 100000`` prints a line for each, as do the tables of ``docs/theory/stopping.md``.

With ``--prices 1,1,10,10`` arms have prices, a duel costs the sum of both, and costs
are printed in place of duels, for policies such as ``rd-ts:cost=prices``. The last line
of a matrix, "exact", is what the rule takes at the optimal allocation with exact
estimates.
"""

import argparse
import math
from dataclasses import replace

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
    matrix: theory.PreferenceMatrix,
    policy: str,
    rule: stopping.StoppingRule,
    num_runs: int,
    horizon: int,
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return costs and answers of runs, and seconds of the loop.

    A duel of different arms costs its price, or 1.
    """
    environment = PairwiseEnvironment(matrix.values, prices=matrix.prices)
    prices = matrix.prices
    if prices is None:
        prices = np.ones((matrix.num_arms, matrix.num_arms))
    parsed = policies.parse_policy(policy)
    costs, answers, seconds = [], [], 0.0
    for start in range(0, num_runs, _CHUNK):
        records = run_chunk(
            environment,
            parsed,
            runs=range(start, min(start + _CHUNK, num_runs)),
            checkpoints=np.array([horizon]),
            seed=2718,
            stopping=rule,
        )
        duels = np.triu(records.ledger["plays"][:, -1], 1)
        costs.append((duels * prices).sum(axis=(1, 2)))
        answers.append(records.info["answer"])
        seconds += records.run_seconds
    return np.concatenate(costs), np.concatenate(answers), seconds


def exact_share(matrix: theory.PreferenceMatrix, rule: stopping.StoppingRule) -> float:
    """Return the cost at which a rule stops with exact estimates, over T* log(1/delta).

    At the optimal allocation, of which the least multiple is found by bisection.
    """
    found = theory.identification_bound(matrix)

    def stops(multiple: float) -> bool:
        duels = multiple * found.duels
        return rule.evaluate(np.rint(duels * matrix.values)).stopped

    low, high = 0.0, 1.0
    while not stops(high):
        low, high = high, 2.0 * high
    while high - low > 1e-4 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if stops(middle) else (middle, high)
    return high / math.log(1.0 / rule.delta)  # pyright: ignore


def main() -> None:
    """Print a line per matrix, policy and delta."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matrix", nargs="+", default=["cyclic"])
    parser.add_argument("--policy", nargs="+", default=["rd-ts:cost=duels"])
    parser.add_argument("--delta", nargs="+", type=float, default=[0.1])
    parser.add_argument("--rule", choices=RULES, default="evidence")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--horizon", type=int, default=10**7)
    parser.add_argument("--prices", help="of the arms, such as 1,1,10,10")
    asked = parser.parse_args()
    print("matrix policy delta runs wrong undecided cost/(T* log 1/delta) se seconds")
    for name in asked.matrix:
        matrix = bayesduel.load(name)
        if asked.prices is not None:
            prices = [float(each) for each in asked.prices.split(",")]
            matrix = replace(matrix, prices=prices)
        least = theory.identification_bound(matrix).value
        for policy in asked.policy:
            for delta in asked.delta:
                rule = RULES[asked.rule](delta)
                costs, answers, seconds = measured(
                    matrix, policy, rule, asked.runs, asked.horizon
                )
                wrong = (answers >= 0) & ~np.isin(answers, matrix.loss_winners)
                share = costs / (least * math.log(1 / delta))
                print(
                    f"{name} {policy} {delta:g} {len(costs)} {wrong.sum()} "
                    f"{(answers < 0).sum()} {share.mean():.3f} "
                    f"{share.std() / math.sqrt(len(costs)):.4f} {seconds:.1f}",
                    flush=True,
                )
        if asked.rule == "evidence":
            for delta in asked.delta:
                share = exact_share(matrix, RULES[asked.rule](delta))
                print(f"{name} exact {delta:g} - - - {share:.3f}", flush=True)


if __name__ == "__main__":
    main()

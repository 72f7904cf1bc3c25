"""Who is named after a few duels per arm: the share of runs that name the right arm.

``python -m benchmarks.shoestring``; the table of ``docs/theory/stopping.md``.
"""

import argparse
import math

import numpy as np

import bayesduel
import theory

POLICIES = (
    "parwis",
    "bt-ts:self_duels=false",
    "information:posterior=bradley-terry",
    "d-ts:self_duels=false",
    "rd-ts:cost=duels",
    "track-and-stop",
    "information",
    "random:distinct=true",
)
"""Those that make no self-duels, which tell nothing about the winner."""

BUDGETS = (2, 5, 10, 20)
"""Duels per arm."""

_INSTANCES = 4


def strengths(num_arms: int, instance: int) -> np.ndarray:
    """Return Bradley-Terry strengths: one arm has 100, the rest are below 75.

    As the experiments of Sheth and Rajkumar (2021) have it.
    """
    rng = np.random.default_rng([2021, num_arms, instance])
    return np.concatenate([[100.0], rng.uniform(0.0, 75.0, num_arms - 1)])


def matrices_of(name: str) -> list[np.ndarray]:
    """Return the matrices of a word such as "bt20", or one that is published."""
    if not name.startswith("bt"):
        return [bayesduel.load(name).values]
    found = [strengths(int(name[2:]), instance) for instance in range(_INSTANCES)]
    return [each[:, None] / (each[:, None] + each[None, :]) for each in found]


def share_right(
    matrices: list[np.ndarray], policy: str, budget: int, num_runs: int
) -> tuple[float, float]:
    """Return the share of runs that name a Copeland winner, and its standard error."""
    right = []
    for number, matrix in enumerate(matrices):
        result = bayesduel.simulate(
            matrix,
            policy,
            num_runs=num_runs // len(matrices),
            horizon=budget * len(matrix),
            seed=number,
        )
        winners = theory.PreferenceMatrix(matrix).loss_winners
        right.append(np.isin(result["recommendation"].values, winners))
    share = float(np.concatenate(right).mean())
    return share, math.sqrt(share * (1 - share) / sum(map(len, right)))


def main() -> None:
    """Print a row of percentages per matrix and policy."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shoestring")
    parser.add_argument(
        "--matrix", nargs="+", default=["bt10", "sushi", "strong-borda"]
    )
    parser.add_argument("--policy", nargs="+", default=POLICIES)
    parser.add_argument("--runs", type=int, default=2000)
    asked = parser.parse_args()
    print("| matrix | policy |", *(f"{each} K |" for each in BUDGETS))
    for name in asked.matrix:
        matrices = matrices_of(name)
        for policy in asked.policy:
            found = [
                share_right(matrices, policy, each, asked.runs) for each in BUDGETS
            ]
            cells = (f"{share:.1%} ± {error:.1%} |" for share, error in found)
            print(f"| {name} | {policy} |", *cells, flush=True)


if __name__ == "__main__":
    main()

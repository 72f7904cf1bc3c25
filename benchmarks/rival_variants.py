"""Regret of RD-TS* beside RD-TS and others, from 10^3 to 10^12 rounds.

``python -m benchmarks.rival_variants`` makes the tables of
``docs/theory/rival_directed_star.md``; ``--matrix random`` takes the twenty random
matrices of `benchmarks.slopes`, ``--matrix hard`` two on which a constant floor of
costs, or a weight of past duels below 1, is known to be suboptimal.
"""

import argparse

import numpy as np

from bayesduel import instances, policies
from bayesduel.simulation.driver import run_chunk
from bayesduel.simulation.runs import PairwiseEnvironment
from theory import PreferenceMatrix, copeland_lower_bound

from .slopes import DRAWS
from .timing import report

PUBLISHED = ("cyclic", "gap", "multisol", "mslr5-condorcet")
POLICIES = ("rd-ts-star", "rd-ts", "d-ts+", "ecw-rmed")
ROUNDS = (10**3, 10**6, 10**9, 10**12)
SEED = 31

_ONE_WINNER = [0.707, 0.282, 0.767, 0.355, 0.651, 0.587, 0.878, 0.394, 0.874, 0.328]
_THREE_WINNERS = [0.687, 0.732, 0.44, 0.143, 0.386, 0.691]


def matrices(names: list[str]) -> dict[str, PreferenceMatrix]:
    """Return matrices by name."""
    found: dict[str, PreferenceMatrix] = {}
    for name in names:
        if name == "random":
            for place, draw in enumerate(DRAWS):
                title = f"{draw.kind}, K={draw.num_arms} ({place})"
                found[title] = draw.matrix()
        elif name == "hard":
            found["one winner, K=5, hard"] = _from_upper(5, _ONE_WINNER)
            found["three winners, K=4, hard"] = _from_upper(4, _THREE_WINNERS)
        else:
            found[name] = instances.load(name)
    return found


def _from_upper(num_arms: int, values: list[float]) -> PreferenceMatrix:
    matrix = np.full((num_arms, num_arms), 0.5)
    rows, columns = np.triu_indices(num_arms, 1)
    matrix[rows, columns] = values
    matrix[columns, rows] = 1 - np.array(values)
    return PreferenceMatrix(matrix)


def regrets(matrix: PreferenceMatrix, policy: str, num_runs: int) -> np.ndarray:
    """Return regret at `ROUNDS`, (run, rounds)."""
    records = run_chunk(
        PairwiseEnvironment(np.array(matrix.values), shuffle=True),
        policies.parse_policy(policy),
        runs=range(num_runs),
        checkpoints=np.array(ROUNDS),
        seed=SEED,
    )
    scores = matrix.wins / (matrix.num_arms - 1)
    costs = scores.max() - (scores[:, None] + scores[None, :]) / 2
    return (records.ledger["plays"] * costs).sum(axis=(-1, -2))


def main() -> None:
    """Print regret, and slopes from 10^6 to 10^12 over the lower bound."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matrix", nargs="+", default=list(PUBLISHED))
    parser.add_argument("--policy", nargs="+", default=list(POLICIES))
    parser.add_argument("--runs", type=int, default=300)
    given = parser.parse_args()
    rows = []
    for name, matrix in matrices(given.matrix).items():
        constant = copeland_lower_bound(matrix, ties="ignore").value
        for policy in given.policy:
            found = regrets(matrix, policy, given.runs)
            grown = (found[:, 3] - found[:, 1]) / np.log(ROUNDS[3] / ROUNDS[1])
            ratios = grown / constant
            row: dict[str, object] = {"matrix": name, "C*": constant, "policy": policy}
            row |= {
                f"10^{power}": _mean(values)
                for power, values in zip((3, 6, 9, 12), found.T, strict=True)
            }
            row["slope / C*"] = _mean(ratios)
            row["median"] = float(np.median(ratios))
            rows.append(row)
    report(f"Regret, {given.runs} runs, seed {SEED}", rows)


def _mean(values: np.ndarray) -> str:
    error = values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():.4g} ± {error:.2g}"


if __name__ == "__main__":
    main()

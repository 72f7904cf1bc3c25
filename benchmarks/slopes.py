"""Slopes beside the constants of the lower bound, on matrices that chose nothing.

Regret per unit of log t, from 10^6 to 10^12 rounds, of every policy on 20 random
matrices. None of them was looked at when the constants of RD-TS were chosen.
"""

from dataclasses import dataclass

import numpy as np

from bayesduel import instances, policies
from bayesduel.simulation.driver import run_chunk
from bayesduel.simulation.runs import PairwiseEnvironment
from theory import PreferenceMatrix, copeland_lower_bound, ecw_rmed_constant

from .timing import report

NUM_RUNS = 300
FROM_ROUND, TO_ROUND = 10**6, 10**12
POLICIES = ("rd-ts", "d-ts", "ecw-rmed", "rmed1")
SEED = 21


@dataclass(frozen=True)
class Draw:
    """How one matrix was drawn.

    ``scale`` shrinks all gaps; ``even`` makes the pair of the two arms with the fewest
    wins exactly even.
    """

    kind: str
    num_arms: int
    seed: int
    winner: str = "unique_copeland"
    min_gap: float = 0.03
    scale: float = 1.0
    even: bool = False

    def matrix(self) -> PreferenceMatrix:
        """Return the matrix."""
        drawn = np.array(
            instances.load(
                f"uniform-random:num_arms={self.num_arms},winner={self.winner},"
                f"min_gap={self.min_gap},seed={self.seed}"
            ).values
        )
        values = 0.5 + self.scale * (drawn - 0.5)
        if self.even:
            scores = (values > 0.5).sum(axis=1)
            losers = np.flatnonzero(scores < scores.max())
            first, second = losers[np.argsort(scores[losers], kind="stable")][:2]
            values[first, second] = values[second, first] = 0.5
        return PreferenceMatrix(values)


DRAWS = (
    *(Draw("one winner", num_arms, 100 + num_arms) for num_arms in range(5, 11)),
    *(Draw("one winner", num_arms, 110 + num_arms) for num_arms in (5, 7)),
    *(
        Draw("Condorcet", num_arms, 120 + num_arms, winner="condorcet")
        for num_arms in (5, 6, 8, 10)
    ),
    *(
        Draw("several winners", num_arms, seed, winner="any")
        for num_arms, seed in ((5, 142), (6, 135), (8, 145))
    ),
    *(
        Draw("small gaps", num_arms, 140 + num_arms, min_gap=0.05, scale=0.25)
        for num_arms in (5, 6, 8)
    ),
    *(Draw("even pair", num_arms, 150 + num_arms, even=True) for num_arms in (5, 7)),
)
"""Twenty matrices of 5 to 10 arms."""


def slopes(
    matrix: PreferenceMatrix, policy: str, num_runs: int, to_round: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return regret at `FROM_ROUND`, and regret per log-round after it, by run."""
    environment = PairwiseEnvironment(np.array(matrix.values), shuffle=True)
    checkpoints = np.array([FROM_ROUND, to_round])
    chosen = policies.parse_policy(policy)
    records = run_chunk(
        environment, chosen, runs=range(num_runs), checkpoints=checkpoints, seed=SEED
    )
    scores = matrix.wins / (matrix.num_arms - 1)
    costs = scores.max() - (scores[:, None] + scores[None, :]) / 2
    regret = (records.ledger["plays"] * costs).sum(axis=(-1, -2))
    grown = (regret[:, 1] - regret[:, 0]) / np.log(to_round / FROM_ROUND)
    return regret[:, 0], grown


def main() -> None:
    """Print slopes over the constant of the lower bound, with standard errors."""
    rows = []
    for draw in DRAWS:
        matrix = draw.matrix()
        constant = copeland_lower_bound(matrix, ties="ignore").value
        efficient = ecw_rmed_constant(matrix, ties="ignore").value
        row: dict[str, object] = {
            "kind": draw.kind,
            "K": draw.num_arms,
            "seed": draw.seed,
            "winners": int((matrix.wins == matrix.wins.max()).sum()),
            "C*": constant,
            "ECW / C*": efficient / constant,
        }
        for policy in POLICIES:
            if policy == "rmed1" and matrix.wins.max() < draw.num_arms - 1:
                # No Condorcet winner: linear regret, and no round to skip.
                row[policy] = ""
                continue
            _, grown = slopes(matrix, policy, NUM_RUNS, TO_ROUND)
            ratios = grown / constant
            error = ratios.std(ddof=1) / np.sqrt(len(ratios))
            row[policy] = f"{ratios.mean():.2f} ± {error:.2f}"
        rows.append(row)
    report(f"Slopes over C*, {NUM_RUNS} runs, 10^6 to 10^12 rounds", rows)

"""Fits of Bradley-Terry, with a plain Newton method in NumPy as the unit."""

import time

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from bayesduel.inference import fit
from bayesduel.models import BradleyTerry
from bayesduel.votes import Comparisons

from .timing import report, time_call

SIZES = ((20, 190), (129, 3_460), (2_000, 20_000))
"""Arms and pairs: an experiment, a leaderboard, a large catalog."""


def world(num_arms: int, num_pairs: int) -> Comparisons:
    """Draw votes on random pairs of a Bradley-Terry world."""
    rng = np.random.default_rng(num_arms)
    row, column = np.triu_indices(num_arms, 1)
    chosen = rng.choice(len(row), num_pairs, replace=False)
    row, column = row[chosen], column[chosen]
    utility = rng.normal(size=num_arms)
    total = rng.integers(1, 200, num_pairs)
    won = rng.binomial(total, expit(utility[row] - utility[column]))
    counts = np.stack([won, total - won, np.zeros(num_pairs)], axis=1)
    names = [str(arm) for arm in range(num_arms)]
    return Comparisons.from_rows(names, row, column, counts)


def plain_newton(wins: np.ndarray, variance: float = 4.0) -> np.ndarray:
    """Find the same mode, on a table of wins, by full Newton steps."""
    total = wins + wins.T
    utility = np.zeros(len(wins))
    for _ in range(50):
        probability = expit(utility[:, None] - utility[None, :])
        gradient = (wins - total * probability).sum(axis=1) - utility / variance
        weight = total * probability * (1.0 - probability)
        precision = np.diag(weight.sum(axis=1) + 1.0 / variance) - weight
        step = cho_solve(cho_factor(precision), gradient)
        utility = utility + step
        if np.abs(step).max() < 1e-9:
            break
    return utility


def main() -> None:
    """Print processor time per fit, compilation excluded."""
    rows: list[dict[str, object]] = []
    for num_arms, num_pairs in SIZES:
        votes = world(num_arms, num_pairs)
        plain = time_call(lambda wins=votes.wins: plain_newton(wins))
        for title, model in (
            ("independent", BradleyTerry()),
            ("zero-sum", BradleyTerry(zero_sum=True)),
        ):
            density = model.closed_form(model.arrays(votes))
            assert density is not None
            seconds = time_call(density.laplace)
            rows.append(
                {
                    "arms": num_arms,
                    "pairs": num_pairs,
                    "prior": title,
                    "milliseconds": 1e3 * seconds,
                    "times plain NumPy": seconds / plain,
                }
            )
    report("Laplace fits of Bradley-Terry", rows)
    report("NUTS, 4 chains of 1,000 draws", [nuts_row()])


def nuts_row() -> dict[str, object]:
    """Time the reference on a leaderboard, the second of two fits."""
    num_arms, num_pairs = SIZES[1]
    votes = world(num_arms, num_pairs)
    plain = time_call(lambda: plain_newton(votes.wins))
    seconds = 0.0
    for seed in range(2):
        began = time.process_time()
        fit(BradleyTerry(zero_sum=True), votes, method="nuts", rng_key=seed)
        seconds = time.process_time() - began
    return {
        "arms": num_arms,
        "pairs": num_pairs,
        "seconds": seconds,
        "times plain NumPy": seconds / plain,
    }

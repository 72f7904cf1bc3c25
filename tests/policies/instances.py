"""Four-armed matrices without symmetries, so that a swapped index is noticed."""

import numpy as np

from tests.reference.matrices import CYCLIC

CONDORCET = np.array(
    [
        [0.50, 0.57, 0.66, 0.74], [0.43, 0.50, 0.60, 0.71],
        [0.34, 0.40, 0.50, 0.53], [0.26, 0.29, 0.47, 0.50],
    ]
)  # fmt: skip
"""Arm 0 beats all others."""

TWO_WINNERS = np.array(
    [
        [0.50, 0.60, 0.65, 0.42], [0.40, 0.50, 0.70, 0.62],
        [0.35, 0.30, 0.50, 0.57], [0.58, 0.38, 0.43, 0.50],
    ]
)  # fmt: skip
"""Arms 0 and 1 beat two others each and lose once; no Condorcet winner."""

DECISIVE = np.array(
    [
        [0.50, 0.92, 0.96, 0.99], [0.08, 0.50, 0.94, 0.97],
        [0.04, 0.06, 0.50, 0.90], [0.01, 0.03, 0.10, 0.50],
    ]
)  # fmt: skip
"""Easy enough for rules that stop exploring for good, within a short horizon."""

DECISIVE_TIE = np.array(
    [
        [0.50, 0.93, 0.96, 0.08], [0.07, 0.50, 0.90, 0.95],
        [0.04, 0.10, 0.50, 0.91], [0.92, 0.05, 0.09, 0.50],
    ]
)  # fmt: skip
"""Arms 0 and 1 beat two others each: elimination alone never ends."""

MATRICES = {"condorcet": CONDORCET, "two winners": TWO_WINNERS, "cyclic": CYCLIC}


def ladder(num_arms, chance):
    """Return a matrix in which every better arm wins with one probability."""
    better = np.triu(np.full((num_arms, num_arms), chance), 1)
    return better + np.tril(1 - better.T, -1) + np.eye(num_arms) / 2


def random_matrices(rng, number, num_arms, widest, least=0.01):
    """Return matrices: total orders first, then tournaments, in a random order.

    ``widest`` has the largest gaps, of one matrix after the other.
    """
    results = []
    for index in range(number):
        shape = num_arms, num_arms
        gaps = np.triu(rng.uniform(least, widest[index % len(widest)], shape), 1)
        if index >= number // 2:
            gaps = gaps * rng.choice([-1, 1], shape)
        order = rng.permutation(num_arms)
        results.append((0.5 + gaps - gaps.T)[np.ix_(order, order)])
    return results


def random_outcomes(
    preference: np.ndarray, length: int, rng: np.random.Generator
) -> np.ndarray:
    """Decide in advance who wins the n-th duel of each pair: [i, j, n] with i < j."""
    draws = rng.random((*preference.shape, length)) < preference[:, :, None]
    return draws & np.triu(np.ones(preference.shape, dtype=bool), 1)[:, :, None]

"""Regret of simulated runs, in an order of summation that is always the same.

Of duels it is a sum over what was played; of sets the instance adds it up round by
round, one sum per notion (:mod:`bayesduel.simulation.environments`).
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from theory import PreferenceMatrix


def of_plays(
    plays: Int[np.ndarray, "run checkpoint K K"],
    matrix: PreferenceMatrix,
    notions: Sequence[str],
) -> Float[np.ndarray, "notion run checkpoint"]:
    """Return cumulative regret, float64 (notion, run, checkpoint).

    ``plays`` are rounds per unordered pair (upper triangle) and of self-duels
    (diagonal).
    """
    return np.stack(
        [weighted_sum(plays, matrix.regret_per_pair(notion)) for notion in notions]
    )


def weighted_sum(
    plays: Int[np.ndarray, "run checkpoint K K"], per_pair: Float[np.ndarray, "K K"]
) -> Float[np.ndarray, "run checkpoint"]:
    """Return plays times regret, summed over pairs, float64 (run, checkpoint).

    A matrix product adds up in blocks that depend on the number of runs, so its last
    bits would depend on how the runs were cut into jobs. Here each step is a sum or a
    product of single numbers.
    """
    total = np.zeros(plays.shape[:2])
    for row, column in zip(*np.nonzero(per_pair), strict=True):
        if column >= row:  # Plays stand in the upper triangle.
            total += plays[:, :, row, column] * per_pair[row, column]
    return total

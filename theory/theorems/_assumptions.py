"""What several theorems assume of a matrix: checked, and in words."""

from __future__ import annotations

import numpy as np

from theory.errors import InvalidPreferenceError
from theory.preferences import PreferenceMatrix

NO_TIES = "no two arms tie"
CONDORCET = "a Condorcet winner exists"


def condorcet_winner(matrix: PreferenceMatrix) -> int:
    """Return the arm that beats all others.

    `InvalidPreferenceError` if no arm does; one that the best arm does not beat is
    named.
    """
    winner = matrix.condorcet_winner
    if winner is None:
        best = matrix.copeland_winners[0]
        other = int(np.flatnonzero(np.delete(matrix.gaps[best], best) <= 0)[0])
        other += other >= best
        raise InvalidPreferenceError(
            "matrix",
            "must be above 1/2: the theorem needs an arm that beats all others, and "
            f"the best arm {best} does not beat arm {other}",
            matrix.values[best, other],
            index=(best, other),
            remedy="copeland_lower_bound and ecw_rmed_constant need none",
        )
    return winner


def smallest_gap(matrix: PreferenceMatrix) -> float:
    """Return Delta, the smallest abs(P - 1/2) over pairs of different arms."""
    return float(np.abs(matrix.gaps[~np.eye(matrix.num_arms, dtype=bool)]).min())

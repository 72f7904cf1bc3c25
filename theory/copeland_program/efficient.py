"""Constants and allocations of ECW-RMED, the efficient exploration program.

For a Copeland winner i1 the program of Komiyama, Honda and Nakagawa (2016, eqs. 4 and
5) asks for one unit of evidence on every inferior of i1 and, for every rival i2, that
any L_i2 - L(1) + 1 of its superiors other than i1 carry one unit together. It implies
the constraints of the optimal program, and is solved in closed form (Theorem 5 there,
restated in `theory.copeland_program._superiors` with the rules for ties).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from theory.arguments import arm_index
from theory.copeland_program._superiors import allocate, superiors_of_gaps
from theory.copeland_program.program_data import checked_gaps

if TYPE_CHECKING:
    from jaxtyping import Float64


def ecw_costs(gaps: ArrayLike) -> Float64[np.ndarray, " K"]:
    """Compute the constant C_E of the efficient program for every arm as the winner.

    Parameters
    ----------
    gaps : float (K, K)
        Antisymmetric, P(i beats j) - 1/2; exactly 0 where two arms tie. A tied pair
        carries no evidence and no constraint.

    Returns
    -------
    float (K,)
        Copeland regret (from losses) per unit of log T, natural logarithm; infinity
        for arms that are no winner (fewest losses).

    Notes
    -----
    O(K^2 log K) time, and O(K^2) for each winner. `theory.ecw_rmed_constant` certifies
    its result.

    References
    ----------
    Komiyama, Honda and Nakagawa (2016), Theorem 5.

    Examples
    --------
    >>> import numpy as np
    >>> gaps = np.array([[0.0, 0.1, 0.3], [-0.1, 0.0, 0.2], [-0.3, -0.2, 0.0]])
    >>> ecw_costs(gaps)
    array([15.00997833,         inf,         inf])
    """
    table = checked_gaps(gaps)
    superiors = superiors_of_gaps(table)
    totals = np.full(len(table), math.inf)
    for arm in np.flatnonzero(superiors.counts == superiors.counts.min()):
        own = superiors.costs[arm, table[arm] > 0].sum()
        totals[arm] = own + allocate(superiors, table, int(arm))[0].sum()
    return totals


def ecw_evidence(gaps: ArrayLike, winner: int) -> Float64[np.ndarray, "K K"]:
    """Compute an optimal allocation of evidence of the efficient program.

    Parameters
    ----------
    gaps : float (K, K)
    winner : int
        The arm i1, one with the fewest losses. For another arm the result has no
        meaning.

    Returns
    -------
    float (K, K)
        Symmetric, in [0, 1]: evidence N_ij d_ij / log T on every pair. Ties are broken
        as stated at the head of `theory.copeland_program._superiors`.

    References
    ----------
    Komiyama, Honda and Nakagawa (2016), Theorem 5.

    Examples
    --------
    >>> import numpy as np
    >>> gaps = np.array([[0.0, 0.1, 0.3], [-0.1, 0.0, 0.2], [-0.3, -0.2, 0.0]])
    >>> ecw_evidence(gaps, 0)
    array([[0., 1., 1.],
           [1., 0., 0.],
           [1., 0., 0.]])
    """
    table = checked_gaps(gaps)
    winner = arm_index(winner, len(table), "winner")
    return allocate(superiors_of_gaps(table), table, winner)[1]

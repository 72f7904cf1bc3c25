"""Constants and allocations of ECW-RMED, the efficient exploration program.

For a Copeland winner i1 the program of Komiyama, Honda and Nakagawa (2016, eqs. 4 and
5) asks for one unit of evidence on every inferior of i1 and, for every rival i2, that
any L_i2 - L(1) + 1 of its superiors other than i1 carry one unit together. It implies
the constraints of the optimal program.

The rivals share no pair. With n superiors of a rival in the pool, k = n - (L_i2 - L(1)
+ 1) = L(1) - 1 - [i1 beats i2], and the costs in increasing order, c_(1) <= ... <=
c_(n), Theorem 5 there gives

    block cost = min over h = k + 1, ..., n of (c_(1) + ... + c_(h)) / (h - k),

attained by 1/(h - k) units on each of the h cheapest superiors; for k < 0 there is no
constraint. Ties: equal costs in the order of the arms; among equal ratios (within
1e-12) the smallest h.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from theory.arguments import arm_index
from theory.copeland_program.program_data import ProgramData, checked_gaps

if TYPE_CHECKING:
    from jaxtyping import Float64


# Ratios that differ by less are equal: the same instance then gets the same allocation
# whatever the order in which a library adds numbers.
_EQUAL_RATIO = 1e-12


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
    O(K^2 log K) time per winner. `theory.ecw_rmed_constant` certifies its result.

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
    instance = ProgramData.from_gaps(checked_gaps(gaps))
    totals = np.full(instance.num_arms, math.inf)
    for arm in instance.winners:
        forced = instance.costs[arm, instance.gaps[arm] > 0].sum()
        totals[arm] = forced + allocate(instance, arm)[0].sum()
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
        Symmetric, in [0, 1]: evidence N_ij d_ij / log T on every pair. Among equal
        costs the arm with the smaller number comes first; among equal ratios (within
        1e-12) the smallest set of superiors is taken.

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
    instance = ProgramData.from_gaps(checked_gaps(gaps))
    return allocate(instance, arm_index(winner, instance.num_arms, "winner"))[1]


def allocate(
    instance: ProgramData, winner: int, least: int | None = None
) -> tuple[Float64[np.ndarray, " K"], Float64[np.ndarray, "K K"]]:
    """Solve the efficient program for one winner, in O(K^2 log K)."""
    # Return the block cost of every rival, 0 where there is no constraint, and an
    # optimal allocation. ``least`` stands for L(1).
    gaps, num_arms = instance.gaps, instance.num_arms
    least = instance.least if least is None else least
    pool = instance.superiors_without(winner)
    # Superiors by cost, then by number; h and the sum of the h cheapest at every arm.
    order = np.argsort(np.where(pool, instance.costs, np.inf), axis=1, kind="stable")
    ordered = np.take_along_axis(np.where(pool, instance.costs, 0.0), order, axis=1)
    sizes, sums = np.empty(gaps.shape, dtype=np.int64), np.empty(gaps.shape)
    index = np.broadcast_to(np.arange(1, num_arms + 1), gaps.shape)
    np.put_along_axis(sizes, order, index, axis=1)
    np.put_along_axis(sums, order, np.cumsum(ordered, axis=1), axis=1)

    beaten = gaps[winner] > 0
    k = least - 1 - beaten
    spare = sizes - k[:, None]
    constrained = (k >= 0) & (np.arange(num_arms) != winner)
    allowed = pool & (spare > 0) & constrained[:, None]
    ratios = np.where(allowed, sums / np.where(allowed, spare, 1), np.inf)
    best = ratios.min(axis=1)
    equal = (ratios <= best[:, None] * (1.0 + _EQUAL_RATIO)) & (ratios < np.inf)
    length = np.where(equal, sizes, num_arms).min(axis=1)
    has_block = best < np.inf
    share = np.where(has_block, 1.0 / np.where(has_block, length - k, 1), 0.0)
    taken = pool & has_block[:, None] & (sizes <= length[:, None])
    directed = np.where(taken, share[:, None], 0.0)
    directed[winner, beaten] += 1.0
    return np.where(constrained, best, 0.0), directed + directed.T

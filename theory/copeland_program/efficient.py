"""Constants and allocations of ECW-RMED, the efficient exploration program.

For a Copeland winner i1 the program of Komiyama, Honda and Nakagawa (2016, eqs. 4 and
5) asks for one unit of evidence on every inferior of i1 and, for every rival i2, that
any L_i2 - L(1) + 1 of its superiors other than i1 carry one unit together. It implies
the constraints of the optimal program, and is solved in closed form (Theorem 5 there,
restated in `theory.copeland_program._superiors` with the rules for ties).

All functions except `ecw_rmed_constant` run on NumPy arrays and, traced, on arrays of
any library that follows the array-API standard.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from theory._arrays import AnyArrayLike, arm_of, floating, gap_table
from theory.arguments import instance_of
from theory.copeland_program._superiors import (
    RankedSuperiors,
    allocate,
    blocks_of,
    solve_blocks,
    superiors_by_counting,
)

if TYPE_CHECKING:
    from jaxtyping import Float, Int


def ecw_costs(
    gaps: AnyArrayLike, superiors: RankedSuperiors | None = None
) -> Float[Any, " K"]:
    """Compute the constant C_E of the efficient program for every arm as the winner.

    Parameters
    ----------
    gaps : float (K, K)
        Antisymmetric, P(i beats j) - 1/2; exactly 0 where two arms tie. A tied pair
        carries no evidence and no constraint.
    superiors : RankedSuperiors, optional
        As in `ecw_evidence`; where it holds other costs, the constant at these.

    Returns
    -------
    float (K,)
        Copeland regret (from losses) per unit of log T, natural logarithm; infinity
        for arms that are no winner (fewest losses).

    Notes
    -----
    O(K^3) time; O(K^3) memory where the operations are not fused. For one large matrix
    use `theory.ecw_rmed_constant`, for one winner
    `theory.copeland_program.efficient.ecw_cost`.

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
    xp, gaps = gap_table(gaps, cubed=True)
    if superiors is None:
        superiors = superiors_by_counting(gaps)
    superiors = instance_of(superiors, RankedSuperiors, "superiors")
    arms = xp.arange(gaps.shape[0], dtype=xp.int32)
    turned = xp.permute_dims(superiors.ranks, (1, 0))
    blocks = solve_blocks(superiors, arms, gaps > 0, superiors.costs, turned)
    own = xp.sum(xp.where(gaps > 0, superiors.costs, 0.0), axis=-1)
    totals = own + xp.sum(blocks.values, axis=-1)
    return xp.where(superiors.counts == xp.min(superiors.counts), totals, math.inf)


def ecw_cost(
    gaps: Float[Any, "K K"], winner: Int[Any, ""] | int, superiors: RankedSuperiors
) -> Float[Any, ""]:
    """Compute the constant C_E of the efficient program for one winner.

    Entry `winner` of `ecw_costs`, in O(K^2) operations.

    Parameters
    ----------
    gaps, winner, superiors
        As in `ecw_evidence`.

    Examples
    --------
    >>> import numpy as np
    >>> gaps = np.array([[0.0, 0.1, 0.3], [-0.1, 0.0, 0.2], [-0.3, -0.2, 0.0]])
    >>> round(float(ecw_cost(gaps, 0, superiors_by_counting(gaps))), 6)
    15.009978
    """
    xp, gaps = floating(gaps)
    arm = xp.reshape(xp.asarray(winner, dtype=xp.int32), (1,))
    beaten = xp.take(gaps, arm, axis=0) > 0
    own = xp.where(beaten, xp.take(superiors.costs, arm, axis=0), 0.0)
    return xp.sum(own) + xp.sum(blocks_of(superiors, gaps, winner).values)


def ecw_evidence(
    gaps: AnyArrayLike, winner: AnyArrayLike, superiors: RankedSuperiors | None = None
) -> Float[Any, "K K"]:
    """Compute an optimal allocation of evidence of the efficient program.

    Parameters
    ----------
    gaps : float (K, K)
    winner : int
        The arm i1, one with the fewest losses; it may be traced. For another arm the
        result has no meaning.
    superiors : RankedSuperiors, optional
        The `theory.copeland_program._superiors.superiors_by_counting` of these gaps,
        where they are known: O(K^2) operations then.

    Returns
    -------
    float (K, K)
        Symmetric, in [0, 1]: evidence N_ij d_ij / log T on every pair. Ties are broken
        as stated at the head of `theory.copeland_program._superiors`.

    Notes
    -----
    O(K^3) time; O(K^3) memory where the operations are not fused.

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
    gaps = gap_table(gaps, cubed=superiors is None)[1]
    winner = arm_of(winner, gaps.shape[0], "winner")
    if superiors is None:
        superiors = superiors_by_counting(gaps)
    superiors = instance_of(superiors, RankedSuperiors, "superiors")
    return allocate(superiors, gaps, winner)[1]

"""Slack of every constraint of the two exploration programs.

The program of Komiyama, Honda and Nakagawa (2016, eq. 2) asks of a Copeland winner i1:
for every rival i2 != i1, every level l in max(0, L(1) - 1), ..., L(2), every set H of
a = l + 1 - L(1) inferiors of i1, and every set O of max(0, L_i2 - l - [i2 in H])
superiors of i2 other than i1,

    sum over j in H of x[i1, j] + sum over j in O of x[i2, j] >= 1                (P)

where x is the evidence on a pair. The smallest left-hand side over all sets of given
sizes is a sum of smallest entries, so one *family of constraints* per (i2, l, whether
i2 is in H) stands for exponentially many constraints. With S_c(v) the sum of the c
smallest entries of v, removing an entry w from v gives max(S_c(v), S_{c+1}(v) - w);
that is all that the two cases "i2 in H" and "i2 not in H" need.

The level l = L(2) is equivalent to S_{L(2) + 1 - L(1)}(evidence on the inferiors of i1)
>= 1, and at lower levels no set of superiors is empty.

Everything here runs on NumPy arrays and, traced, on arrays of any library that follows
the array-API standard. Nothing is sorted: for a few dozen arms, ranks by counting are
cheaper than a sort in compiled code.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from theory._arrays import AnyArrayLike, Array, arm_of, floating, gap_table, pair_table
from theory.copeland_program._costs import losses, two_smallest
from theory.errors import InvalidPreferenceError

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int


def constraint_slack(
    evidence: AnyArrayLike,
    gaps: AnyArrayLike,
    candidates: AnyArrayLike | None = None,
) -> Float[Any, " K"]:
    """Compute the smallest slack of the exploration program, for every arm as winner.

    Counts N suffice to call i1 a Copeland winner at time t when its slack at
    ``evidence = N * kl_to_half(gaps) / log(t)`` is at least 1 - 1e-12. The slack is
    homogeneous: at ``N * kl_to_half(gaps)`` it is the largest log(t) that the counts
    can answer for (more than one unit of evidence on a pair never hurts, and nothing is
    clipped here).

    Parameters
    ----------
    evidence : float (K, K)
        Symmetric, non-negative; the diagonal and tied pairs are not read.
    gaps : float (K, K)
        Antisymmetric, P(i beats j) - 1/2; exactly 0 where two arms tie. A tied pair
        belongs to neither side of (P).
    candidates : bool (K,), optional
        Arms that matter; the others get infinity. The shape of the computation does not
        change: `candidate_slack` is the cheap way to ask about a single arm.

    Returns
    -------
    float (K,)
        Infinity where there is no constraint, and for arms that are no winner (fewest
        losses).

    See Also
    --------
    candidate_slack : The same for one arm, in less than half of the time.

    Notes
    -----
    O(K^3) time; O(K^3) memory where the operations are not fused.

    Examples
    --------
    >>> import numpy as np
    >>> gaps = np.array([[0.0, 0.1, 0.3], [-0.1, 0.0, 0.2], [-0.3, -0.2, 0.0]])
    >>> constraint_slack(np.full((3, 3), 0.6), gaps)
    array([0.6, inf, inf])
    """
    xp, gaps = gap_table(gaps, cubed=True)
    evidence = pair_table(evidence, gaps, "evidence")
    _check_candidates(candidates, gaps.shape[0])
    arms = xp.arange(gaps.shape[0], dtype=xp.int32)
    sums = superior_sums(evidence, gaps)
    slack = _smallest_sides(xp, gaps, sums, arms, evidence, gaps)
    return slack if candidates is None else xp.where(candidates, slack, math.inf)


def candidate_slack(
    evidence: AnyArrayLike,
    gaps: AnyArrayLike,
    candidate: AnyArrayLike,
    sums: AnyArrayLike | None = None,
) -> Float[Any, ""]:
    """Compute the smallest slack of the exploration program, for one arm as winner.

    Parameters
    ----------
    evidence : float (K, K)
        Symmetric, non-negative; the diagonal and tied pairs are not read.
    gaps : float (K, K)
    candidate : int
        The arm i1; it may be traced.
    sums : float (K, K + 2), optional
        `superior_sums` of all arms, where they are known: O(K^2) operations then.

    Returns
    -------
    float scalar
        Entry `candidate` of `constraint_slack`.

    Examples
    --------
    >>> import numpy as np
    >>> gaps = np.array([[0.0, 0.1, 0.3], [-0.1, 0.0, 0.2], [-0.3, -0.2, 0.0]])
    >>> float(candidate_slack(np.full((3, 3), 0.6), gaps, 0))
    0.6
    """
    xp, gaps = gap_table(gaps, cubed=sums is None)
    evidence = pair_table(evidence, gaps, "evidence")
    candidate = arm_of(candidate, gaps.shape[0], "candidate")
    sums = None if sums is None else _checked_sums(sums, gaps.shape[0])
    arm = xp.reshape(xp.asarray(candidate, dtype=xp.int32), (1,))
    own = xp.take(evidence, arm, axis=0), xp.take(gaps, arm, axis=0)
    sums = superior_sums(evidence, gaps) if sums is None else sums
    return _smallest_sides(xp, gaps, sums, arm, *own)[0]


def superior_sums(
    evidence: Float[Any, "R K"], gaps: Float[Any, "R K"]
) -> Float[Any, "R K+2"]:
    """Add up the smallest evidence on the superiors of some rivals, for every level.

    A rival's row depends on its own pairs only, so a duel changes two of them. Entry
    (i2, 1 + l) is the sum over the L_i2 - l superiors of i2 with the least evidence, l
    = -1, ..., K; 0 where L_i2 <= l, of all superiors for l = -1.

    Examples
    --------
    >>> import numpy as np
    >>> gaps = np.array([[0.0, 0.1, 0.3], [-0.1, 0.0, 0.2], [-0.3, -0.2, 0.0]])
    >>> evidence = np.array([[0.0, 0.5, 0.7], [0.5, 0.0, 0.6], [0.7, 0.6, 0.0]])
    >>> superior_sums(evidence, gaps)[2]
    array([1.3, 1.3, 0.6, 0. , 0. ])
    """
    xp, gaps = floating(gaps)
    levels = xp.arange(-1, gaps.shape[1] + 1, dtype=xp.int32)
    sizes = losses(gaps)[:, None] - levels[None, :]
    return sums_of_smallest(evidence, gaps < 0, sizes)


def ecw_slack(
    evidence: AnyArrayLike, gaps: AnyArrayLike, candidate: AnyArrayLike
) -> Float[Any, ""]:
    """Compute the smallest slack of the efficient program, for one arm as winner.

    The efficient program (Komiyama et al. 2016, eqs. 4 and 5) asks for one unit of
    evidence on every inferior of the winner i1, and of every rival i2 that the evidence
    on any L_i2 - L(1) + 1 of its superiors other than i1 adds up to 1.

    Parameters
    ----------
    evidence : float (K, K)
        Symmetric, non-negative; the diagonal and tied pairs are not read.
    gaps : float (K, K)
    candidate : int
        The arm i1; it may be traced. One with the fewest losses.

    Returns
    -------
    float scalar
        The counts suffice if it is at least 1 - 1e-12. Infinity where there is no
        constraint. At most `candidate_slack` where both are at most 1.

    Examples
    --------
    >>> import numpy as np
    >>> gaps = np.array([[0.0, 0.1, 0.3], [-0.1, 0.0, 0.2], [-0.3, -0.2, 0.0]])
    >>> float(ecw_slack(np.full((3, 3), 0.6), gaps, 0))
    0.6
    """
    xp, gaps = gap_table(gaps, cubed=True)
    evidence = pair_table(evidence, gaps, "evidence")
    candidate = arm_of(candidate, gaps.shape[0], "candidate")
    counts = losses(gaps)
    arms = xp.arange(gaps.shape[0], dtype=xp.int32)
    is_candidate = arms == xp.asarray(candidate, dtype=xp.int32)
    pool = (gaps < 0) & ~is_candidate[None, :]
    size = counts - xp.min(counts) + 1
    sides = sums_of_smallest(evidence, pool, size[:, None])[:, 0]
    exists = (size <= xp.sum(pool, axis=-1, dtype=xp.int32)) & ~is_candidate
    own = is_candidate[:, None] & (gaps > 0)
    return xp.minimum(
        xp.min(xp.where(exists, sides, math.inf)),
        xp.min(xp.where(own, evidence, math.inf)),
    )


def sums_of_smallest(
    values: Float[Any, "R K"], members: Bool[Any, "R K"], sizes: Int[Any, "R S"]
) -> Float[Any, "R S"]:
    """Add up the smallest members of every row, for several sizes.

    A size of 0 or less gives 0, one above the number of members the whole sum; each sum
    is in the order of the columns. Values are finite.

    Examples
    --------
    >>> import numpy as np
    >>> members = np.array([[True, True, False, True]])
    >>> sizes = np.array([[0, 1, 2, 3]])
    >>> sums_of_smallest(np.array([[5.0, 2.0, 1.0, 2.0]]), members, sizes)
    array([[0., 2., 4., 9.]])
    """
    xp, values = floating(values)
    ranks = rank_by_counting(values, members)
    chosen = members[:, None, :] & (ranks[:, None, :] < sizes[:, :, None])
    return xp.sum(xp.where(chosen, values[:, None, :], 0.0), axis=-1)


def rank_by_counting(
    values: Float[Any, "R K"], members: Bool[Any, "R K"]
) -> Int[Any, "R K"]:
    """Count, for every entry, the members of its row that come before it.

    Equal keys are in the order of the columns; the ranks of members count from 0.

    Examples
    --------
    >>> import numpy as np
    >>> rank_by_counting(np.array([[5.0, 2.0, 2.0]]), np.ones((1, 3), bool)).tolist()
    [[2, 0, 1]]
    """
    xp, values = floating(values)
    column = xp.arange(values.shape[1], dtype=xp.int32)
    earlier = column[None, None, :] < column[None, :, None]
    this, other = values[:, :, None], values[:, None, :]
    before = (other < this) | ((other == this) & earlier)
    return xp.sum(members[:, None, :] & before, axis=-1, dtype=xp.int32)


def _smallest_sides(
    xp: Array, gaps: Array, z: Array, arms: Array, own: Array, own_gaps: Array
) -> Array:
    """Minimize over all families, for the winners `arms` (A,) with rows `own` (A, K).

    `z` are the `superior_sums` of all arms.

    Axes of the families: winner i1, rival i2, level l = 0, ..., K - 1.
    """
    num_arms = gaps.shape[0]
    counts = losses(gaps)
    least, second = two_smallest(counts)
    # One level more on either side: one more or one fewer entry in the sums.
    levels = xp.arange(-1, num_arms + 1, dtype=xp.int32)
    a = levels[1:-1] + 1 - least
    b = counts[:, None] - levels[None, :]
    sizes = xp.broadcast_to((levels + 1 - least)[None, :], (own.shape[0], num_arms + 2))
    y = sums_of_smallest(own, own_gaps > 0, sizes)
    y_less, y_same, y_more = (y[:, None, s : s + num_arms] for s in range(3))
    # The higher the level, the fewer superiors.
    z_more, z_same, z_less = (z[None, :, s : s + num_arms] for s in range(3))

    pair = own[:, :, None]
    with_pair = xp.maximum(pair + y_less, y_same) + xp.maximum(z_less, z_same - pair)
    without_pair = xp.maximum(y_same, y_more - pair) + xp.maximum(z_same, z_more - pair)

    inferiors = xp.sum(own_gaps > 0, axis=-1, dtype=xp.int32)[:, None, None]
    a = a[None, None, :]
    enough = a <= inferiors
    # Taking the pair (i1, i2) out of both superiors leaves h - 1 inferiors and L_i2 - 1
    # superiors.
    spare = (a < inferiors) & (b[None, :, 1:-1] < counts[None, :, None])
    beaten = (own_gaps > 0)[:, :, None]
    rival = (arms[:, None] != xp.arange(num_arms, dtype=xp.int32)[None, :])[:, :, None]
    sides = xp.minimum(
        xp.where(enough & beaten & (a >= 1), with_pair, math.inf),
        xp.where(
            xp.where(beaten, spare, enough & rival),
            xp.where(beaten, without_pair, y_same + z_same),
            math.inf,
        ),
    )
    level = levels[None, None, 1:-1]
    in_range = (level >= least - 1) & (level < second)
    top = xp.where((level == second) & enough, y_same, math.inf)
    minima = xp.min(xp.where(in_range, xp.minimum(sides, top), top), axis=(1, 2))
    return xp.where(xp.take(counts, arms) == least, minima, math.inf)


def _check_candidates(candidates: Array | None, num_arms: int) -> None:
    if candidates is None:
        return
    kind = str(getattr(candidates, "dtype", ""))
    shape = tuple(getattr(candidates, "shape", ()))
    if kind != "bool" or shape != (num_arms,):
        raise InvalidPreferenceError(
            "candidates",
            f"must be an array of bool, one per arm, shape ({num_arms},)",
            (shape, kind or type(candidates).__name__),
        )


def _checked_sums(sums: Array, num_arms: int) -> Array:
    array = floating(sums, "sums")[1]
    if tuple(array.shape) != (num_arms, num_arms + 2):
        raise InvalidPreferenceError(
            "sums",
            f"must be the superior_sums of all arms, shape ({num_arms}, "
            f"{num_arms + 2})",
            tuple(array.shape),
        )
    return array

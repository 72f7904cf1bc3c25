"""Slack of all constraints of the two exploration programs.

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
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from theory.arguments import arm_index
from theory.copeland_program._oracle import ConstraintFamilies
from theory.copeland_program._superiors import superiors_of_gaps
from theory.copeland_program.program_data import ProgramData, checked_gaps
from theory.errors import InvalidPreferenceError
from theory.validation import real_array, refuse_entries

if TYPE_CHECKING:
    from jaxtyping import Float64


def constraint_slack(
    evidence: ArrayLike, gaps: ArrayLike, candidates: ArrayLike | None = None
) -> Float64[np.ndarray, " K"]:
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
        Arms that matter; the others get infinity.

    Returns
    -------
    float (K,)
        Infinity where there is no constraint, and for arms that are no winner (fewest
        losses).

    See Also
    --------
    candidate_slack : The same for one arm.

    Examples
    --------
    >>> import numpy as np
    >>> gaps = np.array([[0.0, 0.1, 0.3], [-0.1, 0.0, 0.2], [-0.3, -0.2, 0.0]])
    >>> constraint_slack(np.full((3, 3), 0.6), gaps)
    array([0.6, inf, inf])
    """
    instance, x = _checked(evidence, gaps)
    asked = np.ones(instance.num_arms, dtype=bool)
    if candidates is not None:
        asked = np.asarray(candidates)
    if asked.dtype != bool or asked.shape != (instance.num_arms,):
        raise InvalidPreferenceError(
            "candidates",
            f"must be an array of bool, one per arm, shape ({instance.num_arms},)",
            (asked.shape, str(asked.dtype)),
        )
    slack = np.full(instance.num_arms, math.inf)
    for arm in instance.winners:
        if asked[arm]:
            slack[arm] = ConstraintFamilies(instance, arm).slack(x)
    return slack


def candidate_slack(evidence: ArrayLike, gaps: ArrayLike, candidate: int) -> float:
    """Compute the smallest slack of the exploration program, for one arm as winner.

    Parameters
    ----------
    evidence : float (K, K)
        Symmetric, non-negative; the diagonal and tied pairs are not read.
    gaps : float (K, K)
    candidate : int
        The arm i1.

    Returns
    -------
    float
        Entry `candidate` of `constraint_slack`.

    Examples
    --------
    >>> import numpy as np
    >>> gaps = np.array([[0.0, 0.1, 0.3], [-0.1, 0.0, 0.2], [-0.3, -0.2, 0.0]])
    >>> candidate_slack(np.full((3, 3), 0.6), gaps, 0)
    0.6
    """
    instance, x = _checked(evidence, gaps)
    arm = arm_index(candidate, instance.num_arms, "candidate")
    if arm not in instance.winners:
        return math.inf
    return ConstraintFamilies(instance, arm).slack(x)


def ecw_slack(evidence: ArrayLike, gaps: ArrayLike, candidate: int) -> float:
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
        The arm i1, one with the fewest losses.

    Returns
    -------
    float
        The counts suffice if it is at least 1 - 1e-12. Infinity where there is no
        constraint. At most `candidate_slack` where both are at most 1.

    Examples
    --------
    >>> import numpy as np
    >>> gaps = np.array([[0.0, 0.1, 0.3], [-0.1, 0.0, 0.2], [-0.3, -0.2, 0.0]])
    >>> ecw_slack(np.full((3, 3), 0.6), gaps, 0)
    0.6
    """
    instance, x = _checked(evidence, gaps)
    arm = arm_index(candidate, instance.num_arms, "candidate")
    return ConstraintFamilies(instance, arm).efficient_slack(x)


def _checked(
    evidence: ArrayLike, gaps: ArrayLike
) -> tuple[ProgramData, Float64[np.ndarray, "K K"]]:
    table = checked_gaps(gaps)
    x = real_array(evidence, "evidence").astype(np.float64)
    if x.shape != table.shape:
        rule = f"must have the shape of the gaps, {table.shape}"
        raise InvalidPreferenceError("evidence", rule, x.shape)
    refuse_entries(np.isnan(x), x, "evidence", "must be a number")
    return ProgramData.from_superiors(table, superiors_of_gaps(table)), x

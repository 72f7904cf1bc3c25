"""The constraints of the two exploration programs, and the most violated of them.

The program of Komiyama, Honda and Nakagawa (2016, eq. 2) asks of a Copeland winner i1:
for every rival i2 != i1, every level l in max(0, L(1) - 1), ..., L(2), every set H of
a = l + 1 - L(1) inferiors of i1, and every set O of max(0, L_i2 - l - [i2 in H])
superiors of i2 other than i1,

    sum over j in H of x[i1, j] + sum over j in O of x[i2, j] >= 1                (P)

where x is the evidence on a pair. The smallest left-hand side over all sets of given
sizes is a sum of smallest entries, so one *family of constraints* per (i2, l, whether
i2 is in H) stands for exponentially many constraints, and sorting answers for them.
With S_c(v) the sum of the c smallest entries of v, removing an entry w from v gives
max(S_c(v), S_{c+1}(v) - w); that is all that the two cases "i2 in H" and "i2 not in H"
need.

The level l = L(2) is equivalent to S_{L(2) + 1 - L(1)}(evidence on the inferiors of i1)
>= 1, and at lower levels no set of superiors is empty.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from theory.arguments import arm_index, number_from
from theory.copeland_program.program_data import ProgramData, checked_gaps
from theory.errors import InvalidPreferenceError
from theory.preferences import PreferenceMatrix
from theory.validation import real_array, refuse_entries, symmetric_amounts

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64, Int


# Cases of a family: i1 does not beat i2; it does, and i2 is in H; or is not
PLAIN, WITH_PAIR, WITHOUT_PAIR = range(3)


@dataclass(frozen=True)
class Violation:
    """A constraint of the exploration program that the evidence breaks.

    Attributes
    ----------
    rival : int
        The arm i2.
    level : int
        The number of losses l that i2 would be brought to.
    inferiors : tuple of int
        The set H of inferiors of the winner, of l + 1 - L(1) arms.
    superiors : tuple of int
        The set O of superiors of i2, of max(0, L_i2 - l - [i2 in H]) arms.
    left_side : float
        Evidence on these pairs, below 1.
    """

    rival: int
    level: int
    inferiors: tuple[int, ...]
    superiors: tuple[int, ...]
    left_side: float


class ConstraintFamilies:
    """All families of one winner below the level L(2), as arrays.

    Axes (case, rival, level); levels run from ``low`` = max(0, L(1) - 1) to L(2) - 1.
    Numbers of superiors are addressed by a column: column c stands for the entries of
    ``sizes``, L_i2 - low - c of them or none.
    """

    def __init__(self, instance: ProgramData, winner: int) -> None:
        self.instance, self.winner = instance, winner
        # Arms that the winner beats, in increasing order, (h,).
        self.inferiors = np.flatnonzero(instance.gaps[winner] > 0)
        self.low = max(0, instance.least - 1)
        self.num_levels = instance.second - self.low
        # Size a of the set H per level, (levels,).
        self.num_inferiors = np.arange(self.num_levels) + self.low + 1 - instance.least
        # Size of H at the level L(2), where O is empty.
        self.top_size = instance.second + 1 - instance.least
        column = np.arange(self.num_levels + 1)
        b = instance.losses[:, None] - self.low - column[None, :]
        self.sizes = np.maximum(b, 0)

    @cached_property
    def exists(self) -> Bool[np.ndarray, "3 K levels"]:
        """Families whose sets exist, bool (3, K, levels)."""
        a, h = self.num_inferiors, self.inferiors.size
        exists = np.zeros((3, self.instance.num_arms, a.size), dtype=bool)
        exists[PLAIN] = a <= h
        exists[PLAIN, self.winner] = False
        exists[:, self.inferiors] = False
        exists[WITH_PAIR, self.inferiors] = (a >= 1) & (a <= h)
        # At l = 0 the pair (i1, i2) is needed to free i2 of all its losses.
        level = np.arange(a.size) + self.low
        exists[WITHOUT_PAIR, self.inferiors] = (a <= h - 1) & (level >= 1)
        return exists

    @cached_property
    def top_rival(self) -> int:
        """The first rival with L(2) losses; it stands for all at the level L(2)."""
        rivals = np.flatnonzero(self.instance.losses == self.instance.second)
        return int(rivals[rivals != self.winner][0])

    def order(self, evidence: Float64[np.ndarray, " h"]) -> Int[np.ndarray, " h"]:
        """Order the inferiors by the evidence against them, then by price."""
        # The most expensive pair first: its constraints cut deepest.
        price = self.instance.costs[self.winner, self.inferiors]
        return np.lexsort((-price, evidence))

    def sides(
        self,
        evidence: Float64[np.ndarray, " h"],
        order: Int[np.ndarray, " h"],
        superior_sums: Float64[np.ndarray, "K sizes"],
    ) -> Float64[np.ndarray, "3 K levels"]:
        """Compute the smallest left-hand side of every family; infinity without it."""
        # ``evidence`` is that on the pairs of the winner and its inferiors, in whose
        # ``order``. Entry (i2, c) of ``superior_sums`` is the sum of the ``sizes[i2,
        # c]`` smallest entries on the superiors of i2 without the winner.
        a, h = self.num_inferiors, self.inferiors.size
        prefix = np.concatenate(([0.0], np.cumsum(evidence[order])))
        rank = np.empty(h, dtype=np.intp)
        rank[order] = np.arange(h)
        rank, pair = rank[:, None], evidence[:, None]
        same, more = prefix[np.minimum(a, h)], prefix[np.minimum(a + 1, h)]
        less = prefix[np.clip(a - 1, 0, h)]
        sides = np.full(self.exists.shape, np.inf)
        sides[PLAIN] = same + superior_sums[:, :-1]
        sides[WITH_PAIR, self.inferiors] = (
            np.where(rank >= a - 1, pair + less, same)
            + superior_sums[self.inferiors, 1:]
        )
        sides[WITHOUT_PAIR, self.inferiors] = (
            np.where(rank >= a, same, more - pair) + superior_sums[self.inferiors, :-1]
        )
        return np.where(self.exists, sides, np.inf)

    def superior_sums(
        self, evidence: Float64[np.ndarray, "K K"]
    ) -> Float64[np.ndarray, "K sizes"]:
        """Add up the smallest entries on the superiors of every rival, for `sides`."""
        pool = self.instance.superiors_without(self.winner)
        smallest = np.sort(np.where(pool, evidence, np.inf), axis=1)
        prefix = np.pad(np.cumsum(smallest, axis=1), ((0, 0), (1, 0)))
        return np.take_along_axis(prefix, self.sizes, axis=1)

    def top_side(
        self, evidence: Float64[np.ndarray, " h"], order: Int[np.ndarray, " h"]
    ) -> float:
        """Return the smallest left-hand side at the level L(2)."""
        # Any `top_size` inferiors of the winner carry one unit of evidence.
        if self.top_size > self.inferiors.size:
            return np.inf
        return float(evidence[order[: self.top_size]].sum())

    def slack(self, evidence: Float64[np.ndarray, "K K"]) -> float:
        """Return the smallest left-hand side of (P); infinity without constraints."""
        winner_evidence = evidence[self.winner, self.inferiors]
        order = self.order(winner_evidence)
        sides = self.sides(winner_evidence, order, self.superior_sums(evidence))
        return min(
            float(sides.min(initial=np.inf)), self.top_side(winner_evidence, order)
        )

    def efficient_slack(self, evidence: Float64[np.ndarray, "K K"]) -> float:
        """Return the smallest left-hand side of the efficient program, as `slack`."""
        least = float(evidence[self.winner, self.inferiors].min(initial=np.inf))
        if self.instance.least == 0:
            return least
        # Its other constraints are those of (P) with an empty set H.
        sums = self.superior_sums(evidence)[:, 0]
        exists = self.exists[:, :, 0].any(axis=0)
        return min(least, float(sums[exists].min(initial=np.inf)))

    def chosen(
        self, case: int, rival: int, level: int, order: Int[np.ndarray, " h"]
    ) -> Int[np.ndarray, " a"]:
        """Return the set H of a family, as positions in `inferiors`."""
        size = int(self.num_inferiors[level])
        if case == PLAIN:
            return order[:size]
        position = int(np.searchsorted(self.inferiors, rival))
        others = order[order != position]
        if case == WITHOUT_PAIR:
            return others[:size]
        return np.append(others[: size - 1], position)

    def least_superiors(
        self,
        evidence: Float64[np.ndarray, "K K"],
        rival: int,
        level: int,
        inferiors: Int[np.ndarray, " a"],
    ) -> Int[np.ndarray, " b"]:
        """Return the least evidence set O for a rival, a level and a set H."""
        pool = np.flatnonzero(self.instance.superiors_without(self.winner)[rival])
        size = int(self.instance.losses[rival]) - level - int(rival in inferiors)
        return pool[np.argsort(evidence[rival, pool], kind="stable")[: max(0, size)]]


def find_violations(
    evidence: ArrayLike,
    matrix: PreferenceMatrix | ArrayLike,
    winner: int,
    *,
    tolerance: float = 1e-9,
    ties: str = "error",
) -> list[Violation]:
    """Find the most violated constraint of every family that is violated.

    Parameters
    ----------
    evidence : array-like (K, K)
        Symmetric, non-negative; diagonal and tied pairs are not read.
    matrix : PreferenceMatrix or array-like (K, K)
    winner : int
        The Copeland winner i1.
    tolerance : float
        A constraint "sum >= 1" is violated where the sum is below 1 - tolerance.
    ties : {"error", "ignore"}
        Rule for tied pairs, as for `theory.copeland_lower_bound`.

    Returns
    -------
    list of Violation
        Empty if the evidence suffices. Level L(2) is answered by one constraint, whose
        rival is the first arm with that number of losses.

    Raises
    ------
    TieError
        If a tie is not allowed.
    ValueError
        If the evidence has the wrong shape, is negative, not finite or asymmetric.

    Notes
    -----
    O(K^2 log K + m K) time for m levels.

    Examples
    --------
    >>> import numpy as np
    >>> matrix = [[0.5, 0.6, 0.8], [0.4, 0.5, 0.7], [0.2, 0.3, 0.5]]
    >>> find_violations(np.full((3, 3), 0.4), matrix, 0)[0].left_side
    0.4
    >>> find_violations(np.ones((3, 3)), matrix, 0)
    []
    """
    instance = ProgramData.from_matrix(matrix, ties)
    arm = instance.checked_winner(winner)
    below = 1.0 - number_from(tolerance, 0.0, "tolerance")
    x = symmetric_amounts(evidence, instance.num_arms, "evidence")
    families = ConstraintFamilies(instance, arm)
    arm_evidence = x[arm, families.inferiors]
    order = families.order(arm_evidence)
    sides = families.sides(arm_evidence, order, families.superior_sums(x))
    broken = [
        (rival, level + families.low, families.chosen(case, rival, level, order))
        for case, rival, level in np.argwhere(sides < below).tolist()
    ]
    if families.top_side(arm_evidence, order) < below:
        chosen = order[: families.top_size]
        broken.append((families.top_rival, instance.second, chosen))
    violations = []
    for rival, level, chosen in broken:
        inferiors = families.inferiors[chosen]
        superiors = families.least_superiors(x, rival, level, inferiors)
        violations.append(
            Violation(
                rival=rival,
                level=level,
                inferiors=tuple(sorted(inferiors.tolist())),
                superiors=tuple(sorted(superiors.tolist())),
                left_side=float(x[arm, inferiors].sum() + x[rival, superiors].sum()),
            )
        )
    return violations


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
    mask = np.ones(instance.num_arms, dtype=bool)
    if candidates is not None:
        mask = np.asarray(candidates)
    if mask.dtype != bool or mask.shape != (instance.num_arms,):
        raise InvalidPreferenceError(
            "candidates",
            f"must be an array of bool, one per arm, shape ({instance.num_arms},)",
            (mask.shape, str(mask.dtype)),
        )
    slack = np.full(instance.num_arms, math.inf)
    for arm in instance.winners:
        if mask[arm]:
            slack[arm] = ConstraintFamilies(instance, arm).slack(x)
    return slack


def candidate_slack(evidence: ArrayLike, gaps: ArrayLike, candidate: int) -> float:
    """Compute the smallest slack of the exploration program, for one arm as winner.

    Parameters
    ----------
    evidence, gaps : float (K, K)
        As for `constraint_slack`.
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
    evidence, gaps : float (K, K)
        As for `constraint_slack`.
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
    return ProgramData.from_gaps(table), x

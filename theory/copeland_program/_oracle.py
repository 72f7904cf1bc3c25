"""Separation oracle: the most violated constraint of every family.

The constraints are those of the program (P) in `theory.copeland_program._constraints`
(Komiyama, Honda and Nakagawa 2016, eq. 2). For given evidence the worst sets H and O of
a family are the smallest entries, so sorting answers for exponentially many
constraints.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.arguments import arm_index, number_from
from theory.copeland_program.program_data import ProgramData
from theory.preferences import PreferenceMatrix
from theory.validation import symmetric_amounts

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64, Int, Int64


PLAIN, WITH_PAIR, WITHOUT_PAIR = range(3)
"""Cases of a family: i1 does not beat i2; it does, and i2 is in H; or is not."""


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


@dataclass(frozen=True, eq=False)
class ConstraintFamilies:
    """All families of one winner below the level L(2), as arrays.

    Notes
    -----
    Axes (case, rival, level); levels run from max(0, L(1) - 1) to L(2) - 1. Numbers of
    superiors are addressed by a column: column c stands for L_i2 - low - c of them,
    `low` being the first level.
    """

    instance: ProgramData  # The matrix.
    winner: int  # The arm i1.

    @cached_property
    def inferiors(self) -> Int[np.ndarray, " h"]:
        """Arms that the winner beats, in increasing order, (h,)."""
        return np.flatnonzero(self.instance.gaps[self.winner] > 0)

    @property
    def low(self) -> int:
        """First level."""
        return max(0, self.instance.least - 1)

    @property
    def num_levels(self) -> int:
        """Number of levels below L(2)."""
        return self.instance.second - self.low

    @cached_property
    def num_inferiors(self) -> Int64[np.ndarray, " levels"]:
        """Size a of the set H per level, (levels,)."""
        return np.arange(self.num_levels) + self.low + 1 - self.instance.least

    @property
    def top_size(self) -> int:
        """Size of H at the level L(2), where O is empty."""
        return self.instance.second + 1 - self.instance.least

    @cached_property
    def exists(self) -> Bool[np.ndarray, "3 K levels"]:
        """ConstraintFamilies whose sets exist, bool (3, K, levels)."""
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

    def order(self, own: Float64[np.ndarray, " h"]) -> Int[np.ndarray, " h"]:
        """Order the inferiors by the evidence against them; positions in `inferiors`.

        Among equal evidence the most expensive pair comes first: it is the one on which
        an optimum has least, so the constraints that it gives cut deepest.
        """
        price = self.instance.costs[self.winner, self.inferiors]
        return np.lexsort((-price, own))

    def sides(
        self,
        own: Float64[np.ndarray, " h"],
        order: Int[np.ndarray, " h"],
        superior_sums: Float64[np.ndarray, "K sizes"],
    ) -> Float64[np.ndarray, "3 K levels"]:
        """Compute the smallest left-hand side of every family; infinity without it.

        ``own`` is the evidence on the pairs of the winner and its inferiors, in whose
        ``order``. Entry (i2, c) of ``superior_sums`` is the sum of the L_i2 - low - c
        smallest entries on the superiors of i2 without the winner.
        """
        a, h = self.num_inferiors, self.inferiors.size
        prefix = np.concatenate(([0.0], np.cumsum(own[order])))
        rank = np.empty(h, dtype=np.intp)
        rank[order] = np.arange(h)
        rank, pair = rank[:, None], own[:, None]
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
        gaps, losses = self.instance.gaps, self.instance.losses
        pool = gaps < 0
        pool[:, self.winner] = False
        smallest = np.sort(np.where(pool, evidence, np.inf), axis=1)
        prefix = np.concatenate(
            (np.zeros((losses.size, 1)), np.cumsum(smallest, axis=1)), axis=1
        )
        column = np.arange(self.num_levels + 1)
        size = np.maximum(losses[:, None] - self.low - column[None, :], 0)
        return np.take_along_axis(prefix, size, axis=1)

    def top_side(
        self, own: Float64[np.ndarray, " h"], order: Int[np.ndarray, " h"]
    ) -> float:
        """Return the smallest left-hand side at the level L(2).

        All families of that level together say that any `top_size` inferiors of the
        winner carry one unit of evidence; infinity if there are fewer.
        """
        if self.top_size > self.inferiors.size:
            return np.inf
        return float(own[order[: self.top_size]].sum())

    def slack(self, evidence: Float64[np.ndarray, "K K"]) -> float:
        """Return the smallest left-hand side of (P); infinity without constraints."""
        own = evidence[self.winner, self.inferiors]
        order = self.order(own)
        sides = self.sides(own, order, self.superior_sums(evidence))
        return min(float(sides.min(initial=np.inf)), self.top_side(own, order))

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
        Rule for tied pairs, see `theory.copeland_program.program_data.check_ties`.

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
    arm = arm_index(winner, instance.num_arms, "winner")
    instance.candidates(arm)
    below = 1.0 - number_from(tolerance, 0.0, "tolerance")
    x = symmetric_amounts(evidence, instance.num_arms, "evidence")
    families = ConstraintFamilies(instance, arm)
    own = x[arm, families.inferiors]
    order = families.order(own)
    sides = families.sides(own, order, families.superior_sums(x))
    found = []
    for case, rival, level in np.argwhere(sides < below).tolist():
        chosen = families.inferiors[families.chosen(case, rival, level, order)]
        found.append(_violation(instance, x, arm, rival, level + families.low, chosen))
    if families.top_side(own, order) < below:
        chosen = families.inferiors[order[: families.top_size]]
        others = np.flatnonzero(instance.losses == instance.second)
        rival = int(others[others != arm][0])
        found.append(_violation(instance, x, arm, rival, instance.second, chosen))
    return found


def least_superiors(
    instance: ProgramData,
    x: Float64[np.ndarray, "K K"],
    winner: int,
    rival: int,
    level: int,
    inferiors: Int[np.ndarray, " a"],
) -> Int[np.ndarray, " b"]:
    """Return the set O with the least evidence, for a rival, a level and a set H."""
    pool = np.flatnonzero(instance.gaps[rival] < 0)
    pool = pool[pool != winner]
    size = max(0, int(instance.losses[rival]) - level - int(rival in inferiors))
    return pool[np.argsort(x[rival, pool], kind="stable")[:size]]


def _violation(
    instance: ProgramData,
    x: NDArray[np.float64],
    winner: int,
    rival: int,
    level: int,
    inferiors: NDArray[np.intp],
) -> Violation:
    superiors = least_superiors(instance, x, winner, rival, level, inferiors)
    left = x[winner, inferiors].sum() + x[rival, superiors].sum()
    return Violation(
        rival=rival,
        level=level,
        inferiors=tuple(sorted(inferiors.tolist())),
        superiors=tuple(sorted(superiors.tolist())),
        left_side=float(left),
    )

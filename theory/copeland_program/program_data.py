"""What the exploration programs of one matrix have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.arguments import arm_index, one_of
from theory.copeland_program._superiors import RankedSuperiors, superiors_of_gaps
from theory.errors import InvalidPreferenceError, TieError
from theory.preferences import PreferenceMatrix, as_preference_matrix
from theory.validation import (
    SYMMETRY_TOLERANCE,
    check_square,
    real_array,
    refuse_entries,
)

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64


PROGRAMS: tuple[str, ...] = ("cw", "ecw")
"""The optimal and the efficient exploration program."""

TIE_RULES: tuple[str, ...] = ("error", "ignore")
"""What to do about tied pairs."""


@dataclass(frozen=True, eq=False)
class ProgramData:
    """A preference matrix as the exploration programs see it."""

    # (K, K): Antisymmetric, P(i beats j) - 1/2; exactly 0 where two arms tie.
    gaps: NDArray[np.float64]
    # Costs of evidence, and the superiors of every arm in the order of their cost.
    superiors: RankedSuperiors
    losses: NDArray[np.int64]  # (K,): Number of superiors of every arm.
    # Smallest and second smallest number of losses, L(1) and L(2).
    least: int
    second: int
    winners: tuple[int, ...]  # Arms with the fewest losses.

    @property
    def num_arms(self) -> int:
        """Number of arms K."""
        return self.gaps.shape[0]

    @property
    def costs(self) -> Float64[np.ndarray, "K K"]:
        """Price of one unit of evidence on every pair, float64 (K, K)."""
        return self.superiors.costs

    @classmethod
    def from_matrix(
        cls, matrix: PreferenceMatrix | ArrayLike, ties: str
    ) -> ProgramData:
        """Prepare the programs of a matrix; ``ties`` as in `check_ties`."""
        checked = as_preference_matrix(matrix)
        check_ties(checked, ties)
        return cls.from_superiors(checked.gaps, superiors_of_gaps(checked.gaps))

    @classmethod
    def from_superiors(
        cls, gaps: Float64[np.ndarray, "K K"], superiors: RankedSuperiors
    ) -> ProgramData:
        """Prepare the programs of gaps, estimated ones for instance, as they are.

        Ties may stand anywhere.
        """
        losses = np.count_nonzero(gaps < 0, axis=1)
        least, second = np.partition(losses, 1)[:2].tolist()
        winners = tuple(np.flatnonzero(losses == least).tolist())
        return cls(gaps, superiors, losses, least, second, winners)

    def candidates(self, winner: int | None) -> tuple[int, ...]:
        """Return the winners that a program must be solved for: one, or all.

        `InvalidPreferenceError` if the arm asked for is none.
        """
        if winner is None:
            return self.winners
        arm = arm_index(winner, self.num_arms, "winner")
        if arm not in self.winners:
            raise InvalidPreferenceError(
                "winner",
                f"must be a Copeland winner, one of {list(self.winners)} with "
                f"{self.least} losses (it has {self.losses[arm]})",
                arm,
            )
        return (arm,)


def check_ties(matrix: PreferenceMatrix, ties: str) -> None:
    """Raise if a tied pair stands where the theory assumes none; it is named.

    ``ties="error"`` allows no tie. "ignore" allows ties between arms that are no
    winners: such a pair belongs to no side of a constraint, and the optimum is that of
    the honest problem in which the pair may fall either way. A tie that touches a
    winner can be turned against it for free, so the constants are no bounds there.
    """
    one_of(ties, TIE_RULES, "ties")
    tied = matrix.ties
    if not tied:
        return
    i, j = tied[0]
    if ties == "error":
        raise TieError(
            "matrix",
            f"must not be 1/2: the theory assumes that no two arms tie, but arms {i} "
            f"and {j} do ({len(tied)} tied pairs in all)",
            matrix.values[i, j],
            index=(i, j),
            remedy="leave one of them out or, if the function has that option and no "
            "tie touches a winner, pass ties='ignore'",
        )
    winners = set(matrix.loss_winners)
    for i, j in tied:
        if i in winners or j in winners:
            raise TieError(
                "matrix",
                f"must not be 1/2: arms {i} and {j} tie, and one of them is a "
                "Copeland winner, whose advantage can vanish at no cost, so there "
                "is no lower bound of this kind",
                matrix.values[i, j],
                index=(i, j),
                remedy="leave one of the arms out; no tie rule helps",
            )


def checked_gaps(gaps: ArrayLike) -> Float64[np.ndarray, "K K"]:
    """Return gaps that were given as an array; raise where they are none."""
    array = real_array(gaps, "gaps").astype(np.float64)
    check_square(array, "gaps")
    off = np.abs(array + array.T)
    bad = ~((off <= SYMMETRY_TOLERANCE) & (np.abs(array) <= 0.5))
    if bad.any():
        i, j = np.argwhere(bad)[0].tolist()
        rule = "must be antisymmetric and within 1/2 of 0; entry "
        rule += f"({j}, {i}) is {float(array[j, i])}"
        remedy = "subtract 1/2 from a preference matrix"
        refuse_entries(bad, array, "gaps", rule, remedy=remedy)
    return array


def matrix_without_ties(matrix: PreferenceMatrix | ArrayLike) -> PreferenceMatrix:
    """Check a preference matrix for a theorem that assumes no ties."""
    checked = as_preference_matrix(matrix)
    check_ties(checked, "error")
    return checked


def open_pairs(gaps: Float64[np.ndarray, "K K"]) -> Bool[np.ndarray, "K K"]:
    """Say which pairs of arms may fall either way for nothing: those with gap 0."""
    return (gaps == 0) & ~np.eye(len(gaps), dtype=bool)


def safe_arms(gaps: Float64[np.ndarray, "K K"]) -> Bool[np.ndarray, " K"]:
    """Say which arms are Copeland winners however the open pairs fall."""
    losses = np.count_nonzero(gaps < 0, axis=1)
    least, second = np.partition(losses, 1)[:2]
    others = np.where(losses == least, second, least)
    return losses + open_pairs(gaps).sum(axis=1) <= others


def open_pairs_lost(
    gaps: Float64[np.ndarray, "K K"], arm: int
) -> Float64[np.ndarray, "K K"]:
    """Let an arm lose its open pairs; of the others rivals win all of theirs as ties.

    For a safe arm the constraints (P) of these signs rule out exactly the ways in which
    it could fail to win.
    """
    own = gaps.copy()
    lost = np.flatnonzero(open_pairs(gaps)[arm])
    # Only their signs are read.
    own[arm, lost], own[lost, arm] = -0.5, 0.5
    return own

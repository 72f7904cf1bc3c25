"""A preference matrix as the exploration programs see it: losses, costs, ties.

Notation of Komiyama, Honda and Nakagawa (2016): L_i is the number of arms that beat i,
L(1) <= L(2) are the two smallest elements of the multiset {L_i}, arms with L_i = L(1)
are the Copeland winners, r_ij = (L_i + L_j - 2 L(1)) / (2 (K - 1)) is the regret of one
duel, d_ij the divergence between P(i beats j) and 1/2, and c_ij = r_ij / d_ij the price
of one unit of evidence. "Evidence" on a pair is N_ij d_ij / log T.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.arguments import arm_index, one_of
from theory.divergences import kl_to_half
from theory.errors import InvalidPreferenceError, TieError
from theory.preferences import PreferenceMatrix, as_preference_matrix
from theory.validation import (
    SYMMETRY_TOLERANCE,
    check_square,
    real_array,
    refuse_entries,
)

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Float64, Int32, Int64


# The optimal and the efficient exploration program
PROGRAMS: tuple[str, ...] = ("cw", "ecw")
TIE_RULES: tuple[str, ...] = ("error", "ignore")  # Treatments of tied pairs


def losses(gaps: Float[np.ndarray, "R K"]) -> Int32[np.ndarray, " R"]:
    """Count the superiors L_i of every arm, or of the arms whose rows are given."""
    return np.sum(gaps < 0, axis=-1, dtype=np.int32)


def evidence_costs(gaps: Float64[np.ndarray, "K K"]) -> Float64[np.ndarray, "K K"]:
    """Compute the price c_ij of one unit of evidence."""
    # Copeland regret (from losses) per unit of N_ij d_ij; 0 for tied pairs.
    counts = losses(gaps)
    excess = (counts - counts.min()).astype(np.float64)
    regret = (excess[:, None] + excess[None, :]) / (2 * (gaps.shape[0] - 1))
    return costs_at_prices(regret, gaps)


def costs_at_prices(
    prices: Float64[np.ndarray, "R K"], gaps: Float64[np.ndarray, "R K"]
) -> Float64[np.ndarray, "R K"]:
    """Divide the price of a duel by the evidence d of one; 0 for tied pairs."""
    decided = gaps != 0
    return np.where(decided, prices / np.where(decided, kl_to_half(gaps), 1.0), 0.0)


@dataclass(frozen=True, eq=False)
class ProgramData:
    """The data of the exploration programs; ties may stand anywhere."""

    # (K, K): Antisymmetric, P(i beats j) - 1/2; exactly 0 where two arms tie.
    gaps: NDArray[np.float64]
    costs: NDArray[np.float64]  # (K, K): Price of one unit of evidence, symmetric.

    @classmethod
    def from_matrix(cls, matrix: PreferenceMatrix | ArrayLike, ties: str) -> Self:
        """Prepare the programs of a matrix; ``ties`` as in `check_ties`."""
        checked = as_preference_matrix(matrix)
        check_ties(checked, ties)
        return cls.from_gaps(checked.gaps)

    @classmethod
    def from_gaps(cls, gaps: Float64[np.ndarray, "K K"]) -> Self:
        """Prepare the programs of gaps with the regret of a duel as its price."""
        return cls(gaps, evidence_costs(gaps))

    @property
    def num_arms(self) -> int:
        """Number of arms K."""
        return self.gaps.shape[0]

    @cached_property
    def losses(self) -> Int64[np.ndarray, " K"]:
        """Number of superiors of every arm, (K,)."""
        return np.count_nonzero(self.gaps < 0, axis=1)

    @cached_property
    def least(self) -> int:
        """Smallest number of losses, L(1)."""
        return int(self.losses.min())

    @cached_property
    def second(self) -> int:
        """Second smallest number of losses, L(2)."""
        return int(np.partition(self.losses, 1)[1])

    @cached_property
    def winners(self) -> tuple[int, ...]:
        """Arms with the fewest losses."""
        return tuple(np.flatnonzero(self.losses == self.least).tolist())

    def superiors_without(self, winner: int) -> Bool[np.ndarray, "K K"]:
        """Say who beats whom, leaving out the winner: entry (i, j) if j beats i."""
        members = self.gaps < 0
        members[:, winner] = False
        return members

    def costs_of_cheapest(self, winner: int) -> Float64[np.ndarray, "K K"]:
        """Add up the costs of all superiors but the winner and the s dearest."""
        # Entry (i, s); infinity where no superior would be left.
        members = self.superiors_without(winner)
        costs = np.sort(np.where(members, self.costs, np.inf), axis=1)
        left = members.sum(axis=1)[:, None] - np.arange(self.num_arms)[None, :]
        sums = np.take_along_axis(np.cumsum(costs, axis=1), np.maximum(left, 1) - 1, 1)
        return np.where(left > 0, sums, np.inf)

    def checked_winner(self, winner: int) -> int:
        """Return a Copeland winner; `InvalidPreferenceError` if the arm is none."""
        arm = arm_index(winner, self.num_arms, "winner")
        if arm not in self.winners:
            raise InvalidPreferenceError(
                "winner",
                f"must be a Copeland winner, one of {list(self.winners)} with "
                f"{self.least} losses (it has {self.losses[arm]})",
                arm,
            )
        return arm


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


def matrix_without_ties(matrix: PreferenceMatrix | ArrayLike) -> PreferenceMatrix:
    """Check a preference matrix for a theorem that assumes no ties."""
    checked = as_preference_matrix(matrix)
    check_ties(checked, "error")
    return checked


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

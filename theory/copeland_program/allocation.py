"""The allocation of an exploration program as a table, one record per pair."""

from __future__ import annotations

from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.arguments import instance_of, true_or_false
from theory.copeland_program.optimum import Optimum
from theory.divergences import kl_to_half
from theory.errors import InvalidPreferenceError
from theory.preferences import PreferenceMatrix, as_preference_matrix

# Largest relative difference between the value of an optimum and the cost of its
# allocation on the matrix.
_SAME_VALUE = 1e-6


class AllocationRecord(TypedDict):
    """What an optimal policy does with one pair of arms; plain Python values.

    Attributes
    ----------
    first, second : int
        The two arms, first < second.
    first_name, second_name : str
        Their names; their numbers if the matrix has no names.
    relation : str
        "won" if the pair consists of the winner and an arm that it beats, "lost" if the
        other arm beats the winner, "others" for two other arms.
    superior : int or None
        The arm that wins more than half of the duels; None if the two tie.
    preference : float
        P(first beats second).
    gap : float
        P(first beats second) - 1/2; exactly 0 for a tie.
    divergence : float
        Evidence of one duel, d = KL(P(first beats second), 1/2).
    regret_per_duel : float
        Copeland regret r of one duel, from losses.
    cost : float
        Regret of one unit of evidence, r / d; 0 for a tie, which carries none.
    evidence : float
        Evidence x that the program asks for, from 0 to 1.
    duels_per_log_round : float
        x / d duels per unit of log T.
    regret_per_log_round : float
        Their regret; it adds up to the value of the optimum over all records.
    share : float
        Part of the value, from 0 to 1; 0 where the value is 0.
    """

    first: int
    second: int
    first_name: str
    second_name: str
    relation: str
    superior: int | None
    preference: float
    gap: float
    divergence: float
    regret_per_duel: float
    cost: float
    evidence: float
    duels_per_log_round: float
    regret_per_log_round: float
    share: float


def allocation_table(
    optimum: Optimum, matrix: PreferenceMatrix | ArrayLike, *, used_only: bool = False
) -> list[AllocationRecord]:
    """List what an optimal allocation does with every pair of arms.

    Parameters
    ----------
    optimum : Optimum
        From `theory.copeland_lower_bound` or `theory.ecw_rmed_constant`.
    matrix : PreferenceMatrix or array-like (K, K)
        The matrix that it was computed for.
    used_only : bool
        Leave out the pairs without evidence.

    Returns
    -------
    list of AllocationRecord
        Unordered pairs in reading order, (0, 1), (0, 2), ...; dictionaries of numbers
        and strings, ready for JSON, CSV, or a data frame. The optimal allocation need
        not be the only one.

    Raises
    ------
    InvalidPreferenceError
        If it is not that of the optimum: another number of arms, or the allocation
        costs something else on it.

    Examples
    --------
    >>> from theory import copeland_lower_bound
    >>> matrix = [[0.5, 0.6, 0.8], [0.4, 0.5, 0.7], [0.2, 0.3, 0.5]]
    >>> table = allocation_table(copeland_lower_bound(matrix), matrix)
    >>> [(row["first"], row["second"], row["evidence"]) for row in table]
    [(0, 1, 1.0), (0, 2, 1.0), (1, 2, 0.0)]
    >>> round(sum(row["regret_per_log_round"] for row in table), 4)
    15.01
    """
    instance_of(optimum, Optimum, "optimum")
    true_or_false(used_only, "used_only")
    checked = as_preference_matrix(matrix)
    gaps = checked.gaps
    decided = gaps != 0
    divergence = np.where(decided, kl_to_half(gaps), 0.0)
    regret = checked.regret_per_pair("copeland_losses")
    spent = _regret_of_pairs(optimum, regret)
    value = max(optimum.value, 0.0)
    names = checked.arm_names or tuple(map(str, range(checked.num_arms)))
    table: list[AllocationRecord] = []
    for i, j in np.argwhere(np.triu(np.ones_like(decided), k=1)).tolist():
        if used_only and optimum.evidence[i, j] == 0:
            continue
        superior = (i if gaps[i, j] > 0 else j) if decided[i, j] else None
        d = float(divergence[i, j])
        table.append(
            AllocationRecord(
                first=i,
                second=j,
                first_name=names[i],
                second_name=names[j],
                relation=_relation(i, j, optimum.winner, superior),
                superior=superior,
                preference=float(checked.values[i, j]),
                gap=float(gaps[i, j]),
                divergence=d,
                regret_per_duel=float(regret[i, j]),
                cost=float(regret[i, j]) / d if d else 0.0,
                evidence=float(optimum.evidence[i, j]),
                duels_per_log_round=float(optimum.duels_per_log_round[i, j]),
                regret_per_log_round=float(spent[i, j]),
                share=float(spent[i, j]) / value if value else 0.0,
            )
        )
    return table


def _relation(first: int, second: int, winner: int, superior: int | None) -> str:
    if winner not in (first, second) or superior is None:
        return "others"
    return "won" if superior == winner else "lost"


def _regret_of_pairs(
    optimum: Optimum, regret: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Regret per unit of log T of every pair, after a check that it adds up."""
    num_arms = optimum.evidence.shape[0]
    if regret.shape[0] != num_arms:
        raise InvalidPreferenceError(
            "matrix",
            f"must be the one of the optimum, with {num_arms} arms",
            regret.shape[0],
        )
    spent = regret * optimum.duels_per_log_round
    total = float(np.triu(spent, k=1).sum())
    if abs(total - optimum.value) > _SAME_VALUE * max(total, optimum.value):
        raise InvalidPreferenceError(
            "matrix",
            "must be the one of the optimum, on which its allocation costs "
            f"{optimum.value:.10g}",
            total,
            remedy="compute the optimum of this matrix",
        )
    return spent

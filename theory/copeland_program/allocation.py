"""The allocation of a program, pair by pair: its table, derivatives, bottlenecks.

In units of evidence the constraints of the exploration programs depend on who beats
whom only, and the gaps enter through the prices c_ij = r_ij / d_ij alone. By the
envelope theorem the optimum moves with |g_ij| = |P(i beats j) - 1/2| at the rate

    x_ij dc_ij/d|g_ij| = - x_ij r_ij 2 atanh(2 |g_ij|) / d_ij^2,

where x is the optimal evidence. (Stated in numbers of duels the gap stands in the
constraints, and the same number comes from the dual solution: where x_ij > 0 the
multipliers of all constraints with the pair add up to c_ij.)

*Kinks.* The optimum is a minimum of linear functions of the prices, concave, and has a
kink where several allocations, or several winners, are optimal. There the derivative
that any of these allocations gives lies between those to the left and to the right.

*Ties.* At gap 0 a pair changes sides: regrets, winners and constraints jump, and there
is no derivative. At |g| = 1/2 the divergence has a vertical tangent, and the derivative
is minus infinity for a pair that carries regret.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.arguments import (
    instance_of,
    integer_from,
    one_of,
    true_or_false,
)
from theory.copeland_program.constants import (
    Solved,
    cheapest_winners,
    copeland_lower_bound,
    ecw_rmed_constant,
    solve_efficient,
    solve_with_prefixes,
)
from theory.copeland_program.optimum import Optimum
from theory.copeland_program.prices import checked_prices, priced_programs
from theory.copeland_program.program_data import (
    PROGRAMS,
    ProgramData,
    matrix_without_ties,
)
from theory.divergences import kl_to_half
from theory.errors import InvalidPreferenceError
from theory.preferences import PreferenceMatrix, as_preference_matrix

# The optimal and the efficient exploration program, and that of naming a winner
SOLVERS = {
    "cw": solve_with_prefixes,
    "ecw": solve_efficient,
    "identify": solve_with_prefixes,
}


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Derivatives of a constant with respect to the gap of every pair.

    Attributes
    ----------
    program : str
        "cw", "ecw" or "identify".
    value : float
        The constant: Copeland regret (from losses) per unit of log T, or the cost per
        unit of log(1/delta).
    winner : int
        The winner that is cheapest to certify.
    evidence : float64 (K, K)
        The optimal allocation that the derivatives belong to.
    derivative : float64 (K, K)
        Symmetric: change of the value per unit of abs(P(i beats j) - 1/2), never
        positive; where the optimum is not unique, an element between the one-sided
        derivatives.
    elasticity : float64 (K, K)
        Relative change of the value per relative change of the gap; about -2 times the
        share of the pair for gaps up to 1/4, and more beyond. 0 if the value is 0.
    share : float64 (K, K)
        Part of the value that the pair costs, in [0, 1].
    """

    program: str
    value: float
    winner: int
    evidence: NDArray[np.float64]
    derivative: NDArray[np.float64]
    elasticity: NDArray[np.float64]
    share: NDArray[np.float64]


def sensitivity(
    matrix: PreferenceMatrix | ArrayLike,
    *,
    program: str = "cw",
    prices: ArrayLike | None = None,
) -> Sensitivity:
    """Compute the derivative of a constant with respect to the gap of every pair.

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K)
    program : {"cw", "ecw", "identify"}
        The constant of `theory.copeland_lower_bound`, of `theory.ecw_rmed_constant`, or
        of `theory.identification_bound`.
    prices : array-like (K, K), optional
        For "identify": the prices of the duels.

    Returns
    -------
    Sensitivity
        Derivatives, elasticities and shares, of one of the optimal allocations if there
        are several.

    Raises
    ------
    TieError
        If two arms tie: the constants jump there.
    ProgramError
        If a solver fails, or its result cannot be certified.

    Examples
    --------
    >>> matrix = [[0.5, 0.6, 0.8], [0.4, 0.5, 0.7], [0.2, 0.3, 0.5]]
    >>> result = sensitivity(matrix)
    >>> result.share.round(3)[0]
    array([0.   , 0.827, 0.173])
    >>> result.elasticity.round(3)[0]
    array([ 0.   , -1.666, -0.373])
    """
    instance, winner, chosen, unit = _best_program(matrix, program, prices)
    value, evidence = chosen.certificate.primal_value, chosen.evidence
    derivative = _times(evidence, _price_slopes(instance))
    spent = instance.costs * evidence
    relative = _times(np.abs(instance.gaps), derivative)
    return Sensitivity(
        program=program,
        value=unit * value,
        winner=winner,
        evidence=evidence,
        derivative=unit * derivative,
        elasticity=relative / value if value else 0 * spent,
        share=spent / value if value else 0 * spent,
    )


def _best_program(
    matrix: PreferenceMatrix | ArrayLike, program: str, prices: ArrayLike | None
) -> tuple[ProgramData, int, Solved, float]:
    """Return the program of the cheapest winner, and the unit of costs."""
    one_of(program, SOLVERS, "program")
    checked = matrix_without_ties(matrix)
    if program == "identify":
        price = checked_prices(checked.prices if prices is None else prices, checked)
        problems, unit = priced_programs(checked, price)
    elif prices is not None:
        raise InvalidPreferenceError(
            "prices",
            "must be None unless the program is 'identify'",
            program,
            remedy="the others have the regret of a duel as its price",
        )
    else:
        instance, unit = ProgramData.from_gaps(checked.gaps), 1.0
        problems = dict.fromkeys(instance.winners, instance)
    solved = {arm: SOLVERS[program](part, arm) for arm, part in problems.items()}
    values = {arm: part.certificate.primal_value for arm, part in solved.items()}
    winner = cheapest_winners(values)[0]
    return problems[winner], winner, solved[winner], unit


def _price_slopes(instance: ProgramData) -> NDArray[np.float64]:
    """Return dc/d|g| of every pair; 0 where a duel has no regret."""
    sizes = np.abs(instance.gaps)
    priced = instance.costs > 0
    divergence = np.where(priced, kl_to_half(sizes), 1.0)
    with np.errstate(divide="ignore"):
        rise = 2 * np.arctanh(2 * np.where(priced, sizes, 0.0))
    return np.where(priced, -instance.costs * rise / divergence, 0.0)


def _times(
    amounts: NDArray[np.float64], slopes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Multiply; nothing times minus infinity is nothing."""
    used = amounts > 0
    return np.where(used, amounts, 0.0) * np.where(used, slopes, 0.0)


# Largest relative difference between the value of an optimum and the cost of its
# allocation on the matrix.
_SAME_VALUE = 1e-6


class AllocationRecord(TypedDict):
    """An optimal allocation on one pair of arms, in plain Python values.

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
    gaps, num_arms = checked.gaps, optimum.evidence.shape[0]
    if checked.num_arms != num_arms:
        rule = f"must be the one of the optimum, with {num_arms} arms"
        raise InvalidPreferenceError("matrix", rule, checked.num_arms)
    divergence = np.where(gaps != 0, kl_to_half(gaps), 0.0)
    regret = checked.regret_per_pair("copeland_losses")
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
    value = max(optimum.value, 0.0)
    names = _names_of(checked)
    table: list[AllocationRecord] = []
    for i, j in combinations(range(num_arms), 2):
        if used_only and optimum.evidence[i, j] == 0:
            continue
        superior = (i if gaps[i, j] > 0 else j) if gaps[i, j] else None
        relation = "won" if superior == optimum.winner else "lost"
        if optimum.winner not in (i, j) or superior is None:
            relation = "others"
        d = float(divergence[i, j])
        table.append(
            AllocationRecord(
                first=i,
                second=j,
                first_name=names[i],
                second_name=names[j],
                relation=relation,
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


def _names_of(matrix: PreferenceMatrix) -> tuple[str, ...]:
    return matrix.arm_names or tuple(map(str, range(matrix.num_arms)))


# Ways to order pairs, the largest amount first
ORDERS: tuple[str, ...] = ("share", "elasticity")


class BottleneckRecord(AllocationRecord):
    """A record of the allocation with the reaction of the constant to its gap.

    Attributes
    ----------
    derivative : float
        Change of the constant per unit of abs(gap); never positive.
    elasticity : float
        Relative change of the constant per relative change of the gap; never positive.
        Minus infinity for a pair with regret and a certain outcome.
    cumulative_share : float
        Share of this pair and of those before it.
    """

    derivative: float
    elasticity: float
    cumulative_share: float


@dataclass(frozen=True, eq=False)
class Bottlenecks:
    """Pairs in the order of what they contribute to a constant.

    Attributes
    ----------
    program : str
        "cw" or "ecw".
    value : float
        The constant.
    winner : int
        The winner that is cheapest to certify.
    records : tuple of BottleneckRecord
        Pairs with evidence and regret; ready for JSON, CSV, or a data frame.
    names : tuple of str
        Names of the arms; their numbers if the matrix has none.
    """

    program: str
    value: float
    winner: int
    records: tuple[BottleneckRecord, ...]
    names: tuple[str, ...]

    def report(self, limit: int = 10) -> str:
        """Write the first ``limit`` pairs as a table, "a > b" if a wins more often."""
        most = integer_from(limit, 0, "limit")
        symbol, title = {
            "cw": ("C*", "Copeland lower bound"),
            "ecw": ("C_E", "constant of ECW-RMED"),
        }[self.program]
        lines = [
            f"{title}: {symbol} = {self.value:.6g}, Copeland regret per unit of log T; "
            f"winner {self.names[self.winner]}"
        ]
        shown = self.records[:most]
        labels = [
            f"{row['first_name']} > {row['second_name']}"
            if row["gap"] > 0
            else f"{row['second_name']} > {row['first_name']}"
            for row in shown
        ]
        width = max(map(len, ("pair", *labels)))
        lines.append(
            f"{'pair':<{width}}  {'P':>6}  {'share':>6}  {'so far':>6}  "
            f"{'duels':>9}  {'elasticity':>10}"
        )
        for label, record in zip(labels, shown, strict=True):
            ahead = 0.5 + abs(record["gap"])
            lines.append(
                f"{label:<{width}}  {ahead:>6.3f}  {record['share']:>6.1%}  "
                f"{record['cumulative_share']:>6.1%}  "
                f"{record['duels_per_log_round']:>9.4g}  {record['elasticity']:>10.3f}"
            )
        if len(self.records) > most:
            rest = sum(record["share"] for record in self.records[most:])
            lines.append(f"and {len(self.records) - most} more pairs with {rest:.1%}")
        return "\n".join(lines)


def bottlenecks(
    matrix: PreferenceMatrix | ArrayLike, *, program: str = "cw", order: str = "share"
) -> Bottlenecks:
    """Order the pairs of arms by what they contribute to a constant.

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K), no ties
    program : {"cw", "ecw"}
        The constant of `theory.copeland_lower_bound`, or of `theory.ecw_rmed_constant`.
    order : {"share", "elasticity"}
        By the part of the constant that a pair costs, or by how strongly the constant
        reacts to its gap. The orders differ where gaps are large. Equal amounts in
        reading order.

    Returns
    -------
    Bottlenecks
        Records, and a report. If several allocations are optimal, they are about one of
        them.

    Raises
    ------
    ProgramError
        If a solver fails, or its result cannot be certified.

    Examples
    --------
    >>> matrix = PreferenceMatrix(
    ...     [[0.5, 0.6, 0.8], [0.4, 0.5, 0.7], [0.2, 0.3, 0.5]],
    ...     arm_names=["tea", "coffee", "water"],
    ... )
    >>> print(bottlenecks(matrix).report())
    Copeland lower bound: C* = 15.01, Copeland regret per unit of log T; winner tea
    pair               P   share  so far      duels  elasticity
    tea > coffee   0.600   82.7%   82.7%      49.66      -1.666
    tea > water    0.800   17.3%  100.0%      5.188      -0.373
    """
    one_of(program, PROGRAMS, "program")
    one_of(order, ORDERS, "order")
    checked = as_preference_matrix(matrix)
    duals = sensitivity(checked, program=program)
    solve = copeland_lower_bound if program == "cw" else ecw_rmed_constant
    table = [
        row
        for row in allocation_table(solve(checked), checked, used_only=True)
        if row["regret_per_log_round"] > 0
    ]
    amounts = duals.share if order == "share" else -duals.elasticity
    table.sort(key=lambda row: -amounts[row["first"], row["second"]])
    records: list[BottleneckRecord] = []
    cumulative = 0.0
    for row in table:
        pair = row["first"], row["second"]
        cumulative += row["share"]
        records.append(
            BottleneckRecord(
                **row,
                derivative=float(duals.derivative[pair]),
                elasticity=float(duals.elasticity[pair]),
                cumulative_share=min(cumulative, 1.0),
            )
        )
    return Bottlenecks(
        program=program,
        value=duals.value,
        winner=duals.winner,
        records=tuple(records),
        names=_names_of(checked),
    )

"""How the constants react to the gap of every pair, and which pairs make them large.

In units of evidence the constraints of the exploration programs depend on who beats
whom only, and the gaps enter through the prices c_ij = r_ij / d_ij alone. By the
envelope theorem the optimum moves with |g_ij| = |P(i beats j) - 1/2| at the rate

    x_ij dc_ij/d|g_ij| = - x_ij r_ij 2 atanh(2 |g_ij|) / d_ij^2,

where x is the optimal evidence. (Stated in numbers of duels the gap stands in the
constraints, and the same number comes from the dual solution: where x_ij > 0 the
multipliers of all constraints with the pair add up to c_ij.)

*Kinks.* The optimum is a minimum of linear functions of the prices, concave, and has a
kink where several allocations, or several winners, are optimal. Each of them gives a
supergradient in the prices. When the gap of a pair grows, its price falls, and the
allocations with the most evidence on it count; when it shrinks, those with the least.

*Ties.* At gap 0 a pair changes sides: regrets, winners and constraints jump, and there
is no derivative. At |g| = 1/2 the divergence has a vertical tangent, and the derivative
is minus infinity for a pair that carries regret.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.arguments import arm_index, items_of, one_of
from theory.copeland_program.constants import (
    Solved,
    cheapest_winners,
    solve_efficient,
    solve_with_prefixes,
)
from theory.copeland_program.prices import checked_prices, priced_programs
from theory.copeland_program.program_data import ProgramData, matrix_without_ties
from theory.divergences import kl_to_half
from theory.errors import ArgumentError, InvalidPreferenceError
from theory.preferences import PreferenceMatrix

if TYPE_CHECKING:
    from jaxtyping import Float64


PROGRAMS = {
    "cw": solve_with_prefixes,
    "ecw": solve_efficient,
    "identify": solve_with_prefixes,
}
"""The optimal and the efficient exploration program, and that of naming a winner."""

# Prices move by this (relative) to find other optima: a kink so near counts as one.
_STEP = 1e-5
# Amounts of evidence that differ by less are equal.
_EQUAL_EVIDENCE = 1e-6


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Reaction of a constant to the gap of every pair.

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
    unique : bool
        Whether the optimum is differentiable: one winner and one allocation, up to
        pairs that cost nothing. Allocations within a relative 1e-5 of the optimum count
        as optimal too.
    """

    program: str
    value: float
    winner: int
    evidence: NDArray[np.float64]
    derivative: NDArray[np.float64]
    elasticity: NDArray[np.float64]
    share: NDArray[np.float64]
    unique: bool


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
        Derivatives, elasticities, shares, and whether the optimum is differentiable;
        if not, see `one_sided_derivatives`.

    Raises
    ------
    TieError
        If two arms tie: the constants jump there.
    ProgramError
        If a solver fails, or its result cannot be certified.

    Notes
    -----
    Three programs are solved per best winner: with the prices as they are, and with all
    of them moved up and down by generic amounts. The optimum is unique if, and up to
    coincidences only if, all three have the same evidence.

    Examples
    --------
    >>> matrix = [[0.5, 0.6, 0.8], [0.4, 0.5, 0.7], [0.2, 0.3, 0.5]]
    >>> found = sensitivity(matrix)
    >>> found.unique, found.share.round(3)[0]
    (True, array([0.   , 0.827, 0.173]))
    >>> found.elasticity.round(3)[0]
    array([ 0.   , -1.666, -0.373])
    """
    best, unit = _best_programs(matrix, program, prices)
    winner, (instance, chosen) = next(iter(best.items()))
    value, evidence = chosen.certificate.primal_value, chosen.evidence
    # Symmetric numbers in [1/2, 1) without simple relations, always the same.
    first, second = np.triu_indices(instance.num_arms, k=1)
    spread = np.modf(np.abs(np.sin(np.arange(1.0, first.size + 1)) * 1e4))[0]
    weights = np.full_like(evidence, 0.5)
    weights[first, second] = weights[second, first] = 0.5 + spread / 2
    optima = [solved.evidence for _, solved in best.values()]
    for arm, (part, _) in best.items():
        for sign in (1, -1):
            moved = ProgramData(
                part.gaps, instance.costs * (1 + sign * _STEP * weights)
            )
            optima.append(PROGRAMS[program](moved, arm).evidence)
    differs = np.abs(optima - evidence) > _EQUAL_EVIDENCE
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
        unique=not (differs & (instance.costs > 0)).any(),
    )


def one_sided_derivatives(
    matrix: PreferenceMatrix | ArrayLike,
    *,
    program: str = "cw",
    pairs: Iterable[tuple[int, int]] | None = None,
    prices: ArrayLike | None = None,
) -> tuple[Float64[np.ndarray, "K K"], Float64[np.ndarray, "K K"]]:
    """Compute the derivatives of a constant towards smaller and larger gaps.

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K)
    program : {"cw", "ecw", "identify"}
        As for `sensitivity`.
    pairs : iterable of (int, int), optional
        The pairs wanted; all by default.
    prices : array-like (K, K), optional
        As for `sensitivity`.

    Returns
    -------
    left, right : float64 (K, K)
        Symmetric: rate of change per unit of the gap when it shrinks and when it grows,
        right <= left <= 0. They differ at a kink of the pair; 0 for pairs not wanted.

    Raises
    ------
    InvalidPreferenceError, TieError, ValueError, ProgramError
        As for `sensitivity`; also if a pair has no two different arms.

    Notes
    -----
    Two programs per pair and best winner: moving the price of one pair by a relative
    1e-5 selects the optimal allocations with the least and with the most evidence on
    it.

    Examples
    --------
    >>> matrix = [
    ...     [0.5, 0.2, 0.8, 0.8, 0.8],
    ...     [0.8, 0.5, 0.2, 0.8, 0.8],
    ...     [0.2, 0.8, 0.5, 0.8, 0.8],
    ...     [0.2, 0.2, 0.2, 0.5, 0.6],
    ...     [0.2, 0.2, 0.2, 0.4, 0.5],
    ... ]
    >>> left, right = one_sided_derivatives(matrix, pairs=[(0, 3)])
    >>> float(left[0, 3]), float(right[0, 3])
    (0.0, -9.32...)
    """
    best, unit = _best_programs(matrix, program, prices)
    instance, _ = next(iter(best.values()))
    num_arms = instance.num_arms
    least, most = np.zeros((2, num_arms, num_arms))
    for pair in (
        combinations(range(num_arms), 2) if pairs is None else items_of(pairs, "pairs")
    ):
        i, j = (arm_index(arm, num_arms, "pairs") for arm in items_of(pair, "pairs", 2))
        if i == j:
            raise ArgumentError("pairs", "must consist of different arms", (i, j))
        if instance.costs[i, j] == 0:
            continue
        amounts = []
        for (arm, (part, _)), sign in product(best.items(), (1, -1)):
            costs = instance.costs.copy()
            costs[i, j] = costs[j, i] = costs[i, j] * (1 + sign * _STEP)
            moved = PROGRAMS[program](ProgramData(part.gaps, costs), arm)
            amounts.append(moved.evidence[i, j])
        least[i, j] = least[j, i] = min(amounts)
        most[i, j] = most[j, i] = max(amounts)
    slopes = unit * _price_slopes(instance)
    return _times(least, slopes), _times(most, slopes)


def _best_programs(
    matrix: PreferenceMatrix | ArrayLike, program: str, prices: ArrayLike | None
) -> tuple[dict[int, tuple[ProgramData, Solved]], float]:
    """Solve the program of every winner; return the cheapest, and the unit of costs."""
    one_of(program, PROGRAMS, "program")
    checked = matrix_without_ties(matrix)
    if program == "identify":
        problems, unit = priced_programs(checked, checked_prices(prices, checked))
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
    solved = {arm: PROGRAMS[program](part, arm) for arm, part in problems.items()}
    values = {arm: part.certificate.primal_value for arm, part in solved.items()}
    best = cheapest_winners(values)
    return {arm: (problems[arm], solved[arm]) for arm in best}, unit


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

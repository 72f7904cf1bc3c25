"""The asymptotic lower bound when the preferences are known to obey a model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.arguments import number_that, one_of
from theory.copeland_program.optimum import Certificate
from theory.errors import InvalidPreferenceError, ProgramError
from theory.preferences import PreferenceMatrix
from theory.regret_bound import RegretBound
from theory.structured import interior_point, transitive
from theory.structured.links import LINKS
from theory.structured.solved import Solved
from theory.structured.truth import (
    COSTS,
    Truth,
    costs_of,
    read_transitive,
    read_utility_model,
    truth_of,
)

STRUCTURES: tuple[str, ...] = (*LINKS, "transitive")
"""Models whose lower bound is known here."""

MOST_UTILITIES = 100
"""Arms at most: a step takes memory in proportion to their fourth power, 0.5 GB."""

_ROUNDING = 1e-12

_SOURCE = "Graves and Lai (1997), Theorem 1, for dueling bandits under a model"


@dataclass(frozen=True, eq=False, repr=False)
class StructuredBound:
    """A lower bound under a model, with both halves of its proof.

    Attributes
    ----------
    value : float
        Cost of the allocation: regret, duels or the unit of the prices, per unit of log
        T, or of log(1/delta) where it is the cost of naming the best arm.
    winner : int
        The best arm.
    model, cost : str
        As they were asked for; "prices" for a table.
    duels : float64 (K, K)
        An optimal allocation: duels of every pair per unit of the logarithm, symmetric.
    prices : float64 (K, K)
        Price of a duel of every pair, symmetric; infinite where it cannot be asked.
    preferences : float64 (K, K)
        The true matrix P, that of the model.
    rivals : int64 (R,)
        The best arm of every alternative below; it is level with the winner there.
    alternatives : float64 (R, K, K)
        Matrices of the class that are hardest to tell from the truth.
    multipliers : float64 (R,)
        Non-negative; the sum of multipliers * KL(P, alternative) is at most the price
        on every pair, so their sum is a lower bound on the value.
    certificate : Certificate
        Both sides, and their relative gap.
    bound : RegretBound or None
        The value as a bound on the regret; None where the cost is no regret.
    """

    value: float
    winner: int
    model: str
    cost: str
    duels: NDArray[np.float64]
    prices: NDArray[np.float64]
    preferences: NDArray[np.float64]
    rivals: NDArray[np.intp]
    alternatives: NDArray[np.float64]
    multipliers: NDArray[np.float64]
    certificate: Certificate
    bound: RegretBound | None

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        return (
            f"StructuredBound(value={self.value:.6g}, winner={self.winner}, "
            f"model={self.model!r}, "
            f"relative_gap={self.certificate.relative_gap:.1e})"
        )


def structured_lower_bound(
    preferences: PreferenceMatrix | ArrayLike,
    model: str = "bradley-terry",
    *,
    features: ArrayLike | None = None,
    cost: str | ArrayLike = "copeland",
    tolerance: float = 1e-6,
) -> StructuredBound:
    """Compute the constant of the lower bound for policies that know the model.

    Let ``b`` be the best arm of P. Whoever knows that P lies in a class of matrices
    pays at least C log T - o(log T), where

        C = min over w >= 0 of  sum over pairs of price_ij w_ij   subject to
            sum of w_ij KL(P_ij, P'_ij) >= 1
            for every P' in the class in which another arm is at least level with b.

    The pair ``(b, b)`` costs nothing and teaches nothing, so the alternatives need not
    agree with P anywhere. With prices of duels this is the least cost of naming the
    best arm, per unit of log(1/delta), as in `identification_bound`.

    Parameters
    ----------
    preferences : array-like (K,), PreferenceMatrix or array-like (K, K)
        Utilities, or a matrix that obeys the model: within 1e-6 in every probability,
        and within 1e-9 for "transitive". At most 100 arms, 6 for "transitive".
    model : {"bradley-terry", "thurstone", "transitive"}
        The class. P(i beats j) = F(theta_i - theta_j) for any utilities, where F(x) is
        1 / (1 + exp(-x)) or Phi(x / sqrt 2), as in ``bayesduel.models.BradleyTerry``
        and ``Thurstone``; or strong stochastic transitivity: P(i beats k) >=
        max(P(i beats j), P(j beats k)) whenever i beats j and j beats k.
    features : array-like (K, d), optional
        The class of utilities ``features @ beta`` for any beta; not for "transitive".
        By default utilities are free.
    cost : {"copeland", "gap", "duels"} or array-like (K, K)
        Price of a duel: its Copeland regret (from losses); the mean of both gaps to the
        best arm (notion ``condorcet_mean``); 1; or a symmetric table of positive
        prices, infinite where a pair cannot be asked.
    tolerance : float
        Relative gap between both sides of the proof, from 1e-9 on.

    Returns
    -------
    StructuredBound
        Constant, allocation, the alternatives that bind, and a checked certificate.

    Raises
    ------
    InvalidPreferenceError
        If the matrix does not obey the model (the text has the size of the misfit), no
        arm beats all others, there are too many arms, or the prices leave the constant
        infinite.
    TieError
        If the best arm is tied. Ties between other arms are allowed.
    ProgramError
        If the program is not solved to the tolerance.

    See Also
    --------
    copeland_lower_bound : The same for the class of all matrices; never less.
    project_on_model : The nearest matrix of a model, for one that was estimated.
    identification_bound : The same with prices, for the class of all matrices.

    Notes
    -----
    With utilities the inner minimum is a small convex program per rival, solved by
    Newton's method with a dual certificate; the outer one is solved by an
    interior-point method. With transitivity the inner minimum is over all orders of the
    arms, each an isotonic regression, and the outer one is a linear program with
    cutting planes (HiGHS). Tests compare it with the definition in CVXPY.

    References
    ----------
    Graves and Lai (1997), Theorem 1; attained by OSSB (Combes, Magureanu and Proutiere
    2017). We know no paper that computes it for dueling bandits.

    Examples
    --------
    >>> found = structured_lower_bound([3.0, 2.0, -1.0, -1.5, -2.0])
    >>> round(found.value, 3), found.winner
    (2.411, 0)
    >>> from theory import copeland_lower_bound
    >>> round(copeland_lower_bound(found.preferences).value, 3)
    2.9
    >>> found.duels[:2].round(1)
    array([[0. , 9. , 0.5, 0. , 0. ],
           [9. , 0. , 0.5, 0.7, 0.5]])
    """
    one_of(model, STRUCTURES, "model")
    aim = number_that(
        tolerance, "tolerance", "from 1e-9 to 0.1", lambda gap: 1e-9 <= gap <= 0.1
    )
    if model == "transitive":
        transitive.refuse_features(features)
        matrix = read_transitive(preferences)
        _refuse_many(matrix.num_arms, transitive.MOST_ARMS, transitive.WHY)
        name, prices = costs_of(cost, matrix)
        truth = truth_of(matrix, prices)
        solved = transitive.solve(truth, aim)
    else:
        _refuse_many(
            np.shape(preferences)[0] if np.ndim(preferences) else 1,
            MOST_UTILITIES,
            "a step takes memory in proportion to the fourth power of their number",
        )
        matrix, utilities = read_utility_model(preferences, model, features)
        name, prices = costs_of(cost, matrix)
        truth = truth_of(matrix, prices)
        solved = interior_point.solve(truth, utilities, aim)
    structure = model if features is None else f"{model} with features"
    return _result(matrix, prices, truth, solved, structure, name)


def _result(
    matrix: PreferenceMatrix,
    prices: NDArray[np.float64],
    truth: Truth,
    solved: Solved,
    model: str,
    cost: str,
) -> StructuredBound:
    """Check both sides anew, as they are returned."""
    divergences = truth.divergences(solved.alternatives)
    load = (solved.multipliers @ divergences / truth.prices).max()
    multipliers = np.maximum(solved.multipliers, 0.0) / max(load, 1.0)
    value, bound = float(truth.prices @ solved.duels), float(multipliers.sum())
    slack = float((divergences @ solved.duels).min())
    # Where both sides are equal rounding decides which is larger.
    fits = np.isfinite(value) and value >= bound * (1.0 - _ROUNDING)
    if not (fits and slack >= 1.0 - 1e-9):
        raise ProgramError(
            f"the program was not solved: value {value!r}, lower bound {bound!r}, an "
            f"alternative at {slack!r} (at least 1). Pairs next to a tie can be too "
            "close for floating point."
        )
    alternatives = np.full((len(multipliers), truth.num_arms, truth.num_arms), 0.5)
    alternatives[:, truth.behind, truth.ahead] = solved.alternatives
    alternatives[:, truth.ahead, truth.behind] = 1.0 - solved.alternatives
    return StructuredBound(
        value=value,
        winner=truth.best,
        model=model,
        cost=cost,
        duels=truth.table(solved.duels),
        prices=prices,
        preferences=np.array(matrix.values),
        rivals=solved.rivals,
        alternatives=alternatives,
        multipliers=multipliers,
        certificate=Certificate(
            status="optimal",
            primal_value=value,
            dual_bound=bound,
            relative_gap=(value - bound) / value,
            slack=slack,
            num_constraints=len(multipliers),
            num_rounds=solved.rounds,
        ),
        bound=_as_regret(value, matrix, model, cost),
    )


def _as_regret(
    value: float, matrix: PreferenceMatrix, model: str, cost: str
) -> RegretBound | None:
    if cost not in COSTS:
        return None
    notion = COSTS[cost]
    if cost == "copeland" and not matrix.ties:
        notion = "copeland"  # Without ties they are the same.
    return RegretBound(
        name=f"Lower bound ({model})",
        log_coefficient=value,
        kind="asymptotic lower",
        regret=notion,
        assumptions=(f"expected regret o(T^a) for each a > 0 on every {model} matrix",),
        remainder="- o(log T)",
        source=_SOURCE,
    )


def _refuse_many(num_arms: int, most: int, why: str) -> None:
    if num_arms > most:
        raise InvalidPreferenceError(
            "preferences",
            f"must have at most {most} arms here, for {why}",
            num_arms,
            remedy="take fewer arms",
        )

"""Constants of the optimal and of the efficient exploration program, certified."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.arguments import one_of, true_or_false
from theory.copeland_program import _cutting_planes
from theory.copeland_program.constraints import ConstraintFamilies
from theory.copeland_program.efficient import allocate
from theory.copeland_program.optimum import (
    Certificate,
    Multipliers,
    Optimum,
    allocation_cost,
    certify,
    dual_bound,
)
from theory.copeland_program.program_data import ProgramData
from theory.divergences import kl_to_half
from theory.errors import ProgramError
from theory.preferences import PreferenceMatrix
from theory.regret_bound import RegretBound

METHODS: tuple[str, ...] = ("prefix", "cvxpy")  # Ways to solve the optimal program

# Assumption of Theorems 3 and 4 of Komiyama, Honda and Nakagawa (2016)
UNIQUE_OPTIMUM = "the best winner and its optimal allocation are unique (not checked)"

# Winners whose values differ by less are equally good; the first one is returned.
_EQUAL_VALUE = 1e-9
# The returned evidence is made feasible by scaling; more than this is no rounding.
_SCALABLE_VIOLATION = 1e-7
# Relative difference of two values that `verify` allows.
_VERIFIED = 1e-7


@dataclass(frozen=True, eq=False)
class Solved:
    """Certified solution for one winner."""

    # (K, K): An optimal allocation, symmetric, in [0, 1].
    evidence: NDArray[np.float64]
    certificate: Certificate  # Proof that it is one.
    # The dual solution of (P), set by set, where it was solved with prefixes.
    multipliers: Multipliers | None = None


def copeland_lower_bound(
    matrix: PreferenceMatrix | ArrayLike,
    *,
    winner: int | None = None,
    method: str = "prefix",
    verify: bool = False,
    ties: str = "error",
) -> Optimum:
    """Compute the constant C* of the asymptotic lower bound on Copeland regret.

    Every algorithm whose expected regret is o(T^a) for each a > 0 on every preference
    matrix has E[R(T)] >= C* log T - o(log T), where C* is the smallest optimum, over
    the Copeland winners, of the linear program (P) of the page on the lower bound.

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K)
    winner : int, optional
        Report the program of this Copeland winner instead of the cheapest one.
    method : {"prefix", "cvxpy"}
        "prefix" solves the small program of theory.copeland_program._cutting_planes.
        "cvxpy" solves the program as it is stated (theory.copeland_program.statement);
        it is some hundred times slower and needs the extra "verify". Each method checks
        its own certificate.
    verify : bool
        Solve by both methods, and raise an error if the values differ by a relative
        1e-7 or more. Needs the extra "verify".
    ties : {"error", "ignore"}
        "error" refuses matrices with a tied pair, abs(P - 1/2) < 1e-8. "ignore" allows
        ties between arms that are not winners. The constant jumps at a tie: it is not
        the limit of the constants of nearby matrices without ties. Moreover, an
        algorithm that forces draws of pairs with estimated gaps below b / log log t, b
        > 0, draws a tied pair for ever.

    Returns
    -------
    Optimum
        The value (Copeland regret, computed from losses, per unit of the natural
        logarithm of T), an optimal allocation, and a checked certificate. Among winners
        whose values agree within a relative 1e-9 the smallest index is reported.

    Raises
    ------
    InvalidPreferenceError
        If the arm given as winner is not a Copeland winner.
    TieError
        If a tie is not allowed.
    ProgramError
        If a solver fails, or its result cannot be certified.
    ImportError
        If CVXPY is asked for and not installed.

    Notes
    -----
    The optimal algorithm attains C* log T + o(log T) if the best winner and its optimal
    allocation are unique (Theorem 3 of the source); the lower bound needs neither. With
    two or more winners C* equals the constant of the efficient program (Theorem 6), and
    "prefix" uses its closed form.

    References
    ----------
    Komiyama, Honda and Nakagawa (2016), Theorem 2.

    Examples
    --------
    >>> optimum = copeland_lower_bound(
    ...     [
    ...         [0.5, 0.6, 0.6, 0.6],
    ...         [0.4, 0.5, 0.9, 0.1],
    ...         [0.4, 0.1, 0.5, 0.9],
    ...         [0.4, 0.9, 0.1, 0.5],
    ...     ]
    ... )
    >>> round(optimum.value, 6), optimum.winner
    (27.548665, 0)
    >>> optimum.bound(10**6)
    array(380.60...)
    """
    one_of(method, METHODS, "method")
    instance = ProgramData.from_matrix(matrix, ties)
    solve = _solve_with_cvxpy if method == "cvxpy" else solve_with_prefixes
    if true_or_false(verify, "verify"):
        for arm in instance.winners:
            verify_program(instance, arm)
    return _optimum(
        instance,
        winner,
        solve,
        name="Copeland lower bound",
        kind="asymptotic lower",
        assumptions=("expected regret o(T^a) for each a > 0 on every matrix",),
        remainder="- o(log T)",
        source="Komiyama, Honda and Nakagawa (2016), Theorem 2",
    )


def ecw_rmed_constant(
    matrix: PreferenceMatrix | ArrayLike,
    *,
    winner: int | None = None,
    ties: str = "error",
) -> Optimum:
    """Compute the constant C_E of ECW-RMED, the efficient exploration program.

    Its constraints imply those of the optimal program, so C_E >= C*, with equality if
    there are two or more Copeland winners; the ratio is unbounded. Solved in closed
    form, in O(K^2 log K) operations per winner.

    Parameters
    ----------
    matrix, winner, ties
        As for `copeland_lower_bound`.

    Returns
    -------
    Optimum
        As for `copeland_lower_bound`.

    Raises
    ------
    InvalidPreferenceError, TieError, ProgramError
        As for `copeland_lower_bound`.

    References
    ----------
    Komiyama, Honda and Nakagawa (2016), Theorems 4, 5 and 6.

    Examples
    --------
    >>> optimum = ecw_rmed_constant(
    ...     [
    ...         [0.5, 0.6, 0.6, 0.6],
    ...         [0.4, 0.5, 0.9, 0.1],
    ...         [0.4, 0.1, 0.5, 0.9],
    ...         [0.4, 0.9, 0.1, 0.5],
    ...     ]
    ... )
    >>> round(float(optimum), 6)
    49.663496
    """
    return _optimum(
        ProgramData.from_matrix(matrix, ties),
        winner,
        solve_efficient,
        name="ECW-RMED",
        kind="asymptotic upper",
        assumptions=(UNIQUE_OPTIMUM, "alpha > 0 and beta > 0 in ECW-RMED"),
        remainder="+ o(log T)",
        policy="ECW-RMED",
        source="Komiyama, Honda and Nakagawa (2016), Theorem 4",
    )


def _optimum(
    instance: ProgramData,
    winner: int | None,
    solve: Callable[[ProgramData, int], Solved],
    **bound: Any,
) -> Optimum:
    named = None if winner is None else instance.checked_winner(winner)
    solved = {arm: solve(instance, arm) for arm in instance.winners}
    values = {arm: part.certificate.primal_value for arm, part in solved.items()}
    best = cheapest_winners(values)[0]
    shown = best if named is None else named
    evidence = solved[shown].evidence
    decided = instance.gaps != 0
    ties = int(np.count_nonzero(~decided)) > instance.num_arms
    return Optimum(
        value=values[shown],
        winner=shown,
        value_by_winner=values,
        evidence=evidence,
        duels_per_log_round=evidence
        / np.where(decided, kl_to_half(instance.gaps), 1.0),
        certificate=solved[shown].certificate,
        bound=RegretBound(
            log_coefficient=values[best],
            regret="copeland_losses" if ties else "copeland",
            **bound,
        ),
    )


def cheapest_winners(values: dict[int, float]) -> list[int]:
    """Return the winners whose values agree with the smallest, in their order."""
    least = min(values.values())
    equal = least + _EQUAL_VALUE * abs(least)
    return [arm for arm, value in values.items() if value <= equal]


def verify_program(instance: ProgramData, winner: int) -> None:
    """Raise where the two ways to solve the optimal program of a winner differ."""
    fast = solve_with_prefixes(instance, winner).certificate.primal_value
    slow = _solve_with_cvxpy(instance, winner).certificate.primal_value
    if not math.isclose(fast, slow, rel_tol=_VERIFIED, abs_tol=_VERIFIED):
        raise ProgramError(
            f"the program of winner {winner} has the value {fast!r} by prefixes "
            f"and {slow!r} as it reads, by CVXPY; they may differ by {_VERIFIED:g} "
            "of it. Please report the matrix."
        )


def solve_with_prefixes(instance: ProgramData, winner: int) -> Solved:
    """Solve the optimal program of one of the winners."""
    families = ConstraintFamilies(instance, winner)
    if len(instance.winners) > 1:
        blocks, evidence = allocate(instance, winner)
        multipliers = _closed_form_multipliers(
            instance, winner, blocks, own_evidence=True
        )
        status, rounds = "closed form", 0
    else:
        program = _cutting_planes.CuttingPlanes(families)
        evidence, multipliers = program.evidence(), program.multipliers()
        status, rounds = "optimal", program.num_rounds
    evidence = _feasible(evidence, families.slack(evidence))
    certificate = certify(
        status=status,
        primal_value=allocation_cost(instance.costs, evidence),
        lower_bound=dual_bound(instance, winner, multipliers),
        slack=families.slack(evidence),
        num_constraints=multipliers.values.size,
        num_rounds=rounds,
    )
    return Solved(evidence, certificate, multipliers)


def _solve_with_cvxpy(instance: ProgramData, winner: int) -> Solved:
    """Take allocation and lower bound from the program as it reads."""
    from theory.copeland_program import statement

    solution = statement.solve(instance, winner)
    evidence = _feasible(solution.evidence, solution.slack)
    certificate = certify(
        status=solution.status,
        primal_value=allocation_cost(instance.costs, evidence),
        lower_bound=solution.dual_bound,
        slack=statement.slack(instance, winner, evidence),
        num_constraints=solution.num_constraints,
        num_rounds=1,
    )
    return Solved(evidence, certificate)


def solve_efficient(instance: ProgramData, winner: int) -> Solved:
    """Solve the efficient program of one of the winners, as above."""
    blocks, evidence = allocate(instance, winner)
    multipliers = _closed_form_multipliers(instance, winner, blocks, own_evidence=False)
    inferiors = instance.gaps[winner] > 0
    forced = float(instance.costs[winner, inferiors].sum())
    certificate = certify(
        status="closed form",
        primal_value=allocation_cost(instance.costs, evidence),
        lower_bound=forced + dual_bound(instance, winner, multipliers),
        slack=ConstraintFamilies(instance, winner).efficient_slack(evidence),
        num_constraints=multipliers.values.size + int(inferiors.sum()),
        num_rounds=0,
    )
    return Solved(evidence, certificate)


def _closed_form_multipliers(
    instance: ProgramData,
    winner: int,
    blocks: NDArray[np.float64],
    *,
    own_evidence: bool,
) -> Multipliers:
    """Write the closed form as multipliers of constraints of (P)."""
    # The block cost of a rival is the multiplier of its constraint at the level L(1) -
    # 1, where H is empty. With two or more winners the level L(1) = L(2) asks for every
    # inferior of the winner apart (``own_evidence``).
    num_arms = instance.num_arms
    rivals = np.flatnonzero(blocks > 0)
    levels = np.full(rivals.size, instance.least - 1)
    inferiors = np.zeros((rivals.size, num_arms), dtype=bool)
    values = blocks[rivals]
    if own_evidence:
        beaten = np.flatnonzero(instance.gaps[winner] > 0)
        rival = next(arm for arm in instance.winners if arm != winner)
        values = np.append(values, instance.costs[winner, beaten])
        rivals = np.append(rivals, np.full(beaten.size, rival))
        levels = np.append(levels, np.full(beaten.size, instance.least))
        inferiors = np.append(inferiors, np.eye(num_arms, dtype=bool)[beaten], axis=0)
    return Multipliers(values, rivals, levels, inferiors)


def _feasible(evidence: NDArray[np.float64], slack: float) -> NDArray[np.float64]:
    """Scale away what rounding leaves a constraint short of 1, and clip at 1."""
    # More than one unit on a pair satisfies no constraint that one unit does not.
    if 1.0 - _SCALABLE_VIOLATION <= slack < 1.0:
        evidence = evidence / slack
    return np.minimum(evidence, 1.0)

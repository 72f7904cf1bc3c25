"""The cost of singling out a winner: of the duels so far, and the least one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from theory.arguments import arm_index, number_above, one_of, true_or_false
from theory.copeland_program.constants import (
    Solved,
    cheapest_winners,
    solve_with_prefixes,
    verify_program,
)
from theory.copeland_program.constraints import (
    ConstraintFamilies,
    candidate_slack,
    ecw_slack,
)
from theory.copeland_program.optimum import ActiveConstraint, IdentificationBound
from theory.copeland_program.prices import checked_prices, priced_programs
from theory.copeland_program.program_data import PROGRAMS, ProgramData
from theory.divergences import kl_to_half
from theory.errors import InvalidPreferenceError
from theory.preferences import PreferenceMatrix, as_preference_matrix
from theory.validation import symmetric_amounts

_TOLERANCE = 1e-12
# Multipliers below this part of the constant are rounding.
_NO_MULTIPLIER = 1e-12


def counts_suffice(
    counts: ArrayLike,
    log_rounds: float,
    matrix: PreferenceMatrix | ArrayLike,
    winner: int,
    *,
    program: str = "cw",
) -> bool:
    """Return whether the numbers of duels suffice to call an arm a Copeland winner.

    They do if the evidence N_ij d_ij / log t satisfies every constraint "sum >= 1" with
    an absolute tolerance of 1e-12. More than one unit on a pair never hurts.

    Parameters
    ----------
    counts : array-like (K, K)
        Numbers of duels N_ij, symmetric; the diagonal is ignored.
    log_rounds : float
        log t > 0, natural logarithm.
    matrix : PreferenceMatrix or array-like (K, K)
        True or estimated preference matrix. A tied pair belongs to no constraint, even
        if it touches a winner.
    winner : int
        An arm with the fewest losses.
    program : {"cw", "ecw"}
        "cw": all families (P) of the page on the lower bound (Komiyama et al. 2016,
        eq. 2); this is the test of CW-RMED and of ECW-RMED. "ecw": the stronger
        demands of the efficient program (eqs. 4 and 5).

    Returns
    -------
    bool
        Whether all constraints hold; true if there is none.

    Raises
    ------
    InvalidPreferenceError
        If the arm has not the fewest losses.
    ValueError
        If the counts have the wrong shape, are negative, not finite or asymmetric, if
        log_rounds is not positive, or the program is unknown.

    Examples
    --------
    >>> matrix = [[0.5, 0.7], [0.3, 0.5]]
    >>> counts_suffice([[0, 100], [100, 0]], 7.0, matrix, 0)
    True
    >>> counts_suffice([[0, 80], [80, 0]], 7.0, matrix, 0)
    False
    """
    one_of(program, PROGRAMS, "program")
    checked = as_preference_matrix(matrix)
    arm = arm_index(winner, checked.num_arms, "winner")
    if arm not in checked.loss_winners:
        raise InvalidPreferenceError(
            "winner",
            "must be an arm with the fewest losses, one of "
            f"{list(checked.loss_winners)}",
            arm,
        )
    elapsed = number_above(log_rounds, 0.0, "log_rounds")
    duels = symmetric_amounts(counts, checked.num_arms, "counts")
    evidence = duels * kl_to_half(checked.gaps) / elapsed
    slack = candidate_slack if program == "cw" else ecw_slack
    return bool(slack(evidence, checked.gaps, arm) >= 1.0 - _TOLERANCE)


def identification_bound(
    matrix: PreferenceMatrix | ArrayLike,
    prices: ArrayLike | None = None,
    *,
    winner: int | None = None,
    verify: bool = False,
) -> IdentificationBound:
    """Compute the constant T* of the least cost of naming a Copeland winner.

    Every procedure that stops with probability one and, on every preference matrix,
    names an arm that is no Copeland winner with probability at most delta, pays on
    average at least (T* - o(1)) log(1/delta) as delta goes to 0. T* is the smallest
    optimum, over the Copeland winners, of the program (P) of `copeland_lower_bound`
    with the price of a duel in place of its regret. Track-and-stop procedures attain
    it.

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K)
        Pairs at 1/2 are allowed as long as some arm is a Copeland winner however they
        fall.
    prices : array-like (K, K) or (K,), or mapping from names to float, optional
        Price of one duel of every pair: symmetric, not negative, finite ones within a
        factor 1e9 where they are not 0; the diagonal is not read. Infinity means that
        the pair cannot be asked, 0 that it is free. Or prices of the arms, of which a
        duel costs the sum of both; `pair_prices` adds that of a judge. Labels name the
        arms of the matrix, in any order. By default those of the matrix; without any,
        every duel costs 1, and T* counts duels.
    winner : int, optional
        Report the cost of naming this arm instead of the cheapest one.
    verify : bool
        Solve the program also as it reads, with CVXPY, and raise where the values
        differ by more than 1e-7 of them.

    Returns
    -------
    IdentificationBound
        Constant, allocation, dual solution, and a checked certificate.

    Raises
    ------
    TieError
        If, because of ties, no arm is a Copeland winner however the tied pairs fall:
        the constant is infinite.
    InvalidPreferenceError
        If the same holds because of pairs that cannot be asked, or the arm asked for is
        not known to win.
    ProgramError
        If the solver fails, or its result cannot be certified.

    See Also
    --------
    sensitivity : How the constant reacts to the preferences, ``program="identify"``.
    copeland_lower_bound : The same with the regret of a duel as its price.
    structured_lower_bound : The same for preferences that obey a model, with prices
        or ``cost="duels"``.

    References
    ----------
    Garivier and Kaufmann (2016), Theorem 1, for a single winner; Degenne and Koolen
    (2019), Theorem 1, for several. The program: Komiyama, Honda and Nakagawa (2016),
    Theorem 2.

    Examples
    --------
    >>> matrix = [[0.5, 0.6, 0.8], [0.4, 0.5, 0.7], [0.2, 0.3, 0.5]]
    >>> bound = identification_bound(matrix)
    >>> bound
    IdentificationBound(value=54.8517, winner=0, relative_gap=0.0e+00)
    >>> bound.duels.round(1)[0]
    array([ 0. , 49.7,  5.2])
    >>> [(part.rival, part.flips) for part in bound.active]
    [(1, ((0, 1),)), (2, ((0, 2), (1, 2)))]
    >>> identification_bound(matrix, [[0, 10, 1], [10, 0, 1], [1, 1, 0]]).value
    501.8...

    Arms with prices, of which a duel costs the sum:

    >>> identification_bound(matrix, [1, 1, 10]).value
    156.3...
    """
    checked = as_preference_matrix(matrix)
    price = checked_prices(checked.prices if prices is None else prices, checked)
    by_winner, unit = priced_programs(checked, price)
    if winner is not None and (
        arm_index(winner, checked.num_arms, "winner") not in by_winner
    ):
        raise InvalidPreferenceError(
            "winner",
            f"must be an arm that is a Copeland winner however the pairs fall that tie "
            f"or cannot be asked, one of {list(by_winner)}",
            winner,
        )
    if true_or_false(verify, "verify"):
        for arm, instance in by_winner.items():
            verify_program(instance, arm)
    solved = {
        arm: solve_with_prefixes(instance, arm) for arm, instance in by_winner.items()
    }
    values = {arm: unit * part.certificate.primal_value for arm, part in solved.items()}
    named = cheapest_winners(values)[0] if winner is None else int(winner)
    best = solved[named]
    certificate = replace(
        best.certificate,
        primal_value=values[named],
        dual_bound=unit * best.certificate.dual_bound,
    )
    divergence = np.where(best.evidence > 0, kl_to_half(checked.gaps), 1.0)
    return IdentificationBound(
        value=values[named],
        winner=named,
        value_by_winner=values,
        evidence=best.evidence,
        duels=best.evidence / divergence,
        prices=price,
        active=_active_constraints(by_winner[named], named, best, unit),
        certificate=certificate,
    )


def _active_constraints(
    instance: ProgramData, winner: int, solved: Solved, unit: float
) -> tuple[ActiveConstraint, ...]:
    """List the constraints with a multiplier, with the sets that are tight."""
    multipliers = solved.multipliers
    if multipliers is None:
        return ()
    families = ConstraintFamilies(instance, winner)
    least = _NO_MULTIPLIER * solved.certificate.primal_value
    constraints = []
    for row in np.flatnonzero(multipliers.values > least).tolist():
        rival = int(multipliers.rivals[row])
        inferiors = np.flatnonzero(multipliers.inferiors[row])
        level = int(multipliers.levels[row])
        superiors = families.least_superiors(solved.evidence, rival, level, inferiors)
        flips = [(winner, j) for j in inferiors.tolist()]
        flips += [(j, rival) for j in superiors.tolist()]
        value = unit * float(multipliers.values[row])
        constraints.append(ActiveConstraint(rival, tuple(sorted(flips)), value))
    return tuple(sorted(constraints, key=lambda constraint: -constraint.multiplier))

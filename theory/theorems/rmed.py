"""Regret bounds of the family of RMED, one function per theorem.

Every function takes a preference matrix, checks the assumptions that can be read from
it, and returns a `RegretBound` that says which regret it speaks of. Natural logarithms.
L(1) is the smallest number of losses of an arm, C the number of Copeland winners, g_ij
= P(i beats j) - 1/2, d_ij the divergence of P(i beats j) from 1/2, r_ij the Copeland
regret of a duel, Delta the smallest |g_ij| over pairs of different arms, and D the
divergence of 1/2 + Delta from 1/2; Delta^2 <= D / 2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from theory.copeland_program.constants import (
    UNIQUE_OPTIMUM,
    cheapest_winners,
    ecw_rmed_constant,
)
from theory.copeland_program.program_data import matrix_without_ties
from theory.divergences import kl_to_half
from theory.errors import InvalidPreferenceError
from theory.preferences import PreferenceMatrix
from theory.regret_bound import RegretBound
from theory.theorems.catalog import (
    CONDORCET,
    NO_TIES,
    condorcet_winner,
    smallest_gap,
    theorem,
)


@theorem("ECW-RMED", policy="ECW-RMED")
def ecw_rmed_bound(matrix: PreferenceMatrix | ArrayLike) -> RegretBound:
    """Bound the regret of ECW-RMED by the constant C_E of the efficient program.

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K), no ties

    Returns
    -------
    RegretBound
        Copeland regret; the value of `theory.ecw_rmed_constant`.

    Raises
    ------
    InvalidPreferenceError
        If several Copeland winners are equally cheap: the theorem asks for one.

    References
    ----------
    Komiyama, Honda and Nakagawa (2016), Theorem 4.

    Examples
    --------
    >>> bound = ecw_rmed_bound([[0.5, 0.6], [0.4, 0.5]])
    >>> round(bound.log_coefficient, 4)
    24.8317
    """
    constant = ecw_rmed_constant(matrix)
    equal = cheapest_winners(constant.value_by_winner)
    if len(equal) > 1:
        raise InvalidPreferenceError(
            "matrix",
            "must have one best winner in this theorem; the programs of the winners "
            f"{', '.join(map(str, equal))} have the same value",
            constant.value,
            remedy="copeland_lower_bound needs none",
        )
    return constant.bound


@theorem("ECW-RMED, sum over losses", policy="ECW-RMED")
def ecw_kl_sum_bound(matrix: PreferenceMatrix | ArrayLike) -> RegretBound:
    """Bound the constant of ECW-RMED by losses and the smallest gap.

    (1/D) times the sum over i2 != i1 of 1 + L_i2 / (L_i2 - L(1) + 1), for any Copeland
    winner i1: the value is the same for all.

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K), no ties

    Returns
    -------
    RegretBound
        Copeland regret; never below the constant of `theory.ecw_rmed_constant`.

    References
    ----------
    Komiyama, Honda and Nakagawa (2016), eq. 11 and Theorem 4.

    Examples
    --------
    >>> bound = ecw_kl_sum_bound([[0.5, 0.6], [0.4, 0.5]])
    >>> round(bound.log_coefficient, 4)
    74.495
    """
    checked = matrix_without_ties(matrix)
    losses = np.delete(checked.losses, checked.loss_winners[0])
    terms = 1.0 + losses / (losses - checked.losses.min() + 1)
    return _ecw_bound("ECW-RMED, sum over losses", checked, terms.sum(), "eq. 11")


@theorem("ECW-RMED, worst case", policy="ECW-RMED")
def ecw_kl_worst_case_bound(matrix: PreferenceMatrix | ArrayLike) -> RegretBound:
    """Bound the constant of ECW-RMED by the smallest number of losses and gap.

    (K/D) ((L(1) + 3)/2 + L(1)^2 / K). It maximizes `ecw_kl_sum_bound` over the numbers
    of losses if L(1) >= 1; for L(1) = 0 that one can be larger, and both still bound
    the constant.

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K), no ties

    Returns
    -------
    RegretBound
        Copeland regret; never below the constant of `theory.ecw_rmed_constant`.

    References
    ----------
    Komiyama, Honda and Nakagawa (2016), eq. 12 and Theorem 4.

    Examples
    --------
    >>> bound = ecw_kl_worst_case_bound([[0.5, 0.6], [0.4, 0.5]])
    >>> round(bound.log_coefficient, 4)
    148.9905
    """
    checked = matrix_without_ties(matrix)
    least, num_arms = int(checked.losses.min()), checked.num_arms
    factor = num_arms * ((least + 3) / 2 + least**2 / num_arms)
    return _ecw_bound("ECW-RMED, worst case", checked, factor, "eq. 12")


@theorem("RMED1", policy="RMED1")
def rmed1_bound(matrix: PreferenceMatrix | ArrayLike) -> RegretBound:
    """Compute the asymptotic upper bound of RMED1, the sum of g_wi / (2 d_wi), i != w.

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K), no ties, with a Condorcet winner

    Returns
    -------
    RegretBound
        Regret "condorcet_mean", (g_wi + g_wj) / 2 per duel; kind "asymptotic upper".
        With r in place of the gaps the formula is the constant of ECW-RMED.

    Notes
    -----
    The theorem has (1 + delta) log T for any delta > 0, and terms without T that grow
    as delta shrinks and whose constants it does not give. So E[R(T)] / log T tends to
    the coefficient at most, and a value at T is no level: with two arms and P = 0.6 the
    mean regret of RMED1 is above it at T = 1e4 (23.9 +- 0.3 in 2000 runs, 22.9 here).

    References
    ----------
    Komiyama, Honda, Kashima and Nakagawa (2015), "Regret lower bound and optimal
    algorithm in dueling bandit problem", COLT, arXiv:1506.02550.

    Examples
    --------
    >>> matrix = [[0.5, 0.6, 0.9], [0.4, 0.5, 0.7], [0.1, 0.3, 0.5]]
    >>> round(rmed1_bound(matrix).log_coefficient, 6)
    3.026558
    """
    checked = matrix_without_ties(matrix)
    winner = condorcet_winner(checked)
    gaps = np.delete(checked.gaps[winner], winner)
    return RegretBound(
        name="RMED1",
        log_coefficient=float((gaps / (2 * kl_to_half(gaps))).sum()),
        kind="asymptotic upper",
        regret="condorcet_mean",
        assumptions=(CONDORCET, NO_TIES),
        remainder=(
            "times (1 + delta), + O(K^2) + O(K / delta^2) + a term of the exploration "
            "function f(K), for any small delta > 0"
        ),
        policy="RMED1",
        source="Komiyama, Honda, Kashima and Nakagawa (2015)",
    )


def _ecw_bound(
    name: str, matrix: PreferenceMatrix, factor: float, equation: str
) -> RegretBound:
    return RegretBound(
        name=name,
        log_coefficient=float(factor / kl_to_half(smallest_gap(matrix))),
        kind="asymptotic upper",
        regret="copeland",
        assumptions=(NO_TIES, UNIQUE_OPTIMUM),
        remainder="+ o(log T)",
        policy="ECW-RMED",
        source=f"Komiyama, Honda and Nakagawa (2016), {equation}",
    )

"""Regret bounds of double Thompson sampling (Wu and Liu 2016).

Natural logarithms. g_ij = P(i beats j) - 1/2, d_ij is the divergence of P(i beats j)
from 1/2, and L(1) the smallest number of losses of an arm. `theory.theorems.rmed` has
the bounds of the other algorithms.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from theory.arguments import number_above
from theory.copeland_program.program_data import matrix_without_ties
from theory.divergences import bernoulli_kl, kl_to_half
from theory.errors import InvalidPreferenceError
from theory.preferences import TIE_TOLERANCE, PreferenceMatrix
from theory.regret_bound import RegretBound
from theory.theorems.catalog import NO_TIES, theorem

# The posterior of the theorems, which say nothing about others
_BETA_DISTRIBUTIONS = {"posterior": "beta"}


@theorem("D-TS", policy="D-TS", only_if=_BETA_DISTRIBUTIONS)
def double_thompson_bound(
    matrix: PreferenceMatrix | ArrayLike, *, alpha: float = 0.51, epsilon: float = 0.1
) -> RegretBound:
    """Compute the general regret bound of double Thompson sampling.

    The sum over ordered pairs with P(i beats j) < 1/2 of 4 alpha / g_ij^2 + (1 +
    epsilon) / d_ij.

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K), no ties
    alpha : float
        Width of the confidence bounds of the algorithm, above 1/2.
    epsilon : float
        Any positive number; a smaller one makes the remainder larger.

    Returns
    -------
    RegretBound
        Copeland regret; kind "asymptotic upper". It counts duels, each with regret at
        most 1.

    References
    ----------
    Wu and Liu (2016), Proposition 1, eq. 2.

    Examples
    --------
    >>> bound = double_thompson_bound([[0.5, 0.6], [0.4, 0.5]], alpha=0.6)
    >>> round(bound.log_coefficient, 4)
    294.6298
    """
    checked = matrix_without_ties(matrix)
    alpha, epsilon = _thompson_parameters(alpha, epsilon)
    gaps = checked.gaps[checked.gaps < 0]
    terms = 4 * alpha / gaps**2 + (1 + epsilon) / kl_to_half(gaps)
    return RegretBound(
        name="D-TS",
        log_coefficient=float(terms.sum()),
        kind="asymptotic upper",
        regret="copeland",
        assumptions=(NO_TIES, "alpha > 1/2", "epsilon > 0"),
        remainder="+ O(K^2 / epsilon^2), without T",
        policy="D-TS",
        condition=f"alpha = {alpha:g}",
        source="Wu and Liu (2016), Proposition 1",
    )


@theorem("D-TS+, refined", policy="D-TS+", only_if=_BETA_DISTRIBUTIONS)
@theorem("D-TS, refined", policy="D-TS", only_if=_BETA_DISTRIBUTIONS)
def double_thompson_refined_bound(
    matrix: PreferenceMatrix | ArrayLike,
    *,
    alpha: float = 0.51,
    epsilon: float = 0.1,
    beta: float = 2.5,
) -> RegretBound:
    """Compute the refined regret bound of double Thompson sampling.

    For an arm i that is no Copeland winner let s_i(1), ..., s_i(K) be all arms, i
    included, in decreasing order of P(j beats i), and q_i = P(s_i(L(1) + 1) beats i).
    The log T term is ::

        sum over winners i [ sum over j with g_ij < 0 of 4 alpha / g_ij^2
                           + sum over j with g_ij > 0 of (1 + epsilon) / d_ij ]
        + sum over the other i and m <= L(1) + 1 of 4 alpha / g_{s_i(m), i}^2,

    and the log log T term is beta (1 + epsilon)^2 times the sum over the other i and m
    > L(1) + 1 of 1 / KL(P(s_i(m) beats i), q_i), where an infinite divergence (q_i = 1)
    contributes nothing. The term of i itself is kept as printed.

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K), no ties
    alpha, epsilon
        As in `double_thompson_bound`.
    beta : float
        Any number above 2.

    Returns
    -------
    RegretBound
        Copeland regret, at horizons of at least 3; kind "asymptotic upper". Its log T
        term is at most the one of `double_thompson_bound`.

    Raises
    ------
    InvalidPreferenceError
        If some P(s_i(m) beats i) with m > L(1) + 1 is q_i, within 1e-8; the arm i is
        named.

    References
    ----------
    Wu and Liu (2016), Theorem 1, eq. 6.

    Examples
    --------
    >>> matrix = [[0.5, 0.6, 0.9], [0.4, 0.5, 0.7], [0.1, 0.3, 0.5]]
    >>> bound = double_thompson_refined_bound(matrix, alpha=0.6)
    >>> round(bound.log_coefficient, 4), round(bound.loglog_coefficient, 4)
    (312.6185, 190.2713)
    """
    checked = matrix_without_ties(matrix)
    alpha, epsilon = _thompson_parameters(alpha, epsilon)
    beta = number_above(beta, 2.0, "beta")
    gaps, least = checked.gaps, int(checked.losses.min())
    log_term = loglog_term = 0.0
    for arm in range(checked.num_arms):
        if arm in checked.loss_winners:
            superiors, inferiors = gaps[arm, gaps[arm] < 0], gaps[arm, gaps[arm] > 0]
            log_term += float((4 * alpha / superiors**2).sum())
            log_term += float(((1 + epsilon) / kl_to_half(inferiors)).sum())
            continue
        # Gaps of all arms to this one, the best first.
        ordered = np.sort(gaps[:, arm])[::-1]
        first, later = ordered[: least + 1], ordered[least + 1 :]
        if first[-1] - later[0] < TIE_TOLERANCE:
            raise InvalidPreferenceError(
                "matrix",
                f"must have a P(j beats {arm}) of the best {least + 1} arms j above "
                f"that of all others, for the refined bound (number {least + 1} and "
                f"number {least + 2} both have it)",
                0.5 + first[-1],
                remedy="use double_thompson_bound",
            )
        log_term += float((4 * alpha / first**2).sum())
        divergence = bernoulli_kl(0.5 + later, 0.5 + first[-1])
        loglog_term += float((1.0 / divergence).sum())
    return RegretBound(
        name="D-TS, refined",
        log_coefficient=log_term,
        loglog_coefficient=beta * (1 + epsilon) ** 2 * loglog_term,
        kind="asymptotic upper",
        regret="copeland",
        assumptions=(
            NO_TIES,
            "every arm but the winners has L(1) + 1 distinctly best superiors, L(1) "
            "being the fewest losses of an arm",
            "alpha > 1/2",
            "epsilon > 0",
            "beta > 2",
        ),
        remainder="+ O(K^3) + O(K^2 / epsilon^2), without T",
        policy="D-TS",
        condition=f"alpha = {alpha:g}",
        source="Wu and Liu (2016), Theorem 1",
        minimum_horizon=3,
    )


def _thompson_parameters(alpha: object, epsilon: object) -> tuple[float, float]:
    return number_above(alpha, 0.5, "alpha"), number_above(epsilon, 0.0, "epsilon")

"""Regret bounds of optimistic policies: RUCB, CCB, KL-UCB and Sup-KLUCB.

Natural logarithms. L(1) is the smallest number of losses of an arm, C the number of
Copeland winners, Delta the smallest abs(P - 1/2) over pairs of different arms.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.arguments import number_above, one_of
from theory.copeland_program.program_data import matrix_without_ties
from theory.divergences import bernoulli_kl
from theory.errors import ArgumentError, InvalidPreferenceError
from theory.preferences import PreferenceMatrix, as_preference_matrix
from theory.regret import REGRET_NOTIONS, pair_regret
from theory.regret_bound import RegretBound
from theory.theorems.catalog import (
    CONDORCET,
    NO_TIES,
    condorcet_winner,
    smallest_gap,
    theorem,
)
from theory.validation import numeric_array, refuse_entries

# Scores of Sup-KLUCB; the Condorcet winner is the one with Copeland score 1
SCORES: tuple[str, ...] = ("copeland", "borda")


@theorem("CCB", policy="CCB")
def ccb_order(matrix: PreferenceMatrix | ArrayLike) -> RegretBound:
    """Return the order of growth of the regret of CCB, K (C + L(1) + 1) / Delta^2.

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K), no ties

    Returns
    -------
    RegretBound
        Copeland regret; kind "order only", because a constant factor is missing: fit
        for slopes and shapes, never to be compared as a number.

    References
    ----------
    Zoghi, Karnin, Whiteson and de Rijke (2015), Theorem 3, with the somewhat looser
    Delta of Komiyama, Honda and Nakagawa (2016), eq. 10.

    Examples
    --------
    >>> bound = ccb_order([[0.5, 0.6, 0.7], [0.4, 0.5, 0.6], [0.3, 0.4, 0.5]])
    >>> round(bound.log_coefficient, 6), bound.order_only
    (600.0, True)
    """
    checked = matrix_without_ties(matrix)
    winners, least = len(checked.loss_winners), int(checked.losses.min())
    order = checked.num_arms * (winners + least + 1) / smallest_gap(checked) ** 2
    return RegretBound(
        name="CCB",
        log_coefficient=order,
        kind="order only",
        regret="copeland",
        assumptions=(NO_TIES,),
        remainder="unspecified constant factor",
        policy="CCB",
        source="Zoghi et al. (2015), Theorem 3; Komiyama et al. (2016), eq. 10",
    )


@theorem("RUCB", policy="RUCB")
def rucb_bound(
    matrix: PreferenceMatrix | ArrayLike, *, alpha: float = 2.0
) -> RegretBound:
    """Compute the finite-time regret bound of RUCB.

    With the Condorcet winner w, Delta_i = P(w beats i) - 1/2 and Delta* the largest of
    them::

        E[R(T)] <= Delta* ((4 alpha - 1) K^2 / (2 alpha - 1))^(1 / (2 alpha - 1))
                          (2 alpha - 1) / (2 alpha - 2)
                   + sum over i > j of 2 alpha (Delta_i + Delta_j)
                                       / min(Delta_i^2, Delta_j^2) log T.

    In a pair with w the gap 0 of w is left out of the minimum, so its term is 2 alpha /
    Delta_i.

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K), with a Condorcet winner
    alpha : float
        Width of the confidence bounds, above 1. The usual 0.51 is not covered: the
        first term grows without limit as alpha falls to 1.

    Returns
    -------
    RegretBound
        Regret "condorcet_mean", (Delta_i + Delta_j) / 2 per duel; kind "upper", for
        RUCB with this alpha. Ties between other arms are allowed.

    References
    ----------
    Zoghi, Whiteson, Munos and de Rijke (2014), "Relative upper confidence bound for the
    K-armed dueling bandit problem", ICML, arXiv:1312.3393; quoted by Agrawal and
    Chaporkar (2019), eq. 3.

    Examples
    --------
    >>> matrix = [[0.5, 0.6, 0.9], [0.4, 0.5, 0.7], [0.1, 0.3, 0.5]]
    >>> bound = rucb_bound(matrix, alpha=2.0)
    >>> round(bound.log_coefficient, 6), round(bound.constant, 6)
    (250.0, 1.655355)
    """
    checked = as_preference_matrix(matrix)
    width = number_above(alpha, 1.0, "alpha")
    winner = condorcet_winner(checked)
    gaps = checked.gaps[winner]
    # Infinity for the winner leaves its gap out of the minimum.
    squares = np.where(gaps > 0, gaps, np.inf) ** 2
    terms = (gaps[:, None] + gaps) / np.minimum(squares[:, None], squares)
    exponent = 1 / (2 * width - 1)
    base = (4 * width - 1) * checked.num_arms**2 * exponent
    start = base**exponent / (exponent * (2 * width - 2))
    return RegretBound(
        name="RUCB",
        log_coefficient=float(2 * width * np.tril(terms, k=-1).sum()),
        constant=float(gaps.max() * start),
        kind="upper",
        regret="condorcet_mean",
        assumptions=(CONDORCET, "alpha > 1"),
        policy="RUCB",
        condition=f"alpha = {width:g}",
        source="Zoghi et al. (2014); Agrawal and Chaporkar (2019), eq. 3",
    )


def kl_ucb_constant(means: ArrayLike) -> RegretBound:
    """Compute the constant of KL-UCB for a bandit that plays one arm per round.

    The sum over arms a with m_a < m* of (m* - m_a) / KL(m_a, m*). Arms play it
    log T / KL(m_a, m*) times, up to a factor 1 + epsilon and O(log log T) (eq. 2 of the
    second source).

    Parameters
    ----------
    means : array-like (A,)
        Expected rewards in [0, 1] of A >= 1 arms.

    Returns
    -------
    RegretBound
        Regret "expected_reward": m* minus the mean of the arm played; kind "asymptotic
        upper". If m* = 1 the divergences are infinite and the constant is 0.

    References
    ----------
    Garivier and Cappe (2011), "The KL-UCB algorithm for bounded stochastic bandits and
    beyond", COLT; quoted by Agrawal and Chaporkar (2019), "KLUCB approach to Copeland
    bandits", eqs. 1 and 2, the former with the numerator's sign reversed.

    Examples
    --------
    >>> round(kl_ucb_constant([0.9, 0.8]).log_coefficient, 6)
    2.2521
    """
    rewards = numeric_array(means, "means")
    if rewards.ndim != 1 or rewards.size == 0:
        raise ArgumentError(
            "means", "must be a list with one number per arm, shape (K,)", rewards.shape
        )
    outside = ~((rewards >= 0) & (rewards <= 1))
    refuse_entries(outside, rewards, "means", "must lie in [0, 1]", kind=ArgumentError)
    plays = _plays_per_log_round(rewards)
    return RegretBound(
        name="KL-UCB",
        log_coefficient=float(((rewards.max() - rewards) * plays).sum()),
        kind="asymptotic upper",
        regret="expected_reward",
        assumptions=("rewards in [0, 1], independent with these means",),
        remainder="+ o(log T)",
        policy="KL-UCB",
        source="Garivier and Cappe (2011); Agrawal and Chaporkar (2019), eq. 1",
    )


@theorem("Sup-KLUCB", policy="Sup-KLUCB")
def sup_klucb_constant(
    matrix: PreferenceMatrix | ArrayLike,
    *,
    score: str = "copeland",
    regret: str | None = None,
) -> RegretBound:
    """Compute the constant of KL-UCB on the bandit to which Sup-KLUCB reduces duels.

    Its arms are the K (K + 1) / 2 pairs i <= j, with the product m_ij = s_i s_j of two
    scores as mean. If the rewards were independent with these means, the pair (i, j)
    would be played log T / KL(m_ij, s*^2) times. They are not: the algorithm computes
    them from its estimates. So this is no bound, but a number to hold against a
    simulation.

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K)
    score : {"copeland", "borda"}
        "copeland": share of the other arms that an arm beats. "borda": mean of its row,
        itself included, as the algorithm has it.
    regret : str, optional
        A notion of `theory.REGRET_NOTIONS` by which the plays are counted; the one of
        the score by default. "expected_reward" is the reduced bandit's own regret, s*^2
        - m_ij.

    Returns
    -------
    RegretBound
        Kind "heuristic". With a Condorcet winner and Copeland scores s* = 1, all
        divergences are infinite, and the constant is 0: the index of such a pair is 1
        for ever, and the algorithm stops to learn.

    Raises
    ------
    InvalidPreferenceError
        If two arms share the best score, or the notion of regret is unknown or not
        defined.

    References
    ----------
    Agrawal and Chaporkar (2019), eqs. 1 and 2 and section 3.

    Examples
    --------
    >>> matrix = [
    ...     [0.5, 0.8, 0.8, 0.7, 0.2],
    ...     [0.2, 0.5, 0.8, 0.2, 0.8],
    ...     [0.2, 0.2, 0.5, 0.8, 0.8],
    ...     [0.3, 0.8, 0.2, 0.5, 0.2],
    ...     [0.8, 0.2, 0.2, 0.8, 0.5],
    ... ]
    >>> bound = sup_klucb_constant(matrix)
    >>> round(bound.log_coefficient, 4), bound.kind
    (17.1311, 'heuristic')
    """
    one_of(score, SCORES, "score")
    checked = as_preference_matrix(matrix)
    scores = checked.copeland_scores
    if score == "borda":
        scores = checked.values.mean(axis=1)
    best = np.flatnonzero(scores >= scores.max() - 1e-12)
    if best.size > 1:
        raise InvalidPreferenceError(
            "matrix",
            f"must have one arm with the best {score} score, as Sup-KLUCB assumes; "
            f"arms {best[0]} and {best[1]} share the {score} score",
            scores.max(),
        )
    first, second = np.triu_indices(checked.num_arms)
    means = scores[first] * scores[second]
    notion = score
    if regret is not None:
        notion = one_of(regret, ("expected_reward", *REGRET_NOTIONS), "regret")
    if notion == "expected_reward":
        paid = means.max() - means
    else:
        table = pair_regret(
            checked.values, checked.gaps, notion, include_self=score == "borda"
        )
        paid = table[first, second]
    return RegretBound(
        name=f"Sup-KLUCB, {score} scores",
        log_coefficient=float((paid * _plays_per_log_round(means)).sum()),
        kind="heuristic",
        regret=notion,
        assumptions=(
            "one arm has the best score",
            "rewards independent with the true scores' products as means: not the case",
        ),
        remainder="+ o(log T)",
        policy="Sup-KLUCB",
        source="Agrawal and Chaporkar (2019), eqs. 1 and 2, for the pairs of section 3",
    )


def _plays_per_log_round(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / KL(m_a, m*) of every arm; 0 for the best ones and where it is infinite."""
    best = means.max()
    behind = means < best
    divergence = bernoulli_kl(np.where(behind, means, 0.0), best if best else 0.5)
    return np.where(behind, 1.0 / np.where(behind, divergence, math.inf), 0.0)

"""How sure confidence bounds are, and how often arms are compared, as the proofs say.

For drawing beside what a simulation counts. Wu and Liu (2016), "Double Thompson
sampling for dueling bandits", NIPS, bound the failures of the relative confidence
bounds (Lemmas 4 and 6) and the numbers of comparisons (Lemmas 1, 2 and 5); Yang, Ren,
Dhillon and Sanghavi (2021), "Combinatorial bandits without total order for arms",
arXiv:2103.02741, follow one number rho(t) through a run (Lemma 1). Natural logarithms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from theory.arguments import integer_from, number_above, number_from, true_or_false
from theory.copeland_program.program_data import matrix_without_ties
from theory.divergences import bernoulli_kl, kl_to_half
from theory.errors import ArgumentError, ArgumentTypeError, InvalidPreferenceError
from theory.preferences import TIE_TOLERANCE, PreferenceMatrix
from theory.validation import numeric_array, refuse_entries

if TYPE_CHECKING:
    from jaxtyping import Float64


def relative_bound_failure(
    rounds: ArrayLike, *, alpha: float = 0.51
) -> Float64[np.ndarray, "*shape"]:
    """Bound the probability that a relative confidence bound is wrong in a round.

    (log t / log(alpha + 1/2) + 1) t^(-2 alpha / (alpha + 1/2)), for the event that the
    upper bound of a pair is not above its probability, and the same for the lower one.

    Parameters
    ----------
    rounds : array-like of numbers, any shape
        Rounds t >= 1.
    alpha : float
        Width of the bounds, above 1/2.

    Returns
    -------
    float64 array, same shape
        Not cut at 1. For alpha = 0.51 it is above 1 up to t = 605, with a maximum of 37
        at t = 3, and 0.001 at t = 1e6.

    References
    ----------
    Wu and Liu (2016), Lemma 6, eqs. 8 and 9, after Bubeck (2010).

    Examples
    --------
    >>> relative_bound_failure([100, 10_000, 1_000_000])
    array([4.4..., 0.08..., 0.001...])
    """
    width = number_above(alpha, 0.5, "alpha")
    times = numeric_array(rounds, "rounds")
    bad = ~(np.isfinite(times) & (times >= 1))
    if bad.any():
        raise ArgumentError(
            "rounds", "must be finite and at least 1", times[bad].flat[0]
        )
    logs = np.log(times)
    peels = logs / math.log(width + 0.5) + 1
    return np.asarray(peels * np.exp(-_decay(width) * logs))


def relative_bound_failures(*, alpha: float = 0.51, as_printed: bool = False) -> float:
    """Bound the expected number of rounds in which a relative bound is wrong.

    With L = log(alpha + 1/2) and s = 2 alpha / (alpha + 1/2), the sum over t >= 1 of
    `relative_bound_failure` is at most its integral 1 / (L (s - 1)^2) + 1 / (s - 1)
    plus its largest value.

    Parameters
    ----------
    alpha : float
        Width of the bounds, above 1/2.
    as_printed : bool
        Return 2 / (L (s - 1)^2) instead, as Lemma 6 has it.

    Returns
    -------
    float
        For one pair and one of its two bounds. At alpha = 0.51 more than a million
        rounds: why theorems and curves are far apart.

    Notes
    -----
    The printed form bounds the sum only while L (s - 1) is well below 1: at alpha = 2.5
    and above the sum is larger.

    References
    ----------
    Wu and Liu (2016), Lemma 6, eqs. 10 and 11.

    Examples
    --------
    >>> round(relative_bound_failures(alpha=1.0), 2)
    26.37
    >>> round(relative_bound_failures(alpha=1.0, as_printed=True), 2)
    44.39
    """
    width = number_above(alpha, 0.5, "alpha")
    true_or_false(as_printed, "as_printed")
    peel, excess = math.log(width + 0.5), _decay(width) - 1
    if as_printed:
        return 2 / (peel * excess**2)
    # The derivative vanishes where log t = 1/s - L.
    top = math.exp(max(0.0, 1 / (excess + 1) - peel))
    largest = float(relative_bound_failure(top, alpha=width))
    return 1 / (peel * excess**2) + 1 / excess + largest


def copeland_score_failure(
    rounds: ArrayLike, num_arms: int, *, alpha: float = 0.51
) -> Float64[np.ndarray, "*shape"]:
    """Bound the probability that no optimistic Copeland score reaches the true best.

    K times `relative_bound_failure`: the best arm's score is too low only if the upper
    bound of one of its pairs is wrong.

    Parameters
    ----------
    rounds : array-like of numbers, any shape
        Rounds t >= 1.
    num_arms : int
        Number of arms K >= 2.
    alpha : float
        Width of the bounds, above 1/2.

    Returns
    -------
    float64 array, same shape
        Not cut at 1.

    References
    ----------
    Wu and Liu (2016), Lemma 4.

    Examples
    --------
    >>> copeland_score_failure([1e4, 1e6], 16)
    array([1.35..., 0.019...])
    """
    arms = integer_from(num_arms, 2, "num_arms")
    return arms * relative_bound_failure(rounds, alpha=alpha)


@dataclass(frozen=True, eq=False)
class ComparisonCounts:
    """Leading terms of the expected comparisons of every ordered pair under D-TS.

    Attributes
    ----------
    log_coefficients, loglog_coefficients : float64 (K, K)
        Entry (i, j): i is the first arm, j the second one. Factors of log T and of log
        log T; the diagonal is 0, self-duels of arms that do not win being O(K).
    remainder : str
        What is left out.
    """

    log_coefficients: NDArray[np.float64]
    loglog_coefficients: NDArray[np.float64]
    remainder: str

    def __call__(self, horizon: float) -> Float64[np.ndarray, "K K"]:
        """Evaluate the leading terms at a horizon of at least 3, float64 (K, K)."""
        rounds = number_from(horizon, 3, "horizon")
        logs = math.log(rounds)
        return self.log_coefficients * logs + self.loglog_coefficients * math.log(logs)


def double_thompson_counts(
    matrix: PreferenceMatrix | ArrayLike,
    *,
    alpha: float = 0.51,
    epsilon: float = 0.1,
    beta: float = 2.5,
    refined: bool = False,
) -> ComparisonCounts:
    """Bound the expected number of comparisons of every ordered pair under D-TS.

    With g_ji = P(j beats i) - 1/2 and d_ji its divergence from 1/2, the pair (first i,
    second j) is compared at most (1 + epsilon) log T / d_ji times if i beats j (Lemma
    1) and 4 alpha log T / g_ji^2 times if j beats i (Lemma 2).

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K), no ties
    alpha, epsilon, beta
        As in `theory.theorems.double_thompson_refined_bound`; beta for the refined form
        only.
    refined : bool
        For arms i that are no Copeland winner let s_i(1), s_i(2), ... be all arms by
        decreasing P(j beats i); from s_i(L(1) + 2) on the count is beta (1 + epsilon)^2
        log log T / KL(P(s_i(m) beats i), P(s_i(L(1) + 1) beats i)) (Lemma 5), and 0
        where that divergence is infinite.

    Returns
    -------
    ComparisonCounts
        Callable on a horizon. The sum of all entries is the corresponding
        `theory.theorems.double_thompson_bound`, but for the term of i itself that the
        refined bound has in addition.

    Raises
    ------
    InvalidPreferenceError
        If, refined, some P(s_i(m) beats i) with m > L(1) + 1 equals P(s_i(L(1) + 1)
        beats i) within 1e-8; the arm i is named.

    References
    ----------
    Wu and Liu (2016), Lemmas 1, 2, 3 and 5.

    Examples
    --------
    >>> counts = double_thompson_counts([[0.5, 0.7], [0.3, 0.5]], alpha=0.6)
    >>> counts.log_coefficients
    array([[ 0.  , 13.36...],
           [60.  ,  0.  ]])
    """
    checked = matrix_without_ties(matrix)
    true_or_false(refined, "refined")
    width = number_above(alpha, 0.5, "alpha")
    slack = 1 + number_above(epsilon, 0.0, "epsilon")
    factor = number_above(beta, 2.0, "beta") * slack**2
    gaps, least = checked.gaps, int(checked.losses.min())
    off = np.where(gaps == 0, 1.0, gaps)
    log_term = np.where(gaps > 0, slack / kl_to_half(off.clip(-0.5, 0.5)), 0.0)
    log_term = np.where(gaps < 0, 4 * width / off**2, log_term)
    loglog_term = np.zeros_like(log_term)
    for arm in range(checked.num_arms) if refined else ():
        if arm in checked.loss_winners:
            continue
        order = np.argsort(-gaps[:, arm], kind="stable")
        limit, later = gaps[order[least], arm], order[least + 1 :]
        if limit - gaps[later[0], arm] < TIE_TOLERANCE:
            raise InvalidPreferenceError(
                "matrix",
                f"must have a P(j beats {arm}) of the best {least + 1} arms j above "
                f"that of all others, for the refined counts (arms {order[least]} "
                f"and {later[0]} both have it)",
                0.5 + limit,
                remedy="use refined=False",
            )
        later = later[later != arm]
        divergence = bernoulli_kl(0.5 + gaps[later, arm], 0.5 + limit)
        log_term[arm, later] = 0.0
        loglog_term[arm, later] = factor / divergence
    return ComparisonCounts(
        log_coefficients=log_term,
        loglog_coefficients=loglog_term,
        remainder="+ O(1 / epsilon^2) per pair, + O(K) self-duels per losing arm",
    )


def lowest_index(
    indices: ArrayLike, offered: ArrayLike
) -> tuple[Float64[np.ndarray, " T"], Float64[np.ndarray, " T"]]:
    """Return the smallest index among the offered arms in each round.

    rho'(t) is the smallest index of an arm in the set of round t, rho(t) the smallest
    rho' so far. While the index rule offers the arms with the largest indices, and only
    the indices of offered arms move, no other arm has an index above rho(t).

    Parameters
    ----------
    indices : array-like (T, n)
        Index of every arm before round t; infinity for arms not offered yet.
    offered : array-like of bool (T, n)
        Whether an arm is in the set of round t, at least one per round.

    Returns
    -------
    rho_prime, rho : float64 (T,)
        Smallest index of the round, and so far.

    Raises
    ------
    ValueError
        If the shapes differ, an index is nan, or a set is empty.

    References
    ----------
    Yang, Ren, Dhillon and Sanghavi (2021), section 1 (before Lemma 1).

    Examples
    --------
    >>> lowest_index([[0.9, 0.5], [0.7, 0.8]], [[True, False], [False, True]])[1]
    array([0.9, 0.8])
    """
    values = numeric_array(indices, "indices")
    chosen = np.asarray(offered) if isinstance(offered, list | tuple) else offered
    if not isinstance(chosen, np.ndarray):
        raise ArgumentTypeError("offered", "must be an array of bool", offered)
    if values.ndim != 2 or values.shape != chosen.shape or chosen.dtype != np.bool_:
        raise ArgumentError(
            "offered",
            f"must be a table of bool of the shape of indices, {values.shape}, with "
            "one row per round",
            (chosen.shape, str(chosen.dtype)),
        )
    for name, table, bad, rule in (
        ("indices", values, np.isnan(values).any(axis=1), "must not be nan"),
        ("offered", chosen, ~chosen.any(axis=1), "must offer an arm in every row"),
    ):
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise ArgumentError(name, rule, table[row].tolist(), index=row)
    lowest = np.where(chosen, values, np.inf).min(axis=1)
    return lowest, np.minimum.accumulate(lowest)


def unoffered_index_range(
    rho: ArrayLike, plays: ArrayLike
) -> tuple[Float64[np.ndarray, "*shape"], Float64[np.ndarray, "*shape"]]:
    """Compute the range of the index of an arm that is not offered.

    rho(t) (1 - 1 / N_i(t)) <= index <= rho(t), surely and not only with high
    probability. The paper prints N_i(T), the number of plays at the end, in the first
    factor; the proof gives N_i(t), and with N_i(T) the claim is wrong.

    Parameters
    ----------
    rho : array-like
        rho(t), not negative.
    plays : array-like
        N_i(t) >= 1, rounds before t in which the arm was offered; shapes broadcast.

    Returns
    -------
    lowest, highest : float64 arrays
        Ends of the range; [0, infinity] while rho is infinite and N_i is 1.

    References
    ----------
    Yang, Ren, Dhillon and Sanghavi (2021), Lemma 1.

    Examples
    --------
    >>> lowest, highest = unoffered_index_range(0.8, [1, 2, 10])
    >>> lowest
    array([0.  , 0.4 , 0.72])
    """
    top, counts = numeric_array(rho, "rho"), numeric_array(plays, "plays")
    rule = "must not be negative or nan"
    refuse_entries(~(top >= 0), top, "rho", rule, kind=ArgumentError)
    rule = "must be at least 1"
    refuse_entries(~(counts >= 1), counts, "plays", rule, kind=ArgumentError)
    try:
        top, counts = np.broadcast_arrays(top, counts)
    except ValueError as error:
        raise ArgumentError(
            "rho and plays",
            "must have shapes that broadcast",
            (top.shape, counts.shape),
        ) from error
    share = 1 - 1 / counts
    lowest = np.zeros_like(top)
    np.multiply(top, share, out=lowest, where=share > 0)
    return lowest, top.copy()


def _decay(alpha: float) -> float:
    """Exponent s = 2 alpha / (alpha + 1/2) > 1 of the failure probability."""
    return 2 * (alpha / (alpha + 0.5))  # In this order for the largest numbers, too.

"""How strongly duels say that an arm is a Copeland winner, at any time.

A *tournament* says of every pair which arm is better. For an arm w that is named, those
in which w is no Copeland winner have to be ruled out. If ruling out that i is better
than j is worth V_ij, the least of the sums of V over all of them is

    sum over pairs of min(V_ij, V_ji)  +  min over F of sum over F of |V_ij - V_ji|,

F over the sets of pairs that, turned round, leave another arm with more wins than w.
An arm i has more wins than w exactly where

    2 [i beats w] + sum over j of ([i beats j] + [j beats w]) >= K,

j being neither, so that the cheapest F of a rival is made of the smallest |V_ij - V_ji|
of these pairs: polynomial time for exponentially many tournaments. It is the smallest
left-hand side of the constraints (P) of `theory.copeland_program.constraints`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from theory.arguments import arm_index, items_of, number_within, share_of, width_of
from theory.divergences import kl_to_half
from theory.errors import InvalidPreferenceError
from theory.identification.beta_fraction import incomplete_beta_fraction
from theory.validation import refuse_entries, square_matrix

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64

# Duels of one pair, either way; with more, evidence is off by more than 0.01
_MOST_DUELS = 10**12
# Below, SciPy's incomplete Beta function loses digits: its logarithm is off by up to
# 0.05 at 1e-283, where it has been seen first at 1e-217; below 1e-308 it is 0
_LEAST_TAIL = 1e-150
# Share of the money that is at stake in each bet, whatever the number of arms
ELIMINATION_WEIGHT = 0.05

# Beyond these the integrals of the bets lose their digits.
_LEAST_PRIOR, _LARGEST_PRIOR = 0.001, 1000


def likelihood_evidence(wins: ArrayLike) -> Float64[np.ndarray, " K"]:
    """Compute the generalized likelihood ratio statistic of every arm as a winner.

    For an arm w it is the least of sum N_ij KL(p_ij, m_ij) over all matrices m in which
    w is no Copeland winner, p_ij being the share of the N_ij duels that i won: the sum
    of N_ij KL(p_ij, 1/2) over the cheapest set of pairs that would have to go the other
    way. With the duels of `identification_bound`, log(1/delta) times, it is
    log(1/delta). By itself it is no test with a known error: `anytime_evidence` is one.

    Parameters
    ----------
    wins : array-like (K, K)
        Entry (i, j): number of duels with j that i won, at most 10^12. The diagonal is
        not read.

    Returns
    -------
    float64 (K,)
        0 for arms that would not be Copeland winners if the pairs without duels, or
        with even counts, fell against them.

    References
    ----------
    Garivier and Kaufmann (2016), section 3.2.

    Examples
    --------
    >>> likelihood_evidence([[0, 60, 80], [40, 0, 70], [20, 30, 0]]).round(3)
    array([2.014, 0.   , 0.   ])
    """
    counts = checked_wins(wins)
    duels = counts + counts.T
    played = duels > 0
    gaps = np.where(played, (counts - counts.T) / np.where(played, 2 * duels, 1), 0.0)
    return _least_turned(np.where(gaps < 0, duels * kl_to_half(gaps), 0.0))


def anytime_evidence(
    wins: ArrayLike,
    *,
    prior: float = 0.5,
    weight: float | None = None,
    width: float = 0.0,
    unknown: ArrayLike | None = None,
) -> Float64[np.ndarray, " K"]:
    """Compute the logarithm of an e-value against "this arm is no Copeland winner".

    Stop as soon as an entry reaches log(1/delta), and name that arm: whatever decides
    about the next duel, however often one looks, and whenever one stops, each arm that
    is no Copeland winner is named with probability at most delta; and so is any of
    them, unless pairs are at exactly 1/2 (see the notes).

    Against "i is not better than j" bets a mixture of all p in (1/2, 1],

        E_ij = integral over p of (2 p)^w (2 (1 - p))^l dpi(p),

    for w wins and l losses of i, with pi the distribution Beta(prior, prior) on that
    half. Under any p_ij <= 1/2 this is a supermartingale. Of the stake `weight` is bet
    and the rest kept, A_ij = log(1 - weight + weight E_ij), so that a pair loses little
    where it says nothing. The product of bets against the true tournament is a
    supermartingale under every sampling rule; returned is the smallest product over all
    tournaments in which the arm is no winner.

    With a ``width`` arms that come close to a winner are right answers too. An arm is
    wrong then only if some rival is *clearly* better, by more than 1/2 + width, than
    more arms than it is itself not clearly worse than. A pair has three states then,
    and the bets are against "j is clearly better" (the mixture of p > 1/2 - width)
    and against "neither is" (the mean of both mixtures of p > 1/2 + width). So pairs
    near 1/2, even exactly there, no longer keep a name back for ever.

    Parameters
    ----------
    wins : array-like (K, K)
        As for `likelihood_evidence`.
    prior : float
        From 0.001 to 1000; 1/2 is the distribution of Jeffreys, 1 the uniform
        distribution.
    weight : float, optional
        Between 0 and 1; 1/K by default. A pair that needs no turning costs at most
        -log(1 - weight), one that does at most -log(weight): 2 m / K^2 is best if m
        pairs have to be turned. It must be chosen before the duels.
    unknown : array-like (K, K), optional
        Symmetric: duels of the pair whose outcome is not known, and not in ``wins``.
        Each counts as a loss in every bet on the pair, so that what is returned is a
        lower bound, whatever those outcomes are and whoever keeps them back.

    Returns
    -------
    float64 (K,)
        At most `likelihood_evidence`; not positive for arms where that is 0.

    Notes
    -----
    Pairs at exactly 1/2 may be broken either way, and the bound holds for each way: an
    arm that is no winner under some way is named with probability at most delta. So is
    each arm that is no Copeland winner; that *some* such arm is named has probability
    at most 2 delta, since two ways are enough to make each of them lose (see the page
    on stopping). Use delta/2 where exact ties are possible and the sum matters. With a
    ``width`` above 0 every pair is in one state, and delta bounds all wrong arms
    together. Where ties alone decide, the duels most likely go on for ever.

    References
    ----------
    Ville (1939); Robbins (1970) and Kaufmann and Koolen (2021) for mixtures.

    Examples
    --------
    >>> evidence = anytime_evidence([[0, 300, 90], [200, 0, 80], [10, 20, 0]])
    >>> evidence.round(2)
    array([ 5.53, -1.2 , -1.2 ])
    >>> float(np.exp(-evidence[0])) < 0.01
    True
    """
    counts = checked_wins(wins)
    kind = InvalidPreferenceError
    stake = 1 / len(counts) if weight is None else share_of(weight, "weight", kind=kind)
    shape = number_within(prior, _LEAST_PRIOR, _LARGEST_PRIOR, "prior", kind=kind)
    around = width_of(width, "width", kind=kind)
    hidden = np.zeros_like(counts) if unknown is None else checked_unknown(unknown)

    bets = _log_bets(counts.T, counts + hidden, shape, 0.5 - around)
    better = _worth(bets, stake)
    neither = np.full(counts.shape, np.inf)
    if around > 0.0:
        bets = _log_bets(counts, counts.T + hidden, shape, 0.5 + around)
        neither = _worth(np.logaddexp(bets, bets.T) - math.log(2.0), stake)
    # The hardest tournament in which an arm is no winner: entry (i, j) is what has been
    # won against "i is (clearly) better", and against "neither".
    least = np.minimum(np.minimum(better, better.T), neither)
    np.fill_diagonal(least, 0.0)
    return np.triu(least).sum() + _least_turned(better - least)


def elimination_evidence(
    wins: ArrayLike,
    *,
    prior: float = 0.5,
    weight: float = ELIMINATION_WEIGHT,
    retired: Iterable[int] = (),
) -> Float64[np.ndarray, " K"]:
    """Compute the logarithm of an e-value against "no other arm is better than this".

    Eliminate an arm as soon as its entry reaches log(1/delta). Then a best arm, one
    that no arm of the pool beats with a probability above 1/2, is eliminated with
    probability at most delta, whatever decides about the next duel and however often
    one looks.

    The entry of arm i is the sum over the others of A_ij = log(1 - weight + weight
    E_ij), E_ij being the bet of `anytime_evidence` against "i is better than j". An arm
    that is no best arm has a rival that beats it, and the bet against that pair grows.
    Arms may join the pool and leave it, whenever and for whatever reason: of a
    retired arm j only min(A_ij, 0) is added.

    Parameters
    ----------
    wins : array-like (K, K)
        Entry (i, j): number of duels with j that i won, at most 10^12. The diagonal is
        not read.
    prior : float
        From 0.001 to 1000, as for `anytime_evidence`.
    weight : float
        Between 0 and 1. It has to be the same all the time, also where arms join.
    retired : iterable of int
        Positions of arms that are compared no more. Their own entries are computed as
        if they were compared.

    Returns
    -------
    float64 (K,)
        At least K log(1 - weight).

    Notes
    -----
    For an arm w let B be the set of all arms, also of those to come, that are not
    better than w. The product of exp(A_wj) over B is a nonnegative supermartingale that
    begins at 1, under every sampling rule. While w is a best arm of the pool, the pool
    is in B, and what is added of retired arms is at most 0 and at most A_wj: so the
    entry is at most the logarithm of that product, and Ville's inequality bounds the
    probability that it ever reaches log(1/delta). The bound is for each arm: if m arms
    are the best one after the other, as better ones join, some of them is eliminated
    while it is the best with probability at most m delta. Without a Condorcet winner
    every arm may be beaten by another, and be eliminated.

    References
    ----------
    Ville (1939); Robbins (1970) and Kaufmann and Koolen (2021) for mixtures.

    Examples
    --------
    >>> wins = [[0, 300, 90], [200, 0, 80], [10, 20, 0]]
    >>> elimination_evidence(wins).round(2)
    array([-0.1 ,  4.39, 46.41])
    >>> elimination_evidence(wins, retired=[0]).round(2)
    array([-0.1 , -0.05, 14.44])
    """
    counts = checked_wins(wins)
    kind = InvalidPreferenceError
    stake = share_of(weight, "weight", kind=kind)
    shape = number_within(prior, _LEAST_PRIOR, _LARGEST_PRIOR, "prior", kind=kind)
    compared = np.ones(len(counts), dtype=bool)
    for index, arm in enumerate(items_of(retired, "retired", kind=kind)):
        compared[arm_index(arm, len(counts), f"retired[{index}]", kind=kind)] = False
    return eliminated_by(against_better(counts, shape, stake), compared)


def against_better(
    counts: Float64[np.ndarray, "K K"],
    prior: float = 0.5,
    stake: float = ELIMINATION_WEIGHT,
) -> Float64[np.ndarray, "K K"]:
    """Return A_ij of `elimination_evidence`; 0 on the diagonal."""
    worth = _worth(_log_bets(counts.T, counts, prior), stake)
    np.fill_diagonal(worth, 0.0)
    return worth


def eliminated_by(
    against: Float64[np.ndarray, "K K"], compared: Bool[np.ndarray, " K"]
) -> Float64[np.ndarray, " K"]:
    """Return the sums of `elimination_evidence`."""
    return np.where(compared, against, np.minimum(against, 0.0)).sum(axis=1)


def _worth(
    bets: Float64[np.ndarray, "K K"], stake: float
) -> Float64[np.ndarray, "K K"]:
    """Return what bets are worth of which a share of the money is at stake."""
    return np.logaddexp(math.log1p(-stake), math.log(stake) + bets)


def _log_bets(
    wins: Float64[np.ndarray, "*shape"],
    losses: Float64[np.ndarray, "*shape"],
    prior: float,
    bound: float = 0.5,
) -> Float64[np.ndarray, "*shape"]:
    """Return log E of bets on p > bound, after so many wins and losses."""
    from scipy.special import betainc, betaln

    a, b, rest = wins + prior, losses + prior, 1.0 - bound
    whole = betaln(prior, prior) + np.log(betainc(prior, prior, rest))
    # P(p > bound) under Beta(a, b).
    upper = betainc(b, a, rest)
    is_small = upper < _LEAST_TAIL
    rates = wins * np.log(bound) + losses * np.log(rest)
    bets = betaln(a, b) - rates - whole + np.log(np.where(is_small, 1.0, upper))
    if is_small.any():
        x, y = b[is_small], a[is_small]
        fraction = np.vectorize(incomplete_beta_fraction)(x, y, rest)
        edge = prior * (np.log(bound) + np.log(rest))
        bets[is_small] = edge + np.log(fraction / x) - whole
    return bets


def _least_turned(costs: Float64[np.ndarray, "K K"]) -> Float64[np.ndarray, " K"]:
    """Return for every arm the least cost at which some rival has more wins."""
    num_arms = len(costs)
    table = costs.copy()
    np.fill_diagonal(table, np.inf)
    rows, columns = _Sorted.of(table), _Sorted.of(table.T)
    least = np.full(num_arms, np.inf)
    for arm in range(num_arms):
        direct = table[:, arm]
        # For a rival: its own pairs and those of the arm. Their direct pair would count
        # twice, and is taken out: the sum of the rest is the largest of these.
        sums = _least_sums(rows, columns, arm, num_arms - 2)
        with np.errstate(invalid="ignore"):  # The arm is no rival of its own.
            rest = [
                np.maximum(
                    np.maximum(sums[first], sums[first + 1] - direct),
                    sums[first + 2] - 2 * direct,
                )
                for first in (0, 2)
            ]
            cost = np.minimum(direct + rest[0], rest[1])
        cost[arm] = np.inf
        least[arm] = max(cost.min(), 0.0)
    return least


class _Sorted(NamedTuple):
    """Rows in ascending order, with infinity behind them, and sums of their begins."""

    entries: Float64[np.ndarray, "row size"]
    sums: Float64[np.ndarray, "row size"]

    @classmethod
    def of(cls, table: Float64[np.ndarray, "row K"]) -> Self:
        entries = np.sort(table, axis=1)
        sums = np.pad(np.cumsum(entries, axis=1), ((0, 0), (1, 0)))
        return cls(np.pad(entries, ((0, 0), (0, 1)), constant_values=np.inf), sums)


def _least_sums(
    rows: _Sorted, columns: _Sorted, arm: int, size: int
) -> Float64[np.ndarray, "5 K"]:
    """Return the sums of the least entries of each row and one column together."""
    # Sums of ``size`` entries and up to four more; bisection finds how many are from
    # the row.
    num_arms = len(rows.entries)
    start = np.arange(num_arms) * (num_arms + 1)
    flat, column = rows.entries.ravel(), columns.entries[arm]
    below, above = np.zeros(num_arms, dtype=int), np.full(num_arms, size)
    for _ in range(int(size).bit_length()):
        middle = (below + above) >> 1
        more = (below < above) & (flat[start + middle] < column[size - middle - 1])
        below, above = np.where(more, middle + 1, below), np.where(more, above, middle)
    left = size - below
    sums = [rows.sums.ravel()[start + below] + columns.sums[arm, left]]
    for _ in range(4):
        first, second = flat[start + below], column[left]
        sums.append(sums[-1] + np.minimum(first, second))
        below = np.minimum(below + (first <= second), num_arms)
        left = np.minimum(left + (first > second), num_arms)
    return np.array(sums)


def checked_wins(wins: ArrayLike) -> Float64[np.ndarray, "K K"]:
    """Return numbers of duels won, without the diagonal; raise where they are none."""
    counts = square_matrix(wins, "wins")
    np.fill_diagonal(counts, 0.0)
    bad = (counts < 0) | (counts > _MOST_DUELS) | (counts != np.floor(counts))
    rule = "must be a whole number from 0 to 1e12"
    remedy = "count the duels with j that i won"
    refuse_entries(bad, counts, "wins", rule, remedy=remedy)
    return counts


def checked_unknown(unknown: ArrayLike) -> Float64[np.ndarray, "K K"]:
    """Return numbers of duels without an outcome; raise where they are none."""
    counts = checked_wins(unknown)
    if (counts != counts.T).any():
        rule = "must be symmetric: duels of a pair that nobody is known to have won"
        raise InvalidPreferenceError("unknown", rule, counts.tolist())
    return counts

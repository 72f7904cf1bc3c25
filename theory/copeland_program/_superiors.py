"""Superiors of every arm in the order of their cost, and the cheapest way to use them.

The efficient program of Komiyama, Honda and Nakagawa (2016, eqs. 4 and 5) asks, for
every rival i2 of a Copeland winner i1, that the evidence on any L_i2 - L(1) + 1 of its
superiors other than i1 adds up to 1. The rivals share no pair. With n superiors in the
pool, k = n - (L_i2 - L(1) + 1) = L(1) - 1 - [i1 beats i2], and the costs in increasing
order, c_(1) <= ... <= c_(n), Theorem 5 there gives

    block cost = min over h = k + 1, ..., n of (c_(1) + ... + c_(h)) / (h - k),

attained by 1/(h - k) units on each of the h cheapest superiors; for k < 0 there is no
constraint. Ties: equal costs in the order of the arms; among equal ratios (within
1e-12) the smallest h.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from theory._arrays import floating
from theory.copeland_program._constraints import rank_by_counting
from theory.copeland_program._costs import evidence_costs, losses

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Float64, Int, Int32


# Ratios that differ by less are equal: the same instance then gets the same allocation
# whatever the order in which a library adds numbers.
_EQUAL_RATIO = 1e-12


@dataclass(frozen=True)
class RankedSuperiors:
    """Superiors of every arm, ordered by cost.

    Attributes
    ----------
    costs : float (K, K)
        Price of one unit of evidence on every pair.
    members : bool (K, K)
        Entry (i, j): j beats i.
    ranks : int32 (K, K)
        Entry (i, j): number of superiors of i that come before j, by cost, then by
        number; read only where j is a superior.
    prefixes : float (K, K)
        Entry (i, j): sum of the costs of these and of j.
    counts : int32 (K,)
        Number of losses of every arm.
    """

    costs: Float[Any, "K K"]
    members: Bool[Any, "K K"]
    ranks: Int32[Any, "K K"]
    prefixes: Float[Any, "K K"]
    counts: Int32[Any, " K"]


@dataclass(frozen=True)
class Blocks:
    """Solution of the problems of all rivals, for A winners.

    Attributes
    ----------
    values : float (A, K)
        Block cost of every rival; 0 where there is no constraint.
    sizes : int32 (A, K, K)
        Entry (., i2, j): place of j, from 1, in the pool of i2 without the winner.
    ratios : float (A, K, K)
        Cost of a block that ends at this place; infinity where that is not allowed.
    excess : int32 (A, K)
        The number k of every rival.
    """

    values: Float[Any, "A K"]
    sizes: Int32[Any, "A K K"]
    ratios: Float[Any, "A K K"]
    excess: Int32[Any, "A K"]


def superiors_by_counting(
    gaps: Float[Any, "K K"], costs: Float[Any, "K K"] | None = None
) -> RankedSuperiors:
    """Order the superiors of every arm by comparing all pairs of costs.

    O(K^3) operations without a sort, which in compiled code for a few dozen arms is the
    faster way. With ``costs``, symmetric and not negative, only the signs of the gaps
    are read.
    """
    xp, gaps = floating(gaps)
    prices = evidence_costs(gaps) if costs is None else costs
    members = gaps < 0
    ranks = rank_by_counting(prices, members)
    upto = members[:, None, :] & (ranks[:, None, :] <= ranks[:, :, None])
    prefixes = xp.sum(xp.where(upto, prices[:, None, :], 0.0), axis=-1)
    return RankedSuperiors(prices, members, ranks, prefixes, losses(gaps))


def superiors_by_sorting(gaps: Float64[np.ndarray, "K K"]) -> RankedSuperiors:
    """Order the superiors of every arm by sorting rows, on NumPy arrays only.

    O(K^2 log K) operations and O(K^2) memory; the same order as
    `superiors_by_counting`.
    """
    return superiors_of_costs(gaps, evidence_costs(gaps))


def superiors_of_costs(
    gaps: Float64[np.ndarray, "K K"], costs: Float64[np.ndarray, "K K"]
) -> RankedSuperiors:
    """Order the superiors of every arm by given costs of pairs, by sorting rows.

    Costs are symmetric and not negative; of the gaps only the signs are read.
    """
    members = gaps < 0
    order = np.argsort(np.where(members, costs, np.inf), axis=1, kind="stable")
    sorted_costs = np.take_along_axis(np.where(members, costs, 0.0), order, axis=1)
    ranks = np.empty(gaps.shape, dtype=np.int32)
    index = np.broadcast_to(np.arange(gaps.shape[0], dtype=np.int32), gaps.shape)
    np.put_along_axis(ranks, order, index, axis=1)
    prefixes = np.empty(gaps.shape)
    np.put_along_axis(prefixes, order, np.cumsum(sorted_costs, axis=1), axis=1)
    return RankedSuperiors(costs, members, ranks, prefixes, losses(gaps))


def solve_blocks(
    superiors: RankedSuperiors,
    arms: Int[Any, " A"],
    beaten: Bool[Any, "A K"],
    costs: Float[Any, "A K"],
    ranks: Int[Any, "A K"],
) -> Blocks:
    """Solve the problem of every rival, for several winners i1.

    Removing i1 from an ordered pool moves the later places by one, and lowers their
    prefix sums by its cost. No digits are lost there: what remains of such a sum
    contains a cost at least as large as the one taken away.

    Entry (., i2) of ``beaten`` says whether the winner beats i2; ``costs`` and
    ``ranks`` are the cost of the pair, and the rank of the winner among the superiors
    of i2.
    """
    xp = superiors.costs.__array_namespace__()
    index = xp.arange(superiors.counts.shape[0], dtype=xp.int32)
    excess = xp.min(superiors.counts) - 1 - xp.astype(beaten, xp.int32)
    shifted = beaten[:, :, None] & (ranks[:, :, None] < superiors.ranks[None, :, :])
    sizes = superiors.ranks[None, :, :] + 1 - xp.astype(shifted, xp.int32)
    sums = superiors.prefixes[None, :, :] - xp.where(shifted, costs[:, :, None], 0.0)
    spare = sizes - excess[:, :, None]
    is_winner = arms[:, None] == index[None, :]
    allowed = superiors.members[None, :, :] & ~is_winner[:, None, :] & (spare > 0)
    divisor = xp.astype(xp.where(allowed, spare, 1), sums.dtype)
    ratios = xp.where(allowed, sums / divisor, math.inf)
    constrained = (excess >= 0) & ~is_winner
    values = xp.where(constrained, xp.min(ratios, axis=-1), 0.0)
    ratios = xp.where(constrained[:, :, None], ratios, math.inf)
    return Blocks(values, sizes, ratios, excess)


def blocks_of(
    superiors: RankedSuperiors, gaps: Float[Any, "K K"], winner: Int[Any, ""] | int
) -> Blocks:
    """Solve the problem of every rival for one winner, which may be traced: A = 1."""
    xp, gaps = floating(gaps)
    arm = xp.reshape(xp.asarray(winner, dtype=xp.int32), (1,))
    beaten = xp.take(gaps, arm, axis=0) > 0
    turned = xp.permute_dims(superiors.ranks, (1, 0))
    costs, ranks = (xp.take(each, arm, axis=0) for each in (superiors.costs, turned))
    return solve_blocks(superiors, arm, beaten, costs, ranks)


def allocate(
    superiors: RankedSuperiors, gaps: Float[Any, "K K"], winner: Int[Any, ""] | int
) -> tuple[Float[Any, " K"], Float[Any, "K K"]]:
    """Solve the efficient program for one winner, which may be traced.

    Returns
    -------
    values : float (K,)
        Block cost of every rival.
    evidence : float (K, K)
        An optimal allocation, symmetric.
    """
    xp, gaps = floating(gaps)
    arm = xp.reshape(xp.asarray(winner, dtype=xp.int32), (1,))
    own = xp.take(gaps, arm, axis=0) > 0
    blocks = blocks_of(superiors, gaps, winner)
    ratios, sizes = blocks.ratios[0], blocks.sizes[0]
    best = xp.min(ratios, axis=-1)[:, None]
    equal = (ratios <= best * (1.0 + _EQUAL_RATIO)) & (ratios < math.inf)
    length = xp.min(xp.where(equal, sizes, gaps.shape[0]), axis=-1)[:, None]
    index = xp.arange(gaps.shape[0], dtype=xp.int32)
    is_winner = index == arm
    pool = superiors.members & ~is_winner[None, :] & (best < math.inf)
    divisor = xp.astype(length - blocks.excess[0][:, None], gaps.dtype)
    share = xp.where(best < math.inf, 1.0 / xp.where(divisor > 0, divisor, 1.0), 0.0)
    directed = xp.where(pool & (sizes <= length), share, 0.0)
    directed = directed + xp.where(is_winner[:, None] & own, 1.0, 0.0)
    return blocks.values[0], directed + xp.permute_dims(directed, (1, 0))

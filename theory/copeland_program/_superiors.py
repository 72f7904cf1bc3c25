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

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from theory.copeland_program._costs import evidence_costs, losses

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64, Int32


# Ratios that differ by less are equal: the same instance then gets the same allocation
# whatever the order in which a library adds numbers.
_EQUAL_RATIO = 1e-12


@dataclass(frozen=True)
class RankedSuperiors:
    """Superiors of every arm, ordered by cost."""

    costs: Float64[np.ndarray, "K K"]  # Price of one unit of evidence on every pair.
    members: Bool[np.ndarray, "K K"]  # Entry (i, j): j beats i.
    # Entry (i, j): number of superiors of i that come before j, by cost, then by
    # number; read only where j is a superior.
    ranks: Int32[np.ndarray, "K K"]
    # Entry (i, j): sum of the costs of these and of j.
    prefixes: Float64[np.ndarray, "K K"]
    counts: Int32[np.ndarray, " K"]  # Number of losses of every arm.


def superiors_of_gaps(gaps: Float64[np.ndarray, "K K"]) -> RankedSuperiors:
    """Order the superiors of every arm by the cost of evidence."""
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


def allocate(
    superiors: RankedSuperiors, gaps: Float64[np.ndarray, "K K"], winner: int
) -> tuple[Float64[np.ndarray, " K"], Float64[np.ndarray, "K K"]]:
    """Solve the efficient program for one winner, in O(K^2).

    Removing i1 from an ordered pool moves the later places by one, and lowers their
    prefix sums by its cost. No digits are lost there: what remains of such a sum
    contains a cost at least as large as the one taken away.

    Return the block cost of every rival, 0 where there is no constraint, and an optimal
    allocation of evidence, symmetric.
    """
    beaten = gaps[winner] > 0
    others = np.arange(len(gaps)) != winner
    # The number k of every rival, and the places of its pool without the winner.
    excess = superiors.counts.min() - 1 - beaten
    shifted = superiors.ranks[:, winner, None] < superiors.ranks
    shifted &= beaten[:, None]
    sizes = superiors.ranks + 1 - shifted
    costs = superiors.costs[winner, :, None]
    sums = superiors.prefixes - np.where(shifted, costs, 0.0)
    spare = sizes - excess[:, None]
    pool = superiors.members & others[None, :]
    constrained = (excess >= 0) & others
    allowed = pool & (spare > 0) & constrained[:, None]
    ratios = np.where(allowed, sums / np.where(allowed, spare, 1), np.inf)
    best = ratios.min(axis=1)
    equal = (ratios <= best[:, None] * (1.0 + _EQUAL_RATIO)) & (ratios < np.inf)
    length = np.where(equal, sizes, len(gaps)).min(axis=1)
    has_block = best < np.inf
    share = np.where(has_block, 1.0 / np.where(has_block, length - excess, 1), 0.0)
    taken = pool & has_block[:, None] & (sizes <= length[:, None])
    directed = np.where(taken, share[:, None], 0.0)
    directed[winner, beaten] += 1.0
    return np.where(constrained, best, 0.0), directed + directed.T

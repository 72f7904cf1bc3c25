"""Matrices with strong stochastic transitivity that are hardest to tell from the truth.

Along an order of the arms P' obeys it if and only if P'(earlier beats later) is at
least 1/2 and grows with the distance: at (s, t), s < t, places in the order, it is not
below its value at (s + 1, t) and (s, t - 1). So the nearest P' of one order is an
isotonic regression on these pairs of places. For divergences of Bernoulli
distributions its solution is that of weighted least squares, cut at 1/2 (Robertson,
Wright and Dykstra 1988, Theorem 1.5.1), found by removing the lower set of the smallest
mean again and again. None of that need be trusted:

*Certificate from below.* The sum f is convex, so f(q') >= f(q) + g (q' - q) with its
gradient g at the solution q. The isotonic q' with values in [1/2, 1] are 1/2 plus half
of the convex combinations of indicators of upper sets. The smallest right-hand side is
found by listing these sets: there are 132 of them for six arms.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from theory.divergences import bernoulli_kl
from theory.structured.truth import Truth

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64, Int64


def upper_sets(num_arms: int) -> Bool[np.ndarray, "M L"]:
    """List the sets of pairs of places that hold with a pair all wider ones.

    Places (s, t), s < t, in reading order, L = K (K - 1) / 2 of them; the empty set and
    the full one are among the sets, as many as the K-th Catalan number.
    """
    first, second = np.triu_indices(num_arms, 1)
    starts = itertools.product(*(range(s + 1, num_arms + 1) for s in range(num_arms)))
    rows = [each for each in starts if list(each) == sorted(each)]
    return second[None, :] >= np.array(rows)[:, first]


class OrderOracle:
    """Find the nearest alternatives over all orders that another arm leads.

    Of at most 6 arms: time grows with the number of orders.
    """

    def __init__(self, truth: Truth) -> None:
        num_arms = truth.num_arms
        orders = np.array(
            [
                order
                for order in itertools.permutations(range(num_arms))
                if order[0] != truth.best
            ]
        )
        first, second = np.triu_indices(num_arms, 1)
        ahead, behind = orders[:, first], orders[:, second]
        place = np.full((num_arms, num_arms), -1)
        place[truth.behind, truth.ahead] = np.arange(truth.shares.size)
        forward = place[ahead, behind]
        self.truth = truth
        self.leaders: NDArray[np.intp] = orders[:, 0]
        self.upper = upper_sets(num_arms)
        # Pair of the truth behind every pair of places; -1 where it cannot be asked.
        self.pairs: NDArray[np.intp] = np.maximum(forward, place[behind, ahead])
        self.swapped: NDArray[np.bool_] = forward < 0
        known = self.pairs >= 0
        shares = np.where(known, truth.shares[self.pairs], 0.5)
        # P(earlier in the order beats later).
        self.shares = np.where(self.swapped, 1.0 - shares, shares)
        self.known: NDArray[np.bool_] = known

    def solve(self, weights: Float64[np.ndarray, " E"]) -> Float64[np.ndarray, "N L"]:
        """Return the isotonic regression of every order, at least 1/2."""
        w = np.where(self.known, weights[self.pairs], 0.0)
        lower = (~self.upper).T.astype(np.float64)
        left = np.ones_like(w)
        q, level = np.full_like(w, 0.5), np.full(len(w), 0.5)
        rows = np.arange(len(w))
        while left.any():
            weighted = left * w
            size, weight = self._sums(left, lower), self._sums(weighted, lower)
            wins = self._sums(weighted * self.shares, lower)
            mean = np.where(weight > 0, wins / np.where(weight > 0, weight, 1.0), 0.0)
            mean[size == 0] = np.inf
            chosen = mean.argmin(axis=1)
            level = np.clip(mean[rows, chosen], level, 1.0)
            now = (left > 0) & ~self.upper[chosen]
            q = np.where(now, level[:, None], q)
            left = np.where(now, 0.0, left)
        return q

    def _sums(
        self, table: Float64[np.ndarray, "N L"], sets: Float64[np.ndarray, "L M"]
    ) -> Float64[np.ndarray, "N M"]:
        """Add up the rows over sets; leader by leader, too little for BLAS threads."""
        num_arms = self.truth.num_arms
        by_leader = table.reshape(num_arms - 1, -1, table.shape[1])
        return (by_leader @ sets).reshape(len(table), -1)

    def values(
        self, weights: Float64[np.ndarray, " E"], q: Float64[np.ndarray, "N L"]
    ) -> tuple[Float64[np.ndarray, " N"], Float64[np.ndarray, " N"]]:
        """Return the sum of every order at ``q``, and what it is at least anywhere."""
        w = np.where(self.known, weights[self.pairs], 0.0)
        p = self.shares
        each = np.where(w > 0, w * np.asarray(bernoulli_kl(p, q)), 0.0)
        value = each.sum(axis=1)
        room = np.where(q < 1, 1.0 - q, 1.0)
        # At q = 1 only p = 1 is finite, and the slope is that from the left.
        slope = w * (np.where(q < 1, (1.0 - p) / room, 0.0) - p / q)
        sets = self._sums(slope, self.upper.T.astype(np.float64))
        least = 0.5 * (slope.sum(axis=1) + sets.min(axis=1)) - (slope * q).sum(axis=1)
        return value, value + least

    def on_pairs(
        self, q: Float64[np.ndarray, "n L"], rows: Int64[np.ndarray, " n"]
    ) -> Float64[np.ndarray, "n E"]:
        """Return P'(behind beats ahead) on the pairs of the truth for some orders."""
        found = np.full((len(rows), self.truth.shares.size), 0.5)
        turned = np.where(self.swapped[rows], 1.0 - q, q)
        index, place = np.nonzero(self.known[rows])
        found[index, self.pairs[rows][index, place]] = turned[index, place]
        return found

"""The bound under strong stochastic transitivity: cutting planes over all orders.

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

from theory.copeland_program.simplex import new_simplex
from theory.divergences import bernoulli_kl
from theory.errors import InvalidPreferenceError, ProgramError
from theory.structured.truth import Solved, Truth

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64, Int64

MOST_ARMS = 6
WHY = (
    "'transitive' looks at every order of the arms, one convex program each, and their "
    "number grows like a factorial"
)

_MAXIMAL_ROUNDS = 2000
# A cut that the last allocation meets is of no use.
_VIOLATION = 1e-10
_ADDED = 20
_LOOKED_AT = 100
# Part of the last allocation in the point that is asked about, beside the best one.
_OUT = 0.5


def refuse_features(features: object) -> None:
    """Raise ``InvalidPreferenceError`` where features are given: no utilities."""
    if features is not None:
        raise InvalidPreferenceError(
            "features",
            "does not go with 'transitive', which has no utilities",
            features,
            remedy="use 'bradley-terry' or 'thurstone'",
        )


def solve(truth: Truth, tolerance: float) -> Solved:
    """Solve the program to a certified relative gap."""
    # Cuts are made at a point between the allocation of the linear program and the best
    # feasible one (in-out points), or at the former where that yields none.
    oracle = OrderOracle(truth)
    spread = 1.0 / truth.prices
    least = float(oracle.values(spread, oracle.solve(spread))[1].min())
    if not least > 0:
        raise InvalidPreferenceError(
            "cost",
            "must let enough pairs be asked: those with a finite price do not tell the "
            f"best arm, {truth.best[0]}, and the constant is infinite",
            np.inf,
            remedy="make more of them finite",
        )
    best = out = spread / least
    program = _Cuts(truth, float(best @ truth.prices))
    part, bound = 1.0, 0.0
    for rounds in range(1, _MAXIMAL_ROUNDS):
        point = part * out + (1 - part) * best
        q = oracle.solve(point)
        values, lower = oracle.values(point, q)
        # An allocation divided by its smallest value is feasible.
        if lower.min() > 0:
            best = min(best, point / lower.min(), key=lambda w: float(w @ truth.prices))
        if float(best @ truth.prices) * (1 - tolerance) <= bound:
            return program.solved(best, rounds)
        rows = np.argsort(values, kind="stable")[:_LOOKED_AT]
        added = program.add(oracle.on_pairs(q[rows], rows), oracle.leaders[rows], out)
        if added:
            out, bound = program.solve()
        part = _OUT if added else 1.0
    raise ProgramError(
        f"the program was not solved: alternatives were still missing after "
        f"{_MAXIMAL_ROUNDS} rounds."
    )


class _Cuts:
    """The linear program of the alternatives so far, in units of the cost of a pair."""

    def __init__(self, truth: Truth, unit: float) -> None:
        import highspy

        self.truth, self.scale = truth, unit / truth.prices
        self.alternatives: list[NDArray[np.float64]] = []
        self.leaders: list[int] = []
        self.infinity = highspy.kHighsInf
        self.optimal = highspy.HighsModelStatus.kOptimal
        self.solver = new_simplex()
        count = truth.shares.size
        self.solver.addVars(count, np.zeros(count), np.full(count, self.infinity))
        self.solver.changeColsCost(
            count, np.arange(count, dtype=np.int32), np.ones(count)
        )

    def add(
        self,
        alternatives: Float64[np.ndarray, "n E"],
        leaders: NDArray[np.intp],
        out: Float64[np.ndarray, " E"],
    ) -> int:
        """Add those that ``out`` leaves below 1, each once; return their number."""
        cuts = self.truth.divergences(alternatives)
        _, first = np.unique(cuts.round(12), axis=0, return_index=True)
        chosen = [
            k
            for k in sorted(first.tolist())
            if not self.alternatives or cuts[k] @ out < 1.0 - _VIOLATION
        ][:_ADDED]
        for k in chosen:
            columns = np.flatnonzero(cuts[k] > 0).astype(np.int32)
            entries = (cuts[k] * self.scale)[columns]
            self.solver.addRow(1.0, self.infinity, columns.size, columns, entries)
        self.alternatives += [alternatives[k] for k in chosen]
        self.leaders += [int(leaders[k]) for k in chosen]
        return len(chosen)

    def solve(self) -> tuple[NDArray[np.float64], float]:
        """Return the optimal allocation, and a lower bound that needs no trust."""
        self.solver.run()
        status = self.solver.getModelStatus()
        if status != self.optimal:
            name = self.solver.modelStatusToString(status)
            raise ProgramError(f"the program was not solved: HiGHS says {name!r}.")
        u = np.maximum(np.array(self.solver.getSolution().col_value), 0.0)
        return u * self.scale, float(self._multipliers().sum())

    def solved(self, best: NDArray[np.float64], rounds: int) -> Solved:
        """Return both sides."""
        multipliers = self._multipliers()
        used = np.flatnonzero(multipliers)
        return Solved(
            duels=best,
            multipliers=multipliers[used],
            rivals=np.array(self.leaders, dtype=np.intp)[used],
            alternatives=np.array(self.alternatives)[used],
            rounds=rounds,
        )

    def _multipliers(self) -> NDArray[np.float64]:
        """Return the multipliers, shrunk until they fit under every price."""
        multipliers = np.maximum(np.array(self.solver.getSolution().row_dual), 0.0)
        unit = self.scale * self.truth.prices  # Equal for all pairs.
        cuts = self.truth.divergences(np.array(self.alternatives)) * self.scale
        return multipliers * unit[0] / max(float((multipliers @ cuts).max()), 1.0)


def upper_sets(num_arms: int) -> Bool[np.ndarray, "M L"]:
    """List the sets of pairs of places that hold with a pair all wider ones."""
    # Places (s, t), s < t, in reading order; as many sets as the K-th Catalan number.
    first, second = np.triu_indices(num_arms, 1)
    starts = itertools.product(*(range(s + 1, num_arms + 1) for s in range(num_arms)))
    rows = [start for start in starts if list(start) == sorted(start)]
    return second[None, :] >= np.array(rows)[:, first]


class OrderOracle:
    """Find the nearest alternatives over all orders, of at most 6 arms."""

    def __init__(self, truth: Truth) -> None:
        num_arms = truth.num_arms
        orders = np.array(
            [
                order
                for order in itertools.permutations(range(num_arms))
                if order[0] != truth.best[0]
            ]
        )
        first, second = np.triu_indices(num_arms, 1)
        ahead, behind = orders[:, first], orders[:, second]
        row = np.full((num_arms, num_arms), -1)
        row[truth.behind, truth.ahead] = np.arange(truth.shares.size)
        forward = row[ahead, behind]
        self.truth = truth
        self.leaders: NDArray[np.intp] = orders[:, 0]
        self.upper = upper_sets(num_arms)
        # Pair of the truth behind every pair of places; -1 where it cannot be asked.
        self.pairs: NDArray[np.intp] = np.maximum(forward, row[behind, ahead])
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
        terms = np.where(w > 0, w * np.asarray(bernoulli_kl(p, q)), 0.0)
        value = terms.sum(axis=1)
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
        values = np.full((len(rows), self.truth.shares.size), 0.5)
        turned = np.where(self.swapped[rows], 1.0 - q, q)
        index, position = np.nonzero(self.known[rows])
        values[index, self.pairs[rows][index, position]] = turned[index, position]
        return values

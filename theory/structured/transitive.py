"""The bound under strong stochastic transitivity: cutting planes over all orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from theory.copeland_program.simplex import new_simplex
from theory.errors import InvalidPreferenceError, ProgramError
from theory.structured.orders import OrderOracle
from theory.structured.solved import Solved
from theory.structured.truth import Truth

if TYPE_CHECKING:
    from jaxtyping import Float64

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
    """Solve the program to a certified relative gap.

    The linear program of the cuts is a lower bound. Cuts are made at a point between
    its allocation and the best feasible one (in-out points), or at its allocation where
    that yields none. `InvalidPreferenceError` and `ProgramError` as for utilities.
    """
    oracle = OrderOracle(truth)
    spread = 1.0 / truth.prices
    least = float(oracle.values(spread, oracle.solve(spread))[1].min())
    if not least > 0:
        raise InvalidPreferenceError(
            "cost",
            "must let enough pairs be asked: those with a finite price do not tell the "
            f"best arm, {truth.best}, and the constant is infinite",
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
        found = np.maximum(np.array(self.solver.getSolution().row_dual), 0.0)
        unit = self.scale * self.truth.prices  # Equal for all pairs.
        cuts = self.truth.divergences(np.array(self.alternatives)) * self.scale
        return found * unit[0] / max(float((found @ cuts).max()), 1.0)

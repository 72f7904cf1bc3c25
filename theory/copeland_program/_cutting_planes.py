"""The optimal exploration program in its smallest form, solved with HiGHS.

For the only Copeland winner i1 of a matrix, with y the evidence on its inferiors and
z the evidence on the superiors of a rival i2 without i1, every constraint of (P) in
`theory.copeland_program.constraints` reads "sum of y over H + S_b(z) >= 1", where S_b
is the sum of the b smallest entries. Two reductions leave a small linear program.

*Blocks.* The constraints see z through the symmetric functions S_b only, so some
optimum has z falling as the cost rises. Such a vector is a non-negative combination of
prefixes, the indicators of the n - s cheapest superiors, s = 0, 1, ..., over which S_b
adds up: a unit of this prefix gives max(0, b - s) and costs the sum of the n - s
smallest costs. A prefix is dropped if another one has, for every b that occurs, at
least the same ratio of the two, and a larger one for some b. With a single b one prefix
survives, the one of the closed form.

*Lazy sets.* The sets H are generated when they are violated, at most one per family
and only the worst ones per round, and the dual simplex method goes on from the last
basis. Each is new, for a solution obeys those before it, and there are finitely many,
so the loop ends.

The level L(2) says that any L(2) + 1 - L(1) inferiors of i1 carry one unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory.copeland_program.constraints import WITH_PAIR, ConstraintFamilies
from theory.copeland_program.optimum import Multipliers
from theory.copeland_program.simplex import DUAL, PRIMAL, new_simplex
from theory.errors import ProgramError

_ORACLE_TOLERANCE = 1e-9
# Constraints added per round. All violated ones would be some hundreds at 136 arms,
# most of them superfluous a round later, and made the slowest programs 50 times slower.
_MAXIMAL_ADDED = 20


@dataclass(frozen=True, eq=False)
class Prefixes:
    """Surviving prefixes of all blocks, P of them."""

    rivals: NDArray[np.intp]  # (P,): Block of each prefix, in increasing order.
    left_out: NDArray[np.intp]  # (P,): Number s of superiors that it leaves out.
    costs: NDArray[np.float64]  # (P,): Cost of one unit.
    # (K + 1,): Prefixes starts[i2], ..., starts[i2 + 1] - 1 are those of rival i2.
    starts: NDArray[np.intp]


class Row(NamedTuple):
    """A constraint that was added: where it comes from, and its sparse entries."""

    rival: int
    level: int
    chosen: NDArray[np.intp]  # The set H, as positions among the inferiors.
    columns: NDArray[np.intp]
    entries: NDArray[np.float64]


def surviving_prefixes(families: ConstraintFamilies) -> Prefixes:
    """Select the prefixes that no other prefix of their block dominates.

    For s < s' the difference of the ratios (b - s)+ / cost_s and (b - s')+ / cost_s' is
    not negative up to b = s' and then falls: so s dominates s' if it is not worse at
    the largest b, and s' dominates s if s' is below the smallest b and not worse there.
    """
    num_arms, exists = families.instance.num_arms, families.exists
    occurs = np.zeros(families.sizes.shape, dtype=bool)
    occurs[:, :-1] = exists[0] | exists[2]
    occurs[:, 1:] |= exists[1]
    b = families.sizes
    largest = np.where(occurs, b, 0).max(axis=1, initial=0)[:, None]
    smallest = np.where(occurs, b, num_arms).min(axis=1, initial=num_arms)[:, None]

    costs = families.instance.costs_of_cheapest(families.winner)
    s = np.arange(num_arms)[None, :]
    inside = s < largest
    below = inside & (s < smallest)
    # A pair that costs nothing has an infinite ratio.
    with np.errstate(divide="ignore", invalid="ignore"):
        at_largest = np.where(inside, (largest - s) / costs, -1.0)
        at_smallest = np.where(below, (smallest - s) / costs, -1.0)

    before = np.maximum.accumulate(at_largest, axis=1)
    keeps = inside.copy()
    keeps[:, 1:] &= at_largest[:, 1:] > before[:, :-1]
    after = np.maximum.accumulate(at_smallest[:, ::-1], axis=1)[:, ::-1]
    # With a single b, or for nothing, the first of equally good prefixes stays.
    worse = np.where(
        (largest == smallest) | np.isinf(at_smallest[:, :-1]),
        at_smallest[:, :-1] < after[:, 1:],
        at_smallest[:, :-1] <= after[:, 1:],
    )
    keeps[:, :-1] &= ~(below[:, :-1] & (after[:, 1:] > 0) & worse)
    rivals, left_out = np.nonzero(keeps)
    starts = np.searchsorted(rivals, np.arange(num_arms + 1))
    return Prefixes(rivals, left_out, costs[rivals, left_out], starts)


class CuttingPlanes:
    """The program of an only winner, solved; nothing is certified yet."""

    def __init__(self, families: ConstraintFamilies) -> None:
        import highspy

        self.families, self.prefixes = families, surviving_prefixes(families)
        self.num_own = families.inferiors.size
        # Constraints so far in the order of the solver, by rival, level and H.
        self.rows: dict[tuple[int, int, frozenset[int]], Row] = {}
        # Contribution of every prefix to S_b, per column of `superior_sums`.
        b, left_out = families.sizes[self.prefixes.rivals], self.prefixes.left_out
        self.gains = np.maximum(b - left_out[:, None], 0).astype(np.float64)
        self.infinity = highspy.kHighsInf
        self.optimal = highspy.HighsModelStatus.kOptimal
        self.solver = new_simplex()
        own_costs = families.instance.costs[families.winner, families.inferiors]
        costs = np.concatenate((own_costs, self.prefixes.costs))
        num = costs.size
        self.solver.addVars(num, np.zeros(num), np.full(num, self.infinity))
        self.solver.changeColsCost(num, np.arange(num, dtype=np.int32), costs)
        # First the families in which H is empty or the pair (i1, i2) alone.
        exists = families.exists & (families.num_inferiors <= 1)
        exists[:WITH_PAIR] &= families.num_inferiors == 0
        exists[WITH_PAIR + 1 :] &= families.num_inferiors == 0
        for case, rival, level in np.argwhere(exists).tolist():
            self._add(case, rival, level, np.empty(0, dtype=np.intp))
        self.num_rounds, known = 0, -1
        while known < len(self.rows):
            known, self.num_rounds = len(self.rows), self.num_rounds + 1
            self._solve()
            self._separate()

    def _solve(self) -> None:
        self.solver.run()
        if self.solver.getModelStatus() != self.optimal:
            # Where costs lie 1e12 apart rounding can lead the dual method astray.
            self.solver.clearSolver()
            self.solver.setOptionValue("simplex_strategy", PRIMAL)
            self.solver.run()
            self.solver.setOptionValue("simplex_strategy", DUAL)
        status = self.solver.getModelStatus()
        if status != self.optimal:
            info = self.solver.getInfo()
            raise ProgramError(
                "the program was not solved: HiGHS says "
                f"{self.solver.modelStatusToString(status)!r}, largest primal and dual "
                f"infeasibility {info.max_primal_infeasibility:.3g} and "
                f"{info.max_dual_infeasibility:.3g}."
            )
        # Amounts on the inferiors, then on the prefixes.
        self.solution = np.maximum(self.solver.getSolution().col_value, 0.0)

    def _separate(self) -> None:
        """Add the most violated constraints, at most one per family."""
        families = self.families
        solution = self.solution[: self.num_own]
        order = families.order(solution)
        weighted = self.gains * self.solution[self.num_own :, None]
        sums = np.zeros((families.instance.num_arms, self.gains.shape[1]))
        np.add.at(sums, self.prefixes.rivals, weighted)
        sides = families.sides(solution, order, sums)
        bound = 1.0 - _ORACLE_TOLERANCE
        violated = np.argwhere(sides < bound)
        worst = np.argsort(sides[tuple(violated.T)], kind="stable")[:_MAXIMAL_ADDED]
        for case, rival, level in violated[worst].tolist():
            self._add(case, rival, level, order)
        if families.top_side(solution, order) < bound:
            chosen = order[: families.top_size]
            rival, level = families.top_rival, families.instance.second
            self._add_row(Row(rival, level, chosen, chosen, np.ones(chosen.size)))

    def _add(self, case: int, rival: int, level: int, order: NDArray[np.intp]) -> None:
        families, prefixes = self.families, self.prefixes
        chosen = families.chosen(case, rival, level, order)
        block = np.arange(prefixes.starts[rival], prefixes.starts[rival + 1])
        # With i2 in H one superior less is needed.
        gains = self.gains[block, level + (case == WITH_PAIR)]
        block, gains = block[gains > 0], gains[gains > 0]
        columns = np.concatenate((chosen, self.num_own + block))
        entries = np.concatenate((np.ones(chosen.size), gains))
        self._add_row(Row(rival, families.low + level, chosen, columns, entries))

    def _add_row(self, row: Row) -> None:
        key = row.rival, row.level, frozenset(row.chosen.tolist())
        if key in self.rows:
            arms = self.families.inferiors[row.chosen].tolist()
            raise ProgramError(
                f"the program was not solved: a solution violates the constraint of "
                f"rival {row.rival}, level {row.level} and inferiors {arms}, although "
                "it had been added. Please report the matrix."
            )
        self.rows[key] = row
        columns = row.columns.astype(np.int32)
        self.solver.addRow(1.0, self.infinity, columns.size, columns, row.entries)

    def multipliers(self) -> Multipliers:
        """Return the dual solution."""
        rows = list(self.rows.values())
        inferiors = np.zeros((len(rows), self.families.instance.num_arms), dtype=bool)
        for flags, row in zip(inferiors, rows, strict=True):
            flags[self.families.inferiors[row.chosen]] = True
        return Multipliers(
            values=np.array(self.solver.getSolution().row_dual),
            rivals=np.array([row.rival for row in rows], dtype=np.intp),
            levels=np.array([row.level for row in rows], dtype=np.intp),
            inferiors=inferiors,
        )

    def evidence(self) -> NDArray[np.float64]:
        """Return the allocation, symmetric: prefixes turned back into pairs."""
        families, prefixes = self.families, self.prefixes
        instance, winner = families.instance, families.winner
        evidence = np.zeros_like(instance.costs)
        evidence[winner, families.inferiors] = self.solution[: self.num_own]
        members = instance.superiors_without(winner)
        for prefix in np.flatnonzero(self.solution[self.num_own :]):
            rival = prefixes.rivals[prefix]
            pool = np.flatnonzero(members[rival])
            ordered = pool[np.argsort(instance.costs[rival, pool], kind="stable")]
            length = pool.size - prefixes.left_out[prefix]
            evidence[rival, ordered[:length]] += self.solution[self.num_own + prefix]
        return evidence + evidence.T

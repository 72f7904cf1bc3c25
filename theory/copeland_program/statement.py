"""The optimal exploration program as it reads, in CVXPY, with its own certificate.

Theorem 2 of Komiyama, Honda and Nakagawa (2016): a Copeland winner i1 is told from an
arm i2 once no preference matrix near the estimates could make i2 at least as good. For
every rival i2, every level l, every set H of inferiors of i1 and every set O of
superiors of i2 of the sizes below, the evidence on the pairs of both adds up to 1:

    minimize    sum over pairs of cost_ij x_ij,        0 <= x_ij <= 1,
    subject to  sum over j in H of x_{i1 j}  +  sum over j in O of x_{i2 j}  >=  1,
                |H| = l + 1 - L(1),   |O| = L_i2 - l - [i2 in H],   l <= L(2).

There are exponentially many sets; all of one size stand for their smallest sum. This
file uses nothing of what makes `method="prefix"`, the default, fast: 2.5 against 173 ms
with 16 arms. It is what a reader opens first, and what `verify=True` compares with.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from theory.copeland_program.program_data import ProgramData
from theory.errors import ProgramError

if TYPE_CHECKING:
    import cvxpy
    from jaxtyping import Float64


@dataclass(frozen=True)
class Demand:
    """One family of constraints: any sets of these sizes, and one pair, add up to 1."""

    # (int array, int): Pairs, and how many of them a set takes.
    parts: list[tuple[NDArray[np.intp], int]]
    pair: int | None = None  # A pair that every set contains.

    def least(self, evidence: Float64[np.ndarray, " pair"]) -> float:
        """Return the smallest left-hand side over all sets."""
        sums = [np.sort(evidence[pairs])[:size].sum() for pairs, size in self.parts]
        return float(sum(sums) + (0.0 if self.pair is None else evidence[self.pair]))


@dataclass(frozen=True)
class Statement:
    """The program of one Copeland winner."""

    # (E,): The pairs that occur in it.
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    costs: NDArray[np.float64]  # (E,): Regret per unit of evidence on them.
    demands: list[Demand] = field(repr=False)  # All constraints.


@dataclass(frozen=True)
class Solution:
    """A solution by CVXPY."""

    evidence: NDArray[np.float64]  # (K, K): Symmetric, in [0, 1].
    # A lower bound on the cost of every feasible allocation, from the multipliers.
    dual_bound: float
    # Smallest left-hand side of all constraints; infinity if there is none.
    slack: float
    num_constraints: int  # Families of constraints.
    status: str  # Status of CVXPY.


def state(instance: ProgramData, winner: int) -> Statement:
    """Write the program of a winner down: one demand per rival, level, and i2 in H."""
    gaps = instance.gaps
    inferiors = np.flatnonzero(gaps[winner] > 0)
    rows, columns = [winner] * inferiors.size, list(inferiors)
    position = {int(arm): index for index, arm in enumerate(inferiors)}
    own_columns = np.arange(inferiors.size)
    demands: list[Demand] = []
    for rival in range(instance.num_arms):
        if rival == winner:
            continue
        superiors = np.flatnonzero(gaps[rival] < 0)
        superiors = superiors[superiors != winner]
        theirs = len(rows) + np.arange(superiors.size)
        rows += [rival] * superiors.size
        columns += list(superiors)
        for level in range(max(0, instance.least - 1), instance.second + 1):
            in_h = level + 1 - instance.least
            in_o = int(instance.losses[rival]) - level
            others = own_columns[own_columns != position.get(rival, -1)]
            demands.append(Demand([(others, in_h), (theirs, in_o)]))
            if rival in position and in_h >= 1:
                parts = [(others, in_h - 1), (theirs, in_o - 1)]
                demands.append(Demand(parts, pair=position[rival]))
    return Statement(
        np.array(rows, dtype=np.intp),
        np.array(columns, dtype=np.intp),
        instance.costs[rows, columns],
        [
            Demand([(pairs, max(size, 0)) for pairs, size in demand.parts], demand.pair)
            for demand in demands
            # A size that is larger than its set leaves no constraint.
            if all(size <= pairs.size for pairs, size in demand.parts)
        ],
    )


def solve(instance: ProgramData, winner: int) -> Solution:
    """Solve the program of a winner with CVXPY.

    A sum of the b smallest entries of z is max over t of b t - sum of (t - z_j)+. With
    multipliers lambda of "sum >= 1" and mu_j of "u_j >= t - z_j", where u stands for
    the positive parts, the dual program is

        maximize sum of lambda  s.t.  0 <= mu <= lambda,  sum over j of mu_j = b lambda,
                                      sum over families of mu <= cost:

    mu / lambda is a fractional set of size b. What rounding leaves infeasible is paid
    for at the bounds of the variables, all of which lie in [0, 1], so that the bound
    holds whatever the solver returned. `ProgramError` unless it reports an optimum.
    """
    try:
        import cvxpy
    except ImportError as error:
        raise ImportError(
            "CVXPY is missing; install bayesduel with the extra 'verify'"
        ) from error

    program = state(instance, winner)
    evidence = np.zeros_like(instance.costs)
    if not program.demands:
        return Solution(evidence, 0.0, np.inf, 0, "optimal")
    x = cvxpy.Variable(program.costs.size, bounds=[0, 1])
    families = [_family(x, demand) for demand in program.demands]
    constraints = [
        constraint for family in families for constraint in family.constraints
    ]
    problem = cvxpy.Problem(cvxpy.Minimize(program.costs @ x), constraints)
    problem.solve(solver=cvxpy.HIGHS)
    if problem.status != cvxpy.OPTIMAL or x.value is None:
        raise ProgramError(
            f"the program was not solved: CVXPY says {problem.status!r}."
        )
    allocation = np.clip(x.value, 0.0, 1.0)
    slack = min(demand.least(allocation) for demand in program.demands)
    evidence[program.rows, program.columns] = allocation
    bound = _dual_bound(program.costs, program.demands, families)
    return Solution(
        evidence + evidence.T, bound, slack, len(families), str(problem.status)
    )


def slack(
    instance: ProgramData, winner: int, evidence: Float64[np.ndarray, "K K"]
) -> float:
    """Return the smallest left-hand side of all constraints; at least 1 if feasible."""
    program = state(instance, winner)
    flat = evidence[program.rows, program.columns]
    return min((demand.least(flat) for demand in program.demands), default=np.inf)


@dataclass(frozen=True)
class _Family:
    """The constraints of one demand: "sum >= 1", and one per part that has a sum."""

    total: cvxpy.Constraint
    shortfalls: list[cvxpy.Constraint | None]

    @property
    def constraints(self) -> list[cvxpy.Constraint]:
        return [
            self.total,
            *(shortfall for shortfall in self.shortfalls if shortfall is not None),
        ]


def _family(x: cvxpy.Variable, demand: Demand) -> _Family:
    import cvxpy

    total = cvxpy.Constant(0.0) if demand.pair is None else x[demand.pair]
    shortfalls: list[cvxpy.Constraint | None] = []
    for pairs, size in demand.parts:
        if size == 0:
            shortfalls.append(None)
            continue
        t, u = cvxpy.Variable(), cvxpy.Variable(pairs.size, nonneg=True)
        total = total + size * t - cvxpy.sum(u)
        shortfalls.append(u >= t - x[pairs])
    return _Family(total >= 1, shortfalls)


def _dual_bound(
    costs: NDArray[np.float64], demands: list[Demand], families: list[_Family]
) -> float:
    bound, reduced = 0.0, costs.copy()
    for demand, family in zip(demands, families, strict=True):
        multiplier = max(float(_values(family.total).item()), 0.0)
        bound += multiplier
        if demand.pair is not None:
            reduced[demand.pair] -= multiplier
        for (pairs, size), constraint in zip(
            demand.parts, family.shortfalls, strict=True
        ):
            if constraint is None:
                continue
            mu = np.maximum(np.atleast_1d(_values(constraint)), 0.0)
            reduced[pairs] -= mu
            # Bounds of the positive parts u, and of t.
            bound += np.minimum(multiplier - mu, 0.0).sum()
            bound += min(mu.sum() - size * multiplier, 0.0)
    return float(bound + np.minimum(reduced, 0.0).sum())


def _values(constraint: cvxpy.Constraint) -> NDArray[np.float64]:
    """Return the multipliers of a constraint."""
    dual_values: Any = constraint.dual_value
    return np.asarray(dual_values, dtype=np.float64)

"""The optimal exploration program as it reads, for CVXPY."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from theory.copeland_program.program_data import ProgramData
from theory.errors import ProgramError

if TYPE_CHECKING:
    import cvxpy


def solve(instance: ProgramData, winner: int) -> tuple[NDArray[np.float64], str]:
    """Solve the program of a winner with CVXPY, slowly and legibly.

    One variable per pair that occurs: y on the inferiors of the winner i1, and z on the
    superiors other than i1 of every rival i2. With S_c the sum of the c smallest
    entries, a = l + 1 - L(1) and b = L_i2 - l, each rival and each level l in max(0,
    L(1) - 1), ..., L(2) asks for

    - S_a(y) + S_b(z) >= 1 if i1 does not beat i2;
    - y_i2 + S_{a-1}(y without i2) + S_{b-1}(z) >= 1 and
      S_a(y without i2) + S_b(z) >= 1 if it does.

    Negative sizes are 0; a size larger than its set leaves no constraint.

    Parameters
    ----------
    instance : ProgramData
        The matrix.
    winner : int
        The arm i1.

    Returns
    -------
    evidence : float64 (K, K)
        Allocation, symmetric; not certified yet.
    status : str
        Status of CVXPY.

    Raises
    ------
    ProgramError
        If the status is not "optimal".
    """
    import cvxpy

    gaps, costs, losses = instance.gaps, instance.costs, instance.losses
    inferiors = np.flatnonzero(gaps[winner] > 0)
    y = cvxpy.Variable(inferiors.size, bounds=[0, 1]) if inferiors.size else None
    objective = [] if y is None else [costs[winner, inferiors] @ y]
    constraints = []
    blocks: dict[int, cvxpy.Variable] = {}
    for rival in range(instance.num_arms):
        pool = np.flatnonzero(gaps[rival] < 0)
        pool = pool[pool != winner]
        if rival == winner:
            continue
        z = None
        if pool.size:
            z = blocks[rival] = cvxpy.Variable(pool.size, bounds=[0, 1])
            objective.append(costs[rival, pool] @ z)
        for level in range(max(0, instance.least - 1), instance.second + 1):
            a, b = level + 1 - instance.least, int(losses[rival]) - level
            if gaps[winner, rival] > 0 and y is not None:
                position = int(np.searchsorted(inferiors, rival))
                others = y[np.delete(np.arange(inferiors.size), position)]
                constraints += _at_least_one((others, a), (z, b))
                if a >= 1:
                    constraints += _at_least_one(
                        (others, a - 1), (z, b - 1), y[position]
                    )
            else:
                constraints += _at_least_one((y, a), (z, b))
    evidence = np.zeros_like(costs)
    if not constraints:
        return evidence, "optimal"
    problem = cvxpy.Problem(cvxpy.Minimize(sum(objective)), constraints)
    problem.solve(solver=cvxpy.HIGHS)
    if problem.status != cvxpy.OPTIMAL:
        raise ProgramError(
            f"the program was not solved: CVXPY says {problem.status!r}."
        )
    if y is not None:
        evidence[winner, inferiors] = y.value
    for rival, z in blocks.items():
        pool = np.flatnonzero(gaps[rival] < 0)
        evidence[rival, pool[pool != winner]] = z.value
    return np.clip(evidence + evidence.T, 0.0, 1.0), str(problem.status)


def _at_least_one(
    *terms: tuple[cvxpy.Expression | None, int] | cvxpy.Expression,
) -> list[cvxpy.Constraint]:
    """Return "sums of smallest entries, plus single entries, >= 1", if it exists."""
    import cvxpy

    total: cvxpy.Expression = cvxpy.Constant(0.0)
    for term in terms:
        if not isinstance(term, tuple):
            total = total + term
            continue
        entries, size = term
        available = 0 if entries is None else entries.size
        if size > available:
            return []
        if size > 0:
            total = total + cvxpy.sum_smallest(entries, size)
    return [total >= 1]

"""Copeland-winners RMED with its linear program written out in full."""

from functools import lru_cache

import highspy
import numpy as np

from tests.reference.efficient_copeland_winner_rmed import (
    EfficientCopelandRMED,
    efficient_allocation,
    families,
    superiors,
    winners,
)

TOLERANCE = 1e-10
"""False-alarm rate of the solver, absolute: the smallest that it accepts."""


@lru_cache(maxsize=256)
def constraints(signs, winner):
    """Return a solver that holds 0 <= x <= 1 and one row per family."""
    rows = families(signs, winner)
    size = rows.shape[1]
    solver = highspy.Highs()
    for option, value in (
        ("output_flag", False),
        ("threads", 1),
        ("primal_feasibility_tolerance", TOLERANCE),
        ("dual_feasibility_tolerance", TOLERANCE),
    ):
        solver.setOptionValue(option, value)
    solver.addVars(size, np.zeros(size), np.ones(size))
    for row in rows:
        columns = np.flatnonzero(row).astype(np.int32)
        solver.addRow(1.0, highspy.kHighsInf, columns.size, columns, row[columns] + 0.0)
    return solver


def optimal_allocation(signs, divergence, winner):
    """Return the cost and the evidence asked for by the optimal program.

    Minimize the sum over pairs of r_ij / d_ij x_ij over 0 <= x <= 1 under all
    constraints of Equation 2 (Komiyama et al. 2016, Equation 3), one row for every
    rival, level, and choice of sets.

    The paper leaves open which of several optima is meant. Here, as in the policy, the
    cost of the n-th pair, n = 1, 2, ... in lexicographic order, is multiplied by
    1 + 1e-6 sin n.
    """
    losses = np.array([len(arms) for arms in superiors(signs)])
    num_arms = len(signs)
    regret = (losses[:, None] + losses[None, :] - 2 * losses.min()) / 2 / (num_arms - 1)
    pairs = np.triu_indices(num_arms, 1)
    decided = np.array(signs)[pairs] != 0
    cost = regret[pairs] / np.where(decided, divergence[pairs], 1.0)
    result = cheapest_evidence(signs, cost, winner)
    evidence = np.zeros((num_arms, num_arms))
    # A pair is wanted or not; a solver's 1e-17 would say that it is.
    evidence[pairs] = np.round(result, 9)
    return float(cost @ result), evidence + evidence.T


def cheapest_evidence(signs, cost, winner):
    """Minimize the tilted costs of evidence, one number per pair, under Equation 2."""
    tilted = cost * (1 + 1e-6 * np.sin(np.arange(1, cost.size + 1)))
    solver = constraints(signs, winner)
    solver.clearSolver()
    places = np.arange(cost.size, dtype=np.int32)
    solver.changeColsCost(cost.size, places, tilted)
    solver.run()
    status = solver.getModelStatus()
    if status != highspy.HighsModelStatus.kOptimal:
        raise RuntimeError(f"linear program: {solver.modelStatusToString(status)}")
    return np.array(solver.getSolution().col_value)


class CopelandRMED(EfficientCopelandRMED):
    """CW-RMED (Komiyama et al. 2016, Algorithm 1 with Equation 3).

    The loop of `EfficientCopelandRMED` with the optimal program. Of several estimated
    winners the cheapest is taken; both programs then have the same optima (Theorem 6),
    and the allocation is the efficient one, which states its order among equals.
    """

    def _program(self, signs, divergence, winner):
        if len(winners(signs)) > 1:
            return efficient_allocation(signs, divergence, winner)
        return optimal_allocation(signs, divergence, winner)


DUEL_BY_DUEL = {"cw-rmed": CopelandRMED}

"""Promises of every certified optimum, and an optimum from the oracle alone."""

import numpy as np
import pytest

from tests.theory.brute_force import quantities, solve_cover
from theory.copeland_program import candidate_slack, ecw_slack, find_violations


def check_optimum(optimum, matrix, *, efficient=False):
    """Check what every result promises, from the matrix alone."""
    gaps, _, costs = quantities(matrix)
    x, certificate = optimum.evidence, optimum.certificate
    assert isinstance(optimum.value, float) and isinstance(optimum.winner, int)
    assert float(optimum) == optimum.value == optimum.value_by_winner[optimum.winner]
    assert x.dtype == np.float64 and np.array_equal(x, x.T)
    assert x.min() >= 0 and x.max() <= 1
    assert (x[gaps == 0] == 0).all()
    assert np.triu(x * costs).sum() == pytest.approx(optimum.value, rel=1e-9, abs=1e-12)
    slack = (ecw_slack if efficient else candidate_slack)(x, gaps, optimum.winner)
    assert slack >= 1 - 1e-9
    divergence = np.zeros_like(gaps)
    p = 0.5 + gaps[gaps != 0]
    divergence[gaps != 0] = p * np.log(2 * p) + (1 - p) * np.log(2 * (1 - p))
    assert optimum.duels_per_log_round * divergence == pytest.approx(x, rel=1e-6)
    assert certificate.primal_value == optimum.value
    assert abs(certificate.relative_gap) <= 1e-8
    assert certificate.dual_bound <= optimum.value * (1 + 1e-12)


def by_separation(matrix, winner):
    """Optimum of (P) from the constraints alone that the oracle finds missing."""
    _, _, costs = quantities(matrix)
    x, sets, value = np.zeros_like(costs), set(), 0.0
    while result := find_violations(x, matrix, winner, tolerance=1e-7):
        for violation in result:
            pairs = [(winner, j) for j in violation.inferiors]
            pairs += [(violation.rival, j) for j in violation.superiors]
            sets.add(frozenset(tuple(sorted(pair)) for pair in pairs))
        value, x = solve_cover(costs, sets, len(costs), with_solution=True)
    return value

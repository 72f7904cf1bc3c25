"""The separation oracle, and the dual bound."""

import numpy as np
import pytest

from tests.theory.brute_force import constraints
from tests.theory.matrices import GAP, SHAPES, shaped, winners
from theory import ProgramError
from theory.copeland_program import find_violations
from theory.copeland_program._cutting_planes import CuttingPlanes, surviving_prefixes
from theory.copeland_program.constraints import ConstraintFamilies
from theory.copeland_program.optimum import Multipliers, certify, dual_bound
from theory.copeland_program.program_data import ProgramData


def random_evidence(rng, num_arms):
    x = np.triu(rng.uniform(0, 1, (num_arms, num_arms)) ** 2, 1)
    return x + x.T


@pytest.mark.parametrize("name", SHAPES)
def test_oracle_returns_constraints_of_the_program(name):
    rng = np.random.default_rng(0)
    for seed in range(2):
        matrix = shaped(name, seed)
        for arm in winners(matrix):
            known = set(constraints(matrix, arm))
            for _ in range(3):
                x = random_evidence(rng, len(matrix))
                violations = find_violations(x, matrix, arm)
                for violation in violations:
                    pairs = [(arm, j) for j in violation.inferiors]
                    pairs += [(violation.rival, j) for j in violation.superiors]
                    ordered = frozenset(tuple(sorted(pair)) for pair in pairs)
                    assert ordered in known
                    side = sum(x[pair] for pair in ordered)
                    assert violation.left_side == pytest.approx(side, rel=1e-12)
                    assert violation.left_side < 1 - 1e-9
                sides = [sum(x[pair] for pair in chosen) for chosen in known]
                worst = min(sides, default=np.inf)
                least = min((v.left_side for v in violations), default=np.inf)
                if worst < 1 - 1e-9:
                    assert least == pytest.approx(worst, rel=1e-12)
                else:
                    assert violations == []


def test_tolerance_of_the_oracle():
    half = np.full((2, 2), 0.5)
    matrix = [[0.5, 0.9], [0.1, 0.5]]
    assert find_violations(half * 2 - 1e-10, matrix, 0) == []
    assert len(find_violations(half * 2 - 1e-8, matrix, 0)) == 1
    assert find_violations(half, matrix, 0, tolerance=0.6) == []
    with pytest.raises(ValueError, match="evidence.* must be symmetric"):
        find_violations([[0, 1], [0.5, 0]], matrix, 0)


def test_prefixes_that_are_never_best_are_dropped():
    # Condorcet winner, L(2) = 1: every rival needs one size, and one unit of evidence
    # on the cheapest superior is best.
    for grid in (None, [0.1, 0.4]):
        instance = ProgramData.from_matrix(shaped("condorcet", 0, grid=grid), "error")
        (arm,) = instance.winners
        prefixes = surviving_prefixes(ConstraintFamilies(instance, arm))
        remaining = np.diff(prefixes.starts)
        assert remaining.tolist() == (instance.losses > 1).astype(int).tolist()
        for rival, cost in zip(prefixes.rivals, prefixes.costs, strict=True):
            pool = (instance.gaps[rival] < 0) & (np.arange(remaining.size) != arm)
            assert cost == pytest.approx(instance.costs[rival, pool].min(), rel=1e-12)


# Dual bound.


def multipliers_of(matrix):
    instance = ProgramData.from_matrix(matrix, "error")
    (arm,) = instance.winners
    return instance, arm, CuttingPlanes(ConstraintFamilies(instance, arm)).multipliers()


def test_dual_bound_is_a_bound_for_any_multipliers():
    rng = np.random.default_rng(3)
    for name in ("condorcet, two levels", "one loss, two levels", "two losses"):
        matrix = shaped(name, 2)
        instance, arm, multipliers = multipliers_of(matrix)
        best = dual_bound(instance, arm, multipliers)
        for _ in range(20):
            noise = multipliers.values * rng.uniform(0, 3, multipliers.values.size)
            noise += rng.normal(size=noise.size) * rng.choice([0, 1, 100])
            other = Multipliers(
                noise, multipliers.rivals, multipliers.levels, multipliers.inferiors
            )
            assert dual_bound(instance, arm, other) <= best * (1 + 1e-12)


def test_dual_bound_by_hand():
    # Two arms: the constraint x_01 >= 1 with cost c can carry the multiplier c.
    instance = ProgramData.from_matrix([[0.5, 0.7], [0.3, 0.5]], "error")
    cost = instance.costs[0, 1]
    row = np.array([[False, True]])
    for value, bound in [(cost, cost), (cost / 2, cost / 2), (9.0, cost), (-1.0, 0.0)]:
        multipliers = Multipliers(np.array([value]), np.array([1]), np.array([0]), row)
        assert dual_bound(instance, 0, multipliers) == pytest.approx(bound)


@pytest.mark.parametrize(
    "fault",
    ["rival is the winner", "level", "too many inferiors", "no inferior of the winner"],
)
def test_foreign_constraints_are_refused(fault):
    instance, arm, multipliers = multipliers_of(GAP)
    rivals, levels = multipliers.rivals.copy(), multipliers.levels.copy()
    inferiors = multipliers.inferiors.copy()
    row = int(np.flatnonzero(inferiors.any(axis=1))[0])
    if fault == "rival is the winner":
        rivals[row] = arm
    elif fault == "level":
        levels[row] = instance.second + 1
    elif fault == "too many inferiors":
        inferiors[row] = instance.gaps[arm] > 0
    else:
        inferiors[row, np.flatnonzero(inferiors[row])[0]] = False
        inferiors[row, 4] = True  # beats the winner
    with pytest.raises(ProgramError, match=f"constraint {row} "):
        dual_bound(
            instance, arm, Multipliers(multipliers.values, rivals, levels, inferiors)
        )


def test_certify():
    good = {
        "status": "optimal",
        "primal_value": 1.0,
        "lower_bound": 1.0 - 1e-9,
        "slack": 1.0,
        "num_constraints": 1,
        "num_rounds": 1,
    }
    assert certify(**good).relative_gap == pytest.approx(1e-9)
    for change in (
        {"lower_bound": 1 - 2e-8},
        {"lower_bound": 1 + 2e-8},
        {"slack": 1 - 2e-9},
        {"slack": np.nan},
        {"primal_value": np.nan},
        {"primal_value": 0.0, "lower_bound": 1.0},
    ):
        with pytest.raises(ProgramError, match="status 'optimal'"):
            certify(**(good | change))

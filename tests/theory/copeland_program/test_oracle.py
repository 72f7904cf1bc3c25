"""The separation oracle, the prefixes, and the dual bound."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

from tests.theory.brute_force import constraints, quantities
from tests.theory.matrices import GAP, SHAPES, gaps_of, random_matrix, shaped, winners
from theory import ProgramError
from theory.copeland_program import candidate_slack, ecw_slack, find_violations
from theory.copeland_program._cutting_planes import solve, surviving_prefixes
from theory.copeland_program._oracle import ConstraintFamilies
from theory.copeland_program.certificate import Multipliers, certify, dual_bound
from theory.copeland_program.program_data import ProgramData


def random_evidence(rng, num_arms):
    x = np.triu(rng.uniform(0, 1, (num_arms, num_arms)) ** 2, 1)
    return x + x.T


@pytest.mark.parametrize("name", SHAPES)
def test_oracle_returns_constraints_of_the_program(name):
    rng = np.random.default_rng(0)
    for seed in range(3):
        matrix = shaped(name, seed)
        for arm in winners(matrix):
            known = set(constraints(matrix, arm))
            for _ in range(3):
                x = random_evidence(rng, len(matrix))
                found = find_violations(x, matrix, arm)
                for violation in found:
                    pairs = [(arm, j) for j in violation.inferiors]
                    pairs += [(violation.rival, j) for j in violation.superiors]
                    ordered = frozenset(tuple(sorted(pair)) for pair in pairs)
                    assert ordered in known
                    side = sum(x[pair] for pair in ordered)
                    assert violation.left_side == pytest.approx(side, rel=1e-12)
                    assert violation.left_side < 1 - 1e-9
                sides = [sum(x[pair] for pair in chosen) for chosen in known]
                worst = min(sides, default=np.inf)
                least = min((v.left_side for v in found), default=np.inf)
                if worst < 1 - 1e-9:
                    assert least == pytest.approx(worst, rel=1e-12)
                else:
                    assert found == []


def test_tolerance_of_the_oracle():
    half = np.full((2, 2), 0.5)
    matrix = [[0.5, 0.9], [0.1, 0.5]]
    assert find_violations(half * 2 - 1e-10, matrix, 0) == []
    assert len(find_violations(half * 2 - 1e-8, matrix, 0)) == 1
    assert find_violations(half, matrix, 0, tolerance=0.6) == []
    with pytest.raises(ValueError, match="evidence.* must be symmetric"):
        find_violations([[0, 1], [0.5, 0]], matrix, 0)


def test_sorting_agrees_with_counting():
    rng = np.random.default_rng(1)
    for _ in range(60):
        matrix = random_matrix(rng, int(rng.integers(2, 14)))
        gaps, x = gaps_of(matrix), random_evidence(rng, len(matrix))
        instance = ProgramData.from_matrix(matrix, "error")
        for arm in winners(matrix):
            families = ConstraintFamilies(instance, arm)
            slack = candidate_slack(x, gaps, arm)
            assert families.slack(x) == pytest.approx(slack, rel=1e-12)
            slack = ecw_slack(x, gaps, arm)
            assert families.efficient_slack(x) == pytest.approx(slack, rel=1e-12)


# Prefixes.


def block_value(instance, winner, rival, demands, prefixes=None):
    """Cheapest z with S_b(z) >= demand for every b, over all or given prefixes."""
    pool = np.flatnonzero(instance.gaps[rival] < 0)
    pool = pool[pool != winner]
    priced = np.sort(instance.costs[rival, pool])
    n = priced.size
    left_out = np.arange(n) if prefixes is None else prefixes
    costs = [priced[: n - s].sum() for s in left_out]
    rows = [[-max(0, b - s) for s in left_out] for b in demands]
    bounds = -np.array(list(demands.values()), float)
    scale = max(costs)
    result = linprog(np.array(costs) / scale, A_ub=np.array(rows), b_ub=bounds)
    return result.fun * scale if result.status == 0 else np.inf


@pytest.mark.parametrize(
    "name", ["condorcet, two levels", "one loss, two levels", "two losses"]
)
def test_dropped_prefixes_are_never_missed(name):
    rng = np.random.default_rng(0)
    kept = total = 0
    for seed in range(4):
        matrix = shaped(name, seed, grid=[0.1, 0.2, 0.4] if seed % 2 else None)
        instance = ProgramData.from_matrix(matrix, "error")
        (arm,) = instance.winners
        families = ConstraintFamilies(instance, arm)
        prefixes = surviving_prefixes(families)
        for rival in set(range(len(matrix))) - {arm}:
            mine = prefixes.left_out[
                prefixes.starts[rival] : prefixes.starts[rival + 1]
            ]
            exists = families.exists[:, rival]
            b = int(instance.losses[rival]) - families.low
            sizes = {b - c for c in np.flatnonzero(exists[0] | exists[2])}
            sizes |= {b - c - 1 for c in np.flatnonzero(exists[1])}
            sizes = sorted(sizes - {0})
            if not sizes:
                assert mine.size == 0
                continue
            total += max(sizes)
            kept += mine.size
            for _ in range(5):
                demands = {size: rng.uniform(0, 1) for size in sizes}
                whole = block_value(instance, arm, rival, demands)
                part = block_value(instance, arm, rival, demands, mine)
                assert part == pytest.approx(whole, rel=1e-8)
            # No survivor dominates another one.
            for s, t in combinations(mine.tolist(), 2):
                pool = np.flatnonzero(instance.gaps[rival] < 0)
                priced = np.sort(instance.costs[rival, pool[pool != arm]])
                cost = {u: priced[: priced.size - u].sum() for u in (s, t)}
                ratio = [[max(0, b - u) / cost[u] for b in sizes] for u in (s, t)]
                first, second = np.array(ratio)
                assert (first > second).any() and (second > first).any()
    assert kept < total


def test_single_size_keeps_the_prefix_of_the_closed_form():
    # Condorcet winner, L(2) = 1: every rival needs one size, L_i2 - 1, with (i1, i2).
    for grid in (None, [0.1, 0.4], [0.2]):
        matrix = shaped("condorcet", 0, grid=grid)
        instance = ProgramData.from_matrix(matrix, "error")
        (arm,) = instance.winners
        prefixes = surviving_prefixes(ConstraintFamilies(instance, arm))
        for rival, losses in enumerate(instance.losses):
            mine = slice(prefixes.starts[rival], prefixes.starts[rival + 1])
            if losses <= 1:
                assert prefixes.costs[mine].size == 0
                continue
            # All n = b superiors count, so one unit on the cheapest is best.
            assert prefixes.left_out[mine].size == 1
            ratio = prefixes.costs[mine] / (losses - 1 - prefixes.left_out[mine])
            pool = np.flatnonzero(instance.gaps[rival] < 0)
            cheapest = instance.costs[rival, pool[pool != arm]].min()
            assert ratio[0] == pytest.approx(cheapest, rel=1e-12)


# Dual bound.


def multipliers_of(matrix):
    instance = ProgramData.from_matrix(matrix, "error")
    (arm,) = instance.winners
    return instance, arm, solve(instance, arm).multipliers


def test_dual_bound_is_a_bound_for_any_multipliers():
    rng = np.random.default_rng(3)
    for name in ("condorcet, two levels", "one loss, two levels", "two losses"):
        matrix = shaped(name, 2)
        instance, arm, found = multipliers_of(matrix)
        best = dual_bound(instance, arm, found)
        for _ in range(20):
            noise = found.values * rng.uniform(0, 3, found.values.size)
            noise += rng.normal(size=noise.size) * rng.choice([0, 1, 100])
            other = Multipliers(noise, found.rivals, found.levels, found.inferiors)
            assert dual_bound(instance, arm, other) <= best * (1 + 1e-12)


def test_dual_bound_by_hand():
    # Two arms: the constraint x_01 >= 1 with cost c can carry the multiplier c.
    instance = ProgramData.from_matrix([[0.5, 0.7], [0.3, 0.5]], "error")
    cost = instance.costs[0, 1]
    row = np.array([[False, True]])
    for value, bound in [(cost, cost), (cost / 2, cost / 2), (9.0, cost), (-1.0, 0.0)]:
        multipliers = Multipliers(np.array([value]), np.array([1]), np.array([0]), row)
        assert dual_bound(instance, 0, multipliers) == pytest.approx(bound)


def test_dual_bound_of_a_block_by_hand():
    # Constraints with H empty are the efficient ones; the closed form is tight.
    matrix = shaped("one loss", 1)
    instance = ProgramData.from_matrix(matrix, "error")
    (arm,) = instance.winners
    gaps, losses, costs = quantities(matrix)
    rival = int(np.flatnonzero(gaps[:, arm] > 0)[0])
    pool = np.flatnonzero(gaps[rival] < 0)
    # L(1) = 1: any L_i2 superiors of the rival carry one unit, so the cheapest does.
    multipliers = Multipliers(
        np.array([1e9]),
        np.array([rival]),
        np.array([0]),
        np.zeros((1, len(matrix)), bool),
    )
    bound = dual_bound(instance, arm, multipliers)
    assert losses[rival] == pool.size
    # All superiors together carry one unit: the cheapest of them is enough.
    assert bound == pytest.approx(costs[rival, pool].min(), rel=1e-12)


@pytest.mark.parametrize(
    "change",
    ["rival is the winner", "level", "too many inferiors", "no inferior of the winner"],
)
def test_foreign_constraints_are_refused(change):
    instance, arm, found = multipliers_of(GAP)
    rivals, levels = found.rivals.copy(), found.levels.copy()
    inferiors = found.inferiors.copy()
    row = int(np.flatnonzero(inferiors.any(axis=1))[0])
    if change == "rival is the winner":
        rivals[row] = arm
    elif change == "level":
        levels[row] = instance.second + 1
    elif change == "too many inferiors":
        inferiors[row] = instance.gaps[arm] > 0
    else:
        inferiors[row, np.flatnonzero(inferiors[row])[0]] = False
        inferiors[row, 4] = True  # beats the winner
    with pytest.raises(ProgramError, match=f"constraint {row} "):
        dual_bound(instance, arm, Multipliers(found.values, rivals, levels, inferiors))


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

"""The program as it reads: independent of what is fast, with its own proof."""

import ast
import inspect
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import theory
from tests.theory.brute_force import enumerate_program
from tests.theory.matrices import REFERENCE, random_matrix, winners
from theory import ProgramError, copeland_lower_bound
from theory.copeland_program import constants, statement
from theory.copeland_program.program_data import ProgramData

GAP = REFERENCE["gap"]


def test_it_uses_nothing_of_what_makes_it_fast():
    tree = ast.parse(inspect.getsource(statement))
    imported = {x.module for x in ast.walk(tree) if isinstance(x, ast.ImportFrom)}
    ours = {name for name in imported if name and name.startswith("theory")}
    assert ours == {"theory.copeland_program.program_data", "theory.errors"}
    solver = inspect.getsource(constants._solve_with_cvxpy)
    assert "prefix" not in solver and "ConstraintFamilies" not in solver


@given(seed=st.integers(0, 10**6), num_arms=st.integers(2, 5))
def test_both_sides_are_those_of_all_sets_enumerated(seed, num_arms):
    matrix = random_matrix(np.random.default_rng(seed), num_arms)
    for winner in winners(matrix):
        expected = enumerate_program(matrix, winner)
        result = statement.solve(ProgramData.from_matrix(matrix, "error"), winner)
        assert result.dual_bound == pytest.approx(expected, rel=1e-7, abs=1e-9)
        assert result.slack >= 1 - 1e-7


@given(seed=st.integers(0, 10**6), scale=st.sampled_from([0.0, 1e-3, 0.3, 30.0]))
def test_any_multipliers_give_a_lower_bound(seed, scale):
    """Right ones, slightly wrong ones, and nonsense."""
    rng = np.random.default_rng(seed)
    matrix = random_matrix(rng, 5)
    (winner, *_) = winners(matrix)
    instance = ProgramData.from_matrix(matrix, "error")
    program = statement.state(instance, winner)

    def made_up(size):
        return SimpleNamespace(dual_value=scale * rng.standard_normal(size))

    families = [
        SimpleNamespace(
            total=made_up(()),
            shortfalls=[made_up(len(p)) if size else None for p, size in demand.parts],
        )
        for demand in program.demands
    ]
    bound = statement._dual_bound(program.costs, program.demands, families)
    assert bound <= enumerate_program(matrix, winner) * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("name", ["gap", "multisol"])
def test_verified_constants_are_the_others(name):
    matrix = REFERENCE[name]
    plain = copeland_lower_bound(matrix)
    assert copeland_lower_bound(matrix, verify=True).value == plain.value
    slow = copeland_lower_bound(matrix, method="cvxpy", verify=True)
    assert slow.value == pytest.approx(plain.value, rel=1e-8)
    # Every Copeland winner has its own program.
    assert slow.value_by_winner == pytest.approx(plain.value_by_winner, rel=1e-8)


@pytest.mark.parametrize(("error", "raises"), [(3e-7, True), (3e-8, False)])
def test_verify_raises_where_the_two_ways_differ(monkeypatch, error, raises):
    true = constants.solve_with_prefixes

    def wrong(instance, winner):
        result = true(instance, winner)
        value = result.certificate.primal_value * (1 + error)
        changed = {**vars(result.certificate), "primal_value": value}
        return constants.Solved(result.evidence, theory.Certificate(**changed))

    monkeypatch.setattr(constants, "solve_with_prefixes", wrong)
    if raises:
        with pytest.raises(ProgramError, match="winner 0 has the value .* by prefixes"):
            copeland_lower_bound(GAP, verify=True)
    else:
        copeland_lower_bound(GAP, verify=True)


def test_verify_is_true_or_false():
    with pytest.raises(ValueError, match="verify must be True or False"):
        copeland_lower_bound(GAP, verify="yes")  # pyright: ignore

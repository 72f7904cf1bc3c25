"""The optimal exploration program: choice of the winner, ties, bad input, failures."""

import numpy as np
import pytest

from tests.reference.matrices import ARXIV
from tests.theory.brute_force import reversal_program
from tests.theory.checks import check_optimum
from tests.theory.matrices import (
    CYCLIC,
    GAP,
    MSLR5,
    from_upper,
    random_matrix,
    shaped,
    winners,
)
from theory import (
    ProgramError,
    TieError,
    copeland_lower_bound,
    ecw_rmed_constant,
)
from theory.copeland_program import constants, find_violations
from theory.copeland_program.simplex import new_simplex

# Choice of the winner.


def test_smallest_index_among_equally_good_winners():
    for seed in range(8):
        matrix = shaped("two winners", seed)
        optimum = ecw_rmed_constant(matrix)
        first, second = winners(matrix)
        values = optimum.value_by_winner
        better = first if values[first] <= values[second] * (1 + 1e-9) else second
        assert optimum.winner == better
        for arm in (first, second):
            bound = copeland_lower_bound(matrix, winner=np.int64(arm))
            assert bound.winner == arm and bound.value == values[arm]
            check_optimum(bound, matrix)
            # Only the best winner gives a bound on the regret.
            assert bound.bound.log_coefficient == values[better]


def test_values_within_1e_9_are_equal():
    # A rotation on three arms that all beat a fourth; one gap differs by very little.
    upper = np.array([[0, 0.2, -0.2, 0.3], [0, 0, 0.2, 0.3], [0, 0, 0, 0.3]])
    matrix = from_upper(np.vstack((upper, np.zeros(4))))
    for shift, best in ((1e-13, 0), (1e-6, 2)):
        moved = matrix.copy()
        moved[2, 3], moved[3, 2] = 0.8 + shift, 0.2 - shift
        optimum = copeland_lower_bound(moved)
        assert optimum.value_by_winner[2] < optimum.value_by_winner[0]
        assert optimum.winner == best


# Ties.


@pytest.mark.slow
def test_tie_away_from_the_winners():
    # The honest problem lets the tied pair fall either way.
    rng = np.random.default_rng(4)
    compared = 0
    for _ in range(50):
        matrix = random_matrix(rng, int(rng.integers(3, 6)))
        i, j = rng.choice(len(matrix), 2, replace=False)
        matrix[i, j] = matrix[j, i] = 0.5
        with pytest.raises(TieError, match=f"arms {min(i, j)} and {max(i, j)}"):
            copeland_lower_bound(matrix)
        with pytest.raises(TieError):
            ecw_rmed_constant(matrix)
        if i in winners(matrix) or j in winners(matrix):
            continue
        optimum = copeland_lower_bound(matrix, ties="ignore")
        check_optimum(optimum, matrix)
        assert optimum.bound.regret == "copeland_losses"
        for arm, value in optimum.value_by_winner.items():
            for free_ties in (True, False):
                exact = reversal_program(matrix, arm, free_ties=free_ties)
                assert value == pytest.approx(exact, rel=1e-9, abs=1e-9)
        slow = copeland_lower_bound(matrix, ties="ignore", method="cvxpy")
        assert slow.value == pytest.approx(optimum.value, rel=1e-9, abs=1e-9)
        relaxed = ecw_rmed_constant(matrix, ties="ignore")
        assert relaxed.value >= optimum.value * (1 - 1e-9)
        compared += 1
    assert compared > 12


def test_tie_at_a_winner_is_refused():
    matrix = GAP.copy()
    matrix[0, 3] = matrix[3, 0] = 0.5
    for ties in ("error", "ignore"):
        for bound in (copeland_lower_bound, ecw_rmed_constant):
            with pytest.raises(TieError, match="arms 0 and 3"):
                bound(matrix, ties=ties)
        with pytest.raises(TieError):
            find_violations(np.ones((5, 5)), matrix, 0, ties=ties)


def test_a_tie_is_a_gap_below_1e_8():
    matrix = MSLR5.copy()
    matrix[3, 4], matrix[4, 3] = 0.5 + 9e-9, 0.5 - 9e-9
    with pytest.raises(TieError):
        copeland_lower_bound(matrix)
    matrix[3, 4], matrix[4, 3] = 0.5 + 1.1e-8, 0.5 - 1.1e-8
    assert copeland_lower_bound(matrix).value > 0


def test_published_tie_is_a_jump():
    left_out = ecw_rmed_constant(ARXIV, ties="ignore").value
    for tilt in (1e-6, -1e-6):
        broken = ARXIV.copy()
        broken[3, 5], broken[5, 3] = 0.5 + tilt, 0.5 - tilt
        assert 0.85 < left_out / ecw_rmed_constant(broken).value < 0.985


# Bad input.


@pytest.mark.parametrize("function", [copeland_lower_bound, ecw_rmed_constant])
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"winner": 1}, r"one of \[0\]"),
        ({"winner": 4}, "integer from 0 to 3"),
        ({"winner": 0.0}, "integer from 0 to 3"),
        ({"winner": True}, "integer from 0 to 3"),
        ({"ties": "random"}, "ties must be one of"),
        ({"matrix": [["a", "b"], ["c", "d"]]}, "real numbers"),
        ({"matrix": [[0.5]]}, "at least 2 x 2"),
    ],
)
def test_bad_arguments(function, arguments, text):
    with pytest.raises(ValueError, match=text):
        function(**({"matrix": CYCLIC} | arguments))


def test_unknown_method():
    with pytest.raises(ValueError, match="prefix, cvxpy"):
        copeland_lower_bound(CYCLIC, method="simplex")


def test_bounds_say_what_they_are():
    optimum = copeland_lower_bound(GAP)
    assert repr(optimum).startswith("Optimum(value=11.0249, winner=0")
    lower, upper = optimum.bound, ecw_rmed_constant(GAP).bound
    assert lower.kind == "asymptotic lower" and "Theorem 2" in lower.source
    assert upper.kind == "asymptotic upper" and "Theorem 4" in upper.source
    assert lower.regret == upper.regret == "copeland"
    assert lower.log_coefficient == optimum.value


# Failures of a solver must not pass.


@pytest.fixture
def spoil(monkeypatch):
    """Return a function that changes what the solver finds from then on."""
    cutting_planes = constants._cutting_planes.CuttingPlanes
    honest = cutting_planes.evidence

    def spoiled(index, factor, term=0.0):
        def evidence(self):
            result = honest(self)
            result[index] = factor * result[index] + term
            return result

        monkeypatch.setattr(cutting_planes, "evidence", evidence)

    return spoiled


def test_wrong_allocation_is_refused(spoil):
    spoil(..., 0.999)
    with pytest.raises(ProgramError, match="smallest left-hand side 0.999"):
        copeland_lower_bound(GAP)


def test_too_expensive_allocation_is_refused(spoil):
    spoil(([0, 3], [3, 0]), 0.0, 1e-6)
    with pytest.raises(ProgramError, match="relative gap"):
        copeland_lower_bound(GAP)


def test_rounding_errors_of_a_solver_are_scaled_away(spoil):
    spoil(..., 1 - 1e-9)
    optimum = copeland_lower_bound(GAP)
    assert optimum.certificate.slack >= 1 - 1e-15
    assert optimum.value == pytest.approx(11.024943, rel=1e-6)


def test_status_of_the_solver_is_reported(monkeypatch):
    import highspy

    # The status is read again after every run; no run means no optimum.
    monkeypatch.setattr(highspy.Highs, "run", lambda self: None)
    with pytest.raises(ProgramError, match="HiGHS says 'Not Set'"):
        copeland_lower_bound(GAP)


def test_a_constraint_that_comes_again_ends_the_loop(monkeypatch):
    cutting_planes = constants._cutting_planes.CuttingPlanes
    honest = cutting_planes._add_row

    def add_row(self, row):
        # Half of the evidence is enough for the solver.
        honest(self, row._replace(entries=2 * row.entries))

    monkeypatch.setattr(cutting_planes, "_add_row", add_row)
    with pytest.raises(ProgramError, match=r"rival 0, level 0 .* had been added"):
        copeland_lower_bound(CYCLIC[::-1, ::-1])


def test_status_of_cvxpy_is_reported(monkeypatch):
    import cvxpy

    monkeypatch.setattr(cvxpy.Problem, "solve", lambda self, **options: None)
    with pytest.raises(ProgramError, match="CVXPY says None"):
        copeland_lower_bound(GAP, method="cvxpy")


def test_a_solver_says_nothing(capfd):
    solver = new_simplex()
    solver.addVar(0.0, 1.0)
    solver.run()
    assert capfd.readouterr() == ("", "")

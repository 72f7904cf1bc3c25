"""The optimal program as an algorithm needs it: bases that outlive their prices."""

import numpy as np
import pytest

from tests.theory.brute_force import quantities
from tests.theory.matrices import (
    GAP,
    REFERENCE,
    from_upper,
    gaps_of,
    random_matrix,
    winners,
)
from theory import ProgramError, copeland_lower_bound
from theory.copeland_program import _basis
from theory.copeland_program._basis import (
    allocation,
    multipliers,
    optimal_basis,
    price_table,
    stays_optimal,
    tilted_costs,
)
from theory.copeland_program.constraints import candidate_slack

TILT = 1e-6


def single_winner(rng, num_arms, **options):
    """Draw a matrix with one Copeland winner."""
    while True:
        matrix = random_matrix(rng, num_arms, **options)
        if len(winners(matrix)) == 1:
            return matrix


def shaken(rng, gaps, by):
    """Change the size of every gap, not its sign, by up to a factor e^by."""
    factor = np.exp(rng.uniform(-by, by, gaps.shape))
    factor = np.triu(factor, 1)
    return np.clip(gaps * (factor + factor.T), -0.49, 0.49)


def matrices(seed, sizes=(2, 3, 4, 5, 6, 8, 12, 16), repeat=3):
    rng = np.random.default_rng(seed)
    yield GAP
    for num_arms in sizes:
        for _ in range(repeat):
            yield single_winner(rng, num_arms)
            yield single_winner(rng, num_arms, grid=[0.1, 0.2, 0.4])
        if num_arms >= 4:
            yield single_winner(rng, num_arms, upset=True)


def test_value_is_that_of_the_certified_optimum():
    for matrix in matrices(70):
        gaps = gaps_of(matrix)
        (winner,) = winners(matrix)
        basis = optimal_basis(gaps)
        table = price_table(gaps, winner)
        evidence = allocation(basis, table)
        optimum = copeland_lower_bound(matrix)
        value = np.triu(evidence * quantities(matrix)[2]).sum()
        assert value == pytest.approx(optimum.value, rel=3 * TILT)
        assert multipliers(basis, table.prices).sum() == pytest.approx(
            value, rel=3 * TILT
        )
        assert candidate_slack(evidence, gaps, winner) >= 1 - 1e-9
        assert np.array_equal(evidence, evidence.T)
        assert evidence.min() >= 0 and evidence.max() <= 1
        assert np.array_equal(basis.signs, np.sign(gaps))
        assert stays_optimal(basis, table.prices)


def test_tilts_are_small_and_no_two_alike():
    gaps = np.where(
        np.eye(6), 0.0, 0.2 * np.sign(np.subtract.outer(range(6), range(6)))
    )
    plain = quantities(0.5 - gaps)[2]
    ratio = (tilted_costs(-gaps) / np.where(plain > 0, plain, 1.0))[plain > 0]
    assert np.all(np.abs(ratio - 1) <= TILT)
    pairs = np.count_nonzero(np.triu(plain > 0))
    assert np.unique(ratio).size == pairs


def test_basis_is_kept_exactly_while_it_is_optimal():
    """Compare the proof with solving anew, next to and away from the old prices."""
    rng = np.random.default_rng(71)
    remaining = given_up = dearer = 0
    for matrix in matrices(72, sizes=(3, 4, 5, 8), repeat=2):
        gaps = gaps_of(matrix)
        (winner,) = winners(matrix)
        basis = optimal_basis(gaps)
        for by in (1e-4, 0.02, 0.1, 0.3, 1.0):
            other = shaken(rng, gaps, by)
            table = price_table(other, winner)
            ours = allocation(basis, table)
            fresh = allocation(optimal_basis(other), table)
            costs = tilted_costs(other)
            result, best = (np.triu(costs * name).sum() for name in (ours, fresh))
            # Feasible whatever the prices, by the signs alone.
            assert candidate_slack(ours, other, winner) >= 1 - 1e-9
            assert result >= best * (1 - 1e-9)
            if stays_optimal(basis, table.prices):
                remaining += 1
                assert result == pytest.approx(best, rel=1e-9)
                np.testing.assert_allclose(ours, fresh, atol=1e-9)
            else:
                given_up += 1
                # The same vertex can have several bases, and another one be optimal.
                dearer += result > best * (1 + 1e-9)
    assert remaining > 40 and given_up > 15 and dearer > 4, (
        remaining,
        given_up,
        dearer,
    )


def test_ties_belong_to_no_constraint():
    """Estimates may tie, even with the winner."""
    gaps = gaps_of(
        from_upper([[0, 0.2, 0.1, 0.0], [0, 0, 0.3, 0.1], [0] * 3 + [0.2], [0] * 4])
    )
    evidence = allocation(optimal_basis(gaps), price_table(gaps, 0))
    assert evidence[0, 3] == 0
    assert candidate_slack(evidence, gaps, 0) >= 1 - 1e-9


def test_what_cannot_be_proved_is_an_error(monkeypatch):
    """A wrong answer of the solver does not pass."""
    wrong = _basis._basis_of

    def half(program):
        basis = wrong(program)
        return basis._replace(amounts=0.5 * basis.amounts)

    monkeypatch.setattr(_basis, "_basis_of", half)
    with pytest.raises(ProgramError, match=r"smallest left-hand side 0\.5"):
        optimal_basis(gaps_of(REFERENCE["gap"]))


def test_more_constraints_than_places(monkeypatch):
    """Such a basis is good for its own gaps only, and says so."""
    monkeypatch.setattr(_basis, "ROWS_PER_ARM", 0)
    gaps = gaps_of(GAP)
    basis = optimal_basis(gaps)
    assert not basis.signs.any()
    evidence = allocation(basis, price_table(gaps, 0))
    assert candidate_slack(evidence, gaps, 0) >= 1 - 1e-9

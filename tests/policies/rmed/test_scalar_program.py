"""The optimal program in the kernel of CW-RMED, against ``theory``."""

import numpy as np
import pytest

from bayesduel import policies
from bayesduel.policies.rmed.copeland_winner import is_solved, learn, new_program, solve
from tests.compiling import called_compiled
from tests.theory.copeland_program.test_basis import matrices, shaken
from tests.theory.matrices import gaps_of, winners
from theory.copeland_program import directed_allocation, price_table
from theory.copeland_program._basis import Basis, stays_optimal
from theory.divergences import kl_to_half


def _learn_all(state):
    """Let the program learn of every pair; say whether it is solved then."""
    for first in range(state.arms.size):
        for second in range(first + 1, state.arms.size):
            learn(state, first, second)
    return is_solved(state)


@pytest.fixture(scope="module")
def learn_all():
    return called_compiled(_learn_all)


def state_of(gaps, program):
    """Return a state with these estimates."""
    kernel = policies.get("cw-rmed").scalar_kernel()
    state = kernel.new_state(np.arange(len(gaps)), 100)._replace(program=program)
    state.pairs["gap"], state.pairs["divergence"] = gaps, kl_to_half(gaps)
    losses = np.count_nonzero(gaps < 0, axis=1)
    state.arms["losses"] = losses
    state.now["least"], state.now["second"] = np.sort(losses)[:2]
    return state


@pytest.mark.slow
def test_rows_and_proof_are_those_of_the_whole_table(learn_all):
    """After other estimates on the same sides, near and far from the old ones."""
    rng = np.random.default_rng(77)
    remaining = given_up = 0
    for matrix in matrices(78, sizes=(2, 3, 4, 5, 8), repeat=2):
        gaps = gaps_of(matrix)
        (winner,) = winners(matrix)
        for by in (1e-4, 0.02, 0.1, 0.3, 1.0):
            program = new_program(len(gaps), 1)
            solve(program, gaps)
            other = shaken(rng, gaps, by)
            result = learn_all(state_of(other, program))
            table = price_table(other, winner)
            prices = program.prices.reshape(gaps.shape)
            np.testing.assert_allclose(prices, table.prices, rtol=1e-12)
            blocks = directed_allocation(program.amounts, table)
            np.testing.assert_array_equal(program.blocks, blocks)
            basis = Basis(
                program.signs, program.amounts, program.columns, program.inverse,
                program.loads.reshape(-1, *gaps.shape),
            )  # fmt: skip
            assert result == stays_optimal(basis, table.prices)
            assert not program.now["is_stale"][0]
            remaining, given_up = remaining + result, given_up + (not result)
    assert remaining > 50 and given_up > 20, (remaining, given_up)


def test_an_estimate_that_changes_sides_is_noticed(learn_all):
    for matrix in matrices(79, sizes=(3, 5), repeat=1):
        gaps = gaps_of(matrix)
        program = new_program(len(gaps), 1)
        solve(program, gaps)
        gaps[0, 1], gaps[1, 0] = gaps[1, 0], gaps[0, 1]
        assert not learn_all(state_of(gaps, program))
        assert program.now["is_stale"][0]


def test_an_unproved_basis_serves_while_it_is_young(learn_all):
    """Three duels are learnt of, and the basis is used if it may serve more."""
    gaps = np.array([[0.0, 0.1, 0.3], [-0.1, 0.0, 0.2], [-0.3, -0.2, 0.0]])
    for resolve_every, expected in ((4, True), (3, False)):
        program = new_program(3, resolve_every)
        solve(program, gaps)
        program.inverse[:] = -1.0  # Nothing proves it.
        assert learn_all(state_of(gaps, program)) == expected

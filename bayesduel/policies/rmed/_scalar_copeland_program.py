"""The optimal program in the kernel of CW-RMED: what its last solution is good for.

The basis of ``theory.copeland_program._basis``, which says what prices and blocks are,
here one row at a time. The host solves the program; whether the basis of the last one
is still optimal, and what it asks for, is found here.
"""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int, Int8

from bayesduel.errors import ProgramError
from bayesduel.ops.scalar.compiled import Records, compiled, inlined
from bayesduel.policies.rmed._scalar_copeland import cost
from theory.copeland_program import (
    cost_tilts,
    directed_allocation,
    empty_basis,
    losses,
    optimal_basis,
    price_table,
)
from theory.copeland_program.efficient import ecw_evidence

_TOLERANCE = 1e-12
"""Relative, as in ``theory.copeland_program._basis``."""

_NOW = np.dtype(
    [
        ("resolve_every", np.int64),
        ("winner", np.int64),  # Of the basis.
        ("size", np.int64),  # Constraints of the basis.
        # Whether an estimate changed sides since the host solved it: prices are void
        # until it is asked, even if the estimate changed back.
        ("is_stale", np.int64),
        ("is_asked", np.int64),  # Whether the host must solve the program,
        ("is_served", np.int64),  # and has, and what is due was not appended yet.
        ("is_current", np.int64),  # Whether the blocks belong to the estimates.
        ("log_told", np.float64),  # max(1, log t) of the round that asked for it.
        ("age", np.int64),  # Informative duels since the host solved it.
        # Whether the estimates changed since the program was last needed.
        ("is_new", np.int64),
        ("needed", np.int64),  # Programs that the algorithm asked for,
        ("solved", np.int64),  # those that went to the host,
        ("failed", np.int64),  # and those that it could not solve.
    ]
)


class ProgramKernel(NamedTuple):
    """The last solution."""

    now: Records  # One of ``_NOW``.
    # The factors of costs that make the optimum unique.
    tilts: Float[np.ndarray, "K K"]
    signs: Int8[np.ndarray, "K K"]
    amounts: Float[np.ndarray, "K K"]
    columns: Int[np.ndarray, " R"]
    inverse: Float[np.ndarray, "R R"]
    loads: Int8[np.ndarray, "R K*K"]
    # Of the table, row by row. A duel that leaves all estimates on their sides changes
    # two rows.
    prices: Float[np.ndarray, " K*K"]
    # The ``directed_allocation`` of the basis at these prices. A pair needs the sum of
    # both entries.
    blocks: Float[np.ndarray, "K K"]
    # These three are no state, but room for what is computed from it.
    multipliers: Float[np.ndarray, " R"]
    used: Float[np.ndarray, " K*K"]
    order: Int[np.ndarray, " K"]


def new_program(num_arms: int, resolve_every: int) -> ProgramKernel:
    """Return a program that was never solved; by the host."""
    basis, places = empty_basis(num_arms), num_arms * num_arms
    now = np.zeros(1, dtype=_NOW)
    now["resolve_every"] = resolve_every
    now["is_stale"] = now["is_new"] = True
    return ProgramKernel(
        now=now,
        tilts=cost_tilts(num_arms),
        signs=basis.signs,
        amounts=basis.amounts,
        columns=basis.columns,
        inverse=basis.inverse,
        loads=basis.loads.reshape(-1, places),
        prices=np.zeros(places),
        blocks=np.zeros((num_arms, num_arms)),
        multipliers=np.zeros(len(basis.columns)),
        used=np.zeros(places),
        order=np.zeros(num_arms, dtype=np.int64),
    )


def info(program: ProgramKernel) -> dict[str, Any]:
    """Return how many programs were needed, went to the host, and failed there."""
    names = ("needed", "solved", "failed")
    return {f"programs_{name}": program.now[name][0] for name in names}


def solve(program: ProgramKernel, gaps: Float[np.ndarray, "K K"]) -> None:
    """Solve the program of the estimates; by the host."""
    now, num_arms = program.now, len(gaps)
    winner = int(np.argmin(losses(gaps)))
    table = price_table(gaps, winner)
    try:
        basis = optimal_basis(gaps)
        program.blocks[:] = directed_allocation(basis.amounts, table)
    except ProgramError:
        basis = empty_basis(num_arms)
        program.blocks[:] = 0.5 * ecw_evidence(gaps, winner)
        now["failed"] += 1
    program.signs[:], program.amounts[:] = basis.signs, basis.amounts
    program.columns[:], program.inverse[:] = basis.columns, basis.inverse
    program.loads[:] = basis.loads.reshape(program.loads.shape)
    program.prices[:] = table.prices.reshape(-1)
    now["winner"] = winner
    now["size"] = np.count_nonzero(basis.inverse.any(axis=1))
    # A basis that fits nothing has no signs.
    now["is_stale"] = not basis.signs.any()
    now["is_asked"], now["is_served"], now["is_current"] = False, True, True
    now["age"] = 0


@inlined
def learn(state: Any, first: int, second: int) -> None:
    """Bring prices and blocks up to date with what a duel taught."""
    program = state.program
    now, gap = program.now[0], state.pairs[first, second].gap
    now.is_current, now.is_new = False, True
    now.age += 1
    if int(gap > 0.0) - int(gap < 0.0) != program.signs[first, second]:
        now.is_stale = True
    if not now.is_stale:
        _lay_out(state, first)
        _lay_out(state, second)


@compiled
def _lay_out(state: Any, arm: int) -> None:
    """Compute prices and blocks of an arm; which pairs have some does not change."""
    program, num_arms = state.program, state.arms.size
    winner, row, number = program.now[0].winner, arm * num_arms, 0
    for other in range(num_arms):
        gap = state.pairs[arm, other].gap
        if arm == winner and gap > 0.0:
            program.prices[row + other] = _tilted(state, arm, other)
            program.blocks[arm, other] = program.amounts[arm, other]
        elif arm != winner and other != winner and gap < 0.0:
            place, price = number, _tilted(state, arm, other)
            while place > 0 and _tilted(state, arm, program.order[place - 1]) > price:
                program.order[place] = program.order[place - 1]
                place -= 1
            program.order[place] = other
            number += 1
    total = 0.0
    for place in range(number):
        superior = program.order[place]
        total += _tilted(state, arm, superior)
        program.prices[row + place] = total
        program.blocks[arm, superior] = program.amounts[arm, place]


@inlined
def _tilted(state: Any, one: int, other: int) -> float:
    return cost(state, one, other) * state.program.tilts[one, other]


@compiled
def is_solved(state: Any) -> bool:
    """Say whether the blocks are what the program of the estimates asks for.

    Where no estimate changed sides they are, if the basis is proved to be optimal, or
    young enough to do without a proof.
    """
    now = state.program.now[0]
    if not now.is_current and not now.is_stale:
        is_young = 0 < now.age < now.resolve_every
        now.is_current = is_young or stays_optimal(state.program)
    return now.is_current


@compiled
def stays_optimal(program: ProgramKernel) -> bool:
    """Say whether the basis is optimal at the prices.

    No multiplier is negative, and no price exceeded:
    ``theory.copeland_program._basis.stays_optimal``.
    """
    size, values, used = program.now[0].size, program.multipliers, program.used
    for row in range(size):
        values[row], scale = 0.0, 0.0
        for column in range(size):
            term = (
                program.inverse[row, column] * program.prices[program.columns[column]]
            )
            values[row] += term
            scale = max(scale, abs(term))
        if values[row] < -_TOLERANCE * scale:
            return False
    for place in range(used.size):
        used[place] = 0.0
    for row in range(size):
        for place in range(used.size):
            used[place] += program.loads[row, place] * values[row]
    for place in range(used.size):
        if used[place] > program.prices[place] * (1.0 + _TOLERANCE):
            return False
    return True

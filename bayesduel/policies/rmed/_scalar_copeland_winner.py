"""The kernel of CW-RMED: that of ECW-RMED with the optimal program in its place."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import Records, compiled, inlined
from bayesduel.policies import scalar_kernel
from bayesduel.policies.rmed import _scalar_copeland_program
from bayesduel.policies.rmed._scalar_copeland import NOBODY, count, new_state
from bayesduel.policies.rmed._scalar_copeland_program import (
    ProgramKernel,
    is_solved,
    learn,
    new_program,
    solve,
)
from bayesduel.policies.rmed._scalar_efficient_copeland import (
    append_by_efficient_program,
    first_passing,
    init,
    log_of,
    recommend,
)
from bayesduel.policies.rmed._scalar_efficient_copeland import choose as next_duel
from bayesduel.policies.rmed._scalar_lists import (
    append,
    note,
    reads_self_duels,
    recall,
)
from bayesduel.policies.scalar_kernel import ScalarDuel, ScalarKernel


class CopelandWinnerKernel(NamedTuple):
    """The state of one run: ``CopelandKernel``, and the program."""

    now: Records
    arms: Records
    pairs: Records
    elements: Records
    program: ProgramKernel


def kernel(
    *, alpha: float, beta: float, look_ahead: bool, resolve_every: int
) -> ScalarKernel:
    """Return the kernel; without ``look_ahead`` it plays round by round."""

    def initial_state(
        order: Int[np.ndarray, " K"], horizon: int
    ) -> CopelandWinnerKernel:
        known = new_state(order, alpha=alpha, beta=beta, look_ahead=look_ahead)
        return CopelandWinnerKernel(*known, new_program(len(order), resolve_every))

    def info(state: CopelandWinnerKernel) -> dict[str, Any]:
        return _scalar_copeland_program.info(state.program)

    return ScalarKernel("copeland_rmed", initial_state, info, solve_on_host)


def solve_on_host(state: CopelandWinnerKernel) -> bool:
    """Solve the program of a state that waits for it; say whether it did."""
    if not state.program.now["is_asked"][0]:
        return False
    solve(state.program, np.ascontiguousarray(state.pairs["gap"]))
    return True


@inlined
def is_waiting(state: CopelandWinnerKernel) -> bool:
    """Say whether the host must solve the program."""
    return state.program.now[0].is_asked > 0


@inlined
def choose(state: CopelandWinnerKernel, rng: Generator, round_: int) -> ScalarDuel:
    """Take a pair out of turn, or the next one of the pass."""
    _append_if_solved(state)
    return next_duel(state, rng, round_)


@inlined
def update(
    state: CopelandWinnerKernel,
    rng: Generator,
    round_: int,
    first: int,
    second: int,
    won: bool,
) -> None:
    """Count the outcome and, if the duel was in turn, find what is due."""
    _append_if_solved(state)
    if first != second:
        count(state, first, second, won)
        learn(state, first, second)
    if state.now[0].is_in_turn:
        _append_due(state, round_)


@compiled
def _append_due(state: CopelandWinnerKernel, round_: int) -> None:
    """Name the winner, and append what is due after ``round_`` or ask for it."""
    now, program = state.now[0], state.program.now[0]
    now.tests += 1
    now.winner = first_passing(state, round_)[0]
    is_alone = now.least < now.second
    if now.winner == NOBODY and is_alone:
        now.winner = _only_winner(state)
        program.needed += program.is_new
        program.is_new = False
        program.log_told = log_of(round_)
        if is_solved(state):
            _append_short(state)
        else:
            program.is_asked = True
            program.solved += 1
        return
    if now.winner == NOBODY:
        append_by_efficient_program(state, log_of(round_))
    append(now, state.elements, state.elements.size - state.arms.size + now.winner)


@inlined
def _only_winner(state: CopelandWinnerKernel) -> int:
    """Return the arm with the fewest losses."""
    winner = 0
    while state.arms[winner].losses > state.now[0].least:
        winner += 1
    return winner


@inlined
def _append_if_solved(state: CopelandWinnerKernel) -> None:
    """Append what the host's solution asks for, once."""
    if state.program.now[0].is_served:
        state.program.now[0].is_served = False
        _append_short(state)


@compiled
def _append_short(state: CopelandWinnerKernel) -> None:
    """Append the pairs with less evidence than the program asks for, and the winner."""
    now, elements, blocks = state.now[0], state.elements, state.program.blocks
    num_pairs = elements.size - state.arms.size
    for element in range(num_pairs):
        first, second = elements[element].first, elements[element].second
        wanted = blocks[first, second] + blocks[second, first]
        known = state.pairs[first, second].evidence
        if wanted * state.program.now[0].log_told > known:
            append(now, elements, element)
    append(now, elements, num_pairs + now.winner)


scalar_kernel.implement(
    CopelandWinnerKernel,
    init=init,
    choose=choose,
    update=update,
    recommend=recommend,
    reads_self_duels=reads_self_duels,
    note=note,
    recall=recall,
    is_waiting=is_waiting,
)

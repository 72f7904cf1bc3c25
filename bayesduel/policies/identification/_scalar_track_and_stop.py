"""The kernel of Track-and-Stop: ``track_and_stop`` one run at a time."""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import Records, compiled, inlined
from bayesduel.ops.scalar.digamma import digamma
from bayesduel.policies import scalar_kernel
from bayesduel.policies.identification import EQUAL_LAGS
from bayesduel.policies.identification._scalar_allocation import (
    Program,
    new_program,
    pair_number,
    set_sign,
    solve,
)
from bayesduel.policies.scalar_choices import count_win, recommend_most_beaten
from bayesduel.policies.scalar_kernel import ScalarDuel, ScalarKernel

_NOW = np.dtype(
    [
        ("growth", np.float64),
        ("sticky", np.float64),
        ("duels", np.int64),
        ("next_aim", np.int64),  # Duels at which the allocation is found anew.
        ("answer", np.int64),  # The arm that it is for; -1 before the first.
    ]
)

_PAIR = np.dtype([("wins", np.int64)])

MOST_TILT = 1e-6
"""Prices differ from one another by so much, so that one optimum is the cheapest."""


class TrackAndStopKernel(NamedTuple):
    """The state of one run."""

    now: Records
    pairs: Records
    share: Float[np.ndarray, " M"]
    """Of the duels, for every pair in lexicographic order."""

    divergence: Float[np.ndarray, " M"]
    program: Program


def kernel(*, growth: float, sticky: float) -> ScalarKernel:
    """Return the kernel."""

    def initial_state(order: Int[np.ndarray, " K"], horizon: int) -> TrackAndStopKernel:
        return new_state(len(order), growth=growth, sticky=sticky)

    return ScalarKernel("track_and_stop", initial_state)


def new_state(num_arms: int, *, growth: float, sticky: float) -> TrackAndStopKernel:
    """Return the state before the first duel."""
    number = num_arms * (num_arms - 1) // 2
    state = TrackAndStopKernel(
        now=np.zeros(1, dtype=_NOW),
        pairs=np.zeros((num_arms, num_arms), dtype=_PAIR),
        share=np.zeros(number),
        divergence=np.zeros(number),
        program=new_program(num_arms),
    )
    state.now["growth"], state.now["sticky"] = growth, sticky
    state.now["next_aim"], state.now["answer"] = number, -1
    return state


@inlined
def choose(state: TrackAndStopKernel, rng: Generator, round_: int) -> ScalarDuel:
    """Return the pair that was asked too seldom, or is furthest behind its share."""
    now = state.now[0]
    if now.duels >= now.next_aim:
        aim(state)
        now.next_aim = now.duels + max(1, int(now.growth * now.duels))
    first, second = _next_pair(state)
    return ScalarDuel(first, 0, first, second, True)


@compiled
def _next_pair(state: TrackAndStopKernel) -> tuple[int, int]:
    num_arms, duels = len(state.pairs), state.now[0].duels
    first, second, least, most = 0, 1, math.inf, -math.inf
    for one in range(num_arms):
        for other in range(one + 1, num_arms):
            played = state.pairs[one, other].wins + state.pairs[other, one].wins
            if played < least:
                first, second, least = one, other, played
    if least < max(1.0, math.sqrt(duels) - 0.5 * state.share.size):
        return first, second
    for one in range(num_arms):
        for other in range(one + 1, num_arms):
            most = max(most, _lag(state, one, other))
    for one in range(num_arms):
        for other in range(one + 1, num_arms):
            if _lag(state, one, other) >= most - EQUAL_LAGS:
                return one, other
    return first, second


@inlined
def _lag(state: TrackAndStopKernel, one: int, other: int) -> float:
    """Return how many duels a pair is behind its share."""
    played = state.pairs[one, other].wins + state.pairs[other, one].wins
    share = state.share[pair_number(len(state.pairs), one, other)]
    return state.now[0].duels * share - played


@compiled
def aim(state: TrackAndStopKernel) -> None:
    """Find the optimal shares for the estimates, and the answer that they are for."""
    now, program = state.now[0], state.program
    _estimate(state)
    best, cheapest = -1, math.inf
    for arm in range(len(state.pairs)):
        if _is_winner(program, arm):
            cost = solve(program, arm)
            # An answer that is nearly as cheap is kept.
            cost *= 1.0 - now.sticky if arm == now.answer else 1.0
            if cost < cheapest:
                best, cheapest = arm, cost
    if program.solved_for[0] != best:
        solve(program, best)
    now.answer = best
    total = 0.0
    for pair in range(state.share.size):
        state.share[pair] = program.evidence[pair] / state.divergence[pair]
        total += state.share[pair]
    for pair in range(state.share.size):
        state.share[pair] /= total


@compiled
def _estimate(state: TrackAndStopKernel) -> None:
    """Find who is ahead in each pair, and what a unit of evidence on it costs."""
    num_arms = len(state.pairs)
    for one in range(num_arms):
        for other in range(one + 1, num_arms):
            pair = pair_number(num_arms, one, other)
            won, lost = state.pairs[one, other].wins, state.pairs[other, one].wins
            total, share = won + lost + 2.0, (won + 1.0) / (won + lost + 2.0)
            whole = digamma(total + 1.0)
            up, down = digamma(won + 2.0) - whole, digamma(lost + 2.0) - whole
            state.divergence[pair] = math.log(2.0) + share * up + (1.0 - share) * down
            tilt = 1.0 + MOST_TILT * math.sin(pair + 1.0)
            state.program.price[pair] = tilt / state.divergence[pair]
            set_sign(state.program, one, other, int(won >= lost))


@inlined
def _is_winner(program: Program, arm: int) -> bool:
    """Say whether no arm beats more others."""
    own, most = 0, 0
    for one in range(len(program.beats)):
        beaten = 0
        for other in range(len(program.beats)):
            beaten += program.beats[one, other]
        own = beaten if one == arm else own
        most = max(most, beaten)
    return own == most


@inlined
def update(
    state: TrackAndStopKernel,
    rng: Generator,
    round_: int,
    first: int,
    second: int,
    won: bool,
) -> None:
    """Count the outcome."""
    count_win(state, rng, round_, first, second, won)
    state.now[0].duels += 1


scalar_kernel.implement(
    TrackAndStopKernel, choose=choose, update=update, recommend=recommend_most_beaten
)

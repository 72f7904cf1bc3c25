"""The kernel of the heuristics: shares of duels won, and what is made of them.

One state serves all three, so that they share a compiled program.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesduel.ops.scalar.compiled import Records, compiled, implement_one, inlined
from bayesduel.stopping._scalar_bets import lower_half
from bayesduel.stopping.scalar_rules import GO_ON, ScalarStopping, observe

FIXED, INTERVALS, TEST = 0, 1, 2

_NOW = np.dtype(
    [
        ("kind", np.int64),
        ("left", np.int64),  # Of a fixed number of duels.
        ("square", np.float64),  # Of the normal quantile of the intervals.
        ("level", np.float64),  # Of the test.
    ]
)

_ARM = np.dtype([("won", np.int64), ("met", np.int64)])

_PAIR = np.dtype([("wins", np.int64)])


class HeuristicKernel(NamedTuple):
    """The state of one run."""

    now: Records
    arms: Records
    pairs: Records


def stopping(
    kind: int, *, duels: int = 0, square: float = 0.0, level: float = 0.0
) -> ScalarStopping:
    """Return what stops by one of the heuristics."""

    def initial_state(num_arms: int) -> HeuristicKernel:
        now = np.zeros(1, dtype=_NOW)
        now["kind"], now["left"], now["square"], now["level"] = (
            kind, duels, square, level,
        )  # fmt: skip
        return HeuristicKernel(
            now=now,
            arms=np.zeros(num_arms, dtype=_ARM),
            pairs=np.zeros((num_arms, num_arms), dtype=_PAIR),
        )

    return ScalarStopping("heuristic", initial_state)


@inlined
def _observe(state: HeuristicKernel, first: int, second: int, won: bool) -> int:
    """Count a duel; return the leader if the heuristic is content with it."""
    winner, loser = (first, second) if won else (second, first)
    state.pairs[winner, loser].wins += 1
    state.arms[winner].won += 1
    state.arms[winner].met += 1
    state.arms[loser].met += 1
    return _look(state)


@compiled
def _look(state: HeuristicKernel) -> int:
    now = state.now[0]
    if now.kind == FIXED:
        now.left -= 1
        return _leader(state, -1) if now.left <= 0 else GO_ON
    leader = _leader(state, -1)
    if now.kind == INTERVALS:
        return leader if _is_apart(state, leader) else GO_ON
    second = _leader(state, leader)
    won, lost = state.pairs[leader, second].wins, state.pairs[second, leader].wins
    if won <= lost + 1:
        return GO_ON
    return leader if 2.0 * lower_half(won, lost + 1) < now.level else GO_ON


@inlined
def _leader(state: HeuristicKernel, without: int) -> int:
    """Return the arm with the largest share won, but for one arm."""
    best, most = -1, -math.inf
    for arm in range(state.arms.size):
        each = state.arms[arm]
        share = each.won / each.met if each.met > 0 else -1.0
        if arm != without and share > most:
            best, most = arm, share
    return best


@inlined
def _is_apart(state: HeuristicKernel, leader: int) -> bool:
    """Say whether the lower end of the leader's interval is above all upper ends."""
    low = _end(state, leader, -1.0)
    for arm in range(state.arms.size):
        if arm != leader and _end(state, arm, 1.0) >= low:
            return False
    return True


@inlined
def _end(state: HeuristicKernel, arm: int, sign: float) -> float:
    """Return the lower (-1) or upper (1) end of the interval of Wilson."""
    played, square = state.arms[arm].met, state.now[0].square
    if played == 0:
        return 0.5 + 0.5 * sign
    rate = state.arms[arm].won / played
    spread = rate * (1.0 - rate) / played + square / (4.0 * played * played)
    center = rate + square / (2.0 * played)
    return (center + sign * math.sqrt(square * spread)) / (1.0 + square / played)


implement_one(observe, HeuristicKernel, _observe)

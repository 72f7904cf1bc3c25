"""The state of ECW-RMED and CW-RMED in kernels, and their test of evidence.

The test is the ``candidate_slack`` of ``theory.copeland_program``, one winner at a
time. Sums over the superiors of an arm are kept until one of its pairs changes.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from bayesduel.ops.scalar.compiled import Records, compiled, tables
from bayesduel.policies.rmed._scalar_lists import (
    DRAWS_FIELDS,
    ELEMENT_FIELDS,
    LIST_FIELDS,
    PAIR_FIELDS,
    count_duel,
    first_pass,
)

NOBODY = -1

_NOW = np.dtype(
    [
        *LIST_FIELDS,
        *DRAWS_FIELDS,
        ("look_ahead", np.int64),  # Whether idle rounds are jumped over.
        ("alpha", np.float64),
        ("beta", np.float64),
        ("num_close", np.int64),  # Pairs whose estimates are, or may be, close to 1/2.
        ("winner", np.int64),  # Winner of the last test or program; -1 before.
        # The two smallest numbers of losses, which may be equal.
        ("least", np.int64),
        ("second", np.int64),
    ]
)

_ARM = np.dtype(
    [
        ("losses", np.int64),  # Superiors: arms that it loses to in the estimates.
        # Whether the sums, and the order by cost, of its superiors are up to date.
        ("has_sums", np.int64),
        ("has_order", np.int64),
        # The solution of the winner's program for this rival.
        ("block_size", np.int64),
        ("share", np.float64),
        # Not of the arm, but lists: sums of the smallest evidence on the inferiors of
        # one winner, and costs of the programs of all winners.
        ("inferior_sum", np.float64),
        ("program_cost", np.float64),
    ]
)

_PAIR = np.dtype(
    [
        *PAIR_FIELDS,
        ("is_close", np.int64),
        # Not of the pair, but lists of row i: its superiors in the order of their cost,
        # and at n the sum of the n smallest evidences on them.
        ("superior", np.int64),
        ("superior_sum", np.float64),
    ]
)

_ELEMENT = np.dtype([*ELEMENT_FIELDS, ("first", np.int64), ("second", np.int64)])


class CopelandKernel(NamedTuple):
    """The state of one run."""

    now: Records  # One of ``_NOW``.
    arms: Records  # K of ``_ARM``.
    pairs: Records  # K x K of ``_PAIR``.
    # M of ``_ELEMENT``: pairs in lexicographic order, then every arm with itself.
    elements: Records


def new_state(num_arms: int) -> CopelandKernel:
    """Return the state before the first round: every pair is due once."""
    rows, columns = np.triu_indices(num_arms, 1)
    arms = np.arange(num_arms)
    state = CopelandKernel(
        *tables(num_arms, _NOW, _ARM, _PAIR),
        elements=np.zeros(rows.size + num_arms, dtype=_ELEMENT),
    )
    state.now["num_close"] = rows.size
    state.now["winner"] = NOBODY
    state.pairs["is_close"] = True
    state.elements["first"] = np.concatenate([rows, arms])
    state.elements["second"] = np.concatenate([columns, arms])
    first_pass(state, state.elements, rows.size)
    return state


@compiled
def count(state: Any, first: int, second: int, won: bool) -> None:
    """Count an outcome, and forget what no longer holds."""
    now, arms = state.now[0], state.arms
    forward, backward = state.pairs[first, second], state.pairs[second, first]
    old = forward.gap
    count_duel(state, first, second, won)
    new = forward.gap
    if (old < 0.0) != (new < 0.0) or (old > 0.0) != (new > 0.0):
        arms[first].losses += int(new < 0.0) - int(old < 0.0)
        arms[second].losses += int(new > 0.0) - int(old > 0.0)
        # The two smallest numbers of losses; all costs have changed.
        now.least = now.second = arms.size
        for i in range(arms.size):
            arms[i].has_order = False
            if arms[i].losses < now.least:
                now.least, now.second = arms[i].losses, now.least
            else:
                now.second = min(now.second, arms[i].losses)
        arms[first].has_sums = arms[second].has_sums = False
    else:
        behind = first if new < 0.0 else second
        arms[behind].has_sums = arms[behind].has_order = False
    # With time, fewer estimates are close: only a duel can bring one nearer.
    is_close = new == 0.0 or abs(new) < now.beta
    now.num_close += int(is_close) - forward.is_close
    forward.is_close = backward.is_close = is_close


@compiled
def cost(state: Any, first: int, second: int) -> float:
    """Return the price of one unit of evidence on a pair that is not tied."""
    arms = state.arms
    losses = arms[first].losses + arms[second].losses - 2 * state.now[0].least
    regret = losses / (2.0 * (arms.size - 1))
    return regret / state.pairs[first, second].divergence


@compiled
def _insert(sums: Float[np.ndarray, " K"], number: int, value: float) -> None:
    """Insert a value into entries 1, ..., number - 1, which increase."""
    index = number
    while index > 1 and sums[index - 1] > value:
        sums[index] = sums[index - 1]
        index -= 1
    sums[index] = value


@compiled
def _add_up(sums: Float[np.ndarray, " K"], number: int) -> None:
    """Replace entries 1, ..., number by their running sums."""
    sums[0] = 0.0
    for index in range(1, number + 1):
        sums[index] += sums[index - 1]


@compiled
def _entry(sums: Float[np.ndarray, " K"], size: int, number: int) -> float:
    """Return a sum of the ``size`` smallest of ``number`` values, all if it is more."""
    return sums[max(0, min(size, number))]


@compiled
def slack(state: CopelandKernel, winner: int) -> float:
    """Return the smallest left-hand side of all constraints on one of fewest losses."""
    # The names are those of ``theory.copeland_program.efficient.candidate_slack``.
    now, arms = state.now[0], state.arms
    y, inferiors = arms.inferior_sum, 0
    for other in range(arms.size):
        if state.pairs[winner, other].gap > 0.0:
            inferiors += 1
            _insert(y, inferiors, state.pairs[winner, other].evidence)
    _add_up(y, inferiors)
    least = math.inf
    for rival in range(arms.size):
        if rival == winner:
            continue
        z = state.pairs[rival].superior_sum
        if not arms[rival].has_sums:
            number = 0
            for other in range(arms.size):
                if state.pairs[rival, other].gap < 0.0:
                    number += 1
                    _insert(z, number, state.pairs[rival, other].evidence)
            _add_up(z, number)
            arms[rival].has_sums = True
        superiors = arms[rival].losses
        beaten = state.pairs[winner, rival].gap > 0.0
        pair = state.pairs[winner, rival].evidence
        for level in range(max(0, now.least - 1), now.second):
            a, b = level + 1 - now.least, superiors - level
            y_same, z_same = _entry(y, a, inferiors), _entry(z, b, superiors)
            if not beaten:
                if a <= inferiors:
                    least = min(least, y_same + z_same)
                continue
            if 1 <= a <= inferiors:
                y_less, z_less = y[a - 1], _entry(z, b - 1, superiors)
                side = max(pair + y_less, y_same) + max(z_less, z_same - pair)
                least = min(least, side)
            if a < inferiors and level > 0:
                y_more, z_more = y[a + 1], _entry(z, b + 1, superiors)
                side = max(y_same, y_more - pair) + max(z_same, z_more - pair)
                least = min(least, side)
    top = now.second + 1 - now.least
    if top <= inferiors:
        least = min(least, y[top])
    return least

"""The identification program of estimates, solved inside compiled code.

Its dual is a packing program: put weights on the sets of pairs that dethrone an arm, as
much as possible in sum, so that no pair carries more than its price. There are
exponentially many sets, but the one that lacks most is a sum of smallest entries (as in
``theory.identification.evidence``), so the simplex method takes them in one by one,
when they are needed. Rows are pairs in lexicographic order; the multipliers of the rows
are the optimal evidence. The matrix holds zeros and ones, prices stand on the right
alone: while all estimates stay on their sides, the last basis is optimal as long as it
is feasible, which takes one product to see.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from bayesduel.ops.scalar.compiled import compiled, inlined

_ENOUGH = 1e-10
"""A set may be short of one unit of evidence by that much, and a pair below zero."""

_NO_PIVOT = 1e-11

_MOST_PIVOTS = 200
"""Per pair; far more than are needed. What is found then is used all the same."""


class Program(NamedTuple):
    """Room for the program of K arms with M pairs, and the last basis."""

    beats: Int[np.ndarray, "K K"]  # [i, j]: 1 where i is taken to be better.
    price: Float[np.ndarray, " M"]
    evidence: Float[np.ndarray, " M"]  # The solution.
    inverse: Float[np.ndarray, "M M"]  # Of the basis, [pair, place].
    # [place]: value of the variable that is in the basis.
    level: Float[np.ndarray, " M"]
    is_set: Int[np.ndarray, " M"]  # [place]: 1 for a set, 0 for what a pair has left.
    direction: Float[np.ndarray, " M"]
    members: Int[np.ndarray, " N"]  # Pairs of the set that enters.
    nearest: Int[np.ndarray, " N"]  # Pairs of a rival in the order of their evidence.
    solved_for: Int[np.ndarray, " 1"]  # The arm that the basis belongs to; -1 for none.


def new_program(num_arms: int) -> Program:
    """Return room for the program of so many arms."""
    pairs = num_arms * (num_arms - 1) // 2
    return Program(
        beats=np.zeros((num_arms, num_arms), dtype=np.int64),
        price=np.zeros(pairs),
        evidence=np.zeros(pairs),
        inverse=np.zeros((pairs, pairs)),
        level=np.zeros(pairs),
        is_set=np.zeros(pairs, dtype=np.int64),
        direction=np.zeros(pairs),
        members=np.zeros(2 * num_arms, dtype=np.int64),
        nearest=np.zeros(2 * num_arms, dtype=np.int64),
        solved_for=np.full(1, -1, dtype=np.int64),
    )


@inlined
def pair_number(num_arms: int, one: int, other: int) -> int:
    """Return the place of a pair in lexicographic order."""
    low, high = min(one, other), max(one, other)
    return low * num_arms - low * (low + 1) // 2 + high - low - 1


@compiled
def set_sign(program: Program, one: int, other: int, one_beats: int) -> None:
    """Say which of two arms is better; another sign than before ends the basis."""
    if program.beats[one, other] != one_beats or program.beats[other, one] == one_beats:
        program.beats[one, other], program.beats[other, one] = one_beats, 1 - one_beats
        program.solved_for[0] = -1


@compiled
def solve(program: Program, winner: int) -> float:
    """Find the cheapest evidence that an arm wins; return what it costs.

    ``winner`` is one of the arms that beat the most others.
    """
    if program.solved_for[0] != winner or not _still_feasible(program):
        _begin(program)
        for _ in range(_MOST_PIVOTS * program.price.size):
            count, short = _scarcest_set(program, winner)
            pair, below = _most_negative(program)
            if max(short, below) <= _ENOUGH:
                break
            if below > short:
                program.members[0], count, short = pair, 1, below
            if not _enter(program, count, short, is_set=below != short):
                break
        program.solved_for[0] = winner
    cost = 0.0
    for pair in range(program.price.size):
        program.evidence[pair] = max(program.evidence[pair], 0.0)
        cost += program.price[pair] * program.evidence[pair]
    return cost


@compiled
def _begin(program: Program) -> None:
    """Start with no evidence at all: every pair has all of its price left."""
    for pair in range(program.price.size):
        program.evidence[pair] = 0.0
        program.level[pair] = program.price[pair]
        program.is_set[pair] = 0
        for place in range(program.price.size):
            program.inverse[pair, place] = 0.0
        program.inverse[pair, pair] = 1.0


@compiled
def _still_feasible(program: Program) -> bool:
    """Find the levels at new prices; say whether none is negative."""
    least = 0.0
    for place in range(program.price.size):
        program.level[place] = 0.0
    for pair in range(program.price.size):
        for place in range(program.price.size):
            program.level[place] += program.inverse[pair, place] * program.price[pair]
    for place in range(program.price.size):
        least = min(least, program.level[place])
    return least >= 0.0


@inlined
def _most_negative(program: Program) -> tuple[int, float]:
    """Return the pair whose evidence is furthest below zero, and how far."""
    found, below = 0, 0.0
    for pair in range(program.price.size):
        if -program.evidence[pair] > below:
            found, below = pair, -float(program.evidence[pair])
    return found, below


@compiled
def _scarcest_set(program: Program, winner: int) -> tuple[int, float]:
    """Fill ``members`` with a set of least evidence; return its size, what it lacks."""
    num_arms, size, least = len(program.beats), 0, math.inf
    for rival in range(num_arms):
        if rival == winner:
            continue
        missing, count = _sort_nearest(program, winner, rival)
        direct = pair_number(num_arms, rival, winner)
        for with_direct in range(2):
            if with_direct and program.beats[rival, winner]:
                continue
            needed = max(missing - 2, 0) if with_direct else missing
            if needed > count:
                continue
            total = program.evidence[direct] if with_direct else 0.0
            for place in range(needed):
                total += program.evidence[program.nearest[place]]
            if total < least:
                least, size = total, needed + with_direct
                for place in range(needed):
                    program.members[place] = program.nearest[place]
                if with_direct:
                    program.members[needed] = direct
    return size, 1.0 - float(least)


@inlined
def _sort_nearest(program: Program, winner: int, rival: int) -> tuple[int, int]:
    """Order the pairs that a rival could turn, but for the direct one, by evidence.

    Returns how many points it lacks, and the number of these pairs. Of equal evidence
    the dearest comes first: it is the one on which an optimum has least.
    """
    num_arms, count = len(program.beats), 0
    missing = num_arms - 2 * program.beats[rival, winner]
    for other in range(num_arms):
        if other == rival or other == winner:
            continue
        for side in range(2):
            one, two = (rival, other) if side == 0 else (other, winner)
            if program.beats[one, two]:
                missing -= 1
                continue
            pair = pair_number(num_arms, one, two)
            place = count
            count += 1
            while place > 0 and _before(program, pair, program.nearest[place - 1]):
                program.nearest[place] = program.nearest[place - 1]
                place -= 1
            program.nearest[place] = pair
    return missing, count


@inlined
def _before(program: Program, one: int, other: int) -> bool:
    if program.evidence[one] != program.evidence[other]:
        return program.evidence[one] < program.evidence[other]
    return program.price[one] > program.price[other]


@compiled
def _enter(program: Program, count: int, gain: float, is_set: bool) -> bool:
    """Let a set, or what one pair has left, enter the basis; false if none can leave.

    ``members`` are its pairs, ``gain`` is its reduced cost.
    """
    size, leaving, step = program.price.size, -1, math.inf
    for place in range(size):
        program.direction[place] = 0.0
    for index in range(count):
        pair = program.members[index]
        for place in range(size):
            program.direction[place] += program.inverse[pair, place]
    for place in range(size):
        if program.direction[place] > _NO_PIVOT:
            ratio = max(program.level[place], 0.0) / program.direction[place]
            if ratio < step:
                leaving, step = place, ratio
    if leaving < 0:
        return False
    pivot = program.direction[leaving]
    for place in range(size):
        program.level[place] -= step * program.direction[place]
    program.level[leaving] = step
    program.is_set[leaving] = is_set
    for pair in range(size):
        moved = program.inverse[pair, leaving] / pivot
        if moved != 0.0:
            for place in range(size):
                program.inverse[pair, place] -= program.direction[place] * moved
            program.inverse[pair, leaving] = moved
            program.evidence[pair] += gain * moved
    return True

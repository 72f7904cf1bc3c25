"""Series of duels, many at once, in compiled code.

A *series* of an arm against a rival ends as soon as the arm has won one duel more than
it has lost: a random walk that comes one step further. Winner Stays plays nothing else
once an arm is so far ahead that it loses no series any more. Then it is enough to draw
how many duels are lost in thousands of series, and, for what has been played by some
round, which of them come first: by halving, as in ``splits``, with random numbers that
do not depend on which rounds are asked for.
"""

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import compiled
from bayesduel.ops.scalar.splits import STEP, binomial, hypergeometric, mixed, uniform

FEW_ITERATIONS = 16  # So many are drawn one after the other


@compiled
def draw_losses(rng: Generator, series: int, chance: float) -> int:
    """Draw how many duels are lost in so many series won with ``chance`` > 1/2."""
    # After ``due`` more duels the arm is behind by twice as many as it lost of these;
    # they cannot end the last series too early.
    lost, due = 0, series
    while due > 0:
        more = binomial(rng, due, 1.0 - chance)
        lost += more
        due = 2 * more
    return lost


@compiled
def losses_of_first(
    series: int, lost: int, first: int, bits: np.uint64
) -> tuple[int, np.uint64]:
    """Draw how many losses of ``series`` are in the ``first``; return the stream, too.

    Given their number, all orders in which the last series ends with the last duel are
    equally likely. So an order of wins and losses is drawn up to the end of ``first``
    series, and kept with the probability that a random order of the others comes to its
    highest value at the end: what is left of series over what is left of duels, by the
    ballot theorem.
    """
    if lost == 0 or first == series:
        return lost, bits
    while True:
        wins_left, losses_left = series + lost, lost
        due, drawn = first, 0
        while 0 < due <= wins_left + losses_left:
            part, bits = hypergeometric(wins_left + losses_left, losses_left, due, bits)
            drawn += part
            losses_left -= part
            wins_left -= due - part
            due = 2 * part
        if due == 0:
            bits += STEP
            if uniform(bits) * (wins_left + losses_left) < series - first:
                return drawn, bits


@compiled
def take_first_rounds(
    counts: Int[np.ndarray, "4 K"],
    arm: int,
    last: int,
    before: int,
    iterations: int,
    wanted: int,
    key: np.uint64,
) -> None:
    """Fill the third row with the rounds of each rival in the first ``wanted`` ones.

    In each of so many iterations ``arm`` has a series against every rival: first
    against the one of the last series of the iteration before, then in a random order.
    The first row are the duels that it loses to each rival in all of them. ``last`` is
    the rival before the first iteration of all, ``before`` how many of them there were
    since. The same ``key`` gives parts of the same order.

    With four arms or more the first rival of an iteration far from the beginning is
    equally likely to be any, and is drawn so at the begin of a part; with three they
    take turns.
    """
    whole, node, taken, parts = counts[0], counts[1], counts[2], counts[3]
    rivals = whole.size - 1
    for rival in range(whole.size):
        node[rival], taken[rival] = whole[rival], 0
    begin, length = 0, iterations
    while length > FEW_ITERATIONS:
        half = length // 2
        bits = mixed(mixed(key + np.uint64(begin)) + np.uint64(length))
        rounds = rivals * half
        for rival in range(whole.size):
            if rival != arm:
                parts[rival], bits = losses_of_first(length, node[rival], half, bits)
                rounds += 2 * parts[rival]
        if rounds > wanted:
            length = half
            for rival in range(whole.size):
                node[rival] = parts[rival]
            continue
        wanted -= rounds
        begin += half
        length -= half
        for rival in range(whole.size):
            if rival != arm:
                taken[rival] += half + 2 * parts[rival]
                node[rival] -= parts[rival]
    bits = mixed(key + np.uint64(begin))
    if before + begin > 0:
        if rivals == 2:
            if (before + begin) % 2 == 1:
                last = 3 - arm - last
        else:
            bits += STEP
            last = int(uniform(bits) * rivals)
            last += last >= arm
    while wanted > 0 and length > 0:
        for rival in range(whole.size):
            parts[rival] = -1
            if rival != arm:
                parts[rival], bits = losses_of_first(length, node[rival], 1, bits)
                node[rival] -= parts[rival]
        rival = last
        for index in range(rivals):
            if index > 0:
                bits += STEP
                rival = _one_that_is_left(parts, int(uniform(bits) * (rivals - index)))
            rounds = min(1 + 2 * parts[rival], wanted)
            parts[rival] = -1
            taken[rival] += rounds
            wanted -= rounds
            last = rival
        length -= 1


@compiled
def _one_that_is_left(parts: Int[np.ndarray, " K"], index: int) -> int:
    """Return the rival at a place among those whose series is still to come."""
    rival = -1
    while index >= 0:
        rival += 1
        index -= parts[rival] >= 0
    return rival

"""Upsets of D-TS: what may change the winners of its first sample.

Every pair of which a flip could matter belongs to one of its arms: a pair of a leader
to the leader, any other to the arm that trails. The *upset* of a leader is that one of
its pairs flips; that of another candidate, that so many of its pairs flip as it lacks
votes. Without an upset the winners are the leaders (``docs/theory/look_ahead.md``). No
two upsets share a pair, so they are independent.

The probability that some number of pairs flip is computed by adding products of
probabilities and nothing else, so that the smallest ones keep their digits.
"""

import math

from numpy.random import Generator

from bayesduel.ops.scalar.compiled import compiled, inlined
from bayesduel.policies.thompson._scalar_rounds import flip
from bayesduel.policies.thompson._scalar_state import DoubleThompsonKernel

NO_UPSET = math.inf
"""Target of ``sample_votes_given``."""


@inlined
def _owns(state: DoubleThompsonKernel, i: int, j: int) -> bool:
    """Say whether the pair of i and j belongs to i, which has an upset."""
    arms = state.arms
    if arms[i].is_leader:
        return j > i or not arms[j].is_leader
    return state.trails[i, j] > 0 and not arms[j].is_leader


@inlined
def rate_of_upsets(state: DoubleThompsonKernel) -> float:
    """Return -log P(no upset)."""
    arms, total = state.arms, 0.0
    for place in range(state.now[0].num_candidates):
        i = arms[place].candidate
        if arms[i].lacking == 0:
            continue
        if not arms[i].upset_is_known:
            arms[i].upset_rate = _upset_rate(state, i)
            arms[i].upset_is_known = True
        total += arms[i].upset_rate
    return total


@compiled
def _upset_rate(state: DoubleThompsonKernel, i: int) -> float:
    """Return -log P(no upset of one arm)."""
    if state.arms[i].lacking > 1:
        _list_pairs(state, i)
        probability = _find_tails(state, i, 1.0)
        if probability < 0.5:
            return -math.log1p(-probability)
        return -math.log(_find_tails(state, i, 0.0))
    total = 0.0
    for j in range(state.arms.size):
        if _owns(state, i, j):
            total += state.pairs[i, j].flip_rate
    return total


@inlined
def _list_pairs(state: DoubleThompsonKernel, i: int) -> None:
    """List the other arms of the pairs that belong to i."""
    state.now[0].num_listed = 0
    for j in range(state.arms.size):
        if _owns(state, i, j):
            state.arms[state.now[0].num_listed].listed = j
            state.now[0].num_listed += 1


@inlined
def _flip_probability(state: DoubleThompsonKernel, i: int, j: int) -> float:
    return (state.threshold[i, j] + state.pairs[i, j].remainder) / 65536.0


@compiled
def _find_tails(state: DoubleThompsonKernel, i: int, enough: float) -> float:
    """Fill ``upset_tails`` for an arm whose pairs are listed; return its first entry.

    [row, n] is the probability that of the listed pairs from ``row`` on at least n
    flip, or with ``enough`` 0 instead of 1 that fewer do. Found are those n that can
    still be needed after the rows before, and one more than there are rows left.
    """
    tails, rows, most = (
        state.upset_tails,
        state.now[0].num_listed,
        state.arms[i].lacking,
    )
    tails[rows, 0], tails[rows, 1] = enough, 1.0 - enough
    for row in range(rows - 1, -1, -1):
        left = rows - row
        yes = _flip_probability(state, i, state.arms[row].listed)
        no = 1.0 - yes
        tails[row, 0] = enough
        for needed in range(max(1, most - row), min(most, left) + 1):
            supplied = yes * tails[row + 1, needed - 1]
            tails[row, needed] = supplied + no * tails[row + 1, needed]
        if left < most:
            tails[row, left + 1] = 1.0 - enough
    return tails[0, most]


@compiled
def sample_votes_given(
    state: DoubleThompsonKernel, rng: Generator, target: float
) -> None:
    """Count the votes given the first upset, or given none.

    The first one is that of the candidate with which the running rate passes
    ``target``. Before it there is none, after it all pairs flip freely, as do those
    that belong to nobody. ``rate_of_upsets`` adds in the same order, so that a target
    below its total is always passed.
    """
    arms = state.arms
    running, found = 0.0, False
    for i in range(arms.size):
        state.sampled_votes[i] = arms[i].votes
    for place in range(state.now[0].num_candidates):
        i = arms[place].candidate
        has_upset = arms[i].lacking > 0
        conditioned = has_upset and not found
        for j in range(arms.size):
            if has_upset and _owns(state, i, j):
                flips = not conditioned and flip(state, rng, i, j)
            elif j == i or (j < i and arms[j].is_candidate):
                continue
            elif arms[j].lacking > 0 and _owns(state, j, i):
                continue
            else:
                flips = flip(state, rng, i, j)
            _note_flip(state, i, j, flips)
        if conditioned:
            before = running
            running += arms[i].upset_rate
            found = arms[i].upset_rate > 0.0 and running >= target
            if arms[i].lacking > 1:
                _flip_listed(state, rng, i, found)
            elif found:
                _flip_some(state, rng, i, target - before)


@compiled
def _flip_some(
    state: DoubleThompsonKernel, rng: Generator, i: int, target: float
) -> None:
    """Flip pairs of an arm given that one of them flips.

    The first lies where the running rate passes ``target``.
    """
    target = min(target, state.arms[i].upset_rate)
    running, found = 0.0, False
    for j in range(state.arms.size):
        if not _owns(state, i, j):
            continue
        if found:
            flips = flip(state, rng, i, j)
        else:
            running += state.pairs[i, j].flip_rate
            found = flips = state.pairs[i, j].flip_rate > 0.0 and running >= target
        _note_flip(state, i, j, flips)


@compiled
def _flip_listed(
    state: DoubleThompsonKernel, rng: Generator, i: int, upset: bool
) -> None:
    """Flip pairs of an arm given its upset, or that it does not happen.

    Pair after pair, each with its own probability times the probability that those
    behind it supply what is then still needed, or do not.
    """
    _list_pairs(state, i)
    _find_tails(state, i, 1.0 if upset else 0.0)
    rows, needed = state.now[0].num_listed, state.arms[i].lacking
    for row in range(rows):
        j = state.arms[row].listed
        yes = _flip_probability(state, i, j)
        no = 1.0 - yes
        # Beyond these the condition is met whatever comes.
        if 0 < needed <= rows - row:
            yes *= state.upset_tails[row + 1, needed - 1]
            no *= state.upset_tails[row + 1, needed]
        flips = rng.random() * (yes + no) < yes
        needed -= flips and needed > 0
        _note_flip(state, i, j, flips)


@inlined
def _note_flip(state: DoubleThompsonKernel, i: int, j: int, flips: bool) -> None:
    state.flips[i, j] = state.flips[j, i] = flips
    if flips:
        state.sampled_votes[i] += state.trails[i, j]
        state.sampled_votes[j] -= state.trails[i, j]

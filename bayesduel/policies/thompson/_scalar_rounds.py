"""The two arms of one round of D-TS, drawn from signs.

Of the first sample only the signs matter, and of those only the ones of candidates: a
vote is the majority's, moved by the flips against it. Of the second sample only what is
above 1/2 matters, and its size only among several.
"""

import math

import numpy as np
from numpy.random import Generator

from bayesduel.models.in_policies.scalar_betas import kl_to_half, offset_above_half
from bayesduel.ops.scalar.compiled import compiled, inlined
from bayesduel.ops.scalar.draws import choose_index, happens, take_words
from bayesduel.policies.scalar_choices import among_largest
from bayesduel.policies.thompson._scalar_state import DoubleThompsonKernel

_SMALLEST_DIVERGENCE = 1e-300


@inlined
def sample_votes(state: DoubleThompsonKernel, rng: Generator) -> None:
    """Draw the flips of all pairs of candidates, and count the votes."""
    num_arms = state.arms.size
    for i in range(num_arms):
        state.sampled_votes[i] = state.arms[i].votes
    parts = 1 if state.now[0].num_candidates == num_arms else 2
    for place in range(state.now[0].num_candidates):
        i = state.arms[place].candidate
        begin, end = i + 1, num_arms
        for part in range(parts):
            flip_row(state, rng, i, begin, end, part == 1)
            begin, end = 0, i


@compiled
def flip_row(
    state: DoubleThompsonKernel,
    rng: Generator,
    i: int,
    begin: int,
    end: int,
    skip_candidates: bool,
) -> None:
    """Let the pairs of one arm with those from ``begin`` to ``end`` flip.

    A pair of two candidates belongs to the row of the lower one.
    """
    count = end - begin
    if count == 0:
        return
    start = take_words(state.bits, rng, count)
    words = state.bits.words[start : start + count]
    threshold = state.threshold[i, begin:end]
    flips = state.flips[i, begin:end]
    undecided = False
    for k in range(count):
        flips[k] = words[k] < threshold[k]
        undecided |= words[k] == threshold[k]
    if undecided:
        for k in range(count):
            if words[k] == threshold[k]:
                flips[k] = rng.random() < state.pairs[i, begin + k].remainder
    if skip_candidates:
        for k in range(count):
            flips[k] &= not state.arms[begin + k].is_candidate
    trails = state.trails[i, begin:end]
    votes = state.sampled_votes[begin:end]
    gained = np.int16(0)
    for k in range(count):
        gain = np.int16(trails[k] if flips[k] else 0)
        gained += gain
        votes[k] -= gain
    state.sampled_votes[i] += gained


@inlined
def flipped(state: DoubleThompsonKernel, i: int, j: int) -> bool:
    """Say whether a pair with a candidate i has flipped: in the row it belongs to."""
    if j > i or not state.arms[j].is_candidate:
        return state.flips[i, j]
    return state.flips[j, i]


@inlined
def first_arm(state: DoubleThompsonKernel, rng: Generator) -> int:
    """Return the candidate with the most sampled votes, ties by the rule."""
    arms, now = state.arms, state.now[0]
    most = -1
    for place in range(now.num_candidates):
        i = arms[place].candidate
        votes = state.sampled_votes[i]
        if votes > most:
            most, now.num_listed = votes, 0
        if votes == most:
            arms[now.num_listed].listed = i
            now.num_listed += 1
    if now.ties_by_regret and now.num_listed > 1:
        _keep_least_regret(state, rng)
    if now.num_listed == 1:
        return arms[0].listed
    return arms[choose_index(rng, now.num_listed)].listed


@compiled
def _keep_least_regret(state: DoubleThompsonKernel, rng: Generator) -> None:
    """Keep those listed arms that D-TS+ prefers (Wu and Liu 2016, Section 4.3).

    R_i = sum over j of r_ij / KL(theta_ij, 1/2) with r_ij = zeta_max - (zeta_i +
    zeta_j) / 2, where zeta_max is of all arms: so the votes of those that are no
    candidates are needed, and the magnitudes of tied arms that cost regret.
    """
    arms, votes, now = state.arms, state.sampled_votes, state.now[0]
    count = now.num_listed
    most = _most_votes_of_all(state, rng)
    for rank in range(count):
        arms[rank].weight = 0.0
    for rank in range(count):
        i = arms[rank].listed
        other_rank = 0
        for j in range(arms.size):
            is_tied = other_rank < count and arms[other_rank].listed == j
            other_rank += is_tied
            loss = 2 * most - votes[i] - votes[j]
            # A pair of two tied arms has one magnitude: it counts for both.
            if j == i or loss == 0 or (is_tied and j < i):
                continue
            term = loss / _divergence(state, rng, i, j)
            arms[rank].weight += term
            if is_tied:
                arms[other_rank - 1].weight += term
    least = math.inf
    for rank in range(count):
        if arms[rank].weight < least:
            least, now.num_listed = arms[rank].weight, 0
        if arms[rank].weight == least:
            arms[now.num_listed].listed = arms[rank].listed
            now.num_listed += 1


@inlined
def _most_votes_of_all(state: DoubleThompsonKernel, rng: Generator) -> int:
    """Draw the pairs without a candidate too; return the most votes of any arm."""
    num_arms, most = state.arms.size, 0
    for i in range(num_arms):
        alone = not state.arms[i].is_candidate
        if alone:
            flip_row(state, rng, i, i + 1, num_arms, alone)
    for i in range(num_arms):
        most = max(most, state.sampled_votes[i])
    return most


@inlined
def _divergence(state: DoubleThompsonKernel, rng: Generator, i: int, j: int) -> float:
    """Draw how far theta_ij is from 1/2, given its sign."""
    above = (state.trails[i, j] > 0) == flipped(state, i, j)
    first, second = (i, j) if above else (j, i)
    one, other = state.pairs[first, second], state.pairs[second, first]
    offset = offset_above_half(one.wins + one.prior, other.wins + other.prior, rng)
    return max(kl_to_half(offset), _SMALLEST_DIVERGENCE)


@inlined
def successes(state: DoubleThompsonKernel, rng: Generator, first: int) -> int:
    """List the arms whose second sample exceeds 1/2; return how many there are."""
    start = take_words(state.bits, rng, state.arms.size)
    count = 0
    for i in range(state.arms.size):
        pair = state.pairs[first, i]
        word, threshold = state.bits.words[start + i], state.threshold[first, i]
        flips = happens(word, threshold, pair.remainder, rng)
        if pair.eligible and flips == (state.trails[first, i] < 0):
            state.arms[count].listed = i
            count += 1
    return count


@inlined
def successes_given_one(
    state: DoubleThompsonKernel, rng: Generator, first: int, target: float
) -> int:
    """As ``successes``, given that there is at least one.

    The first success lies where the running rate passes ``target``, an exponential
    variable below the rate of the column; those after it are free.
    """
    running, last, count = 0.0, first, 0
    for i in range(state.arms.size):
        pair = state.pairs[first, i]
        if not pair.eligible:
            continue
        if count == 0:
            running += pair.win_rate
            if pair.win_rate > 0.0:
                last = i
            succeeds = running >= target
        else:
            succeeds = flip(state, rng, first, i) == (state.trails[first, i] < 0)
        if succeeds:
            state.arms[count].listed = i
            count += 1
    if count == 0:
        # Rounding may have left the last one just below the target.
        state.arms[0].listed = last
        count = 1
    return count


@inlined
def flip(state: DoubleThompsonKernel, rng: Generator, i: int, j: int) -> bool:
    """Let one pair flip or not."""
    word = state.bits.words[take_words(state.bits, rng, 1)]
    return happens(word, state.threshold[i, j], state.pairs[i, j].remainder, rng)


@inlined
def best_challenger(
    state: DoubleThompsonKernel, rng: Generator, first: int, count: int
) -> int:
    """Return the largest second sample of the listed arms; the first if there is none.

    All are above 1/2. Under a prior below 1 several may be rounded to 1.
    """
    if count == 0:
        return first
    best, largest, number = state.arms[0].listed, -1.0, 0
    if count > 1:
        for rank in range(count):
            i = state.arms[rank].listed
            one, other = state.pairs[i, first], state.pairs[first, i]
            won, lost = one.wins + one.prior, other.wins + other.prior
            offset = offset_above_half(won, lost, rng)
            largest, number, leads = among_largest(rng, offset, largest, number)
            if leads:
                best = i
    return best

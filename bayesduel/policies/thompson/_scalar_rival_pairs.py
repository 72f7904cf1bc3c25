"""Whom the rule of RD-TS takes for its leader, and which pair it plays."""

import math

from numpy.random import Generator

from bayesduel.ops.scalar.compiled import compiled, inlined
from bayesduel.ops.scalar.draws import choose_index
from bayesduel.policies.scalar_choices import place_by_weight, takes_over
from bayesduel.policies.thompson._scalar_rival_state import RivalDirectedKernel, regret

EQUAL_COSTS = 1e-9
"""Costs that differ by less, relatively, are equal: their order must not depend on the
order in which numbers were added."""


@compiled
def flipped_pair(
    state: RivalDirectedKernel, rng: Generator, rival: int
) -> tuple[int, int]:
    """Draw a world in which a rival dethrones the leader, and a flipped pair of it."""
    now, num_arms = state.now[0], state.arms.size
    rows = _find_tails(state, rival)
    needed, count = num_arms, 0
    for row in range(rows):
        one, other = _pair_of_row(state, rival, row)
        pair = state.pairs[one, other]
        less = max(needed - (2 if row == 0 else 1), 0)
        yes = pair.favorable * state.tails[row + 1, less]
        no = pair.unfavorable * state.tails[row + 1, needed]
        favorable = rng.random() * (yes + no) < yes
        needed = less if favorable else needed
        worth = pair.worth
        flips = pair.lead <= 0 if favorable else pair.lead >= 0
        if now.doubts > 0.0 and pair.unfavorable == 0.0:
            flips = rng.random() < state.pairs[other, one].probability
            worth = now.doubts * pair.divergence
        if flips:
            state.flipped[count].first = one
            state.flipped[count].second = other
            state.flipped[count].weight = worth / regret(state, one, other)
            count += 1
    # Without a flip, which only rounding can bring, the leader meets the rival.
    if count == 0:
        return rival, now.leader
    chosen = state.flipped[place_by_weight(state.flipped, count, rng)]
    return chosen.first, chosen.second


@compiled
def steepest_pair(state: RivalDirectedKernel, rng: Generator) -> tuple[int, int]:
    """Return the pair that moves the sum of all Phi_i the most, per cost."""
    num_arms = state.arms.size
    for one in range(num_arms):
        for other in range(one + 1, num_arms):
            state.pairs[one, other].steepness = 0.0
    for rival in range(num_arms):
        if rival != state.now[0].leader:
            _add_slopes(state, rival)
    steepest = 0.0
    for one in range(num_arms):
        for other in range(one + 1, num_arms):
            steepest = max(steepest, _gain(state, one, other))
    first, second, number = 0, 1, 0
    for one in range(num_arms):
        for other in range(one + 1, num_arms):
            if _gain(state, one, other) >= steepest * (1.0 - EQUAL_COSTS):
                number += 1
                if takes_over(rng, number):
                    first, second = one, other
    return first, second


@inlined
def _gain(state: RivalDirectedKernel, one: int, other: int) -> float:
    pair = state.pairs[one, other]
    moved = pair.divergence * pair.probability * state.pairs[other, one].probability
    return moved * pair.steepness / regret(state, one, other)


@compiled
def _add_slopes(state: RivalDirectedKernel, rival: int) -> None:
    """Add the derivatives of Phi of a rival by the probabilities of its rows.

    Each is P(enough | the row speaks for the rival) - P(enough | it does not); none is
    of a sign that is certain.
    """
    num_arms, rows = state.arms.size, _find_tails(state, rival)
    # P(so many are still needed), before a row: ``spare`` is free now.
    needed = state.spare[0]
    for count in range(num_arms + 1):
        needed[count] = 0.0
    needed[num_arms] = 1.0
    for row in range(rows):
        one, other = _pair_of_row(state, rival, row)
        pair, supply = state.pairs[one, other], 2 if row == 0 else 1
        yes, no, slope = pair.favorable, pair.unfavorable, 0.0
        for count in range(num_arms + 1):
            probability, less = needed[count], max(count - supply, 0)
            slope += probability * (
                state.tails[row + 1, less] - state.tails[row + 1, count]
            )
            needed[count] = 0.0
            needed[less] += yes * probability
            needed[count] += no * probability
        if yes > 0.0 and no > 0.0:
            state.pairs[min(one, other), max(one, other)].steepness += slope


@inlined
def _pair_of_row(state: RivalDirectedKernel, rival: int, row: int) -> tuple[int, int]:
    """Return (i, j) such that "i beats j" speaks for the rival.

    Row 0 is the rival and the leader; then come the rival and all others, then all
    others and the leader.
    """
    leader, others = state.now[0].leader, state.arms.size - 2
    if row == 0:
        return rival, leader
    other = row - 1 if row <= others else row - 1 - others
    # Leave out both, the lower one first.
    if other >= min(rival, leader):
        other += 1
    if other >= max(rival, leader):
        other += 1
    return (rival, other) if row <= others else (other, leader)


@inlined
def _find_tails(state: RivalDirectedKernel, rival: int) -> int:
    """Fill ``tails`` for a rival from its last row to the second; return the number."""
    num_arms = state.arms.size
    rows = 2 * num_arms - 3
    for needed in range(1, num_arms + 1):
        state.tails[rows, needed] = 0.0
    state.tails[rows, 0] = 1.0
    for row in range(rows - 1, 0, -1):
        one, other = _pair_of_row(state, rival, row)
        pair = state.pairs[one, other]
        yes, no = pair.favorable, pair.unfavorable
        state.tails[row, 0] = 1.0
        for needed in range(1, num_arms + 1):
            supplied = yes * state.tails[row + 1, needed - 1]
            state.tails[row, needed] = supplied + no * state.tails[row + 1, needed]
    return rows


@compiled
def draw_leader(state: RivalDirectedKernel, rng: Generator) -> int:
    """Draw one of the arms with the fewest losses that are cheapest to prove."""
    arms = state.arms
    fewest, count = 2 * arms.size, 0
    for arm in range(arms.size):
        if arms[arm].losses < fewest:
            fewest, count = arms[arm].losses, 0
        if arms[arm].losses == fewest:
            arms[count].listed = arm
            count += 1
    if count == 1:
        return arms[0].listed
    least = math.inf
    for place in range(count):
        arms[place].cost = _cost_of_proof(state, arms[place].listed)
        least = min(least, arms[place].cost)
    kept = 0
    for place in range(count):
        if arms[place].cost <= least * (1.0 + EQUAL_COSTS):
            arms[kept].listed = arms[place].listed
            kept += 1
    return arms[choose_index(rng, kept)].listed


@inlined
def _price(state: RivalDirectedKernel, one: int, other: int) -> float:
    return regret(state, one, other) / state.pairs[one, other].divergence


@inlined
def _strict_losses(state: RivalDirectedKernel, arm: int) -> int:
    count = 0
    for other in range(state.arms.size):
        count += state.pairs[arm, other].lead < 0
    return count


@compiled
def _cost_of_proof(state: RivalDirectedKernel, winner: int) -> float:
    """Solve the efficient program for one winner in closed form, as ``ecw_costs``.

    Infinite for an arm that has not the fewest losses, even pairs left out.
    """
    num_arms, total = state.arms.size, 0.0
    losses = _strict_losses(state, winner)
    for arm in range(num_arms):
        if _strict_losses(state, arm) < losses:
            return math.inf
        if state.pairs[winner, arm].lead > 0:
            total += _price(state, winner, arm)
    for rival in range(num_arms):
        excess = losses - 1 - (state.pairs[winner, rival].lead > 0)
        if rival != winner and excess >= 0:
            total += _block_cost(state, winner, rival, excess)
    return total


@inlined
def _block_cost(
    state: RivalDirectedKernel, winner: int, rival: int, excess: int
) -> float:
    """Return the least (c_1 + ... + c_h) / (h - k), h > k, of sorted prices c."""
    # The list of flipped pairs is free now.
    prices, count = state.flipped, 0
    for superior in range(state.arms.size):
        if superior != winner and state.pairs[superior, rival].lead > 0:
            price, place = _price(state, superior, rival), count
            while place > 0 and prices[place - 1].weight > price:
                prices[place].weight = prices[place - 1].weight
                place -= 1
            prices[place].weight = price
            count += 1
    running, least = 0.0, math.inf
    for place in range(count):
        running += prices[place].weight
        if place + 1 > excess:
            least = min(least, running / (place + 1 - excess))
    return least

"""Shared by RD-TS and RD-TS*: leaders, how likely rivals are, and when to explore.

Both keep, for every rival i of a leader w, the probability Phi_i that i has more wins
than w, under independent signs of the pairs. A state has ``now`` with leader and total,
``arms`` with losses, weight, listed and cost, ``pairs`` with lead, favorable,
unfavorable and price, and the arrays ``own_wins``, ``defeats`` and ``spare``, which
`rival_directed.RivalDirectedKernel` explains.
"""

import math
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import compiled
from bayesduel.ops.scalar.draws import waiting_time
from bayesduel.ops.scalar.resolved_rounds import NEVER

# Costs that differ by less, relatively, are equal: their order must not depend on the
# order in which numbers were added
EQUAL_COSTS = 1e-9


@compiled
def rounds_before_event(
    rng: Generator, probability: float, steps: int, round_: int
) -> tuple[int, bool]:
    """Draw how many self-duels come before a round that explores, and if one does."""
    # With ``steps`` one round is drawn, else all to come.
    if probability >= 1.0:
        return 0, True
    if steps:
        return 0, rng.random() < probability
    return waiting_time(rng, -math.log1p(-probability), NEVER + 1 - round_)


@compiled
def least_compared(state: Any) -> tuple[int, int, int]:
    """Return the first pair with the fewest duels, and their number."""
    first, second, least = 0, 1, state.pairs[0, 1].wins + state.pairs[1, 0].wins
    for arm in range(state.arms.size):
        for rival in range(arm + 1, state.arms.size):
            duels = state.pairs[arm, rival].wins + state.pairs[rival, arm].wins
            if duels < least:
                first, second, least = arm, rival, duels
    return first, second, least


@compiled
def is_due(duels: int, events: int, num_arms: int) -> bool:
    """Say whether a pair has fewer duels than sqrt(events / m), m being all pairs."""
    return duels * duels * (num_arms * (num_arms - 1) // 2) < events


@compiled
def recommend(state: Any, rng: Generator) -> int:
    """Return the leader."""
    return state.now[0].leader


# --- Arms that may lead --------------------------------------------------------------


@compiled
def list_fewest_losses(state: Any) -> int:
    """List the arms with the fewest losses; return their number."""
    arms = state.arms
    fewest, count = 2 * arms.size, 0
    for arm in range(arms.size):
        if arms[arm].losses < fewest:
            fewest, count = arms[arm].losses, 0
        if arms[arm].losses == fewest:
            arms[count].listed = arm
            count += 1
    return count


@compiled
def find_costs(state: Any, count: int) -> float:
    """Find what it costs to prove each listed arm a winner; return the least."""
    arms, least = state.arms, math.inf
    for index in range(count):
        arms[index].cost = _cost_of_proof(state, arms[index].listed)
        least = min(least, arms[index].cost)
    return least


@compiled
def _strict_losses(state: Any, arm: int) -> int:
    count = 0
    for opponent in range(state.arms.size):
        count += state.pairs[arm, opponent].lead < 0
    return count


@compiled
def _cost_of_proof(state: Any, winner: int) -> float:
    """Solve the efficient program for one winner in closed form, as ``ecw_costs``."""
    # Infinite for an arm that has not the fewest losses, even pairs left out.
    num_arms, total = state.arms.size, 0.0
    losses = _strict_losses(state, winner)
    for arm in range(num_arms):
        if _strict_losses(state, arm) < losses:
            return math.inf
        if state.pairs[winner, arm].lead > 0:
            total += state.pairs[winner, arm].price
    for rival in range(num_arms):
        excess = losses - 1 - (state.pairs[winner, rival].lead > 0)
        if rival != winner and excess >= 0:
            total += _block_cost(state, winner, rival, excess)
    return total


@compiled
def _block_cost(state: Any, winner: int, rival: int, excess: int) -> float:
    """Return the least (c_1 + ... + c_h) / (h - k), h > k, of sorted prices c."""
    prices, count = state.spare[0], 0
    for superior in range(state.arms.size):
        if superior != winner and state.pairs[superior, rival].lead > 0:
            price, index = state.pairs[superior, rival].price, count
            while index > 0 and prices[index - 1] > price:
                prices[index] = prices[index - 1]
                index -= 1
            prices[index] = price
            count += 1
    running, least = 0.0, math.inf
    for index in range(count):
        running += prices[index]
        if index + 1 > excess:
            least = min(least, running / (index + 1 - excess))
    return least


# --- How likely each rival is --------------------------------------------------------


@compiled
def refresh_after(state: Any, leader: int, first: int, second: int) -> None:
    """Find how likely each rival is, after a duel that leaves this leader."""
    if leader != state.now[0].leader:
        state.now[0].leader = leader
        refresh_everything(state)
    elif leader in (first, second):
        _refresh_defeats(state)
    else:
        for rival in (first, second):
            _refresh_own_wins(state, rival)
            _refresh_probability(state, rival)
        _refresh_total(state)


@compiled
def refresh_everything(state: Any) -> None:
    """Find all distributions anew, after another arm has become the leader."""
    for rival in range(state.arms.size):
        if rival != state.now[0].leader:
            _refresh_own_wins(state, rival)
    _refresh_defeats(state)


@compiled
def _refresh_defeats(state: Any) -> None:
    """Bring all rivals up to date after a duel of the leader."""
    # Arms are halved again and again, and each half takes in the pairs of the other
    # one: dividing a factor out of a product would lose the digits of small
    # probabilities.
    padded, size = len(state.defeats), state.arms.size + 1
    current, following = state.defeats, state.spare
    for count in range(size):
        current[0, count] = 0.0
    current[0, 0] = 1.0
    segments = 1
    while segments < padded:
        half = padded // (2 * segments)
        for segment in range(segments):
            for side in range(2):
                child, sibling = 2 * segment + side, 2 * segment + 1 - side
                for needed in range(size):
                    following[child, needed] = current[segment, needed]
                for arm in range(sibling * half, (sibling + 1) * half):
                    _multiply_in(state, following, child, arm)
        current, following = following, current
        segments *= 2
    for rival in range(state.arms.size):
        if rival != state.now[0].leader:
            # The distributions of the leaves stand in one of the two arrays.
            for count in range(size):
                state.defeats[rival, count] = current[rival, count]
            _refresh_probability(state, rival)
    _refresh_total(state)


@compiled
def _multiply_in(
    state: Any, distributions: Float[np.ndarray, "P N"], row: int, arm: int
) -> None:
    """Add the sign of "the leader loses to this arm" to a distribution."""
    leader = state.now[0].leader
    if arm >= state.arms.size or arm == leader:
        return
    pair = state.pairs[arm, leader]
    loses, wins = pair.favorable, pair.unfavorable
    for count in range(state.arms.size, 0, -1):
        distributions[row, count] = (
            wins * distributions[row, count] + loses * distributions[row, count - 1]
        )
    distributions[row, 0] *= wins


@compiled
def _refresh_own_wins(state: Any, rival: int) -> None:
    """Find the tail of the rival's wins against all but the leader."""
    num_arms = state.arms.size
    tail = state.own_wins[rival]
    for needed in range(1, num_arms + 1):
        tail[needed] = 0.0
    tail[0] = 1.0
    pairs = 0
    for other in range(num_arms):
        if other != rival and other != state.now[0].leader:
            pairs += 1
            pair = state.pairs[rival, other]
            wins, loses = pair.favorable, pair.unfavorable
            for needed in range(pairs, 0, -1):
                tail[needed] = wins * tail[needed - 1] + loses * tail[needed]


@compiled
def _refresh_probability(state: Any, rival: int) -> None:
    """Sum Phi of a rival over the leader's defeats by others."""
    num_arms = state.arms.size
    direct = state.pairs[rival, state.now[0].leader]
    tail, probability = state.own_wins[rival], 0.0
    for defeats in range(num_arms - 1):
        with_duel = direct.favorable * tail[max(num_arms - 2 - defeats, 0)]
        without = direct.unfavorable * tail[num_arms - defeats]
        probability += state.defeats[rival, defeats] * (with_duel + without)
    state.arms[rival].weight = probability


@compiled
def _refresh_total(state: Any) -> None:
    state.arms[state.now[0].leader].weight = 0.0
    total = 0.0
    for rival in range(state.arms.size):
        total += state.arms[rival].weight
    state.now[0].total = total

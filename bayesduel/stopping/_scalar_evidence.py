"""The kernel of `AnytimeEvidence`: ``theory.anytime_evidence`` after every duel.

A duel changes what three states of one pair are worth, so the evidence for an arm, the
least sum over the states in which it is wrong, grows by the largest of the three
changes at most. These are added up as a bound on all evidence; only where it reaches
the threshold is the evidence computed, from the costs of all pairs, and the bound
starts from there again. What is found is the same as by computing it every time.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from bayesduel.ops.scalar.compiled import Records, compiled, implement_one, inlined
from bayesduel.stopping._scalar_bets import log_bets, log_stake, log_whole
from bayesduel.stopping.scalar_rules import GO_ON, ScalarStopping, observe

_NOW = np.dtype(
    [
        ("threshold", np.float64),
        ("width", np.float64),
        ("prior", np.float64),
        ("stake", np.float64),
        ("near", np.float64),  # Logs of J(a, a) from 1/2 - width on,
        ("far", np.float64),  # and from 1/2 + width on.
        ("bound", np.float64),  # At least the evidence of every arm.
        ("base", np.float64),  # Sum over the pairs of the least worth of a state.
    ]
)

_PAIR = np.dtype(
    [
        ("wins", np.int64),  # [i, j]: duels of the pair that i won.
        ("better", np.float64),  # [i, j]: won against "i is (clearly) better".
        ("neither", np.float64),
        ("cost", np.float64),  # [i, j]: better less the least of the pair.
    ]
)


class EvidenceKernel(NamedTuple):
    """The state of one run."""

    now: Records
    pairs: Records
    beaten: Int[np.ndarray, " K"]
    """Of every arm, how many it beats at no cost; set where evidence is computed."""

    smallest: Float[np.ndarray, " N"]
    """Room for sorting."""


def stopping(
    *, delta: float, width: float, prior: float, weight: float | None
) -> ScalarStopping:
    """Return what stops by anytime-valid evidence; parameters of `AnytimeEvidence`."""

    def initial_state(num_arms: int) -> EvidenceKernel:
        now = np.zeros(1, dtype=_NOW)
        now["threshold"], now["width"], now["prior"] = -math.log(delta), width, prior
        now["stake"] = 1.0 / num_arms if weight is None else weight
        now["near"] = log_whole(prior, 0.5 - width)
        now["far"] = log_whole(prior, 0.5 + width)
        return EvidenceKernel(
            now=now,
            pairs=np.zeros((num_arms, num_arms), dtype=_PAIR),
            beaten=np.zeros(num_arms, dtype=np.int64),
            smallest=np.zeros(num_arms + 1),
        )

    return ScalarStopping("evidence", initial_state)


@inlined
def _observe(state: EvidenceKernel, first: int, second: int, won: bool) -> int:
    """Count a duel; return the arm with the most evidence if that suffices."""
    winner, loser = (first, second) if won else (second, first)
    state.pairs[winner, loser].wins += 1
    _refresh(state, winner, loser)
    if state.now[0].bound < state.now[0].threshold:
        return GO_ON
    return _look(state)


@compiled
def _refresh(state: EvidenceKernel, one: int, other: int) -> None:
    """Find what a pair is worth, and let the bound follow."""
    now = state.now[0]
    forward, backward = state.pairs[one, other], state.pairs[other, one]
    won, lost, prior = forward.wins, backward.wins, now.prior
    low, high = 0.5 - now.width, 0.5 + now.width
    before = forward.better - forward.cost
    # Against "one is clearly better" one bets on less than 1/2 + width.
    above_low, below_low = log_bets(won, lost, prior, low, now.near, now.far)
    above_high, below_high = above_low, below_low
    if now.width > 0.0:
        above_high, below_high = log_bets(won, lost, prior, high, now.far, now.near)
    better, worse = log_stake(below_high, now.stake), log_stake(above_low, now.stake)
    growth = max(better - forward.better, worse - backward.better)
    least = min(better, worse)
    if now.width > 0.0:
        larger, smaller = max(above_high, below_low), min(above_high, below_low)
        mean = larger + math.log1p(math.exp(smaller - larger)) - math.log(2.0)
        neither = log_stake(mean, now.stake)
        growth = max(growth, neither - forward.neither)
        least = min(least, neither)
        forward.neither = backward.neither = neither
    forward.better, backward.better = better, worse
    forward.cost, backward.cost = better - least, worse - least
    now.base += least - before
    now.bound += growth


@compiled
def _look(state: EvidenceKernel) -> int:
    """Compute the evidence; the first arm that has the most, if it suffices."""
    now, num_arms, leader = state.now[0], len(state.pairs), 0
    now.base = 0.0
    for one in range(num_arms):
        state.beaten[one] = 0
        for other in range(num_arms):
            if other != one:
                state.beaten[one] += state.pairs[one, other].cost == 0.0
        for other in range(one):
            now.base += state.pairs[one, other].better - state.pairs[one, other].cost
    now.bound = -math.inf
    for arm in range(num_arms):
        found = now.base + _least_turned(state, arm)
        if found > now.bound:
            now.bound, leader = found, arm
    return leader if now.bound >= now.threshold else GO_ON


@compiled
def _least_turned(state: EvidenceKernel, arm: int) -> float:
    """Return the least cost at which some rival has more wins than an arm."""
    num_arms, least, lost = len(state.pairs), math.inf, 0
    for other in range(num_arms):
        lost += other != arm and state.pairs[other, arm].cost == 0.0
    for rival in range(num_arms):
        # Needed are num_arms points, two of them by the pair itself.
        if rival != arm and state.beaten[rival] + lost >= num_arms:
            return 0.0
    for rival in range(num_arms):
        if rival != arm:
            missing = num_arms - lost - state.beaten[rival]
            least = min(least, _cost_of_rival(state, arm, rival, missing))
    return least


@inlined
def _cost_of_rival(state: EvidenceKernel, arm: int, rival: int, missing: int) -> float:
    """Return the least cost at which a rival has so many points more."""
    smallest, count = state.smallest, 0
    for other in range(len(state.pairs)):
        if other == arm or other == rival:
            continue
        for cost in (state.pairs[rival, other].cost, state.pairs[other, arm].cost):
            if cost > 0.0 and (count < missing or cost < smallest[count - 1]):
                place = count if count < missing else count - 1
                count = max(count, place + 1)
                while place > 0 and smallest[place - 1] > cost:
                    smallest[place] = smallest[place - 1]
                    place -= 1
                smallest[place] = cost
    direct, total = state.pairs[rival, arm].cost, 0.0
    with_direct = direct if direct > 0.0 else math.inf
    for place in range(missing):
        if place == missing - 2:
            with_direct += total
        total = total + smallest[place] if place < count else math.inf
    return min(total, with_direct)


implement_one(observe, EvidenceKernel, _observe)

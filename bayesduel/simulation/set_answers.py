"""What comes of rounds of one set: choices, rankings, and rewards of every arm."""

import math

import numpy as np
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import compiled
from bayesduel.simulation.set_worlds import (
    RANKING,
    REWARDS,
    SetLane,
    SetWorld,
    sum_over,
)

_MOST_DRAWS = 2**62
"""Draws that are counted at once."""


@compiled
def answer(
    world: SetWorld, lane: SetLane, rng: Generator, most: int, until_no_choice: bool
) -> int:
    """Play the set that was put forward for up to ``most`` rounds, at least 1.

    Return how many there were; ``lane.rewards`` are their sums.
    """
    for position in range(len(lane.rewards)):
        lane.rewards[position] = 0.0
    if world.feedback == REWARDS:
        draw_rewards(world, lane, rng, most)
        return most
    if world.feedback == RANKING:
        draw_ranking(world, lane, rng)
        return 1
    choices, nobody = most, lane.nobody[0]
    if until_no_choice:
        choices = rounds_with_choice(rng.standard_exponential(), nobody, most)
        nobody = 0.0
    if choices == 1:
        draw_winner(lane, rng, nobody)
    elif choices > 1:
        draw_winners(lane, rng, choices, nobody)
    return min(choices + 1, most) if until_no_choice else most


@compiled
def rounds_with_choice(waits: float, nobody: float, most: int) -> int:
    """Return how many rounds go before the first in which nobody is chosen.

    By inversion: ``waits`` is a standard exponential variable. All of ``most`` where
    that is none of them.
    """
    if nobody >= 1.0:
        return 0
    hazard = -math.log1p(-nobody)
    if waits >= hazard * most:
        return most
    return min(most - 1, int(waits / hazard))


@compiled
def draw_winner(lane: SetLane, rng: Generator, nobody: float) -> None:
    """Draw who is chosen in a round, in proportion to the probabilities.

    ``nobody`` is that of no arm.
    """
    left = rng.random() * (nobody + sum_over(lane.offered, lane.probabilities))
    last = -1
    for position in range(len(lane.order)):
        probability = lane.probabilities[lane.order[position]]
        if probability > 0.0:
            last = position
            left -= probability
            if left < 0.0:
                break
    if last >= 0 and (left < 0.0 or nobody == 0.0):
        lane.rewards[last] = 1.0


@compiled
def draw_winners(lane: SetLane, rng: Generator, rounds: int, nobody: float) -> None:
    """Count who is chosen in so many rounds: of those left, each arm in its turn."""
    later, beyond = lane.scratch, nobody
    for position in range(len(lane.order) - 1, -1, -1):
        later[position] = beyond
        beyond += lane.probabilities[lane.order[position]]
    for position in range(len(lane.order)):
        probability = lane.probabilities[lane.order[position]]
        if rounds > 0 and probability > 0.0:
            hits = rng.binomial(rounds, probability / (probability + later[position]))
            lane.rewards[position] = hits
            rounds -= hits


@compiled
def draw_rewards(world: SetWorld, lane: SetLane, rng: Generator, rounds: int) -> None:
    """Draw the rewards of every arm of the set: binomial, in steps of the smallest."""
    at_once = world.levels if rounds <= _MOST_DRAWS // world.levels else 1
    for position in range(len(lane.order)):
        arm = lane.order[position]
        if lane.offered[arm]:
            hits = 0.0
            for _ in range(world.levels // at_once):
                hits += rng.binomial(
                    at_once * rounds, min(lane.probabilities[arm], 1.0)
                )
            lane.rewards[position] = hits * world.step


@compiled
def draw_ranking(world: SetWorld, lane: SetLane, rng: Generator) -> None:
    """Draw a Plackett-Luce ranking of the set.

    Arms arrive after exponential times with their weights as rates; the order is that
    of drawing without replacement in proportion to the weights. ``places`` for the
    first arm, one less for each later one, 0 at last.
    """
    arrival = lane.scratch
    for position in range(len(lane.order)):
        arm = lane.order[position]
        arrival[position] = np.inf
        if lane.offered[arm]:
            arrival[position] = rng.standard_exponential() / world.numbers[arm]
    for position in range(len(lane.order)):
        if arrival[position] < np.inf:
            earlier = 0
            for other in range(len(lane.order)):
                earlier += arrival[other] < arrival[position]
            lane.rewards[position] = max(world.places - earlier, 0)

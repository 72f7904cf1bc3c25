"""Choices among arms that several kernels make."""

from typing import Any

from numpy.random import Generator

from bayesduel.ops.scalar.compiled import Records, compiled
from bayesduel.ops.scalar.resolved_rounds import NEVER
from bayesduel.policies.policy import Duel


@compiled
def takes_over(rng: Generator, number: int) -> bool:
    """Say whether a candidate replaces the one drawn among those before it."""
    # The n-th of equal candidates does with probability 1 / n: all are equally likely.
    return number == 1 or number * rng.random() < 1.0


@compiled
def among_largest(
    rng: Generator, value: float, largest: float, number: int
) -> tuple[float, int, bool]:
    """Compare one more value with the largest of those before it, ties at random."""
    if value > largest:
        return value, 1, True
    if value < largest:
        return largest, number, False
    return largest, number + 1, takes_over(rng, number + 1)


@compiled
def count_win(
    state: Any, rng: Generator, round_: int, first: int, second: int, won: bool
) -> None:
    """Count an outcome: ``update`` of what keeps wins and nothing else."""
    winner, loser = (first, second) if won else (second, first)
    state.pairs[winner, loser].wins += 1


@compiled
def most_beaten(pairs: Records, rng: Generator) -> int:
    """Return the arm that beats the most others; ``ops.rules.most_beaten``."""
    best, number = 0, 0
    most_arms = most_wins = -1
    for i in range(len(pairs)):
        arms, wins = 0, 0
        for j in range(len(pairs)):
            arms += pairs[i, j].wins > pairs[j, i].wins
            wins += pairs[i, j].wins
        if arms > most_arms or (arms == most_arms and wins > most_wins):
            most_arms, most_wins, number = arms, wins, 0
        if arms == most_arms and wins == most_wins:
            number += 1
            if takes_over(rng, number):
                best = i
    return best


@compiled
def recommend_most_beaten(state: Any, rng: Generator) -> int:
    """Return the arm that empirically beats the most others: ``recommend`` of many."""
    return most_beaten(state.pairs, rng)


@compiled
def place_by_weight(places: Records, count: int, rng: Generator) -> int:
    """Draw one of the first ``count`` places in proportion to their ``weight``."""
    total = 0.0
    for index in range(count):
        total += places[index].weight
    target, chosen = rng.random() * total, 0
    for index in range(count):
        if places[index].weight > 0.0:
            chosen = index
            target -= places[index].weight
            if target < 0.0:
                break
    return chosen


@compiled
def stay_with(arm: int, look_ahead: int) -> Duel:
    """Let an arm meet itself: once, or with ``look_ahead`` in all rounds to come."""
    return Duel(arm, NEVER if look_ahead else 0, arm, arm, not look_ahead)

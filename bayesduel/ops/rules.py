"""Building blocks of rules for one run: plain functions, which Numba can compile."""

import math
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, Real
from numpy.random import Generator

from bayesduel.arguments.limits import LONGEST_HORIZON

_LOG_LONGEST = math.log(LONGEST_HORIZON)

# More than ``exp`` and ``log`` may be off for logarithms up to those of 2^62
_ROUNDING = 1e-13


def record(**values: float) -> Any:
    """Return numbers that a rule changes by name, as ``state.now.leader = 3``.

    An integer stays one, and so does a truth value. For :meth:`start
    <bayesduel.Policy.start>`, which is never compiled.
    """
    kinds = [(name, np.asarray(value).dtype) for name, value in values.items()]
    made = np.zeros(1, dtype=np.dtype((np.record, kinds)))[0]
    for name, value in values.items():
        setattr(made, name, value)
    return made


def among_largest(
    rng: Generator, value: float, largest: float, number: int
) -> tuple[float, int, bool]:
    """Compare one more value with the largest of those before it, ties at random.

    Return the largest one now, how many have it, and whether the new one is the one
    drawn among these: the n-th of equal values is with probability 1 / n.
    """
    if value > largest:
        return value, 1, True
    if value < largest:
        return largest, number, False
    return largest, number + 1, (number + 1) * rng.random() < 1.0


def one_of_largest(rng: Generator, values: Real[np.ndarray, " n"]) -> int:
    """Return the place of a largest value, of equal ones any."""
    best, largest, number = 0, -np.inf, 0
    for index in range(len(values)):
        largest, number, leads = among_largest(rng, values[index], largest, number)
        if leads:
            best = index
    return best


def drawn_highest(
    rng: Generator, values: Float[np.ndarray, " n"], rounding: float
) -> int:
    """Draw one of the places of the largest values, equal but for this rounding."""
    highest = values.max()
    drawn, number = 0, 0
    for index in range(len(values)):
        if values[index] >= highest - rounding * abs(highest):
            number += 1
            if number * rng.random() < 1.0:
                drawn = index
    return drawn


def top(
    rng: Generator, values: Float[np.ndarray, " n"], size: int
) -> Bool[np.ndarray, " n"]:
    """Mark the ``size`` arms with the largest values; ties at random."""
    subset = np.zeros(len(values), dtype=np.bool_)
    for _ in range(size):
        best, number, largest = -1, 0, -np.inf
        for arm in range(len(values)):
            if not subset[arm]:
                value = values[arm]
                largest, number, leads = among_largest(rng, value, largest, number)
                if leads:
                    best = arm
        subset[best] = True
    return subset


def only(arm: int, num_arms: int) -> Bool[np.ndarray, " n"]:
    """Mark one arm."""
    mask = np.zeros(num_arms, dtype=np.bool_)
    mask[arm] = True
    return mask


def most_beaten(
    rng: Generator, wins: Int[np.ndarray, "K K"], among: Bool[np.ndarray, " K"]
) -> int:
    """Return the arm, of those ``among`` all, that beats most others empirically."""
    # Ties by the larger total of wins, then at random.
    best, number, most, most_wins = 0, 0, -1, -1
    for arm in range(len(wins)):
        if not among[arm]:
            continue
        beaten, total = 0, 0
        for rival in range(len(wins)):
            beaten += wins[arm, rival] > wins[rival, arm]
            total += wins[arm, rival]
        if beaten > most or (beaten == most and total > most_wins):
            most, most_wins, number = beaten, total, 0
        if beaten == most and total == most_wins:
            number += 1
            if number * rng.random() < 1.0:
                best = arm
    return best


def lowest(values: Float[np.ndarray, " n"]) -> int:
    """Return the position of the smallest value, the lowest of equal ones."""
    # Sums that differ by rounding count as equal.
    least = values[0]
    for index in range(values.size):
        least = min(least, values[index])
    count = 0
    while values[count] > least + 1e-9 * abs(least):
        count += 1
    return count


def last_round_within(resolution: float, round_: int) -> int:
    """Return the last round whose logarithm is at most ``resolution``."""
    if resolution > _LOG_LONGEST:
        return LONGEST_HORIZON
    value = math.exp(resolution)
    guess = max(round_, int(math.floor(value)))
    nearest = abs(value - math.floor(value + 0.5))
    if nearest > _ROUNDING * value:
        return guess
    if math.log(float(guess + 1)) <= resolution:
        return guess + 1
    if guess > round_ and math.log(float(guess)) > resolution:
        return guess - 1
    return guess


def inverted(matrix: Float[np.ndarray, "N N"]) -> Float[np.ndarray, "N N"]:
    """Return the inverse of a small matrix, by Gauss and Jordan with row pivots."""
    size = len(matrix)
    left, right = matrix.copy(), np.zeros((size, size))
    for column in range(size):
        right[column, column] = 1.0
    for column in range(size):
        pivot = column
        for row in range(column + 1, size):
            if abs(left[row, column]) > abs(left[pivot, column]):
                pivot = row
        scale = 1.0 / left[pivot, column]
        for side in (left, right):
            for entry in range(size):
                pivot_value = side[pivot, entry] * scale
                side[pivot, entry] = side[column, entry]
                side[column, entry] = pivot_value
        for row in range(size):
            factor = left[row, column]
            if row != column and factor != 0.0:
                for entry in range(size):
                    left[row, entry] -= factor * left[column, entry]
                    right[row, entry] -= factor * right[column, entry]
    return right

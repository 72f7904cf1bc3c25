"""What rules of one run are made of: plain functions, which Numba can compile too."""

from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.random import Generator


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


def inverted(matrix: Float[np.ndarray, "N N"]) -> Float[np.ndarray, "N N"]:
    """Return the inverse of a small matrix, by Gauss and Jordan with row pivots.

    LAPACK is no faster for a dozen rows, and takes Numba seconds to compile.
    """
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
            for place in range(size):
                found = side[pivot, place] * scale
                side[pivot, place] = side[column, place]
                side[column, place] = found
        for row in range(size):
            factor = left[row, column]
            if row != column and factor != 0.0:
                for place in range(size):
                    left[row, place] -= factor * left[column, place]
                    right[row, place] -= factor * right[column, place]
    return right

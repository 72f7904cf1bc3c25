"""What every generator returns, and the checks that all of them share."""

import operator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory.preferences import PreferenceMatrix


class Instance(NamedTuple):
    """A generated matrix and the order in which its arms stand.

    Attributes
    ----------
    matrix : PreferenceMatrix
        K arms.
    permutation : int64 (K,)
        ``permutation[a]`` is the arm of the unshuffled construction that stands at
        position a: with C the unshuffled values,
        ``matrix.values[a, b] == C[permutation[a], permutation[b]]``. The position of
        arm c of the construction is ``numpy.argsort(permutation)[c]``. It is
        0, 1, ..., K-1 when the arms were not shuffled.
    """

    matrix: PreferenceMatrix
    permutation: NDArray[np.int64]


def check_integer(argument: str, value: int, minimum: int) -> int:
    """Return `value` as an int, or say that it must be one of at least `minimum`."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or number < minimum:
        raise ValueError(
            f"{argument} must be a whole number of at least {minimum}, got {value!r}"
        )
    return number


def check_index(argument: str, value: int, num_arms: int) -> int:
    """Return `value` as an arm's number in 0..num_arms-1."""
    number = check_integer(argument, value, 0)
    if number >= num_arms:
        raise ValueError(
            f"{argument} must be below the number of arms, {num_arms}, got {value!r}; "
            "arms are numbered from 0"
        )
    return number


def check_number(argument: str, value: float, rule: str, holds: bool) -> float:
    """Return `value` as a float if the rule `holds` for it, else name the rule."""
    if not holds:
        raise ValueError(f"{argument} must be {rule}, got {value!r}")
    return float(value)


def is_number(value: object) -> bool:
    """Say whether `value` is a finite real number (and no bool)."""
    return (
        isinstance(value, int | float | np.integer | np.floating)
        and not isinstance(value, bool)
        and bool(np.isfinite(value))
    )


def check_generator(rng: np.random.Generator | None) -> np.random.Generator:
    """Return `rng`, or say how to make one."""
    if not isinstance(rng, np.random.Generator):
        seed = rng if is_number(rng) else 0
        raise TypeError(
            f"rng must be a numpy.random.Generator, got {rng!r}; "
            f"pass numpy.random.default_rng({seed})"
        )
    return rng


def check_vector(argument: str, values: object, minimum_length: int) -> NDArray:
    """Return `values` as a finite float64 vector with at least `minimum_length`."""
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{argument} must be a vector of numbers, got {values!r}"
        ) from error
    if vector.ndim != 1 or len(vector) < minimum_length:
        raise ValueError(
            f"{argument} must be a vector of at least {minimum_length} numbers, "
            f"got an array of shape {vector.shape}"
        )
    bad = np.flatnonzero(~np.isfinite(vector))
    if len(bad):
        raise ValueError(
            f"{argument} must be finite, got {argument}[{bad[0]}] = {vector[bad[0]]}"
        )
    return vector


def spell(family: str, **parameters: object) -> str:
    """Return ``family:key=value,...``, the spelling that `datasets.load` reads."""
    listed = ",".join(f"{key}={value}" for key, value in parameters.items())
    return f"{family}:{listed}" if listed else family


def make_instance(
    values: NDArray[np.float64],
    rng: np.random.Generator | None,
    *,
    shuffle: bool,
    name: str,
    source: str,
) -> Instance:
    """Relabel the arms at random if `shuffle`, and validate."""
    num_arms = len(values)
    if shuffle:
        if rng is None:
            raise TypeError(
                "rng must be a numpy.random.Generator when shuffle is True, got None; "
                "pass numpy.random.default_rng(0), or shuffle=False"
            )
        permutation = check_generator(rng).permutation(num_arms).astype(np.int64)
    else:
        permutation = np.arange(num_arms, dtype=np.int64)
    matrix = PreferenceMatrix(
        values[np.ix_(permutation, permutation)], name=name, source=source
    )
    return Instance(matrix, permutation)


def from_upper_triangle(upper: NDArray[np.float64]) -> NDArray[np.float64]:
    """Complete a matrix whose entries above the diagonal are given.

    The lower triangle becomes one minus its mirror image and the diagonal 1/2.
    """
    above = np.triu(np.ones(upper.shape, dtype=bool), 1)
    values = np.where(above, upper, 1.0 - upper.T)
    np.fill_diagonal(values, 0.5)
    return values

"""What every generator returns, and the checks that all of them share."""

import math
import operator
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float64
from numpy.typing import NDArray

from theory.arguments import as_number, shown
from theory.errors import ArgumentError, ArgumentTypeError
from theory.preferences import PreferenceMatrix
from theory.validation import MOST_ARMS, numeric_array


class GeneratedInstance(NamedTuple):
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


LARGEST_INTEGER = 2**63 - 1
"""Seeds, numbers of batches and the like at most."""


def check_integer(
    argument: str, value: int, minimum: int, maximum: int = LARGEST_INTEGER
) -> int:
    """Return `value` as an int, or say from where to where it must lie."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    no_scalar = isinstance(value, bool | np.bool_ | np.ndarray)
    if number is None or no_scalar or number < minimum:
        rule = f"must be a whole number of at least {minimum}"
        raise ArgumentError.of(argument, rule, value)
    if number > maximum:
        limit = "2^63 - 1" if maximum == LARGEST_INTEGER else maximum
        raise ArgumentError.of(argument, f"must be at most {limit}", value)
    return number


def check_num_arms(value: int, minimum: int = 2) -> int:
    """Return a number of arms, before a table of its square is made."""
    return check_integer("num_arms", value, minimum, MOST_ARMS)


def check_flag(argument: str, value: bool) -> bool:
    """Return `value`, or say that it must be True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ArgumentTypeError.of(argument, "must be True or False", value)
    return bool(value)


def check_word(argument: str, value: str, known: Iterable[str]) -> str:
    """Return `value` if it is one of the words `known`."""
    words = tuple(known)
    if not isinstance(value, str) or value not in words:
        rule = f"must be one of {', '.join(words)}"
        raise ArgumentError.of(argument, rule, value)
    return value


def check_index(argument: str, value: int, num_arms: int) -> int:
    """Return `value` as an arm's number in 0..num_arms-1."""
    number = check_integer(argument, value, 0)
    if number >= num_arms:
        rule = f"must be below the number of arms, {num_arms}"
        remedy = "arms are numbered from 0"
        raise ArgumentError.of(argument, rule, value, remedy=remedy)
    return number


def check_number(
    argument: str, value: float, rule: str, holds: Callable[[float], bool]
) -> float:
    """Return a finite number as a float if the rule `holds` for it."""
    if not (is_number(value) and holds(value)):
        raise ArgumentError.of(argument, f"must be {rule}", value)
    return float(value)


def is_number(value: object) -> bool:
    """Say whether `value` is a finite real number (and no bool)."""
    return (
        isinstance(value, int | float | np.integer | np.floating)
        and not isinstance(value, bool)
        and math.isfinite(as_number(value))
    )


def check_generator(rng: np.random.Generator | None) -> np.random.Generator:
    """Return `rng`, or say how to make one."""
    if not isinstance(rng, np.random.Generator):
        seed = rng if isinstance(rng, int) and rng in range(2**63) else 0
        raise ArgumentTypeError(
            f"rng must be a numpy.random.Generator, got {shown(rng)}; "
            f"pass numpy.random.default_rng({int(seed)})"
        )
    return rng


def check_vector(
    argument: str, values: object, minimum_length: int
) -> Float64[np.ndarray, " n"]:
    """Return `values` as a finite float64 vector with at least `minimum_length`."""
    vector = numeric_array(values, argument)
    if vector.ndim != 1 or len(vector) < minimum_length:
        raise ValueError(
            f"{argument} must be a vector of at least {minimum_length} numbers, "
            f"got an array of shape {vector.shape}"
        )
    if len(vector) > MOST_ARMS:
        raise ValueError(
            f"{argument} must be at most {MOST_ARMS} numbers, one per arm, got "
            f"{len(vector)}"
        )
    check_entries(argument, vector, np.isfinite(vector), "be finite")
    return vector


def check_entries(
    argument: str,
    vector: Float64[np.ndarray, " n"],
    fits: Bool[np.ndarray, " n"],
    rule: str,
    remedy: str = "",
) -> None:
    """Raise if an entry of a vector does not fit; the first one is named."""
    bad = np.flatnonzero(~fits)
    if bad.size:
        raise ArgumentError(
            f"{argument} must {rule}, got {argument}[{bad[0]}] = {vector[bad[0]]}"
            f"{remedy}"
        )


def spell(family: str, **parameters: object) -> str:
    """Return ``family:key=value,...``, the spelling that `instances.load` reads."""
    listed = ",".join(f"{key}={value}" for key, value in parameters.items())
    return f"{family}:{listed}" if listed else family


def make_instance(
    values: Float64[np.ndarray, "K K"],
    rng: np.random.Generator | None,
    *,
    shuffle: bool,
    name: str,
    source: str,
) -> GeneratedInstance:
    """Relabel the arms at random if `shuffle`, and validate."""
    num_arms = len(values)
    if check_flag("shuffle", shuffle):
        if rng is None:
            raise ArgumentTypeError(
                "rng must be a numpy.random.Generator when shuffle is True, got None; "
                "pass numpy.random.default_rng(0), or shuffle=False"
            )
        permutation = check_generator(rng).permutation(num_arms).astype(np.int64)
    else:
        permutation = np.arange(num_arms, dtype=np.int64)
    matrix = PreferenceMatrix(
        values[np.ix_(permutation, permutation)], name=name, source=source
    )
    return GeneratedInstance(matrix, permutation)


def from_upper_triangle(
    upper: Float64[np.ndarray, "K K"],
) -> Float64[np.ndarray, "K K"]:
    """Complete a matrix whose entries above the diagonal are given.

    The lower triangle becomes one minus its mirror image and the diagonal 1/2.
    """
    above = np.triu(np.ones(upper.shape, dtype=bool), 1)
    values = np.where(above, upper, 1.0 - upper.T)
    np.fill_diagonal(values, 0.5)
    return values

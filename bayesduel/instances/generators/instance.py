"""The result of every generator, and the checks that all of them share."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float64
from numpy.typing import NDArray

from theory.arguments import integer_from, true_or_false
from theory.errors import ArgumentTypeError
from theory.preferences import PreferenceMatrix
from theory.validation import MOST_ARMS


class GeneratedInstance(NamedTuple):
    """A generated matrix, and the permutation of its arms.

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


def check_num_arms(value: int, minimum: int = 2) -> int:
    """Return a number of arms, before a table of its square is made."""
    return integer_from(value, minimum, "num_arms", MOST_ARMS)


def check_generator(rng: np.random.Generator | None) -> np.random.Generator:
    """Return `rng`, or say how to make one."""
    if not isinstance(rng, np.random.Generator):
        seed = rng if isinstance(rng, int) and rng in range(2**63) else 0
        rule = "must be a numpy.random.Generator"
        remedy = f"pass numpy.random.default_rng({int(seed)})"
        raise ArgumentTypeError("rng", rule, rng, remedy=remedy)
    return rng


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
    features: Float64[np.ndarray, "K d"] | None = None,
) -> GeneratedInstance:
    """Relabel the arms at random if `shuffle`, and validate."""
    num_arms = len(values)
    if true_or_false(shuffle, "shuffle"):
        if rng is None:
            rule = "must be a numpy.random.Generator when shuffle is True"
            remedy = "pass numpy.random.default_rng(0), or shuffle=False"
            raise ArgumentTypeError("rng", rule, rng, remedy=remedy)
        permutation = check_generator(rng).permutation(num_arms).astype(np.int64)
    else:
        permutation = np.arange(num_arms, dtype=np.int64)
    matrix = PreferenceMatrix(
        values[np.ix_(permutation, permutation)],
        name=name,
        source=source,
        features=None if features is None else features[permutation],
    )
    return GeneratedInstance(matrix, permutation)


def from_upper_triangle(
    upper: Float64[np.ndarray, "K K"],
) -> Float64[np.ndarray, "K K"]:
    """Complete a matrix whose entries above the diagonal are given."""
    above = np.triu(np.ones(upper.shape, dtype=bool), 1)
    values = np.where(above, upper, 1.0 - upper.T)
    np.fill_diagonal(values, 0.5)
    return values

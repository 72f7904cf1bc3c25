"""What a generator of NumPy draws, as parts of kernels.

Compiled code has Numba's own functions behind these methods in their place, where this
version of it has them (``ops.scalar._own_generators``): the same digits.
"""

from typing import Any

import numpy as np
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import inlined

__all__ = [
    "many_binomial",
    "raw_bits",
    "standard_exponential",
    "standard_gamma",
    "standard_normal",
]

_MOST: Any = np.uint64(2**64 - 1)


@inlined
def raw_bits(rng: Generator) -> np.uint64:
    """Draw 64 random bits."""
    bits: Any = rng.integers(np.uint64(0), _MOST, dtype=np.uint64, endpoint=True)
    return bits


@inlined
def standard_exponential(rng: Generator) -> float:
    """Return what ``rng.standard_exponential()`` does."""
    return rng.standard_exponential()


@inlined
def standard_normal(rng: Generator) -> float:
    """Return what ``rng.standard_normal()`` does."""
    return rng.standard_normal()


@inlined
def standard_gamma(rng: Generator, shape: float) -> float:
    """Return what ``rng.standard_gamma(shape)`` does."""
    return rng.standard_gamma(shape)


@inlined
def many_binomial(rng: Generator, rounds: int, probability: float) -> int:
    """Return what ``rng.binomial(rounds, probability)`` does."""
    return rng.binomial(rounds, probability)

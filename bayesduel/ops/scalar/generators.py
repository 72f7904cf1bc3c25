"""What a generator of NumPy draws, as parts of compiled code.

Numba compiles each method of a generator apart and in several forms, which took a
twentieth of the time of compiling D-TS; the functions behind them are private to it.
Where a version of it lacks one, the methods are called: the same digits.
"""

from typing import Any

import numpy as np
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import compiled, inlined

_MOST: Any = np.uint64(2**64 - 1)

try:
    from numba.np.random.distributions import (
        random_binomial,
        random_standard_exponential,
        random_standard_gamma,
        random_standard_normal,
    )
    from numba.np.random.generator_core import next_uint64
except ImportError:

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
    def many_binomial(rng: Generator, rounds: int, chance: float) -> int:
        """Return what ``rng.binomial(rounds, chance)`` does."""
        return rng.binomial(rounds, chance)

else:
    _exponential: Any = compiled(random_standard_exponential)
    _gamma: Any = compiled(random_standard_gamma)
    _normal: Any = compiled(random_standard_normal)
    _binomial: Any = compiled(random_binomial)

    @inlined
    def raw_bits(rng: Generator) -> np.uint64:
        """Draw 64 random bits."""
        return next_uint64(rng.bit_generator)

    @inlined
    def standard_exponential(rng: Generator) -> float:
        """Return what ``rng.standard_exponential()`` does."""
        return _exponential(rng.bit_generator)

    @inlined
    def standard_normal(rng: Generator) -> float:
        """Return what ``rng.standard_normal()`` does."""
        return _normal(rng.bit_generator)

    @inlined
    def standard_gamma(rng: Generator, shape: float) -> float:
        """Return what ``rng.standard_gamma(shape)`` does."""
        return _gamma(rng.bit_generator, shape)

    @inlined
    def many_binomial(rng: Generator, rounds: int, chance: float) -> int:
        """Return what ``rng.binomial(rounds, chance)`` does."""
        return _binomial(rng.bit_generator, rounds, chance)

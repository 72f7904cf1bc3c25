"""The draws of ``ops.scalar.generators`` by the functions that Numba has for them.

Numba compiles each method of a generator apart and in several forms, which took a
twentieth of the time of compiling D-TS; the functions behind them are private to it.
"""

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
from numba.np.random.distributions import (
    random_binomial,
    random_standard_exponential,
    random_standard_gamma,
    random_standard_normal,
)
from numba.np.random.generator_core import next_uint64
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import compiled, inlined


def _ours(function: Callable[..., Any]) -> Any:
    """Return a function like one of Numba's, which stays as Numba compiles it."""
    plain: Any = inspect.unwrap(function)
    return FunctionType(plain.__code__, plain.__globals__, plain.__name__)


_exponential: Any = compiled(_ours(random_standard_exponential))
_gamma: Any = compiled(_ours(random_standard_gamma))
_normal: Any = compiled(_ours(random_standard_normal))
_binomial: Any = compiled(_ours(random_binomial))


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
def many_binomial(rng: Generator, rounds: int, probability: float) -> int:
    """Return what ``rng.binomial(rounds, probability)`` does."""
    return _binomial(rng.bit_generator, rounds, probability)

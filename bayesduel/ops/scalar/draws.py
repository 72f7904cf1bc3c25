"""Draws of one run at a time, out of a generator of NumPy.

All but the signs of pairs come from the generator itself. Signs are many, so four of
them share 64 bits: 16 bits decide an event of probability p unless they are those of p,
once in 65,536 times, and then a further uniform is compared with what p has left. So
the probability is exact, whatever its size.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int, UInt16
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import compiled

_LEAST_WORDS = 1024  # Words of 16 bits that are drawn together, at least
_MANY_ROUNDS = 4096  # Rounds that take 12 of the 53 bits of a waiting time


_LARGEST: Any = np.uint64(2**64 - 1)


@compiled
def raw_bits(rng: Generator) -> np.uint64:
    """Draw 64 random bits."""
    bits: Any = rng.integers(np.uint64(0), _LARGEST, dtype=np.uint64, endpoint=True)
    return bits


class Bits(NamedTuple):
    """Words of 16 random bits that are still to be used."""

    words: UInt16[np.ndarray, " W"]
    used: Int[np.ndarray, " 1"]  # How many of the words are used up.


def new_bits(num_arms: int) -> Bits:
    """Return room for the bits of a run; the words of a row of K pairs fit in."""
    size = max(_LEAST_WORDS, 4 * -(-num_arms // 4))
    return Bits(np.zeros(size, dtype=np.uint16), np.full(1, size, dtype=np.int64))


@compiled
def take_words(bits: Bits, rng: Generator, count: int) -> int:
    """Return where the next ``count`` words of ``bits`` begin."""
    start = bits.used[0]
    if start + count > bits.words.size:
        for start in range(0, bits.words.size, 4):
            block = raw_bits(rng)
            for part in range(4):
                bits.words[start + part] = np.uint16(block >> np.uint64(16 * part))
        start = 0
    bits.used[0] = start + count
    return start


@compiled
def happens(word: int, threshold: int, remainder: float, rng: Generator) -> bool:
    """Say whether 16 bits decide for an event of (threshold + remainder) / 2^16."""
    if word != threshold:
        return word < threshold
    return rng.random() < remainder


@compiled
def draw_beta(rng: Generator, first: float, second: float) -> float:
    """Draw from Beta(first, second), parameters above 0."""
    # A quotient of gammas; where both may underflow, by Johnk's method (1964) in
    # logarithms.
    while first <= 1.0 and second <= 1.0:
        one = -rng.standard_exponential() / first
        log_second = -rng.standard_exponential() / second
        total = max(one, log_second) + math.log1p(math.exp(-abs(one - log_second)))
        if total <= 0.0:
            return math.exp(one - total)
    won, lost = rng.standard_gamma(first), rng.standard_gamma(second)
    return won / (won + lost)


@compiled
def truncated_exponential(rng: Generator, total: float) -> float:
    """Draw a standard exponential variable below ``total``."""
    return -math.log1p(rng.random() * math.expm1(-total))


@compiled
def choose_index(rng: Generator, count: int) -> int:
    """Draw one of ``count`` numbers from 0 on."""
    return min(count - 1, int(rng.random() * count))


@compiled
def hazard_of(probability: float) -> float:
    """Return the hazard whose rounds are not idle with this probability, at most 1."""
    return -math.log1p(-probability) if probability < 1.0 else math.inf


@compiled
def waiting_time(rng: Generator, hazard: float, rounds: int) -> tuple[int, bool]:
    """Draw how many of the next rounds are idle, each with P = exp(-hazard)."""
    # The second value says whether a round that is not idle comes after them.
    idle, happens, _ = _waiting_time(rng, hazard, rounds)
    return idle, happens


@compiled
def waiting_time_and_level(
    rng: Generator, hazard: float, rounds: int
) -> tuple[int, bool, float]:
    """Draw, besides, an exponential variable below ``hazard``, which says why."""
    # The remainder of the exponential variable is another one, independent of the
    # number of rounds, unless the rounds used too many of its digits.
    idle, happens, left = _waiting_time(rng, hazard, rounds)
    if idle < _MANY_ROUNDS or not happens:
        return idle, happens, left
    return idle, happens, truncated_exponential(rng, hazard)


@compiled
def _waiting_time(
    rng: Generator, hazard: float, rounds: int
) -> tuple[int, bool, float]:
    """Return the idle rounds, whether another one comes, and what is left then."""
    waits = rng.standard_exponential()
    if waits >= hazard * rounds:
        return rounds, False, 0.0
    passed = waits / hazard
    idle = min(rounds - 1, int(passed))
    return idle, True, min(passed - idle, 1.0) * hazard

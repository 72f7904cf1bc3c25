"""How many rounds of a stretch fall to each of several arms, and how many come first.

The first is drawn from the generator of the run. Where only the first rounds of the
stretch are asked for, it is halved until they are found, what falls into a half being
hypergeometric. The draws of a half come from a random stream of its own, so that what
the first rounds are depends neither on the other rounds that are asked for nor on
whether any are.
"""

import math

import numpy as np
from jaxtyping import Int
from numpy.random import Generator

from bayesduel.ops.scalar.compiled import compiled

# Steele, Lea and Flood (2014): SplitMix64.
STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))

# Below, logarithms of factorials are subtracted; above, by Stirling's series
_SMALL = 20.0
_FEW = 32  # Rounds that are drawn one by one, which is cheaper than all together


@compiled
def binomial(rng: Generator, rounds: int, probability: float) -> int:
    """Draw how many of ``rounds`` have an event of this probability, 0 to 1."""
    if rounds > _FEW:
        return rng.binomial(rounds, probability)
    successes = 0
    for _ in range(rounds):
        successes += rng.random() < probability
    return successes


@compiled
def take_first(
    counts: Int[np.ndarray, "3 K"], total: int, wanted: int, key: np.uint64
) -> None:
    """Fill the third row with what falls to each arm in the first ``wanted`` rounds.

    In all ``total`` rounds it is the first row, whose order is random. The second row
    is for the work. The same ``key`` gives parts of the same order.
    """
    whole, node, taken = counts[0], counts[1], counts[2]
    for arm in range(whole.size):
        node[arm], taken[arm] = whole[arm], 0
    begin, length = 0, total
    while wanted > 0 and wanted < length and length > _FEW:
        half = length // 2
        bits = mixed(mixed(key + np.uint64(begin)) + np.uint64(length))
        goes_on = wanted >= half
        rest, rest_of_half = length, half
        for arm in range(whole.size):
            count = node[arm]
            if count == 0:
                continue
            part, bits = hypergeometric(rest, count, rest_of_half, bits)
            rest -= count
            rest_of_half -= part
            if goes_on:
                taken[arm] += part
                part = count - part
            node[arm] = part
        if goes_on:
            begin += half
            length -= half
            wanted -= half
        else:
            length = half
    if wanted < length:
        _take_one_by_one(counts, length, wanted, mixed(key + np.uint64(begin)))
    else:
        for arm in range(whole.size):
            taken[arm] += node[arm]


@compiled
def _take_one_by_one(
    counts: Int[np.ndarray, "3 K"], length: int, wanted: int, bits: np.uint64
) -> None:
    """Take the first rounds of a part, each of any arm that has some left."""
    node, taken = counts[1], counts[2]
    for gone in range(wanted):
        bits += STEP
        left, arm = int(uniform(bits) * (length - gone)), 0
        while left >= node[arm]:
            left -= node[arm]
            arm += 1
        node[arm] -= 1
        taken[arm] += 1


@compiled
def hypergeometric(
    total: int, marked: int, drawn: int, bits: np.uint64
) -> tuple[int, np.uint64]:
    """Draw how many of ``drawn`` out of ``total`` are marked; return the stream, too.

    By rejection, as every log-concave distribution (Devroye 1987): with p the
    probability of the mode m, that of m + k is at most p min(1, exp(1 - p |k|)), for
    which p may be smaller than it is. It is at least (1 + 12 variance)^(-1/2) (Bobkov,
    Marsiglietti and Melbourne 2022).
    """
    least, most = max(0, drawn - (total - marked)), min(marked, drawn)
    if least == most:
        return least, bits
    share = marked / total
    variance = drawn * share * (1.0 - share) * ((total - drawn) / (total - 1.0))
    likely = 1.0 / math.sqrt(1.0 + 12.0 * variance)
    mode = int((marked + 1.0) * ((drawn + 1.0) / (total + 2.0)))
    mode = min(max(mode, least), most)
    flat = 1.0 + likely / 2.0
    while True:
        bits += STEP
        which = uniform(bits) * (1.0 + flat)
        bits += STEP
        level = math.log1p(-uniform(bits))
        bits += STEP
        sign = uniform(bits)
        distance = which
        if which > flat:
            bits += STEP
            distance = flat - math.log1p(-uniform(bits))
        steps = int(distance / likely + 0.5)
        if sign < 0.5:
            steps = -steps
        successes = mode + steps
        if least <= successes <= most:
            excess = _log_factorial_ratio(mode, steps)
            excess += _log_factorial_ratio(marked - mode, -steps)
            excess += _log_factorial_ratio(drawn - mode, -steps)
            excess += _log_factorial_ratio(total - marked - drawn + mode, steps)
            if level + min(0.0, flat - distance) <= -excess:
                return successes, bits


@compiled
def _log_factorial_ratio(number: int, steps: int) -> float:
    """Return log((number + steps)! / number!)."""
    start, end = float(number), float(number + steps)
    if start < _SMALL or end < _SMALL:
        return math.lgamma(end + 1.0) - math.lgamma(start + 1.0)
    log_ratio = (start + 0.5) * math.log1p(steps / start) + steps * (
        math.log(end) - 1.0
    )
    return log_ratio + _stirling_rest(1.0 / end) - _stirling_rest(1.0 / start)


@compiled
def _stirling_rest(inverse: float) -> float:
    square = inverse * inverse
    return inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square / 1260.0))


@compiled
def mixed(bits: np.uint64) -> np.uint64:
    """Return 64 bits that depend on all bits given, as SplitMix64 does."""
    bits = (bits ^ (bits >> np.uint64(30))) * _MIX[0]
    bits = (bits ^ (bits >> np.uint64(27))) * _MIX[1]
    return bits ^ (bits >> np.uint64(31))


@compiled
def uniform(bits: np.uint64) -> float:
    """Return what a state of the stream says, on [0, 1)."""
    return float(mixed(bits) >> np.uint64(11)) * 2.0**-53

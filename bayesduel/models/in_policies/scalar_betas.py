"""Tables and series for P(theta > 1/2), theta of Beta, accurate far into the tail.

With w wins and l losses, theta ~ Beta(w + 1, l + 1) and

    P(theta > 1/2) = I_{1/2}(l + 1, w + 1) = P(Bin(w + l + 1, 1/2) <= w).

A policy that jumps over idle rounds needs this for one pair per duel, with full
*relative* accuracy: late in a run the smaller tail is the probability of the next
event. A library's incomplete beta function iterates until its slowest lane has
converged, and updating the tail by one binomial probability per duel loses every
digit of a small one. Both costs and errors stay bounded with an exact table for fewer
than ``TABLE_SIZE`` duels and, beyond, the uniform expansion of the incomplete beta
function for large parameters (Temme 1982; DLMF 8.18.9): with nu = w + l + 2,
delta = |w - l| / (2 nu), d = KL(Ber(1/2 + delta), Ber(1/2)),

    smaller tail = erfc(sqrt(nu d)) / 2 + exp(-nu d) / sqrt(2 pi nu) sum_k S_k / nu^k.

S_k(delta) / delta is even and analytic; ``SERIES`` holds Chebyshev interpolants of it
in delta^2 on [0, 0.27^2], beyond which the tail is below 1e-33 and counts as 0.
Measured against exact integers: relative error below 2e-12 for tails above 1e-30.
"""

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Float, Int, Real
from numpy.random import Generator

from bayesduel.ops import divergences
from bayesduel.ops.scalar.compiled import compiled
from bayesduel.ops.scalar.digamma import digamma
from theory.identification.beta_fraction import incomplete_beta_fraction

# Counts below this many duels come from a table; the expansion is accurate above.
TABLE_SIZE = 512

_SERIES = (
    (-0.83333333333333022, -0.81666666667879887, -1.6489417911231563,
     -4.1673256010642216, -11.782354864261635, -35.667416749569299,
     -111.93448221946965, -398.17599380351173, -643.05636273413494,
     -12068.577298306977, 47480.457231554358, -298054.71110702332),
    (-0.26250000005633251, -0.75958982412647972, -2.6638832842377423,
     -9.6769903160917582, -36.228886275707314, -118.56616225614554,
     -839.70565466807587, 2102.0003870236503, -30462.042496608407),
    (0.16592265495824646, 1.0085466810225527, 4.8856225312690574, 21.177963261922386,
     124.61134877530657, -109.57612404642615, 5909.7353254609742),
    (0.21841906917020329, 2.6323019532629743, 19.328233855256321, 169.85213427059049,
     -296.44612137690317, 13692.615436873987),
)  # fmt: skip


def tails_by_duels(size: int) -> Iterator[Float[np.ndarray, " F"]]:
    """Yield, for n = 0 to ``size`` - 1 duels, the smaller tails of 0 to n // 2 wins."""
    # By Pascal's rule: a tail of n duels is the mean of two of n - 1.
    # P(Bin(n + 1, 1/2) <= k), k from -1 on.
    tails = np.ones(size // 2 + 2)
    tails[0] = 0.0
    for duels in range(size):
        tails[1:] = 0.5 * (tails[1:] + tails[:-1])
        yield tails[1 : duels // 2 + 2].copy()


_fraction: Any = compiled(incomplete_beta_fraction)

kl_to_half: Any = compiled(divergences.kl_to_half)
"""For other kernels, too."""

# One row per power of 1 / nu, from the constant coefficient on.
_COEFFICIENTS = np.array([[*series, *[0.0] * (12 - len(series))] for series in _SERIES])
_SMALLEST = 1e-300  # Floor of a tail whose logarithm is taken.
# Smaller tails are found by their logarithms, where those are asked for.
_FEWEST_DIGITS = 1e-250
_LARGEST_DELTA = 0.27  # Beyond this the tail is below 1e-33.


_MOST_DUELS, _MOST_BEHIND = 2048, 256
"""Tails of fewer duels, and of arms that many wins or fewer behind half of them, come
from a table: it takes a fifth of the time of the expansion."""


@lru_cache(maxsize=1)
def tail_table() -> Float[np.ndarray, "B N"]:
    """Return smaller tails by the wins lacking to half of the duels, and the duels."""
    table = np.zeros((_MOST_BEHIND, _MOST_DUELS))
    for duels, tails in enumerate(tails_by_duels(_MOST_DUELS)):
        nearest = tails[: -_MOST_BEHIND - 1 : -1]
        table[: len(nearest), duels] = nearest
    return table


def prior_in_order(
    prior: Real[np.ndarray, "*shape"], order: Int[np.ndarray, " K"]
) -> Real[np.ndarray, "K K"]:
    """Return pseudo-wins, one number or a table, as a table for arms in this order."""
    if prior.ndim == 0:
        return np.full((len(order), len(order)), prior)
    return prior[order[:, None], order]


@compiled
def half_tail(first: float, second: float, table: Float[np.ndarray, "B N"]) -> float:
    """Return the smaller one of P(theta > 1/2) and P(theta < 1/2)."""
    # theta ~ Beta(first, second); what is no integer is expanded, or found by the
    # continued fraction: relative error below 5e-12 for tails above 1e-30.
    fewer, total = min(first, second), first + second
    if fewer == math.floor(fewer) and total == math.floor(total):
        return smaller_half_tail(int(fewer) - 1, int(total) - 2, table)
    if total >= TABLE_SIZE and 0.5 * total - fewer < _LARGEST_DELTA * total:
        return min(_expanded_tail(fewer - 1.0, total - 2.0), 0.5)
    more = max(first, second)
    log_beta = math.lgamma(more) + math.lgamma(fewer) - math.lgamma(total)
    scale = math.exp(-total * math.log(2.0) - log_beta) / more
    return min(scale * _fraction(more, fewer, 0.5), 0.5)


@compiled
def log_half_tail(
    first: float, second: float, table: Float[np.ndarray, "B N"]
) -> float:
    """Return the logarithm of `half_tail`, also of a tail too small for a number."""
    fewer, total = min(first, second), first + second
    if total < TABLE_SIZE or 0.5 * total - fewer < _LARGEST_DELTA * total:
        small = half_tail(first, second, table)
        if small > _FEWEST_DIGITS:
            return math.log(small)
    more = max(first, second)
    log_beta = math.lgamma(more) + math.lgamma(fewer) - math.lgamma(total)
    scale = -total * math.log(2.0) - log_beta - math.log(more)
    return scale + math.log(_fraction(more, fewer, 0.5))


@compiled
def smaller_half_tail(fewer: int, duels: int, table: Float[np.ndarray, "B N"]) -> float:
    """P(Bin(duels + 1, 1/2) <= fewer), for at most half of the duels; below 1/2."""
    behind = duels // 2 - fewer
    if duels < table.shape[1] and behind < table.shape[0]:
        return table[behind, duels]
    return _expanded_tail(float(fewer), float(duels))


@compiled
def _expanded_tail(fewer: float, duels: float) -> float:
    size = duels + 2.0
    delta = min((0.5 * duels - fewer) / size, _LARGEST_DELTA)
    square = delta * delta
    first = second = third = fourth = 0.0
    # Four sums at once: each waits for its own last product only.
    for power in range(11, -1, -1):
        first = first * square + _COEFFICIENTS[0, power]
        second = second * square + _COEFFICIENTS[1, power]
        third = third * square + _COEFFICIENTS[2, power]
        fourth = fourth * square + _COEFFICIENTS[3, power]
    total = first + (second + (third + fourth / size) / size) / size
    exponent = size * kl_to_half(delta)
    correction = math.exp(-exponent) * delta * total / math.sqrt(2 * math.pi * size)
    return 0.5 * math.erfc(math.sqrt(exponent)) + correction


@compiled
def rates_above_half(first: float, second: float, small: float) -> tuple[float, float]:
    """Return -log P(theta > 1/2) and -log P(theta < 1/2)."""
    likely, unlikely = -math.log1p(-small), -math.log(max(small, _SMALLEST))
    return (likely, unlikely) if first >= second else (unlikely, likely)


@compiled
def expected_divergence(won: float, lost: float) -> float:
    """E KL(theta, 1/2) of theta ~ Beta(won, lost), in nats."""
    # That of the mean is 0 at even counts: a pair would never be worth a duel.
    total = won + lost
    share = won / total
    whole = digamma(total + 1.0)
    up, down = digamma(won + 1.0) - whole, digamma(lost + 1.0) - whole
    return math.log(2.0) + share * up + (1.0 - share) * down


@compiled
def offset_above_half(first: float, second: float, rng: Generator) -> float:
    """Draw theta - 1/2 given theta > 1/2, theta ~ Beta(first, second).

    By rejection, so that the distribution is exact but for rounding. With theta = (1 +
    sin u) / 2 and a, b the parameters less 1/2, the log density of u lies below the
    parabola at its peak with the least curvature that it has anywhere, (a + b) / 2 +
    sqrt(a b). Where the peak is outside, at u < 0, proposals are half normal; where the
    density at 1/2 is steep they come from its tangent there, y = theta - 1/2
    exponential with the rate 2 (second - first), which the log-concave density in y
    lies below. For parameters below 1, whose densities are none of these, they come
    from a power.
    """
    if first < 1.0 or second < 1.0:
        return _offset_by_power(first, second, rng)
    if first == 1 and second == 1:
        return 0.5 * (1.0 - rng.random())
    lead = first - second
    if lead < 0 and 2 * lead * lead > first + second:
        return _steep_offset(first, second, rng)
    a, b = first - 0.5, second - 0.5
    if lead > 0:
        root = math.sqrt(a * b)
        curvature, peak = 0.5 * (a + b) + root, math.atan(0.5 * (a - b) / root)
    else:
        curvature, peak = a + b, 0.0
    scale = 1.0 / math.sqrt(curvature)
    while True:
        normal = rng.standard_normal()
        step = scale * (normal if lead > 0 else abs(normal))
        angle = peak + step
        if 0.0 < angle < 0.5 * math.pi:
            sine, waits = math.sin(angle), rng.standard_exponential()
            # Between the peak, where it is a + b, and here, the curvature is largest
            # at an end: as a rule that decides without a logarithm.
            largest = max(a + b, a / (1.0 + sine) + b / (1.0 - sine))
            fallen = 0.5 * step * step * (largest - curvature) - min(lead, 0.0) * step
            if waits >= fallen:
                return 0.5 * sine
            if waits >= _fallen(a, b, lead, sine) - 0.5 * normal * normal:
                return 0.5 * sine


@compiled
def _fallen(a: float, b: float, lead: float, sine: float) -> float:
    top = 0.0
    if lead > 0:
        top = a * math.log(2.0 * a / (a + b)) + b * math.log(2.0 * b / (a + b))
    return top - a * math.log1p(sine) - b * math.log1p(-sine)


@compiled
def _steep_offset(first: float, second: float, rng: Generator) -> float:
    rate = 2.0 * (second - first)
    while True:
        offset = rng.standard_exponential() / rate
        if offset < 0.5:
            up, down = math.log1p(2.0 * offset), math.log1p(-2.0 * offset)
            excess = (first - 1) * up + (second - 1) * down + rate * offset
            if -rng.standard_exponential() <= excess:
                return offset


@compiled
def _offset_by_power(first: float, second: float, rng: Generator) -> float:
    """Draw where a parameter is below 1.

    Of x = 1 - theta, on (0, 1/2), the density is x^(second - 1) (1 - x)^slope. The
    first factor is proposed and, where the slope is steep, beyond 1 / slope an
    exponential density.
    """
    slope = first - 1.0
    steep = slope > 2.0
    rate = max(slope, 2.0)
    low, high = math.exp(-1.0), math.exp(-0.5 * rate)
    tail = second * (low - high) if steep else 0.0
    largest = max(-slope * math.log(2.0), 0.0)
    while True:
        share = (1.0 - rng.random()) * (1.0 + tail)
        if share <= 1.0:
            log_share = math.log(share) / second
            x = math.exp(log_share) / rate
            excess = slope * math.log1p(-x) - largest
            # Next to 1/2 the difference would have no digits.
            offset = 0.5 - x if steep else -0.5 * math.expm1(log_share)
        else:
            x = -math.log(low - (share - 1.0) / tail * (low - high)) / rate
            excess = slope * math.log1p(-x) + rate * x
            excess += (second - 1.0) * math.log(max(x * rate, 1.0))
            offset = 0.5 - x
        if offset > 0.0 and -rng.standard_exponential() <= excess:
            return offset

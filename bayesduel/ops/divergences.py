"""Divergences of Bernoulli distributions, of numbers: ``theory`` has them of arrays.

Plain functions for rules of one run, which Numba can compile too.
"""

import math

_NEWTON_STEPS = 12

_TINY = 1e-292  # Below this a quotient by a probability could overflow


def kl_to_half(gap: float) -> float:
    """KL(Bernoulli(1/2 + gap), Bernoulli(1/2)) for a gap from 0 to 1/2.

    ``theory.divergences.kl_to_half``, which says why there are two forms; here with
    log(1 + u) - log(1 - u) = log(1 + 2 u / (1 - u)), which is a logarithm less.
    """
    u = 2.0 * gap
    if u >= 1.0:
        return math.log(2.0)
    if u <= 0.5:
        return 0.5 * (u * math.log1p(2.0 * u / (1.0 - u)) + math.log1p(-u * u))
    return 0.5 * ((1.0 + u) * math.log1p(u) + (1.0 - u) * math.log1p(-u))


def bernoulli_kl(p: float, q: float) -> float:
    """KL(Bernoulli(p), Bernoulli(q)); infinite where q is 0 or 1 and p is not.

    For comparisons with widths: the error is about 1e-16 near p = q, where that of
    ``theory`` is a share of the value.
    """
    if p == q:
        return 0.0
    if q <= 0.0 or q >= 1.0:
        return math.inf
    value = p * math.log(p / q) if p > 0.0 else 0.0
    if p < 1.0:
        value += (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
    return max(value, 0.0)


def kl_lower(p: float, level: float) -> float:
    """Return the smallest q with KL(p, q) <= level."""
    return min(math.exp(-kl_upper_log(1.0 - p, p, level)), p)


def may_reach(p: float, rest: float, level: float, s: float) -> bool:
    """Say whether `kl_upper_log` may be s or more; surely, but for a part in 1e9."""
    q = -math.expm1(-s)
    if p <= _TINY or rest <= _TINY or level == math.inf or q <= p:
        return True
    divergence = p * math.log(p / q) + rest * (s + math.log(rest))
    return divergence <= level + 1e-9 * (level + 1.0)


def kl_upper_log(p: float, rest: float, level: float) -> float:
    """Return s = -log(1 - q) of the largest q with KL(p, q) <= level.

    ``rest`` is 1 - p, given apart. By Newton's method in s, from the right, as in
    ``theory.divergences``, which gives the reasons.
    """
    if p <= _TINY:
        return level
    if rest <= _TINY or level == math.inf:
        return math.inf
    s = (level - p * math.log(p)) / rest - math.log(rest)
    # A width above 1 is not used, and the square of a huge level would overflow.
    low = min(level, 1.0)
    width = min(math.sqrt(level / 2.0), low + math.sqrt(low * low + 2.0 * low * p))
    if width < rest:
        s = min(s, -math.log(rest - width))
    for _ in range(_NEWTON_STEPS):
        q = -math.expm1(-s)
        gap = q - p
        if gap <= 0.0:
            break
        is_near = gap < 0.5 * rest
        log_rest = -math.log1p(-gap / rest) if is_near else s + math.log(rest)
        excess = rest * log_rest - p * math.log1p(gap / p) - level
        if excess <= 0.0:
            break
        s -= excess * q / gap
    return s

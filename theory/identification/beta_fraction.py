"""The continued fraction of the incomplete Beta function, one number at a time.

Abramowitz and Stegun (1964), 26.5.8. It finds tails far below the smallest number that
a machine holds, where a Beta function has underflown. Plain arithmetic, which
`bayesduel` compiles as it stands.
"""

_ENOUGH = 1e-13
_TINY = 1e-300
_MOST_TERMS = 100_000  # More than sqrt(x + y) are never needed


def incomplete_beta_fraction(x: float, y: float, at: float) -> float:
    """Return x J / (at^x (1 - at)^y), J being the integral from 0 to ``at``."""
    # By Lentz's method; it converges fast below (x + 1) / (x + y + 2).
    c = 1.0
    d = 1.0 - (x + y) * at / (x + 1.0)
    d = 1.0 / (d if abs(d) > _TINY else _TINY)
    fraction = d
    for term in range(1, _MOST_TERMS):
        even = term * (y - term) * at / ((x + 2 * term - 1) * (x + 2 * term))
        d = 1.0 + even * d
        c = 1.0 + even / c
        d = 1.0 / (d if abs(d) > _TINY else _TINY)
        c = c if abs(c) > _TINY else _TINY
        fraction *= d * c
        odd = -(x + term) * (x + y + term) * at
        odd /= (x + 2 * term) * (x + 2 * term + 1)
        d = 1.0 + odd * d
        c = 1.0 + odd / c
        d = 1.0 / (d if abs(d) > _TINY else _TINY)
        c = c if abs(c) > _TINY else _TINY
        factor = d * c
        fraction *= factor
        if abs(factor - 1.0) < _ENOUGH:
            break
    return fraction

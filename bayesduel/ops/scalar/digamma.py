"""The digamma function, one number at a time."""

import math

from bayesduel.ops.scalar.compiled import compiled

_LARGE = 10.0  # From here on the series below is exact to 1e-16


@compiled
def digamma(x: float) -> float:
    """Return the derivative of log gamma at a positive number."""
    # psi(x) = psi(x + 1) - 1 / x up to 10, then series 6.3.18 of Abramowitz and Stegun.
    shift = 0.0
    while x < _LARGE:
        shift += 1.0 / x
        x += 1.0
    square = 1.0 / (x * x)
    series = 1.0 / 240.0 - square * (1.0 / 132.0 - square * 691.0 / 32760.0)
    series = 1.0 / 120.0 - square * (1.0 / 252.0 - square * series)
    series = square * (1.0 / 12.0 - square * series)
    return math.log(x) - 0.5 / x - series - shift

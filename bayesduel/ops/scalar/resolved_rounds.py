"""When a confidence bound stops resolving a pair: ``ops.resolved_rounds``, in scalars.

The rule is the same one, log t <= x with x = (w - l)^2 / (4 alpha n).
"""

import math

from bayesduel.ops.scalar.compiled import compiled, inlined

NEVER = 2**62
"""A round beyond every horizon."""

_LOG_NEVER = math.log(NEVER)

_ROUNDING = 1e-13
"""More than ``exp`` and ``log`` may be off for logarithms up to those of 2^62."""


@inlined
def last_resolved_round(wins: int, losses: int, alpha: float, round_: int) -> int:
    """Return the last round at which a pair is resolved; 0 if it is not at ``round_``.

    A pair that was never compared is not. ``floor(exp(x))`` is corrected against the
    rule itself, by one at most, where rounding could have moved it.
    """
    duels = wins + losses
    if duels == 0:
        return 0
    gap = float(wins - losses)
    resolution = gap * gap / (4.0 * alpha * duels)
    if math.log(float(round_)) > resolution:
        return 0
    return last_round_within(resolution, round_)


@compiled
def last_round_within(resolution: float, round_: int) -> int:
    """Return the last round whose logarithm is at most ``resolution``.

    That of ``round_`` is, and ``NEVER`` comes in place of a round beyond every horizon.
    """
    if resolution > _LOG_NEVER:
        return NEVER
    value = math.exp(resolution)
    guess = max(round_, int(math.floor(value)))
    nearest = abs(value - math.floor(value + 0.5))
    if nearest > _ROUNDING * value:
        return guess
    if math.log(float(guess + 1)) <= resolution:
        return guess + 1
    if guess > round_ and math.log(float(guess)) > resolution:
        return guess - 1
    return guess

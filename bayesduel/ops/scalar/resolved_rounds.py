"""When a confidence bound stops resolving a pair, as an integer round.

A pair with w wins and l losses in n duels is *resolved* by the bounds
p +- sqrt(alpha log t / n) (Zoghi et al. 2014; Wu and Liu 2016) exactly while

    log t <= x,    x = (w - l)^2 / (4 alpha n)        (= n (p - 1/2)^2 / alpha).

The forms of the papers, u > 1/2, u >= 1/2 and l <= 1/2, differ from it at equality
only, which a positive x never meets at an integer round when alpha is rational.
"""

import math

from bayesduel.arguments.limits import LONGEST_HORIZON
from bayesduel.ops import rules
from bayesduel.ops.scalar.compiled import compiled

NEVER = LONGEST_HORIZON  # A round beyond every horizon
last_round_within = compiled(rules.last_round_within)


@compiled
def last_resolved_round(wins: int, losses: int, alpha: float, round_: int) -> int:
    """Return the last round at which a pair is resolved; 0 if it is not now."""
    duels = wins + losses
    if duels == 0:
        return 0
    gap = float(wins - losses)
    resolution = gap * gap / (4.0 * alpha * duels)
    if math.log(float(round_)) > resolution:
        return 0
    return last_round_within(resolution, round_)

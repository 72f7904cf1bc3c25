"""How long the k largest indices stay the k largest, whatever the rewards.

An arm with plays N and total reward C has the index C/N + w / sqrt(N). A round without
a reward for it lowers the index to C/(N + 1) + w / sqrt(N + 1), any reward leaves it
higher. So the set cannot change before the worst case of one of its arms meets the best
index outside: these rounds can be played in one go.
"""

import math

import numpy as np
from jaxtyping import Bool, Float

from bayesduel.arguments.limits import LONGEST_HORIZON
from bayesduel.policies.subsets._reward_counts import RewardCounts

_BELOW = 1.0 - 1e-12
"""Less than 1 by far more than rounding."""


def index_value(total: float, plays: int, width: float) -> float:
    """Return C/N + w / sqrt(N), infinite for an arm never played."""
    if plays == 0:
        return np.inf
    return total / plays + width / math.sqrt(plays)


def index_values(
    counts: RewardCounts, width: float, cap: float
) -> Float[np.ndarray, " n"]:
    """Return the index of every arm, at most ``cap`` for one that was played."""
    values = np.zeros(len(counts.plays))
    for arm in range(len(values)):
        plays = counts.plays[arm]
        values[arm] = index_value(counts.totals[arm], plays, width)
        if plays > 0:
            values[arm] = min(values[arm], cap)
    return values


def best_outside(
    subset: Bool[np.ndarray, " n"], values: Float[np.ndarray, " n"]
) -> float:
    """Return the largest value of an arm that is not in the set."""
    largest = -np.inf
    for arm in range(len(values)):
        if not subset[arm]:
            largest = max(largest, values[arm])
    return largest


def safe_rounds(
    counts: RewardCounts, subset: Bool[np.ndarray, " n"], width: float, outside: float
) -> int:
    """Return for how many rounds ``subset`` surely stays ahead of ``outside``.

    With y = 1 / sqrt(N) the index is C y^2 + w y; it exceeds o while y > y*, the
    positive root of C y^2 + w y = o. During these rounds the ``width`` w must not
    decrease, and no other index exceed ``outside``. At least 1: the present round
    belongs to ``subset`` in any case.
    """
    if outside == np.inf:
        return 1
    fewest = float(LONGEST_HORIZON)
    for arm in range(len(subset)):
        if subset[arm] and outside > 0.0:
            root = width + math.sqrt(width**2 + 4.0 * counts.totals[arm] * outside)
            # 1 / y*^2. Often it is a whole number, where an arm will be level with an
            # equally lucky one: rounding must not decide on which side of it this is.
            reach = _BELOW * (root / (2.0 * outside)) ** 2
            fewest = min(fewest, reach - counts.plays[arm])
    rounds = max(math.ceil(fewest), 1)
    # Rounding may have overshot: the last of these rounds must still be theirs.
    for arm in range(len(subset)):
        if subset[arm]:
            last = counts.plays[arm] + rounds - 1
            if index_value(counts.totals[arm], last, width) <= outside:
                return 1
    return rounds

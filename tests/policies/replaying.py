"""Asking the twin of a policy whether it might have played the same duels.

Where a rule draws only among equals, its twin says between which pairs. Then every duel
of the fast policy can be checked, although the two draw different numbers.
"""

import numpy as np


def first_impossible_duel(twin, duels, outcomes):
    """Let the twin follow; return round, duel and alternatives of the first stray."""
    seen = np.zeros(outcomes.shape[:2], dtype=int)
    for index, (first, second) in enumerate(duels):
        allowed = twin.admissible()
        if (first, second) not in allowed:
            return index + 1, (first, second), allowed
        low, high = min(first, second), max(first, second)
        low_won = low == high or bool(outcomes[low, high, seen[low, high]])
        twin.update(first, second, low_won == (first == low))
        seen[low, high] += 1
    return None


def first_difference(one, other):
    """Return round and duels of the first disagreement of two lists, or None."""
    for index, (a, b) in enumerate(zip(one, other, strict=True)):
        if a != b:
            return index + 1, a, b
    return None

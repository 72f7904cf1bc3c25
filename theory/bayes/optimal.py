"""The least Bayes regret that any policy can have on three arms, by induction."""

from __future__ import annotations

from functools import reduce

import numpy as np
from numpy.typing import NDArray

from theory.arguments import integer_from, number_above
from theory.bayes.beliefs import NUM_ARMS, PAIRS, PairBeliefs, arm_regret, pair_beliefs

type Layer = dict[tuple[int, ...], NDArray[np.float64]]
"""By the numbers of duels of the pairs, an array with an axis a pair: duels won."""

LONGEST_HORIZON = 100
"""C(106, 6) = 1.7e9 states; a layer of them has 97 million."""


def bayes_optimal_regret(horizon: int, *, prior: float = 1.0) -> float:
    """Compute the smallest Bayes regret that a policy can have on three arms.

    The three preferences are independent with the distribution Beta(prior, prior), and
    the regret is Copeland regret, summed over rounds and averaged over preferences and
    outcomes. No policy has less, whatever it knows of the horizon and of the prior.

    Parameters
    ----------
    horizon : int
        Rounds T, from 1 to 100. The time grows as T^6: two seconds for 40, twenty for
        60 (and 0.3 GB of memory).
    prior : float
        Both parameters of the Beta distributions, positive.

    Returns
    -------
    float
        Regret in units of one round with the largest possible regret.

    Raises
    ------
    ArgumentError
        If the horizon or the prior is out of range.

    Notes
    -----
    A duel of an arm with itself teaches nothing and costs the same whenever it is
    played, but later more is known. So an optimal policy explores first: in each state
    it compares two arms, or names one and plays it to the end. Backwards over the
    states, with n rounds left and V = 0 for n = 0,

        V(s) = min(n min_i r_i(s), min_ij (r_i(s) + r_j(s)) / 2 + E V(s'))

    where r_i is the expected regret of arm i, and s' follows s by one outcome of the
    pair. There are C(T + 6, 6) states.

    Examples
    --------
    >>> round(bayes_optimal_regret(1), 10)  # Nothing is known: any duel will do.
    0.375
    >>> round(bayes_optimal_regret(10), 3)
    2.031
    """
    rounds = integer_from(horizon, 1, "horizon", LONGEST_HORIZON)
    strength = number_above(prior, 0.0, "prior")
    beliefs = [pair_beliefs(duels, strength) for duels in range(rounds + 1)]
    after: Layer = {}
    for played in range(rounds, -1, -1):
        left = rounds - played
        after = {
            duels: _values([beliefs[each] for each in duels], duels, left, after)
            for duels in _allocations(played)
        }
    return after[0, 0, 0].item()


def _allocations(duels: int) -> list[tuple[int, int, int]]:
    """Return all ways to share so many duels among the pairs."""
    return [
        (first, second, duels - first - second)
        for first in range(duels + 1)
        for second in range(duels - first + 1)
    ]


def _values(
    pairs: list[PairBeliefs], duels: tuple[int, int, int], left: int, after: Layer
) -> NDArray[np.float64]:
    """Return V of all states with these numbers of duels."""
    if left == 0:
        return np.zeros([each + 1 for each in duels])
    axes = [_along(place, [pair.ahead, pair.mean]) for place, pair in enumerate(pairs)]
    regret = arm_regret(*(ahead for ahead, _ in axes))
    best = left * reduce(np.minimum, regret)
    for place, (first, second) in enumerate(PAIRS):
        _, won = axes[place]
        later = after[duels[:place] + (duels[place] + 1,) + duels[place + 1 :]]
        lost_last, won_last = _without_ends(later, place)
        duel = (regret[first] + regret[second]) / 2
        best = np.minimum(best, duel + won * won_last + (1 - won) * lost_last)
    return best


def _along(place: int, rows: list[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
    """Return rows as arrays along one of the three axes."""
    shape = [1] * NUM_ARMS
    shape[place] = -1
    return [row.reshape(shape) for row in rows]


def _without_ends(
    values: NDArray[np.float64], axis: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the values after a loss and after a win of the pair of an axis."""
    every = [slice(None)] * NUM_ARMS
    lost, won = list(every), list(every)
    lost[axis], won[axis] = slice(None, -1), slice(1, None)
    return values[tuple(lost)], values[tuple(won)]

"""The exact Bayes regret on three arms: of a policy, and the least of all.

A pair that was won w times and lost l times has a preference p with the distribution
Beta(prior + w, prior + l). Copeland regret only asks on which side of 1/2 each of the
three preferences lies, and there the pairs are independent.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory.arguments import integer_from, number_above
from theory.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from jaxtyping import Float64


NUM_ARMS = 3
# The pairs of different arms, as counts of this package list them
PAIRS = ((0, 1), (0, 2), (1, 2))


class PairBeliefs(NamedTuple):
    """Beliefs about a pair after n duels, by the number that its first arm won."""

    # Posterior probability that the preference is above 1/2.
    ahead: Float64[np.ndarray, " outcome"]
    # Posterior mean of the preference: the probability to win the next duel.
    mean: Float64[np.ndarray, " outcome"]


def pair_beliefs(duels: int, prior: float) -> PairBeliefs:
    """Return the beliefs about a pair, for every outcome of so many duels."""
    from scipy import special  # As much as all of theory to import.

    won = prior + np.arange(duels + 1.0)
    lost = won[::-1]
    # P(Beta(a, b) > 1/2) = P(Beta(b, a) < 1/2): accurate where it is small.
    return PairBeliefs(special.betainc(lost, won, 0.5), won / (won + lost))


def arm_regret(
    first: Float64[np.ndarray, "*first"],
    second: Float64[np.ndarray, "*second"],
    third: Float64[np.ndarray, "*third"],
) -> tuple[Float64[np.ndarray, "*shape"], ...]:
    """Return the expected Copeland regret of a self-duel of each of three arms."""
    # Given are P(0 beats 1), P(0 beats 2), P(1 beats 2). It is E(losses of the arm -
    # fewest losses) / 2, the fewest being 1 in a circle, else 0.
    circle = first * third * (1 - second) + (1 - first) * (1 - third) * second
    return (
        ((1 - first) + (1 - second) - circle) / 2,
        (first + (1 - third) - circle) / 2,
        (second + third - circle) / 2,
    )


type Choices = Callable[[Any, int], Any]
"""A function of win counts and the next round: P(first arm, second arm)."""

LONGEST_HORIZON = 60  # The last layer of counts has then 8.3 million states
_SLACK = 1e-9  # Probabilities of a choice add to 1 as exactly as this


# C(rest + more, more), [more][rest]
_BINOMIALS = [
    np.array([math.comb(rest + more, more) for rest in range(LONGEST_HORIZON + 1)])
    for more in range(2 * len(PAIRS))
]


class _Layer(NamedTuple):
    """The states after so many duels of different arms, and how probable each is."""

    counts: NDArray[np.int64]  # (S, 6): won and lost by the first arm of each pair.
    mass: NDArray[np.float64]  # (S,)


def bayes_regret(
    choices: Choices, horizon: int, *, prior: float = 1.0
) -> Float64[np.ndarray, " horizon"]:
    """Compute the Bayes regret of a rule on three arms exactly, round by round.

    The three preferences are independent with the distribution Beta(prior, prior); the
    rule knows how often each arm has beaten each other one, and the round.

    Parameters
    ----------
    choices : callable
        ``choices(wins, round_)`` with an int64 array (S, 3, 3), row beat column so
        often, and the number of the next round, from 1. Returns a float64 array
        (S, 3, 3): the probability of each first and second arm. Self-duels are on the
        diagonal, and change no count. Such as
        :class:`theory.bayes.thompson.DoubleThompsonChoices`.
    horizon : int
        Rounds T, from 1 to 60. The time grows as T^7 for a rule that mixes self-duels
        with others.
    prior : float
        Both parameters of the Beta distributions, positive.

    Returns
    -------
    float64 (T,)
        Copeland regret up to and including every round.

    Raises
    ------
    ArgumentError
        If an argument is out of range, or what the rule returns are no probabilities.

    Notes
    -----
    States are counts of the three pairs. From round to round each hands its probability
    on: to itself, as far as the rule plays self-duels, and to its six successors, by
    the posterior means of the pairs.

    Examples
    --------
    >>> import numpy as np
    >>> def round_robin(wins, round_):
    ...     chosen = np.zeros(wins.shape)
    ...     chosen[:, *[(0, 1), (0, 2), (1, 2)][round_ % 3]] = 1.0
    ...     return chosen
    >>> bayes_regret(round_robin, 3).round(10).tolist()
    [0.375, 0.75, 1.125]
    """
    if not callable(choices):
        remedy = "such as theory.bayes.DoubleThompsonChoices(horizon)"
        raise ArgumentTypeError("choices", "must be a function", choices, remedy=remedy)
    rounds = integer_from(horizon, 1, "horizon", LONGEST_HORIZON)
    strength = number_above(prior, 0.0, "prior")
    tables = _tables(rounds, strength)
    layers = [_Layer(_compositions(0), np.ones(1))]
    regret = np.zeros(rounds)
    for index in range(rounds):
        counts = _compositions(index + 1)
        layers.append(_Layer(counts, np.zeros(len(counts))))
        # From the last layer on: what a state hands on is not handed on again.
        for played in range(index, -1, -1):
            regret[index] += _hand_on(layers, played, choices, index + 1, tables)
    return np.cumsum(regret)


def _hand_on(
    layers: list[_Layer],
    played: int,
    choices: Choices,
    round_: int,
    tables: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> float:
    """Play a round in the states of a layer; return its regret."""
    reached = np.flatnonzero(layers[played].mass)
    if not reached.size:
        return 0.0
    counts, mass = layers[played].counts[reached], layers[played].mass[reached]
    chosen = _checked(choices(_as_wins(counts), round_), len(counts), round_)
    ahead, mean = ([table[_pair(counts, at)] for at in range(3)] for table in tables)
    regret = arm_regret(*ahead)
    cost = np.zeros(len(counts))
    stays = np.zeros(len(counts))
    for arm in range(NUM_ARMS):
        cost += regret[arm] * (chosen[:, arm].sum(1) + chosen[:, :, arm].sum(1)) / 2
        stays += chosen[:, arm, arm]
    layers[played].mass[reached] = mass * stays
    after = layers[played + 1].mass
    for at, (first, second) in enumerate(PAIRS):
        moved = mass * (chosen[:, first, second] + chosen[:, second, first])
        for lost, share in ((0, mean[at]), (1, 1 - mean[at])):
            follows = counts.copy()
            follows[:, 2 * at + lost] += 1
            # No two states have the same successor by the same outcome.
            after[_rank(follows)] += moved * share
    return float(mass @ cost)


def _tables(
    rounds: int, prior: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return P(preference > 1/2) and its mean, [won, lost]."""
    size = rounds + 1
    ahead, mean = np.zeros((size, size)), np.zeros((size, size))
    for duels in range(size):
        won = np.arange(duels + 1)
        beliefs = pair_beliefs(duels, prior)
        ahead[won, duels - won], mean[won, duels - won] = beliefs.ahead, beliefs.mean
    return ahead, mean


def _pair(counts: NDArray[np.int64], at: int) -> tuple[NDArray[np.int64], ...]:
    return counts[:, 2 * at], counts[:, 2 * at + 1]


def _as_wins(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    # States side by side in memory: sums over arms are then fast.
    table = np.zeros((NUM_ARMS, NUM_ARMS, len(counts)), dtype=np.int64)
    wins = np.moveaxis(table, -1, 0)
    for at, (first, second) in enumerate(PAIRS):
        wins[:, first, second], wins[:, second, first] = _pair(counts, at)
    return wins


def _checked(chosen: object, states: int, round_: int) -> NDArray[np.float64]:
    """Return what a rule said, if these are probabilities."""
    choice = np.asarray(chosen, dtype=np.float64)
    shape = (states, NUM_ARMS, NUM_ARMS)
    if choice.shape != shape:
        rule = f"must return an array of shape {shape} in round {round_}"
        raise ArgumentError("choices", rule, choice.shape, remedy="one row a state")
    sums = choice.sum(axis=(1, 2))
    bad = ~((choice >= 0).all(axis=(1, 2)) & (np.abs(sums - 1) <= _SLACK))
    if bad.any():
        state = int(np.flatnonzero(bad)[0])
        rule = f"must return probabilities that add to 1 in round {round_}"
        given = choice[state].tolist()
        remedy = f"see row {state}, whose sum is {sums[state]:.12g}"
        raise ArgumentError("choices", rule, given, remedy=remedy)
    return choice


def _compositions(duels: int) -> NDArray[np.int64]:
    """Return all counts of three pairs with so many duels, (S, 6), by their rank."""
    # Bars among stars; the positions of the bars in lexicographic order.
    places = np.zeros((1, 0), dtype=np.int64)
    left = np.full(1, duels, dtype=np.int64)
    for _ in range(2 * len(PAIRS) - 1):
        repeats = left + 1
        row = np.repeat(np.arange(len(left)), repeats)
        begins = np.cumsum(repeats) - repeats
        count = np.arange(len(row)) - begins[row]
        places = np.column_stack([places[row], count])
        left = left[row] - count
    return np.column_stack([places, left])


def _rank(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where counts stand in :func:`_compositions`."""
    parts = counts.shape[1]
    left = counts.sum(axis=1)
    rank = np.zeros(len(counts), dtype=np.int64)
    for index in range(parts - 1):
        # So many compositions agree up to here, and have a smaller count here.
        after = parts - 1 - index
        rest = left - counts[:, index]
        rank += _BINOMIALS[after][left] - _BINOMIALS[after][rest]
        left = rest
    return rank


# By the numbers of duels of the pairs, an array with an axis a pair: duels won
type Layer = dict[tuple[int, ...], NDArray[np.float64]]

# C(106, 6) = 1.7e9 states; a layer of them has 97 million
LONGEST_OPTIMAL_HORIZON = 100


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
    rounds = integer_from(horizon, 1, "horizon", LONGEST_OPTIMAL_HORIZON)
    strength = number_above(prior, 0.0, "prior")
    beliefs = [pair_beliefs(duels, strength) for duels in range(rounds + 1)]
    after: Layer = {}
    for played in range(rounds, -1, -1):
        left = rounds - played
        after = {
            duels: _least_regret(
                [beliefs[number] for number in duels], duels, left, after
            )
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


def _least_regret(
    pairs: list[PairBeliefs], duels: tuple[int, int, int], left: int, after: Layer
) -> NDArray[np.float64]:
    """Return V of all states with these numbers of duels."""
    if left == 0:
        return np.zeros([number + 1 for number in duels])
    axes = [
        _along_pair(axis, [pair.ahead, pair.mean]) for axis, pair in enumerate(pairs)
    ]
    regret = arm_regret(*(ahead for ahead, _ in axes))
    best = left * reduce(np.minimum, regret)
    for axis, (first, second) in enumerate(PAIRS):
        _, won = axes[axis]
        later = after[duels[:axis] + (duels[axis] + 1,) + duels[axis + 1 :]]
        lost_last, won_last = _without_ends(later, axis)
        duel = (regret[first] + regret[second]) / 2
        best = np.minimum(best, duel + won * won_last + (1 - won) * lost_last)
    return best


def _along_pair(
    axis: int, rows: list[NDArray[np.float64]]
) -> list[NDArray[np.float64]]:
    """Return rows as arrays along one of the three axes."""
    shape = [1] * NUM_ARMS
    shape[axis] = -1
    return [row.reshape(shape) for row in rows]


def _without_ends(
    values: NDArray[np.float64], axis: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the values after a loss and after a win of the pair of an axis."""
    every = [slice(None)] * NUM_ARMS
    lost, won = list(every), list(every)
    lost[axis], won[axis] = slice(None, -1), slice(1, None)
    return values[tuple(lost)], values[tuple(won)]

"""How probable it is, after the duels, that the leader is no Copeland winner."""

import math

import numpy as np
from jaxtyping import Float64, Int64

_BLOCK = 64
"""Rivals at a time: their tails stay near the processor."""


def log_probability_wrong(
    wins: Float64[np.ndarray, "K K"], prior: float
) -> tuple[int, float]:
    """Return the leader, and the log of a bound on its probability to be beaten.

    With Q_ij = P(theta_ij > 1/2) of theta_ij ~ Beta(wins_ij + prior, wins_ji + prior)
    the leader has the largest sum of Q; the lowest number of several. An arm i has more
    wins than the leader w exactly where

        2 [i beats w] + sum over j of ([i beats j] + [j beats w]) >= K,

    the signs being independent: a convolution, of positive terms only. These
    probabilities are added up over the rivals.

    Examples
    --------
    >>> leader, wrong = log_probability_wrong(np.array([[0.0, 9.0], [1.0, 0.0]]), 1.0)
    >>> leader, round(math.exp(wrong), 4)
    (0, 0.0059)
    """
    from scipy.special import betainc

    num_arms = len(wins)
    probability = betainc(wins.T + prior, wins + prior, 0.5)
    np.fill_diagonal(probability, 0.0)
    leader = int(probability.sum(axis=1).argmax())
    rivals = np.delete(np.arange(num_arms), leader)
    total = 0.0
    for place in range(0, len(rivals), _BLOCK):
        total += float(
            _beaten(probability, leader, rivals[place : place + _BLOCK]).sum()
        )
    return leader, math.log(total) if total > 0.0 else -math.inf


def _beaten(
    probability: Float64[np.ndarray, "K K"],
    leader: int,
    rivals: Int64[np.ndarray, " rival"],
) -> Float64[np.ndarray, " rival"]:
    """Return the probability of each of some rivals to have more wins."""
    num_arms = len(probability)
    # [r, rival]: probability that the pairs so far supply at least r.
    tail = np.zeros((num_arms + 1, len(rivals)))
    tail[0] = 1.0
    most = 0
    for other in range(num_arms):
        if other == leader:
            continue
        own = probability[rivals, other]
        lost = np.where(rivals == other, 0.0, probability[other, leader])
        for yes in (own, lost):
            most = min(most + 1, num_arms)
            change = tail[:most] - tail[1 : most + 1]
            change *= yes
            tail[1 : most + 1] += change
    direct = probability[rivals, leader]
    return direct * tail[num_arms - 2] + (1 - direct) * tail[num_arms]

"""How probable it is, after the duels, that the leader is no Copeland winner."""

import math

import numpy as np
from jaxtyping import Float64


def log_chance_wrong(
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
    >>> leader, wrong = log_chance_wrong(np.array([[0.0, 9.0], [1.0, 0.0]]), 1.0)
    >>> leader, round(math.exp(wrong), 4)
    (0, 0.0059)
    """
    from scipy.special import betainc

    num_arms = len(wins)
    chance = betainc(wins.T + prior, wins + prior, 0.5)
    np.fill_diagonal(chance, 0.0)
    leader = int(chance.sum(axis=1).argmax())
    rivals = np.delete(np.arange(num_arms), leader)
    # [rival, r]: probability that the pairs so far supply at least r.
    tail = np.zeros((len(rivals), num_arms + 1))
    tail[:, 0] = 1.0
    for other in rivals.tolist():
        own = chance[rivals, other]
        lost = np.where(rivals == other, 0.0, chance[other, leader])
        for yes in (own, lost):
            tail[:, 1:] = yes[:, None] * tail[:, :-1] + (1 - yes[:, None]) * tail[:, 1:]
    direct = chance[rivals, leader]
    beaten = direct * tail[:, num_arms - 2] + (1 - direct) * tail[:, num_arms]
    total = float(beaten.sum())
    return leader, math.log(total) if total > 0.0 else -math.inf

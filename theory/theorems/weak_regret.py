"""Bounds on Winner Stays, whose weak regret is finite at every horizon.

Chen and Frazier (2017). p is the least probability with which the better arm of a pair
wins, K the number of arms. Natural logarithms.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from theory.arguments import number_that
from theory.copeland_program.program_data import matrix_without_ties
from theory.errors import InvalidPreferenceError
from theory.preferences import PreferenceMatrix
from theory.regret_bound import RegretBound
from theory.theorems.catalog import (
    CONDORCET,
    NO_TIES,
    condorcet_winner,
    smallest_gap,
    theorem,
)

TOTAL_ORDER = "each arm beats all arms below it in one order"

_SOURCE = "Chen and Frazier (2017)"


@theorem("WS-W", policy="WS-W")
def winner_stays_bound(matrix: PreferenceMatrix | ArrayLike) -> RegretBound:
    """Bound the weak regret of WS-W: K / (2p - 1)^2 + p K^2 / (2p - 1)^3.

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K), no ties, with a Condorcet winner

    Returns
    -------
    RegretBound
        Regret "weak_binary", the rounds without the Condorcet winner. The bound is a
        constant: it holds at every horizon.

    References
    ----------
    B. Chen, P. I. Frazier, "Dueling Bandits with Weak Regret", ICML 2017.

    Examples
    --------
    >>> import numpy as np
    >>> better = np.triu(np.full((5, 5), 0.8), 1)
    >>> matrix = better + np.tril(1 - better.T, -1) + np.eye(5) / 2
    >>> round(winner_stays_bound(matrix).constant, 1)
    106.5
    """
    checked = matrix_without_ties(matrix)
    condorcet_winner(checked)
    number, lead = checked.num_arms, 2 * smallest_gap(checked)
    least = (1 + lead) / 2
    return RegretBound(
        name="WS-W",
        log_coefficient=0.0,
        constant=number / lead**2 + least * number**2 / lead**3,
        kind="upper",
        regret="weak_binary",
        assumptions=(CONDORCET, NO_TIES),
        policy="WS-W",
        source=_SOURCE,
    )


@theorem("WS-W, total order", policy="WS-W")
def winner_stays_order_bound(matrix: PreferenceMatrix | ArrayLike) -> RegretBound:
    """Bound the weak regret of WS-W where the arms have a total order.

    2 p^3 K (log K + 1) / (2p - 1)^6 + K / (2p - 1)^2: of order K log K, while that of
    `winner_stays_bound` grows with K^2. For few arms, or small gaps, it is the larger
    one of the two.

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K), no ties
        In some order of the arms each beats all after it.

    Returns
    -------
    RegretBound
        Regret "weak_binary"; a constant.

    Raises
    ------
    InvalidPreferenceError
        If there is no such order.

    References
    ----------
    B. Chen, P. I. Frazier, "Dueling Bandits with Weak Regret", ICML 2017.

    Examples
    --------
    >>> import numpy as np
    >>> better = np.triu(np.full((5, 5), 0.8), 1)
    >>> matrix = better + np.tril(1 - better.T, -1) + np.eye(5) / 2
    >>> round(winner_stays_order_bound(matrix).constant, 1)
    300.2
    """
    checked = _ordered(matrix)
    search, lead = _search_and_lead(checked)
    return RegretBound(
        name="WS-W, total order",
        log_coefficient=0.0,
        constant=search + checked.num_arms / lead**2,
        kind="upper",
        regret="weak_binary",
        assumptions=(TOTAL_ORDER, NO_TIES),
        policy="WS-W",
        source=_SOURCE,
    )


@theorem("WS-S, total order", policy="WS-S")
def strong_winner_stays_bound(
    matrix: PreferenceMatrix | ArrayLike, *, beta: float = 1.05
) -> RegretBound:
    """Bound the strong regret of WS-S where the arms have a total order.

    2 p^3 K (log K + 1) / (2p - 1)^6 + K log_beta(T (beta - 1)) / (2p - 1).

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K), no ties
        In some order of the arms each beats all after it.
    beta : float
        That of the policy: above 1, at most p / (1 - p).

    Returns
    -------
    RegretBound
        Regret "strong_binary", the rounds in which not both arms are the best one.

    Raises
    ------
    InvalidPreferenceError
        If there is no such order.
    ValueError
        If beta is above p / (1 - p), where the theorem does not hold.

    References
    ----------
    B. Chen, P. I. Frazier, "Dueling Bandits with Weak Regret", ICML 2017.

    Examples
    --------
    >>> import numpy as np
    >>> better = np.triu(np.full((5, 5), 0.8), 1)
    >>> matrix = better + np.tril(1 - better.T, -1) + np.eye(5) / 2
    >>> bound = strong_winner_stays_bound(matrix)
    >>> bound.minimum_horizon, bound([1000, 10**6]).round(1).tolist()
    (20, [954.5, 2134.4])
    """
    checked = _ordered(matrix)
    search, lead = _search_and_lead(checked)
    most = (1 + lead) / (1 - lead) if lead < 1 else math.inf
    number_that(
        beta, "beta", f"above 1 and at most {most:.4g}", lambda value: 1 < value <= most
    )
    slope = checked.num_arms / (lead * math.log(beta))
    return RegretBound(
        name="WS-S, total order",
        log_coefficient=slope,
        constant=search + slope * math.log(beta - 1),
        kind="upper",
        regret="strong_binary",
        assumptions=(TOTAL_ORDER, NO_TIES),
        minimum_horizon=max(2, math.ceil(1 / (beta - 1))),
        policy="WS-S",
        source=_SOURCE,
        condition=f"beta={beta:g}",
    )


def _ordered(matrix: PreferenceMatrix | ArrayLike) -> PreferenceMatrix:
    """Return a matrix whose arms lose to 0, 1, ..., K - 1 others."""
    checked = matrix_without_ties(matrix)
    losses = np.sort(checked.losses)
    if wrong := np.flatnonzero(losses != np.arange(checked.num_arms)).tolist():
        raise InvalidPreferenceError(
            "matrix",
            "must have arms in one order, each of which beats all after it: the arm in "
            f"place {wrong[0]} by losses must lose to as many others",
            int(losses[wrong[0]]),
            remedy="winner_stays_bound needs a Condorcet winner only",
        )
    return checked


def _search_and_lead(matrix: PreferenceMatrix) -> tuple[float, float]:
    """Return the bound on the search for the best arm, and 2p - 1."""
    number, lead = matrix.num_arms, 2 * smallest_gap(matrix)
    least = (1 + lead) / 2
    return 2 * least**3 * number * (math.log(number) + 1) / lead**6, lead

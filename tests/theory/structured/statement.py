"""The lower bound under a model as it reads, in CVXPY, for a few arms.

    minimize    sum over pairs of price_ij w_ij,   w >= 0,
    subject to  sum of w_ij KL(P_ij, P'_ij) >= 1   for every P' in the class in which
                                                   another arm is level with the best.

There are infinitely many P'. The program of those found so far is solved, the nearest
P' for its allocation is found and added, until all of them cost 1. Nothing here is
fast: it is what a reader opens first, and what the tests compare with.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from theory.divergences import bernoulli_kl
from theory.errors import ProgramError

if TYPE_CHECKING:
    import cvxpy
    from jaxtyping import Float64

_MAXIMAL_ROUNDS = 300


def nearest_with_utilities(
    preferences: Float64[np.ndarray, "K K"],
    weights: Float64[np.ndarray, "K K"],
    features: Float64[np.ndarray, "K d"],
    winner: int,
    rival: int,
) -> Float64[np.ndarray, "K K"]:
    """Find the Bradley-Terry matrix P' nearest to P with two arms level.

    Nearest by the sum over pairs of weights_ij KL(P_ij, P'_ij), where P'(i beats j) = 1
    / (1 + exp(theta_j - theta_i)) and theta = features @ beta.
    """
    import cvxpy

    beta = cvxpy.Variable(features.shape[1])
    theta = features @ beta
    # KL(p, F(x)) = log(1 + exp(x)) - p x and what does not depend on x.
    divergence = sum(
        weights[i, j]
        * (
            cvxpy.logistic(theta[i] - theta[j])
            - preferences[i, j] * (theta[i] - theta[j])
        )
        for i, j in itertools.combinations(range(len(weights)), 2)
    )
    level = [theta[rival] == theta[winner]]
    _solve(cvxpy.Problem(cvxpy.Minimize(divergence), level))
    found = features @ np.asarray(beta.value)
    found[rival] = found[winner]
    return 1.0 / (1.0 + np.exp(found[None, :] - found[:, None]))


def nearest_in_order(
    preferences: Float64[np.ndarray, "K K"],
    weights: Float64[np.ndarray, "K K"],
    order: tuple[int, ...],
) -> Float64[np.ndarray, "K K"]:
    """Find the matrix P' nearest to P that is strongly transitive along an order."""
    import cvxpy

    num_arms = len(weights)
    above = cvxpy.Variable((num_arms, num_arms))  # P'(i beats j), i before j.
    rules: list[Any] = []
    divergence: Any = 0.0
    for i, j in itertools.combinations(order, 2):
        p = preferences[i, j]
        rules += [above[i, j] >= 0.5, above[i, j] <= 1.0]
        divergence -= weights[i, j] * p * cvxpy.log(above[i, j])
        divergence -= weights[i, j] * (1 - p) * cvxpy.log(1 - above[i, j])
    for i, j, k in itertools.combinations(order, 3):
        rules += [above[i, k] >= above[i, j], above[i, k] >= above[j, k]]
    _solve(cvxpy.Problem(cvxpy.Minimize(divergence), rules))
    found = np.full((num_arms, num_arms), 0.5)
    for i, j in itertools.combinations(order, 2):
        found[i, j] = float(np.asarray(above.value)[i, j])
        found[j, i] = 1.0 - found[i, j]
    return found


def solve(
    preferences: Float64[np.ndarray, "K K"],
    prices: Float64[np.ndarray, "K K"],
    winner: int,
    *,
    features: Float64[np.ndarray, "K d"] | None = None,
    tolerance: float = 1e-5,
) -> tuple[float, Float64[np.ndarray, "K K"]]:
    """Solve the program by the alternatives that are found missing.

    Parameters
    ----------
    preferences : float (K, K)
        In the class.
    prices : float (K, K)
        Positive off the diagonal.
    winner : int
        The best arm.
    features : float (K, d), optional
        The class: Bradley-Terry with these features (the identity for free utilities),
        or strong stochastic transitivity where there are none.
    tolerance : float
        An alternative may cost less than 1 by this.

    Returns
    -------
    float, float64 (K, K)
        The value, too small by the tolerance at most, and an allocation.
    """
    import cvxpy

    num_arms = len(prices)
    rows, columns = np.triu_indices(num_arms, 1)
    w = cvxpy.Variable(rows.size, nonneg=True)
    cost = prices[rows, columns] @ w
    found: list[NDArray[np.float64]] = []
    weights = np.ones((num_arms, num_arms))
    for _ in range(_MAXIMAL_ROUNDS):
        if features is None:
            orders = itertools.permutations(range(num_arms))
            nearest = [
                nearest_in_order(preferences, weights, order)
                for order in orders
                if order[0] != winner
            ]
        else:
            nearest = [
                nearest_with_utilities(preferences, weights, features, winner, arm)
                for arm in range(num_arms)
                if arm != winner
            ]
        new = [np.asarray(bernoulli_kl(preferences, q))[rows, columns] for q in nearest]
        at = weights[rows, columns]
        if found and min(each @ at for each in new) >= 1 - tolerance:
            return float(prices[rows, columns] @ at), weights
        found += new
        _solve(cvxpy.Problem(cvxpy.Minimize(cost), [np.array(found) @ w >= 1]))
        weights = np.zeros((num_arms, num_arms))
        weights[rows, columns] = weights[columns, rows] = np.maximum(
            np.asarray(w.value), 0.0
        )
    raise ProgramError(f"the program was not solved in {_MAXIMAL_ROUNDS} rounds.")


def _solve(problem: cvxpy.Problem) -> None:
    import cvxpy

    problem.solve(solver=cvxpy.CLARABEL)
    if problem.status not in (cvxpy.OPTIMAL, cvxpy.OPTIMAL_INACCURATE):
        raise ProgramError(f"the program was not solved: CVXPY says {problem.status}.")

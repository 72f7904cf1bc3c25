"""Logistic regression on the duels so far, fitted again after every duel."""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.random import Generator

from bayesduel.errors import PolicyParameterError
from bayesduel.ops.rules import inverted
from bayesduel.policies.policy import Problem

MOST_ROWS = 10_000  # Duels that are kept; older ones are summed up, see :func:`sum_up`
_MOST_PLACES = 1000  # Arms at most for which duels of the same pair share a row

# Half of the last squared Newton decrement, in units of the log likelihood
_EXACT = 1e-10


class LogisticFit(NamedTuple):
    r"""Ridge-regularized maximum likelihood of theta, and the duels it is fitted to.

    Minimizes, over theta, with s(u) = log(1 + exp(u)),

    .. math::

        \sum_r \left( n_r s(\theta^\top z_r) - w_r \theta^\top z_r \right)
        + \tfrac12 \theta^\top Q \theta - b^\top \theta .
    """

    rows: Float[np.ndarray, "n d"]  # z: features of the first arm minus the second.
    wins: Float[np.ndarray, " n"]  # w: weights of the duels that the first arm won.
    duels: Float[np.ndarray, " n"]  # n: weights of all duels.
    used: Int[np.ndarray, " 1"]  # Rows in use.
    # The row of each pair, plus one; 0 without any. Empty where features change.
    places: Int[np.ndarray, "K K"]
    quadratic: Float[np.ndarray, "d d"]  # Q: the ridge, and duels that are summed up.
    linear: Float[np.ndarray, " d"]  # b
    theta: Float[np.ndarray, " d"]
    curvature: Float[np.ndarray, "d d"]  # Second derivatives at theta.
    inverse: Float[np.ndarray, "d d"]  # The inverse of these.


def number_of_features(problem: Problem, name: str) -> int:
    """Return d; raise ``PolicyParameterError`` where it is not known."""
    if problem.num_features == 0:
        raise PolicyParameterError(
            "policy",
            f"{name} must know the number of features before the first round, and the "
            "world does not say it",
            name,
            remedy="give the world an attribute num_features",
        )
    return problem.num_features


def log_width(size: int, problem: Problem) -> float:
    """Return sqrt(d log T), the unit of confidence widths; the logarithm is natural."""
    return math.sqrt(size * math.log(problem.horizon))


def new_fit(problem: Problem, size: int, ridge: float) -> LogisticFit:
    """Return the fit to no duels: theta is 0."""
    num_arms, num_rows = problem.num_arms, min(problem.horizon, MOST_ROWS)
    fixed = problem.features is not None and num_arms <= _MOST_PLACES
    if fixed:
        num_rows = min(num_rows, num_arms * (num_arms - 1) // 2)
    return LogisticFit(
        rows=np.zeros((num_rows, size)),
        wins=np.zeros(num_rows),
        duels=np.zeros(num_rows),
        used=np.zeros(1, dtype=np.int64),
        places=np.zeros((num_arms, num_arms) if fixed else (0, 0), dtype=np.int64),
        quadratic=ridge * np.eye(size),
        linear=np.zeros(size),
        theta=np.zeros(size),
        curvature=ridge * np.eye(size),
        inverse=np.eye(size) / ridge,
    )


def add_duel(
    fit: LogisticFit,
    first: int,
    second: int,
    won: bool,
    weight: float,
    features: Float[np.ndarray, "K d"],
) -> None:
    """Add a duel; theta is fitted by :func:`refit` afterwards."""
    row, sign = -1, 1.0
    if fit.places.size > 0:
        row = fit.places[first, second] - 1
        if row < 0:
            row = fit.places[second, first] - 1
            sign = 1.0 if row < 0 else -1.0
    if row < 0:
        if fit.used[0] == len(fit.rows):
            sum_up(fit)
        row = fit.used[0]
        fit.used[0] += 1
        fit.wins[row], fit.duels[row] = 0.0, 0.0
        for k in range(len(fit.theta)):
            fit.rows[row, k] = features[first, k] - features[second, k]
        if fit.places.size > 0:
            fit.places[first, second] = row + 1
    fit.duels[row] += weight
    won_by_first = won == (sign > 0)
    if won_by_first:
        fit.wins[row] += weight
    anticipate(fit, row, won_by_first, weight)


def anticipate(fit: LogisticFit, row: int, won: bool, weight: float) -> None:
    """Move theta by the Newton step of one more duel (Sherman-Morrison)."""
    size = len(fit.theta)
    u, product, norm = 0.0, np.zeros(size), 0.0
    for i in range(size):
        u += fit.rows[row, i] * fit.theta[i]
        for k in range(size):
            product[i] += fit.inverse[i, k] * fit.rows[row, k]
        norm += product[i] * fit.rows[row, i]
    share = logistic(u)
    slope = weight * ((1.0 if won else 0.0) - share)
    scale = slope / (1.0 + weight * share * (1.0 - share) * norm)
    for i in range(size):
        fit.theta[i] += scale * product[i]


def sum_up(fit: LogisticFit) -> None:
    """Replace the log likelihood of all rows by its expansion of order two at theta."""
    # The cost of a round grows no further. What is left out is of order (d / n)^(3/2):
    # with d = 3 and 10,000 of 20,000 duels summed up, < 1 % of a standard error.
    refit(fit)
    size = len(fit.theta)
    for i in range(size):
        # The gradient of all terms is 0 at theta, so that of the quadratic is, too.
        total = 0.0
        for k in range(size):
            fit.quadratic[i, k] = fit.curvature[i, k]
            total += fit.curvature[i, k] * fit.theta[k]
        fit.linear[i] = total
    fit.used[0] = 0
    fit.places[:] = 0


def refit(fit: LogisticFit) -> None:
    """Minimize the loss from the last theta, by Newton's method with halved steps."""
    size = len(fit.theta)
    gradient, theta = np.zeros(size), np.zeros(size)
    loss = derivatives(fit, fit.theta, gradient, fit.curvature)
    for _ in range(100):
        fit.inverse[:] = inverted(fit.curvature)
        decrement = 0.0
        step = np.zeros(size)
        for i in range(size):
            for k in range(size):
                step[i] += fit.inverse[i, k] * gradient[k]
            decrement += step[i] * gradient[i]
        theta[:] = fit.theta
        if decrement <= _EXACT:
            for i in range(size):
                fit.theta[i] = theta[i] - step[i]
            return
        scale = 1.0
        while True:
            for i in range(size):
                fit.theta[i] = theta[i] - scale * step[i]
            new = derivatives(fit, fit.theta, gradient, fit.curvature)
            if new <= loss - 1e-4 * scale * decrement or scale < 1e-6:
                break
            scale /= 2
        loss = new


def derivatives(
    fit: LogisticFit,
    theta: Float[np.ndarray, " d"],
    gradient: Float[np.ndarray, " d"],
    curvature: Float[np.ndarray, "d d"],
) -> float:
    """Fill in the derivatives of the loss at theta, and return the loss."""
    size = len(theta)
    loss = 0.0
    for i in range(size):
        total = 0.0
        for k in range(size):
            total += fit.quadratic[i, k] * theta[k]
            curvature[i, k] = fit.quadratic[i, k]
        gradient[i] = total - fit.linear[i]
        loss += theta[i] * (0.5 * total - fit.linear[i])
    for row in range(fit.used[0]):
        u = 0.0
        for k in range(size):
            u += fit.rows[row, k] * theta[k]
        loss += fit.duels[row] * log_one_plus_exp(u) - fit.wins[row] * u
        share = logistic(u)
        slope = fit.duels[row] * share - fit.wins[row]
        weight = fit.duels[row] * share * logistic(-u)
        for i in range(size):
            gradient[i] += slope * fit.rows[row, i]
            scaled = weight * fit.rows[row, i]
            for k in range(i + 1):
                curvature[i, k] += scaled * fit.rows[row, k]
    for i in range(size):
        for k in range(i):
            curvature[k, i] = curvature[i, k]
    return loss


def logistic(u: float) -> float:
    """Return 1 / (1 + exp(-u)), without overflow."""
    small = math.exp(-abs(u))
    return 1.0 / (1.0 + small) if u >= 0 else small / (1.0 + small)


def log_one_plus_exp(u: float) -> float:
    """Return log(1 + exp(u)), without overflow."""
    return max(u, 0.0) + math.log1p(math.exp(-abs(u)))


def add_to_inverse(
    inverse: Float[np.ndarray, "d d"],
    first: int,
    second: int,
    weight: float,
    features: Float[np.ndarray, "K d"],
) -> None:
    """Change V^-1 as V grows by w z z', by the formula of Sherman and Morrison."""
    size = len(inverse)
    gap, product = np.zeros(size), np.zeros(size)
    for k in range(size):
        gap[k] = features[first, k] - features[second, k]
    scale = 1.0 / weight
    for i in range(size):
        for k in range(size):
            product[i] += inverse[i, k] * gap[k]
        scale += product[i] * gap[i]
    for i in range(size):
        for k in range(size):
            inverse[i, k] -= product[i] * product[k] / scale


def utilities(
    features: Float[np.ndarray, "K d"], theta: Float[np.ndarray, " d"]
) -> Float[np.ndarray, " K"]:
    """Return x' theta of every arm."""
    values = np.zeros(len(features))
    for i in range(len(features)):
        for k in range(len(theta)):
            values[i] += features[i, k] * theta[k]
    return values


def products(
    features: Float[np.ndarray, "K d"], inverse: Float[np.ndarray, "d d"]
) -> Float[np.ndarray, "K K"]:
    """Return x_i' A^-1 x_j of all pairs of arms."""
    num_arms, size = features.shape
    half, values = np.zeros(size), np.zeros((num_arms, num_arms))
    for i in range(num_arms):
        for k in range(size):
            half[k] = 0.0
            for m in range(size):
                half[k] += inverse[k, m] * features[i, m]
        for j in range(i + 1):
            total = 0.0
            for k in range(size):
                total += half[k] * features[j, k]
            values[i, j] = values[j, i] = total
    return values


def gap_norm(values: Float[np.ndarray, "K K"], first: int, second: int) -> float:
    """Return the norm of x_i - x_j, of :func:`products`."""
    squared = values[first, first] + values[second, second] - 2 * values[first, second]
    return math.sqrt(max(squared, 0.0))


def proposal(
    fit: LogisticFit, root: Float[np.ndarray, "d d"], rng: Generator, scale: float
) -> tuple[Float[np.ndarray, " d"], float]:
    """Draw around the mode; return the draw, and its squared distance from the mode."""
    size = len(fit.theta)
    noise, drawn, distance = np.zeros(size), np.zeros(size), 0.0
    for i in range(size):
        noise[i] = math.sqrt(scale) * rng.normal()
        distance += noise[i] * noise[i]
        drawn[i] = fit.theta[i]
        for k in range(i + 1):
            drawn[i] += root[i, k] * noise[k]
    return drawn, distance


def lower_root(matrix: Float[np.ndarray, "d d"]) -> Float[np.ndarray, "d d"]:
    """Return the lower triangular matrix C with C C' = matrix, by Cholesky."""
    size = len(matrix)
    root = np.zeros((size, size))
    for i in range(size):
        for k in range(i + 1):
            total = matrix[i, k]
            for m in range(k):
                total -= root[i, m] * root[k, m]
            root[i, k] = math.sqrt(max(total, 0.0)) if i == k else total / root[k, k]
    return root

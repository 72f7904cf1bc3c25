"""What one more vote would teach, where the posterior of the utilities is normal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float64
from scipy.linalg import solve_triangular

from bayesduel.models.closed_forms.pairwise_coordinates import PairCoordinates

if TYPE_CHECKING:
    from bayesduel.inference.normal_distribution import NormalDistribution
    from bayesduel.models.closed_forms.pairwise_curvature import PairwiseDensity

_REACH = 6.0
"""Standard deviations; what is beyond them is 2e-9 of the distribution."""

_WIDEST_STEP = 0.5
_MOST_STEPS = 1000

_TIE_NODES = 6
"""Of Gauss and Hermite: the tie parameter is known well, and matters little."""


def information_of_normal_distribution(
    density: PairwiseDensity, distribution: NormalDistribution
) -> Float64[np.ndarray, "K K"]:
    """Return H(E[p]) - E[H(p)] of the next vote on each pair, in nats; diagonal 0.

    Under the normal distribution the difference d of two utilities is normal, so both
    expectations are integrals over a line, or with ties over a plane. The trapezoidal
    rule for d is spectrally accurate: a vote's probabilities are analytic within pi of
    the real line for Bradley-Terry, and in d / 2 everywhere for Thurstone.

    Parameters
    ----------
    density : PairwiseDensity
        Without an order effect: then it does not matter who is shown first.
    distribution : NormalDistribution
        The normal distribution in its coordinates.
    """
    coordinates = density.coordinates
    row, column = np.triu_indices(coordinates.num_arms, 1)
    factors = _spread(coordinates, distribution)
    apart = factors[:, row] - factors[:, column]
    deviation = np.sqrt(np.sum(np.square(apart), axis=0))
    utility = coordinates.utilities(np.asarray(distribution.mode))
    mean = utility[row] - utility[column]
    step = _step(float(deviation.max()))
    nodes = np.arange(-_REACH, _REACH + step / 2.0, step)[:, None]
    weights = np.exp(-0.5 * nodes[:, 0] ** 2)
    weights /= weights.sum()
    difference = mean + deviation * nodes
    model = density.model
    if not model.ties:
        logs = model.outcome_logs(difference, np.zeros_like(difference))
        gains = _gain([logs], [weights])
    else:
        place = coordinates.extras - 1
        tie = _columns(distribution, np.eye(coordinates.size)[place])
        known = tie @ apart / deviation
        rest = np.sqrt(np.maximum(tie @ tie - known**2, 0.0))
        shifts, shares = np.polynomial.hermite_e.hermegauss(_TIE_NODES)
        centre = distribution.mode[place] + known * nodes
        gains = _gain(
            [model.outcome_logs(difference, centre + rest * each) for each in shifts],
            [weights * share for share in shares / shares.sum()],
        )
    found = np.zeros((coordinates.num_arms, coordinates.num_arms))
    found[row, column] = found[column, row] = np.maximum(gains, 0.0)
    return found


def _spread(
    coordinates: PairCoordinates, distribution: NormalDistribution
) -> Float64[np.ndarray, "D K"]:
    """Return X with X^T X the covariance of the utilities."""
    return _columns(distribution, coordinates.utilities(np.eye(coordinates.size)))


def _columns(distribution: NormalDistribution, directions: np.ndarray) -> np.ndarray:
    """Return L^-1 b for directions b: their products are covariances."""
    return solve_triangular(np.asarray(distribution.factor), directions, lower=True)


def _step(deviation: float) -> float:
    """Return the step at which the rule's error is below 1e-7, for poles at pi i.

    Where utilities spread by more than 90 it is larger.
    """
    needed = 2.0 * math.pi**2 / (18.0 * max(deviation, 1e-9))
    return max(min(_WIDEST_STEP, needed), 2.0 * _REACH / _MOST_STEPS)


def _gain(
    logs: list[np.ndarray], weights: list[np.ndarray]
) -> Float64[np.ndarray, " pair"]:
    """Return the gain from log P(outcome, node, pair) and the weights of nodes."""
    mean, entropy = 0.0, 0.0
    for each, weight in zip(logs, weights, strict=True):
        probability = np.exp(each)
        mean = mean + weight @ probability
        # What cannot happen has the logarithm minus infinity.
        entropy = entropy - weight @ np.sum(
            probability * np.maximum(each, -1e3), axis=0
        )
    whole = -np.sum(mean * np.log(np.maximum(mean, 1e-300)), axis=0)
    return whole - entropy

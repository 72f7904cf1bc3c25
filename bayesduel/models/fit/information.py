"""Expected information of one more vote on each pair: integrals, or draws."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float64
from scipy.linalg import solve_triangular

from bayesduel.models.closed_forms import PairwiseDensity
from bayesduel.models.fit import winners
from bayesduel.models.fit.draws import in_blocks
from bayesduel.models.pairwise_beta import BetaPosterior
from bayesduel.models.vote_arrays import Votes

_BLOCK = 2**22  # Probabilities that are held at once.
_REACH = 6.0  # Standard deviations; what is beyond them is 2e-9 of the distribution.

_WIDEST_STEP = 0.5
_MOST_STEPS = 1000

_TIE_NODES = 6  # Gauss-Hermite nodes of the tie parameter, which is known well.


def information_of_votes(posterior: Any) -> Float64[np.ndarray, "K K"]:
    """Return ``Fit.expected_information`` as an array; diagonal 0."""
    num_arms, votes = posterior.num_arms, posterior.arrays
    row, column = np.triu_indices(num_arms, 1)
    values = np.zeros((num_arms, num_arms))
    exact = posterior.method == "exact"
    distribution = posterior.model.exact_posterior(votes) if exact else None
    density = normal_density(posterior)
    if isinstance(distribution, BetaPosterior):
        gains = distribution.expected_information()
        values[row, column] = values[column, row] = gains
    elif density is not None:
        gains = _of_normal_distribution(density, posterior.extras["laplace"])
        values[row, column] = values[column, row] = gains
    elif isinstance(votes, Votes):
        row, column = np.nonzero(~np.eye(num_arms, dtype=bool))
        rows = replace(
            votes,
            first=row.astype(np.int32),
            second=column.astype(np.int32),
            counts=np.zeros((len(row), votes.counts.shape[1])),
            columns={},
            sizes=(),
            contest=np.zeros((len(row), len(votes.contest_units))),
        )
        from bayesduel.models.fit.numpyro_models import log_probabilities_of

        blocks = in_blocks(posterior.flat_draws(), num_arms**2, _BLOCK)
        values[row, column] = winners.information(
            np.exp(log_probabilities_of(posterior.model, rows, block))
            for block in blocks
        )
    else:
        values = winners.information(
            np.stack([block, 1.0 - block], axis=-1) for block in posterior.matrices()
        )
        np.fill_diagonal(values, 0.0)
    return values


def normal_density(posterior: Any) -> PairwiseDensity | None:
    """Return the density that a normal distribution stands for, where it is known."""
    resampled = posterior.correction is not None and posterior.correction.resampled
    effects = "order_effect", "contest_covariates"
    apart = any(getattr(posterior.model, name, True) for name in effects)
    if posterior.method != "laplace" or resampled or not posterior.converged or apart:
        return None
    density = posterior.model.closed_form(posterior.arrays)
    return density if isinstance(density, PairwiseDensity) else None


def _of_normal_distribution(
    density: PairwiseDensity, distribution: Any
) -> Float64[np.ndarray, " pair"]:
    """Return H(E[p]) - E[H(p)] of the next vote on each pair i < j, in nats.

    Under the normal distribution the difference d of two utilities is normal, so both
    expectations are integrals over a line, or with ties over a plane. The trapezoidal
    rule for d is spectrally accurate: a vote's probabilities are analytic within pi of
    the real line for Bradley-Terry, and in d / 2 everywhere for Thurstone. The density
    has no order effect: then it does not matter who is shown first.
    """
    coordinates, model = density.coordinates, density.model
    row, column = np.triu_indices(coordinates.num_arms, 1)

    def columns(directions: np.ndarray) -> np.ndarray:
        # L^-1 b for directions b: their products are covariances.
        return solve_triangular(np.asarray(distribution.factor), directions, lower=True)

    factors = columns(coordinates.utilities(np.eye(density.size)))
    apart = factors[:, row] - factors[:, column]
    deviation = np.sqrt(np.sum(np.square(apart), axis=0))
    utility = coordinates.utilities(np.asarray(distribution.mode))
    # The error of the rule is below 1e-7, for poles at pi i; where utilities spread by
    # more than 90 it is larger.
    needed = 2.0 * math.pi**2 / (18.0 * max(float(deviation.max()), 1e-9))
    step = max(min(_WIDEST_STEP, needed), 2.0 * _REACH / _MOST_STEPS)
    nodes = np.arange(-_REACH, _REACH + step / 2.0, step)[:, None]
    weights = np.exp(-0.5 * nodes[:, 0] ** 2)
    weights /= weights.sum()
    difference = utility[row] - utility[column] + deviation * nodes
    if not model.ties:
        logs = model.outcome_logs(difference, np.zeros_like(difference))
        return _gain([logs], [weights])
    index = coordinates.extras - 1
    tie = columns(np.eye(density.size)[index])
    known = tie @ apart / deviation
    rest = np.sqrt(np.maximum(tie @ tie - known**2, 0.0))
    shifts, shares = np.polynomial.hermite_e.hermegauss(_TIE_NODES)
    centre = distribution.mode[index] + known * nodes
    return _gain(
        [model.outcome_logs(difference, centre + rest * shift) for shift in shifts],
        [weights * share for share in shares / shares.sum()],
    )


def _gain(logs: list[np.ndarray], weights: list[np.ndarray]) -> np.ndarray:
    # From log P(outcome, node, pair) and the weights of nodes.
    mean, entropy = 0.0, 0.0
    for log_probability, weight in zip(logs, weights, strict=True):
        probability = np.exp(log_probability)
        mean = mean + weight @ probability
        # Impossible outcomes have the logarithm minus infinity.
        entropy = entropy - weight @ np.sum(
            probability * np.maximum(log_probability, -1e3), axis=0
        )
    whole = -np.sum(mean * np.log(np.maximum(mean, 1e-300)), axis=0)
    return np.maximum(whole - entropy, 0.0)

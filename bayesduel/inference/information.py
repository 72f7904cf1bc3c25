"""What one more vote on each pair would teach: integrals where known, else draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float64

from bayesduel.inference import winners
from bayesduel.models.closed_forms.pairwise_curvature import PairwiseDensity
from bayesduel.models.pairwise_beta import BetaPosterior
from bayesduel.models.vote_arrays import Votes

if TYPE_CHECKING:
    from bayesduel.inference.fits.fitted import FitBase

_BLOCK = 2**22
"""Probabilities that are held at once."""


def information_of_votes(posterior: FitBase) -> Float64[np.ndarray, "K K"]:
    """Return ``Fit.expected_information`` as an array; diagonal 0."""
    votes, density = posterior.arrays, normal_density(posterior)
    exact = posterior.method == "exact"
    distribution = posterior.model.exact_posterior(votes) if exact else None
    if isinstance(distribution, BetaPosterior):
        values = np.zeros((posterior.num_arms, posterior.num_arms))
        values[np.triu_indices(posterior.num_arms, 1)] = (
            distribution.expected_information()
        )
        return values + values.T
    if density is not None:
        from bayesduel.inference._normal_information import (
            information_of_normal_distribution,
        )

        return information_of_normal_distribution(density, posterior.extras["laplace"])
    if isinstance(votes, Votes):
        return _information_of_draws(posterior, votes)
    values = winners.information(
        np.stack([block, 1.0 - block], axis=-1) for block in posterior.matrices()
    )
    np.fill_diagonal(values, 0.0)
    return values


def normal_density(posterior: FitBase) -> PairwiseDensity | None:
    """Return the density that a normal distribution stands for, where it is known."""
    resampled = posterior.correction is not None and posterior.correction.resampled
    plain = not resampled and posterior.converged
    effects = "order_effect", "contest_covariates"
    apart = any(getattr(posterior.model, name, True) for name in effects)
    if posterior.method != "laplace" or not plain or apart:
        return None
    found = posterior.model.closed_form(posterior.arrays)
    return found if isinstance(found, PairwiseDensity) else None


def _information_of_draws(
    posterior: FitBase, votes: Votes
) -> Float64[np.ndarray, "K K"]:
    from bayesduel.inference.numpyro_models import log_probabilities_of

    num_arms = posterior.num_arms
    row, column = np.nonzero(~np.eye(num_arms, dtype=bool))
    every = replace(
        votes,
        first=row.astype(np.int32),
        second=column.astype(np.int32),
        counts=np.zeros((len(row), votes.counts.shape[1])),
        columns={},
        sizes=(),
        contest=np.zeros((len(row), len(votes.contest_units))),
    )
    flat = posterior.flat_draws()
    size = max(1, _BLOCK // num_arms**2)

    def blocks() -> Iterator[np.ndarray]:
        for start in range(0, posterior.num_draws, size):
            part = {name: each[start : start + size] for name, each in flat.items()}
            yield np.exp(log_probabilities_of(posterior.model, every, part))

    values = np.zeros((num_arms, num_arms))
    values[row, column] = winners.information(blocks())
    return values

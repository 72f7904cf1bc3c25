"""Standard errors at the mode: the model's, and those clustered by a column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float, Float64
from scipy.linalg import block_diag, cho_solve, solve_triangular
from scipy.sparse import coo_array

from bayesduel.errors import FitError
from bayesduel.models.closed_forms.pairwise_curvature import PairwiseDensity
from bayesduel.models.vote_arrays import Votes
from bayesduel.votes.checks import shortened
from bayesduel.votes.comparisons import NEUTRAL

Named = Float[np.ndarray, "*shape"]
"""A quantity by its name, of one point or of several."""

Steps = Float[np.ndarray, "step D"]
"""Rows s whose sum of s^T s is a covariance matrix."""


def model_steps(posterior: Any) -> Steps:
    """Return steps of the inverse of minus the Hessian at the mode."""
    factor = np.asarray(posterior.around_mode()[0].factor)
    return solve_triangular(factor, np.eye(len(factor)), lower=True)


def clustered_steps(posterior: Any, cluster: str) -> tuple[Steps, int]:
    """Return steps of the sandwich clustered by a column, and the number of clusters.

    See :meth:`bayesduel.inference.Fit.clustered_errors`.
    """
    found = posterior.around_mode()[0]
    mode, factor = np.asarray(found.mode), np.asarray(found.factor)
    density = _density_of_rows(posterior, cluster)
    _, places = np.unique(posterior.data.columns[cluster], return_inverse=True)
    voted = posterior.data.counts.sum(axis=1) > 0
    number = len(np.unique(places[voted]))
    if number < 2:
        rule = "must tell at least 2 clusters of votes apart"
        raise FitError("cluster", rule, cluster)
    size = np.sqrt(number / (number - 1.0))
    values, vectors = np.linalg.eigh(_meat(density, mode, places))
    root = np.sqrt(np.maximum(values, 0.0)) * vectors
    return size * cho_solve((factor, True), root).T, number


def errors_along(
    posterior: Any,
    steps: Steps,
    of: Callable[[Mapping[str, Any]], Mapping[str, Named]] = dict,
) -> dict[str, Float64[np.ndarray, "*shape"]]:
    """Return the standard errors of quantities by the delta method.

    Exact where they are linear in the coordinates.

    Parameters
    ----------
    posterior : Fit
    steps : float (step, D)
    of : callable
        Makes quantities (point, ...) of the named ones of points.
    """
    distribution, named = posterior.around_mode()
    ahead, behind = (
        of(named(distribution.mode + sign * 1e-3 * steps)) for sign in (1, -1)
    )
    return {
        name: np.asarray(np.sqrt(np.sum(((one - behind[name]) / 2e-3) ** 2, axis=0)))
        for name, one in ahead.items()
    }


def both_errors(
    posterior: Any,
    cluster: str,
    of: Callable[[Mapping[str, Any]], Mapping[str, Named]] = dict,
) -> dict[str, dict[str, Named]]:
    """Return the model's standard errors as ``error``, others as ``error_clustered``.

    By quantity in each.
    """
    steps, _ = clustered_steps(posterior, cluster)
    return {
        "error": errors_along(posterior, model_steps(posterior), of),
        "error_clustered": errors_along(posterior, steps, of),
    }


def density_of_pairs(model: Any, arrays: Any) -> PairwiseDensity:
    """Return the log density in closed form; ``FitError`` where there is none."""
    density = model.closed_form(arrays) if isinstance(arrays, Votes) else None
    if isinstance(density, PairwiseDensity):
        return density
    raise FitError(
        "model",
        "must be BradleyTerry, RaoKupper or Thurstone without judges and a learned "
        "scale, to have clustered errors",
        model,
    )


def _density_of_rows(posterior: Any, cluster: str) -> PairwiseDensity:
    """Return the log density with a row for each row of the data."""
    data, arrays = posterior.data, posterior.arrays
    density = density_of_pairs(posterior.model, arrays)
    carried = data.columns
    if not isinstance(cluster, str) or cluster not in carried:
        rule = "must be a column that the votes carry, of which there is "
        raise FitError("cluster", rule + (shortened([*carried]) or "none"), cluster)
    kept = {NEUTRAL: carried[NEUTRAL]} if NEUTRAL in arrays.columns else {}
    counts = data.counts[:, : arrays.counts.shape[1]]
    first, second = (each.astype(np.int32) for each in (data.first, data.second))
    rows = replace(arrays, first=first, second=second, counts=counts, columns=kept)
    return replace(density, votes=rows)


def _meat(
    density: PairwiseDensity,
    point: Float[np.ndarray, " D"],
    places: np.ndarray,
) -> Float64[np.ndarray, "D D"]:
    """Return the sum over clusters of s s^T, s the score (D,) of a cluster's votes."""
    votes, model, by = density.votes, density.model, density.by_row(point)
    entries = [(votes.first, by.gap), (votes.second, -by.gap)]
    extras = density.coordinates.of_effects(votes, by.gap)
    if model.ties:
        extras.append(by.tie)
    rows = np.concatenate([places] * (2 + len(extras)))
    shift = len(extras)
    columns = [np.full(len(places), each) for each in range(shift)]
    columns += [arm + shift for arm, _ in entries]
    values = np.concatenate([*extras, *(value for _, value in entries)])
    size = int(places.max()) + 1, shift + votes.num_arms
    scores = coo_array((values, (rows, np.concatenate(columns))), shape=size).tocsr()
    pulled = density.coordinates.pulled(np.eye(votes.num_arms))
    whole = block_diag(np.eye(shift), pulled) if shift else pulled
    return whole.T @ (scores.T @ scores).toarray() @ whole

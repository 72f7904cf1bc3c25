"""A fit as an xarray DataTree in ArviZ's layout."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import xarray as xr

from bayesduel.errors import FitError
from bayesduel.models.argument_checks import check_numbers, check_posterior, next_seed
from bayesduel.models.base import axes_of, labels_along
from bayesduel.models.fit.draws import as_key, generator_of, in_one
from bayesduel.models.fit.numpyro_models import log_prior_densities, sample_prior
from bayesduel.models.fit.predictions import (
    UNITS,
    ballots_drawn,
    cells_of,
    check_whole,
    log_probabilities_of,
    log_probabilities_of_rows,
    pairs_of,
    places_of,
    row_constants,
    rows_in_order,
    rows_of,
    thinned_log_probabilities,
    votes_drawn,
)
from bayesduel.models.plackett_luce import Ballots
from bayesduel.version import __version__
from theory.arguments import one_of, seed_of, true_or_false

_MOST_POINTWISE = 10**8  # Pointwise log likelihoods that fit into one group.
# Draws from the prior by default, and numbers in all of them.
_PRIOR_DRAWS, _MOST_OF_PRIOR = 1000, 2**25
_MOST_PREDICTED = 10**7  # Predicted counts per group; beyond, fewer draws are used.


def to_datatree(
    posterior: Any,
    *,
    unit: str = "vote",
    log_likelihood: bool = True,
    num_prior_draws: int | None = None,
    rng_key: int = 0,
) -> xr.DataTree:
    """Return a fit as ArviZ (1.0 or newer) reads it.

    Parameters
    ----------
    posterior : Fit
    unit : {"vote", "row"}
        One entry of ``log_likelihood``: a single vote (as many entries as votes), or
        all votes of a row together. Leave-one-out cross-validation by importance
        sampling makes sense for votes: leaving out all votes of a pair changes the
        posterior of a model with one parameter per pair too much (see :func:`loo`).
    log_likelihood : bool
        Whether to have that group, by far the largest one.
    num_prior_draws : int, optional
        Draws from the prior; by default 1000, of more than 33,000 counts fewer.
    rng_key : int
        Seed of prior and predictions.

    Returns
    -------
    xarray.DataTree
        ``posterior``, ``sample_stats``, ``log_likelihood`` (left out where it would
        hold more than 10^8 numbers: use :func:`loo`), ``log_prior``, ``prior``,
        ``prior_predictive``, ``posterior_predictive``, ``observed_data``,
        ``constant_data``. Axes: ``arm``, ``pair``, ``covariate``; ``comparison``,
        ``subset`` or ``ballot`` for the rows of the data; for rows of the model's own
        what its ``dims`` call them, or ``row``; ``outcome`` for what a vote says;
        ``vote``, whose labels say what the vote says, whichever arm was shown first.

        Predictions and observations count votes by outcome. For comparisons with
        ``unit="row"`` they hold one number per row, the votes for the arm shown first
        (all of them are ``outcomes`` among the constant data): what
        ``arviz.plot_ppc_pit`` and ``plot_loo_pit`` need.

    Raises
    ------
    FitError
        For another unit, votes that are no whole numbers, or a number out of range.

    Examples
    --------
    >>> from bayesduel.diagnostics import to_datatree
    >>> from bayesduel.votes import Comparisons
    >>> from bayesduel.models import PairwiseBeta
    >>> from bayesduel.inference import fit
    >>> votes = Comparisons.from_wins([[0, 7, 9], [3, 0, 6], [1, 4, 0]])
    >>> tree = to_datatree(fit(PairwiseBeta(), votes))
    >>> tree["log_likelihood"]["votes"].sizes["vote"]
    30
    """
    one_of(unit, UNITS, "unit", kind=FitError)
    check_posterior(posterior)
    true_or_false(log_likelihood, "log_likelihood", kind=FitError)
    rows = max(posterior.num_arms, np.size(posterior.arrays.counts))
    if num_prior_draws is None:
        num_prior_draws = min(_PRIOR_DRAWS, max(1, _MOST_OF_PRIOR // rows))
    num_prior_draws = check_numbers("num_prior_draws", num_prior_draws, rows)
    rng_key = seed_of(rng_key, "rng_key", kind=FitError)
    check_whole(posterior.data, "to_datatree", posterior.arrays)
    rng = generator_of(as_key(rng_key))
    model, arrays = posterior.model, posterior.arrays
    prior = sample_prior(model, arrays, as_key(next_seed(rng_key)), num_prior_draws)
    prior = {name: values[None] for name, values in prior.items()}
    row, row_names = rows_of(posterior)
    observed = _observed(posterior)
    chains = posterior.num_chains
    logs = log_prior_densities(model, arrays, posterior.flat_draws())
    constants = xr.Dataset(row_constants(posterior))
    groups: dict[str, xr.Dataset | None] = {
        "posterior": _dataset(posterior, posterior.draws),
        "sample_stats": _dataset(posterior, posterior.sample_stats),
        "log_likelihood": _log_likelihood(posterior, unit) if log_likelihood else None,
        "log_prior": xr.Dataset(
            {
                name: (("chain", "draw"), log_prior.reshape(chains, -1))
                for name, log_prior in logs.items()
            },
            {
                "chain": np.arange(chains),
                "draw": np.arange(posterior.num_draws // chains),
            },
        ),
        "prior": _dataset(posterior, prior),
        "prior_predictive": _predictions(posterior, observed, prior, rng),
        "posterior_predictive": _predictions(posterior, observed, posterior.draws, rng),
        "observed_data": observed.to_dataset(),
        "constant_data": constants.assign_coords(_used(constants, {row: row_names})),
    }
    if unit == "row" and pairs_of(model, posterior.data, arrays) is not None:
        # One number per comparison, the votes for the first arm, in place of all: it is
        # what ArviZ compares with predictions; ``outcomes`` keeps the rest.
        constants = groups["constant_data"].assign(outcomes=observed)  # pyright: ignore
        groups["constant_data"] = constants
        for name in ("observed_data", "prior_predictive", "posterior_predictive"):
            counted: Any = groups[name]
            groups[name] = counted.isel(outcome=0, drop=True)
    stamp: dict[str, Any] = {
        "created_at": datetime.now(UTC).isoformat(),
        "creation_library": "bayesduel",
        "creation_library_version": __version__,
        "model": repr(model),
        "inference_method": posterior.inference,
        "sampling_time": posterior.seconds,
        "trusted": int(not posterior.doubts),
        "remarks": "; ".join(posterior.remarks),
        "parts": len(posterior.parts),
    }
    if posterior.correction is not None:
        stamp["pareto_k"] = posterior.correction.pareto_k
        stamp["importance_resampled"] = int(posterior.correction.resampled)
    # ArviZ compares models row by row, so all models use the same order of rows.
    order = {row: rows_in_order(posterior)} if unit == "row" else {}
    filled = {
        name: group.isel(order, missing_dims="ignore").assign_attrs(stamp)
        for name, group in groups.items()
        if group
    }
    tree = xr.DataTree.from_dict(filled)
    tree.attrs.update(stamp)
    return tree


def _dataset(posterior: Any, values: dict[str, np.ndarray]) -> xr.Dataset:
    # Values (chain, draw, ...) by the model's own names of axes.
    model = posterior.model
    dataset = xr.Dataset(
        {
            name: (("chain", "draw", *axes_of(model, name, array.ndim - 2)), array)
            for name, array in values.items()
        }
    )
    coords: dict[str, Any] = {**labels_along(model, posterior.data, dataset.sizes)}
    for name in ("chain", "draw"):
        coords[name] = np.arange(dataset.sizes.get(name, 0))
    return dataset.assign_coords(_used(dataset, coords))


def _used(dataset: xr.Dataset, coords: dict[str, Any]) -> dict[str, Any]:
    return {name: labels for name, labels in coords.items() if name in dataset.dims}


def _observed(posterior: Any) -> xr.DataArray:
    # The answer of every row.
    row, names = rows_of(posterior)
    if isinstance(posterior.arrays, Ballots):
        axes = {row: names, "arm": list(posterior.arm_names)}
        return xr.DataArray(places_of(posterior.arrays), axes, [*axes], "places")
    counts = np.asarray(posterior.arrays.counts).astype(np.int64)
    axes = {row: names, "outcome": list(posterior.model.outcomes(posterior.data))}
    return xr.DataArray(counts, axes, [*axes], "votes")


def _log_likelihood(posterior: Any, unit: str) -> xr.Dataset | None:
    counts = np.asarray(posterior.arrays.counts).astype(np.int64)
    entries = counts.sum() if unit == "vote" else len(counts)
    if posterior.num_draws * entries > _MOST_POINTWISE:
        return None
    logs, step = thinned_log_probabilities(posterior)
    row, row_names = rows_of(posterior)
    coords: dict[str, Any] = {
        "chain": np.arange(logs.shape[0]),
        "draw": step * np.arange(logs.shape[1]),
    }
    names = np.array(row_names)
    if unit == "row":
        values = log_probabilities_of_rows(counts, logs)
        dims, labels = ("chain", "draw", row), {row: names}
    else:
        cells = cells_of(posterior)
        where, outcome = (
            np.repeat(indices, cells.times) for indices in (cells.row, cells.outcome)
        )
        values = logs[:, :, where, outcome]
        said = np.array(posterior.model.outcomes(posterior.data))
        dims = ("chain", "draw", "vote")
        labels = {
            "vote": cells.vote_ids(),
            row: ("vote", names[where]),
            "outcome": ("vote", said[outcome]),
        }
    return xr.Dataset({"votes": (dims, values)}, coords={**coords, **labels})


def _predictions(
    posterior: Any,
    observed: xr.DataArray,
    draws: dict[str, np.ndarray],
    rng: np.random.Generator,
) -> xr.Dataset:
    # Votes drawn anew, as many per row as there were.
    model, arrays = posterior.model, posterior.arrays
    chains, number = next(iter(draws.values())).shape[:2]
    step = max(1, -(-chains * number * observed.size // _MOST_PREDICTED))
    number, flat = len(range(0, number, step)), in_one(draws, step)
    if isinstance(arrays, Ballots):
        drawn = ballots_drawn(rng, model, arrays, flat["utility"])
    else:
        logs = log_probabilities_of(model, arrays, flat)
        drawn = votes_drawn(rng, np.asarray(arrays.counts), logs)
    drawn = drawn.reshape(chains, number, *drawn.shape[1:])
    axes = {"chain": np.arange(chains), "draw": step * np.arange(number)}
    return xr.Dataset(
        {observed.name: ((*axes, *observed.dims), drawn)}, axes | {**observed.coords}
    )

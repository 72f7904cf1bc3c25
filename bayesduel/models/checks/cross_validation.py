"""Cross-validation that leaves out votes, or whole pairs."""

import inspect
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import arviz_stats
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from arviz_stats import utils as arviz_utils
from arviz_stats.base import (
    array_stats as _array_stats,  # pyright: ignore[reportPrivateImportUsage]
)
from jax import Array
from numpy.typing import NDArray
from scipy.special import betaln, logsumexp

from bayesduel.errors import FitError
from bayesduel.models.argument_checks import check_numbers, check_posterior
from bayesduel.models.base import PreferenceModel, check_model
from bayesduel.models.fit.draws import as_key
from bayesduel.models.fit.fit_result import Fit
from bayesduel.models.fit.numpyro_models import (
    as_jax,
    draw_points,
    laplace,
    latent_of,
    log_probabilities,
)
from bayesduel.models.fit.predictions import (
    UNITS,
    Cells,
    cells_of,
    check_whole,
    log_probabilities_of_rows,
    pairs_of,
    rows_in_order,
    rows_of,
    thinned_log_probabilities,
)
from bayesduel.models.fit.proposals import log_normal_density
from bayesduel.models.fit.resampling import good_k
from bayesduel.models.pairwise_beta import BetaPosterior, PairwiseBeta
from bayesduel.models.vote_arrays import Votes, with_counts
from bayesduel.votes.comparisons import Comparisons
from theory.arguments import integer_from, one_of, seed_of

array_stats: Any = _array_stats
"""Its own annotations are narrower than what it takes."""

_log_sum_exp: Any = logsumexp
"""Without annotations, it is taken to return a pair."""


def _elpd_of(
    left_out: NDArray, full: NDArray, k: NDArray, dim: str, num_draws: int
) -> Any:
    good = good_k(num_draws)
    fields: dict[str, Any] = {
        "elpd": float(left_out.sum()),
        "se": float(np.sqrt(len(left_out) * np.var(left_out, ddof=1))),
        "p": float(np.sum(full - left_out)),
        "n_samples": num_draws,
        "n_data_points": len(left_out),
        "scale": "log",
        "warning": bool(np.any(k > good)),
        "good_k": float(good),
        "elpd_i": xr.DataArray(left_out, dims=(dim,)),
        "pareto_k": xr.DataArray(k, dims=(dim,)),
    }
    # Before ArviZ 1.2 one class served all kinds of cross-validation.
    kind = getattr(arviz_utils, "ELPDDataLOO", None)
    if kind is None:
        kind, fields = arviz_utils.ELPDData, {"kind": "loo", **fields}
    return kind(**fields)


_arviz_compare: Any = arviz_stats.compare  # pyright: ignore
_BLOCK = 2**21
"""Log probabilities that are smoothed together."""


def loo(posterior: Fit, *, unit: str = "vote") -> Any:
    """Estimate how well votes are predicted by a fit to all the others.

    elpd = sum over votes of log P(vote | all other votes). All votes that say the same
    of the same row have the same value, so it is computed once per row and outcome and
    counted as often: in closed form for ``PairwiseBeta`` fitted exactly, else by Pareto
    smoothed importance sampling (Vehtari et al. 2017, 2024), for laplace and svi with
    weights that also undo the approximation (Magnusson et al. 2019).

    Parameters
    ----------
    posterior : Fit
    unit : {"vote", "row"}
        With "row" all votes of a pair are left out together, by importance sampling.
        That is what one gets from counts per pair without further thought, and is wrong
        for a model with a parameter per pair, whose posterior without the pair is its
        prior: Pareto k says so. To leave out pairs use
        :func:`~bayesduel.diagnostics.leave_pairs_out`.

    Returns
    -------
    arviz_stats ELPDDataLOO
        Pointwise values along ``vote`` (or ``row``), by pair and by what is said of it:
        an order that depends on the votes only, not on whether the model knows which
        arm was shown first, so that ``arviz.compare`` can take differences.
        ``pareto_k`` is 0 where a value is exact.

    Raises
    ------
    FitError
        If votes are not whole numbers, or there is none.

    Examples
    --------
    >>> from bayesduel.diagnostics import loo
    >>> from bayesduel.votes import Comparisons
    >>> from bayesduel.models import PairwiseBeta
    >>> from bayesduel.inference import fit
    >>> votes = Comparisons.from_wins([[0, 7], [3, 0]])
    >>> round(loo(fit(PairwiseBeta(), votes)).elpd, 3)
    -7.062
    """
    one_of(unit, UNITS, "unit", kind=FitError)
    check_posterior(posterior)
    check_whole(posterior.data, "loo", posterior.arrays)
    counts = np.asarray(posterior.arrays.counts)
    if counts.sum() < 2:
        raise FitError(
            "posterior",
            "must be of at least 2 votes, for one to be left out",
            float(counts.sum()),
        )
    exact = posterior.extras.get("posterior")
    cells = cells_of(posterior)
    if unit == "vote" and isinstance(exact, BetaPosterior):
        left_out, full = _beta_cells(posterior, cells)
        k = np.zeros_like(left_out)
        number = posterior.num_draws
    else:
        logs, step = thinned_log_probabilities(posterior)
        if unit == "row":
            logs = log_probabilities_of_rows(counts, logs)
            logs = logs[:, :, rows_in_order(posterior)]
        else:
            logs = logs[:, :, cells.row, cells.outcome]
        number = logs.shape[0] * logs.shape[1]
        left_out, full, k = _smoothed(posterior, logs, step)
    if unit == "vote":
        left_out, full, k = (
            np.repeat(each, cells.times) for each in (left_out, full, k)
        )
    return _elpd_of(left_out, full, k, unit, number)


def compare_models(
    posteriors: Mapping[str, Fit], *, unit: str = "vote", **options: Any
) -> Any:
    """Compare models of the same votes by :func:`loo`.

    Parameters
    ----------
    posteriors : mapping of names to Fit
        Fits to the same votes. With "vote" some may know which arm was shown first, and
        others not.
    unit : {"vote", "row"}
        As in :func:`loo`.
    **options
        Of ``arviz.compare``, such as ``method`` and ``round_to``.

    Returns
    -------
    pandas.DataFrame
        As ``arviz.compare`` returns it, the best model first: differences of elpd with
        their standard errors.

    Raises
    ------
    FitError
        If there are fewer than two fits, they are to different votes, or, with "row",
        to rows that say different things.
    """
    if not isinstance(posteriors, Mapping) or len(posteriors) < 2:
        rule = "must be a mapping of names to at least two fits"
        raise FitError("posteriors", rule, posteriors)
    for name, each in posteriors.items():
        if not isinstance(name, str):
            raise FitError("posteriors", "must have texts as names", name)
        check_posterior(each)
    one_of(unit, UNITS, "unit", kind=FitError)
    known = list(inspect.signature(_arviz_compare).parameters)[1:]
    for option, value in options.items():
        one_of(option, known, "options of compare", kind=FitError)
        if option == "method":
            one_of(str(value).lower(), _METHODS, "method", kind=FitError)
        elif option == "reference" and value is not None:
            one_of(value, posteriors, "reference", kind=FitError)
        elif option == "round_to" and not isinstance(value, str | None):
            integer_from(value, 0, "round_to", 17, kind=FitError)
        elif option == "round_to" and value not in (None, "auto", "none"):
            rule = 'must be "auto", "none" or a number of digits'
            raise FitError("round_to", rule, value)
    names = list(posteriors)
    first = posteriors[names[0]]
    for name in names[1:]:
        fits = first, posteriors[name]
        predicted = [_what_is_predicted(each, unit) for each in fits]
        if predicted[0] == predicted[1]:
            continue
        why = "were fitted to different votes"
        paired = [pairs_of(each.model, each.data, each.arrays) for each in fits]
        if unit == "row" and len({rows_of(each).axis for each in fits}) > 1:
            why = "have votes in different rows (unit='vote' tells single votes apart)"
        elif sum(each is None for each in paired) == 1:
            unknown = type(fits[paired.index(None)].model).__name__
            why = (
                f"name what votes say differently (the arrays of {unknown} lack the "
                "fields first and second, numbers of arms of each row, or its outcomes "
                "are not first, second and tie)"
            )
        raise FitError(
            "posteriors",
            f"{names[0]!r} and {name!r} {why}, so their predictions cannot be compared",
            (names[0], name),
        )
    found = {name: loo(each, unit=unit) for name, each in posteriors.items()}
    return _arviz_compare(found, **options)


_METHODS = ("stacking", "bb-pseudo-bma", "pseudo-bma")


def _what_is_predicted(posterior: Fit, unit: str) -> Any:
    if unit == "row":
        rows = rows_in_order(posterior)
        counts = np.asarray(posterior.arrays.counts)[rows]
        names = np.array(rows_of(posterior).names)[rows]
        return names.tolist(), counts.tolist()
    cells = cells_of(posterior)
    votes: dict[str, int] = {}
    for name, times in zip(cells.names, cells.times.tolist(), strict=True):
        votes[name] = votes.get(name, 0) + times
    return list(votes.items())


def _beta_cells(posterior: Fit, cells: Cells) -> tuple[NDArray, NDArray]:
    """Leave-one-out and full log predictive of each cell, in closed form."""
    distribution: BetaPosterior = posterior.extras["posterior"]
    arrays: Votes = posterior.arrays
    counts = np.asarray(arrays.counts)
    low = np.minimum(arrays.first, arrays.second).astype(np.int64)
    high = np.maximum(arrays.first, arrays.second)
    pair = low * arrays.num_arms - low * (low + 1) // 2 + high - low - 1
    forward = np.asarray(arrays.first) < np.asarray(arrays.second)
    one, other = distribution.for_first[pair], distribution.for_second[pair]
    ahead = np.where(forward, one, other), np.where(forward, other, one)

    def predictive(left_out: float) -> NDArray:
        # Cells without a vote are dropped below; there a - 1 may be 0.
        total = ahead[0] + ahead[1] - left_out
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = [np.log((each - left_out) / total) for each in ahead]
            if counts.shape[1] == 3:
                tie, no_tie = distribution.tie[pair], distribution.no_tie[pair]
                votes = np.log(tie + no_tie - left_out)
                logs = [each + np.log(no_tie - left_out) - votes for each in logs]
                logs.append(np.log(tie - left_out) - votes)
        return np.stack(logs, axis=1)[cells.row, cells.outcome]

    return predictive(1.0), predictive(0.0)


def _smoothed(
    posterior: Fit, logs: NDArray, step: int
) -> tuple[NDArray, NDArray, NDArray]:
    flat = logs.reshape(-1, logs.shape[-1]).T
    correction = posterior.sample_stats.get("log_weight")
    if correction is None:
        weights = np.zeros(flat.shape[1])
        efficiency = 1.0
        if posterior.method == "nuts" and posterior.num_chains > 1:
            # Mean of effective over kept draws, as ArviZ takes it.
            axes = {"chain_axis": 0, "draw_axis": 1, "method": "mean"}
            sizes = [
                np.ravel(array_stats.ess(each, **axes))
                for each in posterior.draws.values()
            ]
            efficiency = float(np.mean(np.concatenate(sizes)) / posterior.num_draws)
    else:
        weights = correction[:, ::step].reshape(-1)
        efficiency = 1.0
    share = weights - _log_sum_exp(weights)
    size = max(1, _BLOCK // flat.shape[1])
    parts = []
    for start in range(0, len(flat), size):
        # Some dozen copies of this are held at once, so it is a part of all entries.
        part = np.ascontiguousarray(flat[start : start + size])
        smooth, k = array_stats.psislw(part - weights, r_eff=efficiency, axis=-1)
        left_out = _log_sum_exp(smooth + part, axis=1)
        parts.append((left_out, _log_sum_exp(part + share, axis=1), np.asarray(k)))
    left_out, full, k = (np.concatenate(each) for each in zip(*parts, strict=True))
    return left_out, full, k


def leave_pairs_out(
    model: PreferenceModel,
    data: Comparisons,
    *,
    num_draws: int = 2000,
    rng_key: int = 0,
) -> Any:
    """Estimate how well the votes of a pair are predicted without any vote on it.

    Another question than :func:`~bayesduel.diagnostics.loo`: will the model tell
    something about pairs that were never compared? Every pair is left out by fitting
    the rest again: in closed form for ``PairwiseBeta`` (whose answer is its prior),
    else by Laplace's method with importance weights, all refits side by side.

    Parameters
    ----------
    model : PreferenceModel
        Of pairwise comparisons.
    data : Comparisons
        Votes; both orders of a pair are left out together.
    num_draws : int
        Draws per refit.
    rng_key : int

    Returns
    -------
    arviz_stats ELPDDataLOO
        Pointwise values along ``pair``: log P(all its votes, in some order | the
        rest). ``pareto_k`` is that of the importance weights.

    Raises
    ------
    FitError
        If fewer than two pairs have votes, the model is about other data, or an
        argument is out of range.
    """
    check_model(model)
    if not isinstance(data, Comparisons):
        raise FitError("data", "must be Comparisons, to leave pairs out", data)
    data = data.without_empty_pairs()
    arrays = model.arrays(data)
    num_pairs = data.num_arms * (data.num_arms - 1) // 2
    num_draws = check_numbers(
        "num_draws", num_draws, min(num_pairs, len(data.first)) * data.num_arms
    )
    key = as_key(seed_of(rng_key, "rng_key", kind=FitError))
    sides = pairs_of(model, data, arrays)
    if sides is None:
        raise FitError(
            "model",
            "must know the pair of each row, but the arrays of "
            f"{type(model).__name__} lack the fields first and second, numbers of "
            "arms",
            model,
        )
    low, high = np.minimum(*sides), np.maximum(*sides)
    pairs, member = np.unique(low * data.num_arms + high, return_inverse=True)
    if len(pairs) < 2:
        raise FitError(
            "data", "must hold at least 2 pairs, to leave one out", len(pairs)
        )
    if "exact" in model.methods and isinstance(model, PairwiseBeta):
        # Log probability of all votes of each pair under the prior.
        values = np.zeros(len(pairs))
        for pair in range(len(pairs)):
            own = np.where((member == pair)[:, None], np.asarray(arrays.counts), 0.0)
            before, after = (
                model.exact_posterior(replace(arrays, counts=each))
                for each in (0.0 * own, own)
            )
            values[pair] = np.sum(
                betaln(after.for_first, after.for_second)
                - betaln(before.for_first, before.for_second)
            ) + np.sum(
                betaln(after.tie, after.no_tie) - betaln(before.tie, before.no_tie)
            )
        return _elpd_of(values, values, np.zeros(len(pairs)), "pair", num_draws)
    keys = jax.random.split(key, len(pairs))
    with jax.enable_x64(True):
        logs, weights = _refits(
            model, num_draws, as_jax(arrays), jnp.asarray(member), keys
        )
    logs, weights = np.asarray(logs), np.asarray(weights)
    smooth, k = array_stats.psislw(-weights, r_eff=1.0, axis=-1)
    values = _log_sum_exp(smooth + logs, axis=1)
    plain = _log_sum_exp(logs, axis=1, b=1.0 / num_draws)
    return _elpd_of(values, plain, np.asarray(k), "pair", num_draws)


@partial(jax.jit, static_argnums=(0, 1))
def _refits(
    model: PreferenceModel, num_draws: int, arrays: Any, member: Array, keys: Array
) -> tuple[Array, Array]:

    def one(pair: Array, key: Array) -> tuple[Array, Array]:
        out = (member == pair)[:, None]
        rest = with_counts(arrays, jnp.where(out, 0.0, arrays.counts))
        state = laplace(model, rest)
        points = draw_points(key, state, num_draws)
        latent = latent_of(model, rest)

        def look(point: Array) -> tuple[Array, Array]:
            logs = log_probabilities(model, arrays, latent.named(point))
            chosen = out & (arrays.counts > 0)
            votes = jnp.sum(jnp.where(chosen, arrays.counts * logs, 0.0))
            return votes, latent.log_density(point)

        votes, joint = jax.vmap(look)(points)
        return votes, joint - log_normal_density(state, points)

    return jax.lax.map(
        lambda each: one(*each), (jnp.unique(member, size=keys.shape[0]), keys)
    )

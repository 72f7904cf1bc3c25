"""Leave-one-out cross-validation, one vote at a time, and comparisons by it."""

import inspect
from collections.abc import Mapping
from typing import Any

import arviz_stats
import numpy as np
from numpy.typing import NDArray

from bayesduel.diagnostics._elpd import array_stats, elpd_of, log_sum_exp
from bayesduel.errors import FitError
from bayesduel.inference.fits.fit_result import Fit
from bayesduel.inference.fits.fitted import check_posterior
from bayesduel.inference.predictions import (
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
from bayesduel.models.pairwise_beta import BetaPosterior
from bayesduel.models.vote_arrays import Votes
from theory.arguments import integer_from, one_of

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
        If votes are no whole numbers, or there is none.

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
    return elpd_of(left_out, full, k, unit, number)


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
    _check_comparison(posteriors, unit, options)
    names = list(posteriors)
    first = _what_is_predicted(posteriors[names[0]], unit)
    for name in names[1:]:
        if _what_is_predicted(posteriors[name], unit) != first:
            why = _why_not([posteriors[names[0]], posteriors[name]], unit)
            raise FitError(
                "posteriors",
                f"{names[0]!r} and {name!r} {why}, so their predictions cannot be "
                "compared",
                (names[0], name),
            )
    found = {name: loo(each, unit=unit) for name, each in posteriors.items()}
    return _arviz_compare(found, **options)


_METHODS = ("stacking", "bb-pseudo-bma", "pseudo-bma")


def _check_comparison(posteriors: Any, unit: str, options: dict[str, Any]) -> None:
    if not isinstance(posteriors, Mapping) or len(posteriors) < 2:
        raise FitError(
            "posteriors", "must be a mapping of names to at least two fits", posteriors
        )
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
            raise FitError(
                "round_to", 'must be "auto", "none" or a number of digits', value
            )


def _what_is_predicted(posterior: Fit, unit: str) -> Any:
    """Return what the pointwise values of :func:`loo` stand for, in their order."""
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


def _why_not(fits: list[Fit], unit: str) -> str:
    """Say why predictions of two fits do not stand for the same."""
    if unit == "row" and len({rows_of(each).axis for each in fits}) > 1:
        return "have votes in different rows (unit='vote' tells single votes apart)"
    paired = [pairs_of(each.model, each.data, each.arrays) for each in fits]
    if sum(each is None for each in paired) == 1:
        unknown = fits[paired.index(None)].model
        return (
            f"name what votes say differently (the arrays of {type(unknown).__name__} "
            "lack the fields first and second, numbers of arms of each row, or its "
            "outcomes are not first, second and tie)"
        )
    return "were fitted to different votes"


def _beta_cells(posterior: Fit, cells: Cells) -> tuple[NDArray, NDArray]:
    """Leave-one-out and full log predictive of each cell, in closed form.

    For theta ~ Beta(a, b) after all votes, one vote for the first left out:
    (a - 1) / (a + b - 1).
    """
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
    """Leave each entry of logs (chain, draw, entry) out by importance sampling."""
    flat = logs.reshape(-1, logs.shape[-1]).T
    correction = posterior.sample_stats.get("log_weight")
    if correction is None:
        weights = np.zeros(flat.shape[1])
        chained = posterior.method == "nuts"
        efficiency = _relative_efficiency(posterior) if chained else 1.0
    else:
        weights = correction[:, ::step].reshape(-1)
        efficiency = 1.0
    share = weights - log_sum_exp(weights)
    size = max(1, _BLOCK // flat.shape[1])
    parts = []
    for start in range(0, len(flat), size):
        # Some dozen copies of this are held at once, so it is a part of all entries.
        part = np.ascontiguousarray(flat[start : start + size])
        smooth, k = array_stats.psislw(part - weights, r_eff=efficiency, axis=-1)
        left_out = log_sum_exp(smooth + part, axis=1)
        parts.append((left_out, log_sum_exp(part + share, axis=1), np.asarray(k)))
    left_out, full, k = (np.concatenate(each) for each in zip(*parts, strict=True))
    return left_out, full, k


def _relative_efficiency(posterior: Fit) -> float:
    """Mean of effective over kept draws, as ArviZ takes it."""
    if posterior.num_chains == 1:
        return 1.0
    sizes = [
        np.ravel(array_stats.ess(each, chain_axis=0, draw_axis=1, method="mean"))
        for each in posterior.draws.values()
    ]
    return float(np.mean(np.concatenate(sizes)) / posterior.num_draws)

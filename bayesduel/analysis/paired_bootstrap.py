"""Which differences of means are real: paired bootstrap, all pairs at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayesduel.arguments.limits import MOST_RESAMPLES
from bayesduel.errors import ArgumentError
from theory.arguments import integer_from, share_of
from theory.validation import numeric_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

FEWEST_RUNS = 8
"""With fewer runs a resample too often repeats one run, and nothing is claimed."""

_RESAMPLES_PER_BLOCK = 500
_MOST_STATISTICS = 2**27
_LARGEST = 1e100
_LARGEST_SEED = 2**63 - 1
# Share of resamples without spread from which on a difference rests on single runs.
_DEGENERATE = 0.005


class PairedIntervals(NamedTuple):
    """Simultaneous intervals for the differences of the means of several columns.

    Attributes
    ----------
    first, second : int (M,)
        Columns of each pair, first < second.
    mean, standard_error : float (M,)
        Of column second minus column first, over the rows; the standard error is
        ``math.inf`` for a single row.
    low, high : float (M,)
        All M intervals hold at once with the confidence asked for, asymptotically.
        They are infinite where nothing can be said.
    """

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    mean: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def checked_options(
    confidence: float, num_resamples: int, seed: int
) -> tuple[float, int, int]:
    """Return the options of :func:`paired_intervals`, or raise a ``ValueError``."""
    number = share_of(confidence, "confidence")
    num_resamples = integer_from(num_resamples, 100, "num_resamples", MOST_RESAMPLES)
    return number, num_resamples, integer_from(seed, 0, "seed", _LARGEST_SEED)


def paired_intervals(
    values: ArrayLike,
    *,
    confidence: float = 0.95,
    num_resamples: int = 4000,
    seed: int = 0,
) -> PairedIntervals:
    """Bound the differences of the means of paired columns, all pairs at once.

    Rows are resampled as a whole, so what the columns share in a row cancels. The
    absolute studentized difference of every pair is bootstrapped, and the intervals are
    mean ± q standard errors with q a quantile of it (bootstrap-t: Efron and Tibshirani
    1993, An Introduction to the Bootstrap, Section 12.5). The level of these quantiles
    is the same for all pairs, and such that all intervals hold together (balanced
    simultaneous sets: Beran 1988, Journal of the American Statistical Association 83,
    679-686): a pair with rare large differences widens its own interval only.

    Parameters
    ----------
    values : float (n, P)
        One row per run, one column per policy.
    confidence : float
        Between 0 and 1: for all pairs together.
    num_resamples : int
        From 100 to 10^6.
    seed : int
        Of the resampling.

    Returns
    -------
    PairedIntervals
        M = P (P - 1) / 2 pairs. With fewer than `FEWEST_RUNS` rows every interval is
        infinite. So is that of a pair whose difference rests on so few rows that many
        resamples miss them all.

    Notes
    -----
    Measured for four columns with 95 % asked for: normal differences 96 to 98 %,
    exponential ones 95 % (10 to 100 rows), log-normal ones of scale 0.5 to 1.2, skewed
    more than most regrets, 84 % for 10 rows and 92 % for 100.

    Rows of a kind that was not seen are in no interval. If 6 % of the rows are fifty
    times the others, an interval of 10 rows holds none of them more often than not:
    :func:`rankings` says which orders are certain all the same.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> shared = 100 * rng.normal(size=(50, 1))
    >>> found = paired_intervals(shared + rng.normal([[0.0, 2.0]], 1.0, (50, 2)))
    >>> bool(0.0 < found.low[0] < 2.0 < found.high[0])
    True
    """
    table = numeric_array(values, "values")
    if table.ndim != 2 or min(table.shape) < 1 or not np.isfinite(table).all():
        raise ArgumentError(
            "values", "must be a finite table of the shape (run, policy)", table.shape
        )
    if np.abs(table).max() > _LARGEST:
        raise ArgumentError(
            "values",
            f"must lie between -{_LARGEST:g} and {_LARGEST:g}, whose squares can be "
            "added up",
            table.ravel()[np.abs(table).argmax()],
        )
    confidence, num_resamples, seed = checked_options(confidence, num_resamples, seed)
    num_runs, num_columns = table.shape
    first, second = np.triu_indices(num_columns, k=1)
    if num_resamples * first.size > _MOST_STATISTICS:
        raise ArgumentError(
            "num_resamples",
            f"must be at most {_MOST_STATISTICS // first.size}, so that the "
            f"statistics of {first.size} pairs of columns fit into memory",
            num_resamples,
        )
    differences = table[:, second] - table[:, first]
    mean = differences.mean(axis=0)
    centered = differences - mean
    if num_runs < 2:
        error = np.full(mean.shape, math.inf)
    else:
        error = np.sqrt((centered**2).sum(axis=0) / (num_runs - 1) / num_runs)
    if num_runs < FEWEST_RUNS or not mean.size:
        infinite = np.full(mean.shape, math.inf)
        return PairedIntervals(first, second, mean, error, -infinite, infinite)
    # Rounding of a column of equal numbers is no spread.
    least = 1e-12 * (np.abs(table).max() + np.abs(mean))
    error, centered = np.where(error > least, error, 0.0), centered * (error > least)
    # In blocks, whose statistics need little memory.
    full, rest = divmod(num_resamples, _RESAMPLES_PER_BLOCK)
    sizes = [_RESAMPLES_PER_BLOCK] * full + [rest] * (rest > 0)
    statistics = np.concatenate(
        [
            _studentized(centered, least, size, block, seed)
            for block, size in enumerate(sizes)
        ]
    )
    degenerate = np.isinf(statistics).mean(axis=0) > _DEGENERATE
    reach = np.full(mean.shape, math.inf)
    reach[~degenerate] = _balanced_quantiles(statistics[:, ~degenerate], confidence)
    # An exact difference stays exact.
    reach = np.multiply(reach, error, out=np.zeros_like(reach), where=error > 0)
    return PairedIntervals(first, second, mean, error, mean - reach, mean + reach)


def _balanced_quantiles(
    statistics: NDArray[np.float64], confidence: float
) -> NDArray[np.float64]:
    """Return a quantile of every column, at one level, so that all hold together."""
    size = len(statistics)
    ordered = np.sort(statistics, axis=0)
    # Place of every statistic in its column; the highest one of a resample decides.
    places = np.empty(statistics.shape, dtype=np.int64)
    for column in range(statistics.shape[1]):
        places[:, column] = np.searchsorted(ordered[:, column], statistics[:, column])
    highest = np.sort(places.max(axis=1, initial=0))
    needed = min(math.ceil(confidence * (size + 1)), size) - 1
    return ordered[highest[needed]]


def _studentized(
    centered: NDArray[np.float64],
    least: NDArray[np.float64],
    size: int,
    block: int,
    seed: int,
) -> NDArray[np.float64]:
    """Return abs(mean) / standard error of every pair in some resamples, (size, M).

    Infinity where a resample has no spread and another mean than the data.
    """
    num_runs = centered.shape[0]
    rng = np.random.default_rng([seed, block])
    counts = rng.multinomial(num_runs, np.full(num_runs, 1.0 / num_runs), size=size)
    mean = counts @ centered / num_runs
    square = counts @ centered**2 / num_runs
    error = np.sqrt(np.maximum(square - mean**2, 0.0) / (num_runs - 1))
    far = np.where(np.abs(mean) > least, math.inf, 0.0)
    return np.divide(np.abs(mean), error, out=far, where=error > least)

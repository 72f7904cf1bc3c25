"""Mean, spread and quantiles over runs: of the runs, or of what was kept of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.simulation.run_summaries import middles

if TYPE_CHECKING:
    import xarray as xr
    from jaxtyping import Float64


@dataclass(frozen=True)
class RunStatistics:
    """Regret in one notion at all checkpoints, over runs."""

    num_runs: int
    # The latter with n - 1; ``math.inf`` for a single run.
    mean: Float64[np.ndarray, " checkpoint"]
    standard_deviation: Float64[np.ndarray, " checkpoint"]
    # Quantiles of runs at some levels, float64 (level, checkpoint).
    quantiles: Callable[[Sequence[float]], Float64[np.ndarray, "level checkpoint"]]
    # What is lost between two checkpoints, by their places: the mean and its standard
    # error.
    increase: Callable[[int, int], tuple[float, float]]

    @property
    def standard_error(self) -> Float64[np.ndarray, " checkpoint"]:
        """Standard error of the mean; ``math.inf`` for a single run."""
        return self.standard_deviation / math.sqrt(self.num_runs)


def of_runs(regret: Float64[np.ndarray, "run checkpoint"]) -> RunStatistics:
    """Return the statistics of the regret of every run."""

    def increase(first: int, last: int) -> tuple[float, float]:
        lost = regret[:, last] - regret[:, first]
        return float(lost.mean()), float(spread(lost)) / math.sqrt(lost.size)

    def quantiles(levels: Sequence[float]) -> np.ndarray:
        return np.quantile(regret, levels, axis=0)

    mean = regret.mean(axis=0)
    return RunStatistics(len(regret), mean, spread(regret), quantiles, increase)


def of_summaries(summary: xr.Dataset) -> RunStatistics:
    """Return those of moments and a histogram of one notion.

    See :mod:`bayesduel.simulation.run_summaries`: mean and spread are exact but for
    rounding, quantiles to 1 %.
    """
    num_runs = int(summary.attrs["num_runs"])
    mean, products, counts, least, most = (
        summary[f"regret_{name}"].to_numpy()
        for name in ("mean", "comoment", "histogram", "minimum", "maximum")
    )
    below = counts.cumsum(axis=-1)
    values = middles(summary["bin"].to_numpy())

    def deviation(squares: Any) -> Any:
        if num_runs < 2:
            return np.full_like(squares, math.inf)
        return np.sqrt(squares / (num_runs - 1))

    def ordered(rank: int) -> np.ndarray:
        """Return what stands at a place among the runs, from 0."""
        return np.clip(values[np.argmax(below > rank, axis=-1)], least, most)

    def quantiles(levels: Sequence[float]) -> np.ndarray:
        rows = []
        for level in levels:
            place = level * (num_runs - 1)
            low, high = ordered(math.floor(place)), ordered(math.ceil(place))
            rows.append(low + (high - low) * (place - math.floor(place)))
        return np.stack(rows)

    def increase(first: int, last: int) -> tuple[float, float]:
        # Rounding may leave less than nothing of what all runs lose alike.
        square = products[first, first] + products[last, last]
        square = np.maximum(square - 2 * products[first, last], 0.0)
        error = float(deviation(square)) / math.sqrt(num_runs)
        return float(mean[last] - mean[first]), error

    deviations = deviation(np.diagonal(products))
    return RunStatistics(num_runs, mean, deviations, quantiles, increase)


def spread(values: Float64[np.ndarray, "run ..."]) -> Any:
    """Return the standard deviation over the first axis; ``math.inf`` of one."""
    if len(values) < 2:
        return np.full(values.shape[1:], math.inf)
    return values.std(axis=0, ddof=1)

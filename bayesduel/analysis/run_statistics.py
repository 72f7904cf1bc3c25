"""Mean, spread and quantiles over runs: of the runs, or of what was kept of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.simulation.run_summaries import middles

if TYPE_CHECKING:
    import xarray as xr
    from jaxtyping import Float64

__all__ = ["StatisticsOfRuns", "StatisticsOfSummaries", "RunStatistics"]


class RunStatistics(ABC):
    """Regret in one notion at all checkpoints, over runs."""

    @property
    @abstractmethod
    def num_runs(self) -> int:
        """Number of runs."""

    @property
    @abstractmethod
    def mean(self) -> Float64[np.ndarray, " checkpoint"]:
        """Mean regret, float64 (checkpoint,)."""

    @property
    @abstractmethod
    def standard_deviation(self) -> Float64[np.ndarray, " checkpoint"]:
        """Standard deviation with n - 1; ``math.inf`` for a single run."""

    @property
    def standard_error(self) -> Float64[np.ndarray, " checkpoint"]:
        """Standard error of the mean; ``math.inf`` for a single run."""
        return self.standard_deviation / math.sqrt(self.num_runs)

    @abstractmethod
    def quantiles(
        self, levels: Sequence[float]
    ) -> Float64[np.ndarray, "level checkpoint"]:
        """Return quantiles of runs, float64 (level, checkpoint)."""

    @abstractmethod
    def increase(self, first: int, last: int) -> tuple[float, float]:
        """Return what is lost between two checkpoints: mean and its standard error."""


@dataclass(frozen=True)
class StatisticsOfRuns(RunStatistics):
    """Of the regret of every run, float64 (run, checkpoint)."""

    regret: Float64[np.ndarray, "run checkpoint"]

    @property
    def num_runs(self) -> int:
        """Number of runs."""
        return self.regret.shape[0]

    @property
    def mean(self) -> Float64[np.ndarray, " checkpoint"]:
        """Mean regret, float64 (checkpoint,)."""
        return self.regret.mean(axis=0)

    @property
    def standard_deviation(self) -> Float64[np.ndarray, " checkpoint"]:
        """Standard deviation with n - 1; ``math.inf`` for a single run."""
        return _spread(self.regret)

    def quantiles(
        self, levels: Sequence[float]
    ) -> Float64[np.ndarray, "level checkpoint"]:
        """Return quantiles of runs, interpolated between neighbors."""
        return np.quantile(self.regret, levels, axis=0)

    def increase(self, first: int, last: int) -> tuple[float, float]:
        """Return what is lost between two checkpoints: mean and its standard error."""
        lost = self.regret[:, last] - self.regret[:, first]
        return float(lost.mean()), float(_spread(lost)) / math.sqrt(lost.size)


@dataclass(frozen=True)
class StatisticsOfSummaries(RunStatistics):
    """Of moments and a histogram; see :mod:`bayesduel.simulation.run_summaries`.

    Mean and spread are exact but for rounding, quantiles to 1 %.
    """

    summary: xr.Dataset
    """Of one notion."""

    @property
    def num_runs(self) -> int:
        """Number of runs."""
        return int(self.summary.attrs["num_runs"])

    @property
    def mean(self) -> Float64[np.ndarray, " checkpoint"]:
        """Mean regret, float64 (checkpoint,)."""
        return self.summary["regret_mean"].to_numpy()

    @property
    def standard_deviation(self) -> Float64[np.ndarray, " checkpoint"]:
        """Standard deviation with n - 1; ``math.inf`` for a single run."""
        squares = np.diagonal(self.summary["regret_comoment"].to_numpy())
        return self._deviation(squares)

    def quantiles(
        self, levels: Sequence[float]
    ) -> Float64[np.ndarray, "level checkpoint"]:
        """Return quantiles of runs, interpolated between neighbors, to 1 %."""
        below = self.summary["regret_histogram"].to_numpy().cumsum(axis=-1)
        values = middles(self.summary["bin"].to_numpy())
        least = self.summary["regret_minimum"].to_numpy()
        most = self.summary["regret_maximum"].to_numpy()

        def ordered(rank: int) -> np.ndarray:
            """Return what stands at a place among the runs, from 0."""
            found = values[np.argmax(below > rank, axis=-1)]
            return np.clip(found, least, most)

        rows = []
        for level in levels:
            place = level * (self.num_runs - 1)
            low, high = ordered(math.floor(place)), ordered(math.ceil(place))
            rows.append(low + (high - low) * (place - math.floor(place)))
        return np.stack(rows)

    def increase(self, first: int, last: int) -> tuple[float, float]:
        """Return what is lost between two checkpoints: mean and its standard error."""
        products = self.summary["regret_comoment"].to_numpy()
        # Rounding may leave less than nothing of what all runs lose alike.
        square = products[first, first] + products[last, last]
        square = np.maximum(square - 2 * products[first, last], 0.0)
        mean = self.mean[last] - self.mean[first]
        return float(mean), float(self._deviation(square)) / math.sqrt(self.num_runs)

    def _deviation(self, squares: Any) -> Any:
        """Return the standard deviation of a sum of squares."""
        if self.num_runs < 2:
            return np.full_like(squares, math.inf)
        return np.sqrt(squares / (self.num_runs - 1))


def _spread(values: np.ndarray) -> Any:
    """Return the standard deviation over the first axis."""
    if len(values) < 2:
        return np.full(values.shape[1:], math.inf)
    return values.std(axis=0, ddof=1)

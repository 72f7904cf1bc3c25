"""From a result tree to lines with bands, panel by panel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.analysis.anchored_bounds import model_known_by
from bayesduel.analysis.measured_nodes import Measurement, measurements
from bayesduel.errors import ArgumentError
from theory.arguments import one_of

if TYPE_CHECKING:
    from jaxtyping import Float64, Int64

    from bayesduel.analysis.measured_nodes import Result
    from bayesduel.plots.style import Look

#: What a band can be, and how the caption calls it.
BANDS = {
    "standard error": "band: ± 1 standard error",
    "quantiles 10-90": "band: 10 % to 90 % quantiles of runs",
    "quantiles 25-75": "band: 25 % to 75 % quantiles of runs",
    "none": "",
}

_QUANTILES = {"quantiles 10-90": (0.1, 0.9), "quantiles 25-75": (0.25, 0.75)}


_BEYOND = 3.0
"""A line more than so many times as high as the next one leaves the axes."""


@dataclass(frozen=True, eq=False)
class Line:
    """Mean regret of one policy with its band, at its checkpoints.

    In a sweep, at values of a parameter.
    """

    policy: str
    rounds: Int64[np.ndarray, " point"] | Float64[np.ndarray, " point"]
    mean: Float64[np.ndarray, " point"]
    low: Float64[np.ndarray, " point"]
    high: Float64[np.ndarray, " point"]
    num_runs: int
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Of the policy, by name."""

    is_level: bool = False
    """In a sweep: one value for all of the parameter, measured once."""

    name: str = ""
    """What figures call the policy, if not by its label."""

    @property
    def model(self) -> str:
        """What the policy knows of the matrix; empty if nothing."""
        return model_known_by(self.parameters)

    @property
    def title(self) -> str:
        """What figures call the policy."""
        return self.name or self.policy

    @property
    def highest(self) -> float:
        """Largest value that the line or its band reaches."""
        return float(np.max(self.high))

    @property
    def has_band(self) -> bool:
        """Whether the band has an inside (one run has none)."""
        return bool(np.any(self.high > self.low))


@dataclass(frozen=True)
class Panel:
    """The policies measured on one instance."""

    instance: str
    lines: tuple[Line, ...]
    first: Measurement

    @property
    def horizon(self) -> int:
        """Last checkpoint of any line."""
        return max(int(line.rounds[-1]) for line in self.lines)

    @property
    def highest(self) -> float:
        """Largest value that a line or its band reaches."""
        return max(line.highest for line in self.lines)

    @property
    def beyond(self) -> tuple[Line, ...]:
        """Lines so high that they would press the others, at least half, flat."""
        ascending = sorted(self.lines, key=lambda line: line.highest)
        for place in range(max(2, -(-len(ascending) // 2)), len(ascending)):
            if ascending[place].highest > _BEYOND * ascending[place - 1].highest:
                return tuple(ascending[place:])
        return ()

    @property
    def top(self) -> float:
        """Largest value that the other lines or their bands reach."""
        beyond = self.beyond
        return max(line.highest for line in self.lines if line not in beyond)


def panels(result: Result, notion: str, band: str) -> list[Panel]:
    """Group the policies of a result by instance, without the failed ones.

    Raises ``ValueError`` for an unknown band, a notion that was not recorded, or when
    every policy failed.
    """
    one_of(band, BANDS, "band")
    groups = by_instance(result)
    return [
        Panel(name, tuple(line_of(each, notion, band) for each in members), members[0])
        for name, members in groups.items()
    ]


def with_names(groups: Iterable[Panel], look: Mapping[str, Look]) -> list[Panel]:
    """Return the panels with the names that policies have in a figure."""
    return [
        replace(
            panel,
            lines=tuple(replace(x, name=look[x.policy].name) for x in panel.lines),
        )
        for panel in groups
    ]


def by_instance(result: Result) -> dict[str, list[Measurement]]:
    """Group the policies that did not fail by instance, in the order of the result.

    Raises ``ValueError`` when every policy failed.
    """
    groups: dict[str, list[Measurement]] = {}
    for measured in measurements(result):
        if measured.has_regret:
            groups.setdefault(measured.instance, []).append(measured)
    if not groups:
        raise ArgumentError("result", "every policy in it failed, nothing can be drawn")
    return groups


def line_of(measured: Measurement, notion: str, band: str) -> Line:
    """Return the mean regret of one policy with its band."""
    found = measured.statistics(notion)
    mean, runs = found.mean, found.num_runs
    low = high = mean
    if band == "standard error" and runs > 1:
        low, high = mean - found.standard_error, mean + found.standard_error
    elif band in _QUANTILES and runs > 1:
        low, high = found.quantiles(_QUANTILES[band])
    return Line(
        measured.policy, measured.rounds, mean, low, high, runs, measured.parameters
    )

"""Regret per unit of log t: the number that asymptotic bounds speak about."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesduel.analysis.measured_nodes import (
    Measurement,
    checkpoint_index,
    measurements,
    recorded_notion,
)
from bayesduel.analysis.text import format_with_error
from bayesduel.errors import ArgumentError

if TYPE_CHECKING:
    from jaxtyping import Int

    from bayesduel.analysis.measured_nodes import Result


@dataclass(frozen=True)
class Slope:
    """Regret per unit of natural log t between two checkpoints.

    Attributes
    ----------
    value : float
        Mean over runs of (R(to) - R(from)) / log(to / from).
    standard_error : float
        Standard error of that mean over runs; ``math.inf`` for a single run, from
        which nothing can be said about the spread.
    from_round, to_round : int
        The two checkpoints.
    notion : str
        Which regret.
    num_runs : int
        Number of runs in the mean.

    Examples
    --------
    >>> print(Slope(65.6, 0.9, 10**6, 10**12, "copeland", 400))
    65.6 ± 0.9 per log-round
    """

    value: float
    standard_error: float
    from_round: int
    to_round: int
    notion: str
    num_runs: int

    def __float__(self) -> float:
        """Return the slope itself."""
        return self.value

    def __str__(self) -> str:
        """Return the slope as "65.6 ± 0.9 per log-round"."""
        return f"{format_with_error(self.value, self.standard_error)} per log-round"


def slope(
    result: Result | Measurement,
    from_round: int,
    to_round: int,
    notion: str | None = None,
) -> Slope:
    """Measure regret per unit of log t between two checkpoints.

    For every run (R(to) - R(from)) / log(to / from), natural logarithm; then mean and
    standard error over runs. This is the number that asymptotic bounds speak about:
    with C* the constant of a lower bound, the slope of a strongly consistent policy
    cannot stay below C* for ever.

    Parameters
    ----------
    result : xarray.DataTree, xarray.Dataset or Measurement
        Exactly one policy on one instance.
    from_round, to_round : int
        Two checkpoints of the result, from < to.
    notion : str, optional
        Which recorded regret. By default Copeland regret, or the first
        notion that was recorded where that was not.

    Returns
    -------
    Slope
        With one run, ``standard_error`` is ``math.inf``.

    Raises
    ------
    ValueError
        When a round is no checkpoint (the nearest ones are named), the order is
        wrong, the notion was not recorded or there are several policies.

    Examples
    --------
    >>> import numpy as np, xarray as xr
    >>> rounds = np.array([100, 1000, 10000])
    >>> regret = np.log(rounds) * np.array([[2.0], [4.0]])
    >>> data = xr.Dataset(
    ...     {"regret": (("notion", "run", "checkpoint"), regret[None])},
    ...     coords={"notion": ["copeland"], "checkpoint": rounds},
    ... )
    >>> print(slope(data, 100, 10000))
    3.0 ± 1.0 per log-round
    """
    listed = [result] if isinstance(result, Measurement) else measurements(result)
    if len(listed) != 1:
        names = ", ".join(f"{one.instance}/{one.policy}" for one in listed)
        rule = f"a slope is of one policy, but there are {len(listed)} ({names})"
        remedy = "pick one, e.g. result['<instance>/<policy>']"
        raise ArgumentError("result", rule, remedy=remedy)
    (measured,) = listed
    notion = recorded_notion([measured], notion)
    if not measured.has_regret:
        measured.regret(notion)  # Says why there is none.
    first = checkpoint_index(measured.rounds, from_round, "from_round")
    last = checkpoint_index(measured.rounds, to_round, "to_round")
    if first >= last:
        raise ArgumentError(
            "from_round", f"must come before to_round, {to_round}", from_round
        )
    statistics = measured.statistics(notion)
    width = math.log(int(to_round)) - math.log(int(from_round))
    mean, error = statistics.increase(first, last)
    return Slope(
        mean / width,
        error / width,
        int(from_round),
        int(to_round),
        notion,
        statistics.num_runs,
    )


def last_decades(
    rounds: Int[np.ndarray, " checkpoint"], decades: float = 2.0
) -> tuple[int, int]:
    """Return the checkpoints that span about the last ``decades`` before the end.

    The first is the checkpoint nearest to horizon / 10^decades in log t, before the
    last one; a ``ValueError`` where there is but one.

    Examples
    --------
    >>> last_decades(np.array([10, 100, 1000, 10_000, 100_000]))
    (1000, 100000)
    """
    if rounds.size < 2:
        raise ArgumentError(
            "checkpoints", "a slope needs at least two", remedy="simulate with more"
        )
    logs = np.log(rounds.astype(np.float64))
    target = logs[-1] - decades * math.log(10.0)
    return int(rounds[int(np.argmin(np.abs(logs[:-1] - target)))]), int(rounds[-1])


def slope_span(
    measured: Sequence[Measurement], from_round: int | None, to_round: int | None
) -> tuple[int, int]:
    """Return the two checkpoints of a slope; the last two decades by default."""
    if to_round is None:
        to_round = min(int(one.rounds[-1]) for one in measured)
    rounds = measured[0].rounds
    rounds = rounds[: checkpoint_index(rounds, to_round, "to_round") + 1]
    if from_round is not None:
        return from_round, int(rounds[-1])
    return last_decades(rounds)

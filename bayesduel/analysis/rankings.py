"""Policies ranked as far as the runs can tell them apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesduel.analysis.measurements import Measurement, measurements
from bayesduel.analysis.paired_bootstrap import FEWEST_RUNS, paired_intervals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayesduel.analysis.measurements import Result

__all__ = ["Difference", "RankedPolicy", "Ranking", "rankings"]


@dataclass(frozen=True)
class Difference:
    """Regret of one policy minus that of another, run by run.

    Attributes
    ----------
    lower, higher : str
        Labels of the policies; `lower` has the smaller mean.
    mean, standard_error : float
        Of higher minus lower over runs.
    low, high : float
        Interval for the expected difference; infinite where nothing can be said.
    share : float
        Share of the runs in which `lower` has less regret; half of a tied run.
    """

    lower: str
    higher: str
    mean: float
    standard_error: float
    low: float
    high: float
    share: float

    @property
    def is_certain(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low > 0


@dataclass(frozen=True)
class RankedPolicy:
    """A policy, and the ranks that the runs leave open for it.

    Attributes
    ----------
    policy : str
        Its label.
    best_rank, worst_rank : int
        One plus the number of policies that are certainly better; the number of
        policies minus those that are certainly worse.
    mean, median, quantile_10, quantile_90 : float
        Regret over runs.
    """

    policy: str
    best_rank: int
    worst_rank: int
    mean: float
    median: float
    quantile_10: float
    quantile_90: float


@dataclass(frozen=True)
class Ranking:
    """Policies on one environment.

    Attributes
    ----------
    environment, notion : str
        Where, and which regret.
    round_ : int
        Checkpoint: the last one that all policies have.
    num_runs : int
        Runs that all policies have.
    confidence : float
        Of all intervals together.
    policies : tuple of RankedPolicy
        In the order of their means; only `best_rank` and `worst_rank` say what can be
        concluded.
    differences : tuple of Difference
        All pairs, in the same order.
    note : str
        Why nothing can be concluded; empty if something can.
    """

    environment: str
    notion: str
    round_: int
    num_runs: int
    confidence: float
    policies: tuple[RankedPolicy, ...]
    differences: tuple[Difference, ...]
    note: str

    def difference(self, lower: str, higher: str) -> Difference:
        """Return the difference of two policies, whichever has the smaller mean.

        Raises
        ------
        ValueError
            When one of them is not ranked here.
        """
        for found in self.differences:
            if {found.lower, found.higher} == {lower, higher}:
                return found
        names = ", ".join(each.policy for each in self.policies)
        raise ValueError(
            f"ranking: {lower!r} and {higher!r} must be two of {names} on "
            f"{self.environment}"
        )


def rankings(
    comparison: Result,
    *,
    notion: str = "copeland",
    confidence: float = 0.95,
    num_resamples: int = 4000,
    seed: int = 0,
) -> list[Ranking]:
    """Rank the policies of a comparison on every environment.

    The runs of all policies share their relabelings of the arms, so differences are
    taken run by run. The intervals are those of
    :func:`bayesduel.analysis.paired_intervals`: they hold for all pairs of an
    environment at once.

    Parameters
    ----------
    comparison : xarray.DataTree or xarray.Dataset
        What :func:`bayesduel.compare` returned.
    notion : str
        Which recorded regret, at the last checkpoint.
    confidence, num_resamples, seed
        As for `paired_intervals`.

    Returns
    -------
    list of Ranking
        One per environment on which at least two policies did not fail.

    Raises
    ------
    ValueError
        When the notion was not recorded, an argument breaks its rule, or policies on
        one environment have no common checkpoint, no common run, or different seeds.

    Examples
    --------
    >>> import numpy as np, xarray as xr
    >>> runs = np.random.default_rng(1).normal(50.0, 20.0, 30)
    >>> def node(label, regret):
    ...     return xr.Dataset(
    ...         {"regret": (("notion", "run", "checkpoint"), regret[None, :, None])},
    ...         coords={"notion": ["copeland"], "checkpoint": [1000]},
    ...         attrs={"environment": "toy", "policy": label},
    ...     )
    >>> tree = xr.DataTree.from_dict({"/A": node("A", runs), "/B": node("B", runs + 9)})
    >>> (ranking,) = rankings(tree)
    >>> [(each.policy, each.best_rank, each.worst_rank) for each in ranking.policies]
    [('A', 1, 1), ('B', 2, 2)]
    """
    groups: dict[str, list[Measurement]] = {}
    for measured in measurements(comparison):
        if "regret" in measured.data:
            groups.setdefault(measured.environment, []).append(measured)
    return [
        _ranking(name, members, notion, confidence, num_resamples, seed)
        for name, members in groups.items()
        if len(members) > 1
    ]


def _ranking(
    environment: str,
    members: list[Measurement],
    notion: str,
    confidence: float,
    num_resamples: int,
    seed: int,
) -> Ranking:
    round_, regret = _paired(environment, members, notion)
    order = np.argsort(regret.mean(axis=0), kind="stable")
    regret = regret[:, order]
    labels = [members[index].policy for index in order]
    found = paired_intervals(
        regret, confidence=confidence, num_resamples=num_resamples, seed=seed
    )
    differences = tuple(
        Difference(
            labels[i],
            labels[j],
            float(found.mean[pair]),
            float(found.standard_error[pair]),
            float(found.low[pair]),
            float(found.high[pair]),
            _share(regret[:, i], regret[:, j]),
        )
        for pair, (i, j) in enumerate(zip(found.first, found.second, strict=True))
    )
    certain = [each for each in differences if each.is_certain]
    policies = tuple(
        _ranked(label, regret[:, index], certain, len(labels))
        for index, label in enumerate(labels)
    )
    runs = regret.shape[0]
    note = "" if runs >= FEWEST_RUNS else (
        f"{runs} run{'' if runs == 1 else 's'} cannot tell policies apart; "
        f"simulate at least {FEWEST_RUNS}"
    )  # fmt: skip
    return Ranking(
        environment, notion, round_, runs, confidence, policies, differences, note
    )


def _paired(
    environment: str, members: list[Measurement], notion: str
) -> tuple[int, NDArray[np.float64]]:
    """Return the last common checkpoint, and regret there, (run, policy)."""
    seeds = {str(each.data.attrs.get("seed")) for each in members}
    if len(seeds) > 1:
        raise ValueError(
            f"comparison: policies on {environment} have different seeds "
            f"({', '.join(sorted(seeds))}), so their runs are no pairs; simulate them "
            "in one comparison"
        )
    rounds = set.intersection(*({*each.rounds.tolist()} for each in members))
    runs = set.intersection(*({*_runs(each).tolist()} for each in members))
    if not rounds or not runs:
        what = "checkpoint" if not rounds else "run"
        raise ValueError(
            f"comparison: policies on {environment} have no common {what}; simulate "
            "them in one comparison"
        )
    round_ = max(rounds)
    columns = []
    for each in members:
        kept = np.isin(_runs(each), sorted(runs))
        place = int(np.flatnonzero(each.rounds == round_)[0])
        by_number = np.argsort(_runs(each)[kept], kind="stable")
        columns.append(each.regret(notion)[kept, place][by_number])
    return int(round_), np.stack(columns, axis=1)


def _runs(measured: Measurement) -> NDArray[np.int64]:
    """Return the numbers of the runs."""
    data = measured.data
    if "run" in data.coords:
        return np.asarray(data["run"].values, dtype=np.int64)
    return np.arange(data.sizes["run"], dtype=np.int64)


def _share(lower: NDArray[np.float64], higher: NDArray[np.float64]) -> float:
    return float(((lower < higher) + 0.5 * (lower == higher)).mean())


def _ranked(
    label: str, regret: NDArray[np.float64], certain: list[Difference], count: int
) -> RankedPolicy:
    low, median, high = (float(q) for q in np.quantile(regret, [0.1, 0.5, 0.9]))
    return RankedPolicy(
        label,
        1 + sum(each.higher == label for each in certain),
        count - sum(each.lower == label for each in certain),
        float(regret.mean()),
        median,
        low,
        high,
    )

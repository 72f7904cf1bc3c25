"""Policies ranked as far as the runs can tell them apart.

The mean of a policy can rest on rare runs that go very wrong, and no statistic of the
runs that were made tells of a kind that none of them is of: without a limit on what a
run may cost, no number of runs can order two means (Bahadur and Savage 1956, Annals of
Mathematical Statistics 27, 1115-1122). An order is therefore called certain only where
runs as rare as these may have missed could not undo it. `rankings` states the rule.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bayesduel.analysis.measured_nodes import (
    Measurement,
    largest_regret,
    measurements,
    recorded_notion,
    run_numbers,
)
from bayesduel.analysis.paired_bootstrap import (
    FEWEST_RUNS,
    PairedIntervals,
    checked_options,
    paired_intervals,
)
from bayesduel.analysis.ranked_policies import (
    CERTAIN,
    OPEN,
    SEEN,
    Difference,
    RankedPolicy,
    Ranking,
)
from bayesduel.analysis.rare_runs import PEAK, enough_runs, reversal, unseen_share
from bayesduel.errors import ArgumentError
from theory.arguments import as_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayesduel.analysis.measured_nodes import Result

_WORST = 0.05
"""Share of the runs that `RankedPolicy.worst_share` is about."""


def rankings(
    comparison: Result,
    *,
    notion: str | None = None,
    confidence: float = 0.95,
    peak: float = PEAK,
    num_resamples: int = 4000,
    seed: int = 0,
) -> list[Ranking]:
    """Rank the policies of a comparison on every instance.

    The runs of all policies share their relabelings of the arms, so differences are
    taken run by run. The intervals are those of
    :func:`bayesduel.analysis.paired_intervals`: they hold for all pairs of an
    instance at once, for runs of the kinds that were seen.

    An order is certain where runs of a kind not seen could not undo it either. They
    may make up a share u = 1 - (a / (2 (P - 1)))^(1/n) of the runs, with P policies, n
    runs and a confidence of 1 - a: half of the error is for the intervals, half for u,
    over all policies but the best. A lead d is lost if in that share of the runs the
    policy that leads has d (1 - u) / u more regret than the other, whatever the other
    costs there (:attr:`~bayesduel.analysis.Difference.reversal`). The order is certain
    if no run can differ so much. A run is taken to differ at most by the loss of all
    rounds, where the result knows it (it holds the matrix, or tells what the worst set
    costs), and by `peak` times the mean of the other policy. The worst run that was
    seen is a least value for it.

    Parameters
    ----------
    comparison : xarray.DataTree or xarray.Dataset
        What :func:`bayesduel.compare` returned.
    notion : str, optional
        Which recorded regret, at the last checkpoint. By default Copeland regret, or
        the first notion that was recorded where that was not.
    confidence : float
        Between 0 and 1: of all statements on an instance together.
    peak : float
        At least 1, 50 by default: by how many times the mean of the other policy a run
        of the policy that leads may cost more than one of the other.
        ``math.inf`` leaves only the limit that the rounds set.
    num_resamples, seed
        As for `paired_intervals`.

    Returns
    -------
    list of Ranking
        One per instance on which at least two policies did not fail and have their
        single runs kept (not ``record="quantiles"``).

    Raises
    ------
    ValueError
        When the notion was not recorded, an argument breaks its rule, or policies on
        one instance have no common checkpoint, no common run, or different seeds.

    Notes
    -----
    How often two policies were told apart in the wrong order by the interval alone, in
    percent of 400 comparisons with 10, 30, 100 and 300 runs. By the rule above it was
    certain in none of these 11,200 (``tests/analysis/test_rare_runs.py`` measures it
    again).

    ======================================  ====  ====  ====  ====
    regret of the policy that is worse        10    30   100   300
    ======================================  ====  ====  ====  ====
    6 % of the runs 3000, the others 60       55    18   0.3     0
    1 % of the runs 6000, the others 60       90    74    38     6
    1 % of the runs 300, the others 60        90    74    38     6
    10 % of the runs 600, the others 60       34     5   0.3     0
    2 % of the runs 6000, the others 1        80    59    14     0
    log-normal of scale 1.5, mean 100         16    10     5     2
    like ECW-RMED without Condorcet winner    53    16     7     2
    ======================================  ====  ====  ====  ====

    The other policy is normal with mean 100 (third row 61.5, sixth 90, last 8600).
    What is paid for it are runs. Two policies of which one has 1.25, 1.5, 2 or 4 times
    the regret of the other take about 930, 560, 370 or 250 runs, among 6 policies 1.4
    times and among 11 policies 1.6 times as many. A policy that loses most of the
    rounds is told apart by 10 to 20 runs.

    Examples
    --------
    >>> import numpy as np, xarray as xr
    >>> runs = np.random.default_rng(1).normal(50.0, 20.0, 300)
    >>> def node(label, regret):
    ...     return xr.Dataset(
    ...         {"regret": (("notion", "run", "checkpoint"), regret[None, :, None])},
    ...         coords={"notion": ["copeland"], "checkpoint": [1000]},
    ...         attrs={"instance": "toy", "policy": label},
    ...     )
    >>> def compared(regret):
    ...     tree = {"/A": node("A", runs), "/B": node("B", regret)}
    ...     (ranking,) = rankings(xr.DataTree.from_dict(tree))
    ...     return ranking.difference("A", "B")
    >>> compared(4 * runs).verdict, compared(runs + 9).verdict
    ('certain', 'in the runs seen')
    >>> compared(runs + 9).enough_runs, round(compared(runs + 9).reversal)
    (1169, 727)
    """
    if not as_number(peak) >= 1:  # Infinite where nothing is known of the largest run.
        raise ArgumentError("peak", "must be a number of at least 1", peak)
    peak = as_number(peak)
    confidence, num_resamples, seed = checked_options(confidence, num_resamples, seed)
    notion = recorded_notion(comparison, notion)
    groups: dict[str, list[Measurement]] = {}
    for measured in measurements(comparison):
        if "regret" in measured.data:
            groups.setdefault(measured.instance, []).append(measured)
    return [
        _ranking(name, members, notion, confidence, peak, num_resamples, seed)
        for name, members in groups.items()
        if len(members) > 1
    ]


def _ranking(
    instance: str,
    members: list[Measurement],
    notion: str,
    confidence: float,
    peak: float,
    num_resamples: int,
    seed: int,
) -> Ranking:
    round_, regret = _paired(instance, members, notion)
    order = np.argsort(regret.mean(axis=0), kind="stable")
    regret = regret[:, order]
    labels = [members[index].policy for index in order]
    found = paired_intervals(
        regret, confidence=confidence, num_resamples=num_resamples, seed=seed
    )
    runs, error = regret.shape[0], (1.0 - confidence) / 2 / (len(labels) - 1)
    most = largest_regret(members[0], notion, round_)
    differences = _differences(labels, regret, found, error, peak, most)
    policies = tuple(
        _ranked(label, regret[:, index], differences, len(labels))
        for index, label in enumerate(labels)
    )
    note = "" if runs >= FEWEST_RUNS else (
        f"{runs} run{'' if runs == 1 else 's'} cannot tell policies apart; "
        f"simulate at least {FEWEST_RUNS}"
    )  # fmt: skip
    return Ranking(
        instance,
        notion,
        round_,
        runs,
        confidence,
        unseen_share(runs, error),
        policies,
        differences,
        note,
    )


def _differences(
    labels: list[str],
    regret: NDArray[np.float64],
    found: PairedIntervals,
    error: float,
    peak: float,
    most: float,
) -> tuple[Difference, ...]:
    """Judge all pairs, of which the first has the smaller mean."""
    unseen = unseen_share(len(regret), error)
    means, medians = regret.mean(axis=0), np.median(regret, axis=0)
    rows = []
    for pair, (i, j) in enumerate(zip(found.first, found.second, strict=True)):
        low = float(found.low[pair])
        limit = max(min(most, peak * float(means[j])), float(regret[:, i].max()))
        undone = reversal(low, unseen)
        apart = SEEN if low > 0 else OPEN
        rows.append(
            Difference(
                lower=labels[i],
                higher=labels[j],
                mean=float(found.mean[pair]),
                standard_error=float(found.standard_error[pair]),
                low=low,
                high=float(found.high[pair]),
                share=_share(regret[:, i], regret[:, j]),
                median=float(medians[j] - medians[i]),
                reversal=undone,
                limit=limit,
                enough_runs=enough_runs(low, limit, error),
                verdict=CERTAIN if undone > limit else apart,
            )
        )
    return tuple(rows)


def _paired(
    instance: str, members: list[Measurement], notion: str
) -> tuple[int, NDArray[np.float64]]:
    """Return the last common checkpoint, and regret there, (run, policy)."""
    seeds = {str(each.data.attrs.get("seed")) for each in members}
    if len(seeds) > 1:
        raise ArgumentError(
            "comparison",
            f"policies on {instance} have different seeds "
            f"({', '.join(sorted(seeds))}), so their runs are no pairs",
            remedy="simulate them in one comparison",
        )
    rounds = set.intersection(*({*each.rounds.tolist()} for each in members))
    runs = set.intersection(*({*run_numbers(each).tolist()} for each in members))
    if not rounds or not runs:
        what = "checkpoint" if not rounds else "run"
        raise ArgumentError(
            "comparison",
            f"policies on {instance} have no common {what}",
            remedy="simulate them in one comparison",
        )
    round_ = max(rounds)
    columns = []
    for each in members:
        kept = np.isin(run_numbers(each), sorted(runs))
        place = int(np.flatnonzero(each.rounds == round_)[0])
        by_number = np.argsort(run_numbers(each)[kept], kind="stable")
        columns.append(each.regret(notion)[kept, place][by_number])
    return int(round_), np.stack(columns, axis=1)


def _share(lower: NDArray[np.float64], higher: NDArray[np.float64]) -> float:
    return float(((lower < higher) + 0.5 * (lower == higher)).mean())


def _ranked(
    label: str,
    regret: NDArray[np.float64],
    differences: tuple[Difference, ...],
    count: int,
) -> RankedPolicy:
    low, median, high = (float(q) for q in np.quantile(regret, [0.1, 0.5, 0.9]))
    best, worst = _ranks(label, [d for d in differences if d.is_certain], count)
    best_seen, worst_seen = _ranks(label, [d for d in differences if d.is_apart], count)
    # The share that the largest twentieth of the runs makes; 0 of no regret.
    worst_runs = np.sort(regret)[-math.ceil(_WORST * regret.size) :]
    share = float(worst_runs.sum()) / float(regret.sum()) if regret.sum() > 0 else 0.0
    return RankedPolicy(
        label,
        best,
        worst,
        best_seen,
        worst_seen,
        float(regret.mean()),
        median,
        low,
        high,
        share,
    )


def _ranks(label: str, told: list[Difference], count: int) -> tuple[int, int]:
    """Return the ranks that the pairs that are told apart leave open."""
    return (
        1 + sum(each.higher == label for each in told),
        count - sum(each.lower == label for each in told),
    )

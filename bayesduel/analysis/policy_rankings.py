"""Policies ranked as far as the runs can tell them apart.

The mean of a policy can rest on rare runs that go very wrong, and no statistic of the
runs that were made tells of a kind that none of them is of: without a limit on what a
run may cost, no number of runs can order two means (Bahadur and Savage 1956, Annals of
Mathematical Statistics 27, 1115-1122). An order is therefore called certain only where
runs as rare as these may have missed could not undo it. `rankings` states the rule; its
intervals are those of `paired_intervals`, a paired bootstrap of all pairs at once.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayesduel.analysis.measured_nodes import (
    Measurement,
    largest_regret,
    measurements,
    recorded_notion,
    run_numbers,
)
from bayesduel.arguments.limits import MOST_RESAMPLES
from bayesduel.errors import ArgumentError
from theory.arguments import as_number, integer_from, share_of
from theory.validation import numeric_array

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from bayesduel.analysis.measured_nodes import Result


CERTAIN, SEEN, OPEN = "certain", "in the runs seen", "open"
"""Conclusions about the order of two policies."""


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
        Interval for the expected difference in runs of the kinds seen; infinite where
        nothing can be said.
    share : float
        Share of the runs in which `lower` has less regret; half of a tied run.
    median : float
        Difference of the medians; negative where they say the opposite of the means.
    reversal : float
        By how much more regret than `higher` in the same runs `lower` would lose its
        lead, if it had it in a share `Ranking.unseen` of the runs, which may be of a
        kind not seen; 0 if the interval holds 0.
    limit : float
        The largest such excess that a run is taken to have; infinite if that is not
        known.
    enough_runs : int
        Runs that make the order certain, if they are like these; 0 if none would, or
        that is not known.
    verdict : {"certain", "in the runs seen", "open"}
        Whether `reversal` exceeds `limit`; if not, whether the interval excludes 0.
    """

    lower: str
    higher: str
    mean: float
    standard_error: float
    low: float
    high: float
    share: float
    median: float
    reversal: float
    limit: float
    enough_runs: int
    verdict: str

    @property
    def is_certain(self) -> bool:
        """Whether neither noise nor runs of a kind not seen can undo the order."""
        return self.verdict == CERTAIN

    @property
    def is_apart(self) -> bool:
        """Whether the interval excludes 0: the order in runs of the kinds seen."""
        return self.verdict != OPEN


@dataclass(frozen=True)
class RankedPolicy:
    """A policy, and the range of ranks that is compatible with the runs.

    Attributes
    ----------
    policy : str
        Its label.
    best_rank, worst_rank : int
        One plus the number of policies that are certainly better; the number of
        policies minus those that are certainly worse.
    best_seen, worst_seen : int
        The same by the intervals alone: as if no run could be of a kind not seen.
    mean, median, quantile_10, quantile_90 : float
        Regret over runs.
    worst_share : float
        Share of the mean that the worst twentieth of the runs makes: 0.05 where all
        runs are equal, 0.2 in an exponential distribution.
    """

    policy: str
    best_rank: int
    worst_rank: int
    best_seen: int
    worst_seen: int
    mean: float
    median: float
    quantile_10: float
    quantile_90: float
    worst_share: float


@dataclass(frozen=True)
class Ranking:
    """The ranks of the policies on one instance.

    Attributes
    ----------
    instance, notion : str
        Where, and which regret.
    round_ : int
        Checkpoint: the last one that all policies have.
    num_runs : int
        Runs that all policies have.
    confidence : float
        Of all statements together.
    unseen : float
        Share of the runs that may be of a kind that none of these is of.
    policies : tuple of RankedPolicy
        In the order of their means; only `best_rank` and `worst_rank` say what can be
        concluded.
    differences : tuple of Difference
        All pairs, in the same order.
    note : str
        Why nothing can be concluded; empty if something can.
    """

    instance: str
    notion: str
    round_: int
    num_runs: int
    confidence: float
    unseen: float
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
        are_texts = isinstance(lower, str) and isinstance(higher, str)
        for pair in self.differences if are_texts else ():
            if {pair.lower, pair.higher} == {lower, higher}:
                return pair
        names = ", ".join(ranked.policy for ranked in self.policies)
        rule = f"must be asked about two of {names} on {self.instance}"
        raise ArgumentError("ranking", rule, (lower, higher))

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per policy: its instance and the fields of its rank.

        Returns
        -------
        pandas.DataFrame
            In the order of the means. Frames of several instances can be
            concatenated.
        """
        return self._frame(self.policies)

    def differences_to_dataframe(self) -> pd.DataFrame:
        """Return one row per pair of policies, with the fields of `Difference`."""
        return self._frame(self.differences)

    def _frame(self, rows: tuple[RankedPolicy | Difference, ...]) -> pd.DataFrame:
        import pandas as pd

        where = {"instance": self.instance, "notion": self.notion}
        return pd.DataFrame([where | asdict(row) for row in rows])


# --- What runs of a kind not seen could do ------------------------------------------


PEAK = 50.0
"""No run is taken to cost more than that many times the mean of its policy.

Two policies share what makes a run hard, so that is said of the regret by which the one
exceeds the other in a run. The largest of 500 runs of ECW-RMED is 20.5 times their mean
on the five-armed matrix without a Condorcet winner of Wu and Liu (2016), at 10^6
rounds. A cost that strikes a share p of the runs is at most 1 / p times the mean it
takes part in, so 50 covers what strikes at least 1 run in 50, whatever it costs.
"""


def unseen_share(num_runs: int, error: float) -> float:
    """Bound the share of runs of a kind that none of the observed runs is of.

    1 - error^(1/n) for n independent runs, about log(1 / error) / n (Clopper and
    Pearson 1934 for no event in n; with 5 percent the "rule of three" of Hanley and
    Lippman-Hand 1983). With probability ``error`` at most, something that strikes a
    larger share of the runs was missed.

    Examples
    --------
    >>> [round(unseen_share(n, 0.05), 4) for n in (10, 100, 1000)]
    [0.2589, 0.0295, 0.003]
    """
    return -math.expm1(math.log(error) / num_runs)


def reversal(lead: float, share: float) -> float:
    """Return the excess at which a share of unseen runs undoes the lead of a policy.

    The excess of a run is the regret of the leader minus that of the other policy in
    the same run. It is -``lead`` on average in runs of the kinds seen. With the excess
    returned, lead (1 - share) / share, in a share of the runs the two expected regrets
    are equal, whatever the other policy costs in those runs: what the leader costs
    there is the excess plus that. 0 where there is no lead to undo.

    Examples
    --------
    Runs of the kind seen cost 60 and 100, so the lead is 40. One run in 16 costs 1000
    and 400, which is 600 more:

    >>> reversal(40.0, 1 / 16)
    600.0
    >>> (15 * 60 + 1000) / 16 == (15 * 100 + 400) / 16
    True
    """
    return max(0.0, lead * (1.0 - share) / share)


def enough_runs(lead: float, limit: float, error: float) -> int:
    """Return the fewest runs whose unseen share cannot undo a lead.

    The excess of a run, as of `reversal`, is ``limit`` at most. 0 where no number of
    runs is enough: there is no lead, or no limit.

    Examples
    --------
    >>> enough_runs(40.0, 5000.0, 0.025)
    463
    >>> reversal(40.0, unseen_share(463, 0.025)) > 5000.0
    True
    """
    if lead <= 0 or not math.isfinite(limit):
        return 0
    if not math.isfinite(lead):
        return 1
    return math.ceil(math.log(error) / math.log1p(-lead / (lead + limit)) + 1e-9)


# --- The ranking ---------------------------------------------------------------------


_WORST = 0.05  # Share of the runs that `RankedPolicy.worst_share` is about.


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
    over all policies but the best. Unseen runs of total probability u reverse a lead d
    only if in them the leading policy has at least d (1 - u) / u more regret than the
    other (:attr:`~bayesduel.analysis.Difference.reversal`). The order is certain
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

    The other policy is normal with mean 100 (third row 61.5, sixth 90, last 8600). The
    price is a larger number of runs. Two policies of which one has 1.25, 1.5, 2 or 4
    times the regret of the other take about 930, 560, 370 or 250 runs, among 6 policies
    1.4 times and among 11 policies 1.6 times as many. A policy that loses most of the
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
    intervals = paired_intervals(
        regret, confidence=confidence, num_resamples=num_resamples, seed=seed
    )
    runs, error = regret.shape[0], (1.0 - confidence) / 2 / (len(labels) - 1)
    most = largest_regret(members[0], notion, round_)
    differences = _differences(labels, regret, intervals, error, peak, most)
    policies = tuple(
        _ranked(label, regret[:, index], differences, len(labels))
        for index, label in enumerate(labels)
    )
    note = "" if runs >= FEWEST_RUNS else (
        f"{runs} run{'' if runs == 1 else 's'} cannot tell policies apart; "
        f"simulate at least {FEWEST_RUNS}"
    )  # fmt: skip
    return Ranking(
        instance, notion, round_, runs, confidence, unseen_share(runs, error), policies,
        differences, note,
    )  # fmt: skip


def _differences(
    labels: list[str],
    regret: NDArray[np.float64],
    intervals: PairedIntervals,
    error: float,
    peak: float,
    most: float,
) -> tuple[Difference, ...]:
    """Judge all pairs, of which the first has the smaller mean."""
    unseen = unseen_share(len(regret), error)
    means, medians = regret.mean(axis=0), np.median(regret, axis=0)
    rows = []
    for pair, (i, j) in enumerate(zip(intervals.first, intervals.second, strict=True)):
        ours, theirs = regret[:, i], regret[:, j]
        low = float(intervals.low[pair])
        limit = max(min(most, peak * float(means[j])), float(ours.max()))
        undone = reversal(low, unseen)
        apart = SEEN if low > 0 else OPEN
        rows.append(
            Difference(
                lower=labels[i],
                higher=labels[j],
                mean=float(intervals.mean[pair]),
                standard_error=float(intervals.standard_error[pair]),
                low=low,
                high=float(intervals.high[pair]),
                share=float(((ours < theirs) + 0.5 * (ours == theirs)).mean()),
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
    seeds = {str(member.data.attrs.get("seed")) for member in members}
    if len(seeds) > 1:
        raise ArgumentError(
            "comparison",
            f"policies on {instance} have different seeds "
            f"({', '.join(sorted(seeds))}), so their runs are no pairs",
            remedy="simulate them in one comparison",
        )
    rounds = set.intersection(*({*member.rounds.tolist()} for member in members))
    runs = set.intersection(*({*run_numbers(member).tolist()} for member in members))
    if not rounds or not runs:
        what = "checkpoint" if not rounds else "run"
        rule = f"policies on {instance} have no common {what}"
        remedy = "simulate them in one comparison"
        raise ArgumentError("comparison", rule, remedy=remedy)
    round_ = max(rounds)
    columns = []
    for member in members:
        common = np.isin(run_numbers(member), sorted(runs))
        index = int(np.flatnonzero(member.rounds == round_)[0])
        by_number = np.argsort(run_numbers(member)[common], kind="stable")
        columns.append(member.regret(notion)[common, index][by_number])
    return int(round_), np.stack(columns, axis=1)


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
        label, best, worst, best_seen, worst_seen, float(regret.mean()), median, low,
        high, share,
    )  # fmt: skip


def _ranks(label: str, apart: list[Difference], count: int) -> tuple[int, int]:
    """Return the ranks that the pairs that are told apart leave open."""
    return (
        1 + sum(pair.higher == label for pair in apart),
        count - sum(pair.lower == label for pair in apart),
    )


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
    >>> intervals = paired_intervals(shared + rng.normal([[0.0, 2.0]], 1.0, (50, 2)))
    >>> bool(0.0 < intervals.low[0] < 2.0 < intervals.high[0])
    True
    """
    table = numeric_array(values, "values")
    if table.ndim != 2 or min(table.shape) < 1 or not np.isfinite(table).all():
        raise ArgumentError(
            "values", "must be a finite table of the shape (run, policy)", table.shape
        )
    if np.abs(table).max() > _LARGEST:
        rule = (
            f"must lie between -{_LARGEST:g} and {_LARGEST:g}, whose squares can be "
            "added up"
        )
        raise ArgumentError("values", rule, table.ravel()[np.abs(table).argmax()])
    confidence, num_resamples, seed = checked_options(confidence, num_resamples, seed)
    num_runs, num_columns = table.shape
    first, second = np.triu_indices(num_columns, k=1)
    if num_resamples * first.size > _MOST_STATISTICS:
        rule = (
            f"must be at most {_MOST_STATISTICS // first.size}, so that the "
            f"statistics of {first.size} pairs of columns fit into memory"
        )
        raise ArgumentError("num_resamples", rule, num_resamples)
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
    """Return abs(mean) / standard error of every pair in some resamples, (size, M)."""
    num_runs = centered.shape[0]
    rng = np.random.default_rng([seed, block])
    counts = rng.multinomial(num_runs, np.full(num_runs, 1.0 / num_runs), size=size)
    mean = counts @ centered / num_runs
    square = counts @ centered**2 / num_runs
    error = np.sqrt(np.maximum(square - mean**2, 0.0) / (num_runs - 1))
    far = np.where(np.abs(mean) > least, math.inf, 0.0)
    return np.divide(np.abs(mean), error, out=far, where=error > least)

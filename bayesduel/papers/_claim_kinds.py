"""How each kind of statement is checked on the runs of two policies.

The kinds, and what decides them, are told in :mod:`bayesduel.papers.claims`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesduel.analysis.measured_nodes import (
    Measurement,
    largest_regret,
    standard_error,
)
from bayesduel.analysis.rare_runs import PEAK, reversal, unseen_share
from bayesduel.analysis.text import format_number, format_rounds, format_with_error

if TYPE_CHECKING:
    from jaxtyping import Float64
    from numpy.typing import NDArray

    from bayesduel.papers.recipes import Claim

_ERRORS = 2.0

_MISSED = 0.025
"""Error of the share that runs may miss: that of two standard errors to one side."""


def _values(found: Sequence[Measurement], notion: str, at: int) -> NDArray[np.float64]:
    """Return regret at a round (0: the last), per run; of several matrices, per one."""
    columns = []
    for each in found:
        place = -1
        if at:
            place = int(np.argmin(np.abs(np.log(each.rounds / at))))
        columns.append(each.regret(notion)[:, place])
    if len(columns) == 1:
        return columns[0]
    return np.array([column.mean() for column in columns])


def _decide(excess: float, error: float) -> bool | None:
    """Say whether a number is positive; None where that is not clear."""
    if math.isfinite(error) and abs(excess) > _ERRORS * error:
        return excess > 0
    return None


def _means(first: NDArray[np.float64], second: NDArray[np.float64]) -> str:
    return " and ".join(
        format_with_error(float(each.mean()), standard_error(each))
        for each in (first, second)
    )


def _percent(ratio: float, error: float) -> str:
    return f"{ratio:.1%} ± {error:.1%}"


type Check = tuple[bool | None, str]


@dataclass(frozen=True)
class ClaimCase:
    """A statement, and the measurements of two policies that it is about."""

    claim: Claim
    first: Sequence[Measurement]
    second: Sequence[Measurement]
    # Both policies without the delay of their feedback, if the statement asks.
    undelayed: Sequence[Sequence[Measurement]]
    notion: str
    scale: float

    @property
    def at(self) -> int:
        """Round that the statement is about; 0 for the last one."""
        return round(self.claim.at * self.scale)

    def values(
        self,
    ) -> tuple[Float64[np.ndarray, " case"], Float64[np.ndarray, " case"]]:
        """Return the regret of both policies at that round."""
        ours, theirs = (
            _values(each, self.notion, self.at) for each in (self.first, self.second)
        )
        return ours, theirs


def _less(case: ClaimCase) -> Check:
    (ours, theirs), factor = case.values(), case.claim.factor
    holds, difference = _below(case, ours, theirs)
    unless = _unless(case, holds, ours, factor * theirs, 1.0 if holds else factor)
    when = f"at {format_rounds(case.at)} " if case.at else ""
    return holds, (
        f"{when}{_means(ours, theirs)}, {difference}"
        f"{unless}{_medians(factor, ours, theirs)}"
    )


def _rises_less(case: ClaimCase) -> Check:
    before = [_values(each, case.notion, case.at) for each in case.undelayed]
    after, factor = case.values(), case.claim.factor
    ours, theirs = (late - first for late, first in zip(after, before, strict=True))
    holds, difference = _below(case, ours, theirs)
    # With a regret moved from each side to the other one, none is subtracted.
    sides = after[0] + factor * before[1], factor * after[1] + before[0]
    unless = _unless(case, holds, *sides, 1.0 + factor)
    return holds, f"the delay adds {_means(ours, theirs)}, {difference}{unless}"


def _below(
    case: ClaimCase, ours: NDArray[np.float64], theirs: NDArray[np.float64]
) -> Check:
    """Say whether the mean of one is below ``factor`` times that of the other."""
    factor = case.claim.factor
    excess = factor * theirs - ours
    mean, error = float(excess.mean()), standard_error(excess)
    what = "difference"
    if factor != 1:
        what = f"{factor:.3g} times the latter minus the former"
    return _decide(mean, error), f"{what} {format_with_error(mean, error)}"


def _unless(
    case: ClaimCase,
    holds: bool | None,
    ours: NDArray[np.float64],
    theirs: NDArray[np.float64],
    weight: float,
) -> str:
    """Tell by how much runs of a kind not seen would have to differ to undo the order.

    Either side is a weighted sum of regrets, the smaller one of a total `weight`.
    """
    if holds is None:
        return ""
    small, large = (ours, theirs) if holds else (theirs, ours)
    excess = large - small
    lead = float(excess.mean()) - _ERRORS * standard_error(excess)
    missed = unseen_share(excess.size, _MISSED)
    undone = reversal(lead, missed)
    most = max(
        largest_regret(each, case.notion, case.at or int(each.rounds[-1]))
        for each in case.first
    )
    limit = min(weight * most, PEAK * float(large.mean()))
    if undone > max(limit, float(small.max())):
        return ""
    what = "matrices" if len(case.first) > 1 else "runs"
    factor = case.claim.factor
    latter = "the latter" if factor == 1 else f"{factor:.3g} times the latter"
    one, other = ("the former", latter) if holds else (latter, "the former")
    return (
        f"; in the {what} seen, unless in {100 * missed:.2g}% of all {what}, of a kind "
        f"not seen, {one} exceeds {other} by {format_number(undone)} on average"
    )


def _medians(
    factor: float, ours: NDArray[np.float64], theirs: NDArray[np.float64]
) -> str:
    """Tell the medians where they say the opposite of the means.

    The mean of ECW-RMED can rest on one run in fifty that goes very wrong.
    """
    means = factor * theirs.mean() - ours.mean()
    first, second = float(np.median(ours)), float(np.median(theirs))
    if (factor * second - first) * means >= 0:
        return ""
    return (
        f"; the opposite by medians, {format_number(first)} and {format_number(second)}"
    )


def _similar(case: ClaimCase) -> Check:
    ours, theirs = case.values()
    if not _has_means(theirs):
        return None, f"{_means(ours, theirs)}, no ratio"
    ratio, error = _jackknife(lambda a, b: a.mean() / b.mean(), ours, theirs)
    tolerance = case.claim.tolerance
    text = f"ratio {_percent(ratio, error)}, up to {tolerance:.0%} off 100%"
    holds = _decide(tolerance - abs(ratio - 1), error)
    return holds, f"{_means(ours, theirs)}, {text}"


def _spread(case: ClaimCase) -> Check:
    ours, theirs = case.values()
    if not _has_means(theirs):
        return None, f"{_means(ours, theirs)}, no ratio"
    ratio, error = _jackknife(lambda a, b: _deviation(a) / b.mean(), ours, theirs)
    value, tolerance = case.claim.value, case.claim.tolerance
    return _decide(tolerance * value - abs(ratio - value), error), (
        f"standard deviation over mean {_percent(ratio, error)}, up to "
        f"{tolerance:.0%} off the {value:.4g} of the paper"
    )


def _less_spread(case: ClaimCase) -> Check:
    ours, theirs = case.values()
    excess, error = _jackknife(lambda a, b: _deviation(b) - _deviation(a), ours, theirs)
    return _decide(excess, error), (
        f"standard deviations {format_number(_deviation(ours))} and "
        f"{format_number(_deviation(theirs))}, difference "
        f"{format_with_error(excess, error)}"
    )


def _more_diverse(case: ClaimCase) -> Check:
    ours, theirs = (_top_share(each[0]) for each in (case.first, case.second))
    excess = theirs - ours
    return _decide(float(excess.mean()), standard_error(excess)), (
        f"share of the most exploited winner {_means(ours, theirs)}"
    )


def _top_share(measured: Measurement) -> NDArray[np.float64]:
    """Largest share of a Copeland winner in the self-duels of winners, per run."""
    return exploitation(measured).max(axis=1)


def exploitation(measured: Measurement) -> Float64[np.ndarray, "*shape"]:
    """Return how the self-duels of Copeland winners divide among them.

    Parameters
    ----------
    measured : Measurement
        With plays and the matrix.

    Returns
    -------
    float64 (run, winner)
        Shares at the last checkpoint; they add up to 1, or are all 0 in a run without
        such a self-duel.
    """
    from theory import PreferenceMatrix

    matrix = PreferenceMatrix(np.asarray(measured.preference))
    plays = measured.data["plays"].transpose("run", "checkpoint", "arm", "opponent")
    last = np.asarray(plays.values[:, -1], dtype=np.float64)
    own = np.diagonal(last, axis1=1, axis2=2)[:, list(matrix.copeland_winners)]
    return own / np.maximum(own.sum(axis=1, keepdims=True), 1.0)


def _linear(case: ClaimCase) -> Check:
    claim, first = case.claim, case.first
    rounds = first[0].rounds
    place = int(np.argmin(np.abs(np.log(2.0 * rounds[:-1] / rounds[-1]))))
    regret = first[0].regret(case.notion)
    span = math.log(rounds[-1] / rounds[place])
    last, before = regret[:, -1], regret[:, place]
    if not _has_means(before):
        return None, f"no regret up to {format_rounds(int(rounds[place]))}"
    exponent, error = _jackknife(
        lambda a, b: math.log(a.mean() / b.mean()) / span, last, before
    )
    return _decide(exponent - claim.value, error), (
        f"d log R / d log t = {exponent:.2f} ± {error:.2f} from "
        f"{format_rounds(int(rounds[place]))} on, above {claim.value:g} where it holds"
    )


def _converges(case: ClaimCase) -> Check:
    claim, data, rounds = case.claim, case.first[0].data, case.first[0].rounds
    place = int(np.argmin(np.abs(np.log(2.0 * rounds[:-1] / rounds[-1]))))
    offers = data["offers"].transpose("run", "checkpoint", "arm").values
    late = np.asarray(offers[:, -1] - offers[:, place], dtype=np.float64)
    best = np.asarray(data["best_set"].values, dtype=bool)
    share = late[:, best].sum(axis=1) / late.sum(axis=1)
    found = np.all(data["recommendation"].values == best, axis=1)
    names = ", ".join(str(each) for each in data["arm"].values[best])
    return _decide(float(share.mean()) - claim.value, standard_error(share)), (
        f"{_percent(float(share.mean()), standard_error(share))} of the offers from "
        f"{format_rounds(int(rounds[place]))} on are of {names}, above "
        f"{claim.value:.0%} where it holds; {int(found.sum())} of {found.size} runs "
        "recommend this set"
    )


def _has_means(values: NDArray[np.float64]) -> bool:
    """Whether the mean stays positive without any one value, so that it can divide."""
    return bool(np.sum(values > 0) > 1)


def _deviation(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1))


def _jackknife(
    statistic: Callable[[NDArray[np.float64], NDArray[np.float64]], float],
    first: NDArray[np.float64],
    second: NDArray[np.float64],
) -> tuple[float, float]:
    """Return a statistic of paired values, and its jackknife standard error."""
    count = first.size
    value = float(statistic(first, second))
    kept = ~np.eye(count, dtype=bool)
    without = np.array([statistic(first[each], second[each]) for each in kept])
    spread = (count - 1) * float(without.var())
    return value, math.sqrt(spread)


KINDS: dict[str, Callable[[ClaimCase], Check]] = {
    "less": _less,
    "rises-less": _rises_less,
    "similar": _similar,
    "spread": _spread,
    "less-spread": _less_spread,
    "more-diverse": _more_diverse,
    "converges": _converges,
    "linear": _linear,
}

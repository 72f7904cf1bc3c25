"""Statements of papers, checked on measured regret with standard errors.

A statement compares a policy F of a first list with a policy S of a second list. The
kinds of statements are:

- ``less``: the mean regret of F is below `factor` times that of S;
- ``similar``: it differs from that of S by at most `tolerance` times the latter;
- ``spread``: the standard deviation of F over the mean of S is `value`, up to
  `tolerance` times `value`;
- ``less-spread``: the standard deviation of the regret of F is below that of S;
- ``more-diverse``: the most exploited winner of a run takes a smaller share of the
  self-duels of winners under F than under S;
- ``converges``: in a world of subset choice, the arms of the best set make up more than
  `value` of all that F offers in the second half of the rounds;
- ``rises-less``: what the delay of feedback adds to the mean regret of F is below
  `factor` times what it adds to that of S;
- ``linear``: d log R / d log t over the last factor of two exceeds `value` for F, which
  is 1 for linear growth and near 0 for logarithmic growth.

Means are compared run by run, because the runs of all policies use the same relabelings
of the arms. With several random matrices, they are compared matrix by matrix. A
statement counts as true or as false if the data show this by at least two standard
errors. Otherwise, or if there are fewer than three runs, it stays open.

This verdict is about the runs that were made. Rare runs with very large regret may be
missing among them, and could reverse the order of two means. In this case the output
says by how much the policies would have to differ in such runs
(:mod:`bayesduel.analysis.policy_rankings`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesduel.analysis.measured_nodes import (
    Measurement,
    largest_regret,
    standard_error,
)
from bayesduel.analysis.policy_rankings import PEAK, reversal, unseen_share
from bayesduel.analysis.text import format_number, format_rounds, format_with_error
from theory.arguments import one_of

if TYPE_CHECKING:
    from bayesduel.papers.recipes import Claim

    Measured = Mapping[str, Sequence[Measurement]]
    from jaxtyping import Float64
    from numpy.typing import NDArray


__all__ = ["Verdict", "check_claim", "exploitation"]

_FEWEST = 3  # Values that a jackknife of standard deviations needs.


@dataclass(frozen=True)
class Verdict:
    """Whether a statement holds for one pair of policies in one panel.

    Attributes
    ----------
    statement : str
        The statement of the paper.
    panel : str
        Key of the panel.
    first, second : str
        The policies.
    holds : bool or None
        None where the runs cannot tell.
    details : str
        The numbers, with standard errors.
    """

    statement: str
    panel: str
    first: str
    second: str
    holds: bool | None
    details: str

    @property
    def word(self) -> str:
        """Say it in two words at most."""
        if self.holds is None:
            return "open"
        return "holds" if self.holds else "does not hold"


def check_claim(
    claim: Claim, panel: str, measured: Measured, *, notion: str, scale: float = 1.0
) -> list[Verdict]:
    """Check one statement in one panel.

    Parameters
    ----------
    claim : bayesduel.papers.recipes.Claim
        The statement.
    panel : str
        Key of the panel.
    measured : mapping of str to sequence of Measurement
        For every policy, as the recipe spells it, one measurement per matrix.
    notion : str
        Which regret.
    scale : float
        By what the rounds of the paper were multiplied.

    Returns
    -------
    list of Verdict
        One per pair of policies that were measured; empty where none was.

    Raises
    ------
    ValueError
        When the kind is unknown.
    """
    one_of(claim.kind, KINDS, "kind")
    low, high = claim.arms
    chosen = {
        policy: [
            one for one in of_policy if low <= one.data.sizes.get("arm", 0) <= high
        ]
        for policy, of_policy in measured.items()
    }
    verdicts = []
    for first in claim.first:
        for second in claim.second or (first,):
            texts = [first, second]
            if claim.kind == "rises-less":
                texts += [_without_delay(text) for text in texts]
            sides = _matched(chosen.get(text, []) for text in texts)
            if not sides[0]:
                continue
            holds, text = None, f"fewer than {_FEWEST} runs, or matrices, cannot tell"
            case = ClaimCase(claim, sides[0], sides[1], sides[2:], notion, scale)
            if case.values()[0].size >= _FEWEST:
                holds, text = KINDS[claim.kind](case)
            verdicts.append(Verdict(claim.text, panel, first, second, holds, text))
    return verdicts


def _without_delay(policy: str) -> str:
    """Return the spelling of a policy without the delay of its feedback."""
    name, _, parameters = policy.partition(":")
    parts = [part for part in parameters.split(",") if not part.startswith("every=")]
    return ":".join(filter(None, (name, ",".join(parts))))


def _matched(measured: Iterable[Sequence[Measurement]]) -> list[list[Measurement]]:
    """Keep the matrices on which all policies were measured, in the same order."""
    by_name = [{one.instance: one for one in named} for named in measured]
    shared = [name for name in by_name[0] if all(name in named for named in by_name)]
    return [[named[name] for name in shared] for named in by_name]


# --- How each kind of statement is checked on the runs of two policies ----------------


_ERRORS = 2.0

_MISSED = 0.025
"""Error of the share that runs may miss: that of two standard errors to one side."""


def _values(
    measured: Sequence[Measurement], notion: str, at: int
) -> NDArray[np.float64]:
    """Return regret at a round (0: the last), per run; of several matrices, per one."""
    columns = []
    for one in measured:
        index = -1
        if at:
            index = int(np.argmin(np.abs(np.log(one.rounds / at))))
        columns.append(one.regret(notion)[:, index])
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
        format_with_error(float(values.mean()), standard_error(values))
        for values in (first, second)
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
            _values(measured, self.notion, self.at)
            for measured in (self.first, self.second)
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
    before = [_values(measured, case.notion, case.at) for measured in case.undelayed]
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
    """Tell by how much unseen runs would have to differ to undo the order."""
    if holds is None:
        return ""
    small, large = (ours, theirs) if holds else (theirs, ours)
    excess = large - small
    lead = float(excess.mean()) - _ERRORS * standard_error(excess)
    missed = unseen_share(excess.size, _MISSED)
    undone = reversal(lead, missed)
    most = max(
        largest_regret(measured, case.notion, case.at or int(measured.rounds[-1]))
        for measured in case.first
    )
    limit = min(weight * most, PEAK * float(large.mean()))
    if undone > max(limit, float(small.max())):
        return ""
    what = "matrices" if len(case.first) > 1 else "runs"
    factor = case.claim.factor
    latter = "the latter" if factor == 1 else f"{factor:.3g} times the latter"
    worse, better = ("the former", latter) if holds else (latter, "the former")
    return (
        f"; in the {what} seen, unless in {100 * missed:.2g}% of all {what}, of a kind "
        f"not seen, {worse} exceeds {better} by {format_number(undone)} on average"
    )


def _medians(
    factor: float, ours: NDArray[np.float64], theirs: NDArray[np.float64]
) -> str:
    """Tell the medians where they say the opposite of the means."""
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
    # The largest share of a winner in the self-duels of winners, per run.
    both = case.first, case.second
    ours, theirs = (exploitation(measured[0]).max(axis=1) for measured in both)
    excess = theirs - ours
    return _decide(float(excess.mean()), standard_error(excess)), (
        f"share of the most exploited winner {_means(ours, theirs)}"
    )


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
    self_duels = np.diagonal(last, axis1=1, axis2=2)[:, list(matrix.copeland_winners)]
    return self_duels / np.maximum(self_duels.sum(axis=1, keepdims=True), 1.0)


def _linear(case: ClaimCase) -> Check:
    claim, first = case.claim, case.first
    rounds = first[0].rounds
    index = int(np.argmin(np.abs(np.log(2.0 * rounds[:-1] / rounds[-1]))))
    regret = first[0].regret(case.notion)
    span = math.log(rounds[-1] / rounds[index])
    last, before = regret[:, -1], regret[:, index]
    if not _has_means(before):
        return None, f"no regret up to {format_rounds(int(rounds[index]))}"
    exponent, error = _jackknife(
        lambda a, b: math.log(a.mean() / b.mean()) / span, last, before
    )
    return _decide(exponent - claim.value, error), (
        f"d log R / d log t = {exponent:.2f} ± {error:.2f} from "
        f"{format_rounds(int(rounds[index]))} on, above {claim.value:g} where it holds"
    )


def _converges(case: ClaimCase) -> Check:
    claim, data, rounds = case.claim, case.first[0].data, case.first[0].rounds
    index = int(np.argmin(np.abs(np.log(2.0 * rounds[:-1] / rounds[-1]))))
    offers = data["offers"].transpose("run", "checkpoint", "arm").values
    late = np.asarray(offers[:, -1] - offers[:, index], dtype=np.float64)
    best = np.asarray(data["best_set"].values, dtype=bool)
    share = late[:, best].sum(axis=1) / late.sum(axis=1)
    is_best = np.all(data["recommendation"].values == best, axis=1)
    names = ", ".join(str(arm) for arm in data["arm"].values[best])
    return _decide(float(share.mean()) - claim.value, standard_error(share)), (
        f"{_percent(float(share.mean()), standard_error(share))} of the offers from "
        f"{format_rounds(int(rounds[index]))} on are of {names}, above "
        f"{claim.value:.0%} where it holds; {int(is_best.sum())} of {is_best.size} "
        "runs recommend this set"
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
    rows = ~np.eye(count, dtype=bool)
    without = np.array([statistic(first[row], second[row]) for row in rows])
    spread = (count - 1) * float(without.var())
    return value, math.sqrt(spread)


KINDS: dict[str, Callable[[ClaimCase], Check]] = {
    "less": _less, "rises-less": _rises_less, "similar": _similar, "spread": _spread,
    "less-spread": _less_spread, "more-diverse": _more_diverse, "converges": _converges,
    "linear": _linear,
}  # fmt: skip

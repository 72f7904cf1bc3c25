"""Statements of papers, checked on measured regret with standard errors.

Kinds of statements, F being a policy of the first list and S one of the second:

- ``less``: the mean regret of F is below `factor` times that of S;
- ``similar``: it differs from that of S by at most `tolerance` times the latter;
- ``spread``: the standard deviation of F over the mean of S is `value`, up to
  `tolerance` times `value`;
- ``less-spread``: the standard deviation of F is below that of S;
- ``more-diverse``: in a run, the winner that F exploits most has a smaller share of its
  self-duels with winners than with S;
- ``converges``: in a world of subset choice, the arms of the best set make up more than
  `value` of all that F offers in the second half of the rounds;
- ``linear``: d log R / d log t over the last factor of two exceeds `value` for F, which
  is 1 for linear growth and near 0 for logarithmic growth.

Means are compared run by run, because runs share their relabelings; with several random
matrices, matrix by matrix. A statement holds, or does not, where it does so by two
standard errors. Otherwise, and where there are fewer than three runs, it is open.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesduel.analysis.measurements import Measurement, standard_error
from bayesduel.analysis.text import format_number, format_rounds, format_with_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayesduel.recipes import Claim

    Measured = Mapping[str, Sequence[Measurement]]

__all__ = ["Verdict", "check_claim", "exploitation"]

_ERRORS = 2.0

_FEWEST = 3
"""Values that a jackknife of standard deviations needs."""


@dataclass(frozen=True)
class Verdict:
    """What became of a statement for one pair of policies in one panel.

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
    claim : bayesduel.recipes.Claim
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
    if claim.kind not in _KINDS:
        raise ValueError(
            f"kind: must be one of {', '.join(_KINDS)}, but is {claim.kind!r}"
        )
    low, high = claim.arms
    chosen = {
        policy: [each for each in found if low <= _num_arms(each) <= high]
        for policy, found in measured.items()
    }
    verdicts = []
    for first in claim.first:
        for second in claim.second or (first,):
            ours, theirs = _matched(chosen.get(first, []), chosen.get(second, []))
            if not ours:
                continue
            holds, text = None, f"fewer than {_FEWEST} runs, or matrices, cannot tell"
            if _values(ours, notion, 0).size >= _FEWEST:
                holds, text = _KINDS[claim.kind](claim, ours, theirs, notion, scale)
            verdicts.append(Verdict(claim.text, panel, first, second, holds, text))
    return verdicts


def _matched(
    first: Sequence[Measurement], second: Sequence[Measurement]
) -> tuple[list[Measurement], list[Measurement]]:
    """Keep the matrices on which both policies were measured, in the same order."""
    ours = {each.environment: each for each in first}
    theirs = {each.environment: each for each in second}
    both = [name for name in ours if name in theirs]
    return [ours[name] for name in both], [theirs[name] for name in both]


def _num_arms(measured: Measurement) -> int:
    return measured.data.sizes.get("arm", 0)


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


type _Check = tuple[bool | None, str]


def _less(
    claim: Claim,
    first: Sequence[Measurement],
    second: Sequence[Measurement],
    notion: str,
    scale: float,
) -> _Check:
    at = round(claim.at * scale)
    ours, theirs = _values(first, notion, at), _values(second, notion, at)
    excess = claim.factor * theirs - ours
    error = standard_error(excess)
    apart = format_with_error(float(excess.mean()), error)
    what = "difference"
    if claim.factor != 1:
        what = f"{claim.factor:.3g} times the latter minus the former"
    when = f"at {format_rounds(at)} " if at else ""
    return (
        _decide(float(excess.mean()), error),
        f"{when}{_means(ours, theirs)}, {what} {apart}"
        f"{_medians(claim.factor, ours, theirs)}",
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


def _similar(
    claim: Claim,
    first: Sequence[Measurement],
    second: Sequence[Measurement],
    notion: str,
    scale: float,
) -> _Check:
    at = round(claim.at * scale)
    ours, theirs = _values(first, notion, at), _values(second, notion, at)
    if not _has_means(theirs):
        return None, f"{_means(ours, theirs)}, no ratio"
    ratio, error = _jackknife(lambda a, b: a.mean() / b.mean(), ours, theirs)
    holds = _decide(claim.tolerance - abs(ratio - 1), error)
    text = f"ratio {_percent(ratio, error)}, up to {claim.tolerance:.0%} off 100%"
    return holds, f"{_means(ours, theirs)}, {text}"


def _spread(
    claim: Claim,
    first: Sequence[Measurement],
    second: Sequence[Measurement],
    notion: str,
    scale: float,
) -> _Check:
    ours, theirs = _values(first, notion, 0), _values(second, notion, 0)
    if not _has_means(theirs):
        return None, f"{_means(ours, theirs)}, no ratio"
    ratio, error = _jackknife(lambda a, b: _deviation(a) / b.mean(), ours, theirs)
    holds = _decide(claim.tolerance * claim.value - abs(ratio - claim.value), error)
    return holds, (
        f"standard deviation over mean {_percent(ratio, error)}, up to "
        f"{claim.tolerance:.0%} off the {claim.value:.4g} of the paper"
    )


def _less_spread(
    claim: Claim,
    first: Sequence[Measurement],
    second: Sequence[Measurement],
    notion: str,
    scale: float,
) -> _Check:
    ours, theirs = _values(first, notion, 0), _values(second, notion, 0)
    excess, error = _jackknife(lambda a, b: _deviation(b) - _deviation(a), ours, theirs)
    return _decide(excess, error), (
        f"standard deviations {format_number(_deviation(ours))} and "
        f"{format_number(_deviation(theirs))}, difference "
        f"{format_with_error(excess, error)}"
    )


def _more_diverse(
    claim: Claim,
    first: Sequence[Measurement],
    second: Sequence[Measurement],
    notion: str,
    scale: float,
) -> _Check:
    ours, theirs = (_top_share(each[0]) for each in (first, second))
    excess = theirs - ours
    return _decide(float(excess.mean()), standard_error(excess)), (
        f"share of the most exploited winner {_means(ours, theirs)}"
    )


def _top_share(measured: Measurement) -> NDArray[np.float64]:
    """Largest share of a Copeland winner in the self-duels of winners, per run."""
    return exploitation(measured).max(axis=1)


def exploitation(measured: Measurement) -> NDArray[np.float64]:
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


def _linear(
    claim: Claim,
    first: Sequence[Measurement],
    second: Sequence[Measurement],
    notion: str,
    scale: float,
) -> _Check:
    rounds = first[0].rounds
    place = int(np.argmin(np.abs(np.log(2.0 * rounds[:-1] / rounds[-1]))))
    regret = first[0].regret(notion)
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


def _converges(
    claim: Claim,
    first: Sequence[Measurement],
    second: Sequence[Measurement],
    notion: str,
    scale: float,
) -> _Check:
    data = first[0].data
    rounds = first[0].rounds
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


_KINDS: dict[str, Callable[..., _Check]] = {
    "less": _less,
    "similar": _similar,
    "spread": _spread,
    "less-spread": _less_spread,
    "more-diverse": _more_diverse,
    "converges": _converges,
    "linear": _linear,
}

"""How far judges of sets agree about the pairs that their choices imply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from bayesduel.studies.judges.repeated import Said

__all__ = ["PairAgreement", "agreement_of_pairs"]

_FEWEST = 20
"""Answers from which an alpha has an interval."""

_QUANTILE = 1.96
"""Of the normal distribution, for 95 %."""


@dataclass(frozen=True)
class PairAgreement:
    """Agreement about pairs of arms that choices from sets imply.

    Whoever names the best arm of a set prefers it to each other one that was shown, and
    each of the rest to the worst, where that is named. So one answer says several
    things at once, and each is compared with several answers: the interval takes no two
    comparisons for independent that have an answer in common.

    Attributes
    ----------
    alpha : float
        Krippendorff's alpha of the first judgments of judges with a name about the same
        pair in the same context, of their second ones, and so on: 1 less twice the
        share of pairs of judges who disagree, as judges who choose by lot do in one
        half. Each pair counts for as many as have judged it.
    lower, upper : float or None
        Normal interval of 95 %, for these judges. None where fewer than 20 answers took
        part, or all judgments agree, so that nothing varied.
    times : int
        How often two judges or more have judged the same pair.
    answers : int
        From which these judgments are.

    References
    ----------
    M. Fafchamps and F. Gubert (2007), *The formation of risk sharing networks*, Journal
    of Development Economics 83, 326-350: the variance of a mean over comparisons, of
    which two may have an answer in common.
    """

    alpha: float
    lower: float | None
    upper: float | None
    times: int
    answers: int

    def words(self) -> str:
        """Say how far they agree, and how surely."""
        ends = ""
        if self.lower is not None:
            ends = f" (95%: {self.lower:.2f} to {self.upper:.2f})"
        return (
            "agreement about the pairs that choices imply, the best before each other "
            f"arm of its set: Krippendorff's alpha {self.alpha:.2f}{ends}, of "
            f"{self.times} times that two or more have judged the same pair, in "
            f"{self.answers} answers, each of which says several things at once"
        )


def agreement_of_pairs(shared: Sequence[dict[str, Said]]) -> PairAgreement | None:
    """Return how far judges agree about pairs; None where they share no pair."""
    rows = [(unit, *each) for unit, said in enumerate(shared) for each in said.values()]
    if not rows:
        return None
    unit, named, question = np.array(rows).T
    others = np.bincount(unit) - 1
    first = np.bincount(unit, named == 0)
    alike = np.where(named == 0, first[unit], others[unit] + 1 - first[unit]) - 1
    # Of each judgment the share of the others that say the same.
    shares = alike / others[unit]
    mean = float(shares.mean())
    numbers, answer = np.unique(question, return_inverse=True)
    alpha, ends, number = 2.0 * mean - 1.0, (None, None), len(numbers)
    half = 2.0 * _QUANTILE * _error(shares, answer, 1.0 / others[unit])
    if number >= _FEWEST and half > 0.0:
        ends = max(alpha - half, -1.0), min(alpha + half, 1.0)
    return PairAgreement(alpha, *ends, len(shared), number)


def _error(
    shares: Float64[np.ndarray, " row"],
    answer: Int64[np.ndarray, " row"],
    weight: Float64[np.ndarray, " row"],
) -> float:
    """Return the standard error of the mean share of judgments that are alike.

    Each comparison of two judgments stands in the sum of either answer, so that what
    it adds alone is taken off once; and is at least that of independent comparisons.
    """
    mean = shares.mean()
    sums = np.bincount(answer, shares - mean)
    # Each comparison stands in two rows, with its weight.
    alone = 0.5 * (weight * (shares * (1.0 - 2.0 * mean) + mean**2)).sum()
    variance = max((sums**2).sum() - alone, alone)
    return 2.0 * float(np.sqrt(variance)) / len(shares)

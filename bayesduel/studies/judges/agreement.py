"""How far judges agree: Krippendorff's alpha, for votes and other named answers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

__all__ = ["krippendorff_alpha"]


def krippendorff_alpha(units: Iterable[Sequence[Hashable]]) -> float:
    """Return Krippendorff's alpha of answers that are names.

    It is 1 - D_o / D_e: the share of disagreeing pairs of answers within units over the
    share among all answers whatever their unit. 1 is full agreement, 0 what unrelated
    judges come to, and less is disagreement on purpose (Krippendorff 2011, section C,
    for nominal data).

    Parameters
    ----------
    units : iterable of sequences
        By what was judged, the answers of the judges, one each; units with fewer than
        two say nothing of agreement and are left out.

    Returns
    -------
    float
        At most 1; nan where no unit has two answers, or all answers are the same one,
        so that nothing could have disagreed.

    References
    ----------
    K. Krippendorff (2011), *Computing Krippendorff's Alpha-Reliability*, University of
    Pennsylvania.

    Examples
    --------
    >>> round(krippendorff_alpha(["aa", "aa", "bb", "ab"]), 3)
    0.533
    """
    whole = [list(unit) for unit in units if len(unit) > 1]
    names = {answer: None for unit in whole for answer in unit}
    place = {answer: number for number, answer in enumerate(names)}
    counts = np.zeros((len(whole), len(names)))
    for row, unit in enumerate(whole):
        for answer in unit:
            counts[row, place[answer]] += 1
    answers, totals = counts.sum(axis=1), counts.sum(axis=0)
    number = totals.sum()
    # Ordered pairs of different answers, each unit weighted to its number of answers.
    differ = answers**2 - (counts**2).sum(axis=1)
    expected = number**2 - (totals**2).sum()
    if not expected:
        return float("nan")
    return float(1.0 - (number - 1.0) * (differ / (answers - 1.0)).sum() / expected)

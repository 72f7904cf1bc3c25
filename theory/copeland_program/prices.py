"""Prices of duels, and the programs of the arms that can be named.

The alternatives in which an arm is no Copeland winner are those of the regret program
(P) in `theory.copeland_program.constraints`, so its constraints hold here too; prices
stand where regret stood. Two kinds of pairs carry no evidence, whatever is paid: those
at exactly 1/2, where no number of duels tells which arm is ahead, and those with an
infinite price, which cannot be asked. Such a pair is *open*: an alternative may let it
fall as it likes. For the named arm w the worst is that it loses all its open pairs, and
for a rival that it wins all of its own; both happen at once. So the program of w is (P)
with w's open pairs as losses of w and the other open pairs as ties. If then some arm
has fewer losses, nothing proves that w wins.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from theory.copeland_program.program_data import ProgramData, costs_at_prices
from theory.errors import InvalidPreferenceError, TieError
from theory.preferences import PreferenceMatrix
from theory.validation import price_table

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64


def checked_prices(
    prices: object, matrix: PreferenceMatrix
) -> Float64[np.ndarray, "K K"]:
    """Copy the prices of the pairs of a matrix; 1 for all of them if they are None."""
    if prices is None:
        return 1.0 - np.eye(matrix.num_arms)
    return price_table(prices, matrix.num_arms, matrix.arm_names)


def priced_programs(
    matrix: PreferenceMatrix, prices: Float64[np.ndarray, "K K"]
) -> tuple[dict[int, ProgramData], float]:
    """Prepare (P) with prices for every arm that can be named; never for none."""
    # Also return the price that counts as 1: a power of two with the smallest price in
    # [1, 2).
    has_price = np.isfinite(prices)
    gaps = np.where(has_price, matrix.gaps, 0.0)
    safe = np.flatnonzero(_safe_arms(gaps)).tolist()
    if not safe:
        _refuse(matrix, gaps)
    paid = prices[has_price & (prices > 0)]
    unit = 2.0 ** math.floor(math.log2(paid.min())) if paid.size else 1.0
    costs = costs_at_prices(np.where(has_price, prices, 0.0) / unit, gaps)
    programs = {}
    for arm in safe:
        # The arm loses its open pairs; of these gaps only the signs are read.
        turned, lost = gaps.copy(), np.flatnonzero(_open_pairs(gaps)[arm])
        turned[arm, lost], turned[lost, arm] = -0.5, 0.5
        programs[arm] = ProgramData(turned, costs)
    return programs, unit


def _open_pairs(gaps: Float64[np.ndarray, "K K"]) -> Bool[np.ndarray, "K K"]:
    return (gaps == 0) & ~np.eye(len(gaps), dtype=bool)


def _safe_arms(gaps: Float64[np.ndarray, "K K"]) -> Bool[np.ndarray, " K"]:
    """Say which arms are Copeland winners however the open pairs fall."""
    losses = np.count_nonzero(gaps < 0, axis=1)
    least, second = np.partition(losses, 1)[:2]
    others = np.where(losses == least, second, least)
    return losses + _open_pairs(gaps).sum(axis=1) <= others


def _refuse(matrix: PreferenceMatrix, gaps: NDArray[np.float64]) -> None:
    """Name an open pair that stands in the way."""
    ties_alone = not _safe_arms(matrix.gaps).any()
    known = matrix.gaps if ties_alone else gaps
    arm = int(np.argmin(np.count_nonzero(known < 0, axis=1)))
    i, j = sorted((arm, int(np.flatnonzero(_open_pairs(known)[arm])[0])))
    if ties_alone:
        raise TieError(
            "matrix",
            f"must not be 1/2, or the constant is infinite: arms {i} and {j} "
            "tie, no number of duels tells which of them is ahead, and no arm is a "
            "Copeland winner however the tied pairs fall",
            matrix.values[i, j],
            index=(i, j),
            remedy="leave one of them out",
        )
    raise InvalidPreferenceError(
        "prices",
        "must let enough pairs be asked: no arm is a Copeland winner however those "
        f"with an infinite price fall, ({i}, {j}) among them, and the constant is "
        "infinite",
        math.inf,
        remedy="make some of them finite",
    )

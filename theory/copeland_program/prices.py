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
from theory.validation import aligned_table, refuse_entries, symmetric_prices

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64


MAXIMAL_RATIO = 1e9
"""Largest ratio of two prices that are neither 0 nor infinite."""

LARGEST_PRICE = 1e100
"""Largest finite price, and one over the smallest: sums stay in range."""


def checked_prices(
    prices: object, matrix: PreferenceMatrix
) -> Float64[np.ndarray, "K K"]:
    """Copy the prices of the pairs of a matrix; 1 for all of them if they are None.

    Labelled tables are brought into the order of the arms of the matrix.
    ``InvalidPreferenceError`` if they name other arms; ``ValueError`` for a wrong
    shape, a price that is negative, nan, or not that of the mirrored pair, and for
    prices out of range or more than a factor of `MAXIMAL_RATIO` apart.
    """
    if prices is None:
        return 1.0 - np.eye(matrix.num_arms)
    table, names = aligned_table(prices, "prices")
    found = symmetric_prices(table, matrix.num_arms, "prices")
    if names and matrix.arm_names and names != matrix.arm_names:
        if set(names) != set(matrix.arm_names):
            missing = [name for name in matrix.arm_names if name not in names]
            raise InvalidPreferenceError(
                "prices",
                f"must name the arms of the matrix, {missing[0]!r} among them",
                list(names),
                remedy="rename them, or add what is missing",
            )
        order = [names.index(name) for name in matrix.arm_names]
        found = found[np.ix_(order, order)]
    np.fill_diagonal(found, 0.0)
    paid = found[(found > 0) & np.isfinite(found)]
    least, most = paid.min(initial=LARGEST_PRICE), paid.max(initial=0.0)
    wrong, rule = 0.0, ""
    if paid.size and (least < 1 / LARGEST_PRICE or most > LARGEST_PRICE):
        wrong = most if most > LARGEST_PRICE else least
        rule = f"from {1 / LARGEST_PRICE:g} to {LARGEST_PRICE:g}"
    elif most / least > MAXIMAL_RATIO:
        wrong, rule = most, f"at most {MAXIMAL_RATIO:g} times the least, {least:g}"
    if rule:
        refuse_entries(
            found == wrong,
            found,
            "prices",
            f"must be 0, infinite, or {rule}",
            remedy="use 0 for what is free and inf for what cannot be paid",
        )
    return found


def priced_programs(
    matrix: PreferenceMatrix, prices: Float64[np.ndarray, "K K"]
) -> tuple[dict[int, ProgramData], float]:
    """Prepare (P) with prices for every arm that can be named; never for none.

    Also return the price that counts as 1 in them: a power of two, such that the
    smallest price is in [1, 2). ``TieError`` if ties alone leave no arm of which it can
    be shown that it wins, ``InvalidPreferenceError`` if pairs that cannot be asked do.
    """
    asked = np.isfinite(prices)
    gaps = np.where(asked, matrix.gaps, 0.0)
    safe = np.flatnonzero(_safe_arms(gaps)).tolist()
    if not safe:
        _refuse(matrix, gaps)
    paid = prices[asked & (prices > 0)]
    unit = 2.0 ** math.floor(math.log2(paid.min())) if paid.size else 1.0
    costs = costs_at_prices(np.where(asked, prices, 0.0) / unit, gaps)
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

"""Rows of `submatrix_constants`: computed, and as CSV."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from io import StringIO
from typing import NamedTuple

from bayesduel.instances.submatrices import SubmatrixSampler
from theory import ProgramError, copeland_lower_bound, ecw_rmed_constant
from theory.theorems import ccb_order

PER_JOB = 25
"""What an interrupt can lose, and what cores can share: some 0.1 s at 16 arms."""

_HEADER = ("number", "draws", "cw", "ecw", "ccb", "arms")


class SubmatrixRow(NamedTuple):
    """Constants of one random submatrix, per unit of natural log T.

    Attributes
    ----------
    number : int
        Which submatrix of the seed.
    num_draws : int
        Random subsets that were tried until one was admissible.
    cw, ecw : float
        Optimum of the exploration program (lower bound on Copeland regret, attained by
        CW-RMED), and of the efficient program (ECW-RMED); both certified.
    ccb : float
        K (C + L + 1) / Delta^2, the order of the regret of CCB.
    arms : tuple of int
        Arms of the large matrix, numbered from 0.
    """

    number: int
    num_draws: int
    cw: float
    ecw: float
    ccb: float
    arms: tuple[int, ...]


def submatrix_rows(
    sampler: SubmatrixSampler,
    numbers: Sequence[int],
    on_progress: Callable[[float], None] | None = None,
) -> list[SubmatrixRow]:
    """Draw submatrices and compute their constants."""
    rows = []
    for number in numbers:
        rows.append(_row(sampler, number))
        if on_progress is not None:
            on_progress(len(rows) / len(numbers))
    return rows


def to_csv(rows: Sequence[SubmatrixRow]) -> bytes:
    """Return rows as CSV; floats are written with all their digits."""
    file = StringIO(newline="")
    table = csv.writer(file)
    table.writerow(_HEADER)
    table.writerows((*row[:5], " ".join(map(str, row.arms))) for row in rows)
    return file.getvalue().encode()


def from_csv(data: bytes) -> list[SubmatrixRow]:
    """Read what :func:`to_csv` gave."""
    return [
        SubmatrixRow(
            int(row["number"]),
            int(row["draws"]),
            float(row["cw"]),
            float(row["ecw"]),
            float(row["ccb"]),
            tuple(int(arm) for arm in row["arms"].split()),
        )
        for row in csv.DictReader(StringIO(data.decode(), newline=""))
    ]


def _row(sampler: SubmatrixSampler, number: int) -> SubmatrixRow:
    arms, num_draws = sampler.draw(number)
    part = sampler.matrix.submatrix(arms.tolist())
    try:
        cw, ecw = copeland_lower_bound(part).value, ecw_rmed_constant(part).value
    except ProgramError as error:
        raise ProgramError(
            f"submatrix {number} (arms {', '.join(map(str, arms))}): {error} Ask for a "
            "larger smallest gap."
        ) from error
    ccb = ccb_order(part).log_coefficient
    return SubmatrixRow(number, num_draws, cw, ecw, ccb, tuple(arms.tolist()))

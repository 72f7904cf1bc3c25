"""How `submatrix_constants` is carried out: cut into jobs, kept, read back."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any, ClassVar, NamedTuple

from bayesduel.experiments.jobs import JobResult, Sweep, refuse_others
from bayesduel.experiments.owned_folder import OwnedFolder
from bayesduel.instances.submatrices import SubmatrixSampler
from bayesduel.version import __version__
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


@dataclass(frozen=True)
class SubmatrixJob:
    """Some submatrices, for one process."""

    sampler: SubmatrixSampler
    numbers: tuple[int, ...]

    words: ClassVar[str] = "bounds of submatrices"
    program: ClassVar[None] = None

    @property
    def name(self) -> str:
        """Name that no other job of the same table has: that of its first row."""
        return str(self.numbers[0])

    def run(
        self, on_progress: Callable[[float], None] | None = None
    ) -> list[SubmatrixRow]:
        """Draw the submatrices and compute their constants."""
        rows = []
        for number in self.numbers:
            rows.append(_row(self.sampler, number))
            if on_progress is not None:
                on_progress(len(rows) / len(self.numbers))
        return rows


@dataclass(frozen=True)
class SubmatrixTable(Sweep):
    """Many submatrices as a sweep."""

    sampler: SubmatrixSampler
    total: int

    kind: ClassVar[str] = "submatrices"
    ending: ClassVar[str] = "csv"
    # A mean over the rest would be of another distribution.
    ends_with_failure: ClassVar[bool] = True

    @property
    def file(self) -> str:
        """Name of the finished file."""
        return "submatrices.csv"

    def request(self) -> dict[str, Any]:
        """Return what decides every row."""
        return {
            "matrix_sha256": self.sampler.matrix.checksum,
            "size": self.sampler.size,
            "min_gap": self.sampler.min_gap,
            "seed": self.sampler.seed,
            "version": __version__,
        }

    def read_back(self, folder: OwnedFolder) -> list[JobResult]:
        """Read back what is there; rows that are not asked for stay in the file.

        ``OutputFolderError`` if the folder holds rows of another request.
        """
        theirs = folder.marker().get("request")
        if theirs is not None:
            refuse_others(folder, "submatrices", self.request(), theirs)
        whole = folder.read(self.file)
        tables = [*([whole] if whole else []), *folder.parts()]
        found = []
        for rows in filter(None, map(self.from_bytes, tables)):
            numbers = tuple(row.number for row in rows)
            found.append(JobResult(SubmatrixJob(self.sampler, numbers), rows))
        return found

    def jobs(
        self, workers: int, finished: Sequence[SubmatrixJob]
    ) -> list[SubmatrixJob]:
        """Cut what is missing; more finely for idle workers."""
        done = {number for job in finished for number in job.numbers}
        todo = [number for number in range(self.total) if number not in done]
        size = max(1, min(PER_JOB, -(-len(todo) // workers)))
        return [
            SubmatrixJob(self.sampler, tuple(todo[start : start + size]))
            for start in range(0, len(todo), size)
        ]

    @staticmethod
    def to_bytes(value: Sequence[SubmatrixRow]) -> bytes:
        """Return rows as CSV."""
        file = StringIO(newline="")
        table = csv.writer(file)
        table.writerow(_HEADER)
        # Floats are written with all their digits.
        table.writerows((*row[:5], " ".join(map(str, row.arms))) for row in value)
        return file.getvalue().encode()

    @staticmethod
    def from_bytes(data: bytes) -> list[SubmatrixRow]:
        """Read what :meth:`to_bytes` gave."""
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

    def assemble(self, finished: Sequence[JobResult]) -> list[SubmatrixRow]:
        """Return all rows that there are, each once, in the order of their numbers."""
        rows = {row.number: row for each in finished for row in each.value}
        return [rows[number] for number in sorted(rows)]

    def to_file(self, found: list[SubmatrixRow]) -> tuple[bytes, dict[str, Any]]:
        """Return ``submatrices.csv``."""
        return self.to_bytes(found), {}


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

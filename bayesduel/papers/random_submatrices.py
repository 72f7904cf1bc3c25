"""Constants of the regret bounds of many random submatrices of one matrix."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayesduel.analysis.measured_nodes import standard_error
from bayesduel.arguments.limits import MOST_SUBMATRICES
from bayesduel.errors import OutputFolderError
from bayesduel.experiments.arguments import worker_count
from bayesduel.experiments.execute import execute
from bayesduel.experiments.folder import RunFolder
from bayesduel.experiments.progress import progress_reporter
from bayesduel.files.folders import read_checked, require_folder
from bayesduel.instances.submatrices import SubmatrixSampler
from bayesduel.signals import signals_wait
from bayesduel.version import __version__
from theory import ProgramError, copeland_lower_bound, ecw_rmed_constant
from theory.arguments import integer_from, one_of, true_or_false
from theory.theorems import ccb_order

if TYPE_CHECKING:
    from jaxtyping import Float64
    from numpy.typing import ArrayLike

    from theory import PreferenceMatrix


_FILE = "submatrices.csv"


@dataclass(frozen=True)
class SubmatrixConstants:
    """Constants of CW-RMED, ECW-RMED and CCB for all submatrices that were drawn.

    Attributes
    ----------
    rows : tuple of SubmatrixRow
        In the order of their numbers 0, 1, ...
    """

    rows: tuple[SubmatrixRow, ...]

    def values(self, name: str) -> Float64[np.ndarray, " submatrix"]:
        """Return one column, float64 (N,): "cw", "ecw" or "ccb"."""
        one_of(name, ("cw", "ecw", "ccb"), "name")
        return np.array([getattr(row, name) for row in self.rows], dtype=np.float64)

    def mean(self, name: str) -> float:
        """Return the mean of a column."""
        return float(self.values(name).mean())

    def standard_error(self, name: str) -> float:
        """Return the standard error of that mean; ``math.inf`` for one submatrix."""
        return standard_error(self.values(name))

    @property
    def admissible_share(self) -> float:
        """Share of the random subsets that were admissible."""
        return len(self.rows) / sum(row.num_draws for row in self.rows)


def submatrix_constants(
    matrix: PreferenceMatrix | ArrayLike,
    num_submatrices: int,
    size: int,
    *,
    min_gap: float = 0.0,
    seed: int = 0,
    jobs: int | None = 1,
    progress: bool = False,
    out: Path | str | None = None,
    resume: bool = False,
    overwrite: bool = False,
) -> SubmatrixConstants:
    """Compute the constants of CW-RMED, ECW-RMED and CCB for random submatrices.

    Table 1 of Komiyama, Honda and Nakagawa (2016) gives the means over 10^4 submatrices
    of 16 of the 136 MSLR rankers whose gaps are at least 0.005 (Section 5 there).

    Parameters
    ----------
    matrix : PreferenceMatrix or array-like (K, K)
        The large matrix.
    num_submatrices : int
        How many, from 1 to 10^7.
    size, min_gap, seed
        As for `bayesduel.instances.SubmatrixSampler`, which states the distribution.
    jobs : int or None
        Worker processes; None takes one per core. They change no result. They import
        the main module anew, so a script that asks for more than one needs
        ``if __name__ == "__main__":``.
    progress : bool
        Show a progress bar on standard error.
    out : path, optional
        Folder to keep results in, new or empty: finished parts are written at once, and
        ``submatrices.csv`` at the end.
    resume : bool
        Go on from what ``out`` holds of the same matrix, size, gap and seed; the number
        of submatrices may differ.
    overwrite : bool
        Replace the results in ``out``.

    Returns
    -------
    SubmatrixConstants
        Every row, with means and standard errors. Natural logarithm; Copeland regret.

    Raises
    ------
    ValueError
        For arguments that break a rule, a folder that cannot be used, or a gap that no
        submatrix keeps.
    ProgramError
        If a constant could not be certified; the text names the submatrix.
    KeyboardInterrupt
        After Ctrl-C; ``out`` keeps what is finished, and ``.kept`` says how many.

    Notes
    -----
    The constant of CCB is K (C + L + 1) / Delta^2 with C winners that lose to L arms
    each, Delta the smallest gap, and the unknown constant factor set to 1 (eq. 10 of
    the paper, `theory.theorems.ccb_order`). This form gives 9.2e5 for the table's
    setting, where the paper prints 8.8e5. The paper says that its number uses the
    original, somewhat larger Delta of Zoghi et al. (2015) and does not restate it, so
    the two cannot be equal digit by digit. It is an order of growth and no bound.

    Examples
    --------
    >>> import bayesduel
    >>> constants = bayesduel.papers.submatrix_constants(
    ...     bayesduel.load("sushi"), 3, 5, min_gap=0.01
    ... )
    >>> len(constants.rows), constants.mean("ecw") >= constants.mean("cw") > 0
    (3, True)
    """
    total = integer_from(num_submatrices, 1, "num_submatrices", MOST_SUBMATRICES)
    sampler = SubmatrixSampler.of(matrix, size, min_gap=min_gap, seed=seed)
    # Says at once if none can be found, before any folder is made or worker started.
    sampler.draw(0)
    progress = true_or_false(progress, "progress")
    resume = true_or_false(resume, "resume")
    overwrite = true_or_false(overwrite, "overwrite")
    workers = worker_count(jobs)
    require_folder(out, resume=resume, overwrite=overwrite)
    request = {
        "matrix_sha256": sampler.matrix.checksum, "size": sampler.size,
        "min_gap": sampler.min_gap, "seed": sampler.seed, "version": __version__,
    }  # fmt: skip
    rows: dict[int, SubmatrixRow] = {}
    try:
        with (
            nullcontext()
            if out is None
            else RunFolder.claim(
                out, kind="submatrices", resume=resume, overwrite=overwrite
            ) as folder
        ):
            if folder is not None:
                if overwrite:
                    folder.remove(_FILE)
                    folder.remove_chunks()
                else:
                    rows |= {row.number: row for row in _stored(folder, request)}
                folder.note(request=request)
            todo = [number for number in range(total) if number not in rows]
            each_job = max(1, min(PER_JOB, -(-len(todo) // workers)))
            pieces = [
                tuple(todo[x : x + each_job]) for x in range(0, len(todo), each_job)
            ]
            with (
                signals_wait() as raise_signal,
                progress_reporter(enabled=progress) as report,
            ):
                report.expect(len(pieces))
                outcomes = execute(
                    partial(submatrix_rows, sampler),
                    pieces,
                    workers=workers,
                    try_here=jobs is None,
                    report=report,
                    words=lambda _: "bounds of submatrices",
                )
                with closing(outcomes):
                    for numbers, value, failure in outcomes:
                        if failure is not None:  # A mean over the rest would be biased.
                            raise failure
                        rows |= {row.number: row for row in value}
                        if folder is not None:
                            text = json.dumps([request, numbers], sort_keys=True)
                            digest = hashlib.sha256(text.encode()).hexdigest()
                            folder.save(digest, to_csv(value))
                        raise_signal()
                raise_signal()
                if folder is not None:
                    in_order = [rows[number] for number in sorted(rows)]
                    folder.write(_FILE, to_csv(in_order))
                    folder.remove_chunks()
    except KeyboardInterrupt as interrupt:
        interrupt.kept = len(rows)  # pyright: ignore
        raise
    # A folder that is resumed may hold more rows than are asked for.
    return SubmatrixConstants(tuple(rows[number] for number in range(total)))


def _stored(folder: RunFolder, request: dict[str, Any]) -> Iterator[SubmatrixRow]:
    """Yield the rows that a folder holds, in any order."""
    theirs = folder.marker().get("request", request)
    for name, value in request.items():
        if theirs.get(name) != value:
            raise OutputFolderError(
                "out",
                f"{folder.path} holds submatrices with another {name} "
                f"({theirs.get(name)}, not {value})",
                folder.path,
                remedy="ask for the same, replace it ({overwrite}), or name another "
                "folder",
            )
    if (folder.path / _FILE).is_file():
        yield from from_csv(read_checked(folder.path / _FILE))
    for digest in sorted(folder.digests()):
        if (data := folder.load(digest)) is not None:
            yield from from_csv(data)


# --- Rows of `submatrix_constants`: computed, and as CSV ------------------------------


PER_JOB = 25
"""Submatrices of a job, which an interrupt can lose: some 0.1 s at 16 arms."""

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

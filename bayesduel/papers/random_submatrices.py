"""Constants of the regret bounds of many random submatrices of one matrix."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from os import cpu_count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayesduel.analysis.measurements import standard_error
from bayesduel.instances.generators.instance import check_flag, check_integer
from bayesduel.instances.submatrices import SubmatrixSampler
from bayesduel.limits import MOST_JOBS, MOST_SUBMATRICES
from bayesduel.papers._submatrix_folder import SubmatrixFolder
from bayesduel.progress import ProgressReport, progress_reporter
from theory import ProgramError, ccb_order, copeland_lower_bound, ecw_rmed_constant
from theory.arguments import one_of

if TYPE_CHECKING:
    from jaxtyping import Float64
    from numpy.typing import ArrayLike

    from theory import PreferenceMatrix

__all__ = ["SubmatrixConstants", "SubmatrixRow", "submatrix_constants"]

# What an interrupt can lose, and what cores can share: some 0.1 s at 16 arms.
_PER_CHUNK = 25
_WORDS = "bounds of submatrices"


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
class SubmatrixConstants:
    """Constants of all submatrices.

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


@dataclass(frozen=True)
class _Chunk:
    """Some submatrices, for one process."""

    sampler: SubmatrixSampler
    numbers: tuple[int, ...]

    def run(self) -> list[SubmatrixRow]:
        return [_row(self.sampler, number) for number in self.numbers]


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
        As for `bayesduel.instances.SubmatrixSampler`, which states the law.
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
    the paper, `theory.ccb_order`). This form gives 9.2e5 for the table's setting, where
    the paper prints 8.8e5. The paper says that its number uses the original, somewhat
    larger Delta of Zoghi et al. (2015) and does not restate it, so the two cannot be
    equal digit by digit. It is an order of growth and no bound.

    Examples
    --------
    >>> import bayesduel
    >>> found = bayesduel.papers.submatrix_constants(
    ...     bayesduel.load("sushi"), 3, 5, min_gap=0.01
    ... )
    >>> len(found.rows), found.mean("ecw") >= found.mean("cw") > 0
    (3, True)
    """
    for name, flag in (
        ("progress", progress), ("resume", resume), ("overwrite", overwrite)
    ):  # fmt: skip
        check_flag(name, flag)
    total = check_integer("num_submatrices", num_submatrices, 1, MOST_SUBMATRICES)
    jobs = (cpu_count() or 1) if jobs is None else jobs
    workers = check_integer("jobs", jobs, 1, MOST_JOBS)
    sampler = SubmatrixSampler.of(matrix, size, min_gap=min_gap, seed=seed)
    # Says at once if none can be found, before any folder is made or worker started.
    sampler.draw(0)
    with SubmatrixFolder.prepare(
        out, sampler, resume=resume, overwrite=overwrite
    ) as folder:
        rows = {values[0]: SubmatrixRow(*values) for values in folder.finished()}
        todo = [number for number in range(total) if number not in rows]

        def keep(found: Sequence[SubmatrixRow]) -> None:
            rows.update((row.number, row) for row in found)
            folder.keep(found)

        try:
            with progress_reporter(enabled=progress) as report:
                _run(_chunks(sampler, todo, workers), workers, keep, report)
        except KeyboardInterrupt as interrupt:
            interrupt.kept = len(rows)  # pyright: ignore
            raise
        except ValueError as error:
            # Raised anew: what comes from a worker has lost where it was raised.
            raise ValueError(str(error)) from error
        folder.finish([rows[number] for number in sorted(rows)])
    return SubmatrixConstants(tuple(rows[number] for number in range(total)))


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


def _chunks(
    sampler: SubmatrixSampler, numbers: Sequence[int], workers: int
) -> list[_Chunk]:
    size = max(1, min(_PER_CHUNK, -(-len(numbers) // workers)))
    starts = range(0, len(numbers), size)
    return [_Chunk(sampler, tuple(numbers[at : at + size])) for at in starts]


def _run(
    chunks: Sequence[_Chunk],
    workers: int,
    keep: Callable[[Sequence[SubmatrixRow]], None],
    report: ProgressReport,
) -> None:
    """Run all chunks, and hand each result over as soon as it is there."""
    report.expect(len(chunks))
    workers = min(workers, len(chunks))
    if workers <= 1:
        for chunk in chunks:
            keep(chunk.run())
            report.finished(_WORDS)
        return
    # Forked workers would inherit the threads of whatever the caller has loaded.
    pool = ProcessPoolExecutor(workers, get_context("spawn"), _leave_interrupts)
    try:
        futures = [pool.submit(_Chunk.run, chunk) for chunk in chunks]
        for future in as_completed(futures):
            keep(future.result())
            report.finished(_WORDS)
    except BaseException:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _leave_interrupts() -> None:
    """Leave Ctrl-C to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

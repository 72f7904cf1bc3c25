"""``bayesduel bounds FILE --submatrices N``: constants of many random submatrices."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesduel.cli.errors import damage_warnings, ended
from bayesduel.cli.output import console, print_json, save_json, say, version

if TYPE_CHECKING:
    from bayesduel.papers import SubmatrixConstants
    from theory import PreferenceMatrix

_DEFAULT_SIZE, _DEFAULT_GAP = 16, 0.005
_ROWS = {
    "cw": "CW-RMED, lower bound C*",
    "ecw": "ECW-RMED",
    "ccb": "CCB, order of growth",
}


@dataclass(frozen=True)
class SubmatrixRequest:
    """What was typed."""

    size: int | None
    min_gap: float | None
    seed: int | None
    jobs: int | None
    out: Path | None
    resume: bool
    overwrite: bool
    quiet: bool

    def refuse_without_submatrices(self) -> None:
        """Raise ValueError for options that mean nothing without --submatrices."""
        from bayesduel.errors import ArgumentError

        for name in ("size", "min_gap", "seed", "jobs", "resume"):
            value = getattr(self, name)
            if value is not None and value is not False:
                rule = "needs --submatrices N, the number of random submatrices"
                raise ArgumentError(name, rule, value)


def submatrices(
    matrix: PreferenceMatrix,
    count: int,
    request: SubmatrixRequest,
    *,
    as_json: bool,
) -> None:
    """Compute, keep and print the constants of random submatrices."""
    started = time.perf_counter()
    size = _DEFAULT_SIZE if request.size is None else request.size
    min_gap = _DEFAULT_GAP if request.min_gap is None else request.min_gap
    found = _compute(matrix, count, request, size, min_gap)
    record = _record(found, size, time.perf_counter() - started)
    if request.out is not None:
        told = record | {"version": version()}
        save_json(request.out / "submatrices.json", told, quiet=True)
        say(f"saved {request.out / 'submatrices.csv'}", quiet=request.quiet)
    if as_json:
        print_json(record)
    else:
        _print(matrix, found, request, size, min_gap, record["seconds"])


def _compute(
    matrix: PreferenceMatrix,
    count: int,
    request: SubmatrixRequest,
    size: int,
    min_gap: float,
) -> SubmatrixConstants:
    from bayesduel.papers import submatrix_constants

    try:
        with damage_warnings():
            return submatrix_constants(
                matrix,
                count,
                size,
                min_gap=min_gap,
                seed=request.seed or 0,
                jobs=request.jobs,
                progress=not request.quiet,
                out=request.out,
                resume=request.resume,
                overwrite=request.overwrite,
            )
    except KeyboardInterrupt as error:
        kept = f"{getattr(error, 'kept', 0)} of {count} submatrices"
        raise ended(error, request.out, kept) from error


def _record(found: SubmatrixConstants, size: int, seconds: float) -> dict[str, Any]:
    """Return the result; a standard error is None for a single submatrix."""
    record: dict[str, Any] = {"matrices": len(found.rows), "size": size}
    for name in _ROWS:
        error = found.standard_error(name)
        record[f"{name}_mean"] = found.mean(name)
        record[f"{name}_se"] = error if len(found.rows) > 1 else None
    return record | {"seconds": seconds}


def _print(
    matrix: PreferenceMatrix,
    found: SubmatrixConstants,
    request: SubmatrixRequest,
    size: int,
    min_gap: float,
    seconds: float,
) -> None:
    from bayesduel.analysis.text import format_with_error
    from bayesduel.cli.tables import show, table_of

    rows = []
    for name, label in _ROWS.items():
        mean = found.mean(name)
        ratio = mean / found.mean("cw") if found.mean("cw") > 0 else 1.0
        error = found.standard_error(name)
        rows.append((label, format_with_error(mean, error), f"{ratio:.4g}"))
    count = len(found.rows)
    noun = "submatrix" if count == 1 else "submatrices"
    name = f"{matrix.name}: " if matrix.name else ""
    show(
        console(),
        f"{name}{count} random {noun} of {size} of {matrix.num_arms} arms",
        table_of(("constant", "mean ± se", "/ C*"), rows),
        "Copeland regret per unit of natural log T; every C* and ECW-RMED certified",
        f"all gaps at least {min_gap:g}: {found.admissible_share:.3%} of random "
        "subsets, drawn by rejection",
        "CCB: K (C + L + 1) / Delta^2, Delta the smallest gap, its constant factor "
        "unknown (Komiyama et al. 2016, eq. 10); no bound",
        f"seed {request.seed or 0}, {seconds:.1f} s, bayesduel {version()}",
    )

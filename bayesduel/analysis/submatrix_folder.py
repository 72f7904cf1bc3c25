"""The folder of `submatrix_constants`: finished parts at once, one table at the end."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bayesduel.datasets.submatrices import SubmatrixSampler
from bayesduel.errors import OutputFolderError
from bayesduel.folders import prepare_folder

__all__ = ["SubmatrixFolder"]

_TABLE, _REQUEST, _PARTS = "submatrices.csv", "request.json", "parts"
_HEADER = ("number", "draws", "cw", "ecw", "ccb", "arms")

type Row = tuple[int, int, float, float, float, tuple[int, ...]]
"""Number, draws, three constants, arms."""


@dataclass(frozen=True)
class SubmatrixFolder:
    """A folder that belongs to the submatrices of one matrix and seed, or none."""

    path: Path | None

    @classmethod
    def prepare(
        cls,
        path: Path | str | None,
        sampler: SubmatrixSampler,
        *,
        resume: bool,
        overwrite: bool,
    ) -> SubmatrixFolder:
        """Check the folder, make it, and write down what it is for.

        Raises
        ------
        OutputFolderError
            If it cannot be written to, is not empty and neither ``resume`` nor
            ``overwrite`` is given, or holds results of another request.
        """
        folder = prepare_folder(path, resume=resume, overwrite=overwrite)
        if folder is None:
            return cls(None)
        if overwrite:
            (folder / _TABLE).unlink(missing_ok=True)
            (folder / _REQUEST).unlink(missing_ok=True)
            shutil.rmtree(folder / _PARTS, ignore_errors=True)
        request: dict[str, Any] = {
            "matrix_sha256": sampler.matrix.checksum,
            "size": sampler.size,
            "min_gap": sampler.min_gap,
            "seed": sampler.seed,
            "version": version("bayesduel"),
        }
        file = folder / _REQUEST
        if file.is_file():
            _refuse_others(folder, request, json.loads(file.read_text("utf-8")))
        elif not overwrite and any(folder.iterdir()):
            raise OutputFolderError(
                f"out: {folder} holds something else than submatrices; overwrite it, "
                "or name another folder"
            )
        file.write_text(json.dumps(request, indent=2) + "\n", "utf-8")
        return cls(folder)

    def finished(self) -> list[Row]:
        """Read back what is there."""
        if self.path is None:
            return []
        files = [self.path / _TABLE, *sorted((self.path / _PARTS).glob("*.csv"))]
        return [row for file in files if file.is_file() for row in _read(file)]

    def keep(self, rows: Sequence[Row]) -> None:
        """Write a finished part, all of it or nothing."""
        if self.path is not None and rows:
            (self.path / _PARTS).mkdir(exist_ok=True)
            _write(self.path / _PARTS / f"{rows[0][0]:08d}.csv", rows)

    def finish(self, rows: Sequence[Row]) -> None:
        """Write everything into one table, and drop the parts."""
        if self.path is not None:
            _write(self.path / _TABLE, rows)
            shutil.rmtree(self.path / _PARTS, ignore_errors=True)


def _refuse_others(folder: Path, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    for name, value in ours.items():
        if theirs.get(name) != value:
            raise OutputFolderError(
                f"out: {folder} holds submatrices with another {name} "
                f"({theirs.get(name)}, not {value}); ask for the same, overwrite it, "
                "or name another folder"
            )


def _write(path: Path, rows: Sequence[Row]) -> None:
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(_HEADER)
        # Floats are written with all their digits.
        table.writerows((*row[:5], " ".join(map(str, row[5]))) for row in rows)
    part.replace(path)


def _read(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return [
            (
                int(row["number"]),
                int(row["draws"]),
                float(row["cw"]),
                float(row["ecw"]),
                float(row["ccb"]),
                tuple(int(arm) for arm in row["arms"].split()),
            )
            for row in csv.DictReader(file)
        ]

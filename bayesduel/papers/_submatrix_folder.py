"""The folder of `submatrix_constants`: finished parts at once, one table at the end."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import Any

from bayesduel.errors import OutputFolderError
from bayesduel.experiments.owned_folder import ReleasesFolder, claimed
from bayesduel.instances.submatrices import SubmatrixSampler

__all__ = ["SubmatrixFolder"]

KIND = "submatrices"
"""What the marker calls such a folder."""

_TABLE = "submatrices.csv"
_HEADER = ("number", "draws", "cw", "ecw", "ccb", "arms")

type Row = tuple[int, int, float, float, float, tuple[int, ...]]
"""Number, draws, three constants, arms."""


@dataclass(frozen=True)
class SubmatrixFolder(ReleasesFolder):
    """A folder that belongs to the submatrices of one matrix and seed, or none.

    It is locked from :meth:`prepare` to the end of its ``with`` statement.
    """

    @classmethod
    def prepare(
        cls,
        path: Path | str | None,
        sampler: SubmatrixSampler,
        *,
        resume: bool,
        overwrite: bool,
    ) -> SubmatrixFolder:
        """Check the folder, make it, lock it, and write down what it is for.

        Raises
        ------
        OutputFolderError
            If it cannot be used (see
            :meth:`bayesduel.experiments.owned_folder.OwnedFolder.claim`), or holds
            results of another request.
        """
        owned = claimed(path, kind=KIND, resume=resume, overwrite=overwrite)
        if owned is None:
            return cls(None)
        request: dict[str, Any] = {
            "matrix_sha256": sampler.matrix.checksum,
            "size": sampler.size,
            "min_gap": sampler.min_gap,
            "seed": sampler.seed,
            "version": version("bayesduel"),
        }
        if overwrite:
            owned.remove(_TABLE)
            owned.remove_parts()
        elif theirs := owned.marker().get("request"):
            try:
                _refuse_others(owned.path, request, theirs)
            except OutputFolderError:
                owned.release()
                raise
        owned.note(request=request)
        return cls(owned)

    def finished(self) -> list[Row]:
        """Read back what is there."""
        if self.owned is None:
            return []
        whole = self.owned.read(_TABLE)
        tables = [*([whole] if whole else []), *self.owned.parts()]
        return [row for table in tables for row in _read(table)]

    def keep(self, rows: Sequence[Row]) -> None:
        """Write a finished part, all of it or nothing."""
        if self.owned is not None and rows:
            self.owned.keep_part(str(rows[0][0]), "csv", _written(rows))

    def finish(self, rows: Sequence[Row]) -> None:
        """Write everything into one table, and drop the parts."""
        if self.owned is not None:
            self.owned.write(_TABLE, _written(rows))
            self.owned.remove_parts()


def _refuse_others(folder: Path, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    for name, value in ours.items():
        if theirs.get(name) != value:
            raise OutputFolderError(
                f"out: {folder} holds submatrices with another {name} "
                f"({theirs.get(name)}, not {value}); ask for the same, overwrite it, "
                "or name another folder"
            )


def _written(rows: Sequence[Row]) -> bytes:
    file = StringIO(newline="")
    table = csv.writer(file)
    table.writerow(_HEADER)
    # Floats are written with all their digits.
    table.writerows((*row[:5], " ".join(map(str, row[5]))) for row in rows)
    return file.getvalue().encode()


def _read(table: bytes) -> list[Row]:
    return [
        (
            int(row["number"]),
            int(row["draws"]),
            float(row["cw"]),
            float(row["ecw"]),
            float(row["ccb"]),
            tuple(int(arm) for arm in row["arms"].split()),
        )
        for row in csv.DictReader(StringIO(table.decode(), newline=""))
    ]

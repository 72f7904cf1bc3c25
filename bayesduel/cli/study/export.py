"""``bayesduel study export`` and ``copy``: the history elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesduel.cli.errors import option_error
from bayesduel.cli.options import flag
from bayesduel.cli.output import print_data, say
from bayesduel.cli.study.options import File, opened

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["copy", "export"]


def export(
    file: File,
    out: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="A new file; default: standard output."),
    ] = None,
    judges: Annotated[
        bool, flag("--judges", help="What is known of each judge, one a line, instead.")
    ] = False,
    votes: Annotated[
        bool,
        flag(
            "--votes",
            help="Answers as a table instead: CSV (what a spreadsheet would take for a "
            "formula has a ' before it), or Parquet by --out.",
        ),
    ] = False,
) -> None:
    """Write the history as JSON lines, one event a line."""
    if judges and votes:
        raise option_error("--votes", "goes without --judges", remedy="export twice")
    with opened(file) as study:
        if votes:
            _export_votes(study.to_dataframe(), out)
            return
        text = study.export_judges(out) if judges else study.export(out)
    if out is None:
        print_data(text)


def _export_votes(frame: pd.DataFrame, out: Path | None) -> None:
    """Write answers as a table, and say what was done to cells."""
    from bayesduel.files.csv_cells import GUARDED, guarded_frame
    from bayesduel.studies.exchange import csv_text, write_frame

    if out is None:
        print_data(csv_text(frame))
    else:
        write_frame(frame, out)
    is_csv = out is None or out.suffix.lower() not in (".parquet", ".pq")
    if is_csv and guarded_frame(frame) is not frame:
        say(GUARDED)


def copy(
    file: File,
    to: Annotated[Path, typer.Argument(metavar="COPY", help="A new file.")],
) -> None:
    """Copy a study, also while others ask and answer."""
    with opened(file) as study:
        study.copy(to)

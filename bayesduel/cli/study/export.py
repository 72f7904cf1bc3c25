"""``bayesduel study export`` and ``copy``: the history elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayesduel.cli.errors import option_error
from bayesduel.cli.options import flag
from bayesduel.cli.output import print_data
from bayesduel.cli.study.options import File, opened

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
        flag("--votes", help="Answers as a table instead: CSV, or Parquet by --out."),
    ] = False,
) -> None:
    """Write the history as JSON lines, one event a line."""
    if judges and votes:
        raise option_error("--votes", "goes without --judges", remedy="export twice")
    with opened(file) as study:
        if votes:
            if out is None:
                print_data(study.to_dataframe().to_csv(index=False))
            else:
                study.export_votes(out)
            return
        text = study.export_judges(out) if judges else study.export(out)
    if out is None:
        print_data(text)


def copy(
    file: File,
    to: Annotated[Path, typer.Argument(metavar="COPY", help="A new file.")],
) -> None:
    """Copy a study, also while others ask and answer."""
    with opened(file) as study:
        study.copy(to)

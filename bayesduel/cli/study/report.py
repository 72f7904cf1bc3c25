"""``bayesduel study report``: everything on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayesduel.cli.errors import option_error
from bayesduel.cli.figures import font_warnings
from bayesduel.cli.options import flag, number_option, quiet_flag
from bayesduel.cli.output import say
from bayesduel.cli.study.options import File, Forecasts, opened

__all__ = ["report"]


def report(
    file: File,
    out: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Default: FILE with .html behind it."),
    ] = None,
    probability: Annotated[
        float, number_option("--interval", metavar="P", help="Of intervals.")
    ] = 0.9,
    forecast: Forecasts = False,
    overwrite: Annotated[bool, flag("--overwrite", help="Replace the page.")] = False,
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
    """Write one HTML page that needs no other file: standings, figures, rules."""
    from bayesduel.files.folders import write_whole

    with opened(file) as study:
        page = file.with_name(f"{file.name}.html") if out is None else out
        if page.exists() and not overwrite:
            raise option_error(
                "--out",
                f"{page} exists",
                page,
                remedy="name another file, or --overwrite",
            )
        with font_warnings(quiet=quiet):
            text = study.report(probability, forecast=forecast)
    write_whole(page, text.encode())
    say(f"saved {page}", quiet=quiet)

"""What several subcommands of ``bayesduel study`` take."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesduel.cli.options import flag

if TYPE_CHECKING:
    from bayesduel.studies import Study

__all__ = ["By", "File", "Forecasts", "Judge", "Number", "Texts", "opened"]

File = Annotated[Path, typer.Argument(metavar="FILE", help="The study.")]
Forecasts = Annotated[
    bool, flag("--forecast", help="Simulate how many votes more; takes seconds.")
]
Number = Annotated[
    int, typer.Argument(metavar="QUESTION", help="Its number.", show_default=False)
]
Judge = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Who answers: what they skip is not repeated."),
]
By = Annotated[
    str | None, typer.Option(metavar="NAME", help="Who does it: kept with the event.")
]
Texts = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Show the text of the file in it an arm names."),
]


def opened(file: Path, by: str | None = None) -> Study:
    """Open a study."""
    from bayesduel.studies import Study

    return Study.open(file, by=by)

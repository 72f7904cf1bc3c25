"""What several subcommands of ``bayesduel study`` take."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from bayesduel.studies import Study

__all__ = ["File", "Judge", "Number", "opened"]

File = Annotated[Path, typer.Argument(metavar="FILE", help="The study.")]
Number = Annotated[
    int, typer.Argument(metavar="QUESTION", help="Its number.", show_default=False)
]
Judge = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Who answers: what they skip is not repeated."),
]


def opened(file: Path) -> Study:
    """Open a study."""
    from bayesduel.studies import Study

    return Study.open(file)

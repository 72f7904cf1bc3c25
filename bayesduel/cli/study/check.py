"""``bayesduel study check``: which votes of a file are sound, and saving them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayesduel.cli.study.options import File

__all__ = ["check"]


def check(
    file: File,
    salvage: Annotated[
        Path | None,
        typer.Option(metavar="NEW", help="Write a new study of the sound events."),
    ] = None,
) -> None:
    """Say which events of a study are sound; exit code 2 where one is not."""
    from bayesduel.errors import StudyError
    from bayesduel.studies import check_study

    found = check_study(file)
    many = len(found.events)
    typer.echo(f"sound: {many} events from the first on; answers that count: "
               f"{found.votes}")  # fmt: skip
    for event in found.later_answers:
        body = event.body
        typer.echo(
            f"behind the fault, event {event.number} with a sound checksum: "
            f"question {body.get('question')} was answered {body.get('answer')}"
        )
    if salvage is not None:
        found.save(salvage)
        typer.echo(f"saved {salvage}: {many} events")
    if found.fault:
        raise StudyError(found.fault)

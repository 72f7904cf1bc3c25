"""``bayesduel study check`` and ``verify``: what is sound, and who asked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayesduel.arguments.control_characters import visible
from bayesduel.cli.study.options import File

__all__ = ["check", "verify"]


def check(
    file: File,
    salvage: Annotated[
        Path | None,
        typer.Option(metavar="NEW", help="Write a new study of the sound events."),
    ] = None,
) -> None:
    """Say which events of a study are sound; exit code 2 where one is not.

    Nothing is written to the file. Also of one that was cut or overwritten, whatever
    its header says, each event is found that is still there.
    """
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
            f"question {body.get('question')} was answered "
            + visible(str(body.get("answer")))
        )
    if salvage is not None:
        found.save(salvage)
        typer.echo(visible(f"saved {salvage}: {many} events"))
    if found.fault:
        remedy = "save what is sound with --salvage NEW" if many else "restore a copy"
        raise StudyError(str(file), found.fault, many, remedy="" if salvage else remedy)


def verify(file: File) -> None:
    """Ask all questions again; exit code 2 where one was not the study's own.

    A question of another version, whose policy went another way, counts as such, too.
    """
    from bayesduel.errors import StudyError
    from bayesduel.studies import verify_study

    found = verify_study(file)
    own = found.questions - len(found.foreign)
    typer.echo(f"questions that the study would have asked: {own} of {found.questions}")
    for each in found.foreign:
        text = f"event {each.event}, question {each.question}: {each.asked}; in its "
        typer.echo(visible(f"{text}place: {each.own}"))
    if found.foreign:
        raise StudyError(str(file), "not all of its questions are its own")

"""``bayesduel study export``, ``copy``, ``check`` and ``verify``: its file."""

from __future__ import annotations

from pathlib import Path

import typer

from bayesduel.arguments.control_characters import visible
from bayesduel.cli.options import argument, command, option
from bayesduel.cli.output import print_data, say
from bayesduel.cli.parse import option_error
from bayesduel.cli.studying import StudyFile


@command("study export drinks.study")
def export(
    *,
    opened: StudyFile,
    out: Path | None = option("PATH: A new file; default: standard output."),
    judges: bool = option("What is known of each judge, one a line, instead."),
    votes: bool = option(
        "Answers as a table instead: CSV (what a spreadsheet would take for a formula "
        "has a ' before it), or Parquet by --out."
    ),
) -> None:
    """Write the history as JSON lines, one event a line."""
    if judges and votes:
        raise option_error("--votes", "goes without --judges", remedy="export twice")
    with opened.open() as study:
        if not votes:
            text = study.export_judges(out) if judges else study.export(out)
            if out is None:
                print_data(text)
            return
        frame = study.to_dataframe()
    from bayesduel.files.csv_cells import GUARDED, guarded_frame
    from bayesduel.studies.exchange import csv_text, write_frame

    if out is None:
        print_data(csv_text(frame))
    else:
        write_frame(frame, out)
    is_csv = out is None or out.suffix.lower() not in (".parquet", ".pq")
    if is_csv and guarded_frame(frame) is not frame:
        say(GUARDED)


@command("study copy drinks.study copy.study")
def copy(*, opened: StudyFile, to: Path = argument("COPY: A new file.")) -> None:
    """Copy a study, also while others ask and answer."""
    with opened.open() as study:
        study.copy(to)


@command("study check drinks.study")
def check(
    *,
    opened: StudyFile,
    salvage: Path | None = option("NEW: Write a new study of the sound events."),
) -> None:
    """Say which events of a study are sound; exit code 2 where one is not.

    Nothing is written to the file. Also of one that was cut or overwritten, whatever
    its header says, each event is found that is still there.
    """
    from bayesduel.errors import StudyError
    from bayesduel.studies import check_study

    report = check_study(opened.file)
    many = len(report.events)
    counted = f"answers that count: {report.votes}"
    typer.echo(f"sound: {many} events from the first on; {counted}")
    for event in report.later_answers:
        question, answer = event.body.get("question"), event.body.get("answer")
        typer.echo(
            f"behind the fault, event {event.number} with a sound checksum: "
            f"question {question} was answered {visible(str(answer))}"
        )
    if salvage is not None:
        report.save(salvage)
        typer.echo(visible(f"saved {salvage}: {many} events"))
    if report.fault:
        remedy = "save what is sound with --salvage NEW" if many else "restore a copy"
        remedy = "" if salvage else remedy
        raise StudyError(str(opened.file), report.fault, many, remedy=remedy)


@command("study verify drinks.study")
def verify(*, opened: StudyFile) -> None:
    """Ask all questions again; exit code 2 where one was not the study's own.

    A question of another version, whose policy went another way, counts as such, too.
    """
    from bayesduel.errors import StudyError
    from bayesduel.studies import verify_study

    verified = verify_study(opened.file)
    right = verified.questions - len(verified.foreign)
    total = f"{right} of {verified.questions}"
    typer.echo(f"questions that the study would have asked: {total}")
    for foreign in verified.foreign:
        text = f"event {foreign.event}, question {foreign.question}: {foreign.actual}"
        typer.echo(visible(f"{text}; in its place: {foreign.expected}"))
    if verified.foreign:
        raise StudyError(str(opened.file), "not all of its questions are its own")

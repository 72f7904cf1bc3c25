"""``bayesduel study export`` and ``copy``: the history elsewhere."""

from __future__ import annotations

from pathlib import Path

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

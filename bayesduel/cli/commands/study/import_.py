"""``bayesduel study import`` and ``undo-import``: votes from elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bayesduel.arguments.control_characters import visible
from bayesduel.cli.commands.fit_choices import LONG
from bayesduel.cli.options import argument, command, option
from bayesduel.cli.parse import option_error
from bayesduel.cli.studying import EditedStudy
from bayesduel.cli.voting import (
    JudgedVoteOptions,
    names_between,
    print_rows,
    print_whole,
    require_file,
)

if TYPE_CHECKING:
    from bayesduel.votes import Choices
    from bayesduel.votes.format import VoteFormat


@command("study import drinks.study votes.csv")
def import_(
    *,
    edited: EditedStudy,
    votes: Path = argument("VOTES: As for: bayesduel fit."),
    reading: JudgedVoteOptions,
    long: str | None = LONG,
    again: bool = option("Count votes that were imported before once more."),
) -> None:
    """Count votes that were collected elsewhere: a table, or another study.

    Who answered, and when, is not read: of other columns it says so. Of another study,
    or what export wrote of one, each vote counts once, however often it is imported.
    Into a study of sets: a set a row, with the best in the column best (--winner) and
    the arms that were shown in all others (--arms); what export --votes wrote; --long.
    """
    from bayesduel.studies.exchange import is_study

    if is_study(votes):
        with edited.open() as study:
            new, known = study.import_study(votes)
        edited.say(f"imported {new} vote{'s' * (new != 1)}; known before: {known}")
        return
    format = reading.format()
    require_file("VOTES", votes)
    with edited.open() as study:
        if study.choose_from > 2:
            data = _sets(votes, format, long, reading.worst)
            if reading.dry_run:
                print_whole(votes.name, data)
                return
        else:
            for name, value in (("--long", long), ("--worst", reading.worst)):
                if value is not None:
                    raise option_error(name, "is for studies of sets", value)
            from bayesduel.votes.pairs import parse_pairs

            rows = parse_pairs(votes, format)
            data = rows.comparisons()
            if reading.dry_run:
                print_rows(rows)
                return
        number = study.import_votes(data, source=visible(str(votes)), again=again)
    edited.say(f"imported {number:g} vote{'s' * (number != 1)}")


def _sets(
    votes: Path, format: VoteFormat, long: str | None, worst: str | None
) -> Choices:
    """Read choices out of sets."""
    from bayesduel.votes import read_long_choices
    from bayesduel.votes.answers import parse_sets, refuse_named

    if long is None:
        rule = "must be left out for a study of sets"
        return parse_sets(votes, format, worst, rule)
    refuse_named(format, "must be left out with --long", "where", worst=worst)
    case, alternative, chosen = names_between("--long", long, 3) or ("", "", "")
    return read_long_choices(
        votes, case=case, alternative=alternative, chosen=chosen, where=format.where
    )


@command("study undo-import drinks.study 12")
def undo_import(
    *, edited: EditedStudy, event: int = argument("EVENT: Its number; export has it.")
) -> None:
    """Take imported votes back: they count no more."""
    with edited.open() as study:
        is_new = study.undo_import(event)
    edited.say_stored(is_new)

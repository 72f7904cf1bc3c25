"""``bayesduel study add-arm``, ``import`` and the like: what a study is about."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesduel.cli.errors import option_error, refuse_given
from bayesduel.cli.options import flag, number_option, quiet_flag
from bayesduel.cli.output import say
from bayesduel.cli.study.options import By, File, opened
from bayesduel.cli.votes.options import (
    Arms,
    BothOrders,
    Context,
    DecimalSign,
    DryRun,
    Judge,
    Long,
    MirroredRows,
    Missing,
    Scores,
    TieColumns,
    Weight,
    Where,
    Winner,
    Wins,
    WithoutAnswer,
    Words,
    Worst,
    names_between,
    require_file,
    vote_format,
)
from bayesduel.cli.votes.preview import print_preview, print_whole_preview

if TYPE_CHECKING:
    from bayesduel.studies import Study
    from bayesduel.votes import Choices
    from bayesduel.votes.format import VoteFormat

__all__ = [
    "add_arm",
    "import_",
    "merge_arms",
    "rename_arm",
    "restore_arm",
    "retire_arm",
    "undo_import",
]

Name = Annotated[str, typer.Argument(metavar="NAME", help="Of the arm.")]


def add_arm(
    file: File,
    name: Name,
    share: Annotated[
        float | None,
        number_option(metavar="P", help="Of questions, until it has caught up."),
    ] = None,
    by: By = None,
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
    """Compare one more arm from now on.

    Where "information" or "balanced" asks, half of the questions are about it (--share)
    until it has as many votes as the median of the others.
    """
    with opened(file, by) as study:
        study.add_arm(name, share=share)
        _say_arms(study, quiet=quiet)


def retire_arm(
    file: File, name: Name, by: By = None, quiet: Annotated[bool, quiet_flag] = False
) -> None:
    """Ask about an arm no more; its votes are kept, but count no longer."""
    with opened(file, by) as study:
        study.retire_arm(name)
        _say_arms(study, quiet=quiet)


def restore_arm(
    file: File, name: Name, by: By = None, quiet: Annotated[bool, quiet_flag] = False
) -> None:
    """Ask about a retired arm again; its votes count again."""
    with opened(file, by) as study:
        study.restore_arm(name)
        _say_arms(study, quiet=quiet)


def rename_arm(
    file: File,
    name: Name,
    to: Annotated[str, typer.Argument(metavar="TO", help="Its new name.")],
    by: By = None,
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
    """Call an arm by another name from now on."""
    with opened(file, by) as study:
        study.rename_arm(name, to)
    say("stored", quiet=quiet)


def merge_arms(
    file: File,
    name: Name,
    into: Annotated[str, typer.Argument(metavar="INTO", help="The arm that stays.")],
    by: By = None,
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
    """Merge two arms: votes for either count for the second, for good.

    Votes between the two are kept, and count for neither.
    """
    with opened(file, by) as study:
        study.merge_arms(name, into)
        _say_arms(study, quiet=quiet)


def _say_arms(study: Study, *, quiet: bool) -> None:
    say(f"{len(study.arms)} arms", quiet=quiet)


def import_(
    file: File,
    votes: Annotated[
        Path, typer.Argument(metavar="VOTES", help="As for: bayesduel fit.")
    ],
    arms: Arms = None,
    winner: Winner = None,
    words: Words = None,
    wins: Wins = None,
    tie_columns: TieColumns = None,
    scores: Scores = None,
    weight: Weight = None,
    worst: Worst = None,
    where: Where = None,
    missing: Missing = WithoutAnswer.refuse,
    decimal: DecimalSign = None,
    mirrored: MirroredRows = None,
    context: Context = None,
    judge: Judge = None,
    both_orders: BothOrders = None,
    long: Long = None,
    dry_run: DryRun = False,
    again: Annotated[
        bool, flag("--again", help="Count votes that were imported before once more.")
    ] = False,
    by: By = None,
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
    """Count votes that were collected elsewhere: a table, or another study.

    Who answered, and when, is not read: of other columns it says so. Of another study,
    or what export wrote of one, each vote counts once, however often it is imported.
    Into a study of sets: a set a row, with the best in the column best (--winner) and
    the arms that were shown in all others (--arms); what export --votes wrote; --long.
    """
    from bayesduel.arguments.control_characters import visible
    from bayesduel.studies.exchange import is_study

    if is_study(votes):
        with opened(file, by) as study:
            new, known = study.import_study(votes)
        say(
            f"imported {new} vote{'s' * (new != 1)}; known before: {known}", quiet=quiet
        )
        return
    reading = vote_format(
        arms=arms, winner=winner, words=words, wins=wins, ties=tie_columns,
        weight=weight, scores=scores, where=where, missing=missing.value,
        decimal=decimal and decimal.value, mirrored=mirrored and mirrored.value,
        context=context, judge=judge, both_orders=both_orders and both_orders.value,
    )  # fmt: skip
    require_file("VOTES", votes)
    with opened(file, by) as study:
        if study.choose_from > 2:
            data = _sets(votes, reading, long, worst)
            if dry_run:
                print_whole_preview(votes.name, data)
                return
        else:
            if long is not None:
                raise option_error("--long", "is for studies of sets", long)
            if worst is not None:
                raise option_error("--worst", "is for studies of sets", worst)
            from bayesduel.votes.pairs import parse_pairs

            rows = parse_pairs(votes, reading)
            data = rows.comparisons()
            if dry_run:
                print_preview(rows)
                return
        number = study.import_votes(data, source=visible(str(votes)), again=again)
    say(f"imported {number:g} vote{'s' * (number != 1)}", quiet=quiet)


def _sets(
    votes: Path, reading: VoteFormat, long: str | None, worst: str | None
) -> Choices:
    """Read choices out of sets."""
    from bayesduel.cli.votes.whole_answers import OF_SETS, named_options, read_sets_as
    from bayesduel.votes import read_long_choices

    if long is None:
        refuse_given(
            named_options(reading, OF_SETS), "must be left out for a study of sets"
        )
        return read_sets_as(votes, reading, worst)
    given = named_options(reading, ("where",)) | {"--worst": worst}
    refuse_given(given, "must be left out with --long")
    case, alternative, chosen = names_between("--long", long, 3) or ("", "", "")
    return read_long_choices(
        votes, case=case, alternative=alternative, chosen=chosen, where=reading.where
    )


def undo_import(
    file: File,
    event: Annotated[
        int,
        typer.Argument(metavar="EVENT", help="Its number; export has it."),
    ],
    by: By = None,
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
    """Take imported votes back: they count no more."""
    with opened(file, by) as study:
        is_new = study.undo_import(event)
    say("stored" if is_new else "this was stored before", quiet=quiet)

"""``bayesduel study add-arm``, ``retire-arm`` and ``import``: what a study is about."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayesduel.cli.options import flag, quiet_flag
from bayesduel.cli.output import say
from bayesduel.cli.study.options import File, opened
from bayesduel.cli.votes.options import (
    Arms,
    DryRun,
    Missing,
    Scores,
    TieColumns,
    VoteColumns,
    Weight,
    Where,
    Winner,
    Wins,
    WithoutAnswer,
    Words,
    vote_rows,
)
from bayesduel.cli.votes.preview import print_preview

__all__ = ["add_arm", "import_", "retire_arm"]

Name = Annotated[str, typer.Argument(metavar="NAME", help="Of the arm.")]


def add_arm(file: File, name: Name, quiet: Annotated[bool, quiet_flag] = False) -> None:
    """Compare one more arm from now on."""
    with opened(file) as study:
        study.add_arm(name)
        say(f"{len(study.arms)} arms", quiet=quiet)


def retire_arm(
    file: File, name: Name, quiet: Annotated[bool, quiet_flag] = False
) -> None:
    """Ask about an arm no more; its votes are kept, but count no longer."""
    with opened(file) as study:
        study.retire_arm(name)
        say(f"{len(study.arms)} arms", quiet=quiet)


def import_(
    file: File,
    votes: Annotated[
        Path, typer.Argument(metavar="VOTES", help="As for: bayesduel fit.")
    ],
    arms: Arms = None,
    winner: Winner = None,
    words: Words = "left,right,tie",
    wins: Wins = None,
    tie_columns: TieColumns = None,
    scores: Scores = None,
    weight: Weight = None,
    where: Where = None,
    missing: Missing = WithoutAnswer.refuse,
    dry_run: DryRun = False,
    again: Annotated[
        bool, flag("--again", help="Count votes that were imported before once more.")
    ] = False,
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
    """Count votes that were collected elsewhere.

    Who answered, and when, is not read: of other columns it says so.
    """
    columns = VoteColumns(
        arms,
        winner,
        words,
        wins,
        tie_columns,
        weight,
        scores=scores,
        where=where,
        missing=missing.value,
    )
    rows = vote_rows(votes, columns)
    data = rows.comparisons()
    if dry_run:
        print_preview(rows)
        return
    with opened(file) as study:
        number = study.import_votes(data, source=str(votes), again=again)
    say(f"imported {number:g} votes", quiet=quiet)

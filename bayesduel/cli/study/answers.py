"""``bayesduel study tell``, ``undo`` and ``withdraw``: votes, and back."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from bayesduel.cli.errors import option_error
from bayesduel.cli.options import quiet_flag
from bayesduel.cli.output import say
from bayesduel.cli.study.options import File, Judge, Number, opened
from bayesduel.studies.events import ANSWERS

__all__ = ["tell", "undo", "withdraw"]


def tell(
    file: File,
    number: Number,
    answer: Annotated[
        str,
        typer.Argument(
            metavar="ANSWER",
            help="left, right, tie or skip; of a set the number of the best card, or"
            " with the worst, as 1,3, or skip.",
            autocompletion=lambda: [*ANSWERS],
        ),
    ],
    judge: Judge = None,
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
    """Store the answer to a question; the same one again changes nothing."""
    if answer not in ANSWERS and not re.fullmatch(r"\d+(,\d+)?", answer):
        rule = "must be left, right, tie or skip, or of a set a card, or two as 1,3"
        raise option_error("ANSWER", rule, answer)
    with opened(file) as study:
        is_new = study.tell(number, answer, judge=judge)
        remark = study.remark
    said = "stored" if is_new else "this was stored before"
    say(remark or said, quiet=quiet)


def undo(
    file: File,
    number: Number,
    judge: Judge = None,
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
    """Take an answer back: the question is open again."""
    with opened(file) as study:
        is_new = study.undo(number, judge=judge)
    say("open again" if is_new else "it had no answer", quiet=quiet)


def withdraw(
    file: File,
    number: Number,
    judge: Judge = None,
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
    """Take a question back for good, with its answer."""
    with opened(file) as study:
        is_new = study.withdraw(number, judge=judge)
    say("withdrawn" if is_new else "it was withdrawn before", quiet=quiet)

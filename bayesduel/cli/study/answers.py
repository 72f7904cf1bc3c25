"""``bayesduel study tell``, ``undo`` and ``withdraw``: votes, and back."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from bayesduel.cli.options import quiet_flag
from bayesduel.cli.output import say
from bayesduel.cli.study.options import File, Judge, Number, opened

__all__ = ["tell", "undo", "withdraw"]


class Answer(StrEnum):
    """What may be said of a question."""

    left = "left"
    right = "right"
    tie = "tie"
    skip = "skip"


def tell(
    file: File,
    number: Number,
    answer: Annotated[Answer, typer.Argument(help="Which arm is preferred.")],
    judge: Judge = None,
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
    """Store the answer to a question; the same one again changes nothing."""
    with opened(file) as study:
        is_new = study.tell(number, answer.value, judge=judge)
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

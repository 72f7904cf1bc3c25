"""``bayesduel study judge`` and ``gold``: who judges, and whether they can."""

from __future__ import annotations

from typing import Annotated

import typer

from bayesduel.cli.options import flag, integer_option, number_option, quiet_flag
from bayesduel.cli.output import say
from bayesduel.cli.parse import names as names_of
from bayesduel.cli.study.options import By, File, opened

__all__ = ["gold", "judge"]


def judge(
    file: File,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the judge.")],
    limit: Annotated[
        int | None, integer_option(metavar="N", least=0, help="Answers at most.")
    ] = None,
    arms: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Ask them of these alone.")
    ] = None,
    price: Annotated[
        float | None, number_option(metavar="C", help="Of an answer of theirs.")
    ] = None,
    trusted: Annotated[
        bool, flag("--trusted", help="Count them whatever they say of gold questions.")
    ] = False,
    by: By = None,
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
    """Set the terms of a judge, in place of all earlier ones."""
    own = None if arms is None else names_of(arms, "--arms")
    with opened(file, by) as study:
        study.set_judge(name, limit=limit, arms=own, price=price, trusted=trusted)
    say("stored", quiet=quiet)


def gold(
    file: File,
    better: Annotated[str, typer.Argument(metavar="BETTER", help="The better one.")],
    worse: Annotated[
        list[str],
        typer.Argument(
            metavar="WORSE...",
            help="The other one; of a set all others, with --worst the worst last.",
        ),
    ],
    by: By = None,
    quiet: Annotated[bool, quiet_flag] = False,
) -> None:
    """Ask judges now and then what is known: the better of two, or the best of a set.

    Judges who often err are set aside; the names need not be arms. Of sets all cards
    are named: bayesduel study gold slogans.study clear long odd garbled
    """
    with opened(file, by) as study:
        is_new = study.add_gold(better, worse)
    say("stored" if is_new else "this was stored before", quiet=quiet)

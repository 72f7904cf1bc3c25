"""``bayesduel study ask``: the next questions."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesduel.cli.errors import option_error
from bayesduel.cli.options import integer_option, json_flag
from bayesduel.cli.output import console, print_json, say
from bayesduel.cli.study.options import File, Judge, opened

if TYPE_CHECKING:
    from bayesduel.studies import Ticket

__all__ = ["ask"]


def ask(
    file: File,
    number: Annotated[
        int, integer_option("-n", "--number", metavar="N", least=1, help="How many.")
    ] = 1,
    judge: Judge = None,
    context: Annotated[
        str | None, typer.Option(metavar="JSON", help="Kept with the question.")
    ] = None,
    as_json: Annotated[bool, json_flag] = False,
) -> None:
    """Print the next questions: number, and the arms from the left to the right.

    Fewer than asked for, or none, where there is nothing to ask; then it says why.
    """
    given = _read(context)
    with opened(file) as study:
        tickets = study.ask(number, judge=judge, context=given)
        resting = study.resting
    if as_json:
        print_json([asdict(ticket) for ticket in tickets])
    elif tickets:
        _show(tickets)
    if resting:
        say(resting)


def _show(tickets: list[Ticket]) -> None:
    from rich.markup import escape

    from bayesduel.cli.tables import new_table

    cards = tickets[0].answers
    table = new_table(names=("question", *cards))
    table.add_column("question", justify="right")
    # Of a pool, or what was given; whoever reads the questions out needs it.
    contexts = [_text_of(each.context) for each in tickets]
    heads = [*cards, "why", *(["context"] if any(contexts) else [])]
    for head in heads:
        table.add_column(head)
    for each, context in zip(tickets, contexts, strict=True):
        words = [*map(escape, (*each.shown, each.reason, context))]
        table.add_row(str(each.number), *words[: len(heads)])
    console().print(table)


def _text_of(context: Any) -> str:
    if context is None or isinstance(context, str):
        return context or ""
    return json.dumps(context, ensure_ascii=False)


def _read(context: str | None) -> Any:
    if context is None:
        return None
    try:
        return json.loads(context)
    except ValueError as error:
        raise option_error(
            "--context", f'must be JSON, such as {{"prompt": 3}} ({error})', context
        ) from error

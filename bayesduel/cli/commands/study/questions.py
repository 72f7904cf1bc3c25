"""``bayesduel study ask``, ``tell``, ``undo``, ``withdraw``: questions, answers."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import Any

from bayesduel.cli.options import JSON, argument, command, option
from bayesduel.cli.output import Messages, console, print_json, say
from bayesduel.cli.parse import option_error
from bayesduel.cli.studying import JUDGE, StudyFile
from bayesduel.cli.tables import table_of

_ANSWERS = ("left", "right", "tie", "skip")
_NUMBER = argument("QUESTION: Its number.", show_default=False)


@command("study ask drinks.study --judge Ada")
def ask(
    *,
    opened: StudyFile,
    number: int = option("N: How many.", "-n", "--number", default=1, least=1),
    judge: str | None = JUDGE,
    context: str | None = option("JSON: Kept with the question."),
    as_json: bool = JSON,
) -> None:
    """Print the next questions: number, and the arms from the left to the right.

    Fewer than asked for, or none, where there is nothing to ask; then it says why.
    """
    given = None
    if context is not None:
        try:
            given = json.loads(context)
        except ValueError as error:
            rule = f'must be JSON, such as {{"prompt": 3}} ({error})'
            raise option_error("--context", rule, context) from error
    with opened.open() as study:
        tickets = study.ask(number, judge=judge, context=given)
        resting = study.resting
    if as_json:
        print_json([asdict(ticket) for ticket in tickets])
    elif tickets:
        cards = tickets[0].answers
        # The context of a pool, or the given one; needed to read the questions out.
        contexts = [_text_of(ticket.context) for ticket in tickets]
        heads = [*cards, "why", *(["context"] if any(contexts) else [])]
        rows = [
            [str(ticket.number), *ticket.shown, ticket.reason, text][: len(heads) + 1]
            for ticket, text in zip(tickets, contexts, strict=True)
        ]
        names = ("question", *cards)
        table = table_of(("question", *heads), rows, words=heads, names=names)
        console().print(table)
    if resting:
        say(resting)


def _text_of(context: Any) -> str:
    if context is None or isinstance(context, str):
        return context or ""
    return json.dumps(context, ensure_ascii=False)


@command("study tell drinks.study 1 left")
def tell(
    *,
    opened: StudyFile,
    number: int = _NUMBER,
    answer: str = argument(
        "ANSWER: left, right, tie or skip; of a set the number of the best card, or "
        "with the worst, as 1,3, or skip.",
        autocompletion=lambda: [*_ANSWERS],
    ),
    judge: str | None = JUDGE,
    messages: Messages,
) -> None:
    """Store the answer to a question; the same one again changes nothing."""
    if answer not in _ANSWERS and not re.fullmatch(r"\d+(,\d+)?", answer):
        rule = "must be left, right, tie or skip, or of a set a card, or two as 1,3"
        raise option_error("ANSWER", rule, answer)
    with opened.open() as study:
        is_new = study.tell(number, answer, judge=judge)
        remark = study.remark
    messages.say(remark or ("stored" if is_new else "this was stored before"))


@command("study undo drinks.study 1")
def undo(
    *,
    opened: StudyFile,
    number: int = _NUMBER,
    judge: str | None = JUDGE,
    messages: Messages,
) -> None:
    """Take an answer back: the question is open again."""
    with opened.open() as study:
        is_new = study.undo(number, judge=judge)
    messages.say("open again" if is_new else "it had no answer")


@command("study withdraw drinks.study 1")
def withdraw(
    *,
    opened: StudyFile,
    number: int = _NUMBER,
    judge: str | None = JUDGE,
    messages: Messages,
) -> None:
    """Take a question back for good, with its answer."""
    with opened.open() as study:
        is_new = study.withdraw(number, judge=judge)
    messages.say("withdrawn" if is_new else "it was withdrawn before")

"""``bayesduel study vote``: a judge at the terminal, one key a vote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesduel.cli.output import console, say, say_warning
from bayesduel.cli.study.options import File, Judge, opened

if TYPE_CHECKING:
    from bayesduel.studies import Study, Ticket

__all__ = ["vote"]

_KEYS = {
    "\x1b[D": "left", "\x1bOD": "left", "\xe0K": "left", "h": "left", "1": "left",
    "\x1b[C": "right", "\x1bOC": "right", "\xe0M": "right", "l": "right", "2": "right",
    "t": "tie", "=": "tie",
    "s": "skip", " ": "skip",
    "u": "undo", "\x7f": "undo",
    "q": "quit", "\x04": "quit", "\x1b": "quit",
}  # fmt: skip
"""Arrows as terminals send them, and letters."""

_HELP = "← or 1: left   → or 2: right   t: tie   s: skip   u: undo   q: quit"

_LARGEST_TEXT = 20_000
"""Bytes of a text that are shown; a screen holds less."""


def vote(
    file: File,
    judge: Judge = None,
    texts: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Show the text of the file in it that an arm names."
        ),
    ] = None,
) -> None:
    """Vote at the terminal: two arms side by side, one key a vote.

    Each vote is stored before the next question is asked; u takes the last one back,
    and the one before it when it is pressed again. A named judge who comes back gets
    the question that was left open.
    """
    if texts is not None and not texts.is_dir():
        raise ValueError(f"--texts: {texts} is no folder")
    with opened(file) as study:
        sitting = _Sitting(study, judge)
        while (ticket := sitting.next()) is not None:
            _show(ticket, texts, len(sitting.answered))
            word = _pressed()
            if word == "quit":
                sitting.leave()
                break
            if word == "undo":
                sitting.undo()
            else:
                sitting.answer(word)
        else:
            say(study.resting)
    say(f"{len(sitting.answered)} answers stored")


class _Sitting:
    """What a judge has before them, and what they have answered."""

    def __init__(self, study: Study, judge: str | None) -> None:
        self._study, self._judge = study, judge
        left = [] if judge is None else study.open_tickets(judge)
        self._waiting = left[::-1]
        self.answered: list[Ticket] = []

    def next(self) -> Ticket | None:
        """Return what was left open, or the next question."""
        if not self._waiting:
            self._waiting = self._study.ask(judge=self._judge)
        return self._waiting[-1] if self._waiting else None

    def answer(self, word: str) -> None:
        """Store an answer, unless somebody else was faster."""
        from bayesduel.errors import StudyError

        ticket = self._waiting.pop()
        try:
            self._study.tell(ticket, word)
        except StudyError as error:
            say_warning(str(error))
        else:
            self.answered.append(ticket)

    def undo(self) -> None:
        """Open the last answer again; what was asked meanwhile comes after it."""
        if not self.answered:
            say("nothing to undo")
            return
        self._waiting.append(self.answered.pop())
        self._study.undo(self._waiting[-1])

    def leave(self) -> None:
        """Take back questions that nobody can come back to: who has no name."""
        for ticket in self._waiting if self._judge is None else ():
            self._study.withdraw(ticket)


def _pressed() -> str:
    """Return what the next key that means something means."""
    while True:
        try:
            key = typer.getchar()
        except EOFError:
            return "quit"
        if not key:
            return "quit"
        word = _KEYS.get(key, _KEYS.get(key.lower(), ""))
        if word:
            return word
        say(_HELP)


def _show(ticket: Ticket, texts: Path | None, number: int) -> None:
    from rich.columns import Columns
    from rich.panel import Panel
    from rich.text import Text

    screen = console(stderr=True)
    half = max(10, screen.width // 2 - 1)
    panels = [
        Panel(Text(_text(arm, texts)), title=Text(_plain(arm)), width=half)
        for arm in (ticket.left, ticket.right)
    ]
    screen.rule(f"question {ticket.number}; {number} answered")
    screen.print(Columns(panels, padding=0))
    screen.print(_HELP, style="dim", markup=False)


def _text(arm: str, texts: Path | None) -> str:
    """Return what is shown of an arm: the text of its file in the folder."""
    if texts is None:
        return _plain(arm)
    file = texts / arm
    try:
        inside = file.resolve().is_relative_to(texts.resolve())
    except (OSError, ValueError):
        inside = False
    if not inside or not file.is_file():
        return _plain(arm)
    with file.open("rb") as opened_file:
        return _plain(opened_file.read(_LARGEST_TEXT).decode("utf-8", "replace"))


def _plain(text: str) -> str:
    """Return a text that can do nothing to the terminal."""
    return "".join(each if each.isprintable() or each == "\n" else " " for each in text)

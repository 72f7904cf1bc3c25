"""``bayesduel study vote``: a judge at the terminal, one key a vote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from bayesduel.cli.options import command
from bayesduel.cli.output import console, say, say_warning
from bayesduel.cli.studying import JUDGE, TEXTS, StudyFile

if TYPE_CHECKING:
    from bayesduel.studies import ArmFiles, Ticket

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
_HELP_OF_SETS = "1 to {}: the best one{}   s: skip   u: undo   q: quit"

_LARGEST_TEXT = 20_000  # Bytes of a text that are shown; a screen holds less.


@command("study vote drinks.study --judge Ada")
def vote(
    *, opened: StudyFile, judge: str | None = JUDGE, texts: Path | None = TEXTS
) -> None:
    """Vote at the terminal: arms side by side, one key a vote.

    Each vote is stored before the next question is asked; u takes the last one back,
    and the one before it when it is pressed again. A named judge who comes back gets
    the question that was left open.
    """
    from bayesduel.errors import StudyError
    from bayesduel.studies import ArmFiles, JudgeSession

    files = None if texts is None else ArmFiles(texts, opened.file, "texts")
    with opened.open() as study:
        judge_session = JudgeSession(study, judge)
        try:
            while (ticket := judge_session.next()) is not None:
                _show(ticket, files, judge_session.num_answered)
                word = _pressed(ticket)
                if word == "quit":
                    break
                try:
                    if word != "undo":
                        judge_session.answer(ticket.number, word)
                    elif judge_session.last is not None:
                        judge_session.undo(judge_session.last)
                    else:
                        say("nothing to undo")
                except StudyError as error:  # Somebody else was faster.
                    say_warning(str(error))
            else:
                say(study.resting)
        finally:
            judge_session.leave()
            say(f"answers stored: {judge_session.num_answered}")


def _pressed(ticket: Ticket) -> str:
    """Return what the next key that means something means, or two: best and worst."""
    from bayesduel.errors import StudyError

    best = ""
    while True:
        try:
            key = typer.getchar()
        except EOFError:
            return "quit"
        except OSError as error:
            remedy = "answer with study ask and tell, or study serve-stdin"
            rule = "no terminal to vote at"
            raise StudyError("terminal", rule, str(error), remedy=remedy) from error
        if not key:
            return "quit"
        if key in ticket.answers:  # The number of a card.
            if not ticket.worst:
                return key
            if best not in ("", key):
                return f"{best},{key}"
            best = "" if best else key
            say(f"best: {best}; now the worst" if best else _help(ticket))
            continue
        word = _KEYS.get(key, _KEYS.get(key.lower(), ""))
        if word in ticket.answers or word in _OTHERS[len(ticket.shown) > 2 :]:
            return word
        say(_help(ticket))


_OTHERS = ("tie", "skip", "undo", "quit")
"""Answers that name no arm; the first one is for pairs only."""


def _help(ticket: Ticket) -> str:
    number = len(ticket.shown)
    if number == 2:
        return _HELP
    return _HELP_OF_SETS.format(number, ", then the worst" if ticket.worst else "")


def _show(ticket: Ticket, files: ArmFiles | None, number: int) -> None:
    from rich.columns import Columns
    from rich.panel import Panel
    from rich.text import Text

    screen = console(stderr=True)
    width = max(10, screen.width // min(len(ticket.shown), 3) - 1)
    panels = []
    for side, arm in ticket.answers.items():
        text = None if files is None else files.text(arm, _LARGEST_TEXT)
        # Judges who read a text need not know which arm wrote it.
        title, shown = (arm, arm) if text is None else (side, text)
        if len(ticket.shown) > 2:
            title = side
        panels.append(
            Panel(Text(_plain(shown)), title=Text(_plain(title)), width=width)
        )
    screen.rule(f"question {ticket.number}; {number} answered")
    if isinstance(ticket.context, str):
        screen.print(_plain(ticket.context), markup=False)
    screen.print(Columns(panels, padding=0))
    screen.print(_help(ticket), style="dim", markup=False)


def _plain(text: str) -> str:
    """Return a text that can do nothing to the terminal."""
    return "".join(
        letter if letter.isprintable() or letter == "\n" else " " for letter in text
    )

"""``bayesduel study judge`` and ``gold``: who judges, and whether they can."""

from __future__ import annotations

from bayesduel.cli.options import argument, command, option
from bayesduel.cli.parse import names as names_of
from bayesduel.cli.studying import EditedStudy


@command("study judge drinks.study Ada --limit 50")
def judge(
    *,
    edited: EditedStudy,
    name: str = argument("NAME: Of the judge."),
    limit: int | None = option("N: Answers at most.", least=0),
    arms: str | None = option("A,B,...: Ask them of these alone."),
    price: float | None = option("C: Of an answer of theirs."),
    trusted: bool = option("Count them whatever they say of gold questions."),
) -> None:
    """Set the terms of a judge, in place of all earlier ones."""
    names = None if arms is None else names_of(arms, "--arms")
    with edited.open() as study:
        study.set_judge(name, limit=limit, arms=names, price=price, trusted=trusted)
    edited.say("stored")


@command("study gold drinks.study tea dishwater")
def gold(
    *,
    edited: EditedStudy,
    better: str = argument("BETTER: The better one."),
    worse: list[str] = argument(
        "WORSE...: The other one; of a set all others, with --worst the worst last."
    ),
) -> None:
    """Add a gold question, whose right answer is known: the better, or the best, arm.

    Judges who often err are set aside; the names need not be arms. Of sets all cards
    are named: bayesduel study gold slogans.study clear long odd garbled
    """
    with edited.open() as study:
        is_new = study.add_gold(better, worse)
    edited.say_stored(is_new)

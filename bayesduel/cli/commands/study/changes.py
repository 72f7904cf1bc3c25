"""``bayesduel study add-arm``, ``judge`` and the like: who is compared, who judges."""

from __future__ import annotations

from bayesduel.cli.options import argument, command, option
from bayesduel.cli.parse import names as names_of
from bayesduel.cli.studying import EditedStudy

_NAME = argument("NAME: Of the arm.")


@command("study add-arm drinks.study water")
def add_arm(
    *,
    edited: EditedStudy,
    name: str = _NAME,
    share: float | None = option("P: Of questions, until it has caught up."),
) -> None:
    """Compare one more arm from now on.

    Where "information" or "balanced" asks, half of the questions are about it (--share)
    until it has as many votes as the median of the others.
    """
    with edited.open() as study:
        study.add_arm(name, share=share)
        edited.say(f"{len(study.arms)} arms")


@command("study retire-arm drinks.study milk")
def retire_arm(*, edited: EditedStudy, name: str = _NAME) -> None:
    """Stop asking about an arm. Its votes are kept, but no longer count."""
    with edited.open() as study:
        study.retire_arm(name)
        edited.say(f"{len(study.arms)} arms")


@command("study restore-arm drinks.study milk")
def restore_arm(*, edited: EditedStudy, name: str = _NAME) -> None:
    """Ask about a retired arm again; its votes count again."""
    with edited.open() as study:
        study.restore_arm(name)
        edited.say(f"{len(study.arms)} arms")


@command("study rename-arm drinks.study tea 'green tea'")
def rename_arm(
    *, edited: EditedStudy, name: str = _NAME, to: str = argument("TO: Its new name.")
) -> None:
    """Call an arm by another name from now on."""
    with edited.open() as study:
        study.rename_arm(name, to)
    edited.say("stored")


@command("study merge-arms drinks.study latte coffee")
def merge_arms(
    *,
    edited: EditedStudy,
    name: str = _NAME,
    into: str = argument("INTO: The arm that stays."),
) -> None:
    """Merge two arms: votes for either count for the second, for good.

    Votes between the two are kept, and count for neither.
    """
    with edited.open() as study:
        study.merge_arms(name, into)
        edited.say(f"{len(study.arms)} arms")


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

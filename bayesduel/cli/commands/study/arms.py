"""``bayesduel study add-arm`` and the like: what is compared."""

from __future__ import annotations

from bayesduel.cli.options import argument, command, option
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
    """Ask about an arm no more; its votes are kept, but count no longer."""
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

"""Ballots of PrefLib, of which ``bayesduel fit`` takes whole rankings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesduel.cli.errors import option_error
from bayesduel.cli.votes.options import VoteColumns

if TYPE_CHECKING:
    from bayesduel.models import PlackettLuce
    from bayesduel.votes import Rankings

_OF_NO_TABLE = VoteColumns(None, None, "left,right,tie", None, None, None)
_NAMES = {"ties": "tie-columns", "group": "by"}


def holds_ballots(votes: Path) -> bool:
    """Say whether a file is one of PrefLib, by how its name ends."""
    return votes.suffix.lower() in (".soc", ".soi", ".toc", ".toi")


def read_ballots(
    votes: Path,
    columns: VoteColumns,
    of_pairs: Mapping[str, Any],
    prior_scale: float | None,
) -> tuple[PlackettLuce, Rankings]:
    """Return the model of whole rankings, and the ballots of a file.

    Raises
    ------
    ValueError
        If an option is about columns or ``of_pairs`` alone, or a ballot cannot be read.
    """
    differing = {
        f"--{_NAMES.get(name, name).replace('_', '-')}": value
        for name, value in columns._asdict().items()
        if value != getattr(_OF_NO_TABLE, name)
    }
    for name, value in (*differing.items(), *of_pairs.items()):
        if value:
            rule = f"is for a table of votes, and {votes.name} holds ballots"
            remedy = "whole ballots are fitted by Plackett-Luce"
            raise option_error(name, rule, value, remedy=remedy)
    from bayesduel.models import PlackettLuce
    from bayesduel.votes import read_preflib

    model = PlackettLuce()
    if prior_scale is not None:
        model = PlackettLuce(prior_scale=prior_scale)
    return model, read_preflib(votes)

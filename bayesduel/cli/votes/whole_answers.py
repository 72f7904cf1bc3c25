"""Answers that are no votes on pairs: ballots of PrefLib, and the best of sets.

``bayesduel fit`` takes them whole: a ranking by Plackett-Luce, a choice out of a set by
the multinomial logit.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesduel.cli.errors import refuse_given
from bayesduel.cli.votes.options import VoteColumns, names_between

if TYPE_CHECKING:
    from bayesduel.models import MultinomialLogit, PlackettLuce
    from bayesduel.votes import Choices, Rankings

_OF_NO_TABLE = VoteColumns(None, None, "left,right,tie", None, None, None)
_NAMES = {"ties": "tie-columns", "group": "by"}

_OF_SETS = ("arms", "winner", "where", "missing")
"""Columns that a table of sets may name."""

_OF_PAIRS = ("winner", "wins", "score", "home")
"""How titles of a table begin that says otherwise who won."""

_BEGINNING = 2**14
"""Bytes in which the titles of a table stand."""


def read_whole(
    votes: Path,
    columns: VoteColumns,
    of_pairs: dict[str, Any],
    prior_scale: float | None,
    *,
    dry_run: bool,
) -> tuple[PlackettLuce, Rankings] | tuple[MultinomialLogit, Choices] | None:
    """Return model and answers of a file, None where it holds votes on pairs.

    Ballots are known by how the name of the file ends. A table is one of sets where it
    has a column ``best``, or ``--arms`` names more than two columns, or it is what
    ``bayesduel study export --votes`` wrote of such a study.
    """
    prior: dict[str, Any] = {} if prior_scale is None else {"prior_scale": prior_scale}
    if votes.suffix.lower() in (".soc", ".soi", ".toc", ".toi"):
        given = _named(columns, ()) | of_pairs | {"--dry-run": dry_run}
        remedy = "whole ballots are fitted by Plackett-Luce"
        rule = f"is for a table of votes, and {votes.name} holds ballots"
        refuse_given(given, rule, remedy)
        from bayesduel.models import PlackettLuce
        from bayesduel.votes import read_preflib

        return PlackettLuce(**prior), read_preflib(votes)
    shown = names_between("--arms", columns.arms, None)
    if not _holds_sets(votes, columns, shown):
        return None
    given = _named(columns, _OF_SETS) | of_pairs
    remedy = "the best of sets are fitted by the multinomial logit"
    refuse_given(given, f"is for votes on pairs, and {votes.name} shows sets", remedy)
    from bayesduel.models import MultinomialLogit
    from bayesduel.votes import read_sets

    best: dict[str, Any] = {} if columns.winner is None else {"best": columns.winner}
    data = read_sets(
        votes, shown=shown, where=columns.where, missing=columns.missing, **best
    )
    return MultinomialLogit(**prior), data


def _holds_sets(
    votes: Path, columns: VoteColumns, shown: tuple[str, ...] | None
) -> bool:
    if shown is not None and len(shown) > 2:
        return True
    named = (*(shown or ()), columns.winner, columns.wins, columns.scores)
    if any(named) or not votes.is_file():
        return False
    try:
        with votes.open("rb") as file:
            is_packed = file.read(2) == b"\x1f\x8b"
        with (gzip.open if is_packed else open)(votes, "rb") as file:
            begin = (
                file.read(_BEGINNING).decode("utf-8", "replace").lstrip("\ufeff \n[")
            )
    except (OSError, EOFError, zlib.error):  # What reads it all says why.
        return False
    line = begin if begin.startswith("{") else begin.partition("\n")[0]
    titles = {*re.findall(r"\w+", line)}
    if "best" in titles:
        return not any(title.startswith(_OF_PAIRS) for title in titles)
    from bayesduel.votes.vote_rows import SEVERAL

    return {"shown", "worst"} <= titles and SEVERAL.search(begin) is not None


def _named(columns: VoteColumns, but: Iterable[str]) -> dict[str, Any]:
    """Return the columns that were named, by their options."""
    return {
        f"--{_NAMES.get(name, name).replace('_', '-')}": value
        for name, value in columns._asdict().items()
        if value != getattr(_OF_NO_TABLE, name) and name not in but
    }

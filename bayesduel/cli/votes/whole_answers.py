"""Votes that are no comparisons of pairs: rankings, and the best of sets.

``bayesduel fit`` takes them whole: a ranking by Plackett-Luce, a choice out of a set by
the multinomial logit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesduel.cli.errors import refuse_given
from bayesduel.cli.votes.options import names_between

if TYPE_CHECKING:
    import pandas as pd

    from bayesduel.models import MultinomialLogit, PlackettLuce
    from bayesduel.votes import Choices, Rankings
    from bayesduel.votes.format import VoteFormat

_NAMES = {
    "ties": "tie-columns",
    "group": "by",
    "contest_covariates": "contest-covariate",
}
OF_SETS = ("arms", "winner", "where", "missing")
_OF_RANKINGS = ("weight", "where", "missing")

_OF_PAIRS = ("winner", "wins", "score", "home")
"""How titles of a table begin that says otherwise who won."""


def read_whole(
    votes: Path,
    frame: pd.DataFrame | None,
    reading: VoteFormat,
    of_pairs: dict[str, Any],
    prior_scale: float | None,
    *,
    worst: str | None,
    order: str | None,
    places: str | None,
    dry_run: bool,
) -> tuple[PlackettLuce, Rankings] | tuple[MultinomialLogit, Choices] | None:
    """Return model and answers of a file, None where it holds votes on pairs.

    Ballots of PrefLib have no ``frame``, and are known by how the name of the file
    ends. A table holds rankings where ``--order`` or ``--places`` say so, or its titles
    (``1st choice``) and no other columns hold votes. It holds sets where it has a
    column ``best`` or ``most``, or ``--arms`` names more than two columns, or it is
    what ``bayesduel study export --votes`` wrote of such a study.
    """
    prior: dict[str, Any] = {} if prior_scale is None else {"prior_scale": prior_scale}
    if frame is None:
        given = named_options(reading, ()) | of_pairs | {"--dry-run": dry_run}
        remedy = "whole ballots are fitted by Plackett-Luce"
        rule = f"is for a table of votes, and {votes.name} holds ballots"
        refuse_given(given, rule, remedy)
        from bayesduel.models import PlackettLuce
        from bayesduel.votes import read_preflib

        return PlackettLuce(**prior), read_preflib(votes)
    if order or places or _holds_rankings(frame, reading):
        given = named_options(reading, _OF_RANKINGS) | of_pairs | {"--worst": worst}
        remedy = "rankings are fitted by Plackett-Luce"
        refuse_given(
            given, f"is for votes on pairs, and {votes.name} holds rankings", remedy
        )
        from bayesduel.models import PlackettLuce
        from bayesduel.votes import read_rankings

        ballots = read_rankings(
            frame,
            order=names_between("--order", order, None),
            places=names_between("--places", places, None),
            count=reading.weight,
            where=reading.where,
            missing=reading.missing,
        )
        return PlackettLuce(**prior), ballots
    if not _holds_sets(frame, reading):
        refuse_given({"--worst": worst}, f"is for sets, and {votes.name} holds none")
        return None
    given = named_options(reading, OF_SETS) | of_pairs
    remedy = "the best of sets are fitted by the multinomial logit"
    refuse_given(given, f"is for votes on pairs, and {votes.name} shows sets", remedy)
    from bayesduel.models import MultinomialLogit

    return MultinomialLogit(**prior), read_sets_as(frame, reading, worst)


def read_sets_as(frame: Any, reading: VoteFormat, worst: str | None) -> Choices:
    """Read the best, or best and worst, of sets."""
    from bayesduel.votes import read_sets

    columns: dict[str, Any] = {"best": reading.winner, "worst": worst}
    return read_sets(
        frame,
        shown=reading.arms,
        where=reading.where,
        missing=reading.missing,
        **{name: title for name, title in columns.items() if title is not None},
    )


def _holds_rankings(frame: pd.DataFrame, reading: VoteFormat) -> bool:
    from bayesduel.votes.rankings import ranking_columns

    titles = [str(title) for title in frame.columns]
    named = replace(reading, weight=None)
    if not named.names_no_column() or _says_who_won(titles):
        return False
    return any(ranking_columns(titles)) and "best" not in map(str.lower, titles)


def _says_who_won(titles: Iterable[str]) -> bool:
    return any(title.lower().startswith(_OF_PAIRS) for title in titles)


def _holds_sets(frame: pd.DataFrame, reading: VoteFormat) -> bool:
    from bayesduel.votes.pairs import SEVERAL

    if reading.arms is not None and len(reading.arms) > 2:
        return True
    if reading.arms or reading.winner or reading.wins or reading.scores or reading.soft:
        return False
    titles = {str(title) for title in frame.columns}
    if {"best", "most"} & {*map(str.lower, titles)}:
        return not _says_who_won(titles)
    return {"shown", "worst"} <= titles and any(
        isinstance(cell, str) and SEVERAL.match(cell) for cell in frame["shown"]
    )


def named_options(reading: VoteFormat, but: tuple[str, ...]) -> dict[str, Any]:
    """Return what was said of columns, by the options."""
    return {
        f"--{_NAMES.get(field.name, field.name).replace('_', '-')}": value
        for field in fields(reading)
        if (value := getattr(reading, field.name)) != field.default
        and field.name not in but
    }

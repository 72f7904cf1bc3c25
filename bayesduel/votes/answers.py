"""Votes of any kind: on pairs, the best of sets, or whole rankings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesduel.errors import ComparisonDataError
from bayesduel.votes.choice_tables import read_sets
from bayesduel.votes.format import VoteFormat
from bayesduel.votes.pairs import SEVERAL, VoteRows, parse_pairs
from bayesduel.votes.rankings import (
    SUFFIXES,
    Rankings,
    ranking_columns,
    read_preflib,
    read_rankings,
)
from bayesduel.votes.tables import read_table

if TYPE_CHECKING:
    import pandas as pd

    from bayesduel.votes.choices import Choices

__all__ = ["parse_sets", "parse_votes", "refuse_named"]

# How titles of a table begin that says otherwise who won.
_OF_PAIRS = ("winner", "wins", "score", "home")


def parse_votes(
    path: Path,
    reading: VoteFormat,
    *,
    worst: str | None = None,
    order: Sequence[str] | None = None,
    places: Sequence[str] | None = None,
) -> VoteRows | Rankings | Choices:
    """Return the votes in a file: rows on pairs, rankings, or choices out of sets."""
    if path.suffix.lower() in SUFFIXES:
        rule = f"is for a table of votes, and {path.name} holds ballots"
        refuse_named(reading, rule, remedy="whole ballots are fitted by Plackett-Luce")
        return read_preflib(path)
    frame = read_table(path)
    if order or places or _holds_rankings(frame, reading):
        rule = f"is for votes on pairs, and {path.name} holds rankings"
        refuse_named(reading, rule, "weight", "where", "missing", worst=worst,
                     remedy="rankings are fitted by Plackett-Luce")  # fmt: skip
        return read_rankings(
            frame,
            order=order,
            places=places,
            count=reading.weight,
            where=reading.where,
            missing=reading.missing,
        )
    if _holds_sets(frame, reading):
        rule = f"is for votes on pairs, and {path.name} shows sets"
        remedy = "the best of sets are fitted by the multinomial logit"
        return parse_sets(frame, reading, worst, rule, remedy)
    if worst is not None:
        rule = f"is for sets, and {path.name} holds none"
        raise ComparisonDataError("worst", rule, worst)
    return parse_pairs(frame, reading)


def parse_sets(
    frame: pd.DataFrame | Path,
    reading: VoteFormat,
    worst: str | None,
    rule: str,
    remedy: str = "",
) -> Choices:
    """Return the best, or best and worst, of sets."""
    refuse_named(reading, rule, "arms", "winner", "where", "missing", remedy=remedy)
    columns: dict[str, Any] = {"best": reading.winner, "worst": worst}
    return read_sets(
        frame,
        shown=reading.arms,
        where=reading.where,
        missing=reading.missing,
        **{name: title for name, title in columns.items() if title is not None},
    )


def refuse_named(
    reading: VoteFormat, rule: str, *but: str, remedy: str = "", **others: Any
) -> None:
    """Raise an error about the first field that was given, besides some of them."""
    given = {
        field.name: getattr(reading, field.name)
        for field in fields(reading)
        if getattr(reading, field.name) != field.default and field.name not in but
    }
    for name, value in (given | others).items():
        if value:
            raise ComparisonDataError(name, rule, value, remedy=remedy)


def _holds_rankings(frame: pd.DataFrame, reading: VoteFormat) -> bool:
    titles = [str(title) for title in frame.columns]
    named = not replace(reading, weight=None).names_no_column()
    if named or any(title.lower().startswith(_OF_PAIRS) for title in titles):
        return False
    return any(ranking_columns(titles)) and "best" not in map(str.lower, titles)


def _holds_sets(frame: pd.DataFrame, reading: VoteFormat) -> bool:
    if reading.arms is not None and len(reading.arms) > 2:
        return True
    if reading.arms or reading.winner or reading.wins or reading.scores or reading.soft:
        return False
    titles = {str(title) for title in frame.columns}
    if {"best", "most"} & {*map(str.lower, titles)}:
        return not any(title.lower().startswith(_OF_PAIRS) for title in titles)
    return {"shown", "worst"} <= titles and any(
        isinstance(cell, str) and SEVERAL.match(cell) for cell in frame["shown"]
    )

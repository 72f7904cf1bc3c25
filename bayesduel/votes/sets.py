"""Read the best, or best and worst, of several arms (MaxDiff) from users' tables."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesduel.votes.checks import (
    arm_names_of,
    joined_labels,
    labels_of,
    refuse,
    shortened,
)
from bayesduel.votes.choices import Choices
from bayesduel.votes.tables import Table

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_sets"]

_LOGGER = logging.getLogger(__name__)

_OF_A_STUDY = ("shown", "winner", "counts")
"""Columns of a table that ``Study.export_votes`` has written."""

_NUMBERED = re.compile(r"(.*?)[ _.-]*([0-9]+|[a-z])", re.IGNORECASE | re.DOTALL)
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight")


def read_sets(
    source: str | os.PathLike[str] | pd.DataFrame,
    *,
    shown: Sequence[str] | None = None,
    best: str = "best",
    worst: str | None = "worst",
    where: str | Sequence[str] = (),
    missing: str = "refuse",
    arm_names: Sequence[str] | None = None,
) -> Choices:
    r"""Read a table whose rows show several arms, and name the best, or the worst too.

    Parameters
    ----------
    source : str, path-like or pandas.DataFrame
        A table as :func:`read_table` reads it, or a data frame. One that
        ``Study.export_votes`` has written of a study of sets is known by its columns,
        and needs no names; its answers that are no votes are left out.
    shown : sequence of str, optional
        Columns with the names of the arms that were shown; an empty cell is none. By
        default a column "shown" of lists, or numbered columns such as item1, item2,
        item3, or a, b, c, if there is one such group.
    best : str
        Column with the arm that was picked as the best: its name, the title of its
        column, or its place in ``shown`` from 1. By default "best" or "most".
    worst : str or None
        Column with the worst; nobody was asked for it where there is no such column.
        By default "worst" or "least".
    where : str or sequence of str
        Conditions on the columns, as in :func:`read_comparisons`.
    missing : {"refuse", "skip", "keep"}
        How to treat rows without a best, or without a worst where it was asked for;
        as in :func:`read_comparisons`.
    arm_names : sequence of str, optional
        All arms, in the wanted order; any other name is an error.

    Returns
    -------
    Choices
        The best out of all that were shown, and the worst out of the others.

    Raises
    ------
    OSError
        If the file cannot be read.
    ComparisonDataError
        If columns are missing or could be others, an arm is shown twice in a row, or
        one was picked that was not shown, or the same as best and worst; names the row,
        from 0.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame([["p1", "tea", "milk", "ale", "milk", "ale"]])
    >>> frame.columns = ["respondent", "item1", "item2", "item3", "best", "worst"]
    >>> read_sets(frame).row_names
    ['ale | tea (worst)', 'ale | milk | tea']
    """
    table = Table(source, missing=missing, names=arm_names)
    table.keep_rows(where)
    is_listed = shown is None and "shown" in table
    is_export = is_listed and all(title in table for title in _OF_A_STUDY)
    if is_export:
        best = "winner"
        table.keep_rows("counts=true")
        table.skip_missing([best], say=False)
    if best == "best":
        best = table.usual("best") or table.usual("most") or best
    if worst == "worst":
        worst = table.usual("worst") or table.usual("least")
    if worst == best:
        refuse("worst", "must be another column than that of the best", worst)
    picked = [title for title in (best, worst) if title is not None]
    if is_export:
        table.labels(best)
    else:
        if missing == "skip":
            table.skip_missing(picked)
        table.check_values(picked)
    said = [table.texts(title).tolist() for title in picked]
    if is_listed:
        rows = [_listed(table, row) for row in range(table.num_rows)]
    else:
        titles = _shown(table, picked, shown)
        read = {"shown": titles, "best": picked[:1], "worst": picked[1:]}
        table.say_what_is_read(read)
        columns, names = table.same_labels(*titles)
        cells = [np.array([*names, ""], dtype=object)[codes] for codes in columns]
        given = list(zip(*(each.tolist() for each in cells), strict=True))
        said = _answers(table, picked, said, titles, given)
        if shown is None:
            _check_guess(table, titles, given, said)
        rows = [[arm for arm in row if arm] for row in given]
    names = {arm for row in rows for arm in row}
    arms = arm_names_of(sorted(names) if arm_names is None else arm_names, None)
    for at, row in enumerate(rows):
        both = [each[at] for each in said if each[at] or not is_export]
        where = f"row {int(table.rows[at])}"
        listed = ", ".join(row)
        if len(set(row)) < len(row):
            refuse(table.name, f"{where} shows an arm twice: {listed}", row)
        if len(row) < 2:
            rule = f"{where} shows fewer than two arms, which leaves no choice"
            refuse(table.name, rule, row)
        for arm in both:
            if arm not in row:
                refuse(table.name, f"{where} picks {arm!r}, but shows {listed}", arm)
        if len(set(both)) < len(both):
            rule = f"{where} picks {both[0]!r} as best and as worst"
            refuse(table.name, rule, both)
    last = None if worst is None else [each or None for each in said[-1]]
    return Choices.from_subsets(rows, said[0], worst=last, arm_names=arms)


def _groups_of(titles: Sequence[str]) -> list[list[str]]:
    """Return groups of titles that differ in a number or a letter alone."""
    groups: dict[tuple[str, bool], list[str]] = {}
    for title in titles:
        found = _NUMBERED.fullmatch(title)
        if found and (found[2].isdigit() or not found[1] or found[1] != title[:-1]):
            # A letter counts where it stands alone, or after a separator.
            groups.setdefault((found[1], found[2].isdigit()), []).append(title)
    groups["one", True] = [title for title in titles if title.lower() in _WORDS]
    return [group for group in groups.values() if len(group) > 1]


def _shown(
    table: Table, picked: Sequence[str], shown: Sequence[str] | None
) -> list[str]:
    """Return the columns of the arms that were shown: those named, or numbered ones."""
    if shown is not None:
        return [str(title) for title in labels_of("shown", shown)]
    others = [title for title in table.titles if title not in picked]
    groups = _groups_of(others)
    if len(groups) > 1:
        # Such as item1, item2 and rating1, rating2: those that hold what was picked.
        said = {name for title in picked for name in table.labels(title)[1]}
        held = []
        for group in groups:
            names = {name for title in group for name in table.labels(title)[1]}
            one, other = joined_labels([*said], [*names])  # 7.0 and 7 are one label.
            if {*one} & {*other} or said & {*group}:
                held.append(group)
        # Numbers may also be places in any of them.
        places = {str(at + 1) for at in range(max(map(len, groups)))}
        is_place = {*joined_labels([*said])[0]} <= places
        groups = held if len(held) == 1 and not is_place else groups
    if len(groups) == 1:
        return groups[0]
    what = f"could be {' or '.join(map(shortened, groups))}"
    what = what if groups else "are unknown"
    rule = f"the columns of the arms that were shown {what}"
    remedy = f"name them with shown ({{arms}}), out of {shortened(others, 12)}"
    refuse(table.name, rule, others, remedy=remedy)


def _answers(
    table: Table,
    picked: Sequence[str],
    said: list[list[str]],
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
) -> list[list[str]]:
    """Return the arms that each row picks: by name, or by column or place for all."""
    said = joined_labels(*said)
    place = {str(at + 1): at for at in range(len(titles))}
    place |= {each: at for at, each in enumerate(titles)}
    pairs = [list(zip(column, rows, strict=True)) for column in said]
    meant = [
        [row[place[each]] if each in place else "" for each, row in column]
        for column in pairs
    ]
    is_place = all(map(all, meant))
    if not all(each in row for column in pairs for each, row in column):
        return meant if is_place else said
    if is_place and meant != said:
        _LOGGER.warning(
            "%s: the answers in %s are names of arms, and could be places from 1 to %d "
            "as well; they were read as names",
            table.name,
            " and ".join(picked),
            len(titles),
        )
    return said


def _check_guess(
    table: Table,
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    answers: Sequence[Sequence[str]],
) -> None:
    """Refuse columns that were guessed, but hold no arms: none is ever picked."""
    picked = {arm for column in answers for arm in column}
    columns = dict(zip(titles, zip(*rows, strict=True), strict=True))
    for title, cells in columns.items():
        others = {arm for name in titles if name != title for arm in columns[name]}
        if len({*cells}) == len(rows) > 2 and not {*cells} & (picked | others):
            rule = f"column {title!r} was taken for one of the arms that were shown, "
            rule += "but differs in every row, and is never picked"
            remedy = "name the columns of the arms with shown ({arms})"
            refuse(table.name, rule, title, remedy=remedy)


def _listed(table: Table, row: int) -> list[str]:
    try:
        names = json.loads(table.text_at("shown", row))
    except ValueError:
        names = None
    if not isinstance(names, list):
        table.refuse("shown", row, "is no list of names as JSON")
    return [str(name) for name in names]

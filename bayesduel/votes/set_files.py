"""Read the best, or best and worst, of several arms (MaxDiff) from users' tables."""

import json
import os
from collections.abc import Sequence
from typing import Any

from bayesduel.errors import ComparisonDataError
from bayesduel.votes._columns import ColumnTable
from bayesduel.votes.checks import labels_of
from bayesduel.votes.choices import Choices
from theory.arguments import one_of

__all__ = ["read_sets"]

_OF_A_STUDY = ("shown", "winner", "counts")
"""Columns of a table that ``Study.export_votes`` has written."""


def read_sets(
    path: str | os.PathLike[str],
    *,
    shown: Sequence[str] | None = None,
    best: str = "best",
    worst: str | None = "worst",
    where: str | None = None,
    missing: str = "refuse",
    arm_names: Sequence[str] | None = None,
) -> Choices:
    r"""Read a table whose rows show several arms, and name the best, or the worst too.

    Parameters
    ----------
    path : str or path-like
        A table as :func:`read_comparisons` reads it. One that ``Study.export_votes``
        has written of a study of sets is known by its columns, and needs no names; its
        answers that are no votes are left out.
    shown : sequence of str, optional
        Columns with the names of the arms that were shown; an empty cell is none. By
        default all other columns.
    best : str
        Column with the name of the arm that was picked as the best.
    worst : str or None
        Column with that of the worst; nobody was asked for it where there is no such
        column.
    where : str, optional
        A condition on the columns, as in :func:`read_comparisons`.
    missing : {"refuse", "skip"}
        What becomes of rows without a best, or without a worst where it was asked for.
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
        If columns are missing, an arm is shown twice in a row, or one was picked that
        was not shown, or the same as best and worst; names the row, from 0.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "drinks.csv")
    ...     _ = path.write_text("a,b,c,best,worst\ntea,milk,ale,milk,ale\n")
    ...     read_sets(path).row_names
    ['ale | tea (worst)', 'ale | milk | tea']
    """
    one_of(missing, ("refuse", "skip"), "missing", kind=ComparisonDataError)
    table = ColumnTable(path)
    if where is not None:
        table.keep_where(where)
    is_export = shown is None and all(title in table for title in _OF_A_STUDY)
    if is_export:
        best, missing = "winner", "skip"
        table.keep_where("counts in ('True', 'true')")
    if worst is not None and worst not in table:
        worst = None
    picked = [title for title in (best, worst) if title is not None]
    if missing == "skip":
        table.skip_missing([best] if is_export else picked)
    if is_export:
        rows = [_listed(table, row, cell) for row, cell in enumerate(table["shown"])]
    else:
        if shown is None:
            shown = [title for title in table.titles if title not in picked]
        titles = [str(title) for title in labels_of("shown", shown)]
        columns = [table[title] for title in titles]
        table.unread([*titles, *picked])
        cells = zip(*columns, strict=True)
        rows = [[each for each in row if each] for row in cells]
    last = None if worst is None else table[worst]
    for row, arms in enumerate(rows):
        both = [table[title][row] for title in picked]
        # Of an export no worst stands where it was not asked for.
        _check_row(table, row, arms, [each for each in both if each or not is_export])
    return Choices.from_subsets(
        rows,
        table[best],
        worst=None if last is None else [each or None for each in last],
        arm_names=arm_names,
    )


def _listed(table: ColumnTable, row: int, cell: str) -> list[Any]:
    try:
        found = json.loads(cell)
    except ValueError:
        found = None
    if not isinstance(found, list):
        table.refuse("shown", row, "is no list of names as JSON")
    return found


def _check_row(
    table: ColumnTable, row: int, arms: list[str], picked: list[str]
) -> None:
    place = table.rows[row]
    if len(set(arms)) < len(arms):
        rule = f"row {place} shows an arm twice: {', '.join(arms)}"
        raise ComparisonDataError(table.name, rule, arms)
    for arm in picked:
        if arm not in arms:
            rule = f"row {place} picks {arm!r}, but shows {', '.join(arms)}"
            raise ComparisonDataError(table.name, rule, arm)
    if len(set(picked)) < len(picked):
        rule = f"row {place} picks {picked[0]!r} as best and as worst"
        raise ComparisonDataError(table.name, rule, picked)

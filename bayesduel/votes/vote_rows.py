"""The votes of a user's table, row by row, as they were understood."""

import logging
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float64

from bayesduel.errors import ComparisonDataError
from bayesduel.votes._columns import ColumnTable
from bayesduel.votes._row_columns import LABELS, NEUTRAL
from bayesduel.votes._verdicts import verdict_counts, verdicts_of
from bayesduel.votes._vote_columns import (
    NOT_WHOLE,
    VoteColumns,
    VoteFormat,
    columns_of,
    is_square,
    with_ties,
)
from bayesduel.votes.checks import (
    MOST_VOTES,
    arm_names_of,
    arm_positions,
    different_labels,
    labels_of,
)
from bayesduel.votes.comparisons import Comparisons
from theory.arguments import true_or_false

__all__ = ["VoteRows", "read_vote_rows"]

_LOGGER = logging.getLogger(__name__)

SEVERAL = re.compile(r'\[\s*("+[^"]*"+\s*,\s*){2}')
"""A list of three names or more as JSON, perhaps with the quotes of a table doubled."""


@dataclass(frozen=True, eq=False)
class VoteRows:
    """What was read of a table of votes."""

    table: ColumnTable  # The rows that are left.
    # Titles of the columns that were read, by what they were read as.
    read: Mapping[str, tuple[str, ...]]
    unread: list[str]  # Titles of the others.
    skipped: int  # Rows that were left out because something is missing there.
    arms: tuple[str, str]  # What the two arms of a row are called, in errors.
    numbers: list[int]  # The row of the file that each row here comes from, from 0.
    # The arms of every row.
    first: list[str]
    second: list[str]
    # Votes of every row for the first arm, for the second, and ties.
    counts: Float64[np.ndarray, "n 3"]
    order_known: bool  # Whether the first arm of a row was shown first.
    # What else is kept of every row.
    columns: Mapping[str, Any] = field(default_factory=dict)
    # Those of the columns that are covariates of the contest.
    contest_covariates: tuple[str, ...] = ()

    def comparisons(self, arm_names: Sequence[str] | None = None) -> Comparisons:
        """Return the votes, counted per pair."""
        if arm_names is None:
            arm_names = different_labels(self.first, self.second)
        names = arm_names_of(arm_names, None)
        one, other = self.arms
        with self.table.in_rows_of_file():
            # By position: a word for an outcome could be the name of an arm.
            return Comparisons.from_rows(
                names,
                arm_positions(one, self.first, names),
                arm_positions(other, self.second, names),
                self.counts,
                order_known=self.order_known,
                columns=self.columns,
                contest_covariates=self.contest_covariates,
            )


def read_vote_rows(path: str | os.PathLike[str], asked: VoteFormat) -> VoteRows:
    """Read votes row by row; those of a square table of wins, pair by pair."""
    if not isinstance(asked.missing, str) or asked.missing not in ("refuse", "skip"):
        rule = "must be 'refuse' or 'skip'"
        raise ComparisonDataError("missing", rule, asked.missing)
    table = ColumnTable(path)
    if asked.where is not None:
        table.keep_where(asked.where)
    if asked.names_no_column() and is_square(table):
        return _from_square(table)
    _check_no_sets(table)
    columns = columns_of(table, asked)._replace(kept=tuple(asked.kept().items()))
    skipped = 0
    if asked.missing == "skip":
        read = [title for each in columns.read().values() for title in each]
        ties = () if asked.ties is None else map(str, labels_of("ties", asked.ties))
        skipped = table.skip_missing([*read, *ties])
    columns = with_ties(table, columns, asked.ties)
    counts = _counts(table, columns, asked.words)
    if columns.weight is not None:
        counts = counts * table.numbers(columns.weight)[:, None]
    single = columns.wins is None or columns.is_one_hot
    order_known = single if asked.order_known is None else asked.order_known
    if columns.winner in columns.arms:
        order_known = _order_of_winners(table, columns, asked.order_known)
    one, other = columns.arms
    read = columns.read()
    contest = tuple(map(str, labels_of("contest_covariates", asked.contest_covariates)))
    found = VoteRows(
        table,
        read,
        table.unread(title for each in read.values() for title in each),
        skipped,
        columns.arms,
        table.rows,
        table[one],
        table[other],
        counts,
        true_or_false(order_known, "order_known", kind=ComparisonDataError),
        {
            name: table.numbers(title, least=-MOST_VOTES)
            if name in contest
            else _kept(table, name, title)
            for name, title in columns.kept
        },
        contest,
    )
    _say_what_to_look_at(found)
    return found


def _check_no_sets(table: ColumnTable) -> None:
    """Refuse what a study of sets has exported: left and right are two of several."""
    cells = table["shown"] if {"shown", "worst"} <= {*table.titles} else []
    if any(SEVERAL.match(cell) for cell in cells):
        rule = "holds sets of several arms, of which judges named the best"
        raise ComparisonDataError(table.name, rule, remedy="votes.read_sets reads it")


def _counts(
    table: ColumnTable, columns: VoteColumns, words: object
) -> Float64[np.ndarray, "n 3"]:
    """Return the votes of every row for its two arms, and ties."""
    counts = np.zeros((table.num_rows, 3))
    if columns.wins is not None:
        for place, title in enumerate((*columns.wins, *columns.ties)):
            counts[:, min(place, 2)] += table.whole_numbers(title, NOT_WHOLE)
        return counts
    if columns.scores is not None:
        one, other = (table.numbers(title) for title in columns.scores)
        return np.stack([one > other, one < other, one == other], axis=1).astype(float)
    winner = str(columns.winner)
    if winner in columns.arms:
        counts[:, columns.arms.index(winner)] = 1.0
        return counts
    first, second, said = (table[each] for each in (*columns.arms, winner))
    return verdict_counts(said, table.rows, first, second, verdicts_of(words))


def _kept(table: ColumnTable, name: str, title: str) -> Any:
    """Return a column that stays with the votes: numbers where all cells are some."""
    cells = table[title]
    if name == NEUTRAL:
        words = [_YES_OR_NO.get(cell.lower()) for cell in cells]
        if None in words:
            table.refuse(title, words.index(None), "is neither true nor false")
        return words
    if name in LABELS or not table.has_numbers(title):
        return cells
    return table.numbers(title, least=-MOST_VOTES)


_YES_OR_NO = {
    word: value
    for value, words in ((True, "true yes 1 1.0 t y"), (False, "false no 0 0.0 f n"))
    for word in words.split()
}


def _order_of_winners(
    table: ColumnTable, columns: VoteColumns, order_known: bool | None
) -> bool:
    """Return that a table of winners and losers does not say who was shown first."""
    if order_known:
        one, other = columns.arms
        raise ComparisonDataError(
            table.name,
            "order_known=True needs columns of the arm shown first and of the other "
            f"one, but {one!r} and {other!r} say who won",
            remedy="leave it out",
        )
    return False


def _from_square(table: ColumnTable) -> VoteRows:
    """Return the votes of a square table, whose rows won against its columns."""
    title, *_ = table.titles
    names = table[title]
    wins = np.zeros((len(names), len(names)))
    for column, name in enumerate(names):
        cells = table[name]
        if cells[column] in ("", "-"):
            cells[column] = "0"
        wins[:, column] = table.whole_numbers(name)
        if wins[column, column]:
            rule = f"gives {name!r} {wins[column, column]:g} votes against itself"
            raise ComparisonDataError(table.name, rule, name, index=column)
    row, column = np.triu_indices(len(names), 1)
    votes = [wins[row, column], wins[column, row], np.zeros(len(row))]
    return VoteRows(
        table,
        {"arms": (title,), "wins": tuple(names)},
        [],
        0,
        (title, title),
        row.tolist(),
        [names[each] for each in row],
        [names[each] for each in column],
        np.stack(votes, axis=1),
        order_known=False,
    )


def _say_what_to_look_at(rows: VoteRows) -> None:
    """Tell of rows that were left out, and of names that look like one arm."""
    if rows.skipped:
        _LOGGER.warning(
            "%s: %d of %d rows left out, where something is missing",
            rows.table.name,
            rows.skipped,
            rows.skipped + rows.table.num_rows,
        )
    for twins in _near_twins([*rows.first, *rows.second]).values():
        listed = " and ".join(map(repr, twins))
        _LOGGER.warning(
            "%s: %s differ in capitals and spaces alone, and are different arms",
            rows.table.name,
            listed,
        )


def _near_twins(names: Sequence[str]) -> Mapping[str, list[str]]:
    """Return names that differ in capitals and spaces alone."""
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        found.setdefault(" ".join(name.casefold().split()), []).append(name)
    return {key: each for key, each in found.items() if len(each) > 1}

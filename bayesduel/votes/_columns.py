"""A user's table with a header, column by column; what is no such table is refused."""

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from math import nan
from typing import Any, NoReturn

import numpy as np
from jaxtyping import Float64

from bayesduel.errors import ComparisonDataError
from bayesduel.files.folders import as_path
from bayesduel.files.user_files import number
from bayesduel.votes._formats import read_table
from bayesduel.votes.checks import MOST_VOTES, all_composed, composed, shortened

_LOGGER = logging.getLogger(__name__)

_MISSING = frozenset(
    ["", "NA", "N/A", "n/a", "NaN", "nan", "-nan", "NULL", "null", "None", "<NA>"]
)
"""What stands in a cell where there is nothing, as pandas reads it."""


class ColumnTable:
    """The cells of a table, without the space around them, by the titles of columns.

    Read from a CSV or TSV file in UTF-8 with a header, JSON (an array of records, or
    one record a line), perhaps compressed with gzip; or Parquet. ``OSError`` if there
    is no such file, ``ComparisonDataError`` if it is no such table; names the row, from
    0, or the line, from 1.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = as_path("path", path, ComparisonDataError).name
        header, rows = read_table(path)
        self._columns: dict[str, list[str]] = {}
        self._places: dict[str, list[int]] = {}
        for place, title in enumerate(map(composed, header)):
            self._places.setdefault(title, []).append(place + 1)
            self._columns[title] = all_composed([cells[place] for cells in rows])
        self.rows = list(range(len(rows)))
        """Of the rows that are left, their numbers in the file."""

    @property
    def num_rows(self) -> int:
        """How many rows are left."""
        return len(self.rows)

    def keep_where(self, condition: str) -> None:
        """Keep the rows for which a condition in the words of pandas holds.

        Columns of numbers are numbers in it, nan where one is missing; all others are
        texts.

        ``ComparisonDataError`` if pandas does not understand it, or no row is left.
        """
        import pandas as pd

        columns: dict[str, Any] = dict(self._columns)
        for title in self.titles:
            numbers = [
                nan if cell in _MISSING else number(cell) for cell in columns[title]
            ]
            if None not in numbers:
                columns[title] = numbers
        try:
            frame = pd.DataFrame(columns)
            found = frame.query(condition, engine="python")
            kept = found.index.tolist() if isinstance(found, pd.DataFrame) else None
        except Exception as error:  # pandas raises whatever its parser meets.
            raise self._no_condition(condition, str(error)) from error
        if kept is None:
            why = "it is neither true nor false in each row"
            raise self._no_condition(condition, why)
        if not kept:
            rule = f"holds in none of the {self.num_rows} rows"
            raise ComparisonDataError("where", rule, condition)
        self._keep(kept)

    def _no_condition(self, condition: str, why: str) -> ComparisonDataError:
        rule = f"is no condition on the columns {shortened(self.titles)}: {why}"
        remedy = "such as \"language == 'English'\""
        return ComparisonDataError("where", rule, condition, remedy=remedy)

    def skip_missing(self, titles: Iterable[str]) -> int:
        """Leave out rows without an answer in one of the columns; return how many."""
        columns = [self[title] for title in titles]
        kept = [
            row
            for row in range(self.num_rows)
            if all(column[row] not in _MISSING for column in columns)
        ]
        skipped = self.num_rows - len(kept)
        if skipped:
            self._keep(kept)
        return skipped

    def _keep(self, kept: list[int]) -> None:
        for title, cells in self._columns.items():
            self._columns[title] = [cells[row] for row in kept]
        self.rows = [self.rows[row] for row in kept]

    def unread(self, read: Iterable[str]) -> list[str]:
        """Return the other titles, and name them in a log message."""
        known = set(map(composed, read))
        others = [title for title in self.titles if title not in known]
        if others:
            words = "column" if len(others) == 1 else "columns"
            listed = ", ".join(map(repr, others))
            _LOGGER.warning("%s: not read: %s %s", self.name, words, listed)
        return others

    @contextmanager
    def in_rows_of_file(self) -> Iterator[None]:
        """Let errors about a row that is left name its number in the file."""
        try:
            yield
        except ComparisonDataError as error:
            row = error.index
            if not isinstance(row, int) or self.rows[row] == row:
                raise
            raise error.renamed(error.argument, self.rows[row]) from error

    @property
    def titles(self) -> list[str]:
        """What the columns are called."""
        return list(self._columns)

    def __contains__(self, title: str) -> bool:
        return title in self._columns

    def __getitem__(self, title: str) -> list[str]:
        title = composed(title)
        if title not in self._columns:
            rule = f"there is no column {title!r}, only {shortened(self.titles)}"
            raise ComparisonDataError(self.name, rule, title)
        places = self._places[title]
        if len(places) > 1:
            both = " and ".join(map(str, places))
            rule = f"columns {both} are both called {title!r}"
            remedy = "rename or remove all but one"
            raise ComparisonDataError(self.name, rule, title, remedy=remedy)
        return self._columns[title]

    def has_numbers(self, title: str) -> bool:
        """Return whether all cells of a column are numbers."""
        return all(number(cell) is not None for cell in self[title])

    def numbers(self, title: str, *, least: float = 0.0) -> Float64[np.ndarray, " row"]:
        """Return a column of numbers from ``least``, 0 by default, to 10^15."""
        cells = self[title]
        found = np.empty(len(cells))
        for row, cell in enumerate(cells):
            value = number(cell)
            if value is None:
                self.refuse(title, row, "is no number")
            elif value < least:
                self.refuse(title, row, "is negative")
            elif value > MOST_VOTES:
                self.refuse(title, row, f"is above {MOST_VOTES:.0e}")
            else:
                found[row] = value
        return found

    def whole_numbers(
        self, title: str, remedy: str = "", *, least: float = 0.0
    ) -> Float64[np.ndarray, " row"]:
        """Return a column of whole numbers from ``least``, 0 by default, to 10^15."""
        found = self.numbers(title, least=least)
        broken = found != np.round(found)
        if np.any(broken):
            self.refuse(title, int(np.argmax(broken)), "is no whole number", remedy)
        return found

    def refuse(self, title: str, row: int, words: str, remedy: str = "") -> NoReturn:
        """Raise an error about a cell."""
        cell = self._columns[composed(title)][row]
        shown = cell if len(cell) <= 40 else f"{cell[:40]}..."
        rule = f"row {self.rows[row]} of column {title!r} {words}: {shown!r}"
        raise ComparisonDataError(self.name, rule, cell, remedy=remedy)

    def chosen(
        self,
        argument: str,
        asked: tuple[str, str] | None,
        known: Sequence[tuple[str, str]],
    ) -> tuple[str, str]:
        """Return two columns: those asked for, or the only usual pair that is there."""
        if asked is not None:
            return asked
        found = self.usual(known)
        if len(found) == 1:
            return found[0]
        if found:
            both = " or ".join(" and ".join(pair) for pair in found)
            rule, remedy = f"the two columns could be {both}", f"say which: {argument}"
            raise ComparisonDataError(self.name, rule, found, remedy=remedy)
        usual = "; ".join(map(" and ".join, known))
        here = shortened(self.titles)
        rule = f"none of the usual columns ({usual}) is there, only {here}"
        remedy = f"name the two with {argument}"
        raise ComparisonDataError(self.name, rule, self.titles, remedy=remedy)

    def usual(self, known: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return the usual pairs of columns that are there."""
        return [pair for pair in known if all(title in self for title in pair)]

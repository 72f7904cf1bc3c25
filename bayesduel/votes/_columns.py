"""A user's table with a header, column by column; what is no such table is refused."""

import os
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64

from bayesduel.errors import ComparisonDataError
from bayesduel.folders import as_path
from bayesduel.user_files import number, read_rows
from bayesduel.votes.checks import MOST_VOTES, composed, shortened


class ColumnTable:
    """The cells of a table, without the space around them, by the titles of columns.

    Parameters
    ----------
    path : str or path-like
        A CSV or TSV file in UTF-8 with a header, perhaps compressed with gzip.

    Raises
    ------
    OSError
        If there is no such file.
    ComparisonDataError
        If it is no such table; names the row, from 0, or the line, from 1.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = as_path("path", path, ComparisonDataError).name
        rows = read_rows(path, separators=",;\t", error=ComparisonDataError)
        if len(rows) < 2:
            rule = "needs a header and at least one row"
            raise ComparisonDataError.of(self.name, rule, rows)
        header = [composed(cell) for cell in rows[0]]
        for row, cells in enumerate(rows[1:]):
            if len(cells) != len(header):
                rule = f"row {row} has {len(cells)} cells, the header {len(header)}"
                raise ComparisonDataError.of(self.name, rule, cells)
        self._columns: dict[str, list[str]] = {}
        self._places: dict[str, list[int]] = {}
        for place, title in enumerate(header):
            self._places.setdefault(title, []).append(place + 1)
            self._columns[title] = [composed(cells[place]) for cells in rows[1:]]
        self.num_rows = len(rows) - 1

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
            raise ComparisonDataError.of(self.name, rule, title)
        places = self._places[title]
        if len(places) > 1:
            both = " and ".join(map(str, places))
            rule = f"columns {both} are both called {title!r}"
            remedy = "rename or remove all but one"
            raise ComparisonDataError.of(self.name, rule, title, remedy=remedy)
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
                self._refuse(title, row, "is no number")
            elif value < least:
                self._refuse(title, row, "is negative")
            elif value > MOST_VOTES:
                self._refuse(title, row, f"is above {MOST_VOTES:.0e}")
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
            self._refuse(title, int(np.argmax(broken)), "is no whole number", remedy)
        return found

    def _refuse(self, title: str, row: int, words: str, remedy: str = "") -> None:
        cell = self._columns[composed(title)][row]
        shown = cell if len(cell) <= 40 else f"{cell[:40]}..."
        rule = f"row {row} of column {title!r} {words}: {shown!r}"
        raise ComparisonDataError.of(self.name, rule, cell, remedy=remedy)

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
            raise ComparisonDataError.of(self.name, rule, found, remedy=remedy)
        usual = "; ".join(map(" and ".join, known))
        here = shortened(self.titles)
        rule = f"none of the usual columns ({usual}) is there, only {here}"
        remedy = f"name the two with {argument}"
        raise ComparisonDataError.of(self.name, rule, self.titles, remedy=remedy)

    def usual(self, known: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return the usual pairs of columns that are there."""
        return [pair for pair in known if all(title in self for title in pair)]

"""Read votes and choices from users' tables."""

import csv
import gzip
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bayesduel.errors import ComparisonDataError
from bayesduel.models.choices import Choices
from bayesduel.models.comparisons import Comparisons
from bayesduel.models.table_checks import shortened

_KNOWN_PAIRS = (
    ("left", "right"),
    ("first", "second"),
    ("model_a", "model_b"),
    ("team_a", "team_b"),
    ("a", "b"),
)
_KNOWN_WINS = (("wins_a", "wins_b"), ("wins_first", "wins_second"))
_KNOWN_TIES = ("ties", "draws", "tie")


def read_comparisons(
    path: str | os.PathLike[str],
    *,
    arms: tuple[str, str] | None = None,
    winner: str | None = None,
    wins: tuple[str, str] | None = None,
    ties: Sequence[str] | None = None,
    weight: str | None = None,
    words: tuple[str, str, str] = ("left", "right", "tie"),
    arm_names: Sequence[str] | None = None,
    order_known: bool | None = None,
) -> Comparisons:
    r"""Read votes from a table with a header, single or counted per pair.

    Parameters
    ----------
    path : str or path-like
        A CSV or TSV file, possibly compressed (.gz).
    arms : (str, str), optional
        Columns with the names of the two arms; by default left and right, first and
        second, model_a and model_b, team_a and team_b, or a and b.
    winner : str, optional
        Column that names the winning arm or holds one of ``words``: a vote a row. By
        default "winner" if there is one.
    wins : (str, str), optional
        Columns with the numbers of votes for either arm: a pair a row. By default
        wins_a and wins_b, or wins_first and wins_second.
    ties : sequence of str, optional
        Columns that count ties, added up; by default "ties", "draws" or "tie".
    weight : str, optional
        Column that says how many times a vote counts.
    words : (str, str, str)
        What stands in ``winner`` for the first arm, the second one, and a tie.
    arm_names : sequence of str, optional
        All arms, in the wanted order; any other name is an error.
    order_known : bool, optional
        Whether the first arm was shown first; by default yes for single votes, no for
        counts per pair.

    Returns
    -------
    Comparisons
        All votes of the file.

    Raises
    ------
    OSError
        If the file cannot be read.
    ComparisonDataError
        If columns are missing, or a row breaks a rule; names the row, from 0.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "drinks.csv")
    ...     _ = path.write_text("left,right,winner\ntea,milk,left\ntea,coffee,tie\n")
    ...     read_comparisons(path)
    Comparisons(3 arms, 2 of 3 pairs, 2 votes, 1 ties)
    """
    name, table = _read_columns(path)
    one, other = _pair(name, table, "arms", arms, _KNOWN_PAIRS)
    first, second = table[one], table[other]
    if winner is None and wins is None and "winner" in table:
        winner = "winner"
    if winner is not None:
        return Comparisons.from_votes(
            first,
            second,
            _column(name, table, winner),
            weight=None if weight is None else _weights(name, table, weight),
            arm_names=arm_names,
            words=words,
            order_known=True if order_known is None else order_known,
        )
    won, lost = _pair(name, table, "wins", wins, _KNOWN_WINS)
    if ties is None:
        ties = [column for column in _KNOWN_TIES if column in table]
    tied = sum((_counts(name, table, column) for column in ties), np.zeros(len(first)))
    counts = np.stack([_counts(name, table, won), _counts(name, table, lost), tied], 1)
    if weight is not None:
        counts = counts * _weights(name, table, weight)[:, None]
    # Each row three times: once for every outcome, weighted by its count.
    return Comparisons.from_votes(
        [*first, *first, *first],
        [*second, *second, *second],
        [word for word in words for _ in first],
        weight=counts.T.reshape(-1),
        arm_names=arm_names,
        words=words,
        order_known=False if order_known is None else order_known,
    )


def read_choices(
    path: str | os.PathLike[str],
    *,
    choice: str = "Choice",
    arm_names: Sequence[str] | None = None,
    first_index: int = 1,
    none: int | None = None,
) -> Choices:
    """Read choices from a table with a 0/1 column for each arm.

    Parameters
    ----------
    path : str or path-like
        A CSV or TSV file with a header, possibly compressed (.gz).
    choice : str
        Column with the number of the chosen arm among the columns of arms.
    arm_names : sequence of str, optional
        The columns of arms, 1 where an arm was on offer; by default all but ``choice``.
    first_index : int
        The number of the first arm.
    none : int, optional
        The number that means that none was chosen. Without it there is no such option.

    Returns
    -------
    Choices
        Counted per subset.

    Raises
    ------
    OSError
        If the file cannot be read.
    ComparisonDataError
        If columns are missing, or an arm was chosen that was not on offer.
    """
    name, table = _read_columns(path)
    chosen = _numbers(name, table, choice).astype(np.int64)
    names = (
        [each for each in table if each != choice] if arm_names is None else arm_names
    )
    offered = np.stack([_numbers(name, table, each) > 0 for each in names], axis=1)
    is_none = np.zeros(len(chosen), dtype=bool) if none is None else chosen == none
    index = chosen - first_index
    bad = ~is_none & ((index < 0) | (index >= len(names)))
    if np.any(bad):
        row = int(np.argmax(bad))
        raise ComparisonDataError(
            f"{name}: row {row} chooses {chosen[row]}, but the {len(names)} arms are "
            f"numbered from {first_index}"
        )
    counts = np.zeros(offered.shape)
    counts[np.flatnonzero(~is_none), index[~is_none]] = 1.0
    return Choices.from_counts(
        offered, counts, None if none is None else is_none, arm_names=names
    )


def _read_columns(path: str | os.PathLike[str]) -> tuple[str, dict[str, list[str]]]:
    path = Path(path)
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
        text = file.read()
    first_line = text.partition("\n")[0]
    separator = max(",;\t", key=first_line.count)
    rows = [row for row in csv.reader(text.splitlines(), delimiter=separator) if row]
    if len(rows) < 2:
        raise ComparisonDataError(f"{path.name}: needs a header and at least one row")
    header = [cell.strip() for cell in rows[0]]
    for number, row in enumerate(rows[1:]):
        if len(row) != len(header):
            raise ComparisonDataError(
                f"{path.name}: row {number} has {len(row)} cells, the header "
                f"{len(header)}"
            )
    columns = zip(*rows[1:], strict=True)
    return path.name, {
        title: [cell.strip() for cell in column]
        for title, column in zip(header, columns, strict=True)
    }


def _pair(
    name: str,
    table: dict[str, list[str]],
    argument: str,
    columns: tuple[str, str] | None,
    known: Sequence[tuple[str, str]],
) -> tuple[str, str]:
    """Return two columns: those asked for, or the first known pair that is there."""
    if columns is not None:
        for column in columns:
            _column(name, table, column)
        return columns
    for pair in known:
        if all(column in table for column in pair):
            return pair
    raise ComparisonDataError(
        f"{name}: none of the usual columns ({'; '.join(map(' and '.join, known))}) is "
        f"there, only {shortened(list(table))}; name the two with {argument}"
    )


def _column(name: str, table: dict[str, list[str]], column: str) -> list[str]:
    if column not in table:
        raise ComparisonDataError(
            f"{name}: there is no column {column!r}, only {shortened(list(table))}"
        )
    return table[column]


def _numbers(name: str, table: dict[str, list[str]], column: str) -> np.ndarray:
    cells = _column(name, table, column)
    try:
        return np.array([float(cell) for cell in cells])
    except ValueError:
        row = next(i for i, cell in enumerate(cells) if not _is_number(cell))
        raise ComparisonDataError(
            f"{name}: row {row} of column {column!r} is no number: {cells[row]!r}"
        ) from None


def _weights(name: str, table: dict[str, list[str]], column: str) -> np.ndarray:
    """Return a column of finite numbers that are not negative."""
    numbers = _numbers(name, table, column)
    _refuse(name, column, numbers, ~np.isfinite(numbers), "is not finite")
    _refuse(name, column, numbers, numbers < 0, "is negative")
    return numbers


def _counts(name: str, table: dict[str, list[str]], column: str) -> np.ndarray:
    """Return a column of whole numbers that are not negative."""
    numbers = _weights(name, table, column)
    words = "is no whole number of votes; give what a vote counts as a weight instead"
    _refuse(name, column, numbers, numbers != np.round(numbers), words)
    return numbers


def _refuse(
    name: str, column: str, numbers: np.ndarray, bad: np.ndarray, words: str
) -> None:
    if np.any(bad):
        row = int(np.argmax(bad))
        raise ComparisonDataError(
            f"{name}: row {row} of column {column!r} {words}: {numbers[row]:g}"
        )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True

"""What rows of votes carry beside the arms and the counts, such as who judged them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int64, Num
from numpy.typing import NDArray

from bayesduel.errors import ComparisonDataError
from bayesduel.votes.checks import (
    all_composed,
    check_each,
    labels_of,
    numbers_of,
    shortened,
)

LABELS = ("judge", "context", "group", "cluster")
"""Columns of labels, even where these are numbers."""

NEUTRAL = "neutral"
"""The column that says where neither arm was shown first, or was at home."""

_TAKEN = ("first", "second", "counts", "covariates", "num_arms", "arm", "pair", "vote",
          "outcome", "total", "chain", "draw", "row", "comparison")  # fmt: skip
"""Names that stand for something else in what is made of votes."""


class RowColumns(NamedTuple):
    """Columns of numbers, and of places among labels."""

    # By name, an entry per row: float64, or int64 where there are labels.
    columns: dict[str, NDArray[Any]]
    labels: dict[str, tuple[str, ...]]  # Of the columns that have them, sorted.
    # Names of covariates of the contest: what the first arm has more of.
    contest: tuple[str, ...] = ()

    def of_rows(self, chosen: Any) -> RowColumns:
        """Return the columns of some rows."""
        found = {name: each[chosen] for name, each in self.columns.items()}
        return self._replace(columns=found)

    def turned(self, swap: Bool[np.ndarray, " vote"]) -> RowColumns:
        """Return the columns after the two arms of some rows changed places."""
        sign = np.where(swap, -1.0, 1.0)
        # Adding 0 makes 0 of -0, which is printed otherwise.
        found = {name: sign * self.columns[name] + 0.0 for name in self.contest}
        return self._replace(columns=self.columns | found)

    def without(self, *names: str) -> RowColumns:
        """Return the other columns."""
        columns = {name: c for name, c in self.columns.items() if name not in names}
        labels = {name: each for name, each in self.labels.items() if name not in names}
        return self._replace(columns=columns, labels=labels)


def row_columns(given: Any, number: int, contest: Any = ()) -> RowColumns:
    """Read columns by name: numbers, True and False, or labels.

    ``ComparisonDataError`` for a name that stands for something else, a column of
    another length than the ``number`` of rows, or an entry that is missing; names the
    row.
    """
    found = RowColumns({}, {})
    if given is not None and not isinstance(given, Mapping):
        rule = "must be a mapping from names to one entry for each vote"
        raise ComparisonDataError("columns", rule, given)
    for name, values in (given or {}).items():
        if values is None:
            continue
        if not isinstance(name, str) or not name.strip() or name in _TAKEN:
            rule = f"must be called by a text, and none of {', '.join(_TAKEN)}"
            raise ComparisonDataError("columns", rule, name)
        if name not in LABELS and _are_numbers(values):
            column = numbers_of(name, values)
            if name == NEUTRAL:
                check_each(name, column, np.isin(column, (0, 1)), "must be 0 or 1")
        else:
            names = _names(name, values)
            found.labels[name] = tuple(sorted(set(names)))
            place = {label: at for at, label in enumerate(found.labels[name])}
            column = np.array([place[label] for label in names], dtype=np.int64)
        if column.shape != (number,):
            rule = f"must have one entry for each of the {number} votes"
            raise ComparisonDataError(name, rule, column.shape)
        found.columns[name] = column
    if NEUTRAL in found.labels:
        rule, words = "must be True or False", found.labels[NEUTRAL]
        raise ComparisonDataError(NEUTRAL, rule, shortened(words))
    names = tuple(map(str, labels_of("contest_covariates", contest)))
    return found._replace(contest=names)


def _are_numbers(values: Any) -> bool:
    if isinstance(values, np.ndarray) or hasattr(values, "dtype"):
        kind = getattr(values.dtype, "kind", "O")
        if kind != "O":
            return kind in "fiub"
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        return False
    plain = int, float, bool, np.number, np.bool_
    return bool(len(values)) and all(isinstance(each, plain) for each in values)


def _names(name: str, values: Any) -> list[str]:
    names = all_composed(labels_of(name, values))
    if "" in names:
        remedy = "name it, or leave the row out (missing='skip')"
        raise ComparisonDataError(
            name, "is empty", "", index=names.index(""), remedy=remedy
        )
    return names


class Added(NamedTuple):
    """Counts of rows that say the same of themselves, added up."""

    first: Int64[np.ndarray, " row"]
    second: Int64[np.ndarray, " row"]
    counts: Float[np.ndarray, "row 3"]
    extra: RowColumns


def added_up(
    num_arms: int,
    first: Int64[np.ndarray, " vote"],
    second: Int64[np.ndarray, " vote"],
    counts: Float[np.ndarray, "vote 3"],
    *,
    order_known: bool,
    extra: RowColumns,
) -> Added:
    """Add up the counts of rows of the same pair, with the same entries of columns.

    Sorted by pair, then by the columns; rows without a vote are left out. Where the
    order is not known the arm of the lower position comes first, and so it does where
    neither was shown first.
    """
    if not order_known:
        extra = extra.without(NEUTRAL)
    free = extra.columns.get(NEUTRAL, np.full(len(first), not order_known)) != 0
    swap = free & (first > second)
    if np.any(swap):
        first, second = np.where(swap, second, first), np.where(swap, first, second)
        counts = np.where(swap[:, None], counts[:, [1, 0, 2]], counts)
        extra = extra.turned(swap)
    pair = first * num_arms + second
    if extra.columns:
        places, index = groups_of([pair, *extra.columns.values()])
        pair, extra = pair[places], extra.of_rows(places)
    elif num_arms**2 <= len(pair):  # Without sorting: there is room for all pairs.
        pair, index = np.arange(num_arms**2), pair
    else:
        pair, index = np.unique(pair, return_inverse=True)
    sums = [np.bincount(index, each, len(pair)) for each in counts.T]
    # Of no votes bincount returns integers.
    total = np.stack(sums, axis=1).astype(np.float64)
    kept = total.sum(axis=1) > 0
    pair = pair[kept]
    return Added(pair // num_arms, pair % num_arms, total[kept], extra.of_rows(kept))


def groups_of(
    keys: Sequence[Num[np.ndarray, " vote"]],
) -> tuple[Int64[np.ndarray, " group"], Int64[np.ndarray, " vote"]]:
    """Return a place of each group of equal rows, in order, and the group of each row.

    Rows are told apart, and sorted, by the first key, then by the second, and so on.
    """
    _, places, index = np.unique(keys[0], return_index=True, return_inverse=True)
    for key in keys[1:]:
        different, codes = np.unique(key, return_inverse=True)
        joint = index * len(different) + codes
        _, places, index = np.unique(joint, return_index=True, return_inverse=True)
    return places, index


def check_row_columns(data: Any, rows: int) -> None:
    """Raise unless columns of ``Comparisons`` are what they are documented to be."""
    columns, labels = data.columns, data.labels
    remedy = "use from_rows(), which converts what it is given"
    fits = isinstance(columns, dict) and isinstance(labels, dict)
    if not fits or not set(labels) <= set(columns):
        rule = "must be dictionaries, with labels of columns that are there"
        raise ComparisonDataError("columns and labels", rule, columns, remedy=remedy)
    for name, column in columns.items():
        kind = "i" if name in labels else "f"
        shaped = isinstance(column, np.ndarray) and column.shape == (rows,)
        if not shaped or column.dtype.kind != kind:
            words = "places of labels, integers" if kind == "i" else "floats"
            rule = f"must be an array of {words}, of the shape ({rows},)"
            raise ComparisonDataError(name, rule, column, remedy=remedy)
        if kind == "i":
            number = len(labels[name])
            rule = f"must be the place of a label, from 0 to {number - 1}"
            check_each(name, column, (column >= 0) & (column < number), rule)
        else:
            check_each(name, column, np.isfinite(column), "must be finite")
    _check_contest(data.contest_covariates, columns, labels)
    if NEUTRAL in columns and not data.order_known:
        rule = "needs order_known=True: it says where the known order means nothing"
        raise ComparisonDataError(NEUTRAL, rule, data.order_known, remedy=remedy)


def _check_contest(
    names: Any, columns: Mapping[str, Any], labels: Mapping[str, Any]
) -> None:
    known = [each for each in columns if each not in (*labels, *LABELS, NEUTRAL)]
    fits = isinstance(names, tuple) and len(set(names)) == len(names)
    if not fits or not set(names) <= set(known):
        carried = shortened(known) or "none"
        rule = f"must be different columns of numbers that the votes carry, {carried}"
        raise ComparisonDataError("contest_covariates", rule, names)


def words_of_rows(extra: RowColumns, rows: int) -> list[str]:
    """Return what each row carries, as " (judge 58, turn 2)"."""
    if not extra.columns:
        return [""] * rows
    said = []
    for name, column in extra.columns.items():
        entries = column.tolist()
        named = extra.labels.get(name)
        words = [f"{each:g}" if named is None else named[each] for each in entries]
        said.append([f"{name} {word}" for word in words])
    return [f" ({', '.join(each)})" for each in zip(*said, strict=True)]

"""Names of arms and numbers of votes, checked once at the boundary."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from bayesduel.errors import ComparisonDataError
from theory.labels import aligned_table


def arm_names_of(names: Iterable[Any] | None, num_arms: int | None) -> tuple[str, ...]:
    """Return names of arms, by default "0", "1", ...; at least two different ones."""
    if names is None:
        names = [str(arm) for arm in range(num_arms or 0)]
    checked = tuple(str(name) for name in names)
    if num_arms is not None and len(checked) != num_arms:
        raise ComparisonDataError(
            f"arm_names must name each of the {num_arms} arms, got {len(checked)} names"
        )
    if len(checked) < 2:
        raise ComparisonDataError(
            f"there must be at least two arms to compare, got {len(checked)}"
            + (f" ({checked[0]!r})" if checked else "")
        )
    seen: set[str] = set()
    for position, name in enumerate(checked):
        if not name or name in seen:
            raise ComparisonDataError(
                f"arm_names must be different and not empty, got {name!r} at position "
                f"{position}"
            )
        seen.add(name)
    return checked


def vote_counts(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return finite, non-negative numbers of votes as float64."""
    counts = np.array(values, dtype=np.float64)
    bad = ~np.isfinite(counts) | (counts < 0)
    if np.any(bad):
        index = tuple(int(each) for each in np.argwhere(bad)[0])
        where = index[0] if len(index) == 1 else index
        raise ComparisonDataError(
            f"{name} must be finite and not negative, got {counts[index]:g} at {where}"
        )
    return counts


def labelled_counts(
    name: str, values: ArrayLike, order: Sequence[str] | None = None
) -> tuple[NDArray[np.float64], tuple[str, ...] | None]:
    """Return a table of votes, and the labels of a data frame.

    Columns are brought into the order of the rows, and both into `order`.
    """
    try:
        table, labels = aligned_table(values, name)
    except ValueError as error:
        raise ComparisonDataError(str(error)) from error
    counts = vote_counts(name, table)
    if order is None or labels is None or tuple(order) == labels:
        return counts, labels
    if set(order) != set(labels):
        raise ComparisonDataError(
            f"{name} must name the arms {shortened(order)}, but names "
            f"{shortened(labels)}"
        )
    places = [labels.index(label) for label in order]
    return counts[np.ix_(places, places)], tuple(order)


def rows_by_name(
    name: str, values: Any, arm_names: Sequence[str]
) -> tuple[Any, list[str] | None]:
    """Bring the rows of a data frame into the order of the arms; name its columns.

    Rows that count 0, 1, ... are taken as they stand, as those of an array are.
    """
    if not hasattr(values, "iloc"):
        return values, None
    columns = None
    if values.ndim == 2:
        columns = [str(label) for label in values.columns]
        columns = None if columns == _counted(len(columns)) else columns
    rows = [str(label) for label in values.index]
    if sorted(rows) == sorted(arm_names):
        return values.iloc[[rows.index(arm) for arm in arm_names]], columns
    if rows == _counted(len(rows)):
        return values, columns
    raise ComparisonDataError(
        f"{name} must have one row for each of the arms {shortened(arm_names)}, but "
        f"name {shortened(rows)}"
    )


def _counted(number: int) -> list[str]:
    return [str(position) for position in range(number)]


def arm_positions(
    name: str, labels: Sequence[Any], arm_names: Sequence[str]
) -> NDArray[np.int64]:
    """Return the position of each label among the arms."""
    position = {arm: index for index, arm in enumerate(arm_names)}
    found = np.empty(len(labels), dtype=np.int64)
    for row, label in enumerate(labels):
        if str(label) not in position:
            close = get_close_matches(str(label), list(position), n=1, cutoff=0.6)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ComparisonDataError(
                f"{name}: row {row} names the unknown arm {str(label)!r}{hint} "
                f"(the {len(position)} arms: {shortened(arm_names)})"
            )
        found[row] = position[str(label)]
    return found


def different_labels(*columns: Sequence[Any]) -> tuple[str, ...]:
    """Return the different labels of some columns, sorted."""
    return tuple(sorted({str(label) for column in columns for label in column}))


def shortened(names: Sequence[str], most: int = 6) -> str:
    """Return a few names for a message."""
    shown = ", ".join(str(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def check_opponents(
    first: NDArray[np.int64], second: NDArray[np.int64], arm_names: Sequence[str]
) -> None:
    """Raise unless both columns hold positions of arms that differ in every row."""
    for name, arms in (("first", first), ("second", second)):
        bad = (arms < 0) | (arms >= len(arm_names))
        if np.any(bad):
            row = int(np.argmax(bad))
            raise ComparisonDataError(
                f"{name}: row {row} is arm {arms[row]}, but arms are numbered from 0 "
                f"to {len(arm_names) - 1}"
            )
    if np.any(first == second):
        row = int(np.argmax(first == second))
        raise ComparisonDataError(
            f"row {row} compares {arm_names[first[row]]!r} with itself, which says "
            "nothing; leave such rows out"
        )


def outcome_of_word(
    word: str, row: int, arms: tuple[str, str], words: tuple[str, str, str]
) -> int:
    """Return 0, 1 or 2 for the name of an arm or a word in a column of winners."""
    if word in arms:
        return arms.index(word)
    if word in words:
        return words.index(word)
    raise ComparisonDataError(
        f"winner: row {row} is {word!r}, but must be {arms[0]!r}, {arms[1]!r}, or one "
        f"of the words {', '.join(map(repr, words))}"
    )


def components(
    edges: NDArray[np.bool_], connection: str, arm_names: Sequence[str]
) -> list[list[str]]:
    """Return the names in each part of a directed graph, the largest part first.

    ``edges`` may have more nodes than there are arms; those are left out.
    """
    count, label = connected_components(
        csr_array(edges), directed=True, connection=connection
    )
    parts = [
        [name for name, part in zip(arm_names, label, strict=False) if part == index]
        for index in range(count)
    ]
    return sorted((part for part in parts if part), key=len, reverse=True)

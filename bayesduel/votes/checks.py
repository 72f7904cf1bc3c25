"""Names of arms and numbers of votes, checked once at the boundary."""

from collections.abc import Iterable, Sequence
from typing import Any
from unicodedata import normalize

import numpy as np
from jaxtyping import Bool, Float64, Int64
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from bayesduel.errors import ComparisonDataError, checked_as, near_names
from theory.arguments import items_of, shown, true_or_false
from theory.labels import aligned_table
from theory.validation import MOST_NUMBERS, holds_more_than

MOST_LABELS = 10**8
"""Rows of a table of single votes."""

MOST_VOTES = 1e15
"""Sums of numbers up to here are exact in float64."""


def composed(label: Any) -> str:
    """Return a label as text, accented letters in one character (Unicode's NFC)."""
    text = str(label)
    return text if text.isascii() else normalize("NFC", text)


def arm_names_of(names: Iterable[Any] | None, num_arms: int | None) -> tuple[str, ...]:
    """Return names of arms, by default "0", "1", ...; at least two different ones."""
    if names is None:
        names = [str(arm) for arm in range(num_arms or 0)]
    checked = tuple(composed(name) for name in labels_of("arm_names", names))
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


def labels_of(name: str, values: Any) -> tuple[Any, ...]:
    """Return a column of labels: texts, or numbers that stand for them.

    A text such as "abc" is a column of its letters.
    """
    fits = isinstance(values, Iterable) and not isinstance(values, bytes | dict)
    fits = fits and getattr(values, "ndim", 1) == 1
    if not fits or holds_more_than(values, MOST_LABELS):
        raise ComparisonDataError(
            f"{name} must be a sequence of names, got {shown(values)}"
        )
    labels = tuple(values)
    try:
        different: Iterable[Any] = dict.fromkeys(labels)
    except TypeError:  # A list among them.
        different = labels
    for label in different:
        # Numbers are names too, as those of the columns of a table.
        plain = isinstance(label, str | int | float | np.generic) and label == label
        if not plain or not _UNWRITABLE.isdisjoint(str(label)):
            row = next(row for row, each in enumerate(labels) if each is label)
            raise ComparisonDataError(
                f"{name} must be names that can be written to a file, got "
                f"{shown(label)} at position {row}"
            )
    return labels


def rows_of(name: str, values: Any) -> tuple[Any, ...]:
    """Return the rows of a table, whatever each of them is."""
    if holds_more_than(values, MOST_LABELS):
        raise ComparisonDataError(
            f"{name} must hold at most {MOST_LABELS:,} names, got "
            f"{shown(getattr(values, 'shape', values))}"
        )
    return checked_as(ComparisonDataError, items_of, values, name)


_UNWRITABLE = frozenset(["\0", *map(chr, range(0xD800, 0xE000))])
"""What ends a text in C, and halves of pairs, which UTF-8 has none of."""


def flag_of(name: str, value: Any) -> bool:
    """Return True or False; a text such as "no" would be true."""
    return checked_as(ComparisonDataError, true_or_false, value, name)


def numbers_of(name: str, values: ArrayLike) -> Float64[np.ndarray, "..."]:
    """Return finite real numbers as float64, a copy."""
    if holds_more_than(values, MOST_NUMBERS):
        raise ComparisonDataError(
            f"{name} must hold at most {MOST_NUMBERS:,} numbers, got "
            f"{shown(getattr(values, 'shape', values))}"
        )
    if np.ma.is_masked(values):
        raise ComparisonDataError(
            f"{name} must not have masked entries; fill them, or leave them out"
        )
    try:
        given = np.asarray(values)
    except (ValueError, TypeError) as error:  # As rows of different lengths.
        raise ComparisonDataError(
            f"{name} must be an array of numbers, its rows equally long: {error}"
        ) from error
    if given.dtype.kind not in "fiub" and given.size:
        # Numbers may hide among objects, as in a column of Decimal; texts do not count.
        given = _from_objects(name, given)
    numbers = np.array(given, dtype=np.float64)
    if not np.all(np.isfinite(numbers)):
        index = tuple(int(each) for each in np.argwhere(~np.isfinite(numbers))[0])
        raise ComparisonDataError(
            f"{name} must be finite, got {numbers[index]:g} at {_at(index)}"
        )
    return numbers


def _from_objects(name: str, given: NDArray[Any]) -> NDArray[np.float64]:
    found = np.empty(given.shape)
    for index, value in np.ndenumerate(given):
        try:
            # Texts are no numbers, and NumPy would drop the imaginary part.
            if given.dtype.kind != "O" or isinstance(value, str | bytes):
                raise TypeError
            found[index] = float(value)
        except (TypeError, ValueError, OverflowError):
            where = f" at {_at(index)}" if index else ""
            shown = value.item() if isinstance(value, np.generic) else value
            raise ComparisonDataError(
                f"{name} must be numbers, got {shown!r}{where}"
            ) from None
    return found


def _at(index: tuple[int, ...]) -> int | tuple[int, ...]:
    return index[0] if len(index) == 1 else index


def vote_counts(name: str, values: ArrayLike) -> Float64[np.ndarray, "..."]:
    """Return numbers of votes as float64: finite, from 0 to 10^15."""
    counts = numbers_of(name, values)
    bad = (counts < 0) | (counts > MOST_VOTES)
    if np.any(bad):
        index = tuple(int(each) for each in np.argwhere(bad)[0])
        rule = "not negative" if counts[index] < 0 else f"at most {MOST_VOTES:.0e}"
        raise ComparisonDataError(
            f"{name} must be finite and {rule}, got {counts[index]:g} at {_at(index)}"
        )
    return counts


def labelled_counts(
    name: str, values: ArrayLike, order: Sequence[str] | None = None
) -> tuple[Float64[np.ndarray, "..."], tuple[str, ...] | None]:
    """Return a table of votes, and the labels of a data frame.

    Columns are brought into the order of the rows, and both into `order`.
    """
    table, labels = checked_as(ComparisonDataError, aligned_table, values, name)
    counts = vote_counts(name, table)
    labels = None if labels is None else tuple(map(composed, labels))
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
        columns = [composed(label) for label in values.columns]
        columns = None if columns == _counted(len(columns)) else columns
    rows = [composed(label) for label in values.index]
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


def whole_numbers(name: str, values: ArrayLike) -> Int64[np.ndarray, "..."]:
    """Return positions or places as int64; nothing is rounded."""
    numbers = numbers_of(name, values)
    bad = (numbers != np.round(numbers)) | (np.abs(numbers) > MOST_VOTES)
    if np.any(bad):
        index = tuple(int(each) for each in np.argwhere(bad)[0])
        raise ComparisonDataError(
            f"{name} must be whole numbers, got {numbers[index]:g} at {_at(index)}"
        )
    return numbers.astype(np.int64)


def arm_positions(
    name: str, labels: Sequence[Any], arm_names: Sequence[str]
) -> Int64[np.ndarray, " row"]:
    """Return the position of each label among the arms."""
    position = {arm: index for index, arm in enumerate(arm_names)}
    found = np.empty(len(labels), dtype=np.int64)
    for row, label in enumerate(map(composed, labels)):
        if label not in position:
            raise ComparisonDataError(
                f"{name}: row {row} names the unknown arm {label!r}; "
                f"{near_names(label, position)}the {len(position)} arms: "
                f"{shortened(arm_names)}"
            )
        found[row] = position[label]
    return found


def different_labels(*columns: Sequence[Any]) -> tuple[str, ...]:
    """Return the different labels of some columns, sorted."""
    return tuple(sorted({composed(label) for column in columns for label in column}))


def shortened(names: Sequence[str], most: int = 6) -> str:
    """Return a few names for a message."""
    shown = ", ".join(str(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def check_opponents(
    first: Int64[np.ndarray, " row"],
    second: Int64[np.ndarray, " row"],
    arm_names: Sequence[str],
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


def check_words(words: Sequence[str]) -> tuple[str, ...]:
    """Return three different words for the outcomes of a vote."""
    checked = tuple(map(composed, labels_of("words", words)))
    if len(checked) != 3 or len(set(checked)) != 3:
        raise ComparisonDataError(
            "words must be three different ones, for the first arm, the second, and a "
            f"tie; got {', '.join(map(repr, checked))}"
        )
    return checked


def outcome_of_word(
    word: str, row: int, arms: tuple[str, str], words: Sequence[str]
) -> int:
    """Return 0, 1 or 2 for the name of an arm or a word in a column of winners."""
    by_name = arms.index(word) if word in arms else None
    by_word = words.index(word) if word in words else by_name
    if by_word is None:
        raise ComparisonDataError(
            f"winner: row {row} is {word!r}, but must be {arms[0]!r}, {arms[1]!r}, or "
            f"one of the words {', '.join(map(repr, words))}"
        )
    if by_name not in (None, by_word):
        arms_said = ("the first arm", "the second arm", "a tie")
        raise ComparisonDataError(
            f"winner: row {row} is {word!r}, which is {arms_said[by_name]} by name, "
            f"but {arms_said[by_word]} by words={tuple(words)}; rename the arms or the "
            "words so that only one can be meant"
        )
    return by_word


def components(
    edges: Bool[np.ndarray, "node node"], connection: str, arm_names: Sequence[str]
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

"""Labels, numbers of votes and tables of arrays, checked once at the boundary."""

import re
from collections.abc import Iterable, Mapping, Sequence, Sized
from contextlib import suppress
from typing import Any
from unicodedata import normalize

import numpy as np
from jaxtyping import Bool, Float64, Int64, Num, Shaped
from numpy.typing import ArrayLike

from bayesduel.errors import ComparisonDataError, errors_as, near_names
from bayesduel.files.csv_cells import unguarded
from theory.arguments import items_of
from theory.validation import aligned_table, any_array, holds_more_than, refuse_entries

MOST_LABELS = 10**8
"""Rows of a table of single votes."""

MOST_VOTES = 1e15
"""Sums of numbers up to here are exact in float64."""

_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
"""Characters without a width, which copying from a page puts around a name."""

_UNWRITABLE = frozenset(["\0", *map(chr, range(0xD800, 0xE000))])
"""What ends a text in C, and halves of pairs, which UTF-8 has none of."""

_WHOLE_FLOAT = re.compile(r"(-?(?:0|[1-9][0-9]*))[.,]0")
_DECIMAL = re.compile(r"-?[0-9]*[.,][0-9]+")


def composed(label: Any) -> str:
    """Return a label as text, accented letters in one character (Unicode's NFC).

    Spaces of any kind and characters without a width are taken away from both ends, and
    the apostrophe that exports put before what a spreadsheet would take for a formula.
    """
    text = str(label)
    if text.isascii():
        return unguarded(text.strip())
    text, before = normalize("NFC", text), ""
    # Either may stand outside the other.
    while text != before:
        text, before = text.strip().strip(_INVISIBLE), text
    return unguarded(text)


def all_composed(labels: Sequence[Any]) -> list[str]:
    """Return labels as texts, each different one composed once: there are few."""
    if not set(map(type, labels)) <= {str, np.str_}:
        return list(map(composed, labels))  # 1, 1.0 and True are equal.
    texts = {label: composed(label) for label in set(labels)}
    if all(type(label) is str and label == text for label, text in texts.items()):
        return list(labels)
    return list(map(texts.__getitem__, labels))


def whole_numbers_as_text(labels: Iterable[str]) -> dict[str, str]:
    """Map labels that are whole numbers written as floats to the usual text: 7.0 to 7.

    pandas writes integers as floats once a cell of their column is empty, so 7 and 7.0
    are one label, and 7,0 in files with decimal commas. Where other labels are
    decimals, as versions 1.0 and 1.1 are, only those change that occur in both forms.
    """
    texts = set(labels)
    whole = {
        text: found[1] for text in texts if (found := _WHOLE_FLOAT.fullmatch(text))
    }
    if any(_DECIMAL.fullmatch(text) for text in texts - whole.keys()):
        return {text: number for text, number in whole.items() if number in texts}
    return whole


def joined_labels(*columns: Sequence[Any]) -> list[list[str]]:
    """Return columns of labels of the same things as texts, 7.0 and 7 as one label."""
    texts = [all_composed(column) for column in columns]
    renamed = whole_numbers_as_text(set().union(*texts))
    if renamed:
        texts = [[renamed.get(text, text) for text in column] for column in texts]
    return texts


def arm_names_of(names: Iterable[Any] | None, num_arms: int | None) -> tuple[str, ...]:
    """Return names of arms, by default "0", "1", ...; at least two different ones."""
    if names is None:
        names = [str(arm) for arm in range(num_arms or 0)]
    checked = tuple(composed(name) for name in labels_of("arm_names", names))
    if num_arms is not None and len(checked) != num_arms:
        rule = f"must name each of the {num_arms} arms"
        raise ComparisonDataError("arm_names", rule, checked)
    if len(checked) < 2:
        rule = "must be of at least two arms, to be compared"
        raise ComparisonDataError("arm_names", rule, checked)
    seen: set[str] = set()
    for position, name in enumerate(checked):
        if not name or name in seen:
            rule = "must be different from the others, and not empty"
            raise ComparisonDataError("arm_names", rule, name, index=position)
        seen.add(name)
    return checked


def labels_of(name: str, values: Any) -> tuple[Any, ...]:
    """Return a column of labels: texts, or numbers that stand for them.

    A text such as "abc" is a column of its letters.
    """
    fits = isinstance(values, Iterable) and not isinstance(values, bytes | dict)
    fits = fits and getattr(values, "ndim", 1) == 1
    if not fits or holds_more_than(values, MOST_LABELS):
        raise ComparisonDataError(name, "must be a sequence of names", values)
    labels = tuple(values)
    try:
        different: Iterable[Any] = dict.fromkeys(labels)
    except TypeError:  # A list among them.
        different = labels
    for label in different:
        # Numbers are names too, as those of the columns of a table.
        if is_missing(label):
            row = next(row for row, each in enumerate(labels) if is_missing(each))
            remedy = "name it, or leave out its row, as with dropna() of pandas"
            raise ComparisonDataError(
                name, "is missing", label, index=row, remedy=remedy
            )
        plain = isinstance(label, str | int | float | np.generic)
        if not plain or not _UNWRITABLE.isdisjoint(str(label)):
            row = next(row for row, each in enumerate(labels) if each is label)
            rule = "must be a name that can be written to a file"
            raise ComparisonDataError(name, rule, label, index=row)
    return labels


def is_missing(label: Any) -> bool:
    """Return whether a label is None, nan, or what pandas or NumPy has for it."""
    if label is None or label is np.ma.masked:
        return True
    if type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, float | np.floating) and bool(label != label)


def rows_of(name: str, values: Any) -> tuple[Any, ...]:
    """Return the rows of a table, whatever each of them is."""
    if holds_more_than(values, MOST_LABELS):
        rule = f"must hold at most {MOST_LABELS:,} names"
        raise ComparisonDataError(name, rule, getattr(values, "shape", values))
    return items_of(values, name, kind=ComparisonDataError)


def numbers_of(name: str, values: ArrayLike) -> Float64[np.ndarray, "..."]:
    """Return finite real numbers as float64, a copy."""
    with errors_as(ComparisonDataError):
        given = any_array(values, name)
    if given.dtype.kind not in "fiub" and given.size:
        # Numbers may hide among objects, as in a column of Decimal; texts do not count,
        # and no imaginary part is dropped.
        read, numbers = np.zeros(given.shape, dtype=bool), np.zeros(given.shape)
        for place, value in np.ndenumerate(given):
            if given.dtype.kind == "O" and not isinstance(value, str | bytes):
                with suppress(TypeError, ValueError, OverflowError):
                    numbers[place], read[place] = float(value), True
        check_each(name, given, read, "must be a number")
        given = numbers
    numbers = np.array(given, dtype=np.float64)
    check_each(name, numbers, np.isfinite(numbers), "must be finite")
    return numbers


def check_each(
    name: str,
    numbers: Shaped[np.ndarray, "*shape"],
    fits: Bool[np.ndarray, "*shape"],
    rule: str,
) -> None:
    """Raise if an entry of an array does not fit; the first one is named."""
    refuse_entries(~fits, numbers, name, rule, kind=ComparisonDataError)


def vote_counts(name: str, values: ArrayLike) -> Float64[np.ndarray, "..."]:
    """Return numbers of votes as float64: finite, from 0 to 10^15."""
    counts = numbers_of(name, values)
    check_each(name, counts, counts >= 0, "must not be negative")
    check_each(name, counts, counts <= MOST_VOTES, f"must be at most {MOST_VOTES:.0e}")
    return counts


def whole_numbers(name: str, values: ArrayLike) -> Int64[np.ndarray, "..."]:
    """Return positions or places as int64; nothing is rounded."""
    numbers = numbers_of(name, values)
    fits = (numbers == np.round(numbers)) & (np.abs(numbers) <= MOST_VOTES)
    check_each(name, numbers, fits, "must be a whole number")
    return numbers.astype(np.int64)


def labelled_counts(
    name: str, values: ArrayLike, order: Sequence[str] | None = None
) -> tuple[Float64[np.ndarray, "..."], tuple[str, ...] | None]:
    """Return a table of votes, and the labels of a data frame.

    Columns are brought into the order of the rows, and both into `order`.
    """
    _check_crosstab(name, values)
    with errors_as(ComparisonDataError):
        table, labels = aligned_table(values, name)
    counts = vote_counts(name, table)
    labels = None if labels is None else tuple(map(composed, labels))
    if order is None or labels is None or tuple(order) == labels:
        return counts, labels
    if set(order) != set(labels):
        rule = f"must name the arms {shortened(order)}"
        raise ComparisonDataError(name, rule, labels)
    places = [labels.index(label) for label in order]
    return counts[np.ix_(places, places)], tuple(order)


def _check_crosstab(name: str, values: Any) -> None:
    """Refuse a data frame without a row of an arm that never won, or a column."""
    if not hasattr(values, "iloc") or getattr(values, "ndim", 0) != 2:
        return
    rows, columns = (
        [str(label) for label in side] for side in (values.index, values.columns)
    )
    counted = [_counted(len(side)) == side for side in (rows, columns)]
    if set(rows) == set(columns) or (any(counted) and len(rows) == len(columns)):
        return
    sides = (("rows", rows, columns), ("columns", columns, rows))
    lacks = " and its ".join(
        f"{side} lack {shortened([each for each in other if each not in own])}"
        for side, own, other in sides
        if not set(other) <= set(own)
    )
    raise ComparisonDataError(
        name,
        f"must name the same arms in its rows and columns; its {lacks}",
        values.shape,
        remedy="rename what is one arm; or, where an arm never won or never lost, add "
        "zeros: names = sorted({*wins.index, *wins.columns}); "
        "wins.reindex(index=names, columns=names, fill_value=0)",
    )


def covariates_of(
    values: Any, names: Any, arm_names: tuple[str, ...]
) -> tuple[Float64[np.ndarray, "arm covariate"], tuple[str, ...]]:
    """Return a table with a row per arm, and the names of its columns.

    The rows of a data frame are brought into the order of the arms by their labels;
    rows that count 0, 1, ... are taken as they stand, as those of an array are.
    """
    columns = None
    if hasattr(values, "iloc"):
        if values.ndim == 2:
            columns = [composed(label) for label in values.columns]
            columns = None if columns == _counted(len(columns)) else columns
        rows, arms = joined_labels(list(values.index), arm_names)
        if sorted(rows) == sorted(arms):
            values = values.iloc[[rows.index(arm) for arm in arms]]
        elif rows != _counted(len(rows)):
            rule = f"must have one row for each of the arms {shortened(arm_names)}"
            raise ComparisonDataError("covariates", rule, rows)
    names = columns if names is None else labels_of("names", names)
    table = numbers_of("covariates", values)
    if table.ndim == 1:
        table = table[:, None]
    if table.ndim != 2 or len(table) != len(arm_names):
        rule = f"must have one row for each of the {len(arm_names)} arms in its shape"
        raise ComparisonDataError("covariates", rule, table.shape)
    labels = names or [f"covariate {index}" for index in range(table.shape[1])]
    if len(labels) != table.shape[1]:
        rule = f"must name each of the {table.shape[1]} columns"
        raise ComparisonDataError("names", rule, labels)
    return table, tuple(map(str, labels))


def _counted(number: int) -> list[str]:
    return [str(position) for position in range(number)]


def arm_positions(
    name: str, labels: Sequence[Any], arm_names: Sequence[str]
) -> Int64[np.ndarray, " row"]:
    """Return the position of each label among the arms; 7.0 and 7 find each other."""
    position = {arm: index for index, arm in enumerate(arm_names)}
    for arm, number in whole_numbers_as_text(arm_names).items():
        position.setdefault(number, position[arm])
    texts = all_composed(labels)
    places = list(map(position.get, texts))
    for row, place in enumerate(places):
        if place is not None:
            continue
        number = _WHOLE_FLOAT.fullmatch(texts[row])
        places[row] = position.get(number[1]) if number else None
        if places[row] is None:
            raise ComparisonDataError(
                name,
                f"names the unknown arm {texts[row]!r}",
                texts[row],
                index=row,
                remedy=f"{near_names(texts[row], arm_names)}the {len(arm_names)} arms: "
                f"{shortened(arm_names)}",
            )
    return np.array(places, dtype=np.int64)


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
        rule = f"must be an arm, numbered from 0 to {len(arm_names) - 1}"
        check_each(name, arms, (arms >= 0) & (arms < len(arm_names)), rule)
    if np.any(first == second):
        row = int(np.argmax(first == second))
        arm = arm_names[first[row]]
        rule = f"compares {arm!r} with itself, which says nothing"
        remedy = "leave such rows out"
        raise ComparisonDataError("row", rule, arm, index=row, remedy=remedy)


def check_lengths(**columns: Sized) -> None:
    """Raise unless all columns are equally long."""
    lengths = [len(each) for each in columns.values()]
    if len(set(lengths)) > 1:
        *names, last = columns
        rule = "must be equally long"
        raise ComparisonDataError(f"{', '.join(names)} and {last}", rule, lengths)


def check_one_each(
    name: str, values: Float64[np.ndarray, "..."], number: int, things: str
) -> None:
    """Raise unless there is one value for each of some things."""
    if values.shape != (number,):
        rule = f"must have the shape ({number},), one number for each of the {things}"
        raise ComparisonDataError(name, rule, values.shape)


def check_names(names: Any, constructor: str) -> int:
    """Raise unless names of arms are a tuple of different names; return how many."""
    if not isinstance(names, tuple) or arm_names_of(names, None) != names:
        rule, remedy = "must be a tuple of names", f"use {constructor}()"
        raise ComparisonDataError("arm_names", rule, names, remedy=remedy)
    return len(names)


def check_array(
    name: str,
    values: Any,
    shape: tuple[int | None, ...],
    kind: str,
    constructor: str,
) -> None:
    """Raise unless a field is an array of a kind; None stands for any length."""
    fits = isinstance(values, np.ndarray) and values.dtype.kind == kind
    fits = fits and values.ndim == len(shape)
    if not fits or any(
        n not in (None, m) for n, m in zip(shape, values.shape, strict=True)
    ):
        words = {"i": "integers", "f": "floats", "b": "True and False"}[kind]
        size = ", ".join("n" if each is None else str(each) for each in shape)
        rule = f"must be an array of {words} of the shape ({size})"
        remedy = f"use {constructor}(), which converts what it is given"
        if isinstance(values, np.ndarray):
            values = f"{values.dtype}{list(values.shape)}"
        raise ComparisonDataError(name, rule, values, remedy=remedy)


def check_different(
    name: str,
    rows: Shaped[np.ndarray, "..."],
    places: Int64[np.ndarray, " place"],
    what: str,
    constructor: str,
) -> None:
    """Raise where two rows are the same: not all are among the places."""
    if len(places) < len(rows):
        row = int(np.setdiff1d(np.arange(len(rows)), places)[0])
        remedy = f"use {constructor}(), which adds up the rows of a {what}"
        rule = f"is the second row of one {what}"
        raise ComparisonDataError(
            name, rule, rows[row].tolist(), index=row, remedy=remedy
        )


def groups_of(
    keys: Sequence[Num[np.ndarray, " vote"]],
) -> tuple[Int64[np.ndarray, " group"], Int64[np.ndarray, " vote"]]:
    """Return a place of each group of equal rows, in order, and the group of each row.

    Rows are told apart, and sorted, by the first key, then by the second, and so on.
    """
    joint, size = np.zeros(len(keys[0]), dtype=np.int64), 1
    for key in keys:
        if key.dtype.kind == "i" and key.size and key.min() >= 0:
            codes, number = key, int(key.max()) + 1
        else:
            different, codes = np.unique(key, return_inverse=True)
            number = len(different)
        if size * number > 2**62:
            different, joint = np.unique(joint, return_inverse=True)
            size = len(different)
        joint, size = joint * number + codes, size * max(number, 1)
    if size > 16 * len(joint):
        _, places, index = np.unique(joint, return_index=True, return_inverse=True)
        return places, index
    # Without sorting the rows: there is room for all that could be.
    there = np.zeros(size, dtype=bool)
    there[joint] = True
    index = (np.cumsum(there) - 1)[joint]
    places = np.zeros(int(there.sum()), dtype=np.int64)
    places[index[::-1]] = np.arange(len(joint))[::-1]
    return places, index


def codes_of(
    labels: Sequence[str],
) -> tuple[Int64[np.ndarray, " row"], tuple[str, ...]]:
    """Return the place of each label among the different ones, and these, sorted."""
    names = tuple(sorted(set(labels)))
    place: Mapping[str, int] = {label: at for at, label in enumerate(names)}
    return np.array([place[label] for label in labels], dtype=np.int64), names


def components(
    edges: Any, connection: str, arm_names: Sequence[str]
) -> list[list[str]]:
    """Return the names in each part of a directed graph, the largest part first.

    ``edges`` is a table (node, node), sparse or not. It may have more nodes than there
    are arms; those are left out.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(
        csr_array(edges), directed=True, connection=connection
    )
    parts: list[list[str]] = [[] for _ in range(count)]
    for name, part in zip(arm_names, label.tolist(), strict=False):
        parts[part].append(name)
    return sorted((part for part in parts if part), key=len, reverse=True)

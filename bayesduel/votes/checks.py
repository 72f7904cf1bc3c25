"""Labels, numbers and arrays of votes, checked once at the boundary."""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, NoReturn
from unicodedata import normalize

import numpy as np
from jaxtyping import Bool, Float64, Int64, Shaped
from numpy.typing import ArrayLike

from bayesduel.errors import ComparisonDataError, errors_as, near_names
from bayesduel.files.csv_cells import unguarded
from theory.arguments import items_of, true_or_false
from theory.validation import any_array, holds_more_than, refuse_entries

MOST_LABELS = 10**8  # Rows of a table of single votes.
MOST_VOTES = 1e15  # Sums of numbers up to here are exact in float64.

# Characters without a width, which copying from a page puts around a name.
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
# The end of a text in C, and halves of pairs, which UTF-8 cannot write.
_UNWRITABLE = frozenset(["\0", *map(chr, range(0xD800, 0xE000))])
_WHOLE_FLOAT = re.compile(r"(-?(?:0|[1-9][0-9]*))[.,]0")
_DECIMAL = re.compile(r"-?[0-9]*[.,][0-9]+")


def refuse(
    argument: str, rule: str, value: Any = None, *, index: Any = None, remedy: str = ""
) -> NoReturn:
    """Raise a ``ComparisonDataError``."""
    raise ComparisonDataError(argument, rule, value, index=index, remedy=remedy)


def flag(value: object, argument: str) -> bool:
    """Return True or False; nothing else is either."""
    return true_or_false(value, argument, kind=ComparisonDataError)


def composed(label: Any) -> str:
    """Return a label as text, accented letters in one character (Unicode's NFC)."""
    # Without space, characters of no width, and the apostrophe that guards formulas.
    text = str(label)
    if text.isascii():
        return unguarded(text.strip())
    text, before = normalize("NFC", text), ""
    while text != before:  # Either may stand outside the other.
        text, before = text.strip().strip(_INVISIBLE), text
    return unguarded(text)


def whole_numbers_as_text(labels: Iterable[str]) -> dict[str, str]:
    """Map labels that are whole numbers written as floats to the usual text: 7.0 to 7.

    pandas writes integers as floats once a cell of their column is empty, so 7 and 7.0
    are one label, and 7,0 in files with decimal commas. Where other labels are
    decimals, as versions 1.0 and 1.1 are, only those change that occur in both forms.
    """
    texts = set(labels)
    matches = {text: _WHOLE_FLOAT.fullmatch(text) for text in texts}
    whole = {text: match[1] for text, match in matches.items() if match}
    if any(_DECIMAL.fullmatch(text) for text in texts - whole.keys()):
        return {text: number for text, number in whole.items() if number in texts}
    return whole


def joined_labels(*columns: Sequence[Any]) -> list[list[str]]:
    """Return columns of labels of the same things as texts, 7.0 and 7 as one label."""
    texts = list(map(_texts_of, columns))
    if renamed := whole_numbers_as_text(set().union(*texts)):
        texts = [[renamed.get(text, text) for text in column] for column in texts]
    return texts


def _texts_of(labels: Sequence[Any]) -> list[str]:
    if not set(map(type, labels)) <= {str, np.str_}:
        return list(map(composed, labels))  # 1, 1.0 and True are equal.
    texts = {label: composed(label) for label in set(labels)}
    return [texts[label] for label in labels]


def arm_names_of(names: Iterable[Any] | None, num_arms: int | None) -> tuple[str, ...]:
    """Return names of arms, by default "0", "1", ...; at least two different ones."""
    if names is None:
        names = [str(arm) for arm in range(num_arms or 0)]
    checked = tuple(composed(name) for name in labels_of("arm_names", names))
    if num_arms is not None and len(checked) != num_arms:
        refuse("arm_names", f"must name each of the {num_arms} arms", checked)
    if len(checked) < 2:
        refuse("arm_names", "must be of at least two arms, to be compared", checked)
    seen: set[str] = set()
    for position, name in enumerate(checked):
        if not name or name in seen:
            rule = "must be different from the others, and not empty"
            refuse("arm_names", rule, name, index=position)
        seen.add(name)
    return checked


def labels_of(name: str, values: Any) -> tuple[Any, ...]:
    """Return a column of labels: texts, or numbers; "abc" is a column of letters."""
    fits = isinstance(values, Iterable) and not isinstance(values, bytes | dict)
    fits = fits and getattr(values, "ndim", 1) == 1
    if not fits or holds_more_than(values, MOST_LABELS):
        refuse(name, "must be a sequence of names", values)
    labels = tuple(values)
    try:
        different: Iterable[Any] = dict.fromkeys(labels)
    except TypeError:  # A list among them.
        different = labels
    for label in different:
        if _is_missing(label):
            row = next(row for row, entry in enumerate(labels) if _is_missing(entry))
            remedy = "name it, or leave out its row, as with dropna() of pandas"
            refuse(name, "is missing", label, index=row, remedy=remedy)
        # Numbers are names too, as those of the columns of a table.
        plain = isinstance(label, str | int | float | np.generic)
        if not plain or not _UNWRITABLE.isdisjoint(str(label)):
            row = next(row for row, entry in enumerate(labels) if entry is label)
            refuse(name, "must be a name that can be written to a file", label,
                   index=row)  # fmt: skip
    return labels


def _is_missing(label: Any) -> bool:
    if label is None or label is np.ma.masked:
        return True
    if type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, float | np.floating) and bool(label != label)


def rows_of(name: str, values: Any) -> tuple[Any, ...]:
    """Return the rows of a table, whatever each of them is."""
    if holds_more_than(values, MOST_LABELS):
        shape = getattr(values, "shape", values)
        refuse(name, f"must hold at most {MOST_LABELS:,} names", shape)
    return items_of(values, name, kind=ComparisonDataError)


def numbers_of(name: str, values: ArrayLike) -> Float64[np.ndarray, "..."]:
    """Return finite real numbers as float64, a copy."""
    with errors_as(ComparisonDataError):
        given = any_array(values, name)
    if given.dtype.kind not in "fiub" and given.size:
        # Numbers may hide among objects, as in a column of Decimal; texts do not count,
        # and no imaginary part is dropped.
        read, numbers = np.zeros(given.shape, dtype=bool), np.zeros(given.shape)
        for at, value in np.ndenumerate(given):
            if given.dtype.kind == "O" and not isinstance(value, str | bytes):
                with suppress(TypeError, ValueError, OverflowError):
                    numbers[at], read[at] = float(value), True
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


def weights_of(
    name: str, values: ArrayLike | None, number: int, things: str
) -> Float64[np.ndarray, " row"]:
    """Return how often each of some things counts, 1 by default."""
    counts = np.ones(number) if values is None else vote_counts(name, values)
    if counts.shape != (number,):
        rule = f"must have the shape ({number},), one number for each of the {things}"
        refuse(name, rule, counts.shape)
    return counts


def whole_numbers(name: str, values: ArrayLike) -> Int64[np.ndarray, "..."]:
    """Return positions or places as int64; nothing is rounded."""
    numbers = numbers_of(name, values)
    fits = (numbers == np.round(numbers)) & (np.abs(numbers) <= MOST_VOTES)
    check_each(name, numbers, fits, "must be a whole number")
    return numbers.astype(np.int64)


def arm_positions(
    name: str, labels: Sequence[Any], arm_names: Sequence[str]
) -> Int64[np.ndarray, " row"]:
    """Return the position of each label among the arms; 7.0 and 7 find each other."""
    position = {arm: index for index, arm in enumerate(arm_names)}
    for arm, number in whole_numbers_as_text(arm_names).items():
        position.setdefault(number, position[arm])
    texts = _texts_of(labels)
    for text in set(texts) - position.keys():
        number = _WHOLE_FLOAT.fullmatch(text)
        if number is None or number[1] not in position:
            row = next(row for row, known in enumerate(texts) if known not in position)
            text, listed = texts[row], shortened(arm_names)
            remedy = f"{near_names(text, arm_names)}the {len(arm_names)} arms: {listed}"
            rule = f"names the unknown arm {text!r}"
            refuse(name, rule, text, index=row, remedy=remedy)
        position[text] = position[number[1]]
    return np.array([position[text] for text in texts], dtype=np.int64)


def shortened(names: Sequence[str], most: int = 6) -> str:
    """Return a few names for a message."""
    shown = ", ".join(str(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def check_lengths(**columns: Any) -> None:
    """Raise unless all columns are equally long."""
    lengths = [len(column) for column in columns.values()]
    if len(set(lengths)) > 1:
        *names, last = columns
        refuse(f"{', '.join(names)} and {last}", "must be equally long", lengths)


def check_names(names: Any, constructor: str) -> int:
    """Raise unless names of arms are a tuple of different names; return how many."""
    if not isinstance(names, tuple) or arm_names_of(names, None) != names:
        remedy = f"use {constructor}()"
        refuse("arm_names", "must be a tuple of names", names, remedy=remedy)
    return len(names)


def check_array(
    name: str, values: Any, shape: tuple[int | None, ...], kind: str, constructor: str
) -> None:
    """Raise unless a field is an array of a kind; None stands for any length."""
    fits = isinstance(values, np.ndarray) and values.dtype.kind == kind
    fits = fits and values.ndim == len(shape)
    if not fits or any(
        n not in (None, m) for n, m in zip(shape, values.shape, strict=True)
    ):
        words = {"i": "integers", "f": "floats", "b": "True and False"}[kind]
        size = ", ".join("n" if length is None else str(length) for length in shape)
        if isinstance(values, np.ndarray):
            values = f"{values.dtype}{list(values.shape)}"
        rule = f"must be an array of {words} of the shape ({size})"
        remedy = f"use {constructor}(), which converts what it is given"
        refuse(name, rule, values, remedy=remedy)


def check_different(
    name: str,
    rows: Shaped[np.ndarray, "row column"],
    keys: Sequence[Shaped[np.ndarray, " row"]],
    what: str,
    constructor: str,
) -> None:
    """Raise where two rows have the same keys."""
    # Rows in the order of their keys, as most are, need not be grouped.
    alike = np.ones(max(len(rows) - 1, 0), dtype=bool)
    for key in keys:
        if np.any(alike & (key[1:] < key[:-1])):
            alike[:] = True
            break
        alike &= key[1:] == key[:-1]
    if not alike.any():
        return
    places, _ = groups_of(keys)
    if len(places) < len(rows):
        row = int(np.setdiff1d(np.arange(len(rows)), places)[0])
        remedy = f"use {constructor}(), which adds up the rows of a {what}"
        rule = f"is the second row of one {what}"
        refuse(name, rule, rows[row].tolist(), index=row, remedy=remedy)


def groups_of(
    keys: Sequence[Shaped[np.ndarray, " vote"]],
) -> tuple[Int64[np.ndarray, " group"], Int64[np.ndarray, " vote"]]:
    """Return the first row of each group of equal rows, and the group of each row."""
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
        _, rows, index = np.unique(joint, return_index=True, return_inverse=True)
        return rows, index
    # Without sorting the rows: there is room for all that could be.
    first = np.full(size, -1, dtype=np.int32)  # There are at most 10^8 rows.
    first[joint[::-1]] = np.arange(len(joint), dtype=np.int32)[::-1]
    groups = np.flatnonzero(first >= 0)
    rows = first[groups].astype(np.int64)
    first[groups] = np.arange(len(groups))
    return rows, first[joint].astype(np.int64)


def codes_of(
    labels: Sequence[str],
) -> tuple[Int64[np.ndarray, " row"], tuple[str, ...]]:
    """Return the place of each label among the different ones, and these, sorted."""
    names = tuple(sorted(set(labels)))
    position = {label: at for at, label in enumerate(names)}
    return np.array([position[label] for label in labels], dtype=np.int64), names


def components(
    edges: Any, arm_names: Sequence[str], connection: str = "weak"
) -> list[list[str]]:
    """Return the names in each part of a directed graph, the largest part first.

    Edges are a table with True for each, or the arms from and to which they lead.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    if isinstance(edges, tuple):
        shape = len(arm_names), len(arm_names)
        edges = csr_array((np.ones(len(edges[0]), dtype=bool), edges), shape=shape)
    graph = csr_array(edges)
    count, label = connected_components(graph, directed=True, connection=connection)
    parts: list[list[str]] = [[] for _ in range(count)]
    for name, part in zip(arm_names, label.tolist(), strict=False):
        parts[part].append(name)
    return sorted((part for part in parts if part), key=len, reverse=True)

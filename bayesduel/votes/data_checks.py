"""Tables of votes that somebody put together by hand, checked field by field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64, Int64, Shaped
from numpy.typing import NDArray

from bayesduel.errors import ComparisonDataError, errors_as
from bayesduel.votes._row_columns import check_row_columns, groups_of
from bayesduel.votes.checks import (
    arm_names_of,
    check_each,
    check_opponents,
    composed,
    different_labels,
    labels_of,
    numbers_of,
    rows_by_name,
    vote_counts,
)
from theory.arguments import true_or_false
from theory.validation import any_array


def check_comparisons(data: Any) -> None:
    """Raise unless the fields of ``Comparisons`` are what they are documented to be."""
    num_arms = _checked_names(data.arm_names, "from_rows")
    first, second = data.first, data.second
    rows = len(first) if isinstance(first, np.ndarray) and first.ndim == 1 else -1
    _array("first", first, (rows if rows >= 0 else None,), "i", "from_rows")
    _array("second", second, (rows,), "i", "from_rows")
    _array("counts", data.counts, (rows, 3), "f", "from_rows")
    check_opponents(first, second, data.arm_names)
    vote_counts("counts", data.counts)
    ordered = true_or_false(data.order_known, "order_known", kind=ComparisonDataError)
    check_row_columns(data, rows)
    _check_pairs(first, second, list(data.columns.values()), ordered=ordered)
    names, table = data.covariate_names, data.covariates
    if not isinstance(names, tuple):
        remedy = "use with_covariates()"
        raise ComparisonDataError(
            "covariate_names", "must be a tuple", names, remedy=remedy
        )
    _array(
        "covariates", table, (num_arms if names else None, len(names)), "f",
        "with_covariates",
    )  # fmt: skip
    check_each("covariates", table, np.isfinite(table), "must be finite")


def _check_pairs(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    columns: list[NDArray[Any]],
    *,
    ordered: bool,
) -> None:
    """Raise unless every pair has one row, or one in either order, per entries."""
    remedy = "use from_rows(), which adds up the rows of a pair"
    if not ordered and np.any(first > second):
        row = int(np.argmax(first > second))
        rule = "must be the lower position of the two, since the order is not known"
        raise ComparisonDataError(
            "first", rule, int(first[row]), index=row, remedy=remedy
        )
    places, _ = groups_of([first, second, *columns])
    _check_different("row", np.stack([first, second], axis=1), places, "pair",
                     "from_rows")  # fmt: skip


def _check_different(
    name: str,
    rows: NDArray[Any],
    places: NDArray[np.int64],
    what: str,
    constructor: str,
) -> None:
    """Raise where two rows are the same: not all are among the places."""
    if len(places) < len(rows):
        row = int(np.setdiff1d(np.arange(len(rows)), places)[0])
        remedy = f"use {constructor}(), which adds up the rows of a {what}"
        raise ComparisonDataError(
            name,
            f"is the second row of one {what}",
            rows[row].tolist(),
            index=row,
            remedy=remedy,
        )


def _check_unique(name: str, rows: NDArray[Any], what: str, constructor: str) -> None:
    _, places = np.unique(rows, axis=0, return_index=True)
    _check_different(name, rows, places, what, constructor)


def covariates_of(
    values: Any, names: Any, arm_names: tuple[str, ...]
) -> tuple[Float64[np.ndarray, "arm covariate"], tuple[str, ...]]:
    """Return a table with a row per arm, and the names of its columns."""
    values, columns = rows_by_name("covariates", values, arm_names)
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


def attribute_table(values: Any) -> Shaped[np.ndarray, "row arm attribute"]:
    """Return a table (row, K, d) of anything, of which only some may be numbers."""
    with errors_as(ComparisonDataError):
        table = any_array(values, "attributes")
    if table.ndim not in (2, 3):
        rule = "must be of the shape (n, K, d), or (n, K)"
        raise ComparisonDataError("attributes", rule, table.shape)
    return table[:, :, None] if table.ndim == 2 else table


def attributes_of(
    values: Any, names: Any, offered: Bool[np.ndarray, "row arm"]
) -> tuple[Float64[np.ndarray, "row arm attribute"] | None, tuple[str, ...]]:
    """Return attributes (row, K, d), 0 where nothing was on offer, and their names."""
    if values is None:
        if names is not None:
            raise ComparisonDataError("attribute_names", "needs attributes", names)
        return None, ()
    table = attribute_table(values)
    if table.shape[:2] != offered.shape:
        size = ", ".join(map(str, offered.shape))
        rule = f"must be of the shape ({size}, d), d numbers for each alternative"
        raise ComparisonDataError("attributes", rule, table.shape)
    width = table.shape[2]
    if names is None:
        names = [f"attribute {place}" for place in range(width)]
    titles = tuple(composed(each) for each in labels_of("attribute_names", names))
    if len(titles) != width or len(set(titles)) < width:
        rule = f"must be {width} different names, one for each attribute"
        raise ComparisonDataError("attribute_names", rule, titles)
    here = np.where(offered[:, :, None], table, np.zeros((), table.dtype))
    return numbers_of("attributes", here), titles


def persons_of(
    persons: Any, number: int
) -> tuple[Int64[np.ndarray, " row"] | None, tuple[str, ...]]:
    """Return the place of the person of each row among the names, and these."""
    if persons is None:
        return None, ()
    labels = [composed(each) for each in labels_of("persons", persons)]
    if len(labels) != number:
        rule = f"must name one person for each of the {number} rows"
        raise ComparisonDataError("persons", rule, labels)
    names = different_labels(labels)
    place = {name: at for at, name in enumerate(names)}
    return np.array([place[label] for label in labels], dtype=np.int64), names


def worst_rows(worst: Any, number: int) -> Bool[np.ndarray, " row"] | None:
    """Return which rows name the worst, None where there is none."""
    if worst is None:
        return None
    given = np.asarray(worst)
    if given.shape != (number,) or given.dtype.kind != "b":
        rule = f"must be True or False for each of the {number} rows"
        raise ComparisonDataError("worst", rule, worst)
    return given if given.any() else None


def check_choices(data: Any) -> None:
    """Raise unless the fields of ``Choices`` are what they are documented to be."""
    num_arms = _checked_names(data.arm_names, "from_counts")
    _array("offered", data.offered, (None, num_arms), "b", "from_counts")
    rows = len(data.offered)
    _array("counts", data.counts, (rows, num_arms + 1), "f", "from_counts")
    vote_counts("counts", data.counts)
    true_or_false(data.outside, "outside", kind=ComparisonDataError)
    table, who, constructor = data.attributes, data.persons, "from_counts"
    last = data.worst
    if last is not None:
        _array("worst", last, (rows,), "b", constructor)
        if data.outside or table is not None:
            rule = "must be left out where none can be chosen, and with attributes"
            raise ComparisonDataError("worst", rule, last)
    if table is None and who is None:
        marked = data.offered if last is None else np.column_stack([data.offered, last])
        _check_unique("offered", marked, "subset", constructor)
    for name, of in (("attribute_names", table), ("person_names", who)):
        names = getattr(data, name)
        if not isinstance(names, tuple) or (of is None and names):
            rule, remedy = "must be a tuple of names", f"use {constructor}()"
            raise ComparisonDataError(name, rule, names, remedy=remedy)
    if table is not None:
        width = len(data.attribute_names)
        _array("attributes", table, (rows, num_arms, width), "f", constructor)
        check_each("attributes", table, np.isfinite(table), "must be finite")
    if who is not None:
        _array("persons", who, (rows,), "i", constructor)
        most = len(data.person_names) - 1
        rule = f"must be the place of a person, from 0 to {most}"
        check_each("persons", who, (who >= 0) & (who <= most), rule)


def check_repetition(row: int, subset: list[str]) -> None:
    """Raise where a subset offers an arm twice: its weight would be unclear."""
    for place, arm in enumerate(subset):
        if arm in subset[:place]:
            raise ComparisonDataError(
                f"subset {row}",
                f"offers {arm!r} twice",
                arm,
                index=place,
                remedy="name every arm on offer once",
            )


def check_worst(
    worst: Float64[np.ndarray, "row K"],
    offered: Bool[np.ndarray, "2 row K"],
    names: Sequence[str],
) -> None:
    """Raise where the worst was not on offer, or is the best."""
    wrong = (worst > 0) & ~offered[1]
    if wrong.any():
        row, arm = np.argwhere(wrong)[0]
        is_best = offered[0, row, arm]
        rule = "is the best, too" if is_best else "was not on offer"
        raise ComparisonDataError("worst", rule, names[arm], index=int(row))


def check_rankings(data: Any) -> None:
    """Raise unless the fields of ``Rankings`` are what they are documented to be."""
    num_arms = _checked_names(data.arm_names, "from_places")
    _array("places", data.places, (None, num_arms), "i", "from_places")
    _array("counts", data.counts, (len(data.places),), "f", "from_places")
    _check_unique("places", data.places, "ballot", "from_places")
    vote_counts("counts", data.counts)
    check_each("places", data.places, data.places >= 0, "must not be negative")


def _checked_names(names: Any, remedy: str) -> int:
    if not isinstance(names, tuple) or arm_names_of(names, None) != names:
        rule, remedy = "must be a tuple of names", f"use {remedy}()"
        raise ComparisonDataError("arm_names", rule, names, remedy=remedy)
    return len(names)


def _array(
    name: str, values: Any, shape: tuple[int | None, ...], kind: str, remedy: str
) -> NDArray[Any]:
    """Return an array of a kind of numbers; None stands for any length."""
    fits = isinstance(values, np.ndarray) and values.dtype.kind == kind
    fits = fits and values.ndim == len(shape)
    if not fits or any(
        n not in (None, m) for n, m in zip(shape, values.shape, strict=True)
    ):
        words = {"i": "integers", "f": "floats", "b": "True and False"}[kind]
        size = ", ".join("n" if each is None else str(each) for each in shape)
        rule = f"must be an array of {words} of the shape ({size})"
        remedy = f"use {remedy}(), which converts what it is given"
        if isinstance(values, np.ndarray):
            values = f"{values.dtype}{list(values.shape)}"
        raise ComparisonDataError(name, rule, values, remedy=remedy)
    return values

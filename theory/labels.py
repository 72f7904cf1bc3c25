"""Names that the two sides of a square table carry."""

from __future__ import annotations

from typing import Any

from theory.errors import InvalidPreferenceError


def aligned_table(values: Any, argument: str) -> tuple[Any, tuple[str, ...] | None]:
    """Bring the columns of a labelled table into the order of its rows.

    Labels are compared as text, since a file that is read again has text in its header
    and numbers in its first column. Of an array whose dimensions are called "arm" and
    "opponent" the former are the rows, as in a result.

    Return the values, themselves where nothing has to move, and the names: None where
    there are no labels, or they count 0, ..., K - 1 on both sides. A side that counts
    in this way takes the labels of the other one. ``InvalidPreferenceError`` if rows
    and columns do not name the same arms, or one of them names an arm twice.
    """
    if hasattr(values, "to_pandas") and hasattr(values, "dims"):
        if set(values.dims) == {"arm", "opponent"}:
            values = values.transpose("arm", "opponent")
        values = values.to_pandas()
    square = getattr(values, "ndim", 0) == 2 and values.shape[0] == values.shape[1]
    if not (square and hasattr(values, "iloc")):
        return values, None
    rows = [str(label) for label in values.index]
    columns = [str(label) for label in values.columns]
    for side, labels in (("rows", rows), ("columns", columns)):
        twice = [label for at, label in enumerate(labels) if label in labels[:at]]
        if twice:
            raise InvalidPreferenceError(
                argument,
                f"must name every arm once in its {side}",
                twice[0],
                remedy="rename one",
            )
    counted = [str(position) for position in range(len(rows))]
    if set(rows) == set(columns):
        if rows != columns:
            values = values.iloc[:, [columns.index(label) for label in rows]]
        return values, None if rows == counted else tuple(rows)
    if rows == counted or columns == counted:
        return values, tuple(columns if rows == counted else rows)
    only_rows = [label for label in rows if label not in columns]
    only_columns = [label for label in columns if label not in rows]
    raise InvalidPreferenceError(
        argument,
        "must name the same arms in its rows and columns; only the rows have "
        f"{_listed(only_rows)}, only the columns {_listed(only_columns)}",
        values.shape,
        remedy="rename them, or add the rows and columns that are missing",
    )


def _listed(labels: list[str]) -> str:
    more = f" and {len(labels) - 5} more" if len(labels) > 5 else ""
    return ", ".join(map(repr, labels[:5])) + more

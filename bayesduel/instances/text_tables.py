"""Turn the text of a table into numbers and arm names, and say what is wrong with it.

Errors name the line and the column, both counted from 1 as editors do.
"""

import csv
import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

from bayesduel.files.csv_cells import unguarded
from theory.errors import InvalidPreferenceError
from theory.validation import MOST_ARMS, refuse_many_arms

# In the order of preference where two of them split a line equally well.
_SEPARATORS = (";", "\t", ",", " ")


_MOST_LINES, _LONGEST_LINE = 10 * MOST_ARMS, 100 * MOST_ARMS
"""Comments among them; and characters."""


class _Row(NamedTuple):
    line: int
    cells: list[str]


def parse_table(
    text: str, *, prices: bool = False
) -> tuple[Float64[np.ndarray, "K K"], tuple[str, ...]]:
    r"""Read a square table of probabilities, and its K names of arms if it has them.

    Cells are separated by semicolons, tabs, commas or spaces, whichever splits the last
    line into most numbers. Blank lines and lines that begin with # are skipped. A first
    row and a first column of arm names are recognized. With semicolons the decimal mark
    may be a comma. Numbers are finite and in [0, 1], or ``prices`` from 0 to infinity,
    written inf; nothing else is checked.

    Examples
    --------
    >>> values, arm_names = parse_table("tea,coffee\n0.5,0.7\n0.3,0.5\n")
    >>> arm_names
    ('tea', 'coffee')
    """
    rows, comma = _split(text)
    header = _header(rows, comma)
    body = rows[1:] if header else rows
    width = _width(body, header)
    labels = [_number(row.cells[0], comma) for row in body]
    texts = sum(label is None for label in labels)
    # A column of numbers names the arms only if it counts them.
    counts = all(label is not None and label.is_integer() for label in labels)
    has_names = width == len(body) + 1 and (texts > 0 or counts)
    if not has_names and (width != len(body) or texts == len(body)):
        trailing = all(not row.cells[-1].strip() for row in body)
        shape = len(body), width - (texts == len(body))
        remedy = f"there are {shape[0]} rows of {shape[1]} entries"
        remedy += ", the last of them empty" if trailing else ""
        raise InvalidPreferenceError(
            "the table", "must be square", shape, remedy=remedy
        )
    row_names = [row.cells[0].strip() for row in body] if has_names else []
    values = np.array(
        [
            [
                _entry(row, column, comma, prices)
                for column in range(int(has_names), width)
            ]
            for row in body
        ]
    )
    return values, _arm_names(header, row_names, width)


def _split(text: str) -> tuple[list[_Row], bool]:
    """Cut the text into rows of cells; also say whether 0,5 means one half."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    # Lists of cells take fifty times as much memory as a text of "0,0,0,...".
    if (num_lines := text.count("\n")) > _MOST_LINES:
        rule = f"must have at most {MOST_ARMS} arms, and a row of each"
        remedy = f"there are {num_lines} lines; leave some of the arms out"
        raise InvalidPreferenceError("the table", rule, num_lines, remedy=remedy)
    lines = [
        (number, line.strip(" "))
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    for number, line in lines:
        if len(line) > _LONGEST_LINE:
            rule = f"must have at most {MOST_ARMS} arms, and line {number} has "
            rule += f"{len(line)} characters"
            remedy = "leave some of the arms out"
            raise InvalidPreferenceError("the table", rule, line[:40], remedy=remedy)
    if not lines:
        remedy = "write a row of probabilities for each arm"
        raise InvalidPreferenceError(
            "the file", "must hold numbers", text, remedy=remedy
        )

    def cells(line: str, separator: str) -> list[str]:
        if separator == " ":
            line = " ".join(line.split())
        try:
            return next(csv.reader([line], delimiter=separator, strict=True))
        except csv.Error:  # an open quote; the cell will be reported as no number
            return line.split(separator)

    def numbers(separator: str) -> int:
        last = cells(lines[-1][1], separator)
        return sum(_number(cell, separator == ";") is not None for cell in last)

    refuse_many_arms(len(lines) - 1, "the table")
    separator = max(_SEPARATORS, key=numbers)
    rows = []
    for number, line in lines:
        rows.append(_Row(number, cells(line, separator)))
        # A name may stand before the numbers, and a separator behind them.
        refuse_many_arms(len(rows[-1].cells) - 2, "the table")
    return rows, separator == ";"


def _number(cell: str, comma: bool) -> float | None:
    """Return the number in a cell, or None when it is text."""
    # Python reads 0_5 as 5, and digits of any script.
    if "_" in cell or not cell.strip().isascii():
        return None
    try:
        return float(cell.replace(",", ".") if comma else cell)
    except ValueError:
        return None


def _header(rows: list[_Row], comma: bool) -> list[str]:
    """Return the first row's cells when it holds names, else nothing.

    A row of the matrix has 1/2 on the diagonal, so a row of names is one without a
    number between 0 and 1. Whether its first cell is the name of its row,
    the corner of a table with names on both sides, or the first column's name is
    told by the shape.
    """
    first = rows[0].cells
    if len(rows) == 1:
        # One row is either a name and a number, or names without a table.
        if all(_number(cell, comma) is None for cell in first):
            where, rule = f"line {rows[0].line}", "the table ends after its header"
            remedy = "rows of probabilities must follow"
            raise InvalidPreferenceError(where, rule, first, remedy=remedy)
        return []
    values = [_number(cell, comma) for cell in first]
    if any(value is not None and 0 < value < 1 for value in values):
        return []
    if any(value is None for value in values[1:]) or _number_labels(rows, values):
        return [cell.strip() for cell in first]
    return []


def _number_labels(rows: list[_Row], values: list[float | None]) -> bool:
    """Say whether a first row of numbers is a row of labels such as 1, 2, 3."""
    if any(value is None or not value.is_integer() for value in values[1:]):
        return False
    one_row_more = len(rows) == len(values) + 1
    return one_row_more or (values[0] is None and len(rows) == len(values))


def _width(body: list[_Row], header: list[str]) -> int:
    """Return the number of cells that every row of the body has."""
    width = len(body[0].cells)
    for row in body:
        if len(row.cells) != width:
            rule = f"has {len(row.cells)} cells, but line {body[0].line} has {width}"
            where, remedy = f"line {row.line}", "every row must have as many"
            raise InvalidPreferenceError(where, rule, row.cells, remedy=remedy)
    # R leaves the corner out: one name less than the rows have cells.
    if header and len(header) != width and len(header) != width - 1:
        rule = f"has {len(header)} cells, but line {body[0].line} has {width}"
        raise _wrong_header(rule, header)
    return width


def _wrong_header(rule: str, header: list[str]) -> InvalidPreferenceError:
    remedy = "name each column once"
    return InvalidPreferenceError("the header", rule, header, remedy=remedy)


def _entry(row: _Row, column: int, comma: bool, price: bool) -> float:
    """Return a cell as a number in [0, 1], or as a price."""
    cell = row.cells[column].strip()
    value = _number(cell, comma)
    cell = cell if len(cell) <= 40 else f"{cell[:40]}..."
    where = f"line {row.line}, column {column + 1}"
    if value is None:
        rule = f"{cell!r} is not a number" if cell else "the cell is empty"
        remedy = "write one, with a point, and commas or spaces between cells"
        raise InvalidPreferenceError(where, rule, cell, remedy=remedy)
    if price and not value >= 0:
        remedy = "entries must be 0 or more (row i, column j: the price of a duel of i "
        remedy += "and j), inf where a pair cannot be asked"
        rule = f"{cell} is not a price"
        raise InvalidPreferenceError(where, rule, value, remedy=remedy)
    if not price and not (math.isfinite(value) and 0 <= value <= 1):
        remedy = "entries must lie in [0, 1] (row i, column j: the probability that i "
        remedy += "beats j)"
        rule = f"{cell} is not a probability"
        raise InvalidPreferenceError(where, rule, value, remedy=remedy)
    return value


def _arm_names(header: list[str], row_names: list[str], width: int) -> tuple[str, ...]:
    """Return the names of the arms, which must agree where both sides have them."""
    num_arms = width - bool(row_names)
    if header and not row_names and len(header) != width:
        raise _wrong_header(f"has {len(header)} cells for {width} columns", header)
    column_names = header[-num_arms:]
    for column, row in zip(column_names, row_names, strict=False):
        if column != row:
            rule = "must name the same arms in the same order"
            remedy = f"column {column!r} stands where row {row!r} does"
            raise InvalidPreferenceError(
                "rows and columns", rule, column, remedy=remedy
            )
    names = tuple(map(unguarded, column_names or row_names))
    for position, name in enumerate(names):
        if not name or name in names[:position]:
            rule, remedy = "must be distinct and not empty", f"rename arm {position}"
            raise InvalidPreferenceError("arm names", rule, name, remedy=remedy)
    return names

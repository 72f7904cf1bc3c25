"""Cells of CSV files that a spreadsheet would take for formulas, made texts."""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from bayesduel.arguments.control_characters import visible
from bayesduel.files.user_files import number

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["GUARDED", "guarded", "guarded_frame", "guarded_rows", "unguarded"]

GUARDED = (
    "cells that begin with =, +, - or @ and are no numbers have a ' before them: a "
    "spreadsheet would take them for formulas; what reads votes here drops it"
)

_FORMULA = re.compile(r"'*[=+\-@\t\r\uff0b\uff0d\uff1d\uff20]")
_GUARD = re.compile(r"'+(?=[=+\-@\t\r\uff0b\uff0d\uff1d\uff20])")


def guarded(cell: Any) -> Any:
    """Return a cell with an apostrophe before it where it might be a formula.

    Numbers stay numbers, also those written as text, such as -3. Control characters
    but line ends and tabs are written out.

    Examples
    --------
    >>> [guarded(cell) for cell in ("tea", "=1+1", "-3", "-3+2", -3.5, None)]
    ['tea', "'=1+1", '-3', "'-3+2", -3.5, None]
    """
    if not isinstance(cell, str):
        return cell
    is_formula = _FORMULA.match(cell) is not None and number(cell) is None
    return f"{"'" * is_formula}{visible(cell, lines=True)}"


def unguarded(text: str) -> str:
    """Return what :func:`guarded` was given.

    No name begins with an apostrophe before such a character, as it is dropped wherever
    names are read.

    Examples
    --------
    >>> unguarded("'=1+1"), unguarded("'tis tea")
    ('=1+1', "'tis tea")
    """
    return _GUARD.sub("", text, count=1) if text.startswith("'") else text


def guarded_rows(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of a table whose titles and cells are guarded."""
    return [
        {guarded(title): guarded(cell) for title, cell in row.items()} for row in rows
    ]


def guarded_frame(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a table whose titles and texts are guarded; itself if there is nothing."""
    import pandas as pd

    guarded_table = frame.rename(columns=guarded)
    texts = guarded_table.select_dtypes(["object", "string"])
    for title in texts:
        column = texts[title]
        cells = [guarded(cell) for cell in column]
        guarded_table[title] = pd.Series(cells, index=column.index, dtype=column.dtype)
    return frame if guarded_table.equals(frame) else guarded_table

"""A user's table as texts, from CSV, TSV, JSON, lines of JSON, or Parquet."""

import io
import json
import os
from typing import Any

from bayesduel.errors import ComparisonDataError
from bayesduel.files.folders import as_path
from bayesduel.files.user_files import decoded, is_json, read_bytes, rows_of

_PARQUET = b"PAR1"

type Table = tuple[list[str], list[list[str]]]
"""Titles of columns, and the cells of every row."""


def read_table(path: str | os.PathLike[str]) -> Table:
    """Return titles and cells of a table; the format is told from what is in the file.

    ``OSError`` if there is no such file. ``ComparisonDataError`` if it is no table, or
    the package that reads its format is not installed.
    """
    file = as_path("path", path, ComparisonDataError)
    content = read_bytes(file, error=ComparisonDataError)
    if content.startswith(_PARQUET):
        return _from_parquet(content, file.name)
    text = decoded(content, path, ComparisonDataError)
    if is_json(text.lstrip()):
        return _from_json(text, file.name)
    rows = rows_of(text, file.name, separators=",;\t", error=ComparisonDataError)
    if len(rows) < 2:
        rule = "needs a header and at least one row"
        raise ComparisonDataError(file.name, rule, rows)
    header = rows[0]
    for row, cells in enumerate(rows[1:]):
        if len(cells) != len(header):
            rule = f"row {row} has {len(cells)} cells, the header {len(header)}"
            raise ComparisonDataError(file.name, rule, cells)
    return header, rows[1:]


def _from_parquet(content: bytes, name: str) -> Table:
    import pandas as pd

    try:
        frame = pd.read_parquet(io.BytesIO(content))
    except ImportError as error:
        rule = "is in Parquet, which needs a package that is not installed"
        remedy = "install pyarrow, or save the table as CSV"
        raise ComparisonDataError(name, rule, str(error), remedy=remedy) from error
    except Exception as error:  # What a damaged file raises depends on the package.
        rule = f"is in Parquet, and cannot be read: {error}"
        raise ComparisonDataError(name, rule, str(error)) from error
    records = frame.astype(object).where(frame.notna(), None)
    return _from_records(records.to_dict("records"), name)


def _from_json(text: str, name: str) -> Table:
    try:
        if text.lstrip().startswith("["):
            return _from_records(json.loads(text), name)
        lines = [line for line in text.split("\n") if line.strip()]
        return _from_records(list(map(json.loads, lines)), name)
    except (json.JSONDecodeError, RecursionError) as error:
        where = getattr(error, "lineno", 1)
        rule = f"is no JSON: line {where}: {str(error).partition(':')[0]}"
        remedy = "give an array of records, or one record a line"
        raise ComparisonDataError(name, rule, text[:40], remedy=remedy) from error


def _from_records(records: Any, name: str) -> Table:
    """Return the table of records with the same or other fields."""
    if not isinstance(records, list) or not records:
        rule = "needs at least one record"
        raise ComparisonDataError(name, rule, records)
    titles: dict[str, None] = {}
    for row, record in enumerate(records):
        if not isinstance(record, dict):
            rule = f"row {row} must be a record, as {{'left': 'tea', ...}}"
            remedy = "pandas writes such a file by to_json(..., orient='records')"
            raise ComparisonDataError(name, rule, record, remedy=remedy)
        titles |= dict.fromkeys(map(str, record))
    rows = [[_cell(record.get(title)) for title in titles] for record in records]
    return list(titles), rows


def _cell(value: Any) -> str:
    """Return a value as the cell of a table; what is missing is an empty one."""
    if value is None or value != value:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | dict | list):
        return json.dumps(value, default=str)
    return str(value)

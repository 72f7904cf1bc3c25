"""Tables of users as data frames: read from files, rows selected, cells understood."""

from __future__ import annotations

import bz2
import csv
import io
import json
import logging
import lzma
import os
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from jaxtyping import Bool, Float64, Int64, Shaped
from numpy.typing import NDArray

from bayesduel.errors import ComparisonDataError, near_names
from bayesduel.files.folders import as_path
from bayesduel.files.user_files import (
    decoded,
    is_json,
    most_unpacked,
    no_table,
    number,
    read_bytes,
)
from bayesduel.votes.checks import (
    MOST_LABELS,
    MOST_VOTES,
    composed,
    refuse,
    shortened,
    whole_numbers_as_text,
)
from theory.arguments import one_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Table", "keep_rows", "read_table"]

_LOGGER = logging.getLogger(__name__)

MISSING = frozenset(
    ["", "NA", "N/A", "n/a", "<NA>", "#N/A", "#N/A N/A", "#NA", "NaN", "nan", "-NaN",
     "-nan", "NaT", "NULL", "null", "None", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"]
)  # fmt: skip
"""Cells without a value, as pandas reads them."""

_YES_OR_NO = {word: True for word in "true yes 1 1.0 t y".split()}
_YES_OR_NO |= {word: False for word in "false no 0 0.0 f n".split()}

_EXCEL, _PARQUET, _ZSTD = b"PK\x03\x04", b"PAR1", b"\x28\xb5\x2f\xfd"
_OLD_EXCEL = b"\xd0\xcf\x11\xe0"
_STATA = re.compile(rb"<stata_dta>|[\x69-\x73][\x01\x02]\x01\x00")
_SEPARATOR = re.compile(r'"?sep=(.)"?\r?\n', re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"')
_LONGEST_HEADER = 2**20  # Characters.

# A comma that may be decimal, or separate thousands.
_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?")
_GROUPS = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:\.[0-9]{3})+")
_TEXT_OF_NUMBERS = re.compile(r"[0-9.eE+\-\n]*")
# Large whole numbers as pandas and Excel write them once they are floats.
_ROUNDED = re.compile(r"[0-9](?:\.[0-9]+)?[eE]\+[0-9]+")
_CONDITION = re.compile(r"\s*(==|!=|>=|<=|=|<|>)\s*(.*)", re.DOTALL)
_COMPARE = {"<": np.less, "<=": np.less_equal,
            ">": np.greater, ">=": np.greater_equal}  # fmt: skip

type Needed = Callable[[Sequence[str]], Collection[str]]
"""Given the titles of a table, returns those of the columns that will be read."""


def read_table(source: str | os.PathLike[str]) -> pd.DataFrame:
    r"""Read a table from a file, without interpreting its cells.

    Parameters
    ----------
    source : str or path-like
        CSV or TSV in UTF-8 with a header, separated by commas, semicolons, tabs or bars
        (also named in a first line ``sep=;``); JSON, an array of records or one record
        a line; Parquet, the first sheet of an Excel workbook, or Stata, where pandas
        finds the package that reads them. Text may be compressed with gzip, bzip2, xz,
        zstd or zip. The content decides what a file is, not its name.

    Returns
    -------
    pandas.DataFrame
        Cells of text files as text, also those that look like numbers or like missing
        values; cells of other formats as they are stored. The index counts the rows of
        the file from 0.

    Raises
    ------
    OSError
        If the file cannot be read.
    ComparisonDataError
        If it holds no table, is damaged or too large, or needs a package that is not
        installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "drinks.csv")
    ...     _ = path.write_text("left,right,winner\n007,NA,left\n")
    ...     read_table(path)
      left right winner
    0  007    NA   left
    """
    return _read(source, None)


# Columns that are not needed stand there as bytes of length 1, without their text:
# making texts of a column that nobody reads takes longer than all the rest.
def _read(source: Any, needed: Needed | None) -> pd.DataFrame:
    import pandas as pd

    file = as_path("source", source, ComparisonDataError)
    content = _unpacked(read_bytes(file, error=ComparisonDataError), file)
    readers = {"Parquet": _read_parquet, "Excel": _read_excel, "Stata": pd.read_stata}
    packages = {"Parquet": "pyarrow", "Excel": "openpyxl"}
    kind = "Stata" if _STATA.match(content) else ""
    kind = "Parquet" if content.startswith(_PARQUET) else kind
    kind = "Excel" if content.startswith((_EXCEL, _OLD_EXCEL)) else kind
    if kind:
        try:
            frame = readers[kind](io.BytesIO(content)).reset_index(drop=True)
        except ImportError as error:
            rule = f"is in the format of {kind}, which needs a package: {error}"
            remedy = f"install {packages.get(kind, 'it')}, or save the table as CSV"
            if kind in packages:
                remedy += "; pip install 'bayesduel[tables]' brings it"
            raise ComparisonDataError(file.name, rule, None, remedy=remedy) from error
        except ComparisonDataError as error:
            raise error.renamed(file.name, None) from error
        except Exception as error:  # Damaged files raise various errors.
            rule = f"is in the format of {kind}, and cannot be read: {error}"
            raise ComparisonDataError(file.name, rule, str(error)) from error
    else:
        text = decoded(content, file, ComparisonDataError)
        if is_json(text.lstrip()):
            del content
            frame = _from_json(text, file.name, needed)
        else:
            content = content if content.isascii() else text.encode()
            del text
            frame = _from_csv(content, file.name, needed)
    frame.columns = [composed(title) for title in frame.columns]
    if not len(frame):
        refuse(file.name, "needs a header and at least one row", list(frame.columns))
    frame.attrs["file"] = file.name
    return frame


def _unpacked(content: bytes, file: Path) -> bytes:
    """Unpack what is compressed otherwise than with gzip, up to a limit."""
    stream: Any = None
    packed = io.BytesIO(content)
    if content.startswith(b"BZh"):
        stream = bz2.BZ2File(packed)
    elif content.startswith(b"\xfd7zXZ"):
        stream = lzma.LZMAFile(packed)
    elif content.startswith(_ZSTD):
        try:
            # New in Python 3.14.
            from compression import zstd  # pyright: ignore[reportMissingImports]

            stream = zstd.ZstdFile(packed)
        except ImportError:
            try:
                import zstandard  # pyright: ignore[reportMissingImports]
            except ImportError:
                remedy = "install zstandard, or unpack it"
                rule = "is compressed with zstd, which needs a package"
                refuse(file.name, rule, remedy=remedy)
            stream = zstandard.ZstdDecompressor().stream_reader(packed)
    elif content.startswith(_EXCEL) and zipfile.is_zipfile(packed):
        archive = zipfile.ZipFile(packed)
        names = [name for name in archive.namelist() if not name.endswith("/")]
        if "[Content_Types].xml" in names:  # An Excel workbook.
            size = sum(member.file_size for member in archive.infolist())
            if size > most_unpacked(len(content)):
                rule = f"is a workbook that unpacks to {size:.0e} bytes"
                refuse(file.name, rule, remedy="save the table as CSV")
            return content
        names = [name for name in names if not name.startswith("__MACOSX/")]
        if len(names) != 1:
            rule = f"must hold one file, but holds {shortened(names) or 'none'}"
            remedy = "unpack it, and give the path of the table"
            refuse(file.name, rule, remedy=remedy)
        stream = archive.open(names[0])
    if stream is None:
        return content
    most, parts, total = most_unpacked(len(content)), [], 0
    try:
        while part := stream.read(2**20):
            parts.append(part)
            total += len(part)
            if total > most:
                rule = f"unpacks to more than {most:.0e} bytes"
                refuse(file.name, rule, remedy="unpack it, and look what it holds")
    except (OSError, EOFError, lzma.LZMAError, zipfile.BadZipFile, zlib.error) as error:
        rule = f"is compressed, and cut off or damaged ({error})"
        refuse(file.name, rule, remedy="copy or pack it again")
    return b"".join(parts)


# A text that is repeated a million times is stored once, in a few bytes: what the
# columns take in memory is asked before they are read.
def _read_parquet(file: io.BytesIO) -> pd.DataFrame:
    import pandas as pd

    try:
        from pyarrow.parquet import (  # pyright: ignore[reportMissingImports]
            ParquetFile,
        )
    except ImportError:  # There may be fastparquet, or pandas says what is missing.
        return pd.read_parquet(file)
    about = ParquetFile(file).metadata
    parts = [
        about.row_group(group).column(column)
        for group in range(about.num_row_groups)
        for column in range(about.num_columns)
    ]
    size = sum(part.total_uncompressed_size for part in parts)
    cells = sum(part.num_values for part in parts)
    if size > most_unpacked(len(file.getvalue())) or cells > MOST_LABELS:
        rule = f"unpacks to {size:.0e} bytes and {cells:.0e} cells"
        refuse("source", rule, remedy="save the columns of votes alone")
    columns = map(about.schema.column, range(about.num_columns))
    texts = [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]
    return pd.read_parquet(file, engine="pyarrow", read_dictionary=texts)


def _read_excel(file: io.BytesIO) -> pd.DataFrame:
    import pandas as pd

    book = pd.ExcelFile(file)
    first, *others = map(str, book.sheet_names)
    if others:
        words = "only the first sheet of the workbook is read, %r; not read: %s"
        _LOGGER.warning(words, first, shortened(others))
    return pd.read_excel(book, dtype=object, keep_default_na=False, na_values=[""])


def _from_csv(content: bytes, name: str, needed: Needed | None) -> pd.DataFrame:
    """Read text with separators by the parser of pandas, which leaves cells alone."""
    import pandas as pd

    head = content[:_LONGEST_HEADER].decode(errors="ignore")
    if problem := no_table(head, name):
        refuse(name, problem[0], head[:40], remedy=problem[1])
    if match := _SEPARATOR.match(head):  # Excel names the separator before the header.
        separator, skipped = match[1], match.end()
    else:
        skipped = len(head) - len(head.lstrip("\r\n"))
        titles = _QUOTED.sub("", head[skipped:]).partition("\n")[0]
        separator = max(",;\t|", key=titles.count)
    header: list[str] = []
    try:
        start = io.StringIO(head, newline="")
        start.seek(skipped)
        header = next(csv.reader(start, delimiter=separator, strict=True), [])
        if start.tell() == len(head) and len(content) > _LONGEST_HEADER:
            rule = f"has a header of more than {_LONGEST_HEADER:,} characters"
            refuse(name, rule, remedy="save the columns of votes alone")
        data = io.BytesIO(content)
        data.seek(len(head[: start.tell()].encode()))
        unread = _unread(header, needed)
        kinds: Any = {at: "S1" if at in unread else object for at in range(len(header))}
        with warnings.catch_warnings():
            # pandas drops the surplus of a first row that is too long.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            # A column more than the header has: a row that is too long fills it.
            frame = pd.read_csv(
                data, sep=separator, header=None,
                names=range(len(header) + 1), dtype=kinds | {len(header): "S1"},
                na_filter=False, index_col=False,
            )  # fmt: skip
    except pd.errors.ParserWarning:
        rule = f"row 0 has more cells than the header, {len(header)}"
        remedy = "remove lines above the header, such as comments"
        refuse(name, rule, header, remedy=remedy)
    except (pd.errors.ParserError, csv.Error) as error:
        where = re.search(r"line (\d+), saw (\d+)", str(error))
        rule, remedy = str(error), ""
        if where:
            rule = f"row {int(where[1]) - 1} has {where[2]} cells, the header "
            rule += str(len(header))
            remedy = "look for a separator within a cell, which needs quotes"
        elif "EOF inside string" in rule or isinstance(error, csv.Error):
            rule = f"has a quote that is not closed ({rule})"
            remedy = "double quotes within a quoted cell"
        refuse(name, rule, remedy=remedy)
    except pd.errors.EmptyDataError:
        return pd.DataFrame([], columns=header, dtype=object)
    too_long = frame.pop(len(header)).to_numpy() != b""
    if too_long.any():
        row = int(np.argmax(too_long))
        rule = f"row {row} has {len(header) + 1} cells, the header {len(header)}"
        refuse(name, rule)
    if header and not header[-1] and not any(frame[len(header) - 1]):
        frame, header = frame.iloc[:, :-1], header[:-1]  # A separator ends each line.
    frame.columns = header
    frame.attrs |= {"unread": unread} if unread else {}
    if separator == ";":
        frame.attrs["decimal"] = ","
    return frame


def _unread(titles: Sequence[str], needed: Needed | None) -> set[int]:
    """Return the positions of columns that are not needed."""
    named = [composed(title) for title in titles]
    read = {*named} if needed is None else {"", *needed(named)}
    return {at for at, title in enumerate(named) if title not in read}


def _from_json(text: str, name: str, needed: Needed | None) -> pd.DataFrame:
    """Read records, whose cells keep their types; missing fields are None."""
    import pandas as pd

    records = _records(text, name)
    remedy = "pandas writes such a file by to_json(..., orient='records')"
    for row, record in enumerate(records):
        if not isinstance(record, dict):
            rule = f"row {row} must be a record, as {{'left': 'tea', ...}}"
            refuse(name, rule, record, remedy=remedy)
    if not records:
        refuse(name, "needs at least one record", [])
    titles = [*dict.fromkeys(title for record in records for title in record)]
    nested = [isinstance(cell, dict | list) for cell in records[0].values()]
    if len(records) == 1 and all(nested):
        rule = "is one object of objects or lists, and no list of records"
        refuse(name, rule, titles, remedy=remedy)
    unread = _unread(titles, needed)
    frame = pd.DataFrame(
        {
            title: np.zeros(len(records), np.int8) if at in unread
            else pd.Series([record.get(title) for record in records], dtype=object)
            for at, title in enumerate(titles)
        }
    )  # fmt: skip
    frame.attrs |= {"unread": unread} if unread else {}
    return frame


def _records(text: str, name: str) -> list[Any]:
    """Return the records of an array, or of lines."""
    line = 1
    try:
        if text.lstrip().startswith("["):
            return json.loads(text)
        records = []
        for line, record in enumerate(text.split("\n"), 1):  # noqa: B007
            if record.strip():
                records.append(json.loads(record))
        return records
    except (ValueError, RecursionError) as error:  # Also a number of too many digits.
        line += getattr(error, "lineno", 1) - 1
        rule = f"is no JSON: line {line}: {str(error).partition(':')[0]}"
        remedy = "give an array of records, or one record a line"
        refuse(name, rule, text[:40], remedy=remedy)


def keep_rows(frame: pd.DataFrame, conditions: str | Sequence[str]) -> pd.DataFrame:
    """Select the rows of a table that meet all conditions; nothing is executed.

    Parameters
    ----------
    frame : pandas.DataFrame
        As `read_table` returns it, or any other.
    conditions : str or sequence of str
        Each is ``COLUMN=VALUE``, or has ``!=``, ``<``, ``<=``, ``>`` or ``>=`` in place
        of the sign. ``=`` and ``!=`` compare text: 1.10 is not 1.1, 007 is not 7; only
        7.0 is 7, and true is True. The others compare numbers if the value is one, and
        text otherwise, such as dates; rows without a value do not meet them.
        ``COLUMN=`` selects rows without a value, ``COLUMN!=`` rows with one.

    Returns
    -------
    pandas.DataFrame
        With the rows and the index of ``frame``.

    Raises
    ------
    ComparisonDataError
        If a condition names no column, or no row meets it, or it compares a number with
        a cell that is none; names the row.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"turn": [1, 2, 2], "language": ["en", "en", "de"]})
    >>> keep_rows(frame, ["turn>1", "language!=de"])
       turn language
    1     2       en
    """
    table = Table(frame, "where")
    table.keep_rows(conditions)
    return frame.iloc[table.rows]


class Table:
    """The cells of a table by the titles of columns, as labels and as numbers.

    Parameters
    ----------
    source : path or pandas.DataFrame
        A file, as :func:`read_table` reads it, or a data frame.
    name : str, optional
        The name in errors; by default that of the file.
    missing : {"refuse", "skip", "keep"} or None
        As in ``read_comparisons``; None where a reader has no such option.
    decimal : {".", ","}, optional
        The decimal sign of numbers. By default the point, and, in files separated by
        semicolons, the comma.
    names : sequence of str or None
        Labels, even if they are words for missing values.
    needed : callable, optional
        Returns the columns of a file that are read at once, given the titles. A column
        that is asked for later costs reading the file once more.
    """

    def __init__(
        self,
        source: Any,
        name: str = "",
        *,
        missing: str | None = None,
        decimal: str | None = None,
        names: Iterable[Any] | None = None,
        needed: Needed | None = None,
    ) -> None:
        if missing is not None:
            known = "refuse", "skip", "keep"
            one_of(missing, known, "missing", kind=ComparisonDataError)
        if decimal is not None:
            one_of(decimal, (".", ","), "decimal", kind=ComparisonDataError)
        is_frame = hasattr(source, "iloc")
        if is_frame and (getattr(source, "ndim", 0) != 2 or not len(source)):
            rule = "must be a data frame with at least one row"
            refuse("votes", rule, getattr(source, "shape", source))
        self._source = source
        self.frame = source if is_frame else _read(source, needed)
        self.name = name or self.frame.attrs.get("file", "data frame")
        self.decimal = decimal
        self._commas: set[str] = set()  # Columns whose decimal commas were told of.
        how = {None: " by a condition ({where})", "keep": ""}
        how = how.get(missing, " ({missing='skip'})")
        self._left_out = f"leave such rows out{how}"
        self._kept = None if missing is None else "say so ({missing='keep'})"
        nothing = {""} if missing == "keep" else MISSING
        self._nothing = nothing - {composed(name) for name in names or () if name}
        self.titles = [composed(title) for title in self.frame.columns]
        self.rows = np.arange(len(self.frame))
        """The numbers, in the file, of the rows that are left."""
        self._labels: dict[str, tuple[NDArray[np.int64], list[str]]] = {}

    def usual(self, name: str) -> str | None:
        """Return a usual title, or the only one that differs in capitals and signs."""
        if name in self.titles:
            return name
        like = [title for title in self.titles if plain(title) == plain(name)]
        return like[0] if len(like) == 1 else None

    def _cells(self, title: str) -> Any:
        """Return a column of the whole file."""
        wanted = composed(title)
        places = [at for at, known in enumerate(self.titles) if known == wanted]
        if not places:
            rule = f"there is no column {title!r}, only {shortened(self.titles)}"
            remedy = near_names(str(title), self.titles).rstrip()
            refuse(self.name, rule, title, remedy=remedy)
        if len(places) > 1:
            both = " and ".join(str(index + 1) for index in places)
            rule = f"columns {both} are both called {title!r}"
            refuse(self.name, rule, title, remedy="rename or remove all but one")
        if self._source is not self.frame and places[0] in self.frame.attrs.get(
            "unread", ()
        ):
            self.frame = _read(self._source, None)
        return self.frame.iloc[:, places[0]]

    def labels(self, title: str) -> tuple[Int64[np.ndarray, " row"], list[str]]:
        """Return a column as places among its labels, -1 where a value is missing."""
        title = composed(title)
        if title not in self._labels:
            codes, names = self._read_labels(self._cells(title))
            is_cut = len(codes) != len(self.rows)
            self._labels[title] = codes[self.rows] if is_cut else codes, names
        return self._labels[title]

    def _read_labels(self, cells: Any) -> tuple[NDArray[np.int64], list[str]]:
        import pandas as pd

        values = cells.to_numpy() if cells.dtype == object else cells
        try:
            codes, different = pd.factorize(values)
            # 1, 1.0 and True are equal, so only texts are told apart by their values.
            is_text = all(isinstance(value, str) for value in different)
        except TypeError:  # Lists have no hash.
            codes, different, is_text = np.zeros(0, dtype=np.int64), (), False
        if cells.dtype == object and not is_text:
            texts = np.array([_text(value) for value in values], dtype=object)
            codes, different = pd.factorize(texts)
        texts = [composed(_text(value) or "") for value in list(different)]
        position: dict[str, int] = {}
        renamed = [
            -1 if text in self._nothing else position.setdefault(text, len(position))
            for text in texts
        ]
        if renamed == [*range(len(renamed))] and not (codes < 0).any():
            return codes.astype(np.int64, copy=False), list(position)
        return np.array([*renamed, -1], dtype=np.int64)[codes], list(position)

    def texts(self, title: str) -> Shaped[np.ndarray, " row"]:
        """Return a column as an array of texts, empty where there is no value."""
        codes, names = self.labels(title)
        return np.array([*names, ""], dtype=object)[codes]

    def same_labels(
        self, *titles: str
    ) -> tuple[list[Int64[np.ndarray, " row"]], list[str]]:
        """Return columns as places among the sorted labels of them all; 7.0 is 7."""
        columns = [self.labels(title) for title in titles]
        used = {name for column in columns for name in _used(*column)}
        for title, (codes, names) in zip(titles, columns, strict=True):
            lost = np.array([*map(_ROUNDED.fullmatch, names), None], bool)[codes]
            remedy = "read such numbers as text (dtype=str) where the table was made"
            words = "is a number whose last digits are lost, and no name"
            self.check(title, ~lost, words, remedy)
        renamed = whole_numbers_as_text(used)
        if merged := sorted({new for old, new in renamed.items() if new in used}):
            _LOGGER.warning(
                "%s: whole numbers written as decimals are the same labels: %s",
                self.name,
                shortened([f"{label}.0 and {label}" for label in merged]),
            )
        labels = sorted({renamed.get(name, name) for name in used})
        position = {label: at for at, label in enumerate(labels)}
        return [
            np.array([*(position.get(renamed.get(n, n), -1) for n in names), -1])[codes]
            for codes, names in columns
        ], labels

    def keep_rows(self, conditions: str | Sequence[str]) -> None:
        """Leave out the rows that do not meet all conditions; see :func:`keep_rows`."""
        given = [conditions] if isinstance(conditions, str) else conditions
        if not isinstance(given, Sequence) or not all(
            isinstance(condition, str) for condition in given
        ):
            rule = "must be a condition such as language=English, or several in a list"
            refuse("where", rule, conditions)
        for condition in given:
            title, sign, value = self._parsed(condition)
            meets = self._meets(condition, title, sign, value)
            if not meets.any():
                held = shortened(_used(*self.labels(title))) or "no value"
                remedy = f"column {title!r} holds {held}"
                if re.search(r"\b(and|or)\b|&|\|", value):
                    remedy += "; repeat {where} for several conditions"
                rule = f"holds in none of the {len(self.rows)} rows"
                refuse("where", rule, condition, remedy=remedy)
            self._keep(meets)

    def _keep(self, mask: NDArray[np.bool_]) -> None:
        self.rows = self.rows[mask]
        self._labels = {
            title: (codes[mask], names)
            for title, (codes, names) in self._labels.items()
        }

    def _parsed(self, condition: str) -> tuple[str, str, str]:
        text = composed(condition)
        for title in sorted(filter(None, self.titles), key=len, reverse=True):
            match = _CONDITION.fullmatch(text.removeprefix(title))
            if text.startswith(title) and match:
                value = composed(match[2])
                quoted = len(value) > 1 and value[0] == value[-1] in "'\""
                if quoted and value not in self.labels(title)[1]:
                    value = composed(value[1:-1])
                return title, match[1].replace("==", "="), value
        rule = (
            "must be COLUMN=VALUE, or with !=, <, <=, > or >=, where COLUMN is one of "
            f"{shortened(self.titles, 12)}"
        )
        remedy = "repeat {where} for several conditions, or select rows with pandas"
        refuse("where", rule, condition, remedy=remedy)

    def _meets(
        self, condition: str, title: str, sign: str, value: str
    ) -> Bool[np.ndarray, " row"]:
        codes, names = self.labels(title)
        if sign in ("=", "!="):
            whole = whole_numbers_as_text([value]).get(value, value)
            wanted = {value, whole, f"{whole}.0", f"{whole},0"}
            if value.lower() in ("true", "false"):
                wanted = {value.lower(), value.capitalize(), value.upper()}
            same = [name in wanted for name in names]
            equal = np.array([*same, value in MISSING])[codes]
            return equal if sign == "=" else ~equal
        (limit,) = self.numbers_in(title, [value])
        is_text = bool(np.isnan(limit)) and not has_comma(value)
        if is_text:
            compared: Any = self.texts(title)
            held = self.numbers_in(title, _used(codes, names))
            if not value or (held.size and not np.isnan(held).any()):
                refuse("where", f"must compare column {title!r} with a number",
                       condition)  # fmt: skip
        else:
            compared = self.numbers(title, least=-np.inf, most=np.inf, gaps=True)
        there, met = codes >= 0, np.zeros(len(self.rows), dtype=bool)
        met[there] = _COMPARE[sign](compared[there], value if is_text else limit)
        return met

    def skip_missing(self, titles: Sequence[str], *, say: bool = True) -> None:
        """Leave out the rows without a value in one of the columns, and log it."""
        complete = np.all([self.labels(title)[0] >= 0 for title in titles], axis=0)
        if not complete.any():
            rule = f"has no row with a value in each of {', '.join(titles)}"
            refuse(self.name, rule, list(titles))
        if say and not complete.all():
            words = "%s: %d of %d rows left out, where something is missing"
            _LOGGER.warning(words, self.name, np.sum(~complete), len(self.rows))
        self._keep(complete)

    def check_values(self, titles: Sequence[str], answers: Sequence[str] = ()) -> None:
        """Raise about the first row without a value, or an answer, in the columns."""
        gaps = np.array([self.labels(title)[0] < 0 for title in (*titles, *answers)])
        if not gaps.any():
            return
        row = int(np.argmax(gaps.any(axis=0)))
        index = int(np.argmax(gaps[:, row]))
        title = (*titles, *answers)[index]
        cell = self.text_at(title, row)
        is_name = f"; if {cell!r} is a name here, {self._kept}"
        is_name *= bool(cell and self._kept)
        if index < len(titles):
            self.refuse(title, row, "has no value", self._left_out + is_name)
        what = f"is {cell!r}, which is no answer" if cell else "has no answer"
        remedy = f"{self._left_out}, or write the word for a tie{is_name}"
        refuse("winner", f"row {self.rows[row]} {what}", cell, remedy=remedy)

    def has_numbers(self, title: str) -> bool:
        """Return whether all cells of a column are numbers."""
        codes, names = self.labels(title)
        there = bool((codes >= 0).all())
        return there and all(number(name) is not None for name in _used(codes, names))

    def numbers(
        self,
        title: str,
        *,
        least: float = 0.0,
        most: float = MOST_VOTES,
        gaps: bool = False,
        flags: bool = False,
    ) -> Float64[np.ndarray, " row"]:
        """Return a column of numbers, perhaps with gaps (nan), or true and false."""
        codes, names = self.labels(title)
        values = self.numbers_in(title, names, flags=flags)
        values = np.array([*values, np.nan])[codes]
        if (self.decimal or self.frame.attrs.get("decimal")) == ",":
            self._refuse_thousands(title, codes, names)
        nothing = np.isnan(values)
        wrong = nothing & ((codes >= 0) | (not gaps))
        for fits, rule in (
            (~wrong, "is no number"),
            (nothing | (values >= least), "is negative"),
            (nothing | (values <= most), f"is above {most:.0e}"),
        ):
            if not fits.all():
                row = int(np.argmin(fits))
                remedy = self._left_out * bool(codes[row] < 0)
                if has_comma(self.text_at(title, row)):
                    rule = "is a number with a comma"
                    remedy = "say what it is ({decimal=','}), or write a point"
                self.refuse(title, row, rule, remedy)
        return values

    def _refuse_thousands(
        self, title: str, codes: NDArray[np.int64], names: Sequence[str]
    ) -> None:
        """Refuse 1.000 beside decimal commas, unless other points are no thousands."""
        points = [name for name in _used(codes, names) if "." in name]
        if not points or not all(map(_THOUSANDS.fullmatch, points)):
            return
        row = int(np.argmax(codes == names.index(points[0])))
        if isinstance(self._cells(title).iloc[self.rows[row]], str):
            remedy = "write it without a point, or say that it is decimal "
            remedy += "({decimal='.'})"
            self.refuse(title, row, "may be a thousand or have a decimal point", remedy)

    def numbers_in(
        self, title: str, names: Sequence[str], *, flags: bool = False
    ) -> Float64[np.ndarray, " text"]:
        """Return the number in each text of a column, nan where it is none."""
        if _TEXT_OF_NUMBERS.fullmatch("\n".join(names)):
            try:
                return np.array(names, dtype=np.float64)
            except ValueError:
                pass  # Some are not, such as 1-2.
        words = {"true": 1.0, "false": 0.0} if flags else {}
        values = [
            words.get(name.lower()) if (value := number(name)) is None else value
            for name in names
        ]
        decimal = self.decimal or self.frame.attrs.get("decimal", ".")
        if decimal == "," and None in values:
            commas = [name for name in names if has_comma(name)]
            # 1,000 alone may be a thousand; said to be a decimal comma it is 1.
            if self.decimal or not all(map(_GROUPS.fullmatch, commas)):
                values = [
                    number(name.replace(",", ".")) if value is None else value
                    for name, value in zip(names, values, strict=True)
                ]
                if commas and self.decimal is None and title not in self._commas:
                    self._commas.add(title)
                    words = "%s: commas in column %r were read as decimal commas"
                    _LOGGER.warning(words, self.name, title)
        return np.array([np.nan if v is None else v for v in values], dtype=np.float64)

    def whole_numbers(
        self, title: str, remedy: str = "", *, least: float = 0.0, flags: bool = False
    ) -> Float64[np.ndarray, " row"]:
        """Return a column of whole numbers from ``least``, 0 by default, to 10^15."""
        values = self.numbers(title, least=least, flags=flags)
        self.check(title, values == np.round(values), "is no whole number", remedy)
        return values

    def yes_or_no(self, title: str) -> Bool[np.ndarray, " row"]:
        """Return a column of 0 and 1, which may be written as words."""
        codes, names = self.labels(title)
        words = [_YES_OR_NO.get(name.lower()) for name in names]
        known = np.array([*(word is not None for word in words), False])[codes]
        self.check(title, known, "must be 1 or 0, and is neither true nor false")
        return np.array([*map(bool, words), False])[codes]

    def text_at(self, title: str, row: int) -> str:
        """Return the cell of a row that is left, as text."""
        cell = self._cells(title).iloc[self.rows[row]]
        return composed(_text(cell) or "")

    def refuse(self, title: str, row: int, words: str, remedy: str = "") -> NoReturn:
        """Raise an error about a cell of a row that is left."""
        cell = self.text_at(title, row)
        shown = cell if len(cell) <= 40 else f"{cell[:40]}..."
        rule = f"row {self.rows[row]} of column {composed(title)!r} {words}: {shown!r}"
        refuse(self.name, rule, cell, remedy=remedy)

    def check(
        self, title: str, fits: Bool[np.ndarray, " row"], words: str, remedy: str = ""
    ) -> None:
        """Raise an error about the first row of a column that does not fit."""
        if not fits.all():
            self.refuse(title, int(np.argmin(fits)), words, remedy)

    def say_what_is_read(
        self, read: Mapping[str, Sequence[str]], level: int = logging.WARNING
    ) -> None:
        """Log which columns are read, and which are not, if there are any."""
        read = {role: list(map(composed, titles)) for role, titles in read.items()}
        known = {title for titles in read.values() for title in titles}
        if others := [title for title in self.titles if title not in known]:
            said = "; ".join(
                f"{role}: {', '.join(names)}" for role, names in read.items() if names
            )
            words = "column" if len(others) == 1 else "columns"
            words = f"%s: read %s; not read: {words} %s"
            _LOGGER.log(level, words, self.name, said, ", ".join(map(repr, others)))


def plain(title: str) -> str:
    """Return a title in small letters, without spaces and signs between words."""
    return re.sub(r"[\W_]+", "", title).casefold()


def has_comma(text: str) -> bool:
    """Return whether a text is a number with a comma."""
    return _COMMA.fullmatch(text) is not None


def _used(codes: NDArray[np.int64], names: Sequence[str]) -> list[str]:
    """Return the labels that occur in the rows that are left."""
    there = np.bincount(codes[codes >= 0], minlength=len(names)) > 0
    return [name for name, is_used in zip(names, there, strict=True) if is_used]


def _text(value: Any) -> str | None:
    """Return a value of a cell as text, None where there is none."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool | np.bool_):
        return None if value is None else str(bool(value)).lower()
    if isinstance(value, dict | list | tuple | np.ndarray):
        plain = value.tolist() if isinstance(value, np.ndarray) else value
        return json.dumps(plain, default=str, ensure_ascii=False)
    missing = type(value).__name__ in ("NAType", "NaTType") or value != value
    return None if missing else str(value)

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
from collections.abc import Iterable, Mapping, Sequence
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

_YES_OR_NO = {
    word: value
    for value, words in ((True, "true yes 1 1.0 t y"), (False, "false no 0 0.0 f n"))
    for word in words.split()
}

_EXCEL, _PARQUET, _ZSTD = b"PK\x03\x04", b"PAR1", b"\x28\xb5\x2f\xfd"
_OLD_EXCEL = b"\xd0\xcf\x11\xe0"
_STATA = re.compile(rb"<stata_dta>|[\x69-\x73][\x01\x02]\x01\x00")
_SEPARATOR = re.compile(r'"?sep=(.)"?\r?\n', re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"')
_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?")
_GROUPS = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+")
"""What may be a decimal comma, and may be a thousand as well."""

_LONGEST_HEADER = 2**20
"""Characters."""

_TEXT_OF_NUMBERS = re.compile(r"[0-9.eE+\-\n]*")
_ROUNDED = re.compile(r"[0-9](?:\.[0-9]+)?[eE]\+[0-9]+")
"""Large whole numbers as pandas and Excel write them once they are floats."""

_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:\.[0-9]{3})+")
_CONDITION = re.compile(r"\s*(==|!=|>=|<=|=|<|>)\s*(.*)", re.DOTALL)


def read_table(source: str | os.PathLike[str]) -> pd.DataFrame:
    r"""Read a table from a file, without interpreting its cells.

    Parameters
    ----------
    source : str or path-like
        CSV or TSV in UTF-8 with a header, separated by commas, semicolons, tabs or bars
        (also named in a first line ``sep=;``); JSON, an array of records or one record
        a line; Parquet, the first sheet of an Excel workbook, or Stata, where pandas
        finds the package that reads them.
        Text may be compressed with gzip, bzip2, xz, zstd or zip. The content decides
        what a file is, not its name.

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
    import pandas as pd

    file = as_path("source", source, ComparisonDataError)
    content = _unpacked(read_bytes(file, error=ComparisonDataError), file)
    readers = {"Parquet": _read_parquet, "Excel": _read_excel, "Stata": pd.read_stata}
    kind = ""
    if content.startswith(_PARQUET):
        kind = "Parquet"
    elif content.startswith((_EXCEL, _OLD_EXCEL)):
        kind = "Excel"
    elif _STATA.match(content):
        kind = "Stata"
    if kind:
        try:
            frame = readers[kind](io.BytesIO(content))
        except ImportError as error:
            rule = f"is in the format of {kind}, which needs a package: {error}"
            package = {"Parquet": "pyarrow", "Excel": "openpyxl"}.get(kind, "it")
            remedy = f"install {package}, or save the table as CSV"
            if package != "it":
                remedy += "; pip install 'bayesduel[tables]' brings it"
            raise ComparisonDataError(file.name, rule, None, remedy=remedy) from error
        except ComparisonDataError as error:
            raise error.renamed(file.name, None) from error
        except Exception as error:  # What a damaged file raises depends on the package.
            rule = f"is in the format of {kind}, and cannot be read: {error}"
            raise ComparisonDataError(file.name, rule, str(error)) from error
        frame = frame.reset_index(drop=True)
    else:
        text = decoded(content, file, ComparisonDataError)
        is_array = is_json(text.lstrip())
        frame = _from_json(text, file.name) if is_array else _from_csv(text, file)
    frame.columns = [composed(title) for title in frame.columns]
    if not len(frame):
        rule = "needs a header and at least one row"
        raise ComparisonDataError(file.name, rule, list(frame.columns))
    frame.attrs["file"] = file.name
    return frame


def _unpacked(content: bytes, file: Path) -> bytes:
    """Unpack what is compressed otherwise than with gzip, up to a limit."""
    stream: Any = None
    if content.startswith(b"BZh"):
        stream = bz2.BZ2File(io.BytesIO(content))
    elif content.startswith(b"\xfd7zXZ"):
        stream = lzma.LZMAFile(io.BytesIO(content))
    elif content.startswith(_ZSTD):
        try:
            # Of Python 3.14.
            from compression import zstd  # pyright: ignore[reportMissingImports]

            stream = zstd.ZstdFile(io.BytesIO(content))
        except ImportError:
            try:
                import zstandard  # pyright: ignore[reportMissingImports]
            except ImportError as error:
                rule = "is compressed with zstd, which needs a package"
                remedy = "install zstandard, or unpack it"
                raise ComparisonDataError(
                    file.name, rule, None, remedy=remedy
                ) from error
            stream = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(content))
    elif content.startswith(_EXCEL) and zipfile.is_zipfile(io.BytesIO(content)):
        archive = zipfile.ZipFile(io.BytesIO(content))
        names = [name for name in archive.namelist() if not name.endswith("/")]
        if "[Content_Types].xml" in names:  # An Excel workbook.
            size = sum(each.file_size for each in archive.infolist())
            if size > most_unpacked(len(content)):
                rule = f"is a workbook that unpacks to {size:.0e} bytes"
                remedy = "save the table as CSV"
                raise ComparisonDataError(file.name, rule, None, remedy=remedy)
            return content
        names = [name for name in names if not name.startswith("__MACOSX/")]
        if len(names) != 1:
            rule = f"must hold one file, but holds {shortened(names) or 'none'}"
            remedy = "unpack it, and give the path of the table"
            raise ComparisonDataError(file.name, rule, None, remedy=remedy)
        stream = archive.open(names[0])
    if stream is None:
        return content
    parts, total = [], 0
    most = most_unpacked(len(content))
    try:
        while part := stream.read(2**20):
            parts.append(part)
            total += len(part)
            if total > most:
                rule = f"unpacks to more than {most:.0e} bytes"
                remedy = "unpack it, and look what it holds"
                raise ComparisonDataError(file.name, rule, None, remedy=remedy)
    except (OSError, EOFError, lzma.LZMAError, zipfile.BadZipFile, zlib.error) as error:
        rule = f"is compressed, and cut off or damaged ({error})"
        raise ComparisonDataError(
            file.name, rule, None, remedy="copy or pack it again"
        ) from error
    return b"".join(parts)


def _read_parquet(file: io.BytesIO) -> pd.DataFrame:
    """Read a file whose columns fit into memory, each different text once.

    A text that is repeated a million times is stored once, in a few bytes.
    """
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
        remedy = "save the columns of votes alone"
        raise ComparisonDataError("source", rule, remedy=remedy)
    columns = map(about.schema.column, range(about.num_columns))
    texts = [each.path for each in columns if each.physical_type == "BYTE_ARRAY"]
    return pd.read_parquet(file, engine="pyarrow", read_dictionary=texts)


def _read_excel(file: io.BytesIO) -> pd.DataFrame:
    import pandas as pd

    book = pd.ExcelFile(file)
    first, *others = map(str, book.sheet_names)
    if others:
        words = "only the first sheet of the workbook is read, %r; not read: %s"
        _LOGGER.warning(words, first, shortened(others))
    return pd.read_excel(book, dtype=object, keep_default_na=False, na_values=[""])


def _from_csv(text: str, file: Path) -> pd.DataFrame:
    """Read text with separators by the parser of pandas, which leaves cells alone."""
    import pandas as pd

    if problem := no_table(text, file.name):
        raise ComparisonDataError(file.name, problem[0], text[:40], remedy=problem[1])
    if found := _SEPARATOR.match(text):  # Excel names the separator before the header.
        separator, text = found[1], text[found.end() :]
    else:
        text = text.lstrip("\r\n")
        titles = _QUOTED.sub("", text[:_LONGEST_HEADER]).partition("\n")[0]
        separator = max(",;\t|", key=titles.count)
    header: list[str] = []
    try:
        start = io.StringIO(text[:_LONGEST_HEADER], newline="")
        header = next(csv.reader(start, delimiter=separator, strict=True), [])
        if start.tell() == _LONGEST_HEADER < len(text):
            rule = f"has a header of more than {_LONGEST_HEADER:,} characters"
            remedy = "save the columns of votes alone"
            raise ComparisonDataError(file.name, rule, remedy=remedy)
        with warnings.catch_warnings():
            # Of a first row that is too long pandas leaves out what is too much.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            # A column more than the header has: a row that is too long fills it.
            frame = pd.read_csv(
                io.BytesIO(text[start.tell() :].encode()), sep=separator, header=None,
                names=range(len(header) + 1),
                dtype=object, na_filter=False, index_col=False,
            )  # fmt: skip
    except pd.errors.ParserWarning as error:
        rule = f"row 0 has more cells than the header, {len(header)}"
        remedy = "remove lines above the header, such as comments"
        raise ComparisonDataError(file.name, rule, header, remedy=remedy) from error
    except (pd.errors.ParserError, csv.Error) as error:
        where = re.search(r"line (\d+), saw (\d+)", str(error))
        rule, remedy = str(error), ""
        if where:
            row = int(where[1]) - 1
            rule = f"row {row} has {where[2]} cells, the header {len(header)}"
            remedy = "look for a separator within a cell, which needs quotes"
        elif "EOF inside string" in rule or isinstance(error, csv.Error):
            rule = f"has a quote that is not closed ({rule})"
            remedy = "double quotes within a quoted cell"
        raise ComparisonDataError(file.name, rule, None, remedy=remedy) from error
    except pd.errors.EmptyDataError:
        frame = pd.DataFrame([], columns=range(len(header) + 1), dtype=object)
    extra = frame.pop(len(header))
    if set(extra.unique()) - {""}:
        row = int((extra != "").to_numpy().argmax())
        rule = f"row {row} has {len(header) + 1} cells, the header {len(header)}"
        raise ComparisonDataError(file.name, rule, extra.iloc[row])
    if header and not header[-1] and {*frame[len(header) - 1]} == {""}:
        frame, header = frame.iloc[:, :-1], header[:-1]  # A separator ends each line.
    frame.columns = header
    if separator == ";":
        frame.attrs["decimal"] = ","
    return frame


def _from_json(text: str, name: str) -> pd.DataFrame:
    """Read records, whose cells keep their types; missing fields are None."""
    import pandas as pd

    line = 1
    try:
        if text.lstrip().startswith("["):
            records = json.loads(text)
        else:
            # One call instead of one for each line; a line that is no record by itself
            # is found by the slow way.
            lines = [each for each in enumerate(text.split("\n"), 1) if each[1].strip()]
            try:
                records = json.loads(f"[{','.join(each for _, each in lines)}]")
            except ValueError:
                records = []
            if len(records) != len(lines):
                records = []
                for at, each in lines:
                    line = at
                    records.append(json.loads(each))
    except (ValueError, RecursionError) as error:  # Also a number of too many digits.
        line += getattr(error, "lineno", 1) - 1
        rule = f"is no JSON: line {line}: {str(error).partition(':')[0]}"
        remedy = "give an array of records, or one record a line"
        raise ComparisonDataError(name, rule, text[:40], remedy=remedy) from error
    if not records:
        raise ComparisonDataError(name, "needs at least one record", records)
    titles: dict[str, None] = {}
    remedy = "pandas writes such a file by to_json(..., orient='records')"
    for row, record in enumerate(records):
        if not isinstance(record, dict):
            rule = f"row {row} must be a record, as {{'left': 'tea', ...}}"
            raise ComparisonDataError(name, rule, record, remedy=remedy)
        if record.keys() != titles.keys():
            titles |= dict.fromkeys(record)
    if len(records) == 1 and all(
        isinstance(each, dict | list) for each in records[0].values()
    ):
        rule = "is one object of objects or lists, and no list of records"
        raise ComparisonDataError(name, rule, [*titles], remedy=remedy)
    return pd.DataFrame(
        {
            title: pd.Series([each.get(title) for each in records], dtype=object)
            for title in titles
        }
    )


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
        How to treat rows without a value. With "keep" NA, nan, null, None and the
        like are labels, and only an empty cell has no value. None is "refuse", for
        readers that have no such option.
    decimal : {".", ","}, optional
        The decimal sign of numbers. By default the point, and, in files separated by
        semicolons, the comma.
    names : sequence of str or None
        Labels, even if they are words for missing values.
    """

    def __init__(
        self,
        source: Any,
        name: str = "",
        *,
        missing: str | None = None,
        decimal: str | None = None,
        names: Iterable[Any] | None = None,
    ) -> None:
        if missing is not None:
            known = "refuse", "skip", "keep"
            one_of(missing, known, "missing", kind=ComparisonDataError)
        if decimal is not None:
            one_of(decimal, (".", ","), "decimal", kind=ComparisonDataError)
        if hasattr(source, "iloc"):
            if getattr(source, "ndim", 0) != 2 or not len(source):
                rule = "must be a data frame with at least one row"
                raise ComparisonDataError(
                    "votes", rule, getattr(source, "shape", source)
                )
            self.frame = source
        else:
            self.frame = read_table(source)
        self.name = name or self.frame.attrs.get("file", "data frame")
        self.decimal = decimal
        self._commas: list[str] = []
        how = {None: " by a condition ({where})", "keep": ""}
        how = how.get(missing, " ({missing='skip'})")
        self._left_out = f"leave such rows out{how}"
        self._kept = None if missing is None else "say so ({missing='keep'})"
        nothing = {""} if missing == "keep" else MISSING
        self._nothing = nothing - {composed(name) for name in names or () if name}
        self.titles = [composed(title) for title in self.frame.columns]
        self._plain: dict[str, list[str]] = {}
        for title in self.titles:
            self._plain.setdefault(_plain(title), []).append(title)
        self.rows = np.arange(len(self.frame))
        """The numbers, in the file, of the rows that are left."""
        self._labels: dict[str, tuple[NDArray[np.int64], list[str]]] = {}

    @property
    def num_rows(self) -> int:
        """How many rows are left."""
        return len(self.rows)

    def usual(self, name: str) -> str | None:
        """Return the title that is a usual name, or the only one much like it.

        It may differ in capitals, and in spaces and signs between words.
        """
        like = self._plain.get(_plain(name), [])
        return name if name in self.titles else like[0] if len(like) == 1 else None

    def __contains__(self, title: object) -> bool:
        return title in self.titles

    def _cells(self, title: str) -> Any:
        """Return a column of the whole file."""
        places = [at for at, each in enumerate(self.titles) if each == composed(title)]
        if not places:
            rule = f"there is no column {title!r}, only {shortened(self.titles)}"
            remedy = near_names(str(title), self.titles).rstrip()
            raise ComparisonDataError(self.name, rule, title, remedy=remedy)
        if len(places) > 1:
            both = " and ".join(str(place + 1) for place in places)
            rule = f"columns {both} are both called {title!r}"
            remedy = "rename or remove all but one"
            raise ComparisonDataError(self.name, rule, title, remedy=remedy)
        return self.frame.iloc[:, places[0]]

    def labels(self, title: str) -> tuple[Int64[np.ndarray, " row"], list[str]]:
        """Return a column as places among its labels, -1 where a value is missing."""
        title = composed(title)
        if title not in self._labels:
            self._labels[title] = self._read_labels(self._cells(title))
        codes, names = self._labels[title]
        return codes[self.rows], names

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
        place: dict[str, int] = {}
        renamed = [
            -1 if text in self._nothing else place.setdefault(text, len(place))
            for text in texts
        ]
        return np.array([*renamed, -1], dtype=np.int64)[codes], list(place)

    def texts(self, title: str) -> Shaped[np.ndarray, " row"]:
        """Return a column as an array of texts, empty where there is no value."""
        codes, names = self.labels(title)
        return np.array([*names, ""], dtype=object)[codes]

    def same_labels(
        self, *titles: str
    ) -> tuple[list[Int64[np.ndarray, " row"]], list[str]]:
        """Return columns as places among the sorted labels of them all.

        A label such as 7.0 is 7, and a message names what was made one.
        """
        columns = [self.labels(title) for title in titles]
        used = {name for codes, names in columns for name in _used(codes, names)}
        renamed = whole_numbers_as_text(used)
        if rounded := [name for name in used if _ROUNDED.fullmatch(name)]:
            title, (codes, names) = next(
                each
                for each in zip(titles, columns, strict=True)
                if rounded[0] in _used(*each[1])
            )
            row = int(np.argmax(codes == names.index(rounded[0])))
            words = "is a number whose last digits are lost, and no name"
            remedy = "read such numbers as text (dtype=str) where the table was made"
            self.refuse(title, row, words, remedy)
        merged = sorted({new for old, new in renamed.items() if new in used})
        if merged:
            _LOGGER.warning(
                "%s: whole numbers written as decimals are the same labels: %s",
                self.name,
                shortened([f"{each}.0 and {each}" for each in merged]),
            )
        labels = sorted({renamed.get(name, name) for name in used})
        place = {label: at for at, label in enumerate(labels)}
        return [
            np.array([place.get(renamed.get(name, name), -1) for name in names] + [-1])[
                codes
            ]
            for codes, names in columns
        ], labels

    def keep_rows(self, conditions: str | Sequence[str]) -> None:
        """Leave out the rows that do not meet all conditions; see :func:`keep_rows`."""
        given = [conditions] if isinstance(conditions, str) else conditions
        if not isinstance(given, Sequence) or not all(
            isinstance(c, str) for c in given
        ):
            rule = "must be a condition such as language=English, or several in a list"
            raise ComparisonDataError("where", rule, conditions)
        for condition in given:
            kept = self._meets(condition)
            if not kept.any():
                rule = f"holds in none of the {self.num_rows} rows"
                title, _, value = self._parsed(condition)
                held = _used(*self.labels(title))
                remedy = f"column {title!r} holds {shortened(held) or 'no value'}"
                if re.search(r"\b(and|or)\b|&|\|", value):
                    remedy += "; repeat {where} for several conditions"
                raise ComparisonDataError("where", rule, condition, remedy=remedy)
            self.rows = self.rows[kept]

    def _parsed(self, condition: str) -> tuple[str, str, str]:
        text = composed(condition)
        for title in sorted(self.titles, key=len, reverse=True):
            if title and text.startswith(title):
                found = _CONDITION.fullmatch(text[len(title) :])
                if found:
                    value = composed(found[2])
                    held = self.labels(title)[1]
                    quoted = len(value) > 1 and value[0] == value[-1] in "'\""
                    if quoted and value not in held:
                        value = composed(value[1:-1])
                    return title, found[1].replace("==", "="), value
        rule = (
            "must be COLUMN=VALUE, or with !=, <, <=, > or >=, where COLUMN is one of "
            f"{shortened(self.titles, 12)}"
        )
        remedy = "repeat {where} for several conditions, or select rows with pandas"
        raise ComparisonDataError("where", rule, condition, remedy=remedy)

    def _meets(self, condition: str) -> Bool[np.ndarray, " row"]:
        title, sign, value = self._parsed(condition)
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
                rule = f"must compare column {title!r} with a number"
                raise ComparisonDataError("where", rule, condition)
        else:
            compared = self.numbers(title, least=-np.inf, most=np.inf, gaps=True)
        there = codes >= 0
        bound = value if is_text else limit
        met = np.zeros(self.num_rows, dtype=bool)
        compare = {"<": np.less, "<=": np.less_equal, ">": np.greater,
                   ">=": np.greater_equal}  # fmt: skip
        met[there] = compare[sign](compared[there], bound)
        return met

    def skip_missing(self, titles: Sequence[str], *, say: bool = True) -> None:
        """Leave out the rows without a value in one of the columns, and log it."""
        kept = np.ones(self.num_rows, dtype=bool)
        for title in titles:
            kept &= self.labels(title)[0] >= 0
        if not kept.any():
            rule = f"has no row with a value in each of {', '.join(titles)}"
            raise ComparisonDataError(self.name, rule, list(titles))
        skipped = int(np.sum(~kept))
        if skipped and say:
            words = "%s: %d of %d rows left out, where something is missing"
            _LOGGER.warning(words, self.name, skipped, self.num_rows)
        self.rows = self.rows[kept]

    def check_values(self, titles: Sequence[str], answers: Sequence[str] = ()) -> None:
        """Raise about the first row without a value in one of the columns.

        Some are ``answers``, without which a row is no vote.
        """
        gaps = np.array([self.labels(title)[0] < 0 for title in (*titles, *answers)])
        if not gaps.any():
            return
        row = int(np.argmax(gaps.any(axis=0)))
        place = int(np.argmax(gaps[:, row]))
        title = (*titles, *answers)[place]
        cell = self.text_at(title, row)
        is_name = f"; if {cell!r} is a name here, {self._kept}"
        is_name *= bool(cell and self._kept)
        if place < len(titles):
            self.refuse(title, row, "has no value", self._left_out + is_name)
        what = f"is {cell!r}, which is no answer" if cell else "has no answer"
        rule = f"row {self.rows[row]} {what}"
        remedy = f"{self._left_out}, or write the word for a tie{is_name}"
        raise ComparisonDataError("winner", rule, cell, remedy=remedy)

    def has_numbers(self, title: str) -> bool:
        """Return whether all cells of a column are numbers."""
        codes, names = self.labels(title)
        used = _used(codes, names)
        return bool((codes >= 0).all()) and all(
            number(name) is not None for name in used
        )

    def numbers(
        self,
        title: str,
        *,
        least: float = 0.0,
        most: float = MOST_VOTES,
        gaps: bool = False,
        flags: bool = False,
    ) -> Float64[np.ndarray, " row"]:
        """Return a column of numbers; missing values are refused, or nan with ``gaps``.

        With ``flags`` true and false are 1 and 0.
        """
        codes, names = self.labels(title)
        values = self.numbers_in(title, names, flags=flags)
        values = np.array([*values, np.nan])[codes]
        if (self.decimal or self.frame.attrs.get("decimal")) == ",":
            self._refuse_thousands(title, codes, names)
        wrong = np.isnan(values) & ((codes >= 0) | (not gaps))
        for fits, rule in (
            (~wrong, "is no number"),
            (wrong | np.isnan(values) | (values >= least), "is negative"),
            (wrong | np.isnan(values) | (values <= most), f"is above {most:.0e}"),
        ):
            if not fits.all():
                row = int(np.argmin(fits))
                remedy = self._left_out * bool(codes[row] < 0)
                if _COMMA.fullmatch(self.text_at(title, row)):
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
            remedy = (
                "write it without a point, or say that it is decimal ({decimal='.'})"
            )
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
        values = [number(name) for name in names]
        if flags:
            words = {"true": 1.0, "false": 0.0}
            values = [
                words.get(name.lower()) if value is None else value
                for name, value in zip(names, values, strict=True)
            ]
        usual = self.frame.attrs.get("decimal", ".")
        decimal = usual if self.decimal is None else self.decimal
        if decimal == "," and None in values:
            commas = [name for name in names if _COMMA.fullmatch(name)]
            # 1,000 alone may be a thousand; said to be a decimal comma it is 1.
            if self.decimal or not all(map(_GROUPS.fullmatch, commas)):
                values = [
                    number(name.replace(",", ".")) if value is None else value
                    for name, value in zip(names, values, strict=True)
                ]
                if commas and self.decimal is None and title not in self._commas:
                    self._commas.append(title)
                    _LOGGER.warning(
                        "%s: commas in column %r were read as decimal commas",
                        self.name,
                        title,
                    )
        return np.array([np.nan if v is None else v for v in values], dtype=np.float64)

    def whole_numbers(
        self, title: str, remedy: str = "", *, least: float = 0.0, flags: bool = False
    ) -> Float64[np.ndarray, " row"]:
        """Return a column of whole numbers from ``least``, 0 by default, to 10^15."""
        values = self.numbers(title, least=least, flags=flags)
        broken = values != np.round(values)
        if np.any(broken):
            self.refuse(title, int(np.argmax(broken)), "is no whole number", remedy)
        return values

    def yes_or_no(self, title: str) -> Bool[np.ndarray, " row"]:
        """Return a column of 0 and 1, which may be written as words."""
        codes, names = self.labels(title)
        words = [_YES_OR_NO.get(name.lower()) for name in names]
        unknown = np.array([*(word is None for word in words), True])[codes]
        if unknown.any():
            row = int(np.argmax(unknown))
            self.refuse(title, row, "must be 1 or 0, and is neither true nor false")
        return np.array([bool(word) for word in words] + [False])[codes]

    def text_at(self, title: str, row: int) -> str:
        """Return the cell of a row that is left, as text."""
        cell = self._cells(title).iloc[self.rows[row]]
        return composed(_text(cell) or "")

    def refuse(self, title: str, row: int, words: str, remedy: str = "") -> NoReturn:
        """Raise an error about a cell of a row that is left."""
        cell = self.text_at(title, row)
        shown = cell if len(cell) <= 40 else f"{cell[:40]}..."
        rule = f"row {self.rows[row]} of column {composed(title)!r} {words}: {shown!r}"
        raise ComparisonDataError(self.name, rule, cell, remedy=remedy)

    def in_rows_of_file(self, error: ComparisonDataError) -> ComparisonDataError:
        """Return an error about a row that is left, with its number in the file."""
        if not isinstance(error.index, int) or self.num_rows == len(self.frame):
            return error
        return error.renamed(error.argument, int(self.rows[error.index]))

    def say_what_is_read(self, read: Mapping[str, Sequence[str]]) -> None:
        """Log which columns are read, and which are not, if there are any."""
        read = {role: list(map(composed, titles)) for role, titles in read.items()}
        known = {title for titles in read.values() for title in titles}
        others = [title for title in self.titles if title not in known]
        if others:
            said = "; ".join(
                f"{role}: {', '.join(each)}" for role, each in read.items() if each
            )
            words = "column" if len(others) == 1 else "columns"
            listed = ", ".join(map(repr, others))
            _LOGGER.warning(
                "%s: read %s; not read: %s %s", self.name, said, words, listed
            )


def _plain(title: str) -> str:
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

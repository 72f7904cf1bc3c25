"""Read preference matrices from users' files: text tables, NPY and NPZ."""

import csv
import gzip
import io
import logging
import math
import os
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float64
from numpy.typing import ArrayLike, NDArray

from bayesduel.files.csv_cells import unguarded
from bayesduel.files.folders import as_path
from bayesduel.files.user_files import decoded, read_bytes
from theory.errors import InvalidPreferenceError, errors_about
from theory.preferences import PreferenceMatrix
from theory.validation import (
    FLOAT32_TOLERANCE,
    MOST_ARMS,
    SYMMETRY_TOLERANCE,
    aligned_table,
    refuse_many_arms,
    square_matrix,
    symmetric_prices,
)

if TYPE_CHECKING:
    import pandas as pd


_LOGGER = logging.getLogger(__name__)

# Endings by which `bayesduel.instances.load` knows a file from a name
SUFFIXES = (".csv", ".tsv", ".txt", ".dat", ".npy", ".npz")
_LARGEST_REPAIR = 1e-3
_NPY = b"\x93NUMPY"
_HEADER_BYTES = 20_000  # NumPy refuses headers of more than 10,000 bytes
_HEADERS: dict[tuple[int, int], Callable[..., Any]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def read_matrix(
    path: str | os.PathLike[str], *, key: str | None = None, repair: bool = False
) -> PreferenceMatrix:
    r"""Read a preference matrix from a file.

    What the file is, is told from its content: NPY, NPZ, or text in UTF-8, each perhaps
    compressed with gzip, and of at most 1 GB when it is unpacked. Of an array its shape
    and type are checked before it is unpacked. A text
    table has one row a line, separated by commas, semicolons, tabs or spaces, with or
    without a first row and a first column of arm names; lines that begin with # are
    skipped. Pickled objects are never loaded.

    Parameters
    ----------
    path : str or path-like
        The file. Entry (i, j) is the probability that arm i beats arm j.
    key : str, optional
        Which array of an NPZ file to read; needed when it holds several.
    repair : bool
        Accept abs(p_ij + p_ji - 1) < 1e-3 and divide both entries by their sum. What
        was changed stands in the `source` of the result and in a log message of level
        WARNING.

    Returns
    -------
    PreferenceMatrix
        Its `name` is the file's name without the ending.

    Raises
    ------
    OSError
        When there is no such file (FileNotFoundError), when it is a folder
        (IsADirectoryError) or cannot be read.
    InvalidPreferenceError
        When the content is no preference matrix, or the file no regular one; the text
        names the file, and the line or the entry.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bayesduel.instances import read_matrix
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "drinks.csv")
    ...     _ = path.write_text("tea;coffee\n0,5;0,7\n0,3;0,5\n")
    ...     matrix = read_matrix(path)
    >>> matrix.name, matrix.values.tolist()
    ('drinks', [[0.5, 0.7], [0.3, 0.5]])
    """
    path = as_path("path", path, InvalidPreferenceError)
    content = _content_of(path)
    with errors_about(str(path), path):
        values, arm_names = _decode(content, key)
        values, note = _repaired(values, repair)
        matrix = PreferenceMatrix(
            values,
            name=Path(path.name.removesuffix(".gz")).stem,
            arm_names=arm_names or None,
            source=f"file {path}{'; ' if note else ''}{note}",
        )
    if note:
        _LOGGER.warning("%s: %s", path, note)
    return matrix


def read_prices(path: str | os.PathLike[str]) -> "pd.DataFrame":
    r"""Read the prices of duels from a file, for `theory.identification_bound`.

    Parameters
    ----------
    path : str or path-like
        A file as for `read_matrix`, but entry (i, j) is the price of a duel of arms i
        and j, 0 or more, and in a text table "inf" where the pair cannot be asked. Or
        a text table with two columns, ``arm`` and ``price``: a duel costs the sum of
        the prices of its two arms.

    Returns
    -------
    pandas.DataFrame (K, K)
        Labelled with the names of the arms, or with their numbers.

    Raises
    ------
    OSError
        As `read_matrix`.
    InvalidPreferenceError
        When the content is no symmetric table of prices; the text names the file, and
        the line or the entry.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "prices.csv")
    ...     _ = path.write_text("tea,coffee\n0,0.25\n0.25,0\n")
    ...     float(read_prices(path).loc["tea", "coffee"])
    ...     _ = path.write_text("arm,price\ntea,1\ncoffee,2.5\n")
    ...     float(read_prices(path).loc["tea", "coffee"])
    0.25
    3.5
    """
    import pandas as pd

    path = as_path("path", path, InvalidPreferenceError)
    content = _content_of(path)
    with errors_about(str(path), path):
        values, names = _decode(content, None, prices=True)
        values = symmetric_prices(values, len(values), "the table")
    labels = list(names) or None
    return pd.DataFrame(values, index=labels, columns=labels)


def matrix_of_table(
    table: PreferenceMatrix | ArrayLike, *, repair: bool = False
) -> PreferenceMatrix:
    """Check a table that is in memory as `read_matrix` checks one in a file.

    Parameters
    ----------
    table : pandas.DataFrame, xarray.DataArray, array-like (K, K) or PreferenceMatrix
        Labels name the arms; columns are brought into the order of the rows.
    repair : bool
        As in `read_matrix`.

    Returns
    -------
    PreferenceMatrix
        One that is given comes back as it is.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesduel.instances import load
    >>> names = ["tea", "coffee"]
    >>> table = pd.DataFrame([[0.5, 0.7], [0.3, 0.5]], index=names, columns=names)
    >>> load(table[["coffee", "tea"]]).arm_names
    ('tea', 'coffee')
    """
    if isinstance(table, PreferenceMatrix):
        return table
    aligned, names = aligned_table(table, "table")
    values = square_matrix(aligned, "table")
    if np.asarray(aligned).dtype == np.float32:
        values = values.astype(np.float32)
    values, note = _repaired(values, repair)
    if note:
        _LOGGER.warning("table: %s", note)
    return PreferenceMatrix(values, arm_names=names, source=note or None)


def _content_of(path: Path) -> bytes:
    """Return what is in a file, unpacked; of an array in gzip by its header first."""
    if path.is_file():
        with path.open("rb") as stream, errors_about(str(path), path):
            is_packed = stream.read(2) == b"\x1f\x8b"
            stream.seek(0)
            if is_packed:
                start = b""
                with suppress(EOFError, zlib.error, OSError):  # Said below.
                    start = gzip.open(stream).read(_HEADER_BYTES)
                if start.startswith(_NPY):
                    _checked_size(start)
    return read_bytes(path, error=InvalidPreferenceError)


def _decode(
    content: bytes, key: str | None, *, prices: bool = False
) -> tuple[NDArray[np.floating], tuple[str, ...]]:
    """Return the numbers and the arm names that the bytes of a file hold."""
    if content.startswith(b"PK"):
        return _from_npz(content, key), ()
    if key is not None:
        raise InvalidPreferenceError(
            "key", "must be left out: it is for NPZ files, and this is none", key
        )
    if content.startswith(_NPY):
        return _square_array(io.BytesIO(content)), ()
    try:
        text = decoded(content, "the file", InvalidPreferenceError)
    except InvalidPreferenceError as error:
        rule = f"is neither an NPY or NPZ file nor text in UTF-8: it {error.rule}"
        start, remedy = content[:20], error.remedy
        raise InvalidPreferenceError("the file", rule, start, remedy=remedy) from error
    return parse_table(text, prices=prices)


def _square_array(stream: IO[bytes]) -> NDArray[np.floating]:
    """Read a square NPY array of real numbers as float64; float32 stays."""
    # The header is checked first: a small file can hold a large array of zeros.
    start = stream.read(_HEADER_BYTES)
    size = _checked_size(start)
    content = start + stream.read(max(0, size - len(start)))
    if len(content) < size:
        raise _unreadable(f"its header states {size} bytes, {len(content)} are there")
    try:
        array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except Exception as error:
        raise _unreadable(str(error)) from error
    return array if array.dtype == np.float32 else array.astype(np.float64)


def _checked_size(start: bytes) -> int:
    """Return how long an NPY file is by its header, if that is of a square matrix."""
    stream = io.BytesIO(start)
    try:
        version = np.lib.format.read_magic(stream)
        shape, _, dtype = _HEADERS[version](stream)
        size = stream.tell() + math.prod(shape) * dtype.itemsize
    # NumPy lets errors of its parsers through for a damaged header: any kind.
    except Exception as error:
        raise _unreadable(str(error)) from error
    if dtype.hasobject:
        raise _unreadable("it holds pickled objects, which are never loaded")
    if dtype.kind not in "fiu":
        rule, remedy = "must hold real numbers", "save it as float64"
        raise InvalidPreferenceError("the array", rule, str(dtype), remedy=remedy)
    if len(shape) != 2 or shape[0] != shape[1]:
        rule, remedy = "must be square", "one row and one column for each arm"
        raise InvalidPreferenceError("the array", rule, shape, remedy=remedy)
    refuse_many_arms(shape[0], "the array")
    return size


def _unreadable(why: str) -> InvalidPreferenceError:
    rule, remedy = f"cannot be read ({why})", "save it with numpy.save as float64"
    return InvalidPreferenceError("the array", rule, why, remedy=remedy)


def _from_npz(content: bytes, key: str | None) -> NDArray[np.floating]:
    """Read the only array of an NPZ file, or the one called `key`."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        arrays = {
            member.filename.removesuffix(".npy"): member
            for member in archive.infolist()
            if member.filename.endswith(".npy")
        }
        if key in arrays or (key is None and len(arrays) == 1):
            with archive.open(
                arrays[next(iter(arrays)) if key is None else key]
            ) as one:
                return _square_array(one)
    except InvalidPreferenceError:
        raise
    # A damaged archive fails in zipfile, zlib, seek or decryption: any kind.
    except Exception as error:
        what, rule = "the NPZ file", f"is damaged or encrypted ({error})"
        remedy = "save it again"
        raise InvalidPreferenceError(what, rule, key, remedy=remedy) from error
    names = sorted(arrays)
    listed = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "") or "none"
    if key is None:
        raise InvalidPreferenceError(
            "key",
            "must name one array of an NPZ file that does not hold exactly one, but "
            f"{listed}",
            key,
            remedy="choose one with key=...",
        )
    raise InvalidPreferenceError(
        "key", f"must name an array of the file, one of {listed}", key
    )


def _repaired(
    given: NDArray[np.floating], repair: bool
) -> tuple[NDArray[np.floating], str]:
    """Divide p_ij and p_ji by their sum where it is nearly 1, and say so."""
    values = given.astype(np.float64)
    total = values + values.T
    deviation = np.abs(total - 1.0)
    single = given.dtype == np.float32
    # PreferenceMatrix accepts such entries, so they are left as they are.
    wrong = deviation > (FLOAT32_TOLERANCE if single else SYMMETRY_TOLERANCE)
    in_range = (values >= 0).all() and (values <= 1).all()
    if not (in_range and wrong.any() and deviation.max() < _LARGEST_REPAIR):
        return given, ""
    i, j = np.unravel_index(int(np.triu(deviation).argmax()), deviation.shape)
    count = int(np.triu(wrong).sum())
    pairs = f"{count} {'pair' if count == 1 else 'pairs'}"
    worst = f"the worst is ({i}, {j}): {values[i, j]} + {values[j, i]} = {total[i, j]}"
    if not repair:
        raise InvalidPreferenceError(
            "p_ij + p_ji",
            f"must be 1; {pairs} deviate by less than {_LARGEST_REPAIR:g}, {worst}",
            total[i, j],
            remedy="{repair=True} divides both entries by their sum",
        )
    note = f"repaired: {pairs} divided by their sum, {worst}"
    repaired = np.where(wrong, values / np.where(wrong, total, 1.0), values)
    return repaired.astype(given.dtype), note


# --- Turn the text of a table into numbers and arm names, and say what is wrong with it


# In the order of preference where two of them split a line equally well.
_SEPARATORS = (";", "\t", ",", " ")


# Comments among them; and characters
_MOST_LINES, _LONGEST_LINE = 10 * MOST_ARMS, 100 * MOST_ARMS


class _Row(NamedTuple):
    line: int
    cells: list[str]


def parse_table(
    text: str, *, prices: bool = False
) -> tuple[Float64[np.ndarray, "K K"], tuple[str, ...]]:
    r"""Read a square table of probabilities, and its K names of arms if it has them."""
    # Cells are separated by what splits the last line into most numbers. With
    # semicolons the decimal mark may be a comma. Only the range of the numbers is
    # checked: [0, 1], or for ``prices`` from 0 to infinity. Prices may also be two
    # columns: arms, and a price of each.
    rows, comma = _split(text)
    if prices and (priced := _arms_with_prices(rows, comma)):
        names = _arm_names([], [row.cells[0].strip() for row in priced], 2)
        of_arms = np.array([_entry(row, 1, comma, True) for row in priced])
        return of_arms[:, None] + of_arms, names
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
        rule = "must be square, or have the columns arm and price" if prices else ""
        raise InvalidPreferenceError(
            "the table", rule or "must be square", shape, remedy=remedy
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


def _arms_with_prices(rows: list[_Row], comma: bool) -> list[_Row]:
    """Return rows of an arm and its price each; nothing where they are none."""
    # Arms whose names are numbers need the header "arm, price".
    if any(len(row.cells) != 2 for row in rows):
        return []
    titles = [cell.strip().casefold() for cell in rows[0].cells]
    if titles == ["arm", "price"]:
        return rows[1:]
    body = rows if _number(rows[0].cells[1], comma) is not None else rows[1:]
    named = all(_number(row.cells[0], comma) is None for row in body)
    return body if named else []


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
    """Return the first row's cells when it holds names, else nothing."""
    # A row of the matrix has 1/2 on the diagonal, so a row of names has no number from
    # 0 to 1.
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

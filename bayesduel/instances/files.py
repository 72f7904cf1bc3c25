"""Read preference matrices from users' files: text tables, NPY and NPZ."""

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
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesduel.files.folders import as_path
from bayesduel.files.user_files import decoded, read_bytes
from bayesduel.instances.text_tables import parse_table
from theory.errors import InvalidPreferenceError, errors_about
from theory.labels import aligned_table
from theory.preferences import PreferenceMatrix
from theory.validation import (
    FLOAT32_TOLERANCE,
    SYMMETRY_TOLERANCE,
    refuse_many_arms,
    square_matrix,
    symmetric_prices,
)

if TYPE_CHECKING:
    import pandas as pd

_LOGGER = logging.getLogger(__name__)

SUFFIXES = (".csv", ".tsv", ".txt", ".dat", ".npy", ".npz")
"""Endings by which `bayesduel.instances.load` knows a file from a name."""

_LARGEST_REPAIR = 1e-3
_NPY = b"\x93NUMPY"
_HEADER_BYTES = 20_000
"""NumPy refuses headers of more than 10,000 bytes."""

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
        and j, 0 or more, and in a text table "inf" where the pair cannot be asked.

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
    0.25
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
        found, remedy = content[:20], error.remedy
        raise InvalidPreferenceError("the file", rule, found, remedy=remedy) from error
    return parse_table(text, prices=prices)


def _square_array(stream: IO[bytes]) -> NDArray[np.floating]:
    """Read a square NPY array of real numbers as float64; float32 stays.

    Numbers of 32 bits have a tolerance of their own, `PreferenceMatrix` says which. The
    header is checked before the numbers are unpacked: a small file can hold a large
    array of zeros.
    """
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
    """Divide p_ij and p_ji by their sum where it is nearly 1, and say so.

    A matrix with a larger fault is returned as it is: PreferenceMatrix names the fault.
    """
    values = given.astype(np.float64)
    total = values + values.T
    deviation = np.abs(total - 1.0)
    single = given.dtype == np.float32
    # What PreferenceMatrix accepts by itself; such entries are left as they are.
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

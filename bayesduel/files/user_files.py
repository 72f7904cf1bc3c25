"""The one place that opens a user's file: nothing hangs, nothing fills the memory.

What a file is, is told from its first bytes, never from its name.
"""

import csv
import gzip
import io
import os
import re
import unicodedata
import zlib
from collections.abc import Iterator

from bayesduel.errors import ArgumentError
from bayesduel.files.folders import as_path

LARGEST_FILE = 10**9  # Bytes that are read of a file, unpacked.
MOST_RATIO = 200  # How many times its size a file may unpack to.

_NO_BOMB = 5 * 10**7  # Bytes that every file may unpack to.

_GZIP = b"\x1f\x8b"
_CHUNK = 2**20
_OTHERS = {
    b"PK\x03\x04": "a ZIP archive or an Excel workbook",
    b"BZh": "compressed with bzip2",
    b"\xfd7zXZ": "compressed with xz",
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
    b"\x89HDF": "in HDF5 or netCDF",
    b"CDF": "in netCDF",
    b"PAR1": "in Parquet (pandas.read_parquet reads it)",
    b"SQLite format 3": "an SQLite database",
    b"%PDF": "a PDF",
    b"\x93NUMPY": "a NumPy array",
}
_BEGINNING = 2**14  # Characters in which a file of ballots says so.

_JSON = re.compile(r'\[\s*[\[{\]]|\{\s*["}]')
_PREFLIB = re.compile(r"^# *(?:NUMBER ALTERNATIVES|ALTERNATIVE NAME)\b", re.MULTILINE)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?")


def read_bytes(
    path: str | os.PathLike[str],
    *,
    error: type[ArgumentError],
    largest: int = LARGEST_FILE,
) -> bytes:
    """Return what is in a file, unpacked where it is compressed with gzip."""
    # Pipes and devices are refused before they are opened, and what is too large, or
    # unpacks to many times its size, before it is kept.
    path = as_path("path", path, error)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the path of a file")
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist; give the path of a file")
    if not path.is_file():
        remedy = "save what it delivers, and give that"
        raise error(str(path), "is not a regular file", path, remedy=remedy)
    remedy = f"the limit is {largest:.0e} bytes; split it, or count equal rows together"
    if path.stat().st_size > largest:
        raise error(str(path), "is too large", path, remedy=remedy)
    content = path.read_bytes()
    if not content.startswith(_GZIP):
        return content
    largest = min(largest, most_unpacked(len(content)))
    try:
        # Counted first: a small file can unpack to more than there is memory.
        if sum(map(len, _unpacked(content, largest))) > largest:
            rule = f"unpacks to more than {largest:.0e} bytes, which is too large"
            raise error(str(path), rule, path, remedy=remedy)
        return b"".join(_unpacked(content, largest))
    except (EOFError, zlib.error, gzip.BadGzipFile) as damage:
        rule = f"is compressed with gzip, and cut off or damaged ({damage})"
        raise error(str(path), rule, path, remedy="copy or pack it again") from damage


def most_unpacked(size: int) -> int:
    """Return how many bytes a compressed file of ``size`` bytes may unpack to."""
    return min(LARGEST_FILE, max(_NO_BOMB, MOST_RATIO * size))


def _unpacked(content: bytes, largest: int) -> Iterator[bytes]:
    """Yield the unpacked bytes in parts, and at most one part beyond ``largest``."""
    total = 0
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
        while total <= largest and (part := file.read(_CHUNK)):
            total += len(part)
            yield part


def read_text(
    path: str | os.PathLike[str],
    *,
    error: type[ArgumentError],
    largest: int = LARGEST_FILE,
) -> str:
    """Return the text of a file in UTF-8, perhaps compressed with gzip."""
    content = read_bytes(path, error=error, largest=largest)
    return decoded(content, path, error)


def decoded(
    content: bytes, path: str | os.PathLike[str], error: type[ArgumentError]
) -> str:
    """Return text in UTF-8, composed; or raise an ``error`` that says what it is."""

    def refused(rule: str, remedy: str) -> ArgumentError:
        return error(os.fspath(path), rule, path, remedy=remedy)

    for first, what in _OTHERS.items():
        if content.startswith(first):
            raise refused(f"is {what}", "save it as text, such as CSV in UTF-8")
    # Without a mark at its start, UTF-16 of Latin text has a zero in every other byte.
    start = content[:200]
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) or (
        0 in start and any(start[::2]) != any(start[1::2])
    ):
        remedy = "save it in UTF-8 (spreadsheets say 'CSV UTF-8')"
        raise refused("is text in UTF-16", remedy)
    if b"\0" in content:
        at = content.index(b"\0")
        rule = f"is no text: byte {at} is zero"
        raise refused(rule, "save the table as CSV in UTF-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        byte = content[problem.start]
        line = content.count(b"\n", 0, problem.start) + 1
        rule = f"is not in UTF-8: line {line} holds the byte 0x{byte:02x} "
        rule += f"({chr(byte)!r} in Latin-1)"
        raise refused(rule, "save it in UTF-8") from problem
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def rows_of(
    text: str, name: str, *, separators: str, error: type[ArgumentError]
) -> list[list[str]]:
    """Return the rows of the text of a table called so, without blank lines."""
    if problem := no_table(text, name):
        rule, remedy = problem
        raise error(name, rule, text[:40], remedy=remedy)
    first_line = text.lstrip("\r\n").partition("\n")[0]
    separator = max(separators, key=first_line.count)
    # Only line ends end a row: splitlines() also cuts at other characters of Unicode,
    # and within quotes.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        return [row for row in reader if row]
    except csv.Error as problem:
        rule = f"line {reader.line_num}: {problem}"
        remedy = "look for a quote that is not closed, and double quotes within a "
        remedy += "quoted cell"
        raise error(name, rule, text[:40], remedy=remedy) from problem


def no_table(text: str, name: str) -> tuple[str, str] | None:
    """Return what a text is, and what to do with it, where it is no table."""
    start = text.lstrip()
    if is_json(start):
        lines = ", lines=True" if start.startswith("{") and "}\n{" in start else ""
        what = "JSON lines" if lines else "JSON"
        remedy = "give a CSV file with a vote in each row: pandas.read_json"
        remedy += f"({name!r}{lines}).to_csv('votes.csv', index=False)"
        return f"holds {what}, and no table", remedy
    if _PREFLIB.search(start[:_BEGINNING]):
        remedy = f"in Python bayesduel.votes.read_preflib({name!r}) reads a file that "
        remedy += "ends with .soc, .soi, .toc or .toi, and fit(PlackettLuce(), ...) "
        return "holds ballots of PrefLib, and no table", f"{remedy}fits the ballots"
    return None


def is_json(text: str) -> bool:
    """Say whether a text begins as JSON, or lines of it, do."""
    # A first title of a table may stand in brackets; what follows one in JSON cannot.
    return _JSON.match(text) is not None


def number(text: str) -> float | None:
    """Return the number that a cell holds, None where it holds none."""
    # No nan, infinity, underscores or digits of other scripts, all of which float
    # reads.
    return float(text) if _NUMBER.fullmatch(text) else None

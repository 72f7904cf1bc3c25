"""Events in a file that SQLite cannot read any more: found by their records alone.

SQLite reaches a row through the header of the file, the pages of its tree and the
pointers of a page; where one of these is lost, it gives up all that lies behind. But
an event is one record, complete in itself, and says by its checksum whether it is
whole. So the records are looked for byte by byte, wherever they lie: in a file that was
cut, whose first pages were overwritten, or that has holes.

The format is that of https://www.sqlite.org/fileformat2.html, sections 1.3 to 2.1.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

__all__ = ["num_sealed", "rows_in"]

_MAGIC = b"SQLite format 3\0"
_USUAL_PAGE = 4096

_HEAD = re.compile(rb"(?=[\x05-\x0f]\x00[\x01-\x09])")
"""Where the header of a record may begin: its length, the number of the event, which
SQLite keeps before it and not among the columns, and a time. Texts hold no zero byte:
JSON writes one as an escape, so nothing that people typed looks like a record."""

_SEAL = re.compile(rb"\x04([\x01-\x04])\x81\x0d")
_DIGEST = re.compile(rb"[0-9a-f]{64}")
"""A row of the table ``seal``: the number of events, and the checksum of the last."""

_INTEGER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 8: 0, 9: 0}
"""By the type of a column: SQLite keeps a whole number of seconds as an integer."""

_REAL, _FIRST_TEXT = 7, 13

type Row = tuple[int, float, str, str, str | None]


def rows_in(data: bytes) -> dict[int, list[Row]]:
    """Return the rows of events that the bytes of a file hold, by their number.

    Of one number there may be several: SQLite leaves copies behind. Rows of the first
    format, without a checksum, are returned where none has one.
    """
    found: dict[int, list[Row]] = {}
    for place in _HEAD.finditer(data):
        for row in _rows_at(data, place.start()):
            rows = found.setdefault(row[0], [])
            if row not in rows:
                rows.append(row)
    chained = {
        number: [row for row in rows if row[-1] is not None]
        for number, rows in found.items()
    }
    return {number: rows for number, rows in chained.items() if rows} or found


def num_sealed(data: bytes) -> int:
    """Return how many events a file held when it was last written to, 0 if unknown."""
    counts = [0]
    for found in _SEAL.finditer(data):
        size = _INTEGER_BYTES[found[1][0]]
        number, digest = data[found.end() :][:size], data[found.end() + size :][:64]
        if _DIGEST.fullmatch(digest):
            counts.append(int.from_bytes(number, "big"))
    return max(counts)


def _rows_at(data: bytes, start: int) -> Iterator[Row]:
    """Yield what a record that begins here may be, nothing where there is none."""
    end, kinds = start + data[start], []
    at = start + 1
    while at < end:
        kind, at = _number_at(data, at)
        kinds.append(kind)
    if at != end or len(kinds) not in (4, 5):
        return
    texts = kinds[2:]
    if any(kind < _FIRST_TEXT or kind % 2 == 0 for kind in texts):
        return
    lengths = [8 if kinds[1] == _REAL else _INTEGER_BYTES[kinds[1]]]
    lengths += [(kind - _FIRST_TEXT) // 2 for kind in texts]
    number, before = _number_before(data, start)
    size = data[start] + sum(lengths)
    # The length of the whole record stands before its number, and must agree.
    if not data.endswith(_as_number(size), 0, before):
        return
    for content in _contents(data, start, size):
        columns, at = [], data[start]
        for length in lengths:
            columns.append(content[at : at + length])
            at += length
        time, *words = columns
        kind, body, *digest = (word.decode("utf-8", "replace") for word in words)
        yield number, _seconds(kinds[1], time), kind, body, (*digest, None)[0]


def _seconds(kind: int, content: bytes) -> float:
    if kind == _REAL:
        return struct.unpack(">d", content)[0]
    if kind in (8, 9):
        return float(kind == 9)
    return float(int.from_bytes(content, "big", signed=True))


def _contents(data: bytes, start: int, size: int) -> Iterator[bytes]:
    """Yield the bytes of a record; of a long one those on further pages, too."""
    page, usable = _USUAL_PAGE, _USUAL_PAGE
    if data.startswith(_MAGIC):
        stated = int.from_bytes(data[16:18], "big")
        stated = 65536 if stated == 1 else stated
        if stated in (1 << power for power in range(9, 17)):
            page, usable = stated, stated - data[20]
    here = size
    if size > usable - 35:
        least = (usable - 12) * 32 // 255 - 23
        here = least + (size - least) % (usable - 4)
        here = here if here <= usable - 35 else least
    # Where bytes were lost at the beginning of the file, or put there, all pages have
    # moved, but the last one still ends with the file.
    moved = len(data) % page
    for first in dict.fromkeys((0, moved, moved - page if moved else 0)):
        content = data[start : start + here]
        pointer, seen = start + here, set()
        while len(content) < size:
            number = int.from_bytes(data[pointer : pointer + 4], "big")
            pointer = first + (number - 1) * page
            if number < 2 or number in seen or not 0 <= pointer <= len(data) - 4:
                break
            seen.add(number)
            content += data[pointer + 4 : pointer + usable][: size - len(content)]
        if len(content) == size:
            yield content
            if here == size:
                return


def _number_at(data: bytes, at: int) -> tuple[int, int]:
    """Return the number of variable length at a place, and the place behind it."""
    value = 0
    for place in range(at, min(at + 8, len(data))):
        value = value << 7 | data[place] & 0x7F
        if data[place] < 0x80:
            return value, place + 1
    return 0, len(data) + 1


def _number_before(data: bytes, end: int) -> tuple[int, int]:
    """Return the number of variable length that ends before a place, and its place."""
    at = max(end - 1, 0)
    while at > 0 and end - at < 8 and data[at - 1] >= 0x80:
        at -= 1
    return _number_at(data, at)[0], at


def _as_number(value: int) -> bytes:
    """Return a number of variable length as it is stored."""
    parts = [value & 0x7F]
    while value := value >> 7:
        parts.append(value & 0x7F | 0x80)
    return bytes(reversed(parts))

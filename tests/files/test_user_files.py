"""The one place that opens users' files: what is read, and what is refused, and how."""

import gzip
import os

import numpy as np
import pytest

from bayesduel.errors import ComparisonDataError
from bayesduel.files import user_files
from bayesduel.files.user_files import number, read_bytes, read_text, rows_of

TABLE = "left,right,winner\ntea,milk,left\n"


def refusal(path, **options):
    with pytest.raises(ComparisonDataError) as caught:
        read_text(path, error=ComparisonDataError, **options)
    message = str(caught.value)
    assert message.startswith(str(path)) and "\n" not in message
    return message


def test_compression_is_told_from_the_content(tmp_path):
    packed = gzip.compress(TABLE.encode(), mtime=0)
    for name in ("a.csv", "a.csv.gz", "a"):
        path = tmp_path / name
        for content in (packed, TABLE.encode(), b"\xef\xbb\xbf" + TABLE.encode()):
            path.write_bytes(content)
            assert read_text(path, error=ComparisonDataError) == TABLE


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            TABLE.encode() + "thé,milk,left\n".encode("latin-1"),
            "line 3 holds the byte 0xe9 ('é' in Latin-1); save it in UTF-8",
        ),
        (TABLE.encode("utf-16"), "is text in UTF-16; save it in UTF-8"),
        (TABLE.encode("utf-16-be"), "is text in UTF-16"),
        (TABLE.encode() + b"\0", f"byte {len(TABLE)} is zero"),
        (b"PK\x03\x04rest", "is a ZIP archive or an Excel workbook"),
        (gzip.compress(b"a,b\n" * 999, mtime=0)[:-4] + b"1234", "cut off or damaged"),
        (b"\x1f\x8bnonsense that is no stream", "cut off or damaged"),
    ],
)
def test_what_is_no_text_in_utf8_is_said(tmp_path, content, words):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    assert words in refusal(path)


def test_what_is_no_regular_file_is_never_opened(tmp_path, monkeypatch):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def opened(*_, **__):
        raise AssertionError("opened")

    monkeypatch.setattr("pathlib.Path.open", opened)
    monkeypatch.setattr("pathlib.Path.read_bytes", opened)
    for path in (pipe, "/dev/zero"):
        assert "is not a regular file" in refusal(path)
    with pytest.raises(IsADirectoryError, match="is a folder"):
        read_text(tmp_path, error=ComparisonDataError)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        read_text(tmp_path / "none.csv", error=ComparisonDataError)


def test_a_small_file_that_unpacks_to_much_is_refused_before_it_is_kept(
    tmp_path, monkeypatch
):
    path = tmp_path / "bomb.csv"
    path.write_bytes(gzip.compress(b"a,b,left\n" * 10**6, mtime=0))
    assert path.stat().st_size < 10**5
    chosen = []
    unpack = user_files._unpacked

    def watched(content, largest):
        for part in unpack(content, largest):
            chosen.append(len(part))
            yield part

    monkeypatch.setattr(user_files, "_unpacked", watched)
    assert "the limit is 2e+06 bytes" in refusal(path, largest=2 * 10**6)
    # Unpacked once, part by part, and no further than the limit: nothing was joined.
    assert sum(chosen) <= 2 * 10**6 + 2**20 and max(chosen) <= 2**20
    whole = read_bytes(path, error=ComparisonDataError, largest=9 * 10**6)
    assert len(whole) == 9 * 10**6
    path.write_bytes(b"a" * 11)
    assert "is too large" in refusal(path, largest=10)


def test_the_two_ways_to_write_a_letter_are_one(tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("\u00e9clair,e\u0301clair\n", encoding="utf-8")
    assert read_text(path, error=ComparisonDataError) == "\u00e9clair,\u00e9clair\n"


def test_rows_end_at_line_ends_only():
    text = '\na;"b\nc";d\r\n\r\ne\u2028f;g\x0bh;"i""j"\rk;l;m'
    rows = rows_of(text, "rows.csv", separators=",;", error=ComparisonDataError)
    assert rows == [
        ["a", "b\nc", "d"],
        ["e\u2028f", "g\x0bh", 'i"j'],
        ["k", "l", "m"],
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('a,b\nc,"d\ne,f\n', "quote that is not closed"),
        ("a,b\n" + "x" * 200_000 + ",y\n", "line 2: field larger than field limit"),
        ('a,b\n"c"d,e\n', "line 2"),
    ],
)
def test_broken_rows_are_refused(text, words):
    with pytest.raises(ComparisonDataError, match=words):
        rows_of(text, "broken.csv", separators=",", error=ComparisonDataError)


def test_numbers_are_digits():
    for text, value in (
        ("7", 7),
        ("-0.5", -0.5),
        ("+.5e1", 5),
        ("3.", 3),
        ("1E2", 100),
    ):
        assert number(text) == value
    assert number("1e400") == np.inf
    for text in ("1_000", "１", "٣", "nan", "inf", "-Infinity", "1,5", "", " 1", "0x1",
                 "1e", "½", "1e99999999999"):  # fmt: skip
        assert number(text) is None, text

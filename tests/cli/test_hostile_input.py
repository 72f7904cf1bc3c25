"""Files and numbers that no one should hand in: one line, exit code 2, no traceback."""

import gzip
import os

import numpy as np
import pytest

VOTES = "left,right,winner\ntea,milk,left\nmilk,tea,left\n"

FILES = {
    "latin-1": (VOTES.replace("tea", "thé").encode("latin-1"), "is not in UTF-8"),
    "cut off": (gzip.compress(VOTES.encode() * 99)[:-30], "cut off or damaged"),
    "ties and draws": (
        b"a,b,wins_a,wins_b,ties,draws\nx,y,1,2,3,3\n",
        "--tie-columns ties,draws",
    ),
}
"""What else is refused is in ``tests/votes/test_files.py`` and ``tests/files``."""


@pytest.fixture
def refused(run):
    """Return a function that runs a line which is refused."""

    def refused(*line, words):
        result = run(*line, code=2)
        assert result.stdout == ""
        assert words in result.stderr
        assert result.stderr.count("\n") == 1 and len(result.stderr) < 600
        assert "Traceback" not in result.stderr and "Aborted" not in result.stderr

    return refused


@pytest.mark.parametrize("case", FILES)
def test_files_of_votes(refused, tmp_path, case):
    content, words = FILES[case]
    path = tmp_path / "votes.csv"
    path.write_bytes(content)
    refused("fit", path, words=words)


@pytest.mark.parametrize("command", [("bounds",), ("compare", "-p", "rucb", "-i")])
def test_files_of_matrices(refused, tmp_path, command):
    path = tmp_path / "matrix.csv"
    path.write_bytes(FILES["cut off"][0])
    refused(*command, path, words="matrix.csv")


def test_pipes_and_devices(refused, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, command in ((pipe, "fit"), ("/dev/zero", "bounds")):
        refused(command, path, words="is not a regular file")


def test_archives_that_unpack_to_more_than_they_hold(refused, tmp_path):
    path = tmp_path / "matrix.npz"
    np.savez_compressed(path, x=np.zeros((6000, 6000), dtype=np.int8))
    assert path.stat().st_size < 50_000
    refused("bounds", path, words="must have at most 5000 arms, got 6000")
    header = np.lib.format.magic(1, 0)
    text = repr({"descr": "<f8", "fortran_order": False, "shape": (4000, 4000)})
    header += (len(text) + 1).to_bytes(2, "little") + text.encode() + b"\n"
    path.write_bytes(header + bytes(80))
    stated, held = len(header) + 8 * 4000 * 4000, len(header) + 80
    refused("bounds", path, words=f"states {stated} bytes, {held} are there")

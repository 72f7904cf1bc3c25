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


def refused(result, words):
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert words in result.stderr
    assert result.stderr.count("\n") == 1 and len(result.stderr) < 600
    assert "Traceback" not in result.stderr and "Aborted" not in result.stderr


@pytest.mark.parametrize("case", FILES)
def test_files_of_votes(run, tmp_path, case):
    content, words = FILES[case]
    path = tmp_path / "votes.csv"
    path.write_bytes(content)
    refused(run("fit", path), words)


@pytest.mark.parametrize("command", [("bounds",), ("compare", "-p", "rucb", "-i")])
def test_files_of_matrices(run, tmp_path, command):
    path = tmp_path / "matrix.csv"
    path.write_bytes(FILES["cut off"][0])
    refused(run(*command, path), "matrix.csv")


def test_pipes_and_devices(run, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, command in ((pipe, "fit"), ("/dev/zero", "bounds")):
        refused(run(command, path), "is not a regular file")


def test_archives_that_unpack_to_more_than_they_hold(run, tmp_path, monkeypatch):
    path = tmp_path / "matrix.npz"
    np.savez_compressed(path, x=np.zeros((1000, 1000)))
    assert path.stat().st_size < 20_000
    monkeypatch.setattr("bayesduel.instances.files.LARGEST_FILE", 10**6)
    refused(run("bounds", path), "too large when it is unpacked, 8000128 bytes")
    header = np.lib.format.magic(1, 0)
    text = repr({"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)})
    header += (len(text) + 1).to_bytes(2, "little") + text.encode() + b"\n"
    path.write_bytes(header + bytes(80))
    refused(run("bounds", path), "states 8000000000000 bytes, 80 are there")

"""Files and numbers that no one should hand in: one line, exit code 2, no traceback."""

import gzip
import os

import numpy as np
import pytest

from bayesduel.votes import read_comparisons

VOTES = "left,right,winner\ntea,milk,left\nmilk,tea,left\n"

FILES = {
    "latin-1": (VOTES.replace("tea", "thé").encode("latin-1"), "is not in UTF-8"),
    "utf-16": (VOTES.encode("utf-16"), "is text in UTF-16"),
    "binary": (bytes(range(256)), "is no text"),
    "picture": (b"\x89PNG\r\n\x1a\n\xff\xfe", "is not in UTF-8"),
    "cut off": (gzip.compress(VOTES.encode() * 99)[:-30], "cut off or damaged"),
    "long cell": (VOTES.encode() + b"x" * 200_000 + b",milk,left\n", "field limit"),
    "open quote": (VOTES.encode() + b'"tea,milk,left\n', "quote that is not closed"),
    "json lines": (
        b'{"event": 1, "kind": "told"}\n{"event": 2}\n',
        "none of the usual columns",
    ),
    "empty": (b"", "needs a header and at least one row"),
    "underscores": (b"a,b,wins_a,wins_b\nx,y,1_000,2\n", "is no number: '1_000'"),
    "full width": ("a,b,wins_a,wins_b\nx,y,１,2\n".encode(), "is no number"),
    "not a number": (b"a,b,wins_a,wins_b\nx,y,nan,2\n", "is no number: 'nan'"),
    "infinite": (b"a,b,wins_a,wins_b\nx,y,1e400,2\n", "is above 1e+15: '1e400'"),
    "too many": (b"a,b,wins_a,wins_b\nx,y,2e15,2\n", "is above 1e+15"),
    "long number": (b"a,b,wins_a,wins_b\nx,y," + b"9" * 5000 + b",2\n", "is above"),
    "two winners": (
        b"left,right,winner,winner\ntea,milk,left,right\n",
        "columns 3 and 4 are both called 'winner'",
    ),
    "winner and counts": (
        b"a,b,winner,wins_a,wins_b\nx,y,x,1,2\n",
        "has both a column 'winner' and counts in wins_a and wins_b",
    ),
    "two pairs of arms": (
        b"left,right,a,b,winner\nx,y,u,v,left\n",
        "could be left and right or a and b",
    ),
    "unnamed ties": (b"a,b,wins_a,wins_b,t_ij\nx,y,1,2,200\nx,z,1,1,2\n", "t_ij (202)"),
    "ties and draws": (
        b"a,b,wins_a,wins_b,ties,draws\nx,y,1,2,3,3\n",
        "--tie-columns ties,draws",
    ),
}


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
    with pytest.raises(ValueError, match="votes.csv"):
        read_comparisons(path)


@pytest.mark.parametrize("case", ["latin-1", "utf-16", "binary", "picture", "cut off",
                                  "long cell", "empty"])  # fmt: skip
@pytest.mark.parametrize("command", ["bounds", "compare"])
def test_files_of_matrices(run, tmp_path, command, case):
    path = tmp_path / "matrix.csv"
    path.write_bytes(FILES[case][0])
    arguments = {"bounds": [path], "compare": ["-i", path, "-p", "rucb"]}[command]
    refused(run(command, *arguments), "matrix.csv")


def test_pipes_and_devices(run, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, "/dev/zero"):
        for arguments in (("fit", path), ("bounds", path),
                          ("compare", "-i", path, "-p", "rucb")):  # fmt: skip
            refused(run(*arguments), "is not a regular file")


@pytest.mark.parametrize("name", ["mallows:phi=0.5,num_arms="])
def test_families_of_more_arms_than_there_is_memory(run, name):
    result = run("bounds", f"{name}99999999999")
    refused(result, "num_arms must be at most 5000, got 99999999999")


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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--prior-scale", "1e400"), "--prior-scale: must be a number from 1e-6"),
        (("--model", "beta", "--prior-scale", "1e300"), "--prior-scale: must be a num"),
        (("--seed", "9" * 20), "--seed: must be an integer from 0 to 2^63 - 1, got 99"),
        (("--draws", "100000000"), "at most 10000000 in all chains"),
        (("--interval", "1e-400"), "--interval: must be in (0, 1)"),
        (("--tie-columns", "winner"), "ties are columns of counts"),
        (("--words", "left,left,tie"), "--words: must be three different ones"),
        (("--words", "milk,tea,tie"), "row 0 is 'left'"),
    ],
)
def test_numbers_and_names_of_fit(run, tmp_path, arguments, words):
    path = tmp_path / "votes.csv"
    path.write_text(VOTES, encoding="utf-8")
    refused(run("fit", path, "--quiet", *arguments), words)

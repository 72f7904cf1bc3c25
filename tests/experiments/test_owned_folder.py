"""Folders of results: whose they are, who writes to them, what a damage or crash does.

Nothing that was not written here is ever removed, and nothing half written is read.
"""

import errno
import json
import os
import signal
import subprocess
import sys
import threading
from io import BytesIO
from pathlib import Path

import pytest

from bayesduel.errors import (
    DamagedPartWarning,
    OutputFolderError,
    OutputWriteError,
)
from bayesduel.experiments.owned_folder import OwnedFolder
from bayesduel.files.folders import check_folder, read_checked, read_marker
from tests.folders import REQUEST

ROOT = Path(__file__).resolve().parent.parent.parent


def claim(path, **options):
    return OwnedFolder.claim(path, kind="test", **options)


def parts_of(path):
    return sorted((path / ".bayesduel/parts").iterdir())


@pytest.fixture
def owned(tmp_path):
    """Return a folder with two parts and a finished file, nobody writing to it."""
    path = tmp_path / "out"
    with claim(path) as folder:
        folder.keep_part("one", "csv", b"1,2\n")
        folder.keep_part("two", "csv", b"3,4\n")
        folder.write("table.csv", b"1,2\n3,4\n")
    return path


# Whose folder it is


WAYS = ({}, {"resume": True}, {"overwrite": True})
"""In which a folder may be claimed."""


@pytest.mark.parametrize("name", ["results.nc", ".hidden", "parts/thesis.txt"])
def test_a_folder_with_a_file_of_the_users_is_refused(tmp_path, name):
    """Also one that looks like ours, as an older version or a copy would leave it."""
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("years of work")
    words = f"{tmp_path} is not empty.*marker .* is missing.*files of yours"
    for options in WAYS:
        with pytest.raises(OutputFolderError, match=f"{words}.*new or empty"):
            claim(tmp_path, **options)
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == [file]
    assert file.read_text() == "years of work"


def test_a_place_that_cannot_be_written_to(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("mine")
    for place in (file, file / "below"):
        for options in WAYS:
            with pytest.raises(OutputFolderError, match=f"cannot write to {place}"):
                claim(place, **options)
    assert file.read_text() == "mine"
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(OutputFolderError, match="cannot write to .*Permission denied"):
        claim(tmp_path / "new")


def test_only_our_own_names_are_removed(owned):
    (owned / "parts").mkdir()
    mine = [
        owned / "parts" / "thesis.txt",
        owned / "notes.csv",
        owned / ".bayesduel" / "parts" / "thesis.csv",
        owned / ".bayesduel" / "parts" / "0123456789abcdef.csv",
        owned / ".bayesduel-mine",
    ]
    for file in mine:
        file.write_text("mine")
    with claim(owned, overwrite=True) as folder:
        folder.remove("table.csv", "notes.csv", "missing.csv")
        folder.remove_parts()
    assert all(file.read_text() == "mine" for file in mine)
    assert not (owned / "table.csv").exists()
    assert {each.name for each in parts_of(owned)} == {mine[2].name, mine[3].name}


def test_a_claimed_folder_without_results_counts_as_empty(tmp_path):
    """As when a comparison was interrupted before its first job was finished."""
    claim(tmp_path).release()
    (tmp_path / REQUEST).write_text("What was asked for is no result.")
    with claim(tmp_path) as folder:
        folder.keep_part("one", "csv", b"1")
    with pytest.raises(OutputFolderError, match="is not empty; go on .*resume"):
        claim(tmp_path)
    claim(tmp_path, resume=True).release()


def test_a_folder_of_another_kind_is_refused(owned):
    for options in WAYS:
        with pytest.raises(OutputFolderError, match=r"another kind \(test, not other"):
            check_folder(owned, kind="other", **options)


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"format": 1}', '{"format": 1, "kind": 3, "sha256": {}}'],
)
def test_a_damaged_marker(owned, text):
    (owned / ".bayesduel/marker.json").write_text(text)
    for options in WAYS:
        with pytest.raises(OutputFolderError, match=r"marker\.json is damaged"):
            claim(owned, **options)
    assert (owned / "table.csv").exists()


def test_a_marker_of_a_newer_version(owned):
    file = owned / ".bayesduel/marker.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"format": 2}))
    with pytest.raises(OutputFolderError, match="format 2, and this version writes"):
        claim(owned, resume=True)


@pytest.mark.parametrize("value", [5, "", "a\0b", "\ud800"])
def test_what_is_no_path(value):
    with pytest.raises(OutputFolderError, match="out must be a path"):
        claim(value)


def test_resuming_and_overwriting_exclude_each_other(owned):
    with pytest.raises(OutputFolderError, match="exclude each other"):
        claim(owned, resume=True, overwrite=True)


# What is damaged, and what is half written


def flip(file, at):
    content = bytearray(file.read_bytes())
    content[at] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize("at", [0, -1])
def test_a_flipped_bit_in_a_part_is_noticed(owned, at):
    file = parts_of(owned)[0]
    flip(file, at)
    with claim(owned, resume=True) as folder:
        with pytest.warns(DamagedPartWarning, match=f"{file.name} is damaged"):
            assert len(list(folder.parts())) == 1


def test_a_flipped_bit_in_a_finished_file_is_refused(owned):
    assert read_checked(owned / "table.csv") == b"1,2\n3,4\n"
    flip(owned / "table.csv", 2)
    with pytest.raises(OutputFolderError, match=r"table\.csv is damaged or was"):
        read_checked(owned / "table.csv")
    with claim(owned, resume=True) as folder, pytest.raises(OutputFolderError):
        folder.read("table.csv")


class Killed(BaseException):
    """Ends a process in the middle of an action."""


@pytest.mark.parametrize("at", range(8))
def test_killed_while_a_finished_file_is_replaced(owned, monkeypatch, at):
    """Whenever that is, the folder holds the old file or the new one, and says so."""
    plain, calls = os.replace, []

    def replace(self, target):
        calls.append(target)
        if len(calls) == at // 2 + 1 and at % 2 == 0:
            raise Killed
        plain(self, target)
        if len(calls) == at // 2 + 1:
            raise Killed

    folder = claim(owned, resume=True)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace)
        try:
            folder.write("table.csv", b"new", request={"size": 5})
        except Killed:
            assert at < 6
        else:
            assert at >= 6, "three files are replaced"
    folder.release()
    with claim(owned, resume=True) as again:
        assert again.read("table.csv") == (b"new" if at >= 3 else b"1,2\n3,4\n")
        assert again.marker().get("request") == ({"size": 5} if at >= 5 else None)


def test_what_a_killed_process_left_is_removed(owned):
    left = [
        owned / ".bayesduel-0123456789abcdef.unfinished",
        owned / ".bayesduel/parts/.bayesduel-0123456789abcdef.unfinished",
    ]
    for file in left:
        file.write_bytes(b"half of it")
    with claim(owned, resume=True) as folder:
        assert len(list(folder.parts())) == 2
    assert not any(file.exists() for file in left)


def test_a_full_disk_is_said_in_one_line_and_leaves_what_was_there(owned, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    folder = claim(owned, resume=True)
    monkeypatch.setattr(os, "fsync", full)
    held = BytesIO(b"5,6\n")
    with pytest.raises(OutputWriteError) as raised:
        folder.keep_part("three", "csv", held.getbuffer())
    held.close()  # Not if the traceback held what was to be written.
    text = str(raised.value)
    assert "No space left on device" in text and "resume" in text and "\n" not in text
    assert len(parts_of(owned)) == 2
    folder.release()


# Who writes to it


def test_two_threads_do_not_write_to_one_folder(owned):
    found = []

    def other():
        try:
            claim(owned, resume=True).release()
        except OutputFolderError as error:
            found.append(str(error))

    with claim(owned, resume=True):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    (text,) = found
    assert f"process {os.getpid()} on " in text and "is writing to" in text
    other()
    assert len(found) == 1


HOLD = """
import sys, time
from bayesduel.experiments.owned_folder import OwnedFolder
folder = OwnedFolder.claim(sys.argv[1], kind="test", resume=True)
print("held", flush=True)
time.sleep(3600)
"""


def test_a_lock_falls_with_its_process(owned):
    """However it ends: the kernel holds the lock, no file that somebody must remove."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(owned)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(OutputFolderError, match=f"process {process.pid} on "):
            claim(owned, resume=True)
        process.send_signal(signal.SIGKILL)
        process.wait()
        claim(owned, resume=True).release()


def test_a_failed_claim_leaves_no_lock(owned, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(OwnedFolder, "_remove_unfinished", lambda self: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            claim(owned, resume=True)
    claim(owned, resume=True).release()
    assert read_marker(owned)["kind"] == "test"

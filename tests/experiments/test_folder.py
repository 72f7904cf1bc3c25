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

from bayesduel.errors import DamagedPartWarning, OutputFolderError, OutputWriteError
from bayesduel.experiments.folder import RunFolder
from bayesduel.files import folders
from bayesduel.files.folders import read_checked
from tests.folders import REQUEST, chunks_of

ROOT = Path(__file__).resolve().parent.parent.parent


def claim(path, **options):
    return RunFolder.claim(path, kind="test", **options)


ONE, TWO, THREE = (item * 64 for item in "123")
"""Digests of chunks."""


@pytest.fixture
def owned(tmp_path):
    """Return a folder with two chunks and a finished file, nobody writing to it."""
    path = tmp_path / "out"
    with claim(path) as folder:
        folder.save(ONE, b"1,2\n")
        folder.save(TWO, b"3,4\n")
        folder.write("table.csv", b"1,2\n3,4\n")
    return path


WAYS = ({}, {"resume": True}, {"overwrite": True})
"""In which a folder may be claimed."""


@pytest.mark.parametrize("name", ["results.nc", ".hidden", "chunks/thesis.txt"])
def test_a_folder_with_a_file_of_the_users_is_refused(tmp_path, name):
    """Also one that looks like ours, as an older version or a copy would leave it."""
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("years of work")
    words = f"{tmp_path} is not empty.*marker .* is missing.*files of yours"
    for options in WAYS:
        with pytest.raises(OutputFolderError, match=f"{words}.*new or empty"):
            claim(tmp_path, **options)
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == [file]
    assert file.read_text() == "years of work"


def test_a_place_that_cannot_be_written_to(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("mine")
    for index in (file, file / "below"):
        for options in WAYS:
            with pytest.raises(OutputFolderError, match=f"cannot write to {index}"):
                claim(index, **options)
    assert file.read_text() == "mine"
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(OutputFolderError, match="cannot write to .*Permission denied"):
        claim(tmp_path / "new")


def test_only_our_own_names_are_removed(owned):
    (owned / "parts").mkdir()
    mine = [
        owned / name
        for name in ("chunks/thesis.chunk", "parts/thesis.txt", "notes.csv",
                     f"chunks/{ONE}.csv", ".bayesduel-mine")
    ]  # fmt: skip
    for file in mine:
        file.write_text("mine")
    with claim(owned, overwrite=True) as folder:
        folder.remove("table.csv", "notes.csv", "missing.csv")
        folder.remove_chunks()
    assert all(file.read_text() == "mine" for file in mine)
    assert not (owned / "table.csv").exists()
    assert {item.name for item in chunks_of(owned)} == {mine[0].name}


def test_a_claimed_folder_without_results_counts_as_empty(tmp_path):
    """As when a comparison was interrupted before its first chunk was finished."""
    claim(tmp_path).release()
    (tmp_path / REQUEST).write_text("What was asked for is no result.")
    with claim(tmp_path) as folder:
        folder.save(ONE, b"1")
    with pytest.raises(OutputFolderError, match="is not empty; go on .*resume"):
        claim(tmp_path)
    claim(tmp_path, resume=True).release()


def test_a_folder_of_another_kind_is_refused(owned):
    for options in WAYS:
        with pytest.raises(OutputFolderError, match=r"another kind \(test, not other"):
            folders.check_folder(owned, kind="other", **options)
    with pytest.raises(OutputFolderError, match="exclude each other"):
        claim(owned, resume=True, overwrite=True)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"format": 1}', '{"format": 1, "kind": 3, "sha256": {}}']
)
def test_a_damaged_marker(owned, text):
    (owned / ".bayesduel/marker.json").write_text(text)
    for options in WAYS:
        with pytest.raises(OutputFolderError, match=r"marker\.json is damaged"):
            claim(owned, **options)
    assert (owned / "table.csv").exists()


def test_a_marker_of_a_newer_version(owned):
    file = owned / ".bayesduel/marker.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"format": 3}))
    with pytest.raises(OutputFolderError, match="format 3, and this version writes"):
        claim(owned, resume=True)


@pytest.mark.parametrize("value", [5, "", "a\0b", "\ud800"])
def test_what_is_no_path(value):
    with pytest.raises(OutputFolderError, match="out must be a path"):
        claim(value)


def flip(file, at):
    content = bytearray(file.read_bytes())
    content[at] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize("at", [0, 20, -1])
def test_a_flipped_bit_in_a_chunk_is_noticed(owned, at):
    file = chunks_of(owned)[0]
    flip(file, at)
    with claim(owned, resume=True) as folder:
        with pytest.warns(DamagedPartWarning, match=f"{file.name} is damaged"):
            assert folder.load(ONE) is None
        assert (folder.load(ONE), folder.load(TWO)) == (None, b"3,4\n")
        assert folder.digests() == {TWO}


@pytest.mark.parametrize("data", [b"", b"1", bytes(10**6)])
def test_chunks_are_read_as_they_were_written(owned, data):
    with claim(owned, resume=True) as folder:
        folder.save(THREE, data)
        assert folder.load(THREE) == data
        assert folder.digests() == {ONE, TWO, THREE}


def test_a_flipped_bit_in_a_finished_file_is_refused(owned):
    assert read_checked(owned / "table.csv") == b"1,2\n3,4\n"
    flip(owned / "table.csv", 2)
    with pytest.raises(OutputFolderError, match=r"table\.csv is damaged or was"):
        read_checked(owned / "table.csv")


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
        whole = b"new" if at >= 3 else b"1,2\n3,4\n"
        assert read_checked(owned / "table.csv") == whole
        assert again.marker().get("request") == ({"size": 5} if at >= 5 else None)


def test_what_a_killed_process_left_is_removed(owned):
    name = ".bayesduel-0123456789abcdef.unfinished"
    left = [owned / name, owned / "chunks" / name]
    for file in left:
        file.write_bytes(b"half of it")
    with claim(owned, resume=True) as folder:
        assert folder.digests() == {ONE, TWO}
    assert not any(file.exists() for file in left)


def test_a_full_disk_is_said_in_one_line_and_leaves_what_was_there(owned, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    folder = claim(owned, resume=True)
    monkeypatch.setattr(os, "fsync", full)
    monkeypatch.setattr(os, "replace", full)
    held = BytesIO(b"5,6\n")
    for write in (
        lambda: folder.save(THREE, b"5,6\n"),
        lambda: folders.write_whole(owned / "table.csv", held.getbuffer()),
    ):
        with pytest.raises(OutputWriteError) as raised:
            write()
        text = str(raised.value)
        assert "No space left on device" in text and "resume" in text
        assert "\n" not in text
    held.close()  # Not if the traceback held what was to be written.
    assert len(chunks_of(owned)) == 2
    assert not [*owned.rglob("*.unfinished")]
    folder.release()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr("bayesduel.experiments.folder._WAITING_SECONDS", 0.1)


def test_two_threads_do_not_write_to_one_folder(owned):
    results = []

    def write():
        try:
            claim(owned, resume=True).release()
        except OutputFolderError as error:
            results.append(str(error))

    with claim(owned, resume=True):
        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
    (text,) = results
    assert f"process {os.getpid()} on " in text and "is writing to" in text
    write()
    assert len(results) == 1


HOLD = """
import sys, time
from bayesduel.experiments.folder import RunFolder
folder = RunFolder.claim(sys.argv[1], kind="test", resume=True)
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
        patch.setattr(RunFolder, "_remove_unfinished", lambda self: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            claim(owned, resume=True)
    claim(owned, resume=True).release()
    assert folders.read_marker(owned)["kind"] == "test"

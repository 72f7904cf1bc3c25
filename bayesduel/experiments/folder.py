"""Folders of results: marked as ours, locked, with a file for every chunk.

A folder that belongs to this package holds

- ``.bayesduel/marker.json``: version of the layout, kind of results, request, and the
  SHA-256 of the finished files. A folder that holds anything without this marker
  belongs to somebody else, and is refused.
- ``chunks/DIGEST.chunk``: the chunks that are finished. A file is written under a
  temporary name and then renamed, and it begins with a checksum of its content. So it
  is there as a whole or not at all, and damage is noticed when it is read.
- finished files such as ``results.nc``, and ``.bayesduel/lock``: held by the kernel for
  a process that writes finished files, so that it ends with the process.

Processes that write only chunks, such as the parts of one experiment, need no lock.
Files of the user stay as they are.
"""

import hashlib
import json
import os
import re
import socket
import time
import warnings
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any, Self

from filelock import FileLock, Timeout

from bayesduel.errors import DamagedPartWarning, OutputFolderError, OutputWriteError
from bayesduel.files.folders import (
    CHUNKS,
    FORMAT,
    MARKER,
    OWN,
    UNFINISHED,
    check_folder,
    read_marker,
    unwritable,
    write_whole,
)

ENDING = ".chunk"

_MAGIC = b"bayesduel chunk 1\n"
_HEAD = len(_MAGIC) + hashlib.sha256().digest_size
_CHUNK_NAME = re.compile(r"[0-9a-f]{64}\.chunk")
_OLD_PART_NAME = re.compile(r"[0-9a-z]{1,32}-[0-9a-f]{32}\.[a-z]+")
_WAITING_SECONDS = 1.0
"""Seconds that a process waits for the lock, or for a file of another machine."""


class RunFolder:
    """A folder of results of one kind, locked until it is released."""

    def __init__(self, path: Path, kind: str, lock: FileLock) -> None:
        self.path = path
        self._kind = kind
        self._lock = lock

    @classmethod
    def claim(
        cls,
        path: Path | str,
        *,
        kind: str,
        resume: bool = False,
        overwrite: bool = False,
    ) -> Self:
        """Check a folder, make it, lock it and mark it as ours."""
        path = check_folder(path, kind=kind, resume=resume, overwrite=overwrite)
        marked = path / OWN
        try:
            marked.mkdir(parents=True, exist_ok=True)
            lock = FileLock(marked / "lock", timeout=_WAITING_SECONDS)
            lock.acquire()
            now = datetime.now(UTC).isoformat(timespec="seconds")
            holder = f"process {os.getpid()} on {socket.gethostname()}, since {now}"
            (marked / "holder").write_text(holder, "utf-8")
        except Timeout as error:
            holder = "another process"
            with suppress(OSError, ValueError):
                holder = (marked / "holder").read_text("utf-8") or holder
            rule, remedy = f"{holder} is writing to {path}", "wait for it"
            remedy += ", or name another folder"
            raise OutputFolderError("out", rule, path, remedy=remedy) from error
        except OSError as error:
            raise unwritable(path, error) from error
        try:
            # Another process may have finished here since the first look.
            check_folder(path, kind=kind, resume=resume, overwrite=overwrite)
            folder = cls(path, kind, lock)
            folder._remove_unfinished()
            folder._write_marker(folder.marker() | {"format": FORMAT})
        except BaseException:
            lock.release()
            raise
        return folder

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Let other processes write finished files to the folder."""
        self._lock.release()

    def marker(self) -> dict[str, Any]:
        """Return the content of the marker; that of a new one if there is none."""
        marker = read_marker(self.path)
        return marker or {"format": FORMAT, "kind": self._kind, "sha256": {}}

    def note(self, **entries: Any) -> None:
        """Write entries such as the request into the marker."""
        self._write_marker(self.marker() | entries)

    # --- Chunks ----------------------------------------------------------------------

    def digests(self) -> set[str]:
        """Return the digests of the chunks whose files are there."""
        try:
            names = os.listdir(self.path / CHUNKS)
        except FileNotFoundError:
            return set()
        return {x.removesuffix(ENDING) for x in names if _CHUNK_NAME.fullmatch(x)}

    def save(self, digest: str, data: bytes) -> None:
        """Write the file of a chunk; see :func:`write_chunk`."""
        write_chunk(str(self.path), digest, data)

    def load(self, digest: str, *, wait: bool = False) -> bytes | None:
        """Read the file of a chunk; None if it is not there or damaged."""
        file = f"{self.path}/{CHUNKS}/{digest}{ENDING}"
        end = time.monotonic() + (5 * _WAITING_SECONDS if wait else 0.0)
        while True:
            try:
                with open(file, "rb") as opened:
                    data = opened.read()
                break
            except FileNotFoundError:
                if time.monotonic() >= end:
                    return None
                time.sleep(0.05)
            except OSError as error:
                _warn_damaged(file, error.strerror or "it cannot be read")
                return None
        if data.startswith(_MAGIC):
            content = data[_HEAD:]
            if data[len(_MAGIC) : _HEAD] == hashlib.sha256(content).digest():
                return content
        _warn_damaged(file, "its checksum is not that of what was written")
        with suppress(OSError):
            os.unlink(file)
        return None

    def remove_chunks(self) -> None:
        """Remove the files of all chunks, by name."""
        for digest in self.digests():
            (self.path / CHUNKS / f"{digest}{ENDING}").unlink(missing_ok=True)
        for file in (self.path / OWN / "parts").glob("*"):  # From an old layout.
            if _OLD_PART_NAME.fullmatch(file.name):
                file.unlink(missing_ok=True)
        for name in (CHUNKS, f"{OWN}/parts"):
            with suppress(OSError):  # Not there, or with files of the user.
                (self.path / name).rmdir()

    # --- Finished files --------------------------------------------------------------

    def write(self, name: str, data: bytes | memoryview, **entries: Any) -> None:
        """Write a finished file, and its checksum and ``entries`` into the marker."""
        marker = self.marker()
        digest = hashlib.sha256(data).hexdigest()
        known = marker["sha256"]
        self._write_marker(
            marker | {"sha256": known | {name: [*known.get(name, []), digest]}}
        )
        write_whole(self.path / name, data)
        self._write_marker(marker | entries | {"sha256": known | {name: [digest]}})

    def remove(self, *names: str) -> None:
        """Remove finished files that were written here, according to the marker."""
        marker = self.marker()
        known = marker["sha256"]
        for name in {*names} & {*known}:
            (self.path / name).unlink(missing_ok=True)
        rest = {name: known[name] for name in known if name not in names}
        self._write_marker(marker | {"sha256": rest})

    def _write_marker(self, marker: Mapping[str, Any]) -> None:
        text = json.dumps(marker, indent=2, sort_keys=True) + "\n"
        write_whole(self.path / OWN / MARKER, text.encode())

    def _remove_unfinished(self) -> None:
        for folder in (self.path, self.path / OWN, self.path / CHUNKS):
            for file in folder.glob(".bayesduel-*"):
                if UNFINISHED.fullmatch(file.name):
                    file.unlink(missing_ok=True)


def write_chunk(folder: str, digest: str, data: bytes) -> None:
    """Write the file of a chunk to a folder that is claimed."""
    target = f"{folder}/{CHUNKS}/{digest}{ENDING}"
    for attempt in (1, 2, 3):
        unfinished = f"{folder}/{CHUNKS}/.bayesduel-{token_hex(8)}.unfinished"
        try:
            with open(unfinished, "xb") as file:
                file.write(_MAGIC + hashlib.sha256(data).digest() + data)
            os.replace(unfinished, target)
            return
        except BaseException as error:
            with suppress(OSError):
                os.unlink(unfinished)
            if not isinstance(error, OSError):
                raise
            # The folder of chunks is new, or a process that resumes cleaned up.
            if isinstance(error, FileNotFoundError) and attempt < 3:
                with suppress(OSError):
                    os.makedirs(f"{folder}/{CHUNKS}", exist_ok=True)
                continue
            raise OutputWriteError(
                f"out: cannot write {target}: {error.strerror or error}; finished "
                "chunks are kept; make room, and continue with resume"
            ) from error


def _warn_damaged(file: str, why: str) -> None:
    warnings.warn(
        f"{file} is damaged and is computed again: {why}",
        DamagedPartWarning,
        stacklevel=4,
    )

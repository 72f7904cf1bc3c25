"""Folders that results are written to: marked as ours, locked, checked when read.

What belongs to us in a user's folder stands under fixed names: results such as
``results.nc``, and a folder ``.bayesduel`` with

- ``marker.json``: format version, kind of results, request, and the SHA-256 of the
  finished files. Without it a folder that holds something is somebody else's.
- ``parts/NAME-DIGEST.EXT``: what is finished so far. A part is written under another
  name first, and its name holds the digest of its content: it is whole or not there,
  and damage is noticed when it is read.
- ``lock``: held by the kernel for the process that writes, so it falls with it;
  ``holder`` says which one that is. Processes that write shares of the parts at the
  same time hold ``lock-SHARE``.

Nothing else is ever removed.
"""

import hashlib
import json
import os
import re
import socket
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from filelock import FileLock, Timeout

from bayesduel.errors import DamagedPartWarning, OutputFolderError, OutputWriteError
from bayesduel.files.folders import (
    FORMAT,
    MARKER,
    OWN,
    PARTS,
    UNFINISHED,
    check_folder,
    read_checked,
    read_marker,
    unwritable,
    write_whole,
)

_LOCK = "lock"
_HOLDER = "holder"
_SHARE = "lock-"
_LOOKING_SECONDS = 5.0
_DIGITS = 32
_PART_NAME = re.compile(r"[0-9a-z]{1,32}-([0-9a-f]{32})\.[a-z]+")


class OwnedFolder:
    """A folder that belongs to results of one kind, locked until it is released.

    Use it in a ``with`` statement: leaving it releases the lock.

    Attributes
    ----------
    path : Path
        The folder.
    """

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
        share: str = "",
    ) -> Self:
        """Check a folder, make it, lock it and mark it as ours.

        Parameters
        ----------
        path : path
            A new or empty folder, or with ``resume`` or ``overwrite`` one that is
            marked as ours.
        kind : str
            What its results are, such as "comparison".
        resume, overwrite : bool
            What may be done with a folder that is not empty. Nothing is removed here.
        share : str
            What of the results is written, if others may write the rest at the same
            time: only parts, and what all of them write into the marker.

        Raises
        ------
        OutputFolderError
            If it cannot be written to, is not empty and neither ``resume`` nor
            ``overwrite`` is given (or both are), was not made by us, holds results of
            another kind, or another process writes to it.
        """
        path = check_folder(path, kind=kind, resume=resume, overwrite=overwrite)
        own = path / OWN
        try:
            (own / PARTS).mkdir(parents=True, exist_ok=True)
            lock = _locked(own, share)
        except OSError as error:
            raise unwritable(path, error) from error
        try:
            folder = cls(path, kind, lock)
            _check_others(own, share)
            # Another process may have finished here since the first look.
            check_folder(path, kind=kind, resume=resume, overwrite=overwrite)
            if not share:
                folder._remove_unfinished()
            folder._write_marker(folder.marker())
        except BaseException:
            lock.release()
            raise
        return folder

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Let other processes write to the folder."""
        self._lock.release()

    def marker(self) -> dict[str, Any]:
        """Return what the marker says; a new one if there is none."""
        found = read_marker(self.path)
        return found or {"format": FORMAT, "kind": self._kind, "sha256": {}}

    def note(self, **entries: Any) -> None:
        """Write entries such as the request into the marker."""
        self._write_marker(self.marker() | entries)

    # --- Parts -----------------------------------------------------------------------

    def keep_part(self, name: str, ending: str, data: bytes | memoryview) -> None:
        """Write a finished part, all of it or nothing.

        ``name`` is shortened to a digest, so it may hold any characters.
        """
        write_part(self.path, name, ending, data)

    def parts(self) -> Iterator[bytes]:
        """Read the finished parts, in the order of their names.

        Warns
        -----
        DamagedPartWarning
            Of each part whose content is not what was written; it is left out.
        """
        return self._read_parts(self._part_files())

    @staticmethod
    def _read_parts(files: Sequence[Path]) -> Iterator[bytes]:
        for file in files:
            try:
                data = file.read_bytes()
            except OSError as error:
                _warn_damaged(file, error.strerror or "it cannot be read")
                continue
            if _digest(data) == _digest_in(file.name):
                yield data
            else:
                _warn_damaged(file, "its checksum is another one than when written")

    def part(self, name: str) -> bytes | None:
        """Read the part that was kept under a name; None if there is none.

        Warns
        -----
        DamagedPartWarning
            As :meth:`parts`.
        """
        found = self._read_parts(sorted(self._parts.glob(f"{_short(name)}-*")))
        return next(found, None)

    def intact_parts(self) -> Callable[[str], bool]:
        """Return what says of a name whether a part is kept under it now.

        One that is damaged is removed when it is asked for.
        """
        known = {file.name.partition("-")[0] for file in self._part_files()}

        def is_intact(name: str) -> bool:
            if _short(name) not in known:
                return False
            if self.part(name) is not None:
                return True
            self.remove_part(name)
            return False

        return is_intact

    def wait_for(self, file: str) -> None:
        """Wait until a part is seen that another machine has written.

        Raises ``OutputWriteError`` if it does not appear.
        """
        deadline = time.monotonic() + _LOOKING_SECONDS
        while not (self._parts / file).is_file():
            if time.monotonic() > deadline:
                raise OutputWriteError(
                    f"out: {self._parts / file}, which a worker has written, is not "
                    "seen here; share the folder with the workers"
                )
            time.sleep(0.05)

    def remove_part(self, name: str) -> None:
        """Remove a part, by the name that it was kept under."""
        for file in self._parts.glob(f"{_short(name)}-*"):
            file.unlink(missing_ok=True)

    def remove_parts(self) -> None:
        """Remove the parts, by name."""
        for file in self._part_files():
            file.unlink(missing_ok=True)

    @property
    def _parts(self) -> Path:
        return self.path / OWN / PARTS

    def _part_files(self) -> list[Path]:
        return [each for each in sorted(self._parts.glob("*")) if _digest_in(each.name)]

    # --- Finished files --------------------------------------------------------------

    def write(
        self,
        name: str,
        data: bytes | memoryview,
        **entries: Any,
    ) -> None:
        """Write a finished file, and its checksum and ``entries`` into the marker.

        Both the old and the new checksum are good while the file is replaced, so that
        the folder is in order whenever the process is killed.
        """
        marker = self.marker()
        digest = hashlib.sha256(data).hexdigest()
        known = marker["sha256"]
        self._write_marker(
            marker | {"sha256": known | {name: [*known.get(name, []), digest]}}
        )
        write_whole(self.path / name, data)
        self._write_marker(marker | entries | {"sha256": known | {name: [digest]}})

    def read(self, name: str) -> bytes | None:
        """Read a finished file; None if there is none.

        Raises ``OutputFolderError`` if its content is not what was written.
        """
        file = self.path / name
        return read_checked(file) if file.is_file() else None

    def remove(self, *names: str) -> None:
        """Remove finished files that the marker says were written here."""
        marker = self.marker()
        for name in names:
            if name in marker["sha256"]:
                (self.path / name).unlink(missing_ok=True)
        known = marker["sha256"]
        kept = {name: known[name] for name in known if name not in names}
        self._write_marker(marker | {"sha256": kept})

    def _write_marker(self, marker: Mapping[str, Any]) -> None:
        text = json.dumps(marker, indent=2, sort_keys=True) + "\n"
        write_whole(self.path / OWN / MARKER, text.encode())

    def _remove_unfinished(self) -> None:
        """Remove what processes that were killed have left; we hold the lock."""
        for folder in (self.path, self.path / OWN, self._parts):
            for file in folder.iterdir():
                if UNFINISHED.fullmatch(file.name):
                    file.unlink(missing_ok=True)


def write_part(path: Path, name: str, ending: str, data: bytes | memoryview) -> str:
    """Write a part to a folder that is claimed; return the name of its file."""
    file = f"{_short(name)}-{_digest(data)}.{ending}"
    write_whole(path / OWN / PARTS / file, data)
    return file


def _digest(data: bytes | memoryview) -> str:
    return hashlib.sha256(data).hexdigest()[:_DIGITS]


def _short(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:16]


def _digest_in(name: str) -> str | None:
    found = _PART_NAME.fullmatch(name)
    return found.group(1) if found else None


def _warn_damaged(file: Path, why: str) -> None:
    warnings.warn(
        f"{file} is damaged and is computed again: {why}",
        DamagedPartWarning,
        stacklevel=3,
    )


def _locked(own: Path, share: str) -> FileLock:
    """Lock all results of a folder, or a share of them, and say who did."""
    name = f"{_SHARE}{share}" if share else _LOCK
    lock = FileLock(own / name, blocking=False)
    try:
        lock.acquire()
    except Timeout as error:
        raise _held(own, share) from error
    _sign(own / (f"{_HOLDER}-{share}" if share else _HOLDER))
    return lock


def _check_others(own: Path, share: str) -> None:
    """Raise where a share is written beside all results, or they beside a share."""
    names = [_LOCK] if share else sorted(each.name for each in own.glob(f"{_SHARE}*"))
    for name in names:
        try:
            # Others may be looking, too, for a moment.
            with FileLock(own / name, timeout=_LOOKING_SECONDS):
                pass
        except Timeout as error:
            raise _held(own, name.removeprefix(_SHARE) if not share else "") from error


def _held(own: Path, share: str) -> OutputFolderError:
    what = f"share {share} of {own.parent}" if share else str(own.parent)
    return OutputFolderError(
        "out",
        f"{_holder(own, share)} is writing to {what}",
        own.parent,
        remedy="wait for it, or name another folder",
    )


def _sign(file: Path) -> None:
    """Write down who holds the lock, for those who find it held."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    holder = f"process {os.getpid()} on {socket.gethostname()}, since {now}"
    file.write_text(holder, "utf-8")


def _holder(own: Path, share: str = "") -> str:
    with suppress(OSError, ValueError):
        name = f"{_HOLDER}-{share}" if share else _HOLDER
        if text := (own / name).read_text("utf-8"):
            return text
    return "another process"

"""Which folders results may be written to, and how they are read back.

:mod:`bayesduel.experiments.folder` says what belongs to us in a folder.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

from bayesduel.errors import ArgumentError, OutputFolderError, OutputWriteError

FORMAT = 2  # Version of the layout of a folder. Folders of version 1 can be read only.

OWN = ".bayesduel"
CHUNKS = "chunks"
MARKER = "marker.json"
# The request in a folder of results; alone it makes no such folder.
REQUEST = "experiment.toml"

# Kinds of results that are not gone on with.
_AT_ONCE = ("audit", "bounds", "calibration", "fit")
# Files that describe the request.
_OF_REQUEST = re.compile(r"experiment(-[0-9]+)?\.(toml|csv)")

# Names of files that are being written.
UNFINISHED = re.compile(r"\.bayesduel-[0-9a-f]{16}\.unfinished")


def check_folder(
    path: Path | str, *, kind: str, resume: bool = False, overwrite: bool = False
) -> Path:
    """Check that results may be written to a folder, and make it."""
    if resume and overwrite:
        raise OutputFolderError(
            "out", "resume and overwrite exclude each other", path, remedy="choose one"
        )
    path = as_path("out", path)
    try:
        path.mkdir(parents=True, exist_ok=True)
        held = {file.name for file in path.iterdir()}
        if not os.access(path, os.W_OK | os.X_OK):
            raise PermissionError(13, "Permission denied", str(path))
    except FileExistsError as error:
        raise OutputFolderError(
            "out", f"cannot write to {path}: it is a file", path, remedy="name a folder"
        ) from error
    except OSError as error:
        raise unwritable(path, error) from error
    marker = read_marker(path)
    if marker is None and held - {OWN}:
        rule = f"{path} is not empty, and the marker of our results is missing "
        rule += f"({OWN}/{MARKER}), so it may hold files of yours"
        remedy = "name a new or empty folder"
        raise OutputFolderError("out", rule, path, remedy=remedy)
    if marker is None:
        return path
    if marker["kind"] != kind:
        rule = f"{path} holds results of another kind ({marker['kind']}, not {kind})"
        remedy = "name another folder"
        raise OutputFolderError("out", rule, path, remedy=remedy)
    if marker["format"] < FORMAT and resume and kind not in _AT_ONCE:
        raise OutputFolderError(
            "out",
            f"{path} was written by an earlier version of bayesduel; its results can "
            "be read and drawn, but not continued",
            path,
            remedy="replace them ({overwrite}), or name another folder",
        )
    held = {name for name in held if not _OF_REQUEST.fullmatch(name)} - {OWN}
    if held == {CHUNKS}:
        held = {file.name for file in (path / CHUNKS).iterdir()}
        held = {name for name in held if not UNFINISHED.fullmatch(name)}
    if held and not (resume or overwrite):
        go_on = "" if kind in _AT_ONCE else "go on from what it holds ({resume}), "
        remedy = f"{go_on}replace it ({{overwrite}}), or name another folder"
        raise OutputFolderError("out", f"{path} is not empty", path, remedy=remedy)
    return path


def require_folder(path: Any, *, resume: bool, overwrite: bool) -> None:
    """Raise where something is to be done with a folder that is not named."""
    for name, wanted in (("resume", resume), ("overwrite", overwrite)):
        if wanted and path is None:
            rule = "needs a folder"
            raise OutputFolderError(name, rule, wanted, remedy="give {out}")


def unwritable(path: Path, error: OSError) -> OutputFolderError:
    """Return the error of a folder that the system does not let us write to."""
    rule = f"cannot write to {path}: {error.strerror or error}"
    remedy = "allow it, or name another folder"
    return OutputFolderError("out", rule, path, remedy=remedy)


def as_path(
    argument: str, value: Any, error: type[ArgumentError] = OutputFolderError
) -> Path:
    """Return ``value`` as a path."""
    if not isinstance(value, str | os.PathLike) or not str(value):
        remedy = "give a str or pathlib.Path"
        raise error(argument, "must be a path", value, remedy=remedy)
    path = Path(value)
    if "\0" in str(path):
        raise error(argument, "must be a path without NUL", value)
    try:
        os.fsencode(path)
    except UnicodeEncodeError as reason:
        rule = "must be a path that the system can write"
        raise error(argument, rule, value) from reason
    return path


def read_marker(folder: Path) -> dict[str, Any] | None:
    """Return what the marker of a folder says; None if there is none."""
    file = folder / OWN / MARKER
    try:
        text = file.read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise OutputFolderError(
            "out", f"{file} cannot be read: {error}", folder, remedy="name another one"
        ) from error
    marker: dict[str, Any] = {}
    try:
        marker = json.loads(text)
        number = marker["format"]
        whole = isinstance(marker["kind"], str) and isinstance(marker["sha256"], dict)
    except (ValueError, KeyError, TypeError):
        number, whole = None, False
    if number not in (1, FORMAT) or not whole:
        what = f"is of format {number}" if whole else "is damaged"
        rule = f"{file} {what}, and this version writes format {FORMAT}"
        remedy = "name another folder"
        raise OutputFolderError("out", rule, folder, remedy=remedy)
    return marker


def read_checked(file: Path) -> bytes:
    """Read a file, and hold it against the checksum in the marker beside it, if any."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise _unreadable(file, error) from error
    _check_digest(file, hashlib.sha256(data).hexdigest())
    return data


def check_whole(file: Path) -> None:
    """Do as :func:`read_checked`, and keep nothing of the file in memory."""
    try:
        with file.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise _unreadable(file, error) from error
    _check_digest(file, digest)


def _unreadable(file: Path, error: OSError) -> OutputFolderError:
    rule, remedy = f"cannot be read: {error.strerror or error}", "allow it"
    return OutputFolderError(str(file), rule, file, remedy=remedy)


def _check_digest(file: Path, digest: str) -> None:
    known = (read_marker(file.parent) or {"sha256": {}})["sha256"].get(file.name)
    if known and digest not in known:
        raise OutputFolderError(
            str(file),
            "is damaged or was changed: its checksum is another one than when it was "
            "written",
            file,
            remedy="restore it, or compute it again with {overwrite}",
        )


@contextmanager
def renamed_when_whole(file: Path, mode: int = 0o666) -> Iterator[Path]:
    """Yield the name of a new file that takes the place of another once it is whole."""
    unfinished = file.with_name(f".bayesduel-{token_hex(8)}.unfinished")
    try:
        os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        yield unfinished
        with unfinished.open("rb+") as opened:
            os.fsync(opened.fileno())
        unfinished.replace(file)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise


def write_whole(file: Path, data: bytes | memoryview) -> None:
    """Write a file under a name of its own first, then rename it."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with renamed_when_whole(file) as unfinished:
            unfinished.write_bytes(data)
    except OSError as error:
        if isinstance(data, memoryview):
            # Else the traceback holds it, and at the end Python says that what it is of
            # cannot be closed.
            data.release()
        raise OutputWriteError(
            f"out: cannot write {file}: {error.strerror or error}; what was finished "
            "before is kept; make room, and go on with resume"
        ) from error

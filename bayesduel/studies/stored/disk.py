"""The file of a study on its disk: how it is opened, and what goes wrong with it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

from bayesduel.errors import OutputWriteError, StudyError, StudyFileError

__all__ = [
    "PRIVATE",
    "RESTORE",
    "address_of",
    "closed_block",
    "is_writable",
    "keeps_log",
    "place_of",
    "reading",
    "writing_to",
]

RESTORE = (
    "see what is sound with bayesduel study check, or restore a copy; one of a study "
    "that is open is made by bayesduel study copy"
)

PRIVATE = 0o600
"""Permissions of new files: votes are nobody else's business."""

_KEEPS_A_LOG = 2
"""Byte 18 of a file that SQLite keeps with a write-ahead log."""


def is_writable(path: Path) -> bool:
    """Say whether the file may be written, and a journal beside it."""
    return os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)


def keeps_log(path: Path) -> bool:
    """Say whether SQLite keeps the file with a write-ahead log."""
    try:
        with path.open("rb") as file:
            head = file.read(20)
    except OSError:
        return False
    return len(head) == 20 and head[18] == _KEEPS_A_LOG


def address_of(path: Path, *, read_only: bool = False) -> str:
    """Return how SQLite is told to open a file, after a look at what lies beside it."""
    logged, log = keeps_log(path), path.with_name(path.name + "-wal")
    if log.exists() and not logged:
        # SQLite would take what it holds for votes of this file.
        raise StudyFileError(
            str(path),
            f"the log {log.name} lies beside it and belongs to another file",
            remedy="move it away, and open the study again",
        )
    if is_writable(path) and not read_only:
        mode = "rw"
    elif not logged:
        mode = "ro"
    elif log.exists() and log.stat().st_size:
        raise StudyFileError(
            str(path),
            f"the newest votes are in {log.name} beside it, and cannot be taken in "
            "where nothing can be written",
            remedy="copy both files to another folder",
        )
    else:
        mode = "ro&immutable=1"
    return f"{path.absolute().as_uri()}?mode={mode}"


def place_of(path: Path) -> tuple[int, int] | None:
    """Return which file is at a path now."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


class _ClosedBlock(AbstractContextManager):
    """See :func:`closed_block`."""

    def __init__(self, steps: Generator[Any]) -> None:
        self._steps, self._block = steps, contextmanager(lambda: steps)()

    def __enter__(self) -> Any:
        try:
            return self._block.__enter__()
        except BaseException:
            self._steps.close()
            raise

    def __exit__(self, *error: Any) -> bool | None:
        try:
            return self._block.__exit__(*error)
        finally:
            self._steps.close()


def closed_block(
    function: Callable[..., Generator[Any]],
) -> Callable[..., AbstractContextManager]:
    """Do as ``contextmanager``, and clean up after an interrupt between two blocks.

    Such a one leaves the generator suspended for as long as its traceback is kept, as
    notebooks do: with its transaction open, which the next block would take for its
    own.
    """

    @wraps(function)
    def begin(*args: Any, **options: Any) -> AbstractContextManager:
        return _ClosedBlock(function(*args, **options))

    return begin


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into those of this package, which name the file."""
    try:
        yield
    except StudyError as error:
        if error.argument != "study":
            raise
        about = error.renamed(str(path)).as_kind(StudyFileError)
        raise about from error.__cause__
    except sqlite3.ProgrammingError as error:
        raise StudyFileError(
            str(path), str(error), remedy="open the study again"
        ) from error
    except (sqlite3.Error, UnicodeError, OverflowError) as error:
        rule = f"cannot be read as a study: {' '.join(str(error).split())}"
        remedy = RESTORE
        if not os.access(path, os.R_OK):
            remedy = "allow reading it, or name another file"
        elif _code_of(error).startswith(_LOCKED):
            rule = "is locked: another program holds the file"
            remedy = "end it, and try again"
        raise StudyFileError(str(path), rule, remedy=remedy) from error


_LOCKED = ("SQLITE_BUSY", "SQLITE_LOCKED")
_UNWRITABLE = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_BUSY",
               "SQLITE_CANTOPEN", "SQLITE_PERM")  # fmt: skip


def _code_of(error: BaseException | None) -> str:
    """Return what SQLite calls an error, "" where it is none of its own."""
    return getattr(error, "sqlite_errorname", "") or ""


@contextmanager
def writing_to(path: Path) -> Iterator[None]:
    """Do as :func:`reading`, and say what cannot be written."""
    try:
        with reading(path):
            yield
    except StudyError as error:
        cause = error.__cause__
        code = _code_of(cause)
        if not code.startswith(_UNWRITABLE):
            raise
        remedy = (
            "another program holds the file: end it, and try again"
            if code.startswith(_LOCKED)
            else "make room or allow writing, and try again"
        )
        raise OutputWriteError(
            f"{path}: {cause}; nothing of this was stored, and all that was "
            f"stored before is kept; {remedy}"
        ) from cause
    except OSError as error:
        raise OutputWriteError(
            f"{path}: {error.strerror or error}; nothing of this was stored"
        ) from error

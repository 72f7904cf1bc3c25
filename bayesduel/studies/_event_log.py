"""The file of a study: events that are appended, and never changed."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from bayesduel.errors import OutputWriteError, StudyError
from bayesduel.folders import as_path

__all__ = ["FORMAT", "Event", "EventLog"]

FORMAT = 1
"""Version of the layout of the file and of its events."""

_MAKE_IT = "make it with Study.create or bayesduel study new"

_APPLICATION = 0x62644475
"""Tells SQLite's own tools, and us, what the file is."""

_WAIT_SECONDS = 120.0
"""For the other writers; each of them needs milliseconds."""

_SCHEMA = """
CREATE TABLE events (
    number INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL
);
CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events of a study are never changed'); END;
CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events of a study are never deleted'); END;
"""


class Event(NamedTuple):
    """One line of the history of a study."""

    number: int
    """From 1, without gaps."""

    time: float
    """Seconds since 1970, as the clock of the writer had it."""

    kind: str
    body: dict[str, Any]

    def as_json(self) -> str:
        """Return the event as one line."""
        return json.dumps(self._asdict(), ensure_ascii=False)


class EventLog:
    """Events in an SQLite file with a write-ahead log.

    What :meth:`writing` has left without an error is on the disk: no end of the process
    or of the machine takes it away again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with _said(path):
            # One object may serve several threads; `writing` and `read` take turns.
            self._connection = sqlite3.connect(
                path,
                timeout=_WAIT_SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
            try:
                self._connection.execute("PRAGMA synchronous=FULL")
            except BaseException:
                self._connection.close()
                raise
        self._turn = threading.RLock()

    @classmethod
    def create(cls, path: str | os.PathLike[str], time: float, body: dict) -> EventLog:
        """Make a file that holds the event "created", or none at all."""
        path = as_path("path", path, StudyError)
        try:
            # Whoever makes the file has it; SQLite takes an empty one as new.
            with path.open("xb"):
                pass
        except FileExistsError as error:
            rule, remedy = "must be a new file", "open it, or name another one"
            raise StudyError.of("path", rule, str(path), remedy=remedy) from error
        except OSError as error:
            raise OutputWriteError(
                f"path: cannot write {path}: {error.strerror or error}"
            ) from error
        log = cls(path)
        try:
            with _said(path):
                run = log._connection.execute
                run("PRAGMA journal_mode=WAL")
                run(f"PRAGMA application_id={_APPLICATION}")
                run(f"PRAGMA user_version={FORMAT}")
                log._connection.executescript(f"BEGIN;{_SCHEMA}COMMIT;")
                with log.writing():
                    log.append(Event(1, time, "created", body))
        except BaseException:
            log.close()
            for suffix in ("", "-wal", "-shm"):
                with suppress(OSError):
                    path.with_name(path.name + suffix).unlink()
            raise
        return log

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> EventLog:
        """Open a file that was made by :meth:`create`."""
        path = as_path("path", path, StudyError)
        if not path.is_file():
            rule = "must be the file of a study, and is no file"
            raise StudyError.of("path", rule, str(path), remedy=_MAKE_IT)
        log = cls(path)
        try:
            with _said(path):
                application = log._number("application_id")
                version = log._number("user_version")
        except BaseException:
            log.close()
            raise
        if application == _APPLICATION and version == FORMAT:
            return log
        log.close()
        if application == _APPLICATION:
            rule = f"is of format {version}, and this version reads format {FORMAT}"
            remedy = "update bayesduel"
        else:
            rule, remedy = "must be the file of a study", _MAKE_IT
        raise StudyError.of("path", rule, str(path), remedy=remedy)

    def _number(self, pragma: str) -> int:
        return int(self._connection.execute(f"PRAGMA {pragma}").fetchone()[0])

    def read(self, after: int) -> Iterator[Event]:
        """Yield the events behind a number, in their order."""
        with self._turn, _said(self.path):
            rows = self._connection.execute(
                "SELECT number, time, kind, body FROM events WHERE number > ? "
                "ORDER BY number",
                (after,),
            ).fetchall()
        for number, time, kind, body in rows:
            yield Event(number, time, kind, json.loads(body))

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep all other writers out; on the way out everything is stored, or nothing.

        Raises
        ------
        OutputWriteError
            If it cannot be stored, as when the disk is full.
        """
        with self._turn, _said(self.path):
            run = self._connection.execute
            run("BEGIN IMMEDIATE")
            try:
                yield
                run("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    # SQLite itself takes back what a full disk has cut.
                    with suppress(sqlite3.Error):
                        run("ROLLBACK")
                raise

    def append(self, event: Event) -> None:
        """Write down an event, within :meth:`writing`."""
        body = json.dumps(event.body, ensure_ascii=False, separators=(",", ":"))
        self._connection.execute(
            "INSERT INTO events VALUES (?, ?, ?, ?)",
            (event.number, event.time, event.kind, body),
        )

    def copy(self, path: str | os.PathLike[str]) -> None:
        """Copy everything that is stored to a new file; others may go on writing."""
        path = as_path("path", path, StudyError)
        if path.exists():
            rule, remedy = "must be a new file", "name another one"
            raise StudyError.of("path", rule, str(path), remedy=remedy)
        with self._turn, _said(path), closing(sqlite3.connect(path)) as other:
            self._connection.backup(other)

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            self._connection.close()


_UNWRITABLE = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_BUSY",
               "SQLITE_CANTOPEN", "SQLITE_PERM")  # fmt: skip


@contextmanager
def _said(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into those of this package."""
    try:
        yield
    except sqlite3.ProgrammingError as error:
        raise StudyError(f"{path}: {error}; open the study again") from error
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorname", "") or ""
        if code.startswith(_UNWRITABLE):
            remedy = (
                "another program holds the file: end it, and try again"
                if code.startswith("SQLITE_BUSY")
                else "make room or allow writing, and try again"
            )
            raise OutputWriteError(
                f"{path}: {error}; nothing of this was stored, and all that was "
                f"stored before is kept; {remedy}"
            ) from error
        rule = f"cannot be read as a study: {error}"
        remedy = "restore it from a copy" if path.is_file() else "name another file"
        raise StudyError.of("path", rule, str(path), remedy=remedy) from error

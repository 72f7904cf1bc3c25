"""The file of a study on its disk: events that are appended, and never changed."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from errno import EEXIST
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np

from bayesduel.errors import OutputWriteError, StudyError, StudyFileError
from bayesduel.files.folders import as_path, renamed_when_whole
from bayesduel.studies.events import (
    BEGINNING,
    RESTORE,
    Event,
    body_text,
    broken,
    chained,
    check_names,
    missing,
)

FORMAT = 6
"""Version of the layout of the file and of its events.

Format 1 had no checksums; format 2 knew nothing of gold questions, of both orders, and
of what answers cost, format 3 of arms that are renamed, restored and merged and of
imports that are taken back, format 4 of sets of arms, format 5 of sets with contexts,
imported sets, gold sets and the worst of a set; and their files are as they were.
"""

PRIVATE = 0o600  # Permissions of new files: votes are nobody else's business.

_MUST = "must be the file of a study"
_MAKE_IT = "make it with Study.create or bayesduel study new"
_APPLICATION = 0x62644475  # Tells SQLite's own tools, and us, what the file is.

_ROWS_AT_ONCE = 1000

_WAIT_SECONDS = 120.0  # For the other writers; each of them needs milliseconds.

_TABLES = """
CREATE TABLE events (
    number INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    digest TEXT NOT NULL
);
CREATE TABLE seal (count INTEGER NOT NULL, digest TEXT NOT NULL);
INSERT INTO seal VALUES (0, '');
"""

_TRIGGERS = """
CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events of a study are never changed'); END;
CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events of a study are never deleted'); END;
"""

_LOCKED = ("SQLITE_BUSY", "SQLITE_LOCKED")
_UNWRITABLE = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_BUSY",
               "SQLITE_CANTOPEN", "SQLITE_PERM")  # fmt: skip


# Errors


class _ClosedBlock(AbstractContextManager):
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
    """Do as ``contextmanager``, and clean up after an interrupt between two blocks."""
    return wraps(function)(lambda *args, **kw: _ClosedBlock(function(*args, **kw)))


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
        elif str(getattr(error, "sqlite_errorname", "")).startswith(_LOCKED):
            rule = "is locked: another program holds the file"
            remedy = "end it, and try again"
        raise StudyFileError(str(path), rule, remedy=remedy) from error


@contextmanager
def writing_to(path: Path) -> Iterator[None]:
    """Do as :func:`reading`, and say what cannot be written."""
    try:
        with reading(path):
            yield
    except StudyError as error:
        cause = error.__cause__
        code = str(getattr(cause, "sqlite_errorname", ""))
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


def write_new(path: Path, text: str) -> None:
    """Write a text to a file that is new, or nothing at all."""
    if path.exists():
        raise FileExistsError(EEXIST, os.strerror(EEXIST), str(path))
    with writing_to(path), renamed_when_whole(path, PRIVATE) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


# The file


def _is_writable(path: Path) -> bool:
    # The folder, too: a journal lies beside the file.
    return os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)


def _keeps_log(path: Path) -> bool:
    # Byte 18 says whether SQLite keeps the file with a write-ahead log.
    try:
        with path.open("rb") as file:
            return file.read(20)[18:19] == b"\2"
    except OSError:
        return False


def _address_of(path: Path, *, read_only: bool) -> str:
    logged, log = _keeps_log(path), path.with_name(path.name + "-wal")
    if log.exists() and not logged:
        # SQLite would take what it holds for votes of this file.
        rule = f"the log {log.name} lies beside it and belongs to another file"
        remedy = "move it away, and open the study again"
        raise StudyFileError(str(path), rule, remedy=remedy)
    if _is_writable(path) and not read_only:
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


def _identity_of(path: Path) -> tuple[int, int] | None:
    # Which file is at a path now.
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


class EventLog:
    """Events in an SQLite file, which is all there is of a study.

    What :meth:`writing` has left without an error is in that file, on the disk: no end
    of the process or of the machine takes it away again. SQLite keeps a journal beside
    it for as long as it writes, milliseconds, and takes back what was cut.
    """

    def __init__(
        self, path: Path, *, read_only: bool = False, wait: float = _WAIT_SECONDS
    ) -> None:
        self.path, self.wait = path, wait
        self._turn = threading.RLock()
        self._identity = _identity_of(path)
        with reading(path):
            # One object may serve several threads; `writing` and `read` take turns.
            self._connection = sqlite3.connect(
                _address_of(path, read_only=read_only), uri=True, timeout=wait,
                isolation_level=None, check_same_thread=False,
            )  # fmt: skip
        run = self._connection.execute
        try:
            with reading(path):
                # EXTRA: the folder, too, is on the disk without the journal.
                run("PRAGMA synchronous=EXTRA")
                if not read_only and _keeps_log(path) and _is_writable(path):
                    # Take in the log of an older version, unless it is open elsewhere.
                    run("PRAGMA busy_timeout=0")
                    with suppress(sqlite3.OperationalError):
                        run("PRAGMA wal_checkpoint(TRUNCATE)")
                        run("PRAGMA journal_mode=DELETE")
                    self.wait_at_most(wait)
                self._format = self._number("user_version")
        except BaseException:
            self._connection.close()
            raise

    @classmethod
    def create(cls, path: str | os.PathLike[str], time: float, body: dict) -> EventLog:
        """Make a file that holds the event "created", or none at all."""
        path = as_path("path", path, StudyError)
        try:
            # Whoever makes the file has it; SQLite takes an empty one as new.
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE))
        except FileExistsError as error:
            rule, remedy = "must be a new file", "open it, or name another one"
            raise StudyError("path", rule, str(path), remedy=remedy) from error
        except OSError as error:
            raise OutputWriteError(
                f"path: cannot write {path}: {error.strerror or error}"
            ) from error
        log = None
        try:
            log = cls(path)
            with writing_to(path):
                log._connection.executescript(
                    f"""
                    BEGIN;
                    PRAGMA application_id={_APPLICATION};
                    PRAGMA user_version={FORMAT};
                    {_TABLES} {_TRIGGERS}
                    COMMIT;
                    """
                )
                log._format = FORMAT
            with log.writing():
                log.append(Event(1, time, "created", body), BEGINNING)
        except BaseException:
            if log is not None:
                log.close()
            for suffix in ("", "-journal"):
                with suppress(OSError):
                    path.with_name(path.name + suffix).unlink()
            raise
        return log

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        read_only: bool = False,
        wait: float = _WAIT_SECONDS,
    ) -> EventLog:
        """Open a file that was made by :meth:`create`."""
        path = as_path("path", path, StudyError)
        if not path.is_file():
            rule = f"{_MUST}, and is no file"
            raise StudyError("path", rule, str(path), remedy=_MAKE_IT)
        log = cls(path, read_only=read_only, wait=wait)
        try:
            with reading(path):
                application = log._number("application_id")
        except BaseException:
            log.close()
            raise
        if application == _APPLICATION and 1 <= log._format <= FORMAT:
            return log
        log.close()
        if application == _APPLICATION:
            rule = f"is of format {log._format}, and this version reads format {FORMAT}"
            raise StudyError(str(path), rule, remedy="update bayesduel")
        # A kill while it was made leaves an empty file.
        remedy = _MAKE_IT if path.stat().st_size else f"remove it, and {_MAKE_IT}"
        raise StudyError("path", _MUST, str(path), remedy=remedy)

    def _number(self, pragma: str) -> int:
        return int(self._connection.execute(f"PRAGMA {pragma}").fetchone()[0])

    def read(self, after: int, digest: str = BEGINNING) -> list[Event]:
        """Return the events behind the one of a number and checksum, in their order."""
        run = self._connection.execute
        with self._turn, reading(self.path):
            is_within, seal = self._connection.in_transaction, None
            try:
                if not is_within:  # Both tables at the same moment.
                    run("BEGIN")
                if self._format == 1:  # Another program may have chained it.
                    self._format = self._number("user_version")
                column = "digest" if self._format > 1 else "NULL"
                rows = run(
                    f"SELECT number, time, kind, body, {column} FROM events "
                    "WHERE number > ? ORDER BY number",
                    (after,),
                ).fetchall()
                if self._format > 1:
                    seal = run("SELECT count, digest FROM seal").fetchall()
            finally:
                if not is_within and self._connection.in_transaction:
                    run("ROLLBACK")
        events = []
        with reading(self.path):
            for row in rows:
                event = event_of(row, after + 1, digest)
                if seal is None:
                    check_names(event)
                after, digest = event.number, event.digest
                events.append(event)
        if seal is not None and seal != [(after, digest)]:
            rule = f"its seal is not that of event {after}: events are missing, or the "
            raise StudyFileError(
                str(self.path), f"{rule}file was replaced", after, remedy=RESTORE
            )
        return events

    def digest_of(self, number: int) -> str | None:
        """Return the checksum that the file has of an event."""
        with self._turn, reading(self.path):
            query = "SELECT digest FROM events WHERE number = ?"
            row = self._connection.execute(query, (number,)).fetchone()
        return None if row is None else row[0]

    def prefix(self, count: int) -> str:
        """Return a checksum of the first events as they lie there, "" in format 1."""
        if self._format == 1:
            return ""
        checksum = hashlib.sha256()
        with self._turn, reading(self.path):
            rows = self._connection.execute(
                "SELECT number, time, kind || '/' || body || digest FROM events "
                "WHERE number <= ? ORDER BY number",
                (count,),
            )
            while some := rows.fetchmany(_ROWS_AT_ONCE):
                *numbers, texts = zip(*some, strict=True)
                # Written out in decimals, times would take longer than all else.
                checksum.update(np.array(numbers).tobytes())
                checksum.update("".join(texts).encode())
        return checksum.hexdigest()

    @closed_block
    def writing(self) -> Generator[None]:
        """Keep other writers out; at the end everything is stored, or nothing."""
        run = self._connection.execute
        with self._turn, writing_to(self.path):
            # A block within another one stores nothing by itself.
            if is_within := self._connection.in_transaction:
                begin, end = "SAVEPOINT within", "RELEASE within"
                back = ["ROLLBACK TO within", "RELEASE within"]
            else:
                begin, end, back = "BEGIN IMMEDIATE", "COMMIT", ["ROLLBACK"]
                self._check_file()
            try:
                # Ctrl-C while it waits for others raises once it has begun.
                run(begin)
                yield
                if not is_within:
                    self._check_file()
                run(end)
            except BaseException:
                if self._connection.in_transaction:
                    # SQLite itself takes back what a full disk has cut.
                    with suppress(sqlite3.Error):
                        [run(statement) for statement in back]
                raise

    @property
    def is_writing(self) -> bool:
        """Whether something is not yet stored."""
        return self._connection.in_transaction

    @property
    def is_moved(self) -> bool:
        """Whether the file that was opened is no longer the one at its path."""
        return _identity_of(self.path) != self._identity

    def wait_at_most(self, seconds: float) -> None:
        """Wait so long for other programs that hold the file, and not two minutes."""
        self.wait = seconds
        with self._turn, reading(self.path):
            self._connection.execute(f"PRAGMA busy_timeout={int(1000 * seconds)}")

    def _check_file(self) -> None:
        if _identity_of(self.path) != self._identity:
            raise StudyFileError(
                str(self.path),
                "the file was deleted or replaced while it was open; nothing of this "
                "was stored",
                remedy="save what was stored before with Study.copy, or open the file "
                "that is there now",
            )

    def append(self, event: Event, before: str) -> Event:
        """Write down an event, within :meth:`writing`; return it as it is read back."""
        if self._format == 1:
            self._chain()
        text = body_text(event.body)
        digest = chained(before, event.number, event.time, event.kind, text)
        run = self._connection.execute
        run(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?)",
            (event.number, event.time, event.kind, text, digest),
        )
        run("UPDATE seal SET count = ?, digest = ?", (event.number, digest))
        return event._replace(body=json.loads(text), digest=digest)

    def _chain(self) -> None:
        # Give the events of format 1 their checksums; they stay as they are.
        run = self._connection.execute
        rows = run("SELECT number, time, kind, body, NULL FROM events ORDER BY number")
        chain, digest = [], BEGINNING
        for number, row in enumerate(rows.fetchall(), 1):
            digest = event_of(row, number, digest).digest
            chain.append((*row[:4], digest))
        run("ALTER TABLE events RENAME TO unchained")
        for statement in _TABLES.split(";")[:-1]:
            run(statement)
        self._connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", chain)
        run("UPDATE seal SET count = ?, digest = ?", (len(chain), digest))
        run("DROP TABLE unchained")
        for statement in _TRIGGERS.split("END;")[:-1]:
            run(f"{statement}END")
        run(f"PRAGMA user_version={FORMAT}")
        # Where this is taken back, the next one to read finds out.
        self._format = self._number("user_version")

    def copy(self, path: str | os.PathLike[str]) -> None:
        """Copy everything that is stored to a new file; others may go on writing."""
        path = as_path("path", path, StudyError)
        if path.exists():
            rule, remedy = "must be a new file", "name another one"
            raise StudyError("path", rule, str(path), remedy=remedy)
        with (
            self._turn,
            writing_to(path),
            renamed_when_whole(path, PRIVATE) as unfinished,
            closing(sqlite3.connect(unfinished)) as target,
        ):
            # It is no file of ours until it is renamed.
            target.execute("PRAGMA journal_mode=MEMORY")
            self._connection.backup(target)
            target.execute("PRAGMA journal_mode=DELETE")

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            self._connection.close()


def event_of(row: tuple[Any, ...], number: int, before: str) -> Event:
    """Return the event that a row of the file holds, if it follows on a checksum."""
    row_number, time, kind, text, stored = row
    if row_number != number:
        raise missing(number)
    if type(time) is not float or type(kind) is not str or type(text) is not str:
        raise broken(number, "a column of it is of another type")
    digest = chained(before, number, time, kind, text)
    if stored is not None and stored != digest:
        raise broken(number, "its checksum is another one than when it was stored")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise broken(number, "it is no JSON") from error
    if not isinstance(body, dict):
        raise broken(number, "it is no object of JSON")
    return Event(number, time, kind, body, digest)

"""The file of a study: events that are appended, and never changed."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from errno import EEXIST
from pathlib import Path
from typing import Any

import numpy as np

from bayesduel.errors import OutputWriteError, StudyError, StudyFileError
from bayesduel.files.folders import as_path, renamed_when_whole
from bayesduel.studies.stored.disk import (
    PRIVATE,
    RESTORE,
    address_of,
    closed_block,
    is_writable,
    keeps_log,
    place_of,
    reading,
    writing_to,
)
from bayesduel.studies.stored.event_checks import broken, check_names, missing
from bayesduel.studies.stored.events import BEGINNING, Event, body_text, chained

__all__ = ["FORMAT", "EventLog", "event_of", "write_new"]

FORMAT = 6
"""Version of the layout of the file and of its events.

Format 1 had no checksums; format 2 knew nothing of gold questions, of both orders, and
of what answers cost, format 3 of arms that are renamed, restored and merged and of
imports that are taken back, format 4 of sets of arms, format 5 of sets with contexts,
imported sets, gold sets and the worst of a set; and their files are as they were.
"""

_MUST = "must be the file of a study"
_MAKE_IT = "make it with Study.create or bayesduel study new"
_APPLICATION = 0x62644475
"""Tells SQLite's own tools, and us, what the file is."""

_ROWS_AT_ONCE = 1000

_WAIT_SECONDS = 120.0
"""For the other writers; each of them needs milliseconds."""

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


class EventLog:
    """Events in an SQLite file, which is all there is of a study.

    What :meth:`writing` has left without an error is in that file, on the disk: no end
    of the process or of the machine takes it away again. SQLite keeps a journal beside
    it for as long as it writes, milliseconds, and takes back what was cut.
    """

    def __init__(
        self, path: Path, *, read_only: bool = False, wait: float = _WAIT_SECONDS
    ) -> None:
        self.path, self._wait = path, wait
        self._turn = threading.RLock()
        self._place = place_of(path)
        with reading(path):
            # One object may serve several threads; `writing` and `read` take turns.
            self._connection = sqlite3.connect(
                address_of(path, read_only=read_only),
                uri=True,
                timeout=wait,
                isolation_level=None,
                check_same_thread=False,
            )
        try:
            with reading(path):
                # EXTRA: the folder, too, is on the disk without the journal.
                self._connection.execute("PRAGMA synchronous=EXTRA")
                if not read_only:
                    self._fold_log()
                self._format = self._number("user_version")
        except BaseException:
            self._connection.close()
            raise

    def _fold_log(self) -> None:
        """Take in the log of an older version, unless others have it open."""
        if keeps_log(self.path) and is_writable(self.path):
            run = self._connection.execute
            run("PRAGMA busy_timeout=0")
            with suppress(sqlite3.OperationalError):
                run("PRAGMA wal_checkpoint(TRUNCATE)")
                run("PRAGMA journal_mode=DELETE")
            self.wait_at_most(self._wait)

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
                script = f"""
                    BEGIN;
                    PRAGMA application_id={_APPLICATION};
                    PRAGMA user_version={FORMAT};
                    {_TABLES} {_TRIGGERS}
                    COMMIT;
                """
                log._connection.executescript(script)
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
        """Open a file that was made by :meth:`create`.

        ``wait`` are seconds for other programs that hold it. With ``read_only`` nothing
        is written to it, not even to take back what a killed writer has left half done:
        such a file is refused.
        """
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
        """Return the events behind the one of a number and checksum, in their order.

        Raises
        ------
        StudyError
            If the file holds anything but a continuation of it.
        """
        with self._turn, reading(self.path), self._same_moment():
            run = self._connection.execute
            if self._format == 1:  # Another one may have chained it.
                self._format = self._number("user_version")
            column = "digest" if self._format > 1 else "NULL"
            rows = run(
                f"SELECT number, time, kind, body, {column} FROM events "
                "WHERE number > ? ORDER BY number",
                (after,),
            ).fetchall()
            seal = run("SELECT count, digest FROM seal").fetchall() if (
                self._format > 1
            ) else None  # fmt: skip
        found = []
        with reading(self.path):
            for row in rows:
                event = event_of(row, after + 1, digest)
                if seal is None:
                    check_names(event)
                after, digest = event.number, event.digest
                found.append(event)
        if seal is not None and seal != [(after, digest)]:
            rule = f"its seal is not that of event {after}: events are missing, or the "
            raise StudyFileError(
                str(self.path), f"{rule}file was replaced", after, remedy=RESTORE
            )
        return found

    def is_long(self, number: int) -> bool:
        """Say whether there are so many events, each with a checksum."""
        if self._format == 1:
            return False
        with self._turn, reading(self.path):
            rows = self._connection.execute("SELECT count FROM seal").fetchall()
        return len(rows) == 1 and type(rows[0][0]) is int and rows[0][0] >= number

    def digest_of(self, number: int) -> str | None:
        """Return the checksum that the file has of an event."""
        with self._turn, reading(self.path):
            query = "SELECT digest FROM events WHERE number = ?"
            row = self._connection.execute(query, (number,)).fetchone()
        return None if row is None else row[0]

    def prefix(self, count: int) -> str:
        """Return a checksum of the first events as they lie there.

        Unlike the chain it is one checksum for all: many times as fast.
        """
        with self._turn, reading(self.path), self._same_moment():
            run = self._connection.execute
            rows = run(
                "SELECT number, time, kind || '/' || body || digest FROM events "
                "WHERE number <= ? ORDER BY number",
                (count,),
            )
            found = hashlib.sha256()
            while some := rows.fetchmany(_ROWS_AT_ONCE):
                *numbers, texts = zip(*some, strict=True)
                # Written out in decimals, times would take longer than all else.
                found.update(np.array(numbers).tobytes())
                found.update("\n".join(texts).encode())
            return found.hexdigest()

    @closed_block
    def _same_moment(self) -> Generator[None]:
        """Let several queries see the file as it was at the first of them."""
        if self._connection.in_transaction:
            yield
            return
        try:
            self._connection.execute("BEGIN")
            yield
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    @closed_block
    def writing(self) -> Generator[None]:
        """Keep all other writers out; on the way out everything is stored, or nothing.

        Raises
        ------
        OutputWriteError
            If it cannot be stored, as when the disk is full.
        StudyError
            If the file that was opened is no longer the one at its path.
        """
        with self._turn, writing_to(self.path):
            run = self._connection.execute
            if self._connection.in_transaction:
                with self._within():
                    yield
                return
            self._check_place()
            try:
                # Ctrl-C while it waits for others raises once it has begun.
                run("BEGIN IMMEDIATE")
                yield
                self._check_place()
                run("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    # SQLite itself takes back what a full disk has cut.
                    with suppress(sqlite3.Error):
                        run("ROLLBACK")
                raise

    @contextmanager
    def _within(self) -> Iterator[None]:
        """Be a block within another, which stores what is left of both."""
        run = self._connection.execute
        run("SAVEPOINT within")
        try:
            yield
        except BaseException:
            with suppress(sqlite3.Error):
                run("ROLLBACK TO within")
                run("RELEASE within")
            raise
        run("RELEASE within")

    @property
    def wait(self) -> float:
        """Seconds to wait for other programs that hold the file."""
        return self._wait

    @property
    def is_writing(self) -> bool:
        """Whether something is not yet stored."""
        return self._connection.in_transaction

    @property
    def is_moved(self) -> bool:
        """Whether the file that was opened is no longer the one at its path."""
        return place_of(self.path) != self._place

    def wait_at_most(self, seconds: float) -> None:
        """Wait so long for others who hold the file, and not two minutes."""
        self._wait = seconds
        with self._turn, reading(self.path):
            self._connection.execute(f"PRAGMA busy_timeout={int(1000 * seconds)}")

    def _check_place(self) -> None:
        if self.is_moved:
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
        """Give the events of format 1 their checksums; they stay as they are."""
        run = self._connection.execute
        rows = run("SELECT number, time, kind, body, NULL FROM events ORDER BY number")
        kept, digest = [], BEGINNING
        for place, row in enumerate(rows.fetchall(), 1):
            digest = event_of(row, place, digest).digest
            kept.append((*row[:4], digest))
        run("ALTER TABLE events RENAME TO unchained")
        for statement in _TABLES.split(";")[:-1]:
            run(statement)
        self._connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", kept)
        run("UPDATE seal SET count = ?, digest = ?", (len(kept), digest))
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
            closing(sqlite3.connect(unfinished)) as other,
        ):
            # It is no file of ours until it is renamed.
            other.execute("PRAGMA journal_mode=MEMORY")
            self._connection.backup(other)
            other.execute("PRAGMA journal_mode=DELETE")

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            self._connection.close()


def event_of(row: tuple[Any, ...], number: int, before: str) -> Event:
    """Return the event that a row of the file holds, if it follows on a checksum."""
    found, time, kind, text, kept = row
    if found != number:
        raise missing(number)
    if type(time) is not float or type(kind) is not str or type(text) is not str:
        raise broken(number, "a column of it is of another type")
    digest = chained(before, number, time, kind, text)
    if kept is not None and kept != digest:
        raise broken(number, "its checksum is another one than when it was stored")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise broken(number, "it is no JSON") from error
    if not isinstance(body, dict):
        raise broken(number, "it is no object of JSON")
    return Event(number, time, kind, body, digest)


def write_new(path: Path, text: str) -> None:
    """Write a text to a file that is new, or nothing at all."""
    if path.exists():
        raise FileExistsError(EEXIST, os.strerror(EEXIST), str(path))
    with writing_to(path), renamed_when_whole(path, PRIVATE) as unfinished:
        unfinished.write_text(text, encoding="utf-8")

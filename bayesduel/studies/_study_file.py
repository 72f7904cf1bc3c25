"""What is stored of a study, and what that adds up to."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bayesduel.errors import StudyError, StudyFileError, errors_as
from bayesduel.files.folders import as_path
from bayesduel.studies._rules import Rule
from bayesduel.studies.replay.packed import packed, unpacked
from bayesduel.studies.replay.state import StudyState
from bayesduel.studies.stored import snapshots
from bayesduel.studies.stored.disk import closed_block, reading
from bayesduel.studies.stored.event_checks import KEPT_WITH_WHO
from bayesduel.studies.stored.event_log import EventLog, write_new
from bayesduel.studies.stored.events import BEGINNING, Event
from bayesduel.studies.tickets import checked_judge

__all__ = ["StudyFile"]


class StudyFile:
    """An open file of a study, and the state after its events."""

    def __init__(self, log: EventLog, by: str | None = None) -> None:
        self._log, self._by = log, by
        self._turn = threading.RLock()
        self._clock = time.time
        self._state: StudyState | None = None
        self._rule: Rule | None = None
        self._resting = self._remark = ""
        self._kept = 0
        self._stored = 0, BEGINNING
        try:
            self._recall()
            state = self._current()
            self._settings = state.settings
            self._stored = state.last, state.digest
        except BaseException:
            log.close()
            raise

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, by: str | None = None) -> Self:
        """Open the file of a study.

        Parameters
        ----------
        path : path
        by : str, optional
            Who changes what the study is about: kept with each such event, while
            answers are kept with their judges.

        Raises
        ------
        StudyError
            If it is none, or of a newer format.
        """
        by = checked_judge(by, "by")
        return cls(EventLog.open(path), by)

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._log.path

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of the arms that are not retired."""
        with self._turn:
            state = self._current()
            return tuple(state.arms[arm] for arm in state.active)

    @property
    def policy(self) -> str:
        """Who asks."""
        return self._settings.policy

    @property
    def choose_from(self) -> int:
        """How many arms a question shows."""
        return self._settings.choose_from

    def events(self) -> list[Event]:
        """Return the history of the study."""
        return self._log.read(0)

    def export(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the history as JSON lines, one event a line; write it to a new file.

        Arms are numbered from 0, in the order in which they came.
        """
        text = "".join(f"{event.as_json()}\n" for event in self._log.read(0))
        if path is not None:
            write_new(as_path("path", path, StudyError), text)
        return text

    def copy(self, path: str | os.PathLike[str]) -> None:
        """Copy the study to a new file, while others may go on writing."""
        self._log.copy(path)

    def wait_at_most(self, seconds: float) -> None:
        """Wait so long for other programs that hold the file; by default two minutes.

        Whatever takes longer raises ``OutputWriteError`` or ``StudyFileError``.
        """
        self._log.wait_at_most(seconds)

    def follow(self, *, anew: bool = False) -> None:
        """Go on with the file that is at the path now, if another one was opened.

        A file that was moved away and back, or restored from a copy that holds all that
        was stored, takes answers again.

        Parameters
        ----------
        anew : bool
            Open it in any case, as after a ``StudyFileError``: what is kept of a file
            that was overwritten in its place may be wrong.

        Raises
        ------
        StudyFileError
            If there is no file, or none that continues this study.
        """
        with self._turn:
            if not (anew or self._log.is_moved):
                return
            path = self.path
            if not path.is_file():
                rule = "was moved or deleted while it was open"
                raise StudyFileError(str(path), rule, remedy="put it back")
            with errors_as(StudyFileError):
                log = EventLog.open(path, wait=self._log.wait)
            try:
                self._check_continued(log.read(0))
            except BaseException:
                log.close()
                raise
            self._log.close()
            self._log = log

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            self._keep()
            self._log.close()

    def _check_continued(self, events: list[Event]) -> None:
        """Refuse a file that lacks what was stored, or holds another study."""
        number, digest = self._stored
        if number and (len(events) < number or events[number - 1].digest != digest):
            rule = "was replaced by a file that lacks answers of this study"
            remedy = "put the right one back, or open this one anew"
            raise StudyFileError(str(self.path), rule, remedy=remedy)

    def _recall(self) -> None:
        """Begin with what is kept of a long study, if it is of the same events."""
        if not self._log.is_long(snapshots.EVERY):
            return
        found = snapshots.kept(self.path, "state")
        if found is not None and self._log.prefix(found.number) == found.prefix:
            with snapshots.without_collector():
                self._state = unpacked(found.payload)
            self._kept = found.number

    def _keep(self) -> None:
        """Keep what a long study adds up to, and where a policy is that came far."""
        state = self._state
        if state is None:
            return
        with suppress(StudyError):  # It is closed, or gone.
            policy = None if self._rule is None else self._rule.kept(state)
            if policy is not None and self._log.digest_of(state.last) == state.digest:
                found = snapshots.Kept(state.last, state.digest, policy)
                snapshots.keep(self.path, "policy", found)
            long_ago = state.last >= self._kept + snapshots.EVERY
            if long_ago and self._log.is_long(state.last):
                prefix = self._log.prefix(state.last)
                found = snapshots.Kept(state.last, prefix, packed(state))
                snapshots.keep(self.path, "state", found)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = self._current()
        return (
            f"{type(self).__name__}({self.path.name}: {len(state.active)} arms, "
            f"{state.settings.policy}, {state.num_votes} votes, {len(state.open)} out)"
        )

    def _current(self) -> StudyState:
        """Return the state after all that is stored."""
        after = 0 if self._state is None else self._state.last
        digest = BEGINNING if self._state is None else self._state.digest
        events = self._log.read(after, digest)
        if self._state is None:
            self._check_continued(events)
        try:
            with reading(self.path), snapshots.without_collector():
                for event in events:
                    if self._state is None:
                        self._state = StudyState.begin(event)
                    else:
                        self._state.apply(event)
        except BaseException:
            # As by Ctrl-C, in the middle of an event.
            self._state = self._rule = None
            raise
        if self._state is None:
            raise StudyError(str(self.path), "has no events", remedy="make it anew")
        return self._state

    @closed_block
    def _writing(self) -> Generator[StudyState]:
        """Let nobody else write; forget what could not be stored."""
        with self._turn:
            last = None
            try:
                with self._log.writing():
                    state = self._current()
                    last = state.last
                    yield state
            except BaseException:
                # Also what a block within this one has stored is taken back.
                state = self._state
                if last is not None and state is not None and state.last != last:
                    self._state = self._rule = None
                raise
            if self._state is not None and not self._log.is_writing:
                self._stored = self._state.last, self._state.digest

    @closed_block
    def at_once(self) -> Generator[None]:
        """Store what is told and asked within it together: one wait for the disk.

        All of it, or nothing where the block ends in an error; so what is returned
        within it is on the disk only at its end. Nobody else writes meanwhile.
        """
        with self._writing():
            yield

    def _append(self, kind: str, body: dict[str, Any]) -> None:
        # Within _writing nobody else has changed it.
        state = self._state or self._current()
        if self._by is not None and kind in KEPT_WITH_WHO:
            body = {**body, "by": self._by}
        event = Event(state.last + 1, self._clock(), kind, body)
        state.apply(self._log.append(event, state.digest))

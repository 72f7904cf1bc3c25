"""Checks and rescue of the file of a study, and of who asked in it."""

from __future__ import annotations

import os
import re
import shutil
import struct
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bayesduel.errors import BayesduelError, StudyError
from bayesduel.files.folders import as_path
from bayesduel.studies.disk import EventLog, event_of, reading
from bayesduel.studies.events import BEGINNING, Asked, Event, GoldAsked, record_of
from bayesduel.studies.questions import next_question, rule_of
from bayesduel.studies.state import StudyState


@dataclass(frozen=True)
class IntegrityReport:
    """Which events of a study are sound; returned by :func:`check_study`.

    Attributes
    ----------
    path : Path
    events : tuple of Event
        From the first on, as far as each of them follows on the one before.
    votes : int
        That count after these events, imported ones not among them.
    fault : str
        Why the next one cannot be believed, or the file not be opened; "" where all
        is sound.
    later : tuple of Event
        Events behind the fault whose own checksum holds. They do not count in a study
        that is saved: what they follow on is unknown.
    """

    path: Path
    events: tuple[Event, ...]
    votes: int
    fault: str
    later: tuple[Event, ...] = ()

    @property
    def later_answers(self) -> tuple[Event, ...]:
        """Answers behind the fault, to be told again by hand."""
        return tuple(event for event in self.later if event.kind == "answered")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a new study of the sound events.

        Raises
        ------
        StudyError
            If there is none, or the file exists.
        OutputWriteError
            If it cannot be written.
        """
        if not self.events:
            rule = f"no event is sound, so nothing can be saved: {self.fault}"
            raise StudyError(str(self.path), rule)
        first, *others = self.events
        log = EventLog.create(path, first.time, first.body)
        try:
            with log.writing():
                ((*_, last),) = [log.read(0)]
                digest = last.digest
                for event in others:
                    digest = log.append(event, digest).digest
        finally:
            log.close()


class ForeignQuestion(NamedTuple):
    """A question that the rules of the study would not have asked."""

    event: int
    question: int
    actual: str
    """The question that was asked, and on whose behalf."""

    expected: str
    """The question that a replay asks in its place, or why it asks none."""


@dataclass(frozen=True)
class VerifiedQuestions:
    """Whether the policy asked all questions of a study; see :func:`verify_study`.

    Attributes
    ----------
    questions : int
        That were asked.
    foreign : tuple of ForeignQuestion
        Those of them that the rules of the study would not have asked; each has
        ``event``, ``question``, ``actual`` and ``expected``, which is what they would.
    """

    questions: int
    foreign: tuple[ForeignQuestion, ...]


def verify_study(path: str | os.PathLike[str]) -> VerifiedQuestions:
    """Ask all questions of a study again, and say which were not its own.

    All that is random about a question is a function of the seed and the events before,
    so the rule, the floor, gold questions and the order in which arms are shown can be
    replayed. Whoever wrote questions into the file that suit them is found, even if the
    checksums are right. Whether ``stop_when`` had ended the asking is not looked at.

    Parameters
    ----------
    path : path
        Of the file. Nothing is written to it.

    Returns
    -------
    VerifiedQuestions
        A question of another version of this package, whose policy went another way,
        counts as foreign, too.

    Raises
    ------
    StudyError
        If there is no such file, or an event is not sound.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bayesduel.studies import Study, verify_study
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "drinks.study")
    ...     with Study.create(path, ["tea", "milk"], "balanced") as study:
    ...         _ = study.tell(study.ask()[0], "left")
    ...     verify_study(path)
    VerifiedQuestions(questions=1, foreign=())
    """
    with closing(EventLog.open(path)) as log, reading(log.path):
        first, *others = log.read(0)
        state, foreign = StudyState.begin(first), []
        rule = rule_of(state.settings)
        for event in others:
            record = event.kind in ("asked", "gold asked") and record_of(event.shown())
            if not isinstance(record, Asked | GoldAsked):
                state.apply(event)
                continue
            pool, context = state.settings.contexts, record.context
            is_of_pool = isinstance(context, str) and context in pool
            given = None if is_of_pool else context
            ours = next_question(state, rule, record.judge, given, event.time)
            if is_of_pool and not isinstance(ours, str):
                # Whoever asks may have named one of the pool.
                ours = ours._replace(context=context)
            state.apply(event)
            if isinstance(ours, str) or _essence(ours) != _essence(record):
                says = ours if isinstance(ours, str) else _words(state, ours)
                question = record.question, _words(state, record), says
                foreign.append(ForeignQuestion(event.number, *question))
            elif isinstance(record, Asked) and record.duel is not None:
                rule.accepted(state)
    return VerifiedQuestions(len(state.questions), tuple(foreign))


def _essence(question: Asked | GoldAsked) -> Asked | GoldAsked:
    # Only the parts of a question that are equal on every machine: last digits depend
    # on the order of sums.
    if isinstance(question, GoldAsked):
        return question
    duel = question.duel
    if duel is not None:
        duel = {name: duel[name] for name in ("first", "second", "votes")}
    return question._replace(information=None, reason="", duel=duel)


def _words(state: StudyState, question: Asked | GoldAsked) -> str:
    if isinstance(question, GoldAsked):
        names, rule = state.golds[question.gold], "gold"
        shown = [names[index] for index in question.places]
    else:
        shown, rule = [state.arms[arm] for arm in question.arms], question.rule
    return f"{' against '.join(shown)} for {rule}"


def check_study(path: str | os.PathLike[str]) -> IntegrityReport:
    """Check which recorded events of a study are intact.

    Parameters
    ----------
    path : path
        Of the file. Nothing is written to it.

    Raises
    ------
    StudyError
        If there is no such file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bayesduel.studies import Study, check_study
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "drinks.study")
    ...     with Study.create(path, ["tea", "milk"], "balanced") as study:
    ...         _ = study.tell(study.ask()[0], "left")
    ...     report = check_study(path)
    >>> len(report.events), report.votes, report.fault
    (3, 1, '')
    """
    path = as_path("path", path, StudyError)
    if not path.is_file():
        rule = "must be the file of a study, and is no file"
        raise StudyError("path", rule, str(path))
    try:
        events = _read(path)
    except BayesduelError as error:
        why = error.rule if isinstance(error, StudyError) else str(error)
        return _damaged(path, why)
    state, sound, fault = _replayed(events)
    later = tuple(events[len(sound) + 1 :])
    return IntegrityReport(
        path, sound, 0 if state is None else state.num_votes, fault, later
    )


def _read(path: Path) -> list[Event]:
    # All events of a file; nothing of it or beside it is changed.
    beside = [path.with_name(path.name + end) for end in ("-journal", "-wal")]
    try:
        with closing(EventLog.open(path, read_only=True)) as log:
            return log.read(0)
    except BayesduelError:
        if not any(file.exists() for file in beside):
            raise
    # In a copy, the journal of a killed writer is completed or rolled back.
    with tempfile.TemporaryDirectory() as folder:
        for file in filter(Path.exists, (path, *beside)):
            shutil.copy(file, folder)
        with closing(EventLog.open(Path(folder, path.name))) as log:
            return log.read(0)


def _replayed(events: list[Event]) -> tuple[StudyState | None, tuple[Event, ...], str]:
    # The state after the events that follow on one another, these, and the fault.
    state = None
    for count, event in enumerate(events):
        try:
            if state is None:
                state = StudyState.begin(event)
            else:
                state.apply(event)
        except StudyError as error:
            return state, tuple(events[:count]), error.rule
    return state, tuple(events), "" if events else "there is no event"


def _damaged(path: Path, why: str) -> IntegrityReport:
    # Find the intact events of a file that cannot be read as a study.
    data = path.read_bytes()
    rows = _rows_in(data)
    events: list[Event] = []

    def next_sound(number: int, before: str) -> Event | str:
        # The event that follows on a checksum, else what is wrong with all.
        fault = ""
        for row in rows[number]:
            try:
                return event_of(row, number, before)
            except StudyError as error:
                fault = error.rule
        return fault

    digest = BEGINNING
    while len(events) + 1 in rows:
        event = next_sound(len(events) + 1, digest)
        if isinstance(event, str):
            why = event
            break
        digest = event.digest
        events.append(event)
    state, sound, fault = _replayed(events)
    later = {}
    for number in sorted(rows):
        for before in rows.get(number - 1, ()) if number > len(sound) else ():
            # Its checksum holds if it follows on what the one before says.
            event = "" if before[-1] is None else next_sound(number, before[-1])
            if not isinstance(event, str):
                later[number] = event
    if len(sound) < len(events):
        why = fault
    if (many := _num_sealed(data)) > len(sound):
        why += f"; the file held {many} events"
    votes = 0 if state is None else state.num_votes
    return IntegrityReport(path, sound, votes, why, tuple(later.values()))


# Events in a file that SQLite cannot read any more, found by their records alone.
#
# SQLite reaches a row through the header of the file, the pages of its tree and the
# pointers of a page; where one of these is lost, it gives up all that lies behind. But
# an event is one record, complete in itself, and says by its checksum whether it is
# whole. So the records are looked for byte by byte, wherever they lie: in a file that
# was cut, whose first pages were overwritten, or that has holes. The format is that of
# https://www.sqlite.org/fileformat2.html, sections 1.3 to 2.1.

_MAGIC = b"SQLite format 3\0"
_USUAL_PAGE = 4096

_HEAD = re.compile(rb"(?=[\x05-\x0f]\x00[\x01-\x09])")
"""Where the header of a record may begin: its length, the number of the event, which
SQLite keeps before it and not among the columns, and a time. Texts hold no zero byte:
JSON writes one as an escape, so nothing that people typed looks like a record."""

_SEAL = re.compile(rb"\x04([\x01-\x04])\x81\x0d")
_DIGEST = re.compile(rb"[0-9a-f]{64}")
"""A row of the table ``seal``: the number of events, and the checksum of the last."""

_INTEGER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 8: 0, 9: 0}
"""By the type of a column: SQLite keeps a whole number of seconds as an integer."""

_REAL, _FIRST_TEXT = 7, 13

type Row = tuple[int, float, str, str, str | None]


def _rows_in(data: bytes) -> dict[int, list[Row]]:
    """Return the rows of events that the bytes of a file hold, by their number."""
    by_number: dict[int, list[Row]] = {}
    for match in _HEAD.finditer(data):
        for row in _rows_at(data, match.start()):
            rows = by_number.setdefault(row[0], [])
            if row not in rows:
                rows.append(row)
    chained = {
        number: [row for row in rows if row[-1] is not None]
        for number, rows in by_number.items()
    }
    return {number: rows for number, rows in chained.items() if rows} or by_number


def _num_sealed(data: bytes) -> int:
    """Return how many events a file held when it was last written to, 0 if unknown."""
    counts = [0]
    for match in _SEAL.finditer(data):
        size = _INTEGER_BYTES[match[1][0]]
        number, digest = data[match.end() :][:size], data[match.end() + size :][:64]
        if _DIGEST.fullmatch(digest):
            counts.append(int.from_bytes(number, "big"))
    return max(counts)


def _rows_at(data: bytes, start: int) -> Iterator[Row]:
    """Yield what a record that begins here may be, nothing where there is none."""
    end, kinds = start + data[start], []
    at = start + 1
    while at < end:
        kind, at = _number_at(data, at)
        kinds.append(kind)
    if at != end or len(kinds) not in (4, 5):
        return
    texts = kinds[2:]
    if any(kind < _FIRST_TEXT or kind % 2 == 0 for kind in texts):
        return
    lengths = [8 if kinds[1] == _REAL else _INTEGER_BYTES[kinds[1]]]
    lengths += [(kind - _FIRST_TEXT) // 2 for kind in texts]
    number, before = _number_before(data, start)
    size = data[start] + sum(lengths)
    # The length of the whole record stands before its number, and must agree.
    if not data.endswith(_as_number(size), 0, before):
        return
    for content in _contents(data, start, size):
        columns, at = [], data[start]
        for length in lengths:
            columns.append(content[at : at + length])
            at += length
        time, *words = columns
        kind, body, *digest = (word.decode("utf-8", "replace") for word in words)
        yield number, _seconds(kinds[1], time), kind, body, (*digest, None)[0]


def _seconds(kind: int, content: bytes) -> float:
    if kind == _REAL:
        return struct.unpack(">d", content)[0]
    if kind in (8, 9):
        return float(kind == 9)
    return float(int.from_bytes(content, "big", signed=True))


def _contents(data: bytes, start: int, size: int) -> Iterator[bytes]:
    """Yield the bytes of a record; of a long one those on further pages, too."""
    page, usable = _USUAL_PAGE, _USUAL_PAGE
    if data.startswith(_MAGIC):
        stated = int.from_bytes(data[16:18], "big")
        stated = 65536 if stated == 1 else stated
        if stated in (1 << power for power in range(9, 17)):
            page, usable = stated, stated - data[20]
    here = size
    if size > usable - 35:
        least = (usable - 12) * 32 // 255 - 23
        here = least + (size - least) % (usable - 4)
        here = here if here <= usable - 35 else least
    # Where bytes were lost at the beginning of the file, or put there, all pages have
    # moved, but the last one still ends with the file.
    moved = len(data) % page
    for first in dict.fromkeys((0, moved, moved - page if moved else 0)):
        content = data[start : start + here]
        pointer, seen = start + here, set()
        while len(content) < size:
            number = int.from_bytes(data[pointer : pointer + 4], "big")
            pointer = first + (number - 1) * page
            if number < 2 or number in seen or not 0 <= pointer <= len(data) - 4:
                break
            seen.add(number)
            content += data[pointer + 4 : pointer + usable][: size - len(content)]
        if len(content) == size:
            yield content
            if here == size:
                return


def _number_at(data: bytes, at: int) -> tuple[int, int]:
    """Return the number of variable length at a place, and the place behind it."""
    value = 0
    for position in range(at, min(at + 8, len(data))):
        value = value << 7 | data[position] & 0x7F
        if data[position] < 0x80:
            return value, position + 1
    return 0, len(data) + 1


def _number_before(data: bytes, end: int) -> tuple[int, int]:
    """Return the number of variable length that ends before a place, and its place."""
    at = max(end - 1, 0)
    while at > 0 and end - at < 8 and data[at - 1] >= 0x80:
        at -= 1
    return _number_at(data, at)[0], at


def _as_number(value: int) -> bytes:
    """Return a number of variable length as it is stored."""
    parts = [value & 0x7F]
    while value := value >> 7:
        parts.append(value & 0x7F | 0x80)
    return bytes(reversed(parts))

"""What of the file of a study can be believed, and saved; and who asked in it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bayesduel.errors import BayesduelError, StudyError
from bayesduel.files.folders import as_path
from bayesduel.studies.replay.state import StudyState
from bayesduel.studies.stored.damaged_files import Row, num_sealed, rows_in
from bayesduel.studies.stored.disk import reading
from bayesduel.studies.stored.event_checks import check_event
from bayesduel.studies.stored.event_log import EventLog, event_of
from bayesduel.studies.stored.events import BEGINNING, Event, gold_order

if TYPE_CHECKING:
    from bayesduel.studies._rules import Rule

__all__ = ["IntegrityReport", "VerifiedQuestions", "check_study", "verify_study"]

_DETAILS = ("information", "reason")
"""Of a question: sums in another order, on another machine, have other last digits."""


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
        return tuple(each for each in self.later if each.kind == "answered")

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
    asked: str
    """What was asked, and on whose behalf."""

    own: str
    """What would have been asked in its place, or why nothing."""


@dataclass(frozen=True)
class VerifiedQuestions:
    """Whether the policy asked all questions of a study; see :func:`verify_study`.

    Attributes
    ----------
    questions : int
        That were asked.
    foreign : tuple of ForeignQuestion
        Those of them that the rules of the study would not have asked; each has
        ``event``, ``question``, ``asked`` and ``own``, which is what they would have.
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
    from bayesduel.studies._asking import rule_of

    with closing(EventLog.open(path)) as log, reading(log.path):
        first, *others = log.read(0)
        state, foreign = StudyState.begin(first), []
        rule = rule_of(state.settings)
        for event in others:
            asked = event.kind in ("asked", "gold asked")
            found = _not_own(state, rule, event) if asked else None
            state.apply(event)
            if found is not None:
                foreign.append(found)
            elif asked and "duel" in event.body:
                rule.accepted(state)
    return VerifiedQuestions(len(state.questions), tuple(foreign))


def _not_own(state: StudyState, rule: Rule, event: Event) -> ForeignQuestion | None:
    """Return what is wrong with a question, None where the study would ask it."""
    check_event(state, event.shown())
    from bayesduel.studies._asking import next_question
    from bayesduel.studies._rules import Nothing

    body = event.shown().body
    judge, context = body.get("judge"), body.get("context")
    own = next_question(
        state,
        rule,
        judge,
        None if context in state.settings.contexts else context,
        event.time,
    )
    if isinstance(own, Nothing):
        says = own.reason
    else:
        if context in state.settings.contexts:
            # Whoever asks may have named one of the pool.
            own["context"] = context
        if _essence(own) == _essence(body):
            return None
        says = _words(state, own)
    return ForeignQuestion(event.number, body["question"], _words(state, body), says)


def _essence(body: dict[str, Any]) -> dict[str, Any]:
    """Return what of a question is the same on every machine."""
    found = {name: each for name, each in body.items() if name not in _DETAILS}
    duel = found.get("duel")
    if duel is not None:
        found["duel"] = [duel[name] for name in ("first", "second", "votes")]
    return found


def _words(state: StudyState, body: dict[str, Any]) -> str:
    if "gold" in body:
        golds = state.golds[body["gold"]]
        names = [golds[place] for place in gold_order(body)]
    else:
        arms = body["left"], body["right"], *body.get("also", ())
        names = [state.arms[arm] for arm in arms]
    return f"{' against '.join(names)} for {body.get('rule', 'gold')}"


def check_study(path: str | os.PathLike[str]) -> IntegrityReport:
    """Say which events of a study are sound.

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
    ...     found = check_study(path)
    >>> len(found.events), found.votes, found.fault
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
    """Return all events of a file, and change nothing of it or beside it."""
    beside = [path.with_name(path.name + end) for end in ("-journal", "-wal")]
    try:
        with closing(EventLog.open(path, read_only=True)) as log:
            return log.read(0)
    except BayesduelError:
        if not any(each.exists() for each in beside):
            raise
    # What a killed writer has left is taken in, or back, in a copy.
    with tempfile.TemporaryDirectory() as folder:
        for each in filter(Path.exists, (path, *beside)):
            shutil.copy(each, folder)
        with closing(EventLog.open(Path(folder, path.name))) as log:
            return log.read(0)


def _replayed(
    events: list[Event],
) -> tuple[StudyState | None, tuple[Event, ...], str]:
    """Return the state after the events that follow on one another, and the fault."""
    state = None
    for place, event in enumerate(events):
        try:
            if state is None:
                state = StudyState.begin(event)
            else:
                state.apply(event)
        except StudyError as error:
            return state, tuple(events[:place]), error.rule
    return state, tuple(events), "" if events else "there is no event"


def _damaged(path: Path, why: str) -> IntegrityReport:
    """Return what is sound of a file that cannot be read as a study."""
    data = path.read_bytes()
    rows = rows_in(data)
    events: list[Event] = []
    digest = BEGINNING
    while len(events) + 1 in rows:
        event, fault = _first_sound(rows[len(events) + 1], len(events) + 1, digest)
        if event is None:
            why = fault
            break
        digest = event.digest
        events.append(event)
    state, sound, fault = _replayed(events)
    later = (
        _first_sound(rows[number], number, before[-1])[0]
        for number in sorted(rows)
        if number > len(sound)
        for before in rows.get(number - 1, ())
        # Its own checksum holds if it follows on what the one before says of itself.
        if before[-1] is not None
    )
    if len(sound) < len(events):
        why = fault
    if (many := num_sealed(data)) > len(sound):
        why += f"; the file held {many} events"
    return IntegrityReport(
        path,
        sound,
        0 if state is None else state.num_votes,
        why,
        tuple({event.number: event for event in later if event is not None}.values()),
    )


def _first_sound(
    rows: Iterable[Row], number: int, before: str
) -> tuple[Event | None, str]:
    """Return the event that follows on a checksum, else what is wrong with all."""
    why = ""
    for row in rows:
        try:
            return event_of(row, number, before), ""
        except StudyError as error:
            why = error.rule
    return None, why

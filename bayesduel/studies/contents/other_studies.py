"""Votes of another study, each known by its content."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from typing import Any, NamedTuple

from bayesduel.errors import StudyError
from bayesduel.files.folders import as_path
from bayesduel.files.user_files import read_bytes
from bayesduel.studies.replay.questions import VoteRow
from bayesduel.studies.replay.state import StudyState
from bayesduel.studies.stored.event_log import EventLog
from bayesduel.studies.stored.events import BEGINNING, Event, body_text, chained

__all__ = ["OtherVotes", "is_study", "new_rows", "votes_of"]

_SQLITE = b"SQLite format 3\0"
_KEY_LENGTH = 24
"""Hexadecimal digits of a checksum that are kept for each vote: 96 bits."""


class OtherVotes(NamedTuple):
    """The votes of a study between the arms that they are about."""

    arms: tuple[str, ...]
    rows: list[VoteRow]


def is_study(path: str | os.PathLike[str]) -> bool:
    """Say whether a file is that of a study, or the history of one."""
    file = as_path("path", path, StudyError)
    if not file.is_file():
        return False
    with file.open("rb") as stream:
        head = stream.read(200)
    return head.startswith(_SQLITE) or (
        head.startswith(b"{") and b'"kind": "created"' in head
    )


def votes_of(other: str | os.PathLike[str]) -> OtherVotes:
    """Return the votes that count in the file of a study, or in its history."""
    events = _events_of(other)
    try:
        state = StudyState.begin(events[0])
        for event in events[1:]:
            state.apply(event)
    except StudyError as error:
        raise StudyError("other", f"{os.fspath(other)}: {error}", other) from error
    rows = [*_own_rows(events, state), *_imported_rows(events, state)]
    used = sorted({arm for row in rows for arm in row.arms})
    place = {arm: at for at, arm in enumerate(used)}
    return OtherVotes(
        tuple(state.arms[arm] for arm in used),
        [row._replace(arms=(*map(place.__getitem__, row.arms),)) for row in rows],
    )


def new_rows(
    found: OtherVotes, events: Sequence[Event], state: StudyState
) -> list[VoteRow]:
    """Return those that a study has not: neither counted, nor taken back itself."""
    known = {key for _, key in _answers(events)}
    for number in state.imports:
        known.update(*map(_parts, _keys_of(events[number - 1], state)))
    return [row for row in found.rows if known.isdisjoint(_parts(row.key))]


def _parts(key: str) -> set[str]:
    """Return the checksums in a key: of one answer, or of those in both orders."""
    return {key[at : at + _KEY_LENGTH] for at in range(0, len(key), _KEY_LENGTH)}


def _answers(events: Iterable[Event]) -> Iterator[tuple[int, str]]:
    """Yield the question of each answer, and what the answer is known by."""
    digest = BEGINNING
    for event in events:
        # Not the stored checksum: an export has none, and the first format had none.
        text = body_text(event.body)
        digest = chained(digest, event.number, event.time, event.kind, text)
        if event.kind == "answered":
            yield event.body["question"], digest[:_KEY_LENGTH]


def _own_rows(events: Iterable[Event], state: StudyState) -> list[VoteRow]:
    """Return the votes that were asked for, between arms that are not retired."""
    answers = dict(_answers(events))
    found = []
    for unit in state.questions.values():
        if state.is_vote(unit) and _is_there(state, unit.arms):
            key = "".join(answers[each.number] for each in state.orders_of(unit))
            found += [row._replace(key=key) for row in state.rows_of(unit)]
    return found


def _imported_rows(events: Sequence[Event], state: StudyState) -> list[VoteRow]:
    """Return imported votes: a table by what it says as a whole."""
    found = []
    for number, (_, rows) in state.imports.items():
        keys = _keys_of(events[number - 1], state)
        found += [
            row._replace(key=key)
            for row, key in zip(rows, keys, strict=True)
            if len({*row.arms}) > 1 and _is_there(state, row.arms)
        ]
    return found


def _keys_of(event: Event, state: StudyState) -> list[str]:
    """Return what the rows of an import are known by: those of a table together."""
    if "keys" in event.body:
        return event.body["keys"]
    rows = sorted(
        row.written(state.arms[arm] for arm in row.arms)
        for row in map(VoteRow.of_numbers, event.body["counts"])
    )
    key = hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:_KEY_LENGTH]
    return [key] * len(rows)


def _is_there(state: StudyState, arms: Iterable[int]) -> bool:
    return not any(state.is_retired[arm] for arm in arms)


def _events_of(other: str | os.PathLike[str]) -> list[Event]:
    path = as_path("other", other, StudyError)
    content = read_bytes(path, error=StudyError)
    if content.startswith(_SQLITE):
        with closing(EventLog.open(path)) as log:
            return log.read(0)
    rule = "must be the file of a study, or a history"
    remedy = "Study.export writes one"
    try:
        lines = content.decode().split("\n")
        events = [_event_of(json.loads(line)) for line in lines if line.strip()]
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise StudyError("other", rule, str(path), remedy=remedy) from error
    sound = [each for each in events if each is not None]
    if not events or len(sound) < len(events):
        raise StudyError("other", rule, str(path), remedy=remedy)
    return sound


def _event_of(found: dict[str, Any]) -> Event | None:
    """Return an event, None where a member of it is of another type."""
    types = {"number": int, "time": float, "kind": str, "body": dict}
    event = Event(**{name: found[name] for name in types})
    right = all(type(found[name]) is kind for name, kind in types.items())
    return event if right else None

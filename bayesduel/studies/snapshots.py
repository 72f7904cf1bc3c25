"""What long studies add up to, kept in the user's cache: they open without a replay.

A snapshot is a shortcut and no part of a study: it is used only where the checksum of
all events before it is that of the file, and may be removed at any time. Python objects
are kept as they are (pickled), which nobody but the owner of the cache may write.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import pickle
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields, replace
from functools import cache
from itertools import repeat
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayesduel.files.folders import renamed_when_whole
from bayesduel.program_cache import study_folder
from bayesduel.studies.disk import PRIVATE
from bayesduel.studies.state import JudgeRecord, PolicyEvent, Question, StudyState
from bayesduel.version import __version__

EVERY = 5000
"""Events: so many are replayed in a fraction of a second."""

EVERY_TOLD = 100
"""Votes and questions that a policy goes through in a third of a second."""

_FORGOTTEN_SECONDS = 60 * 86_400.0


class Snapshot(NamedTuple):
    """What was known after ``number`` events, and a checksum of these."""

    number: int
    prefix: str
    payload: Any


def load(path: Path, what: str) -> Snapshot | None:
    """Return the snapshot of the study at a path, None where there is nothing sound."""
    file = _file(path, what)
    if file is None:
        return None
    try:
        with file.open("rb") as stream:
            # Whoever else may write here could let us run anything.
            found = os.fstat(stream.fileno())
            if found.st_uid != os.geteuid() or found.st_mode & 0o022:
                return None
            head = json.loads(stream.readline())
            if head.pop("program") != _program():
                return None
            data = stream.read()
        if head.pop("sum") != hashlib.sha256(data).hexdigest():
            return None
        with without_collector():
            snapshot = Snapshot(**head, payload=pickle.loads(data))
        os.utime(file)
    except Exception:  # A damaged file, or one of anything else, is as good as none.
        return None
    return snapshot


def save(path: Path, what: str, snapshot: Snapshot) -> None:
    """Keep a snapshot, if that is possible."""
    file = _file(path, what)
    if file is None:
        return
    try:
        data = pickle.dumps(snapshot.payload, pickle.HIGHEST_PROTOCOL)
    except Exception:  # The state of a user's policy may hold anything.
        return
    number, prefix, _ = snapshot
    head = {"number": number, "prefix": prefix, "program": _program()}
    head["sum"] = hashlib.sha256(data).hexdigest()
    with suppress(OSError):
        with renamed_when_whole(file, PRIVATE) as unfinished:
            unfinished.write_bytes(json.dumps(head).encode() + b"\n" + data)
        for other in file.parent.iterdir():
            if other.stat().st_mtime < time.time() - _FORGOTTEN_SECONDS:
                other.unlink()


def _file(path: Path, what: str) -> Path | None:
    folder = study_folder() if hasattr(os, "geteuid") else None
    if folder is None:
        return None
    name = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:24]
    return folder / f"{name}.{what}"


@cache
def _program() -> str:
    # Names the sources that a snapshot depends on: any may change what events mean.
    digest = hashlib.sha256(f"{__version__}\n".encode())
    root = Path(__file__).resolve().parents[1]
    for source in sorted(root.rglob("*.py")):
        state = source.stat()
        name = source.relative_to(root)
        digest.update(f"{name} {state.st_size} {state.st_mtime_ns}\n".encode())
    return digest.hexdigest()


@contextmanager
def without_collector() -> Iterator[None]:
    """Let nothing look for garbage while very many objects are made."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


# The state as few large objects, which are read back at once


class _Sparse(NamedTuple):
    shape: tuple[int, ...]
    dtype: str
    places: np.ndarray
    values: np.ndarray


_COLUMNS = {"questions": Question, "told": PolicyEvent}


def packed(state: StudyState) -> dict[str, Any]:
    """Return what a state knows: each question once, of tables what is not zero."""
    known = dict(vars(state))
    for name, value in known.items():
        if isinstance(value, np.ndarray):
            places = np.flatnonzero(value)
            values = value.ravel()[places]
            known[name] = _Sparse(value.shape, value.dtype.str, places, values)
    known["questions"] = state.questions.values()
    for name, kind in _COLUMNS.items():
        cells = attrgetter(*(field.name for field in fields(kind)))
        columns = zip(*map(cells, known[name]), strict=True)
        known[name] = [_column(list(column)) for column in columns]
    for name in ("open", "waiting"):
        known[name] = [*known[name]]
    known["judges"] = {
        name: replace(record, halves=dict.fromkeys(record.halves))
        for name, record in state.judges.items()
    }
    return known


def unpacked(known: dict[str, Any]) -> StudyState:
    """Return the state."""
    state: Any = StudyState.__new__(StudyState)
    for name, value in known.items():
        if isinstance(value, _Sparse):
            table = np.zeros(value.shape, value.dtype)
            table.ravel()[value.places] = value.values
            value = table
        elif name in _COLUMNS:
            rows = zip(*map(_values, value), strict=True)
            value = [_COLUMNS[name](*row) for row in rows]
        setattr(state, name, value)
    state.questions = {question.number: question for question in state.questions}

    def found(numbers: Iterable[int]) -> dict[int, Question]:
        return {number: state.questions[number] for number in numbers}

    state.judges = defaultdict(JudgeRecord, state.judges)
    state.open, state.waiting = found(state.open), found(state.waiting)
    for record in state.judges.values():
        record.halves = found(record.halves)
    return state


_Column = np.ndarray | tuple[np.ndarray, list[Any]] | list[Any]
"""Numbers; places among few values, and these; or values as they are."""


def _column(values: list[Any]) -> _Column:
    if set(map(type, values)) in ({int}, {float}):
        return np.array(values)
    # A number is another value than the truth that equals it.
    known: dict[tuple[type, Any], int] = {}
    try:
        places = [known.setdefault((type(each), each), len(known)) for each in values]
    except TypeError:  # Some cannot be looked up.
        return values
    few = len(known) < len(values) // 2
    return (np.array(places), [value for _, value in known]) if few else values


def _values(column: _Column) -> Iterable[Any]:
    if isinstance(column, np.ndarray):
        return column.tolist()
    if isinstance(column, list):
        return column
    places, few = column
    if len(few) == 1:
        return repeat(few[0], len(places))
    return map(few.__getitem__, places.tolist())

"""The state of a long study as few large objects, which are read back at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from itertools import repeat
from operator import attrgetter
from typing import Any

import numpy as np

from bayesduel.studies.replay.questions import JudgeRecord, PolicyEvent, Question
from bayesduel.studies.replay.state import StudyState

__all__ = ["packed", "unpacked"]

_QUESTION, _TOLD = (
    attrgetter(*(each.name for each in fields(kind)))
    for kind in (Question, PolicyEvent)
)


def packed(state: StudyState) -> dict[str, Any]:
    """Return what a state knows: each question once, of tables what is not zero."""
    known = dict(vars(state))
    for name, value in known.items():
        if isinstance(value, np.ndarray):
            places = np.flatnonzero(value)
            known[name] = value.shape, value.dtype.str, places, value.ravel()[places]
    known["questions"] = _columns(map(_QUESTION, state.questions.values()))
    known["told"] = _columns(map(_TOLD, state.told))
    for name in ("open", "waiting"):
        known[name] = _numbers(known[name].values())
    known["halves"] = {
        name: _numbers(each.halves.values()) for name, each in state.judges.items()
    }
    known["judges"] = {
        name: tuple(
            getattr(each, field.name)
            for field in fields(each)
            if field.name != "halves"
        )
        for name, each in state.judges.items()
    }
    return known


def unpacked(known: dict[str, Any]) -> StudyState:
    """Return the state."""
    known = dict(known)
    questions = {row[0]: Question(*row) for row in _rows(known["questions"])}
    known["questions"] = questions
    known["told"] = [PolicyEvent(*row) for row in _rows(known["told"])]
    for name in ("open", "waiting"):
        known[name] = {number: questions[number] for number in known[name]}
    names = [each.name for each in fields(JudgeRecord) if each.name != "halves"]
    halves = known.pop("halves")
    known["judges"] = {
        judge: JudgeRecord(
            **dict(zip(names, row, strict=True)),
            halves={number: questions[number] for number in halves[judge]},
        )
        for judge, row in known["judges"].items()
    }
    state = StudyState.__new__(StudyState)
    for name, value in known.items():
        if isinstance(value, tuple) and len(value) == 4 and isinstance(value[0], tuple):
            shape, dtype, places, values = value
            table = np.zeros(shape, dtype)
            table.ravel()[places] = values
            value = table
        setattr(state, name, value)
    return state


def _numbers(questions: Iterable[Question]) -> list[int]:
    return [each.number for each in questions]


_Column = np.ndarray | tuple[np.ndarray, list[Any]] | list[Any]
"""Numbers; places among few values, and these; or values as they are."""


def _columns(rows: Iterable[tuple[Any, ...]]) -> list[_Column]:
    """Return a table by columns: few objects, where rows would be very many."""
    return [_column(list(each)) for each in zip(*rows, strict=True)]


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
    return (np.array(places), [each for _, each in known]) if few else values


def _rows(columns: list[_Column]) -> Iterator[tuple[Any, ...]]:
    return zip(*map(_values, columns), strict=True)


def _values(column: _Column) -> Iterable[Any]:
    if isinstance(column, np.ndarray):
        return column.tolist()
    if isinstance(column, list):
        return column
    places, few = column
    if len(few) == 1:
        return repeat(few[0], len(places))
    return map(few.__getitem__, places.tolist())

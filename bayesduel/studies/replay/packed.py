"""The state of a long study as few large objects, which are read back at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from operator import attrgetter
from typing import Any

import numpy as np

from bayesduel.studies.replay.questions import Question
from bayesduel.studies.replay.state import StudyState

__all__ = ["packed", "unpacked"]

_NAMES = [each.name for each in fields(Question)]
_ROW = attrgetter(*_NAMES)


def packed(state: StudyState) -> dict[str, Any]:
    """Return what a state knows: each question once, of tables what is not zero."""
    known = dict(vars(state))
    for name, value in known.items():
        if isinstance(value, np.ndarray):
            places = np.flatnonzero(value)
            known[name] = value.shape, value.dtype.str, places, value.ravel()[places]
    known["questions"] = [_ROW(each) for each in state.questions.values()]
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
    from bayesduel.studies.replay.questions import JudgeRecord

    known = dict(known)
    questions = {row[0]: Question(*row) for row in known["questions"]}
    known["questions"] = questions
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

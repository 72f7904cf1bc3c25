"""What an event must be before it counts: its fields, their types, what they name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from bayesduel.errors import StudyError
from bayesduel.studies.replay.questions import Questions, VoteRow
from bayesduel.studies.stored.disk import RESTORE
from bayesduel.studies.stored.events import (
    Event,
    answers_to,
    gold_names,
    gold_order,
)

__all__ = ["KEPT_WITH_WHO", "broken", "check_event", "check_names", "missing"]

_SEE = "see what is sound with: bayesduel study check FILE"


def broken(number: int, what: str) -> StudyError:
    """Return the error of an event that cannot be believed."""
    rule = f"event {number} of the study is broken: {what}"
    return StudyError("study", rule, number, remedy=_SEE)


def missing(number: int) -> StudyError:
    """Return the error of an event that is not there."""
    rule = f"event {number} of the study is missing"
    return StudyError("study", rule, number, remedy=RESTORE)


def check_event(state: Questions, event: Event) -> None:
    """Refuse an event that cannot follow on a state."""
    known = _FIELDS.get(event.kind)
    if known is None:
        raise StudyError(
            "study",
            f"event {event.number} is of the unknown kind {event.kind!r}; a newer "
            "version wrote it, or it is damaged",
            event.kind,
            remedy=f"update bayesduel, or {_SEE}",
        )
    body = event.body
    for names in known:
        for name, is_right in names.items():
            if name in body and not is_right(body[name]):
                raise broken(event.number, f"its {name} is {_short(body[name])}")
            if name not in body and names is known[0]:
                raise broken(event.number, f"it has no {name}")
    check = _CHECKS.get(event.kind)
    what = None if check is None else check(state, event.number, event.body)
    if what is not None:
        raise broken(event.number, what)


def check_names(event: Event) -> None:
    """Refuse what no version without checksums wrote."""
    if event.kind in _FIELDS:
        needed, optional = _FIELDS[event.kind]
        for name in event.body:
            if name not in needed and name not in optional:
                raise broken(event.number, f"it has an unknown field {_short(name)}")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _whole(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**53


def _some(value: Any) -> bool:
    return _whole(value) and value > 0


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _number(value: Any) -> bool:
    # An integer may be too large to be a float at all.
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _price(value: Any) -> bool:
    return _number(value) and value >= 0


def _share(value: Any) -> bool:
    return _number(value) and 0 < value < 1


def _yes_or_no(value: Any) -> bool:
    return type(value) is bool


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def _scalars(value: Any) -> bool:
    return isinstance(value, list) and all(
        type(each) is bool or _number(each) for each in value
    )


def _places(value: Any) -> bool:
    return isinstance(value, list) and all(map(_whole, value))


def _anything(value: Any) -> bool:
    return True


_DUEL = {
    "champion": _whole, "exploit": _whole, "first": _whole, "second": _whole,
    "votes": _some, "round": _whole, "idle": _whole,
}  # fmt: skip


def _duel(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and all(name in value and is_right(value[name])
                for name, is_right in _DUEL.items())
        and value["first"] != value["second"]
        and _text(value.get("program", ""))
        and ("program" not in value or _scalars(value.get("note")))
    )  # fmt: skip


def _counts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_row, value))


def _row(value: Any) -> bool:
    if not isinstance(value, list) or len(value) == 5:
        return isinstance(value, list) and all(map(_whole, value))
    has_lists = len(value) in (2, 3) and all(map(_places, value[:2]))
    return has_lists and value[2:] in ([], [True])


_RATE = {
    "rule": _text, "false_stops": _whole, "false_share": _number,
    "false_lower": _number, "false_upper": _number, "undecided_share": _number,
}  # fmt: skip


def _rates(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(rate, dict)
        and rate.keys() == _RATE.keys() | {"median_votes"}
        and all(is_right(rate[name]) for name, is_right in _RATE.items())
        and (rate["median_votes"] is None or _number(rate["median_votes"]))
        for rate in value
    )


_Fields = dict[str, Callable[[Any], bool]]

_BY: _Fields = {"by": _text}
_WHO: _Fields = {"judge": _text, **_BY}

_FIELDS: dict[str, tuple[_Fields, _Fields]] = {
    "asked": (
        {"question": _some, "left": _whole, "right": _whole, "rule": _text,
         "reason": _text, "lease": _number},
        {"judge": _text, "context": _anything, "request": _some, "replaces": _some,
         "duel": _duel, "information": _number, "twin_of": _some, "also": _places},
    ),
    "gold asked": (
        {"question": _some, "gold": _whole, "lease": _number},
        {"judge": _text, "context": _anything, "swapped": _yes_or_no,
         "order": _places},
    ),
    "answered": ({"question": _some, "answer": _text}, _WHO),
    "withdrawn": ({"question": _some}, _WHO),
    "undone": ({"question": _some}, _WHO),
    "arm added": ({"name": _text}, {"share": _share, **_BY}),
    "arm retired": ({"name": _text}, _BY),
    "arm restored": ({"name": _text}, _BY),
    "arm renamed": ({"name": _text, "to": _text}, _BY),
    "arms merged": ({"name": _text, "into": _text}, _BY),
    "imported": ({"source": _text, "counts": _counts}, {"keys": _texts, **_BY}),
    "import undone": ({"event": _some}, _BY),
    "gold added": ({"better": _text, "worse": _text}, {"also": _texts, **_BY}),
    "judge set": (
        {"name": _text},
        {"limit": _whole, "arms": _texts, "price": _price, "trusted": _yes_or_no,
         **_BY},
    ),
    "audited": (
        {"policy": _text, "model": _text, "arms": _texts, "votes": _number,
         "delta": _number, "width": _number, "budget": _whole, "look_every": _whole,
         "num_runs": _whole, "seed": _whole, "rates": _rates, "remarks": _texts},
        {},
    ),
}  # fmt: skip
"""By kind: the fields that an event must have, and those that it may have.

Others are kept where a checksum vouches for them: a newer version wrote them.
"""


KEPT_WITH_WHO = frozenset(
    kind for kind, (_, optional) in _FIELDS.items() if "by" in optional
) - {"answered", "withdrawn", "undone"}
"""Events that say who changed what a study is about."""


def _asked(state: Questions, number: int, body: dict[str, Any]) -> str | None:
    left, right = body["left"], body["right"]
    if (what := _next(state, body)) is not None:
        return what
    arms = [left, right, *body.get("also", ())]
    size = state.settings.choose_from
    if len({*arms}) != size or len(arms) != size:
        return f"it asks about arms {arms}, and not about {size} different ones"
    if not all(_is_asked(state, arm) for arm in arms):
        return f"it asks about arms {arms}"
    if "twin_of" in body and not _is_other_order(state, body):
        return f"it is not the other order of question {body['twin_of']}"
    if "replaces" in body and body["replaces"] not in state.waiting:
        return f"question {body['replaces']}, which it replaces, is not open"
    duel = body.get("duel")
    if duel is not None:
        arms = [duel[name] for name in ("champion", "first", "second")]
        if not all(_is_asked(state, arm) for arm in arms):
            return f"its duel is of arms {arms[1]} and {arms[2]}"
    request = body.get("request")
    own = request == number and duel is not None
    if request is not None and not own and request not in state.requests:
        return f"nothing was asked for in event {request}"
    return None


def _next(state: Questions, body: dict[str, Any]) -> str | None:
    if body["question"] != len(state.questions) + 1:
        return f"question {body['question']} does not follow on {len(state.questions)}"
    return None


def _is_other_order(state: Questions, body: dict[str, Any]) -> bool:
    first = state.questions.get(body["twin_of"])
    return (
        first is not None
        and first.twin is first.twin_of is first.gold is None
        and (first.left, first.right) == (body["right"], body["left"])
        and not first.withdrawn
    )


def _gold_asked(state: Questions, number: int, body: dict[str, Any]) -> str | None:
    if body["gold"] >= len(state.golds):
        return f"there is no gold question {body['gold']}"
    size = state.settings.choose_from
    said = "swapped" if size == 2 else "order"
    if said not in body or sorted(gold_order(body)) != [*range(size)]:
        return f"it does not say in which order it shows its {size} arms"
    return _next(state, body)


def _gold_added(state: Questions, number: int, body: dict[str, Any]) -> str | None:
    names, size = gold_names(body), state.settings.choose_from
    fits = len(names) == len({*names}) == size
    return None if fits else f"it is about {_short(names)}, not {size} different ones"


def _is_asked(state: Questions, arm: int) -> bool:
    return arm < len(state.arms) and not state.is_retired[arm]


def _answered(state: Questions, number: int, body: dict[str, Any]) -> str | None:
    if (what := _question(state, body, answered=False)) is not None:
        return what
    arms = state.questions[body["question"]].arms
    known = body["answer"] in answers_to(len(arms), worst=state.settings.worst)
    return None if known else f"its answer is {_short(body['answer'])}"


def _undone(state: Questions, number: int, body: dict[str, Any]) -> str | None:
    return _question(state, body, answered=True)


def _withdrawn(state: Questions, number: int, body: dict[str, Any]) -> str | None:
    return _question(state, body, answered=None)


def _question(
    state: Questions, body: dict[str, Any], *, answered: bool | None
) -> str | None:
    question = state.questions.get(body["question"])
    if question is None:
        return f"question {body['question']} was not asked"
    if question.withdrawn:
        return f"question {question.number} was withdrawn"
    if answered is not None and (question.answer is not None) != answered:
        return f"question {question.number} has {'no' if answered else 'an'} answer"
    return None


def _added(state: Questions, number: int, body: dict[str, Any]) -> str | None:
    return f"arm {body['name']!r} is there" if body["name"] in state.arms else None


def _retired(state: Questions, number: int, body: dict[str, Any]) -> str | None:
    return None if _is_there(state, body["name"]) else _no_arm(body["name"])


def _is_there(state: Questions, name: str) -> bool:
    return name in state.arms and not state.is_retired[state.arms.index(name)]


def _no_arm(name: str) -> str:
    return f"there is no arm {_short(name)}"


def _restored(state: Questions, number: int, body: dict[str, Any]) -> str | None:
    name = body["name"]
    if name not in state.arms or state.arms.index(name) in state.merged:
        return _no_arm(name)
    return f"arm {name!r} is there" if _is_there(state, name) else None


def _renamed(state: Questions, number: int, body: dict[str, Any]) -> str | None:
    if body["name"] not in state.arms:
        return _no_arm(body["name"])
    return _added(state, number, {"name": body["to"]})


def _merged(state: Questions, number: int, body: dict[str, Any]) -> str | None:
    for name in (body["name"], body["into"]):
        if not _is_there(state, name):
            return _no_arm(name)
    same = body["name"] == body["into"]
    return f"it merges {_short(body['name'])} with itself" if same else None


def _import_undone(state: Questions, number: int, body: dict[str, Any]) -> str | None:
    known = body["event"] in state.imports
    return None if known else f"event {body['event']} has no imported votes"


def _imported(state: Questions, number: int, body: dict[str, Any]) -> str | None:
    for row in map(VoteRow.of_numbers, body["counts"]):
        arms, extra = row.arms, len(row.counts) - len(row.arms)
        differ = 1 < len({*arms}) == len(arms) and max(arms) < len(state.arms)
        if not differ or extra != (state.settings.choose_from == 2):
            return f"it has votes between arms {[*arms]}"
    if len(body.get("keys", body["counts"])) != len(body["counts"]):
        return f"it has {len(body['keys'])} keys of {len(body['counts'])} rows"
    return None


_CHECKS: dict[str, Callable[[Questions, int, dict[str, Any]], str | None]] = {
    "asked": _asked,
    "gold asked": _gold_asked,
    "gold added": _gold_added,
    "answered": _answered,
    "withdrawn": _withdrawn,
    "undone": _undone,
    "arm added": _added,
    "arm retired": _retired,
    "arm restored": _restored,
    "arm renamed": _renamed,
    "arms merged": _merged,
    "import undone": _import_undone,
    "imported": _imported,
}

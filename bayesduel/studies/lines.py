"""A study by lines of JSON, for programs in any language."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from bayesduel.arguments.control_characters import json_text
from bayesduel.errors import ArgumentError, BayesduelError, StudyError
from bayesduel.studies.study import Study
from theory.arguments import true_or_false

__all__ = ["answer_line"]


def answer_line(study: Study, line: str) -> str:
    """Carry out one line of JSON on a study; return the answer as a line of JSON.

    Parameters
    ----------
    study : Study
    line : str
        A JSON object: ``do`` is "ask" (with ``n``, ``judge``, ``context``), "tell"
        (``ticket``, ``answer``; of a set a number, or [best, worst]), "skip", "undo",
        "withdraw" (``ticket``), "add_arm" (``name``, ``share``), "retire_arm",
        "restore_arm" (``name``), "rename_arm" (``name``, ``to``), "merge_arms"
        (``name``, ``into``), "add_gold" (``better``, ``worse``; of a set a list),
        "set_judge" (``name``, with ``limit``, ``arms``, ``price``, ``trusted``) or
        "status" (``forecast``, ``full``).
        Whoever answers, skips, undoes or withdraws may be named by ``judge``. Other
        members than these are refused, but for ``id``, which comes back.

    Returns
    -------
    str
        A JSON object: ``tickets`` and ``resting`` after "ask", ``new`` after what
        stores something, ``status``; or ``error``, and nothing was stored.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bayesduel.studies import Study
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "drinks.study")
    ...     with Study.create(path, ["tea", "milk"], "balanced") as study:
    ...         _ = answer_line(study, '{"do": "ask"}')
    ...         print(answer_line(study, '{"do": "skip", "ticket": 1, "id": 7}'))
    ...         print(answer_line(study, '{"do": "sing"}'))
    {"new": true, "id": 7}
    {"error": "do must be one of ask, tell, skip, undo, ..., status, got 'sing'"}
    """
    given: Any = None
    try:
        given = json.loads(line)
        found = _done(study, given)
    except (ArgumentError, BayesduelError, OSError) as error:
        found = {"error": str(error)}
    except (ValueError, RecursionError) as error:
        found = {"error": f"the line must be JSON: {error}"}
    if isinstance(given, dict) and "id" in given:
        found["id"] = given["id"]
    return json_text(_finite(found), allow_nan=False)


def _done(study: Study, given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        return {"error": 'the line must be an object such as {"do": "ask"}'}
    known = {name: each for name, each in given.items() if name not in ("do", "id")}
    word = given.get("do")
    if not isinstance(word, str) or word not in _DEEDS:
        return {"error": f"do must be one of {', '.join(_DEEDS)}, got {word!r}"}
    needed, optional, deed = _DEEDS[word]
    for name in needed:
        if name not in known:
            return {"error": f"{word} needs {name}"}
    for name in known:
        if name not in needed + optional:
            members = ", ".join(needed + optional) or "nothing"
            return {"error": f"{word} has no {name!r}; it takes {members}"}
    return deed(study, **known)


def _ask(study: Study, **options: Any) -> dict[str, Any]:
    tickets = [asdict(ticket) for ticket in study.ask(**options)]
    return {"tickets": tickets, "resting": study.resting}


def _stored(name: str) -> Callable[..., dict[str, Any]]:
    def do(study: Study, **options: Any) -> dict[str, Any]:
        is_new = getattr(study, name)(**options) is not False
        said = study.remark if name in ("tell", "skip") else ""
        return {"new": is_new} | ({"remark": said} if said else {})

    return do


def _status(study: Study, forecast: bool = False, **options: Any) -> dict[str, Any]:
    asked = true_or_false(forecast, "forecast", kind=StudyError)
    return {"status": study.status(forecast=asked, **options).as_dict()}


_DEEDS: dict[str, tuple[tuple[str, ...], tuple[str, ...], Callable[..., Any]]] = {
    "ask": ((), ("n", "judge", "context"), _ask),
    "tell": (("ticket", "answer"), ("judge",), _stored("tell")),
    "skip": (("ticket",), ("judge",), _stored("skip")),
    "undo": (("ticket",), ("judge",), _stored("undo")),
    "withdraw": (("ticket",), ("judge",), _stored("withdraw")),
    "add_arm": (("name",), ("share",), _stored("add_arm")),
    "retire_arm": (("name",), (), _stored("retire_arm")),
    "restore_arm": (("name",), (), _stored("restore_arm")),
    "rename_arm": (("name", "to"), (), _stored("rename_arm")),
    "merge_arms": (("name", "into"), (), _stored("merge_arms")),
    "add_gold": (("better", "worse"), (), _stored("add_gold")),
    "set_judge": (
        ("name",),
        ("limit", "arms", "price", "trusted"),
        _stored("set_judge"),
    ),
    "status": ((), ("forecast", "full"), _status),
}
"""By word: what it needs, what it may have, and what does it."""


def _finite(value: Any) -> Any:
    """Return None for what is no number of JSON."""
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

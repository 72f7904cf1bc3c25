"""A study by lines of JSON, for programs in any language."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from inspect import Parameter, signature
from typing import Any

from bayesduel.arguments.control_characters import json_text
from bayesduel.errors import ArgumentError, BayesduelError
from bayesduel.studies.study import Study


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
        "status" (``probability``, ``forecast``, ``full``).
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
        reply = _done(study, given)
    except (ArgumentError, BayesduelError, OSError) as error:
        reply = {"error": str(error)}
    except (ValueError, RecursionError) as error:
        reply = {"error": f"the line must be JSON: {error}"}
    if isinstance(given, dict) and "id" in given:
        reply["id"] = given["id"]
    return json_text(_finite(reply), allow_nan=False)


def _done(study: Study, given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        return {"error": 'the line must be an object such as {"do": "ask"}'}
    known = {name: value for name, value in given.items() if name not in ("do", "id")}
    word = given.get("do")
    if not isinstance(word, str) or word not in _WORDS:
        return {"error": f"do must be one of {', '.join(_WORDS)}, got {word!r}"}
    method = getattr(study, word)
    members = signature(method).parameters
    for name, member in members.items():
        if member.default is Parameter.empty and name not in known:
            return {"error": f"{word} needs {name}"}
    for name in known:
        if name not in members:
            takes = ", ".join(members) or "nothing"
            return {"error": f"{word} has no {name!r}; it takes {takes}"}
    result = method(**known)
    if word == "ask":
        tickets = [asdict(ticket) for ticket in result]
        return {"tickets": tickets, "resting": study.resting}
    if word == "status":
        return {"status": result.as_dict()}
    remark = {"remark": study.remark} if word in ("tell", "skip") else {}
    return {"new": result is not False, **(remark if study.remark else {})}


_WORDS = (
    "ask", "tell", "skip", "undo", "withdraw", "add_arm", "retire_arm", "restore_arm",
    "rename_arm", "merge_arms", "add_gold", "set_judge", "status",
)  # fmt: skip
"""Methods of a study, which take the other members of a line."""


def _finite(value: Any) -> Any:
    # None for what is no number of JSON.
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

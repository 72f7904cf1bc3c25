"""Characters that control a terminal or reorder a text, refused in names.

An escape character moves the cursor, colors the screen or renames the window of whoever
prints a name; a line end breaks a table; an override of direction shows "gnp.exe" as
"exe.png"; and half of a surrogate pair cannot be written to any file.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesduel.errors import ArgumentError

__all__ = ["json_text", "refuse_control_characters", "visible"]

_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
# The same without line end and tab.
_NO_LINES = re.compile(_CONTROL.pattern.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def refuse_control_characters(
    text: Any,
    argument: str,
    kind: type[ArgumentError],
    *,
    index: int | None = None,
    lines: bool = False,
) -> None:
    r"""Raise an error of a kind where a text holds a control character.

    With ``lines`` it may have several lines, and tabs; what is no text passes.

    Examples
    --------
    >>> from bayesduel.errors import ArgumentError
    >>> try:
    ...     refuse_control_characters("tea\x1b[31m", "name", ArgumentError)
    ... except ArgumentError as error:
    ...     print(error.rule)
    must be without control characters, and has U+001B at position 3
    """
    # Most texts are plain, and this is fast.
    if not isinstance(text, str) or text.isprintable():
        return
    match = (_NO_LINES if lines else _CONTROL).search(text)
    if match is not None:
        rule = "must be without control characters, and has "
        rule += f"U+{ord(match[0]):04X} at position {match.start()}"
        raise kind(argument, rule, text, index=index, remedy="leave it out")


def visible(text: str, *, lines: bool = False) -> str:
    r"""Return a text with its control characters written as JSON writes them.

    With ``lines`` line ends and tabs stay.

    Examples
    --------
    >>> print(visible("tea\x1b[31m\n"))
    tea\u001b[31m\n
    """
    if text.isprintable():
        return text
    return (_NO_LINES if lines else _CONTROL).sub(
        lambda match: _SHORT.get(match[0], f"\\u{ord(match[0]):04x}"), text
    )


def json_text(data: Any, **options: Any) -> str:
    r"""Return data as JSON in UTF-8 that does nothing to a terminal.

    JSON itself escapes only the control characters of ASCII.

    Examples
    --------
    >>> print(json_text(["Zoé", "\x9b31m"]))
    ["Zoé", "\u009b31m"]
    """
    text = json.dumps(data, ensure_ascii=False, **options)
    return visible(text, lines=True)

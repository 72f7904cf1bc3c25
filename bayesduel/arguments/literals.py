"""Values and modules as they are typed: ``module:Class:parameter=value``."""

import re
import sys

_INTEGER = re.compile(r"[+-]?[0-9]{1,400}")
_FLOAT = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|nan)", re.IGNORECASE
)


def literal(text: str) -> int | float | bool | str:
    """Read a number or a truth value; anything else stays a text.

    Digits are those of ASCII, without underscores: what Python would also read as a
    number is refused by whoever asked for one.

    Examples
    --------
    >>> literal("10"), literal("0.5"), literal("True"), literal("1_0")
    (10, 0.5, True, '1_0')
    """
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


FOLDERS: list[str] = []
"""The folder where the command was called; empty in a program that imports us."""


def look_there() -> None:
    """Let modules in these folders be imported, before those that are installed."""
    sys.path[:0] = [folder for folder in FOLDERS if folder not in sys.path]

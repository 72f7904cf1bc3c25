"""Where text goes: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import math
import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = [
    "console",
    "defined",
    "ending",
    "go_on",
    "print_json",
    "say",
    "say_error",
    "say_warning",
    "version",
]


def version() -> str:
    """Return the version of the installed distribution."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("bayesduel")
    except PackageNotFoundError:
        return "(not installed)"


def console(*, stderr: bool = False) -> Console:
    """Return a console; made anew, since tests and pipes replace the streams."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False)


def say(text: str, *, quiet: bool = False) -> None:
    """Write a message for people to standard error."""
    if not quiet:
        _write(text)


def ending(error: KeyboardInterrupt) -> str:
    """Return what to call what ended the command: Ctrl-C, or a signal by name."""
    number = getattr(error, "number", None)
    return (
        "interrupted" if number is None else f"ended by {signal.Signals(number).name}"
    )


def go_on(out: Path | None, kept: str, error: KeyboardInterrupt) -> str:
    """Return what to say after an interruption: what was kept, and how to go on."""
    what = ending(error)
    if out is None:
        return f"{what}: nothing was kept; with --out DIR, --resume can go on"
    words = [word for word in sys.argv[1:] if word not in ("--resume", "--overwrite")]
    again = shlex.join(["bayesduel", *words, "--resume"])
    return f"{what}: kept {kept} in {out}; go on with\n  {again}"


def say_warning(text: str) -> None:
    """Write what went wrong without ending the command."""
    _prefixed("warning: ", "bold yellow", text)


def say_error(text: str) -> None:
    """Write why the command ends, in one line, whatever was typed into it."""
    plain = "".join(each if each.isprintable() else " " for each in text)
    _prefixed("error: ", "bold red", " ".join(plain.split()))


def _prefixed(prefix: str, style: str, text: str) -> None:
    from rich.text import Text

    _write(Text.assemble((prefix, style), text))


def _write(text: str | Text) -> None:
    """Write a message: broken between words on a screen, one line in a file."""
    screen = console(stderr=True)
    screen.print(text, soft_wrap=not screen.is_terminal, markup=False)


def print_json(data: object) -> None:
    """Write JSON to standard output: null where a number is not defined, never NaN."""
    json.dump(defined(data), sys.stdout, indent=2, allow_nan=False, ensure_ascii=False)
    sys.stdout.write("\n")


def defined(data: Any) -> Any:  # noqa: ANN401
    """Return the same data with None for every number that is not finite."""
    if isinstance(data, dict):
        return {key: defined(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [defined(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data

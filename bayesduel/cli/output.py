"""Where text goes: results to standard output, everything else to standard error."""

from __future__ import annotations

import codecs
import csv
import io
import json
import math
import re
import shlex
import signal
import sys
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesduel.arguments.control_characters import json_text, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_COMMAND = re.compile(r"\bbayesduel [a-z][^;\n]*")
"""What is printed to be pasted."""
_HELD = "\ue000"
"""Stands for a space of a command while lines are broken."""

_PLAIN = "bayesduel-ascii"
_ASCII = {
    "±": "+-", "·": "*", "×": "x", "…": "...", "–": "-", "—": "-", "−": "-",
    "─": "-", "━": "-", "╸": "-", "╺": "-", "│": "|", "→": "->", "←": "<-", "≤": "<=",
    "≥": ">=", "≠": "!=", "√": "sqrt", "∞": "inf", "’": "'", "‘": "'", "“": '"',
    "”": '"', "•": "*", "\N{NO-BREAK SPACE}": " ", "ß": "ss", "ø": "o", "Ø": "O",
    "æ": "ae", "Æ": "AE", "œ": "oe", "ł": "l", "Ł": "L", "đ": "d",
}  # fmt: skip


def version() -> str:
    """Return the version of the installed distribution."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("bayesduel")
    except PackageNotFoundError:
        return "(not installed)"


def console(*, stderr: bool = False) -> Console:
    """Return a console; made anew, since tests and pipes replace the streams.

    Whatever is printed on it, control characters are written out: names of arms, judges
    and files come from others.
    """
    from rich.console import Console, RenderHook
    from rich.segment import Segment

    class Shown:
        def __init__(self, renderable: Any) -> None:
            self._renderable = renderable

        def __rich_console__(self, console: Any, options: Any) -> Iterator[Segment]:
            for text, style, control in console.render(self._renderable, options):
                shown = text if control else visible(text, lines=True)
                yield Segment(shown, style, control)

    class Hook(RenderHook):
        def process_renderables(self, renderables: list[Any]) -> list[Any]:
            return [Shown(each) for each in renderables]

    screen = Console(stderr=stderr, highlight=False)
    screen.push_render_hook(Hook())
    return screen


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


@contextmanager
def told_later() -> Iterator[None]:
    """Leave out warnings of a fit that come back among its remarks."""
    from bayesduel.errors import DisconnectedComparisonsWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedComparisonsWarning)
        yield


def say_remarks(fit: Any, *, with_doubts: bool = True) -> None:
    """Say what one should know of a fit; doubts where nothing else will say them."""
    doubts = () if with_doubts else getattr(fit, "doubts", ())
    for remark in fit.remarks:
        if not any(remark.startswith(doubt) for doubt in doubts):
            say_warning(remark)


def say_error(text: str) -> None:
    """Write why the command ends, in one line, whatever was typed into it."""
    _prefixed("error: ", "bold red", visible(" ".join(text.split())))


def _prefixed(prefix: str, style: str, text: str) -> None:
    from rich.text import Text

    _write(Text.assemble((prefix, style), text))


def _write(text: str | Text) -> None:
    """Write a message: broken between words on a screen, one line in a file."""
    screen = console(stderr=True)
    print_text(screen, text, wrap=screen.is_terminal)


def print_text(
    screen: Console, text: str | Text, *, style: str = "", wrap: bool = True
) -> None:
    """Write a text broken between words, but never within a command to be pasted."""
    from rich.text import Text

    words = text if isinstance(text, Text) else Text(text, style)
    if wrap:
        # A break takes the place of one space: styles stay where they are.
        broken = Text(_broken(words.plain, screen.width), words.style)
        broken.spans = words.spans
        words = broken
    screen.print(words, soft_wrap=True, markup=False)


def _broken(text: str, width: int) -> str:
    """Return the text with line breaks in place of some spaces."""
    held = _COMMAND.sub(lambda found: found[0].replace(" ", _HELD), text)
    characters, start, space = list(held), 0, -1
    for at, character in enumerate([*held, " "]):
        if character in " \n":
            if at - start > width and space > start:
                characters[space], start = "\n", space + 1
            if character == "\n":
                start, space = at + 1, -1
            elif held[start:at].strip():  # No break before the first word.
                space = at
    return "".join(characters).replace(_HELD, " ")


def print_json(data: object) -> None:
    """Write JSON to standard output: null where a number is not defined, never NaN."""
    # Escapes are JSON too, and can be written in every encoding.
    escaped = not _speaks_utf8(sys.stdout)
    text = json.dumps(defined(data), indent=2, allow_nan=False, ensure_ascii=escaped)
    sys.stdout.write(visible(text, lines=True) + "\n")


def save_json(path: Path, data: object, *, quiet: bool) -> None:
    """Write JSON to a file: null where a number is not defined, never NaN."""
    text = json_text(defined(data), indent=2, allow_nan=False)
    path.write_text(text + "\n", "utf-8")
    say(f"saved {path}", quiet=quiet)


def save_csv(path: Path, rows: list[dict[str, Any]], *, quiet: bool) -> None:
    """Write rows to a file; their keys are the header.

    What a spreadsheet would take for a formula gets an apostrophe, and it says so.
    """
    from bayesduel.files.csv_cells import GUARDED, guarded_rows

    shown = guarded_rows(defined(rows))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(shown[0]))
        writer.writeheader()
        writer.writerows(shown)
    said = "" if shown == defined(rows) else f"; {GUARDED}"
    say(f"saved {path}{said}", quiet=quiet)


def print_data(text: str) -> None:
    """Write what is to be read back, in UTF-8 as files are."""
    stream = sys.stdout
    if not _speaks_utf8(stream) and isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8")
    stream.write(text)


def _speaks_utf8(stream: Any) -> bool:
    name = getattr(stream, "encoding", None) or "utf-8"
    return name.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")


def degrade_encodings() -> None:
    """Let both streams write ASCII forms of what their encoding does not have."""
    codecs.register_error(_PLAIN, _in_ascii)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_PLAIN)


def _in_ascii(error: UnicodeError) -> tuple[bytes, int]:
    """Return ASCII for what cannot be encoded, and where to go on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    return b"".join(map(_ascii_form, text)), error.end


def _ascii_form(character: str) -> bytes:
    if character in _ASCII:
        return _ASCII[character].encode()
    if "\udc80" <= character <= "\udcff":  # A byte of a name that was never text.
        return bytes([ord(character) - 0xDC00])
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore")
    return plain or b"?"


def defined(data: Any) -> Any:
    """Return the same data with None for every number that is not finite."""
    if isinstance(data, dict):
        return {key: defined(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [defined(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data

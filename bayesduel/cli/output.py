"""Where text goes: results to standard output, everything else to standard error.

`Messages` and `Output` are options of commands, and write messages and files by them.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import math
import re
import signal
import sys
import unicodedata
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesduel.arguments.control_characters import json_text, visible
from bayesduel.cli.options import JSON, OVERWRITE, QUIET

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from bayesduel.plots import StyledFigure

_COMMAND = re.compile(r"\bbayesduel [a-z][^;\n]*")
"""Commands in printed text, which users may paste."""
_HELD = "\ue000"  # Stands for a space of a command while lines are broken.

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
    """Return a console that writes control characters out."""
    from rich.console import Console
    from rich.segment import Segment

    class Harmless(Console):
        def render(self, renderable: Any, options: Any = None) -> Iterator[Segment]:
            for text, style, control in super().render(renderable, options):
                shown = text if control else visible(text, lines=True)
                yield Segment(shown, style, control)

    return Harmless(stderr=stderr, highlight=False)


@dataclass(frozen=True)
class Messages:
    """Whether a command says what it does, and what it has saved."""

    quiet: bool = QUIET

    def say(self, text: str) -> None:
        """Write a message for people to standard error."""
        if not self.quiet:
            say(text)

    def save_text(self, path: Path, text: str) -> None:
        """Write a text to a file."""
        path.write_text(text, "utf-8")
        self.say(f"saved {path}")

    def save_json(self, path: Path, data: object) -> None:
        """Write JSON to a file: null where a number is not defined, never NaN."""
        text = json_text(defined(data), indent=2, allow_nan=False)
        self.save_text(path, text + "\n")

    def save_csv(self, path: Path, rows: list[dict[str, Any]]) -> None:
        """Write rows to a file; their keys are the header."""
        from bayesduel.files.csv_cells import GUARDED, guarded_rows

        plain = defined(rows)
        guarded = guarded_rows(plain)
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write(csv_text(guarded))
        self.say(f"saved {path}" + ("" if guarded == plain else f"; {GUARDED}"))

    def save_figures(
        self,
        figures: Mapping[Path, StyledFigure],
        formats: Iterable[str] = ("png", "svg"),
    ) -> None:
        """Save figures by stem; say once if names are in a script that no font has."""
        from bayesduel import plots
        from bayesduel.errors import MissingGlyphWarning
        from bayesduel.plots.style import missing_words

        kinds, paths = tuple(formats), list[Path]()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MissingGlyphWarning)
            for stem, figure in figures.items():
                paths += plots.save(figure, stem, kinds)
        missing = {letter for drawn in figures.values() for letter in drawn.missing}
        if missing and not self.quiet:
            say_warning(missing_words("".join(sorted(missing))))
        for path in paths:
            self.say(f"saved {path}")

    @contextmanager
    def working(self, words: str) -> Iterator[None]:
        """Say while a block runs what takes the time."""
        from bayesduel.experiments.progress import progress_reporter

        with progress_reporter(enabled=not self.quiet) as bar:
            bar.expect(1)
            bar.count(words, 0)
            yield


@dataclass(frozen=True)
class Output(Messages):
    """How results are printed, and whether those in a folder are replaced."""

    as_json: bool = JSON
    overwrite: bool = OVERWRITE

    def claim(self, folder: Path | None, kind: str, *, resume: bool = False) -> None:
        """Mark a folder for results as ours before anything is computed."""
        if folder is not None:
            claim_folder(folder, kind=kind, resume=resume, overwrite=self.overwrite)


def claim_folder(
    folder: Path, *, kind: str, resume: bool = False, overwrite: bool = False
) -> None:
    """Make the folder for results and mark it as ours, before anything is computed."""
    from bayesduel.experiments.folder import RunFolder

    RunFolder.claim(folder, kind=kind, resume=resume, overwrite=overwrite).release()


def say(text: str | Text) -> None:
    """Write a message: broken between words on a screen, one line in a file."""
    screen = console(stderr=True)
    print_text(screen, text, wrap=screen.is_terminal)


def say_warning(text: str) -> None:
    """Write what went wrong without ending the command."""
    _prefixed("warning: ", "bold yellow", text)


def say_error(text: str) -> None:
    """Write why the command ends, in one line, whatever was typed into it."""
    _prefixed("error: ", "bold red", visible(" ".join(text.split())))


def _prefixed(prefix: str, style: str, text: str) -> None:
    from rich.text import Text

    say(Text.assemble((prefix, style), text))


def ending(error: KeyboardInterrupt) -> str:
    """Return the words for what ended the command: Ctrl-C, or a signal by name."""
    number = getattr(error, "number", None)
    return (
        "interrupted" if number is None else f"ended by {signal.Signals(number).name}"
    )


@contextmanager
def font_warnings(*, quiet: bool) -> Iterator[None]:
    """Print a warning of a script that no font has in one line, if not quiet."""
    from bayesduel.errors import MissingGlyphWarning

    with printed_warnings(MissingGlyphWarning, quiet=quiet):
        yield


@contextmanager
def damage_warnings() -> Iterator[None]:
    """Print warnings about damaged parts, and about narrow priors, in one line each."""
    from bayesduel.errors import DamagedPartWarning, NarrowPriorWarning

    with printed_warnings(DamagedPartWarning, NarrowPriorWarning):
        yield


@contextmanager
def printed_warnings(*kinds: type[Warning], quiet: bool = False) -> Iterator[None]:
    """Print warnings of some kinds once each as the command prints warnings."""
    printed: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *rest: Any) -> None:
        if not issubclass(category, kinds):
            plain(message, category, *rest)
        elif not quiet and str(message) not in printed:
            printed.add(str(message))
            say_warning(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", kinds[0])
        plain, warnings.showwarning = warnings.showwarning, show
        yield


def print_text(
    screen: Console, text: str | Text, *, style: str = "", wrap: bool = True
) -> None:
    """Write a text broken between words, but never within a command to be pasted."""
    from rich.text import Text

    words = text if isinstance(text, Text) else Text(text, style)
    if wrap:
        plain = _COMMAND.sub(lambda run: run[0].replace(" ", _HELD), words.plain)
        characters, start, space = list(plain), 0, -1
        for at, character in enumerate([*plain, " "]):
            if character in " \n":
                if at - start > screen.width and space > start:
                    characters[space], start = "\n", space + 1
                if character == "\n":
                    start, space = at + 1, -1
                elif plain[start:at].strip():  # No break before the first word.
                    space = at
        # A break takes the place of one space: styles stay where they are.
        broken = Text("".join(characters).replace(_HELD, " "), words.style)
        broken.spans = words.spans
        words = broken
    screen.print(words, soft_wrap=True, markup=False)


def print_json(data: object) -> None:
    """Write JSON to standard output: null where a number is not defined, never NaN."""
    # Escapes are JSON too, and can be written in every encoding.
    escaped = not _speaks_utf8(sys.stdout)
    text = json.dumps(defined(data), indent=2, allow_nan=False, ensure_ascii=escaped)
    sys.stdout.write(visible(text, lines=True) + "\n")


def csv_text(rows: list[dict[str, Any]]) -> str:
    """Return rows as CSV, whose header is the keys of the first one."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def json_lines(rows: list[dict[str, Any]]) -> str:
    """Return rows as JSON, one a line."""
    plain = [json.dumps(row, allow_nan=False) for row in defined(rows)]
    return "\n".join(plain) + "\n"


def print_data(text: str) -> None:
    """Write data that are to be read back, in UTF-8 as files are."""
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
    if not isinstance(error, UnicodeEncodeError):
        raise error
    plain = b""
    for character in error.object[error.start : error.end]:
        if character in _ASCII:
            plain += _ASCII[character].encode()
        elif "\udc80" <= character <= "\udcff":  # A byte of a name, never text.
            plain += bytes([ord(character) - 0xDC00])
        else:
            letters = unicodedata.normalize("NFKD", character)
            plain += letters.encode("ascii", "ignore") or b"?"
    return plain, error.end


def defined(data: Any) -> Any:
    """Return the same data with None for every number that is not finite."""
    if isinstance(data, dict):
        return {key: defined(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [defined(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data

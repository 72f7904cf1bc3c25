"""Docstrings, in words for a terminal."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

__all__ = ["described"]

# Marks of reStructuredText and the words that they leave. A star behind a letter, as in
# the i* of a paper, is no mark.
_MARKS = (
    (re.compile(r":\w+(?::\w+)*:`~?\.?([^`]+?)(?:\s*<[^`>]+>)?`"), r"\1"),
    (re.compile(r"``(.+?)``", re.DOTALL), r"\1"),
    (re.compile(r"`([^`<]+?)\s*<([^`>]+)>`__?"), r"\1 (\2)"),
    (re.compile(r"`([^`]+)`_{0,2}"), r"\1"),
    (re.compile(r"(?<![\w*\\])(\*{1,2})(?=[^\s*])([^*]*[^\s*])\1(?![\w*])"), r"\2"),
    (re.compile(r"\s*\[(?:\d+|#\w*)\]_"), ""),
)
_MATH = re.compile(r":math:`([^`]+)`")

# Formulas in TeX as they are written with a keyboard.
_TEX = (
    (re.compile(r"\\(le|ge|ne|sim|in|pm)(?![a-zA-Z])"), lambda sign: _SIGNS[sign[1]]),
    (re.compile(r"\\(?:mathrm|text)\{([^{}]*)\}"), r"\\\1"),
    (re.compile(r"\\sqrt\s*(\w)"), r"\\sqrt(\1)"),
    (re.compile(r"\\sqrt\{((?:[^{}]|\{[^{}]*\})*)\}"), r"\\sqrt(\1)"),
    (re.compile(r"\\lfloor\s*"), r"\\floor("),
    (re.compile(r"\\lceil\s*"), r"\\ceil("),
    (re.compile(r"\\(?:rfloor|rceil)|\\\}"), ")"),
    (re.compile(r"\\\{"), "("),
    (re.compile(r"\\,"), " "),
    (re.compile(r"\\cdot\s*"), " * "),
    (re.compile(r"\\hat(?![a-zA-Z])"), ""),
    (re.compile(r"\\tilde\s*O"), "O~"),
    (re.compile(r"\^\\top(?![a-zA-Z])\s*"), "' "),
    (re.compile(r"(?<=[\w)])\\"), " "),
    (re.compile(r"\\"), ""),
    (re.compile(r"\^\*"), "*"),
    (re.compile(r"([_^])\{(\w+|\*)\}"), r"\1\2"),
    (re.compile(r"([_^])\{([^{}]*)\}"), r"\1(\2)"),
)
_SIGNS = {"le": " <= ", "ge": " >= ", "ne": " != ", "sim": " ~ ", "in": " in ",
          "pm": " +- "}  # fmt: skip

_ITEM = re.compile(r"(?:^|\n)(?=(?:[-*]|\d+\.) )")


def described(thing: Callable[..., Any]) -> tuple[str, dict[str, str], str]:
    """Return what a docstring says in words, of its parameters, and its sources."""
    sections = _sections(inspect.getdoc(thing) or "")
    parameters = _meanings(sections)
    for base in inspect.getmro(thing)[1:] if inspect.isclass(thing) else ():
        above = _meanings(_sections(base.__doc__ and inspect.cleandoc(base.__doc__)))
        for name, text in parameters.items():
            if text.startswith("As in ") and name in above:
                parameters[name] = above[name]
    words = [
        paragraph if paragraph.startswith(" ") else _one_line(_without_marks(paragraph))
        for part in f"{sections['']}\n\n{sections.get('Notes', '')}".split("\n\n")
        for paragraph in (_ITEM.split(part)[1:] if _ITEM.match(part) else [part])
    ]
    about = (
        "\n\n".join(filter(None, words)).replace("::\n", ":\n").replace(" :\n", ":\n")
    )
    references = _one_line(_without_marks(sections.get("References", "")))
    return about.strip(), parameters, references


def _meanings(sections: dict[str, str]) -> dict[str, str]:
    meanings: dict[str, str] = {}
    names: list[str] = []
    for line in sections.get("Parameters", "").splitlines():
        if line and not line[0].isspace():
            names = [name.strip() for name in line.partition(" :")[0].split(",")]
        for name in names if line[:1].isspace() else ():
            meanings[name] = f"{meanings.get(name, '')}\n{line.strip()}"
    return {name: _one_line(_without_marks(text)) for name, text in meanings.items()}


def _without_marks(text: str) -> str:
    text = _MATH.sub(lambda match: _in_words(match[1]), text)
    for mark, words in _MARKS:
        text = mark.sub(words, text)
    return text


def _in_words(formula: str) -> str:
    for mark, words in _TEX:
        formula = mark.sub(words, formula)
    return " ".join(formula.split())


def _one_line(text: str) -> str:
    """Join lines, also of a word that has a hyphen where its line ends."""
    return " ".join(re.sub(r"(?<=\w)-\n\s*(?=\w)", "-", text).split())


def _sections(text: str | None) -> dict[str, str]:
    """Return the sections of a numpydoc docstring; what stands before them as ''."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", text or "", flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}

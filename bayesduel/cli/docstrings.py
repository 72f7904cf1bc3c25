"""What docstrings say, in words for a terminal."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

__all__ = ["described"]

_ROLE = re.compile(r":\w+:`~?\.?([^`]+)`")


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
        part if part.startswith(" ") else _one_line(part)
        for part in sections[""].split("\n\n")
    ]
    about = "\n\n".join(words).replace("::\n", ":\n").replace(" :\n", ":\n")
    return about.strip(), parameters, _one_line(sections.get("References", ""))


def _meanings(sections: dict[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    names: list[str] = []
    for line in sections.get("Parameters", "").splitlines():
        if line and not line[0].isspace():
            names = [each.strip() for each in line.partition(" :")[0].split(",")]
        for name in names if line[:1].isspace() else ():
            found[name] = f"{found.get(name, '')}\n{line.strip()}"
    return {name: _one_line(text) for name, text in found.items()}


def _one_line(text: str) -> str:
    """Join lines, also of a word that has a hyphen where its line ends."""
    return " ".join(re.sub(r"(?<=\w)-\n\s*(?=\w)", "-", text).split())


def _sections(text: str | None) -> dict[str, str]:
    """Return the sections of a numpydoc docstring; what stands before them as ''."""
    plain = _ROLE.sub(r"\1", text or "").replace("``", "")
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", plain, flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}

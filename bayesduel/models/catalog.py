"""The models of the package by name, read from their sources.

No model is imported before it is asked for: the help of commands has their names.
"""

import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

_MARK = re.compile(
    r'^class (\w+)|^    (title|word|needs): ClassVar\[str\] = "([^"]+)"', re.MULTILINE
)


class Source(NamedTuple):
    """Where a model is, and what its class says of it."""

    module: str
    kind: str  # The name of its class.
    word: str  # Its name at the shell; empty for a model of Python alone.
    needs: str  # Beside votes on pairs, as `PreferenceModel.needs` says.

    @property
    def cls(self) -> Any:
        """The class."""
        return getattr(import_module(self.module), self.kind)


@cache
def sources() -> tuple[Source, ...]:
    """Return all models: the classes with a title in the files of the folder."""
    from bayesduel import models

    known = []
    paths = [path for root in models.__path__ for path in Path(root).glob("*.py")]
    for path in sorted(paths, key=lambda path: path.stem):
        marks: dict[str, dict[str, str]] = {}
        says: dict[str, str] = {}
        for kind, field, value in _MARK.findall(path.read_text(encoding="utf-8")):
            if kind:
                says = marks[kind] = {}
            else:
                says[field] = value
        known += [
            Source(f"{models.__name__}.{path.stem}", kind,
                   says.get("word", ""), says.get("needs", ""))
            for kind, says in marks.items()
            if "title" in says
        ]  # fmt: skip
    return tuple(known)


def words(*needs: str) -> tuple[str, ...]:
    """Return what is typed for models, or for those that need one of these alone."""
    return tuple(
        source.word
        for source in sources()
        if source.word and (not needs or source.needs in needs)
    )


def kind_of(word: str) -> Any:
    """Return the class of the model that is typed so."""
    return next(source.cls for source in sources() if source.word == word)


def word_of(kind: type) -> str:
    """Return what is typed for a class; empty where it is none of the package."""
    where = kind.__module__, kind.__qualname__
    return next((x.word for x in sources() if (x.module, x.kind) == where), "")

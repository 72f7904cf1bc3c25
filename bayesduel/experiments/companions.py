"""Tables beside results, made by what stands on the results: the analysis.

Experiments do not know the analysis. The package hands over who makes the tables, so
that every folder has them, whoever asked for the results.
"""

from collections.abc import Callable, Mapping
from typing import Any

Maker = Callable[[Any], Mapping[str, bytes]]
"""Of a tree of results the files, by name."""

_MAKERS: dict[str, Maker] = {}


def add_maker(name: str, make: Maker) -> None:
    """Let files be made whenever results are finished."""
    _MAKERS[name] = make


def companions(tree: Any) -> dict[str, bytes]:
    """Return all files that stand beside finished results, by name."""
    files: dict[str, bytes] = {}
    for make in _MAKERS.values():
        files |= make(tree)
    return files


__all__ = ["add_maker", "companions"]

"""Tables beside results, made by what stands on the results: the analysis.

Experiments do not know the analysis. The package hands over who makes the tables, so
that every folder has them, whoever asked for the results.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

Maker = Callable[[Any], Mapping[str, bytes]]
"""Of a tree of results the files, by name."""

_MAKERS: dict[str, Maker] = {}


def add_maker(name: str, make: Maker) -> None:
    """Let files be made whenever results are finished."""
    _MAKERS[name] = make


@contextmanager
def made_by(name: str, make: Maker) -> Iterator[None]:
    """Let files be made by another maker in this block.

    By one who goes on with what was worked out for them.
    """
    usual = _MAKERS[name]
    _MAKERS[name] = make
    try:
        yield
    finally:
        _MAKERS[name] = usual


def companions(tree: Any) -> dict[str, bytes]:
    """Return all files that stand beside finished results, by name."""
    files: dict[str, bytes] = {}
    for make in _MAKERS.values():
        files |= make(tree)
    return files


__all__ = ["add_maker", "companions", "made_by"]

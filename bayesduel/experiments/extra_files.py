"""Tables beside results, made by what stands on the results: the analysis.

Experiments do not know the analysis. The package hands over who makes the tables, so
that every folder has them, whoever asked for the results.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

Maker = Callable[[Any], Mapping[str, bytes]]
"""Of a tree of results the files, by name."""

_FILE_MAKERS: dict[str, Maker] = {}


def register_extra_files(name: str, make: Maker) -> None:
    """Let files be made whenever results are finished."""
    _FILE_MAKERS[name] = make


@contextmanager
def made_by(name: str, make: Maker) -> Iterator[None]:
    """Let files be made by another maker in this block.

    By one who goes on with what was worked out for them.
    """
    usual = _FILE_MAKERS[name]
    _FILE_MAKERS[name] = make
    try:
        yield
    finally:
        _FILE_MAKERS[name] = usual


def extra_files(tree: Any) -> dict[str, bytes]:
    """Return all files that stand beside finished results, by name."""
    files: dict[str, bytes] = {}
    for make in _FILE_MAKERS.values():
        files |= make(tree)
    return files


__all__ = ["register_extra_files", "extra_files", "made_by"]

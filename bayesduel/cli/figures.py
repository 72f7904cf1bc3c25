"""Figures of the command line: saved, and what they lack said in one line."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesduel.cli.output import say, say_warning

if TYPE_CHECKING:
    from bayesduel.plots import StyledFigure


@contextmanager
def font_warnings(*, quiet: bool) -> Iterator[None]:
    """Let a warning of a script that no font has be one line, and none if quiet."""
    from bayesduel.errors import MissingGlyphWarning

    said: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *rest: Any) -> None:
        if not issubclass(category, MissingGlyphWarning):
            plain(message, category, *rest)
        elif not quiet and str(message) not in said:
            said.add(str(message))
            say_warning(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", MissingGlyphWarning)
        plain, warnings.showwarning = warnings.showwarning, show
        yield


def save_figures(
    figures: Mapping[Path, StyledFigure],
    formats: Iterable[str] = ("png", "svg"),
    *,
    quiet: bool,
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
    missing = "".join(sorted({x for each in figures.values() for x in each.missing}))
    if missing and not quiet:
        say_warning(missing_words(missing))
    for path in paths:
        say(f"saved {path}", quiet=quiet)

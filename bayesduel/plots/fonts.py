"""Fonts for names in scripts that the usual font lacks."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from matplotlib import font_manager
from matplotlib.ft2font import FT2Font
from matplotlib.text import Text

USUAL_FONT = "DejaVu Sans"
"""It comes with matplotlib."""


def give_fonts(texts: Iterable[Text]) -> str:
    """Let texts fall back on installed fonts; return the characters that none has."""
    wanting = {}
    for text in texts:
        if letters := lacking(text.get_text()):
            wanting[text] = letters
    left = set().union(*wanting.values())
    families = []
    for family in _families() if left else ():
        has = left & _letters(_families()[family])
        if has:
            families.append(family)
            left -= has
        if not left:
            break
    for text in wanting:
        text.set_fontfamily([USUAL_FONT, *families])
    return "".join(sorted(left))


def lacking(text: str) -> set[str]:
    """Return the characters of a text that the usual font does not have."""
    if text.isascii():
        return set()
    return {each for each in text if each.isprintable()} - _letters(
        font_manager.findfont(USUAL_FONT)
    )


@cache
def _families() -> dict[str, str]:
    """Return a file of each installed family, those of usual weight first."""
    fonts = sorted(
        font_manager.fontManager.ttflist,
        # A weight that has a name is the usual one, 400, or near it.
        key=lambda font: (
            font.style != "normal",
            abs(font.weight - 400) if isinstance(font.weight, int) else 0,
        ),
    )
    found: dict[str, str] = {}
    for font in fonts:
        if font.name.startswith("Last Resort"):
            continue  # It has a box for every character.
        found.setdefault(font.name, font.fname)
    return found


@cache
def _letters(path: str) -> frozenset[str]:
    try:
        return frozenset(map(chr, FT2Font(path).get_charmap()))
    except (OSError, RuntimeError):  # Gone, or of no use.
        return frozenset()

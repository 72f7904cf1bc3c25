"""Looks shared by all figures: widths, colors, markers, fonts.

Nothing here touches the global ``rcParams``: a :class:`StyledFigure` opens the style
in its own scope whenever it is drawn or saved.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.backend_bases import RendererBase
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.ft2font import FT2Font
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from bayesduel.errors import ArgumentError, MissingGlyphWarning
from bayesduel.files.folders import as_path, write_whole
from theory.arguments import items_of, number_within, one_of

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


USUAL_FONT = "DejaVu Sans"  # It comes with matplotlib.


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
    return {letter for letter in text if letter.isprintable()} - _letters(
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
    files: dict[str, str] = {}
    for font in fonts:
        if font.name.startswith("Last Resort"):
            continue  # It has a box for every character.
        files.setdefault(font.name, font.fname)
    return files


@cache
def _letters(path: str) -> frozenset[str]:
    try:
        return frozenset(map(chr, FT2Font(path).get_charmap()))
    except (OSError, RuntimeError):  # Gone, or of no use.
        return frozenset()


#: Widths in inches of one column and of the text of a two-column paper.
WIDTHS = {"column": 3.4, "full": 7.0}

# Okabe and Ito (2008), safe for the common color deficiencies; yellow is left out (it
# vanishes on white), black is kept for bounds.
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
YELLOW, SKY, GRAY = "#E69F00", "#56B4E9", "#7F7F7F"
COLORS = (BLUE, ORANGE, GREEN, PURPLE, YELLOW, SKY, GRAY)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
# Solid until the colors run out: dashes are the mark of theory.
LINES = ("-", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))

INK = "#222222"
FAINT = "#6E6E6E"
SHADE = "#F4F4F1"
"""Color behind the rounds between which slopes are measured or compared."""

STYLE: dict[str, Any] = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.unicode_minus": True,
    "font.family": [USUAL_FONT],
    "legend.frameon": False,
    "legend.handlelength": 1.8,
    "mathtext.fontset": "dejavusans",
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    # Fixed identifiers: the same figure gives the same SVG file.
    "svg.hashsalt": "bayesduel",
    "text.color": INK,
    "xtick.color": INK,
    "xtick.major.width": 0.6,
    "xtick.minor.visible": False,
    "ytick.color": INK,
    "ytick.major.width": 0.6,
    "ytick.minor.visible": False,
}

FRAMED = {"axes.spines.right": True, "axes.spines.top": True}
"""Settings of panels that are tables of colors."""


def font_style(width: float) -> dict[str, Any]:
    """Return the style with font sizes for a figure of this width in inches."""
    base = 7.0 if width < 5.0 else 8.5
    sizes = {
        "font.size": base,
        "axes.labelsize": base,
        "axes.titlesize": base,
        "legend.fontsize": base - 0.5,
        "legend.title_fontsize": base - 0.5,
        "xtick.labelsize": base - 0.5,
        "ytick.labelsize": base - 0.5,
        "lines.linewidth": 1.2 if width < 5.0 else 1.5,
        "lines.markersize": 2.8 if width < 5.0 else 3.6,
        "xtick.major.size": 2.5,
        "ytick.major.size": 2.5,
    }
    return {**STYLE, **sizes}


@contextmanager
def styled(style: dict[str, Any]) -> Iterator[None]:
    """Open a style for a while; the global settings are as before afterwards."""
    settings: Any = style
    with mpl.rc_context(settings):
        yield


@contextmanager
def new_figure(
    inches: float, tall: float, style: dict[str, Any] | None = None
) -> Iterator[StyledFigure]:
    """Open a figure of this width and height in inches, under its style."""
    style = font_style(inches) if style is None else style
    with styled(style):
        yield StyledFigure(style=style, figsize=(inches, tall), layout="constrained")


def light_grid(axes: Axes, axis: Literal["both", "x", "y"] = "both") -> None:
    """Draw faint lines at the ticks, below all else."""
    axes.grid(axis=axis, color="#E4E4E4", linewidth=0.5)
    axes.set_axisbelow(True)


class StyledFigure(Figure):
    """A figure that carries its style and is unknown to pyplot.

    It needs no ``plt.close``: it is freed with its last reference. Save it with
    ``figure.savefig("regret.png")``; a notebook shows it as the value of a cell.

    Attributes
    ----------
    missing : str
        Characters that no installed font has, once it was drawn.
    """

    def __init__(self, *args: Any, style: dict[str, Any], **kwargs: Any) -> None:
        self._style = style
        self.missing = ""
        with styled(style):
            super().__init__(*args, **kwargs)

    def draw(self, renderer: RendererBase) -> None:
        """Draw under the style of this figure.

        Raises
        ------
        ValueError
            When the figure is too small for what is in it.
        """
        before, texts = self.missing, self.findobj(Text)
        self.missing = give_fonts(text for text in texts if isinstance(text, Text))
        if self.missing and self.missing != before:
            warnings.warn(missing_words(self.missing), MissingGlyphWarning, 2)
        with styled(self._style), warnings.catch_warnings():
            # Said once, by us.
            warnings.filterwarnings("ignore", r"Glyph .* missing from")
            # Labels would lie over each other, and panels have no inside.
            warnings.filterwarnings("error", "constrained_layout not applied")
            try:
                super().draw(renderer)
            except UserWarning as warning:
                wide, tall = self.get_size_inches()
                raise ArgumentError(
                    "width, height",
                    "must leave room for the panels beside their labels",
                    (round(float(wide), 2), round(float(tall), 2)),
                    remedy="give more inches",
                ) from warning

    def get_tightbbox(self, *args: Any, **kwargs: Any) -> Bbox:
        """Measure what is drawn; of characters without a font drawing has warned."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"Glyph .* missing from")
            return super().get_tightbbox(*args, **kwargs)

    def savefig(self, fname: str | PathLike[str] | IO[bytes], **kwargs: Any) -> None:
        """Save under the style of this figure; 300 dots per inch unless told."""
        kwargs.setdefault("dpi", 300)
        with styled(self._style):
            super().savefig(fname, **kwargs)

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=144)
        return buffer.getvalue()


def missing_words(letters: str) -> str:
    """Return what is wrong with a figure of characters that no font has."""
    shown = f"{letters[:8]}{'…' if len(letters) > 8 else ''}"
    return (
        f"no installed font has {shown}: boxes stand for "
        f"{'it' if len(letters) == 1 else 'them'} in figures; install a font for this "
        "script, such as Noto Sans CJK"
    )


class Look(NamedTuple):
    """How one line is drawn, the same in every panel."""

    color: str
    marker: str
    line: Any
    name: str
    """The text beside it."""

    @property
    def text_color(self) -> str:
        """The color, darkened until small text in it is readable on white."""
        red, green, blue = (0.72 * part for part in to_rgb(self.color))
        return to_hex((red, green, blue))


def looks(labels: Iterable[str]) -> dict[str, Look]:
    """Give every label its look, by order of first appearance."""
    unique = list(dict.fromkeys(labels))
    return {
        label: Look(
            COLORS[index % len(COLORS)],
            # Moved on with every round of colors: no color keeps its marker.
            _MARKERS[(index + index // len(COLORS)) % len(_MARKERS)],
            LINES[(index // len(COLORS)) % len(LINES)],
            label,
        )
        for index, label in enumerate(unique)
    }


def name_in_file(artist: Artist, *parts: str) -> None:
    """Give a line or an area a name by which SVG files know it, "panel/policy"."""
    artist.set_gid("/".join("-".join(part.split()) for part in parts))


def width_in_inches(width: str | float) -> float:
    """Return inches, from 1.5 to 40, of "column", "full" or a number."""
    if isinstance(width, str):
        if width not in WIDTHS:
            rule = f"must be {' or '.join(map(repr, WIDTHS))} or inches"
            raise ArgumentError("width", rule, width, remedy="choose one")
        return WIDTHS[width]
    return number_within(width, 1.5, 40, "width", "inches")


def check_height(height: float | None) -> float | None:
    """Return the height in inches, None where it follows from what is drawn."""
    return (
        None if height is None else number_within(height, 0.5, 200, "height", "inches")
    )


def save(figure: Figure, stem: Path, formats: Iterable[str]) -> list[Path]:
    """Save a figure as ``stem.<format>`` for every format; return the paths.

    The files do not contain the time: the same figure gives the same bytes.

    Raises
    ------
    ValueError
        For something else than a figure, no name, or a format that is not known.
    OutputWriteError
        If a file cannot be written; an older one stays.
    """
    if not isinstance(figure, Figure):
        raise ArgumentError("figure", "must be a matplotlib figure", figure)
    stem = as_path("stem", stem, ArgumentError)
    if not stem.name:
        raise ArgumentError("stem", "must end with the name of a file", stem)
    known = figure.canvas.get_supported_filetypes()
    kinds = [one_of(kind, known, "formats") for kind in items_of(formats, "formats")]
    paths = []
    for kind in kinds:
        path = stem.with_name(f"{stem.name}.{kind}")
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
        buffer = io.BytesIO()
        figure.savefig(buffer, format=kind, metadata=metadata)
        write_whole(path, buffer.getvalue())
        paths.append(path)
    return paths

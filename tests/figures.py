"""What a drawn figure shows, and figures that nobody looks into."""

from pathlib import Path

import matplotlib as mpl
import pytest

from bayesduel.plots.style import StyledFigure


@pytest.fixture(autouse=True)
def saved_undrawn(request, monkeypatch):
    """Save figures as empty files, but for tests that ask for ``drawn`` ones.

    Drawing took most of the time of comparisons and pages whose figures nobody looks
    into.
    """

    def save(figure, file, **options):
        if isinstance(file, Path):
            file.touch()
        else:
            file.write(b"<svg/>")

    if "drawn" not in request.fixturenames:
        monkeypatch.setattr(StyledFigure, "savefig", save)


@pytest.fixture
def drawn():
    """Let figures be drawn."""


def all_text(figure):
    """Return every visible text of a figure, legends included."""
    return "\n".join(
        text.get_text() for text in figure.findobj(mpl.text.Text) if text.get_visible()
    )


def means(axes):
    """Return the drawn mean curves: solid lines with a marker."""
    return [
        line
        for line in axes.lines
        if line.get_linestyle() == "-" and line.get_marker() not in ("None", "|")
    ]


def dashed(axes):
    """Return the drawn bounds."""
    return [line for line in axes.lines if line.get_linestyle() == "--"]

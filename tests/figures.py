"""Helpers that read drawn figures, and fixtures that skip drawing and saving."""

from pathlib import Path

import matplotlib as mpl
import pytest
import xarray as xr

from bayesduel.models.fit.fit_result import Fit
from bayesduel.plots.axes import panels
from bayesduel.plots.bound_curves import bounds_of_panel
from bayesduel.plots.policy_looks import policy_looks
from bayesduel.plots.style import StyledFigure


@pytest.fixture(autouse=True)
def saved_undrawn(request, monkeypatch):
    """Save figures as empty files, but for tests that ask for ``drawn`` ones.

    Drawing took most of the time of comparisons and pages whose figures nobody looks
    into. Likewise fits, but for tests that ask for ``whole_fits``: what their files
    hold is compiled anew for every model.
    """

    def save(figure, file, **options):
        if isinstance(file, Path):
            file.touch()
        else:
            file.write(b"<svg/>")

    if "drawn" not in request.fixturenames:
        monkeypatch.setattr(StyledFigure, "savefig", save)
    if "whole_fits" not in request.fixturenames:
        monkeypatch.setattr(Fit, "to_datatree", lambda fit, **options: xr.DataTree())


@pytest.fixture
def drawn():
    """Let figures be drawn."""


@pytest.fixture
def whole_fits():
    """Let fits be saved whole."""


def all_text(figure):
    """Return every visible text of a figure, legends included."""
    return "\n".join(
        text.get_text() for text in figure.findobj(mpl.text.Text) if text.get_visible()
    )


def means(axes):
    """Return the drawn mean curves: lines with a name and a marker."""
    return [
        line
        for line in axes.lines
        if line.get_gid() is not None
        and line.get_linestyle() != "None"
        and line.get_marker() not in ("None", "|")
    ]


def dashed(axes):
    """Return the drawn bounds."""
    return [line for line in axes.lines if line.get_linestyle() == "--"]


def bounds_over(tree, bounds, notion="copeland", anchor=None):
    """Return what the only panel of a result shows of bounds, without drawing it."""
    (panel,) = panels(tree, notion, "none")
    look = policy_looks(line.policy for line in panel.lines)
    return bounds_of_panel(bounds, panel, notion, anchor, look)

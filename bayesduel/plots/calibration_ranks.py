"""The figure of a calibration: how uniform the ranks of the truths are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.errors import FitError
from bayesduel.models.argument_checks import check_probability
from bayesduel.plots import style
from bayesduel.plots.policy_looks import shown_colors, shown_names
from bayesduel.plots.style import StyledFigure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayesduel.diagnostics import Calibration

_BAND = "#CCCCCC"
_SIMULATIONS = 2000
_SEED = 214
_COLUMNS = 3


def calibration(
    found: Calibration,
    *,
    probability: float = 0.95,
    colors: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    width: str | float = "full",
) -> StyledFigure:
    """Draw how far ranks of truths are from uniform, with simultaneous bands.

    A panel per quantity, a line per number in it: the empirical distribution of the
    ranks minus the uniform one. If the posterior is right a whole line stays in the
    band with this probability (Sailynoja, Burkner and Vehtari 2022). A line that
    rises above it at the left and falls below at the right says that intervals are too
    narrow; one that is high all along, that what is fitted is too large.

    Parameters
    ----------
    found : Calibration
    probability : float
        That a line stays in its band, in (0, 1).
    colors, names : mapping, optional
        Colors of matplotlib, and what quantities are called, by quantity.
    width : "full" (7 in), "column" (3.4 in) or float

    Raises
    ------
    FitError
        If it is no calibration.

    Examples
    --------
    >>> from bayesduel import plots
    >>> from bayesduel.diagnostics import calibrate
    >>> from bayesduel.models import PairwiseBeta
    >>> from bayesduel.votes import Comparisons
    >>> votes = Comparisons.from_wins([[0, 5], [5, 0]])
    >>> found = calibrate(PairwiseBeta(), votes, method="exact", num_simulations=20)
    >>> [axes.get_title("left") for axes in plots.calibration(found).axes]
    ['preference', 'log_likelihood']
    """
    from bayesduel.diagnostics import Calibration

    if not isinstance(found, Calibration):
        raise FitError("found", "must be what calibrate() returns", found)
    probability, inches = check_probability(probability), style.width_in_inches(width)
    called = shown_names(names, found.ranks, "quantities")
    usual = dict.fromkeys(found.ranks, style.BLUE)
    colored = shown_colors(colors, usual, "quantities")
    columns = min(_COLUMNS, len(found.ranks))
    rows = -(-len(found.ranks) // columns)
    with style.new_figure(inches, 0.5 + 1.6 * rows) as figure:
        grid = figure.subplots(rows, columns, squeeze=False, sharex=True)
        panels = list(grid.ravel())
        for axes in panels[len(found.ranks) :]:
            axes.remove()
        point = np.arange(1, found.num_draws + 1) / (found.num_draws + 1)
        number = len(next(iter(found.ranks.values())))
        low, high = _band(number, point, probability)
        for axes, (name, ranks) in zip(panels, found.ranks.items(), strict=False):
            axes.fill_between(point, low - point, high - point, color=_BAND, lw=0)
            flat = np.sort(ranks.reshape(number, -1), axis=0)
            for each in flat.T:
                below = np.searchsorted(each, np.arange(found.num_draws), side="right")
                axes.plot(point, below / number - point, color=colored[name], lw=0.8)
            axes.set_title(called[name], loc="left")
            style.light_grid(axes, "y")
        words = (
            f"rank / {found.num_draws + 1}; empirical distribution minus the uniform "
            f"one; bands hold a whole line: {probability:.0%}"
        )
        figure.supxlabel(words, fontsize=7, color=style.FAINT)
    return figure


def _band(
    number: int, point: np.ndarray, probability: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return between which shares a whole empirical distribution stays."""
    from arviz_stats.ecdf_utils import (
        get_pointwise_confidence_band,
        simulate_confidence_bands,
    )

    rng = np.random.default_rng(_SEED)
    each = simulate_confidence_bands(number, 1, point, probability, _SIMULATIONS, rng)
    return get_pointwise_confidence_band(each, number, point)

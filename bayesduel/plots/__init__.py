"""Figures: regret with bands and bounds, sweeps, slopes, exploration, votes.

Every function returns a `StyledFigure`, which pyplot does not know, readable at the
width of a paper column ("column", 3.4 in) and of a page ("full", 7 in), in colors that
are safe for color-deficient readers. Global matplotlib settings are never touched.
"""

from bayesduel.plots.allocation import allocation
from bayesduel.plots.calibration_ranks import calibration
from bayesduel.plots.coefficients import coefficients
from bayesduel.plots.curves import regret
from bayesduel.plots.false_stops import false_stops
from bayesduel.plots.growth import slopes
from bayesduel.plots.heat_maps import heat_map
from bayesduel.plots.pairs import pair, predictive_check
from bayesduel.plots.posteriors import forest, winners
from bayesduel.plots.slope_ratios import slope_ratios
from bayesduel.plots.style import StyledFigure, save
from bayesduel.plots.survival import survival
from bayesduel.plots.sweeps import sweep

__all__ = [
    "StyledFigure",
    "allocation",
    "calibration",
    "coefficients",
    "false_stops",
    "forest",
    "heat_map",
    "pair",
    "predictive_check",
    "regret",
    "save",
    "slope_ratios",
    "slopes",
    "survival",
    "sweep",
    "winners",
]

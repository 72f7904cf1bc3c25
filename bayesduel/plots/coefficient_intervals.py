"""A figure of what attributes are worth to those who choose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesduel.errors import FitError
from bayesduel.models.argument_checks import check_posterior, check_probability
from bayesduel.plots import style
from bayesduel.plots.policy_looks import shown_colors, shown_names
from bayesduel.plots.posteriors import _caption, short_names
from bayesduel.plots.style import StyledFigure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayesduel.inference import Fit

_ROW = 0.24
"""Inches per attribute."""


def coefficients(
    posterior: Fit,
    *,
    probability: float = 0.9,
    colors: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    width: str | float = "full",
) -> StyledFigure:
    """Draw the coefficients of a model of choices, those that matter most on top.

    In units in which they can be compared: what one standard deviation of an attribute
    among the alternatives of a choice adds to utility. A bar below shows, for a mixed
    logit, within which 90 % of the persons are, by the means of both parameters.

    Parameters
    ----------
    posterior : Fit
        Of :class:`~bayesduel.models.ConditionalLogit` or a model made from it.
    probability : float
        Of the thin central interval; the thick one holds half of the draws.
    colors, names : mapping, optional
        Colors of matplotlib, and what attributes are called, by attribute.
    width : "full" (7 in), "column" (3.4 in) or float

    Raises
    ------
    FitError
        If the model has no attributes.
    ValueError
        For an unknown width.

    Examples
    --------
    >>> from bayesduel import plots
    >>> from bayesduel.inference import fit
    >>> from bayesduel.models import ConditionalLogit
    >>> from bayesduel.votes import Choices
    >>> prices = [[3.0, 1.0], [2.0, 2.5], [1.0, 3.0], [2.0, 1.5]]
    >>> choices = Choices.from_attributes(prices, [1, 0, 0, 0])
    >>> figure = plots.coefficients(fit(ConditionalLogit(), choices, num_draws=50))
    >>> figure.axes[0].get_xlabel()
    'utility per standard deviation of the attribute'
    """
    draws = check_posterior(posterior).flat_draws()
    probability, inches = check_probability(probability), style.width_in_inches(width)
    if "standard_coefficient" not in draws:
        rule = "must be of a model with attributes, such as ConditionalLogit"
        raise FitError("posterior", rule, repr(posterior.model))
    standard = draws["standard_coefficient"]
    attributes = list(posterior.data.attribute_names)
    called = shown_names(names, attributes, "attributes")
    usual = dict.fromkeys(attributes, style.BLUE)
    colored = shown_colors(colors, usual, "attributes")
    order = np.argsort(-np.abs(standard.mean(axis=0)), kind="stable")
    rows = np.arange(len(order))
    ordered = [attributes[place] for place in order]
    colored_rows = [colored[each] for each in ordered]
    with style.new_figure(inches, _ROW * len(order) + 0.9) as figure:
        axes = figure.add_subplot()
        axes.use_sticky_edges = False  # Bars end within the axes.
        axes.axvline(0.0, color="#BBBBBB", linewidth=0.6, zorder=0)
        mean = standard.mean(axis=0)[order]
        if "standard_spread" in draws:
            varying = np.asarray(posterior.arrays.varying).tolist()
            spread = np.zeros(len(ordered))
            spread[varying] = draws["standard_spread"].mean(axis=0)
            reach = 1.645 * spread[order]
            axes.barh(rows, 2 * reach, left=mean - reach, height=0.7, alpha=0.3,
                      color=style.ORANGE)  # fmt: skip
        for share, thickness in ((probability, 1.0), (0.5, 3.0)):
            tails = [(1.0 - share) / 2.0, (1.0 + share) / 2.0]
            low, high = np.quantile(standard[:, order], tails, axis=0)
            axes.hlines(rows, low, high, colors=colored_rows, linewidth=thickness)
        for color in dict.fromkeys(colored_rows):
            own = [row for row in rows if colored_rows[row] == color]
            axes.plot(mean[own], own, "o", color="white", markeredgecolor=color)
        axes.set_xlabel("utility per standard deviation of the attribute")
        axes.set_yticks(rows, short_names(called[each] for each in ordered))
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        style.light_grid(axes, "x")
        people = "; orange: 90 % of the persons" if "standard_spread" in draws else ""
        _caption(
            figure, posterior, f"intervals: thick 50%, thin {probability:.0%}{people}"
        )
    return figure

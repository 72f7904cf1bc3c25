"""``plots.slope_ratios``: measured slopes over the constant of the lower bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator, StrMethodFormatter

from bayesduel.analysis.anchored_bounds import (
    BOUNDED_NOTIONS,
    lower_bound,
    model_known_by,
)
from bayesduel.analysis.slopes import Slope, slope, slope_span
from bayesduel.errors import ArgumentError
from bayesduel.plots import axes as layout
from bayesduel.plots import style
from bayesduel.plots.bound_curves import power_text
from bayesduel.plots.policy_looks import policy_looks
from bayesduel.plots.style import StyledFigure
from theory import ecw_rmed_constant
from theory.arguments import one_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesduel.analysis.measured_nodes import Measurement, Result

DASHES = (0, (4, 2))
_LINE: dict[str, Any] = {"color": style.INK, "linewidth": 1.1, "zorder": 1}
_SPREAD = 1.5  # Instances that differ less in C_E / C* have columns instead of an axis.
_WIDE = 0.7  # Share of a column that its points take.
_FEW = 4.0  # Slopes that differ less have a linear axis.
_NAMED = 6  # So many instances at most are named below the axis.


def slope_ratios(
    result: Result,
    *,
    from_round: int | None = None,
    to_round: int | None = None,
    notion: str = "copeland",
    colors: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    width: str | float = "full",
    height: float | None = None,
) -> StyledFigure:
    """Draw the slope of each policy over C* against C_E / C*, a point per instance.

    C* is the constant of the lower bound and C_E that of the efficient program, which
    ECW-RMED reaches. A policy that reaches the lower bound stays on the level line 1,
    wherever the instance lies; one that reaches C_E rises along the diagonal. One
    instance, or several of nearly one C_E / C*, have a column each instead, with
    C_E / C* as a dashed level in it: points of an axis that means something are not
    moved apart.

    The slope of a policy over a model is divided by the constant that applies to it,
    that of :func:`theory.structured_lower_bound`; the caption names these policies. On
    an instance that does not obey the model it has no point.

    Parameters
    ----------
    result : xarray.DataTree
        Policies on several instances, which must hold their matrices. An
        instance with a tie has no constant and is left out; the caption says so.
    from_round, to_round : int, optional
        Checkpoints between which slopes are measured; see :func:`slopes`.
    notion : {"copeland", "copeland_losses"}
        A regret that the constants speak of.
    colors, names, width, height
        As in :func:`regret`.

    Returns
    -------
    StyledFigure
        As of :func:`regret`.

    Raises
    ------
    ValueError
        When no instance has both constants, a round is no checkpoint, or the
        constants do not speak of the regret.

    Examples
    --------
    >>> import bayesduel
    >>> result = bayesduel.simulate("cyclic", "d-ts", num_runs=4, horizon=1000)
    >>> bayesduel.plots.slope_ratios(result).axes[0].get_ylabel()
    'slope of regret over $C^*$'
    """
    one_of(notion, BOUNDED_NOTIONS, "notion")
    inches, height = style.width_in_inches(width), style.check_height(height)
    groups = layout.by_instance(result)
    measurements = [measured for members in groups.values() for measured in members]
    points, left_out = _points(measurements, from_round, to_round, notion)
    look = policy_looks((x.policy for x in measurements), colors=colors, names=names)
    tall = inches * (0.6 if inches >= 5.0 else 0.95)
    with style.new_figure(inches, height or tall) as figure:
        axes = figure.subplots()
        # Instances of nearly one C_E / C* have a column each in place of an axis.
        hardness = [point.hardness for point in points]
        columns: dict[str, int] = {}
        if max(hardness) <= _SPREAD * min(hardness):
            instances = dict.fromkeys(point.instance for point in points)
            columns = {name: column for column, name in enumerate(instances)}
        for index, (policy, shown) in enumerate(look.items()):
            of_policy = [point for point in points if point.policy == policy]
            where = np.array([point.hardness for point in of_policy])
            if columns:
                aside = (index + 0.5) / len(look) - 0.5
                where = np.array([columns[x.instance] for x in of_policy], float)
                where += _WIDE * aside
            ratios = np.array([x.slope.value / x.constant for x in of_policy])
            errors = np.array([x.slope.standard_error / x.constant for x in of_policy])
            drawn = axes.errorbar(
                where, ratios, np.where(np.isfinite(errors), errors, 0.0),
                color=shown.color, marker=shown.marker, linestyle="none",
                elinewidth=0.9, markersize=4.5, markeredgecolor="white",
                markeredgewidth=0.4, zorder=3,
            )  # fmt: skip
            style.name_in_file(drawn.lines[0], policy)
        references = _levels(axes, points, columns) if columns else _lines(axes, points)
        # Set the axis of slopes to the points: linear where they are near each other.
        levels = bool(columns)
        shown = [point.slope.value / point.constant for point in points]
        # Beside the points the level 1 is seen, and C_E / C* where it has levels.
        shown += [1.0, *(point.hardness for point in points if levels)]
        low, high = min(shown), max(shown)
        if low > 0 and high > _FEW * low:
            axes.set_yscale("log")
            axes.yaxis.set_major_locator(LogLocator(base=10.0, subs=(1.0, 2.0, 5.0)))
            axes.yaxis.set_minor_locator(NullLocator())
            axes.set_ylim(0.8 * low, 1.25 * high)
        else:
            axes.yaxis.set_major_locator(MaxNLocator(6))
            axes.set_ylim(min(0.0, 1.1 * low), 1.1 * high)
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        style.light_grid(axes, "y")
        layout.head_panel(axes, "", references, inches)
        which = " of its class" if any(point.model for point in points) else ""
        axes.set_ylabel(f"slope of regret over $C^*${which}")
        texts = [_caption(points, left_out, look), "" if columns else _places(points)]
        caption = "\n".join(layout.wrap_label(text, inches) for text in texts if text)
        layout.caption_below(figure, caption, look)
    return figure


class _Point(NamedTuple):
    instance: str
    policy: str
    slope: Slope
    optimal: float
    efficient: float
    model: str
    """The model of the matrix that the policy knows; empty if none."""

    constant: float
    """That of the lower bound which applies to the policy."""

    @property
    def hardness(self) -> float:
        """C_E / C*."""
        return self.efficient / self.optimal


def _points(
    measurements: list[Measurement],
    from_round: int | None,
    to_round: int | None,
    notion: str,
) -> tuple[list[_Point], list[str]]:
    """Return all points, and which instances and policies have no constants."""
    constants: dict[str, tuple[float, float] | None] = {}
    points, misfits = [], []
    for measured in measurements:
        name = measured.instance
        if name not in constants:
            constants[name] = _constants(measured)
        both = constants[name]
        if both is None:
            continue
        model, constant = model_known_by(measured.parameters), both[0]
        if model:
            bound, _, _ = measured.lower_slope(notion)
            if bound is None:
                misfits.append(f"{measured.policy} on {name}")
                continue
            constant = bound.log_coefficient
        start, end = slope_span([measured], from_round, to_round)
        grown = slope(measured, start, end, notion)
        points.append(_Point(name, measured.policy, grown, *both, model, constant))
    left_out = [name for name, both in constants.items() if both is None] + misfits
    if not points:
        names = ", ".join(left_out) or "none"
        rule = (
            "no instance in it has a lower bound (a tie, no matrix, or not the model "
            f"of a policy: {names})"
        )
        raise ArgumentError("result", rule, remedy="give instances without ties")
    return points, left_out


def _constants(measured: Measurement) -> tuple[float, float] | None:
    """Return C* and C_E; None without a matrix, with ties, or without regret."""
    if measured.preference is None:
        return None
    optimum, _ = lower_bound(measured.preference)
    if optimum is None or optimum.value <= 0.0:
        return None
    return optimum.value, ecw_rmed_constant(measured.preference).value


def _lines(axes: Axes, points: list[_Point]) -> list[Line2D]:
    """Draw the level 1 and the diagonal over C_E / C*; return their legend entries."""
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(base=10.0, subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    ends = np.array([0.9, max(point.hardness for point in points) * 1.15])
    axes.set_xlim(*ends)
    axes.set_xlabel("$C_E / C^*$")
    axes.plot(ends, np.ones(2), **_LINE)
    # Where the other axis is linear, the diagonal is a curve.
    curve = np.geomspace(ends[0], ends[1], 100)
    axes.plot(curve, curve, linestyle=DASHES, **_LINE)
    return _entries()


def _levels(axes: Axes, points: list[_Point], columns: dict[str, int]) -> list[Line2D]:
    """Draw the level 1, and C_E / C* in every column; return their legend entries."""
    hardness = {point.instance: point.hardness for point in points}
    places = np.array(list(columns.values()), dtype=np.float64)
    axes.set_xlim(-0.5, places[-1] + 0.5)
    axes.axhline(1.0, **_LINE)
    for name, column in columns.items():
        ends = np.array([column - 0.45, column + 0.45])
        axes.plot(ends, np.full(2, hardness[name]), linestyle=DASHES, **_LINE)
    labels = [f"{name}\n$C_E / C^*$ = {hardness[name]:.3g}" for name in columns]
    axes.set_xticks(places, labels)
    axes.tick_params(axis="x", length=0)
    return _entries()


def _entries() -> list[Line2D]:
    lower, efficient = "slope of the lower bound", "slope of the efficient program"
    return [
        Line2D([], [], label=f"$C^*$: {lower}", **_LINE),
        Line2D([], [], label=f"$C_E$: {efficient}", **_LINE, linestyle=DASHES),
    ]


def _places(points: list[_Point]) -> str:
    """Say which instance is where on the axis, unless there are too many."""
    hardness = sorted({(point.hardness, point.instance) for point in points})
    if len(hardness) > _NAMED:
        return ""
    names = ", ".join(f"{name} {ratio:.2f}" for ratio, name in hardness)
    return f"$C_E/C^*$: {names}"


def _caption(
    points: list[_Point], left_out: list[str], look: Mapping[str, style.Look]
) -> str:
    count = layout.runs_text(point.slope.num_runs for point in points)
    first = points[0].slope
    instances = len({point.instance for point in points})
    plural = "" if instances == 1 else "s"
    span = f"{power_text(first.from_round)} to {power_text(first.to_round)}"
    text = (
        f"{instances} instance{plural}, slopes from {span} rounds, "
        f"mean of {count} ± 1 standard error"
    )
    for policy, model in sorted({(x.policy, x.model) for x in points if x.model}):
        text += f"; $C^*$ of {look[policy].name} is that under {model}"
    if left_out:
        text += f"; without {', '.join(left_out)} (no lower bound)"
    return text

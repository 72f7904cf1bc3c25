"""``plots.sweep``: regret over the values of a parameter."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullLocator,
)

from bayesduel.analysis.measured_nodes import checkpoint_index, recorded_notion
from bayesduel.arguments.literals import literal
from bayesduel.arguments.named_objects import word_of
from bayesduel.errors import ArgumentError
from bayesduel.plots import axes as layout
from bayesduel.plots import style
from bayesduel.plots.axes import Line, Panel
from bayesduel.plots.bound_curves import power_text
from bayesduel.plots.policy_looks import policy_looks
from bayesduel.plots.style import StyledFigure
from theory.arguments import items_of, one_of, true_or_false

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesduel.analysis.measured_nodes import Measurement, Result


_DOTS = (0, (1, 1.5))
_MOST_TICKS = 7
_TREND = 3  # So many values at least are joined: two say nothing of what lies between.

_MARGIN = 0.04


def sweep(
    result: Result,
    parameter: str | None = None,
    *,
    at: int | Sequence[int] | None = None,
    notion: str | None = None,
    band: str = "standard error",
    log_x: bool | None = None,
    log_y: bool = False,
    colors: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    width: str | float = "full",
    height: float | None = None,
) -> StyledFigure:
    """Draw mean cumulative regret against a parameter, one line per kind of policy.

    Parameters
    ----------
    result : xarray.DataTree
        What :func:`bayesduel.compare` returned for several values of the parameter,
        such as ``"d-ts:alpha=0.51..2/10"``. Failed policies are left out.
    parameter : str, optional
        A number among the parameters of policies, or of matrices such as
        ``"equal-gap:gap=0.05|0.1|0.2,num_arms=5"``; by default the one that takes the
        most values. Of policies, each instance has a panel, and a policy without the
        parameter is a level line; of matrices, each family has one. Another parameter
        that takes several values beside has a line for each; one that moves along, as
        when both were zipped, stands on the axis.
    at : int or sequence of int, optional
        Checkpoints at which regret is read, a panel each; by default the last one of
        each policy.
    notion : str, optional
        As in :func:`regret`.
    band : {"standard error", "quantiles 10-90", "quantiles 25-75", "none"}
        See :func:`regret`. It is measured at the markers, and drawn between them where
        a line has three values; two are not joined, and have bars.
    log_x : bool, optional
        Logarithmic axis of the parameter; by default where its values are closer to
        equal ratios than to equal steps.
    log_y : bool
        Logarithmic axis of regret.
    colors, names, width, height
        As in :func:`regret`.

    Returns
    -------
    StyledFigure
        See :func:`regret`. A dotted line marks the default of the parameter, where it
        is between the values.

    Raises
    ------
    ValueError
        When no number takes several values, or this one does not; for an unknown
        notion, band or width, a round that is no checkpoint, and a logarithmic axis of
        values that are not positive.

    Examples
    --------
    >>> import bayesduel
    >>> result = bayesduel.compare(
    ...     "cyclic", "rucb:alpha=0.51|1|2|4", num_runs=4, horizon=1000
    ... )
    >>> figure = bayesduel.plots.sweep(result)
    >>> figure.axes[0].get_xlabel(), figure.axes[0].get_xscale()
    ('alpha', 'log')
    """
    one_of(band, layout.BANDS, "band")
    notion = recorded_notion(result, notion)
    swept = sweep_of(result, parameter, at, notion, band)
    look = policy_looks(
        (line.policy for panel in swept.panels for line in panel.lines),
        colors=colors,
        names=names,
    )
    log_x, log_y = _log_x(swept, log_x), true_or_false(log_y, "log_y")
    inches, height = style.width_in_inches(width), style.check_height(height)
    columns = layout.usual_columns(len(swept.panels), inches)
    rows = -(-len(swept.panels) // columns)
    direct = len(swept.panels) == 1
    moved = f" (with it {', '.join(swept.moved)})" if swept.moved else ""
    share = 0.5 if direct and inches >= 5.0 else 0.66
    tall = rows * inches / columns * share + 0.7
    with style.new_figure(inches, height or tall) as figure:
        grid = layout.panel_grid(
            figure,
            len(swept.panels),
            columns,
            x_label=swept.parameter + moved,
            y_label=layout.notion_label(notion),
        )
        for axes, panel in zip(grid, swept.panels, strict=True):
            style.name_in_file(axes, panel.instance)
            for line in panel.lines:
                if line.rounds.size < _TREND and not line.is_level:
                    layout.draw_points(axes, line, look[line.policy])
                else:
                    layout.draw_line(
                        axes, line, look[line.policy], log_x=log_x, all_marked=True
                    )
            layout.scale_regret(axes, panel, log_y=log_y)
            values = np.array(swept.values)
            first, last = values[0], values[-1]
            if log_x:
                axes.set_xscale("log")
            # A default at the least value is apart from the axis.
            step = _MARGIN * np.log(last / first) if log_x else _MARGIN * (last - first)
            axes.set_xlim(first * np.exp(-step) if log_x else first - step, last)
            _set_ticks(axes, values, log_x=log_x)
            defaults = {
                line.policy: swept.defaults.get(line.policy) for line in panel.lines
            }
            inside = {
                k: x
                for k, x in defaults.items()
                if x is not None and first <= x <= last
            }
            common = len({*inside.values()}) == 1
            for value in {*inside.values()}:
                label = next(name for name in inside if inside[name] == value)
                color = style.FAINT if common else look[label].color
                axes.axvline(
                    value, color=color, linestyle=_DOTS, linewidth=1.1, zorder=1
                )
            words = layout.words_only(layout.beyond_text(panel, look, log_y=log_y))
            layout.head_panel(axes, panel.instance, words, inches / columns)
        caption = layout.wrap_label(_caption(swept, band), inches)
        layout.caption_below(figure, caption, {} if direct else look)
        if direct:
            layout.label_ends(figure, grid[0], swept.panels[0], look)
    return figure


def _log_x(swept: Sweep, wanted: bool | None) -> bool:
    values = np.array(swept.values)
    positive = bool(values[0] > 0)
    if wanted is None and positive and values.size > 2:
        # Whether ratios of neighbors are more alike than their distances.
        ratios, steps = np.diff(np.log(values)), np.diff(values)
        return bool(ratios.max() / ratios.min() < steps.max() / steps.min())
    if wanted is None:
        return False
    if true_or_false(wanted, "log_x") and not positive:
        rule = f"must be False where {swept.parameter} is {values[0]:g}"
        remedy = "a logarithmic axis has numbers above 0 only"
        raise ArgumentError("log_x", rule, True, remedy=remedy)
    return wanted


def _set_ticks(axes: Axes, values: np.ndarray, *, log_x: bool) -> None:
    """Put ticks at the values where there is room for them."""
    places = np.log(values) if log_x else values
    steps = np.diff(places)
    roomy = values.size <= _MOST_TICKS and steps.max() < 2 * steps.min()
    if roomy:
        axes.xaxis.set_major_locator(FixedLocator(list(values)))
    elif log_x:
        axes.xaxis.set_major_locator(LogLocator(base=10.0, subs=(1.0, 2.0, 5.0)))
    else:
        axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_minor_locator(NullLocator())
    digits = FuncFormatter(lambda value, _: f"{float(f'{value:.3g}'):g}")
    axes.xaxis.set_major_formatter(digits)


def _caption(swept: Sweep, band: str) -> str:
    until = ", ".join(map(power_text, swept.rounds))
    text = f"regret after {until} rounds, {layout.band_text(list(swept.panels), band)}"
    values = swept.values
    inside = {x for x in swept.defaults.values() if values[0] <= x <= values[-1]}
    if inside:
        listed = ", ".join(f"{value:g}" for value in sorted(inside))
        text += f"; dotted: default, {listed}"
    if swept.left_out:
        text += f"; without {', '.join(swept.left_out)} (no {swept.parameter})"
    return text


# --- From a result tree to lines over a parameter, panel by panel ---------------------


@dataclass(frozen=True)
class Sweep:
    """Regret over the values of a parameter, a panel for each instance and round."""

    parameter: str
    panels: tuple[Panel, ...]
    moved: tuple[str, ...]  # Other parameters that move along with it.
    defaults: Mapping[str, float]  # By the labels of lines that have one.
    left_out: tuple[str, ...]  # Instances without the parameter.
    rounds: tuple[int, ...]  # At which regret is read.

    @property
    def values(self) -> list[float]:
        """All values of the parameter, ascending."""
        lines = [line for panel in self.panels for line in panel.lines]
        return sorted({float(value) for line in lines for value in line.rounds})


@dataclass(frozen=True)
class _Point:
    """One policy on one instance, as a point of a line of a panel."""

    measured: Measurement
    line: Line
    panel: str
    base: str
    """The name of its line, without the parameters that differ between lines."""

    parameters: Mapping[str, Any]
    """Parameters of the policy, or of the instance."""

    @property
    def position(self) -> tuple[str, str]:
        """Where it stands: the panel, and the line or several of them."""
        return self.panel, self.base


def sweep_of(
    result: Result, parameter: str | None, at: Any, notion: str, band: str
) -> Sweep:
    """Find the lines of a sweep; see :func:`bayesduel.plots.sweep`."""
    drawn = [
        (measured, layout.line_of(measured, notion, band))
        for members in layout.by_instance(result).values()
        for measured in members
    ]
    of_policies = [_of_policy(*pair) for pair in drawn]
    of_instances = [_of_instance(*pair) for pair in drawn]
    name, points = _chosen(parameter, of_policies, of_instances)
    swept = [point for point in points if _is_number(point.parameters.get(name))]
    apart, moved = _others(swept, name)
    labels = {id(point): _label(point, apart) for point in swept}
    rounds = [at] if at is None or np.ndim(at) == 0 else items_of(at, "at")
    if not rounds:
        raise ArgumentError("at", "must hold at least one round", at)
    level = [point for point in points if point not in swept]
    if points is of_instances:
        level = []
    panels = [
        panel
        for round_ in rounds
        for panel in _panels(
            swept, level, name, labels, round_, several=len(rounds) > 1
        )
    ]
    names = dict.fromkeys(point.measured.instance for point in points)
    shown = {point.measured.instance for point in (*swept, *level)}
    return Sweep(
        parameter=name,
        panels=tuple(panels),
        moved=tuple(moved),
        defaults=_defaults(swept, name, labels, of_policies=points is of_policies),
        left_out=tuple(name for name in names if name not in shown),
        rounds=tuple(
            sorted({int(r or point.line.rounds[-1]) for r in rounds for point in swept})
        ),
    )


def _of_policy(measured: Measurement, line: Line) -> _Point:
    acronym = measured.policy.partition(":")[0].partition(",")[0]
    return _Point(measured, line, measured.instance, acronym, _flat(line.parameters))


def _of_instance(measured: Measurement, line: Line) -> _Point:
    family, _, rest = measured.instance.partition(":")
    pairs = [part.partition("=") for part in rest.split(",") if "=" in part]
    parameters = {key.strip(): literal(value.strip()) for key, _, value in pairs}
    return _Point(measured, line, family, measured.policy, parameters)


def _flat(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a policy, with those of what is within it."""
    flat: dict[str, Any] = {}
    for name, value in parameters.items():
        if isinstance(value, Mapping):
            inner = dict(value)
            flat[name] = inner.pop("name", None)
            flat = _flat(inner) | flat
        else:
            flat[name] = json.dumps(value) if isinstance(value, list) else value
    return flat


def _is_number(value: Any) -> TypeGuard[float]:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and bool(np.isfinite(value))


def _chosen(parameter: str | None, *kinds: list[_Point]) -> tuple[str, list[_Point]]:
    """Return the parameter, and the points of who has it: policies first."""
    by_name: dict[str, tuple[int, list[_Point]]] = {}
    for points in kinds:
        for name in dict.fromkeys(
            name for point in points for name in point.parameters
        ):
            values: dict[tuple[str, str], set[float]] = {}
            for point in points:
                if _is_number(value := point.parameters.get(name)):
                    values.setdefault(point.position, set()).add(value)
            most = max(map(len, values.values()), default=0)
            if most > 1:
                by_name.setdefault(name, (most, points))
    if not by_name:
        raise ArgumentError(
            "result",
            "no number among the parameters of a policy or a matrix takes several "
            "values",
            remedy="compare some, such as d-ts:alpha=0.6|1|2",
        )
    if parameter is None:
        parameter = max(by_name, key=lambda name: by_name[name][0])
    if not isinstance(parameter, str) or parameter not in by_name:
        rule = f"must be one that takes several values here, {', '.join(by_name)}"
        raise ArgumentError("parameter", rule, parameter)
    return parameter, by_name[parameter][1]


def _others(swept: Sequence[_Point], name: str) -> tuple[list[str], list[str]]:
    """Return which other parameters tell lines apart, and which move along."""
    apart, moved = [], []
    for parameter in dict.fromkeys(key for point in swept for key in point.parameters):
        if parameter == name:
            continue
        at_one_value: dict[Any, set[Any]] = {}
        on_one_line: dict[Any, set[Any]] = {}
        for point in swept:
            value, of_parameter = (
                point.parameters.get(parameter),
                point.parameters[name],
            )
            on_one_line.setdefault(point.position, set()).add(value)
            at_one_value.setdefault((point.position, of_parameter), set()).add(value)
        if max(map(len, at_one_value.values())) > 1:
            apart.append(parameter)
        elif max(map(len, on_one_line.values())) > 1:
            moved.append(parameter)
    return apart, moved


def _label(point: _Point, apart: Sequence[str]) -> str:
    known = {name: point.parameters.get(name) for name in apart}
    words = {k: f"{x:g}" if _is_number(x) else word_of(x) for k, x in known.items()}
    named = [f"{k}={word}" for k, word in words.items() if known[k] is not None]
    return ", ".join([point.base, *named])


def _panels(
    swept: Sequence[_Point],
    level: Sequence[_Point],
    name: str,
    labels: Mapping[int, str],
    round_: int | None,
    *,
    several: bool,
) -> list[Panel]:
    """Return a panel per instance, at one round."""
    panels = []
    for panel in dict.fromkeys(one.panel for one in swept):
        of_panel = [one for one in swept if one.panel == panel]
        ends = [point.parameters[name] for point in of_panel]
        lines = []
        for label in dict.fromkeys(labels[id(one)] for one in of_panel):
            points = [one for one in of_panel if labels[id(one)] == label]
            points.sort(key=lambda one: one.parameters[name])
            values = [one.parameters[name] for one in points]
            lines.append(_line(label, points, values, round_))
        lines += [
            replace(
                _line(one.line.policy, [one, one], [min(ends), max(ends)], round_),
                is_level=True,
            )
            for one in level
            if one.panel == panel
        ]
        title = f"{panel}, {power_text(round_)} rounds" if several and round_ else panel
        panels.append(Panel(title, tuple(lines), of_panel[0].measured))
    return panels


def _line(
    label: str, points: Sequence[_Point], values: Sequence[float], round_: int | None
) -> Line:
    """Return the regret of some points at a round, over the parameter."""
    places = [
        -1 if round_ is None else checkpoint_index(point.line.rounds, round_, "at")
        for point in points
    ]
    pairs = list(zip(points, places, strict=True))
    mean, low, high = (
        np.array([getattr(point.line, what)[index] for point, index in pairs])
        for what in ("mean", "low", "high")
    )
    runs = points[0].line.num_runs
    return Line(label, np.array(values, dtype=np.float64), mean, low, high, runs)


def _defaults(
    swept: Sequence[_Point], name: str, labels: Mapping[int, str], *, of_policies: bool
) -> dict[str, float]:
    """Return the default of the parameter, by the label of a line."""
    from bayesduel.instances.families import FAMILIES, family_parameters
    from bayesduel.policies.lookup import usual_parameters
    from bayesduel.policies.registry import registered_names

    known = registered_names()
    defaults: dict[str, float] = {}
    for point in swept:
        usual: dict[str, Any] = {}
        if of_policies:
            attrs = point.measured.data.attrs
            policy = str(attrs.get("policy_name")).partition(",")[0]
            usual = usual_parameters(policy) if policy in known else {}
        elif point.panel in FAMILIES:
            usual = dict(family_parameters(point.panel))
        value = usual.get(name)
        if _is_number(value):
            defaults[labels[id(point)]] = float(value)
    return defaults

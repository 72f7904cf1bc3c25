"""``papers.reproduction``: figures of the papers, laid out as there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from matplotlib.ticker import PercentFormatter, StrMethodFormatter

from bayesduel.analysis.measured_nodes import standard_error
from bayesduel.errors import ArgumentError
from bayesduel.papers.claims import exploitation
from bayesduel.plots.curves import regret
from bayesduel.plots.policy_looks import policy_looks
from bayesduel.plots.style import (
    Look,
    StyledFigure,
    light_grid,
    name_in_file,
    new_figure,
    width_in_inches,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesduel.papers.reproducing import PanelResult, Reproduction
    from theory import RegretBound

_BAR = 0.8  # Width of all bars of one group, where groups are one apart.


def reproduction(
    found: Reproduction,
    *,
    colors: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    width: str | float = "full",
) -> StyledFigure:
    """Draw what :func:`bayesduel.papers.reproducing.reproduce` measured.

    Panels stand as in the paper, with its axes. Regret has bands of one standard error,
    over random matrices of the 25 % and 75 % quantiles.

    Parameters
    ----------
    found : Reproduction
        The measurements.
    colors, names : mapping, optional
        See :func:`bayesduel.plots.regret`.
    width : "full" (7 in), "column" (3.4 in) or float
        Width in inches.

    Returns
    -------
    StyledFigure
        A figure that pyplot does not know.

    Raises
    ------
    ValueError
        When every policy failed, or the width is unknown.
    """
    from bayesduel.papers.reproducing import Reproduction

    if not isinstance(found, Reproduction):
        raise ArgumentError(
            "found", "must be what papers.reproducing.reproduce returned", found
        )
    inches = width_in_inches(width)
    recipe = found.recipe
    panels = [result for result in found.panels if result.measured]
    if not panels:
        raise ArgumentError("found", "every policy in it failed, nothing can be drawn")
    if recipe.kind in ("regret", "games"):
        games = recipe.kind == "games"
        return regret(
            _tree(panels), notion=recipe.notion,
            band="quantiles 25-75" if games else "standard error",
            bounds=_bounds(panels) if recipe.bounds else None, log_x=recipe.log_x,
            log_y=recipe.log_y, columns=recipe.columns if inches >= 5.0 else 1,
            colors=colors, names=names, width=width,
        )  # fmt: skip
    draw = {
        "spread": _draw_spread,
        "exploitation": _draw_exploitation,
        "games-by-arms": _draw_by_arms,
        "delays": _draw_delays,
    }[recipe.kind]
    look = policy_looks(
        (
            _undelayed(text, measured[0].policy)[0]
            for result in panels
            for text, measured in result.measured.items()
        ),
        colors=colors,
        names=names,
    )
    columns = len(panels) if inches >= 5.0 else 1
    rows = -(-len(panels) // columns)
    with new_figure(inches, rows * max(2.5, 0.62 * inches / columns)) as figure:
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, result in zip(grid, panels, strict=True):
            axes.set_title(result.panel.label, fontweight="bold")
            name_in_file(axes, result.panel.label)
            light_grid(axes, "y")
            draw(axes, result, look, recipe.notion)
        handles, texts = grid[0].get_legend_handles_labels()
        if handles:
            figure.legend(handles, texts, loc="outside lower center", ncols=len(texts))
    return figure


def _bounds(panels: list[PanelResult]) -> str | dict[str, tuple[RegretBound, ...]]:
    """Return what to draw of theory: of worlds, the bounds of their tables."""
    from bayesduel.instances.choice import load_world
    from theory.theorems import choice_table_bounds

    worlds = {
        result.panel.label: load_world(result.panel.instance["world"])
        for result in panels
        if "world" in result.panel.instance
    }
    bounds = {
        name: choice_table_bounds(result.table()) for name, result in worlds.items()
    }
    return bounds or "auto"


def _tree(panels: list[PanelResult]) -> xr.DataTree:
    """Return one tree, in which panels are instances; runs on all matrices are one."""
    nodes: dict[str, xr.Dataset] = {"/": xr.Dataset()}
    for result in panels:
        label = result.panel.label
        for measured in result.measured.values():
            first = measured[0]
            if len(measured) == 1 and first.preference is not None:
                arms = list(first.arms)
                nodes[f"/{label}"] = xr.Dataset(
                    {"preference": (("arm", "opponent"), first.preference)},
                    coords={"arm": arms, "opponent": arms},
                )
            dims = "notion", "run", "checkpoint"
            parts = [one.data["regret"].transpose(*dims).values for one in measured]
            nodes[f"/{label}/{first.policy}"] = xr.Dataset(
                {"regret": (dims, np.concatenate(parts, axis=1))},
                coords={
                    "notion": first.data["notion"].values,
                    "checkpoint": first.rounds,
                },
                attrs={"instance": label, "policy": first.policy},
            )
    return xr.DataTree.from_dict(nodes)


def _draw_spread(
    axes: Axes, result: PanelResult, look: dict[str, Look], notion: str
) -> None:
    """Draw the standard deviation of regret over the mean regret of ECW-RMED."""
    final = {
        measured[0].policy: measured[0].regret(notion)[:, -1]
        for measured in result.measured.values()
    }
    scaled = "ECW-RMED" in final
    unit = final["ECW-RMED"].mean() if scaled else 1.0
    for position, (policy, values) in enumerate(final.items()):
        height = values.std(ddof=1) / unit
        axes.bar(position, height, _BAR, color=look[policy].color)
        text = f"{height:.1%}" if scaled else f"{height:.0f}"
        axes.annotate(
            text, (position, height), (0, 1.5), ha="center", va="bottom",
            textcoords="offset points", color=look[policy].text_color,
        )  # fmt: skip
    axes.set_xticks(range(len(final)), [look[policy].name for policy in final])
    axes.set_xlim(-0.6, len(final) - 0.4)
    axes.margins(y=0.12)
    label = "standard deviation of regret"
    if scaled:
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        label += "\n/ mean regret of ECW-RMED"
    axes.set_ylabel(label)
    axes.set_xlabel(
        f"{final[next(iter(final))].size} runs of {result.panel.horizon:,} rounds"
    )


def _draw_exploitation(
    axes: Axes, result: PanelResult, look: dict[str, Look], notion: str
) -> None:
    """Draw how the first run of every policy divides its self-duels of winners."""
    count = len(result.measured)
    for index, (measured,) in enumerate(result.measured.values()):
        shares = exploitation(measured)[0]
        offset = (index + 0.5) * _BAR / count - _BAR / 2
        axes.bar(
            np.arange(shares.size) + offset, shares, _BAR / count,
            color=look[measured.policy].color, label=look[measured.policy].name,
        )  # fmt: skip
    (first,) = next(iter(result.measured.values()))
    from theory import PreferenceMatrix

    winners = PreferenceMatrix(np.asarray(first.preference)).copeland_winners
    axes.set_xticks(range(len(winners)), [f"arm {first.arms[arm]}" for arm in winners])
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.set_ylabel("share of the winners'\nself-duels")
    axes.set_xlabel("Copeland winner; one run")


def _draw_by_arms(
    axes: Axes, result: PanelResult, look: dict[str, Look], notion: str
) -> None:
    """Draw the mean regret on every matrix, and its mean over those of one size."""
    for measured in result.measured.values():
        arms = np.array([one.data.sizes["arm"] for one in measured])
        means = np.array([one.regret(notion)[:, -1].mean() for one in measured])
        policy = measured[0].policy
        axes.scatter(
            arms, means, s=6, alpha=0.35, linewidths=0, color=look[policy].color
        )
        sizes = np.unique(arms)
        (line,) = axes.plot(
            sizes, [means[arms == size].mean() for size in sizes],
            color=look[policy].color, marker=look[policy].marker,
            markevery=max(1, sizes.size // 8),
            markeredgecolor="white", markeredgewidth=0.4, label=look[policy].name,
        )  # fmt: skip
        name_in_file(line, result.panel.label, policy)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("number of arms; a dot is one random matrix")
    axes.set_ylabel(f"mean Copeland regret at round {result.panel.horizon:,}")


def _draw_delays(
    axes: Axes, result: PanelResult, look: dict[str, Look], notion: str
) -> None:
    """Draw the mean regret at the horizon by how rarely a policy is told outcomes."""
    lines: dict[str, list[tuple[int, float, float]]] = {}
    for text, (measured,) in result.measured.items():
        policy, every = _undelayed(text, measured.policy)
        values = measured.regret(notion)[:, -1]
        point = every, float(values.mean()), standard_error(values)
        lines.setdefault(policy, []).append(point)
    for policy, points in lines.items():
        every, mean, error = np.array(sorted(points)).T
        drawn = axes.errorbar(
            every, mean, error, color=look[policy].color, marker=look[policy].marker,
            markeredgecolor="white", markeredgewidth=0.4, capsize=2,
            label=look[policy].name,
        )  # fmt: skip
        name_in_file(drawn.lines[0], result.panel.label, policy)
    axes.set_xscale("log")
    delays = sorted({every for points in lines.values() for every, *_ in points})
    axes.set_xticks(delays, [f"{delay:,}" for delay in delays])
    axes.set_xticks([], minor=True)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    runs = result.panel.runs
    axes.set_xlabel(f"rounds between two reports, d\n{runs} runs, ± 1 standard error")
    axes.set_ylabel(f"mean Copeland regret\nat round {result.panel.horizon:,}")


def _undelayed(text: str, label: str) -> tuple[str, int]:
    """Return the label of a policy without its delay, and the delay: 1 for none."""
    from bayesduel import policies

    if "every=" not in text:
        return label, 1
    policy = policies.parse_policy(text)
    assert isinstance(policy, policies.DelayedFeedback)
    return policy.policy.label, policy.every

"""The page with all policies beside all matrices, from `benchmark.json`."""

import json
import math
from collections.abc import Callable
from pathlib import Path

from policy_pages import write_if_other

_Cell = dict[str, float]
_Row = dict[str, _Cell]


def write_benchmark_page(docs: Path) -> None:
    """Write ``benchmark.md``."""
    stored = json.loads((docs / "benchmark.json").read_text("utf-8"))
    rows: dict[str, _Row] = stored["rows"]
    names = list(next(iter(rows.values())))
    first = next(iter(rows.values()))
    constants = [first[name]["constant"] for name in names]
    labels = stored["labels"]
    ratios = _table(rows, names, labels, _ratio)
    ratios += f"\n| $C^*$ | {' | '.join(f'{each:.1f}' for each in constants)} |"
    words = {
        "num_policies": len(rows),
        "finding": _finding(rows, names, labels, stored["settings"]["horizon"]),
        "regret": _table(rows, names, labels, _regret, "regret"),
        "final": _table(rows, names, labels, _final, "final"),
        "ratio": ratios,
        "nanoseconds": _table(rows, names, labels, _nanoseconds),
    }
    template = (docs / "benchmark.template").read_text("utf-8")
    text = template.format(**words, **stored["settings"])
    write_if_other(docs / "benchmark.md", text)


def _finding(
    rows: dict[str, _Row], names: list[str], labels: dict[str, str], horizon: int
) -> str:
    """Return what the table of final regret shows, in words.

    In each column the regret of a policy is divided by the smallest of the column.
    """
    best = {name: min(row[name]["final"] for row in rows.values()) for name in names}
    times = {
        policy: [row[name]["final"] / best[name] for name in names]
        for policy, row in rows.items()
    }
    mean = {
        policy: math.exp(sum(map(math.log, each)) / len(each))
        for policy, each in times.items()
    }
    first, second, third = sorted(rows, key=mean.__getitem__)[:3]
    smallest = {policy: times[policy].count(1) for policy in rows}
    rival = max(
        (policy for policy in rows if policy != first),
        key=lambda policy: (smallest[policy], -mean[policy]),
    )
    far = sum(max(each) > 100 for each in times.values())
    return (
        f"**All columns together, {labels[first]} has the least regret.** Divide its "
        f"regret after {horizon:,} rounds by the smallest regret of each column. The "
        f"geometric mean of these {len(names)} ratios is {mean[first]:.1f}, and the "
        f"largest is {max(times[first]):.1f}. {labels[second]} and {labels[third]} "
        f"follow with means of {mean[second]:.1f} and {mean[third]:.1f}. "
        f"{labels[rival]} has the smallest regret in {smallest[rival]} columns "
        f"({labels[first]} in {smallest[first]}), but up to "
        f"{max(times[rival]):,.0f} times the smallest in others. "
        f"{far} of the {len(rows)} policies have more than 100 times the smallest "
        "regret in at least one column."
    )


def _regret(cell: _Cell) -> str:
    return f"{cell['regret']:,.0f} ± {cell['error']:,.0f}"


def _final(cell: _Cell) -> str:
    return f"{cell['final']:,.0f} ± {cell['final_error']:,.0f}"


def _ratio(cell: _Cell) -> str:
    return f"{cell['ratio']:,.{0 if cell['ratio'] > 100 else 2}f}"


def _nanoseconds(cell: _Cell) -> str:
    time = cell["nanoseconds"]
    return "< 0.5" if time < 0.5 else f"{time:,.{0 if time > 10 else 1}f}"


def _table(
    rows: dict[str, _Row],
    names: list[str],
    labels: dict[str, str],
    written: Callable[[_Cell], str],
    best: str | None = None,
) -> str:
    """Return a table in Markdown; the least of each column by ``best`` is bold."""
    lines = ["| policy | " + " | ".join(names) + " |"]
    lines.append("|---" + "|--:" * len(names) + "|")
    for policy, row in rows.items():
        cells = []
        for name in names:
            text = written(row[name]).replace(" ", "\u00a0")
            bold = best is not None and row[name][best] == min(
                other[name][best] for other in rows.values()
            )
            cells.append(f"**{text}**" if bold else text)
        lines.append(f"| {labels[policy]} | {' | '.join(cells)} |")
    return "\n".join(lines)

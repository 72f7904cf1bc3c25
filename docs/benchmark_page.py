"""The page with all policies beside all matrices, from `benchmark.json`."""

import json
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
        "regret": _table(rows, names, labels, _regret, "regret"),
        "final": _table(rows, names, labels, _final, "final"),
        "ratio": ratios,
        "nanoseconds": _table(rows, names, labels, _nanoseconds),
    }
    template = (docs / "benchmark.template").read_text("utf-8")
    text = template.format(**words, **stored["settings"])
    write_if_other(docs / "benchmark.md", text)


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

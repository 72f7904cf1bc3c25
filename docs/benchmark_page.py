"""The page with all policies beside all matrices, from `benchmark.json`."""

import json
from collections.abc import Callable
from pathlib import Path

from policy_pages import write_if_other

import bayesduel
from theory import copeland_lower_bound

_Row = dict[str, dict[str, float]]


def write_benchmark_page(docs: Path) -> None:
    """Write ``benchmark.md``."""
    stored = json.loads((docs / "benchmark.json").read_text("utf-8"))
    rows: dict[str, _Row] = stored["rows"]
    names = list(next(iter(rows.values())))
    constants = [copeland_lower_bound(bayesduel.load(name)).value for name in names]
    labels = stored["labels"]
    ratios = _table(rows, names, labels, "{ratio:.2f}")
    ratios += f"\n| $C^*$ | {' | '.join(f'{each:.1f}' for each in constants)} |"
    words = {
        "num_policies": len(rows),
        "num_matrices": len(names),
        "random": next(each for each in names if each.startswith("uniform-random")),
        "regret": _table(rows, names, labels, "{regret:,.0f} ± {error:.0f}", _regret),
        "ratio": ratios,
        "nanoseconds": _table(rows, names, labels, "{nanoseconds:,.0f}"),
    }
    template = (docs / "benchmark.template").read_text("utf-8")
    text = template.format(**words, **stored["settings"])
    write_if_other(docs / "benchmark.md", text)


def _regret(cell: dict[str, float]) -> float:
    return cell["regret"]


def _title(name: str) -> str:
    if not name.startswith("uniform-random"):
        return name
    size = name.partition("num_arms=")[2].partition(",")[0]
    return f"random {size}{'abc'[int(name[-1]) - 1]}"


def _table(
    rows: dict[str, _Row],
    names: list[str],
    labels: dict[str, str],
    written: str,
    best: Callable[[dict[str, float]], float] | None = None,
) -> str:
    """Return a table in Markdown; the least of each column by ``best`` is bold."""
    lines = ["| policy | " + " | ".join(map(_title, names)) + " |"]
    lines.append("|---" + "|--:" * len(names) + "|")
    for policy, row in rows.items():
        cells = []
        for name in names:
            text = written.format(**row[name])
            least = best and min(best(other[name]) for other in rows.values())
            bold = best is not None and best(row[name]) == least
            cells.append(f"**{text}**" if bold else text)
        lines.append(f"| {labels[policy]} | {' | '.join(cells)} |")
    return "\n".join(lines)

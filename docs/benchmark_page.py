"""The page with all policies beside all matrices, from `benchmark.json`."""

import json
from pathlib import Path

from policy_pages import write_if_other

_Row = dict[str, dict[str, float]]


def write_benchmark_page(docs: Path) -> None:
    """Write ``benchmark.md``."""
    stored = json.loads((docs / "benchmark.json").read_text("utf-8"))
    rows: dict[str, _Row] = stored["rows"]
    names = list(next(iter(rows.values())))
    first = next(iter(rows.values()))
    constants = [first[name]["constant"] for name in names]
    labels = stored["labels"]
    ratios = _table(rows, names, labels, "{ratio:.2f}")
    ratios += f"\n| $C^*$ | {' | '.join(f'{each:.1f}' for each in constants)} |"
    words = {
        "num_policies": len(rows),
        "regret": _table(rows, names, labels, "{regret:,.0f} ± {error:.0f}", "regret"),
        "final": _table(
            rows, names, labels, "{final:,.0f} ± {final_error:.0f}", "final"
        ),
        "ratio": ratios,
        "nanoseconds": _table(rows, names, labels, "{nanoseconds:,.0f}"),
    }
    template = (docs / "benchmark.template").read_text("utf-8")
    text = template.format(**words, **stored["settings"])
    write_if_other(docs / "benchmark.md", text)


def _table(
    rows: dict[str, _Row],
    names: list[str],
    labels: dict[str, str],
    written: str,
    best: str | None = None,
) -> str:
    """Return a table in Markdown; the least of each column by ``best`` is bold."""
    lines = ["| policy | " + " | ".join(names) + " |"]
    lines.append("|---" + "|--:" * len(names) + "|")
    for policy, row in rows.items():
        cells = []
        for name in names:
            text = written.format(**row[name]).replace(" ", "\u00a0")
            bold = best is not None and row[name][best] == min(
                other[name][best] for other in rows.values()
            )
            cells.append(f"**{text}**" if bold else text)
        lines.append(f"| {labels[policy]} | {' | '.join(cells)} |")
    return "\n".join(lines)

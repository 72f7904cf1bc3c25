"""Rankings that say which differences are real, printed and saved."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from bayesduel.analysis.text import format_number, format_rounds
from bayesduel.cli.output import defined

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from bayesduel.analysis import Difference, Ranking

__all__ = ["print_rankings", "save_rankings"]

_HEADERS = ("rank", "policy", "above the first", "better in", "mean", "median")
# Left out in this order until the table fits.
_OPTIONAL = ("median", "mean", "better in")
# More open pairs than that are shown by their open ranks only.
_NAMED_PAIRS = 4


def print_rankings(screen: Console, rankings: list[Ranking]) -> None:
    """Print one table per environment."""
    from bayesduel.cli.tables import show

    for ranking in rankings:
        title = (
            f"{ranking.environment}: ranking at {format_rounds(ranking.round_)} by "
            f"{ranking.notion} regret"
        )
        show(screen, title, _fitting(screen, ranking), *_captions(ranking))


def save_rankings(rankings: list[Ranking], path: Path) -> None:
    """Write all rankings as JSON; null where nothing can be said."""
    rows = defined([asdict(ranking) for ranking in rankings])
    path.write_text(json.dumps(rows, indent=2, ensure_ascii=False) + "\n", "utf-8")


def _fitting(screen: Console, ranking: Ranking) -> Table:
    """Return the table with as many columns as the console has room for."""
    # Measured as if there were no limit: cells would be cut to fit any other.
    unlimited = screen.options.update(max_width=1000)
    headers: list[str] = list(_HEADERS)
    table = _table(ranking, headers)
    for name in _OPTIONAL:
        if screen.measure(table, options=unlimited).maximum <= screen.width:
            break
        headers.remove(name)
        table = _table(ranking, headers)
    return table


def _table(ranking: Ranking, headers: list[str]) -> Table:
    from rich.markup import escape

    from bayesduel.cli.tables import new_table

    table = new_table()
    for header in headers:
        left = header in ("rank", "policy")
        table.add_column(header, justify="left" if left else "right", no_wrap=True)
    best = ranking.policies[0].policy
    for each in ranking.policies:
        cells = {"rank": _rank(each.best_rank, each.worst_rank)}
        cells["policy"] = escape(each.policy)
        cells["mean"], cells["median"] = map(format_number, (each.mean, each.median))
        cells["above the first"] = cells["better in"] = ""
        if each.policy != best:
            apart = ranking.difference(best, each.policy)
            cells["above the first"] = escape(_interval(apart))
            cells["better in"] = f"{1 - apart.share:.0%}"
        table.add_row(*(cells[name] for name in headers))
    return table


def _rank(best: int, worst: int) -> str:
    return str(best) if best == worst else f"{best}-{worst}"


def _interval(apart: Difference) -> str:
    if not math.isfinite(apart.low):
        return f"{format_number(apart.mean)} [?]"
    # Decimals as the shorter half of the interval has them.
    reach = min(apart.mean - apart.low, apart.high - apart.mean)
    decimals = 0 if reach >= 9.95 else max(1, 1 - math.floor(math.log10(reach or 1)))
    low, high = (f"{end:.{decimals}f}" for end in (apart.low, apart.high))
    return f"{apart.mean:.{decimals}f} [{low}, {high}]"


def _captions(ranking: Ranking) -> list[str]:
    """Say what the intervals are and which pairs they leave open."""
    if ranking.note:
        return [ranking.note]
    pairs = len(ranking.differences)
    together = "" if pairs == 1 else f" for all {pairs} pairs at once"
    lines = [
        f"difference of means over {ranking.num_runs} paired runs with a "
        f"{ranking.confidence:.0%} bootstrap interval{together}; better in: share of "
        "runs with less regret than the first"
    ]
    left = [each for each in ranking.differences if not each.is_certain]
    if not left:
        lines.append("every pair is told apart")
    elif len(left) == pairs and pairs > 1:
        lines.append("no pair is told apart")
    elif len(left) <= _NAMED_PAIRS:
        names = "; ".join(f"{each.lower} and {each.higher}" for each in left)
        lines.append(f"not told apart: {names}")
    else:
        lines.append(f"{len(left)} of the pairs are not told apart")
    return lines

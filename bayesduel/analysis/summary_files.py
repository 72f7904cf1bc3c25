"""The summary of results as files: ``summary.csv`` and ``summary.json``."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayesduel.analysis.measured_nodes import Measurement, measurements
from bayesduel.analysis.summaries import Summary, summary
from bayesduel.files.csv_cells import guarded_rows

if TYPE_CHECKING:
    from bayesduel.analysis.measured_nodes import Result


def by_notion(
    measured: Sequence[Measurement],
    notions: Mapping[str, Sequence[str]],
    *,
    main: bool = False,
) -> list[tuple[str, list[Measurement]]]:
    """Return every notion of regret with what is of instances that record it.

    ``notions`` is what each instance records; ``main`` keeps the first of each.
    """
    recorded = {name: own[:1] if main else own for name, own in notions.items()}
    return [
        (notion, [each for each in measured if notion in recorded[each.instance]])
        for notion in dict.fromkeys(each for own in recorded.values() for each in own)
    ]


def summary_files(
    result: Result, summarize: Callable[..., Summary] = summary
) -> dict[str, bytes]:
    """Return ``summary.csv`` and ``summary.json`` of what ``compare`` returned.

    They hold `summary_rows`, but for what the runs took: the same request gives the
    same files.
    """
    times = {"run_seconds": None, "compile_seconds": None}
    rows = [row | times for row in summary_rows(result, summarize)]
    text = io.StringIO()
    guarded = guarded_rows(rows)
    table = csv.DictWriter(text, list(guarded[0]), lineterminator="\n")
    table.writeheader()
    table.writerows(guarded)
    return {
        "summary.csv": text.getvalue().encode(),
        "summary.json": json.dumps(rows, indent=2, ensure_ascii=False).encode(),
    }


def summary_rows(
    result: Result, summarize: Callable[..., Summary] = summary
) -> list[dict[str, Any]]:
    """Return a row per instance, policy and notion of regret, in this order.

    See :meth:`bayesduel.analysis.Summary.to_dicts`; ``summarize`` is called as
    ``summary`` is.
    """
    found = measurements(result)
    rows = [
        row
        for notion, part in by_notion(found, _recorded(found))
        for row in summarize(part, notion=notion).to_dicts()
    ]
    order = [(each.instance, each.policy) for each in found]
    return sorted(rows, key=lambda row: order.index((row["instance"], row["policy"])))


def _recorded(measured: Sequence[Measurement]) -> dict[str, tuple[str, ...]]:
    """Return the notions of each instance; where all failed, those of the others."""
    found: dict[str, tuple[str, ...]] = {}
    for each in measured:
        found[each.instance] = found.get(each.instance) or each.notions
    others = tuple(dict.fromkeys(each for own in found.values() for each in own))
    return {name: own or others or ("copeland",) for name, own in found.items()}

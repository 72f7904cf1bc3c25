"""The summary of results as files: ``summary.csv`` and ``summary.json``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from bayesduel.analysis.measured_nodes import Measurement, measurements
from bayesduel.analysis.summaries import Summary, summary
from bayesduel.files.csv_cells import guarded_frame

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

    A row per instance, policy and notion of regret has the notion and the fields of
    :class:`bayesduel.analysis.SummaryRow`; ``summarize`` is called as ``summary`` is.
    """
    import pandas as pd

    found = measurements(result)
    tables = [
        summarize(part, notion=notion).to_dataframe().assign(notion=notion)
        for notion, part in by_notion(found, _recorded(found))
    ]
    table = pd.concat(tables, ignore_index=True)
    texts = {
        "summary.csv": guarded_frame(table).to_csv(index=False),
        # Numbers that there are not, such as the spread of one run, are null.
        "summary.json": table.to_json(orient="records", double_precision=15, indent=2),
    }
    return {name: text.encode() for name, text in texts.items()}


def _recorded(measured: Sequence[Measurement]) -> dict[str, tuple[str, ...]]:
    """Return the notions of each instance; where all failed, those of the others."""
    found: dict[str, tuple[str, ...]] = {}
    for each in measured:
        found[each.instance] = found.get(each.instance) or each.notions
    others = tuple(dict.fromkeys(each for own in found.values() for each in own))
    return {name: own or others or ("copeland",) for name, own in found.items()}

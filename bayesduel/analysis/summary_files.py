"""The summary of results as files: ``summary.csv`` and ``summary.json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bayesduel.analysis.measurements import measurements
from bayesduel.analysis.summaries import summary

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["by_notion", "summary_files"]


def by_notion(
    tree: xr.DataTree, notions: Mapping[str, Sequence[str]], *, main: bool = False
) -> list[tuple[str, xr.DataTree]]:
    """Return every notion of regret with the environments that record it.

    Parameters
    ----------
    tree : xarray.DataTree
        Result of ``bayesduel.compare``.
    notions : mapping
        What each environment records; ``main`` keeps the first of each.
    """
    import xarray as xr

    recorded = {name: own[:1] if main else own for name, own in notions.items()}
    found = []
    for notion in dict.fromkeys(each for own in recorded.values() for each in own):
        names = [name for name, own in recorded.items() if notion in own]
        children = {name: tree.children[name] for name in names}
        found.append((notion, xr.DataTree(tree.to_dataset(), children=children)))
    return found


def summary_files(tree: xr.DataTree) -> dict[str, bytes]:
    """Return a row per environment, policy and notion of regret, in two formats.

    Parameters
    ----------
    tree : xarray.DataTree
        Result of ``bayesduel.compare``.

    Returns
    -------
    dict of bytes
        ``summary.csv`` and ``summary.json``, with the fields of
        :class:`bayesduel.analysis.SummaryRow` and the notion.
    """
    import pandas as pd

    tables = [
        summary(part, notion=notion).to_dataframe().assign(notion=notion)
        for notion, part in by_notion(tree, _recorded(tree))
    ]
    table = pd.concat(tables, ignore_index=True)
    texts = {
        "summary.csv": table.to_csv(index=False),
        # Numbers that there are not, such as the spread of one run, are null.
        "summary.json": table.to_json(orient="records", double_precision=15, indent=2),
    }
    return {name: text.encode() for name, text in texts.items()}


def _recorded(tree: xr.DataTree) -> dict[str, tuple[str, ...]]:
    """Return the notions of each environment; where all failed, those of the others."""
    found: dict[str, tuple[str, ...]] = {}
    for measured in measurements(tree):
        found[measured.environment] = (
            found.get(measured.environment) or measured.notions
        )
    others = tuple(dict.fromkeys(each for own in found.values() for each in own))
    return {name: own or others or ("copeland",) for name, own in found.items()}

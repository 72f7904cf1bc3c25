"""Votes as data frames, in the columns in which tables of votes are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["dataframe_of"]


def dataframe_of(votes: Any) -> pd.DataFrame:  # noqa: ANN401
    """Return one row per pair, per subset and choice, or per ballot."""
    import pandas as pd

    names = np.array(votes.arm_names, dtype=object)
    if hasattr(votes, "places"):
        table = pd.DataFrame(votes.places, columns=list(votes.arm_names))
        return table.assign(count=votes.counts)
    if hasattr(votes, "offered"):
        row, chosen = np.nonzero(votes.counts)
        offered = [tuple(names[each]) for each in votes.offered]
        columns = {
            "offered": [offered[each] for each in row],
            "chosen": [[*names, None][each] for each in chosen],
            "count": votes.counts[row, chosen],
        }
        return pd.DataFrame(columns)
    columns = {"first": names[votes.first], "second": names[votes.second]}
    counted = zip(("wins_first", "wins_second", "ties"), votes.counts.T, strict=True)
    columns |= dict(counted)
    for name, values in votes.columns.items():
        labels = votes.labels.get(name)
        columns[name] = values if labels is None else np.array(labels)[values]
    return pd.DataFrame(columns)

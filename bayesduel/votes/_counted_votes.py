"""What all tables of votes have: arms, and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd


class CountedVotes:
    """Votes on named arms, counted row by row."""

    arm_names: tuple[str, ...]
    counts: NDArray[np.float64]

    @property
    def num_arms(self) -> int:
        """Number of arms K."""
        return len(self.arm_names)

    @property
    def num_votes(self) -> float:
        """Sum of all counts: votes, or ballots."""
        return float(self.counts.sum())

    @property
    def is_whole(self) -> bool:
        """Whether all counts are whole numbers, that is, numbers of votes."""
        return bool(np.all(self.counts == np.round(self.counts)))

    def to_dataframe(self) -> pd.DataFrame:
        """Return the votes as a table for pandas.

        Returns
        -------
        pandas.DataFrame
            Of `Comparisons`, a row per pair in the order shown: ``first``, ``second``,
            ``wins_first``, ``wins_second``, ``ties``, and what else the rows carry. Of
            `Choices`, a row per offered subset and choice. Of `Rankings`, a row per
            different ballot, with the place of each arm.

        Examples
        --------
        >>> from bayesduel.votes import Comparisons
        >>> votes = Comparisons.from_wins([[0, 7], [3, 0]], arm_names=["tea", "milk"])
        >>> votes.to_dataframe()
          first second  wins_first  wins_second  ties
        0   tea   milk         7.0          3.0   0.0
        """
        return _dataframe_of(self)


def _dataframe_of(votes: Any) -> pd.DataFrame:
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

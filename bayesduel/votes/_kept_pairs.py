"""Which pairs of a table of votes become rows."""

import numpy as np
from numpy.typing import NDArray

_ALL_PAIRS = 4096
"""Pairs that are kept whether they have votes or not."""


def pairs_kept(
    voted: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the two arms of every pair with votes, and of some without any.

    Their number hardly depends on the votes: a program is compiled for a number of
    rows, and the first vote on another pair would make it anew.
    """
    row, column = np.triu_indices(len(voted), 1)
    seen = voted[row, column]
    wanted = max(_ALL_PAIRS, 1 << max(int(seen.sum()) - 1, 0).bit_length())
    empty = np.flatnonzero(~seen)[: wanted - int(seen.sum())]
    seen[empty] = True
    return row[seen], column[seen]

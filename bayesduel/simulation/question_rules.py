"""How a tie counts, and which pairs may be asked in place of another."""

import zlib

import numpy as np
from jaxtyping import Bool


def coin(seed: int, number: int) -> bool:
    """Return a fair bit for each number, the same in every replay.

    A tie counts for either arm by a coin, as policies know no ties.
    """
    return bool(zlib.crc32(f"{seed}/{number}".encode()) & 1)


def near_pairs(
    allowed: Bool[np.ndarray, "K K"], first: int, second: int
) -> Bool[np.ndarray, "K K"]:
    """Return the allowed pairs with one of two arms, or all where there are none."""
    among = np.isin(np.arange(len(allowed)), (first, second))
    near = allowed & (among[:, None] | among[None, :])
    return near if near.any() else allowed

"""Labels at the ends of lines, moved apart until none covers another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float64


def spread(
    wanted: Float64[np.ndarray, " label"], height: float, low: float, high: float
) -> Float64[np.ndarray, " label"]:
    """Move centers apart to a distance of ``height``, as little as possible.

    Least squares under ``x[k+1] - x[k] >= height`` in the order of ``wanted``: with
    ``k * height`` subtracted it is isotonic regression, solved by pooling adjacent
    violators. Then the stack is shifted into ``[low, high]`` if it fits there.

    Parameters
    ----------
    wanted : float (n,)
        Centers asked for.
    height : float
        Smallest distance between two centers.
    low, high : float
        Range for the centers.

    Returns
    -------
    float (n,)
        Centers in the order of the input.

    Examples
    --------
    >>> spread(np.array([1.0, 1.2, 5.0]), 1.0, 0.0, 10.0).round(2).tolist()
    [0.6, 1.6, 5.0]
    """
    order = np.argsort(wanted, kind="stable")
    steps = height * np.arange(wanted.size)
    pools: list[tuple[float, int]] = []
    for value in (wanted[order] - steps).tolist():
        mean, size = value, 1
        while pools and pools[-1][0] > mean:
            other, count = pools.pop()
            mean = (mean * size + other * count) / (size + count)
            size += count
        pools.append((mean, size))
    base = np.repeat([mean for mean, _ in pools], [size for _, size in pools])
    # Clipping keeps the order; a stack too tall for the range overflows at the top.
    base = np.maximum(np.minimum(base, high - height * (wanted.size - 1)), low)
    placed = np.empty_like(wanted)
    placed[order] = base + steps
    return placed

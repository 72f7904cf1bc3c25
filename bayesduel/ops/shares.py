"""Exact intervals of shares."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Int

__all__ = ["share_interval"]


def share_interval(
    events: int | Int[np.ndarray, " look"], number: int, probability: float = 0.95
) -> tuple[Any, Any]:
    """Return the exact interval of a share, by Clopper and Pearson (1934).

    Examples
    --------
    >>> low, high = share_interval(0, 100)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    from scipy.special import betaincinv

    tail, count = (1.0 - probability) / 2.0, np.asarray(events)
    low = betaincinv(np.maximum(count, 1), number - count + 1, tail)
    high = betaincinv(count + 1, np.maximum(number - count, 1), 1.0 - tail)
    low = np.where(count > 0, low, 0.0)
    high = np.where(count < number, high, 1.0)
    return (float(low), float(high)) if low.ndim == 0 else (low, high)

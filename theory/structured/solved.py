"""What a solver returns: an allocation, and worlds that prove a lower bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Solved:
    """Two sides of a program."""

    # (E,): An allocation under which every alternative costs at least 1, as was proved.
    duels: NDArray[np.float64]
    # (R,): Of the alternatives: sum of multipliers * KL(p, p') <= price on every pair.
    multipliers: NDArray[np.float64]
    # (R,): The best arm of every alternative, level with the true one.
    rivals: NDArray[np.intp]
    # (R, E): p' of the pairs, P'(behind beats ahead).
    alternatives: NDArray[np.float64]
    rounds: int  # Steps of the method.

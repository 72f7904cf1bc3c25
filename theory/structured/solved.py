"""What a solver returns: an allocation, and worlds that prove a lower bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Solved:
    """Two sides of a program.

    Attributes
    ----------
    duels : float (E,)
        An allocation under which every alternative costs at least 1, as was proved.
    multipliers : float (R,)
        Of the alternatives: sum of multipliers * KL(p, p') <= price on every pair.
    rivals : int (R,)
        The best arm of every alternative, level with the true one.
    alternatives : float (R, E)
        p' of the pairs, P'(behind beats ahead).
    rounds : int
        Steps of the method.
    """

    duels: NDArray[np.float64]
    multipliers: NDArray[np.float64]
    rivals: NDArray[np.intp]
    alternatives: NDArray[np.float64]
    rounds: int

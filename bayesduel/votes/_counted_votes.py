"""What all tables of votes have: arms, and counts."""

import numpy as np
from numpy.typing import NDArray


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

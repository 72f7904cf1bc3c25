"""Random pairs."""

import numpy as np

from tests.reference.common import most_beaten


class RandomPairs:
    """Two independent uniform arms, or with `distinct` a uniform pair of two arms."""

    def __init__(
        self, num_arms: int, rng: np.random.Generator, *, distinct: bool = False
    ) -> None:
        self.num_arms = num_arms
        self.rng = rng
        self.distinct = distinct
        self.wins = np.zeros((num_arms, num_arms), dtype=np.int64)

    def choose(self) -> tuple[int, int]:
        """Return a random pair."""
        if self.distinct:
            first, second = self.rng.choice(self.num_arms, size=2, replace=False)
        else:
            first, second = self.rng.integers(self.num_arms, size=2)
        return int(first), int(second)

    def update(self, first: int, second: int, first_won: bool) -> None:
        """Count the outcome, for the recommendation."""
        if first != second:
            winner, loser = (first, second) if first_won else (second, first)
            self.wins[winner, loser] += 1

    def recommend(self) -> int:
        """Return the arm that beats the most others empirically."""
        return most_beaten(self.wins, self.rng)

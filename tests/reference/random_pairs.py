"""Random pairs."""

import numpy as np

from tests.reference.common import CountingTwin


class RandomPairs(CountingTwin):
    """Two independent uniform arms, or with `distinct` a uniform pair of two arms."""

    def __init__(
        self, num_arms: int, rng: np.random.Generator, *, distinct: bool = False
    ) -> None:
        super().__init__(num_arms, rng)
        self.distinct = distinct

    def choose(self) -> tuple[int, int]:
        """Return a random pair."""
        if self.distinct:
            first, second = self.rng.choice(self.num_arms, size=2, replace=False)
        else:
            first, second = self.rng.integers(self.num_arms, size=2)
        return int(first), int(second)

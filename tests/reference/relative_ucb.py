"""Relative upper confidence bound."""

import numpy as np
from numpy.typing import NDArray

from tests.reference.common import most_beaten, random_choice, relative_bounds


class RelativeUCB:
    """RUCB (Zoghi et al. 2014, Algorithm 1).

    Parameters
    ----------
    num_arms : int
        Number of arms K.
    rng : numpy.random.Generator
        For the random champions and the ties.
    alpha : float
        Factor of log(t) in the confidence bounds.
    """

    def __init__(
        self, num_arms: int, rng: np.random.Generator, *, alpha: float = 0.51
    ) -> None:
        self.num_arms = num_arms
        self.rng = rng
        self.alpha = alpha
        self.rounds = 0
        self.wins = np.zeros((num_arms, num_arms), dtype=np.int64)
        self.hypothesis: int | None = None

    def choose_champion(self, upper: NDArray[np.float64]) -> int:
        """Return the champion; the hypothesized best arm may change."""
        candidates = [arm for arm in range(self.num_arms) if np.all(upper[arm] >= 0.5)]
        if self.hypothesis not in candidates:
            self.hypothesis = None
        if not candidates:
            return int(self.rng.integers(self.num_arms))
        if len(candidates) == 1:
            self.hypothesis = candidates[0]
            return candidates[0]
        if self.hypothesis is not None:
            if self.rng.random() < 0.5:
                return self.hypothesis
            candidates.remove(self.hypothesis)
        return candidates[self.rng.integers(len(candidates))]

    def choose_challenger(self, upper: NDArray[np.float64], champion: int) -> int:
        """Return the arm most optimistic against the champion, itself included.

        In a tie the champion is left out, the rest is random.
        """
        column = upper[:, champion]
        best = column == column.max()
        if np.count_nonzero(best) > 1:
            best[champion] = False
        return random_choice(self.rng, best)

    def choose(self) -> tuple[int, int]:
        """Return champion and challenger of the round about to be played."""
        upper, _ = relative_bounds(self.wins, self.rounds + 1, self.alpha)
        champion = self.choose_champion(upper)
        return champion, self.choose_challenger(upper, champion)

    def update(self, first: int, second: int, first_won: bool) -> None:
        """Count the outcome; a self-duel only advances the round."""
        self.rounds += 1
        if first != second:
            winner, loser = (first, second) if first_won else (second, first)
            self.wins[winner, loser] += 1

    def recommend(self) -> int:
        """Return the arm that beats the most others empirically."""
        return most_beaten(self.wins, self.rng)

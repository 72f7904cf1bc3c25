"""Self-Sparring with independent Beta arms."""

import numpy as np

from tests.reference.common import random_choice


class SelfSparring:
    """IndSelfSparring (Sui et al. 2017) with two arms per round.

    Parameters
    ----------
    num_arms : int
        Number of arms K.
    rng : numpy.random.Generator
        For the samples and the ties.
    eta : float
        Learning rate.
    prior : float
        Pseudo-counts on both sides.
    """

    def __init__(
        self,
        num_arms: int,
        rng: np.random.Generator,
        *,
        eta: float = 1.0,
        prior: float = 1.0,
    ) -> None:
        self.num_arms = num_arms
        self.rng = rng
        self.eta = eta
        self.prior = prior
        self.successes = np.zeros(num_arms)
        self.failures = np.zeros(num_arms)

    def choose(self) -> tuple[int, int]:
        """Return the pair of the round; each position samples all arms afresh."""
        positions = []
        for _ in range(2):
            theta = [
                self.rng.beta(s + self.prior, f + self.prior)
                for s, f in zip(self.successes, self.failures, strict=True)
            ]
            positions.append(int(np.argmax(theta)))
        return positions[0], positions[1]

    def update(self, first: int, second: int, first_won: bool) -> None:
        """Credit winner and loser; a self-duel changes nothing."""
        if first != second:
            winner, loser = (first, second) if first_won else (second, first)
            self.successes[winner] += self.eta
            self.failures[loser] += self.eta

    def recommend(self) -> int:
        """Return the arm with the largest posterior mean."""
        total = self.successes + self.failures + 2 * self.prior
        mean = (self.successes + self.prior) / total
        return random_choice(self.rng, mean == mean.max())

"""Self-Sparring with independent Beta arms."""

import numpy as np

from tests.reference.common import CountingTwin, random_choice


class SelfSparring(CountingTwin):
    """IndSelfSparring (Sui et al. 2017) with two arms per round."""

    eta = 1.0
    """Learning rate."""
    prior = 1.0
    """Pseudo-counts on both sides."""

    def start(self):
        self.successes = np.zeros(self.num_arms)
        self.failures = np.zeros(self.num_arms)

    def choose(self):
        positions = []
        for _ in range(2):
            theta = [
                self.rng.beta(s + self.prior, f + self.prior)
                for s, f in zip(self.successes, self.failures, strict=True)
            ]
            positions.append(int(np.argmax(theta)))
        return positions[0], positions[1]

    def update(self, first, second, first_won):
        """Credit winner and loser; a self-duel changes nothing."""
        if first != second:
            winner, loser = (first, second) if first_won else (second, first)
            self.successes[winner] += self.eta
            self.failures[loser] += self.eta

    def recommend(self):
        """Return the arm with the largest posterior mean."""
        total = self.successes + self.failures + 2 * self.prior
        mean = (self.successes + self.prior) / total
        return random_choice(self.rng, mean == mean.max())


IN_DISTRIBUTION = {"self-sparring": SelfSparring}

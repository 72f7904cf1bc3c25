"""PARWiS, with every chain solved from scratch."""

import numpy as np

from tests.reference.common import CountingTwin


class PARWiS(CountingTwin):
    """Rank Centrality with a virtual arm; the top arm meets the most disruptive one.

    Sheth and Rajkumar (ICDM 2021), after the authors' program: the form with exact
    updates and weighted averages.
    """

    king, challenger = 0, 1

    def scores(self, wins):
        """Return the stationary distribution, the virtual arm first."""
        size = self.num_arms + 1
        chain = np.zeros((size, size))
        for i in range(self.num_arms):
            chain[i + 1, 0] = chain[0, i + 1] = 0.5 / self.num_arms
            for j in range(self.num_arms):
                duels = wins[i, j] + wins[j, i]
                if i != j and duels:
                    chain[i + 1, j + 1] = wins[j, i] / duels / self.num_arms
        chain += np.diag(1 - chain.sum(axis=1))
        values, vectors = np.linalg.eig(chain.T)
        result = np.real(vectors[:, np.argmin(np.abs(values - 1))])
        return result / result.sum()

    def choose(self):
        pairs = self.admissible()
        return pairs[self.rng.integers(len(pairs))]

    def admissible(self):
        """Return the pairs among which the next one is drawn."""
        if self.challenger < self.num_arms:
            return [(self.king, self.challenger)]
        scores = self.scores(self.wins)
        return [
            (top, arm)
            for top in highest(scores[1:])
            for arm in highest(self.disruption(scores, top))
        ]

    def disruption(self, scores, top):
        """Return how much a duel with each arm would change the scores."""
        values = np.full(self.num_arms, -1.0)
        for arm in range(self.num_arms):
            if arm == top:
                continue
            changes = []
            for winner, loser in ((top, arm), (arm, top)):
                wins = self.wins.copy()
                wins[winner, loser] += 1
                changes.append(np.linalg.norm(self.scores(wins) - scores))
            weights = scores[[top + 1, arm + 1]]
            values[arm] = np.dot(weights, changes) / weights.sum()
        return values

    def update(self, first, second, first_won):
        """Count the outcome; in the first pass the winner stays."""
        super().update(first, second, first_won)
        if self.challenger < self.num_arms:
            self.king = first if first_won else second
            self.challenger += 1

    def recommend(self):
        """Return the arm with the largest score."""
        return int(self.rng.choice(highest(self.scores(self.wins)[1:])))


def highest(values):
    """Return the positions of the largest values, but for rounding."""
    return np.flatnonzero(values >= values.max() * (1 - 1e-9)).tolist()

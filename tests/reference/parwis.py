"""PARWiS, with every chain solved from scratch."""

import numpy as np


class PARWiS:
    """Rank Centrality with a virtual arm; the top arm meets the most disruptive one.

    Sheth and Rajkumar (ICDM 2021), after the authors' program: the form with exact
    updates and weighted averages.
    """

    def __init__(self, num_arms: int, rng: np.random.Generator) -> None:
        self.num_arms, self.rng = num_arms, rng
        self.wins = np.zeros((num_arms, num_arms))
        self.king, self.challenger = 0, 1

    def scores(self, wins: np.ndarray) -> np.ndarray:
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
        found = np.real(vectors[:, np.argmin(np.abs(values - 1))])
        return found / found.sum()

    def choose(self) -> tuple[int, int]:
        """Return the next pair."""
        pairs = self.admissible()
        return pairs[self.rng.integers(len(pairs))]

    def admissible(self) -> list[tuple[int, int]]:
        """Return the pairs among which the next one is drawn."""
        if self.challenger < self.num_arms:
            return [(self.king, self.challenger)]
        scores = self.scores(self.wins)
        return [
            (top, arm)
            for top in highest(scores[1:])
            for arm in highest(self.disruption(scores, top))
        ]

    def disruption(self, scores: np.ndarray, top: int) -> np.ndarray:
        """Return how much a duel with each arm would change the scores."""
        found = np.full(self.num_arms, -1.0)
        for arm in range(self.num_arms):
            if arm == top:
                continue
            changes = []
            for winner, loser in ((top, arm), (arm, top)):
                wins = self.wins.copy()
                wins[winner, loser] += 1
                changes.append(np.linalg.norm(self.scores(wins) - scores))
            weights = scores[[top + 1, arm + 1]]
            found[arm] = np.dot(weights, changes) / weights.sum()
        return found

    def update(self, first: int, second: int, first_won: bool) -> None:
        """Count the outcome; in the first pass the winner stays."""
        winner, loser = (first, second) if first_won else (second, first)
        self.wins[winner, loser] += 1
        if self.challenger < self.num_arms:
            self.king = winner
            self.challenger += 1

    def recommend(self) -> int:
        """Return the arm with the largest score."""
        return int(self.rng.choice(highest(self.scores(self.wins)[1:])))


def highest(values: np.ndarray) -> list[int]:
    """Return the positions of the largest values, but for rounding."""
    return np.flatnonzero(values >= values.max() * (1 - 1e-9)).tolist()

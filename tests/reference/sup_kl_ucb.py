"""KL-UCB on pairs of arms."""

import math
from itertools import combinations_with_replacement

import numpy as np

from tests.reference.common import CountingTwin, random_choice

HALVINGS = 60
TIE = 1e-10
"""Indices closer than this, relatively, on the scale -log(1 - index), are ties."""


class SupKLUCB(CountingTwin):
    """Sup-KLUCB (Agrawal and Chaporkar 2019, Algorithm 1).

    Super-arms are the pairs (i, j) with i <= j, in lexicographic order. All are played
    once (`min_plays` times), then the one with the largest index, at random in a tie.
    """

    score = "copeland"
    """The score of the arms; or "condorcet" or "borda"."""
    mean_cap = False
    """Replace the means by min(mean, 1 - 1/(2n)) in round n."""
    min_plays = 1
    """Plays of every super-arm before the index phase."""

    def start(self):
        arms = range(self.num_arms)
        self.pairs = list(combinations_with_replacement(arms, 2))
        self.sweep = self.min_plays * len(self.pairs)
        self.c1 = 2 / self.num_arms
        self.c2 = 3 / self.num_arms
        if self.num_arms > 2:
            self.c2 += 40 / (self.num_arms - 2) ** 2
        self.plays = [0] * len(self.pairs)
        self.won = [0] * len(self.pairs)

    def estimate(self, i, j):
        """Return the empirical probability that i beats j; 1/2 on the diagonal."""
        if i == j:
            return 0.5
        pair = self.pairs.index((min(i, j), max(i, j)))
        if self.plays[pair] == 0:
            return 0.5
        share = self.won[pair] / self.plays[pair]
        return share if i < j else 1 - share

    def scores(self):
        """Return S_i of every arm."""
        arms = range(self.num_arms)
        if self.score == "borda":
            return [
                sum(self.estimate(i, j) for j in arms) / self.num_arms for i in arms
            ]
        return [
            sum(self.estimate(i, j) > 0.5 for j in arms if j != i) / (self.num_arms - 1)
            for i in arms
        ]

    def means(self):
        """Return the means of the super-arms in the round about to be played."""
        scores = self.scores()
        means = np.array([scores[i] * scores[j] for i, j in self.pairs])
        if self.mean_cap:
            means = np.minimum(means, 1 - 1 / (2 * (self.rounds + 1)))
        return means

    def bound(self):
        """Return the allowance for plays x divergence in the next round."""
        log_rounds = math.log(self.rounds + 1 - self.sweep)
        return self.c1 * log_rounds + self.c2 * math.log(log_rounds + 1)

    def index_logs(self):
        """Return -log(1 - index) of every super-arm."""
        return upper_logs(self.means(), self.bound() / np.array(self.plays))

    def admissible(self):
        """Return the pairs among which the next one is drawn uniformly."""
        if self.rounds < self.sweep:
            return {self.pairs[self.rounds % len(self.pairs)]}
        means = self.means()
        if means.max() == 1:
            # Its index is 1, all others are below.
            return {self.pairs[k] for k in np.flatnonzero(means == 1)}
        index = self.index_logs()
        tied = index >= index.max() * (1 - TIE)
        return {self.pairs[k] for k in np.flatnonzero(tied)}

    def choose(self):
        """Return the super-arm of the round about to be played."""
        candidates = sorted(self.admissible())
        return candidates[random_choice(self.rng, np.ones(len(candidates), dtype=bool))]

    def update(self, first, second, first_won):
        """Count the play, and whether the lower arm won."""
        pair = self.pairs.index((min(first, second), max(first, second)))
        self.rounds += 1
        self.plays[pair] += 1
        self.won[pair] += first_won == (first <= second)

    def recommend(self):
        """Return an arm with the largest score."""
        scores = np.array(self.scores())
        return random_choice(self.rng, scores >= scores.max() - 1e-12)


def upper_logs(means, levels):
    """Return -log(1 - q) of the largest q with d(mean, q) <= level, by bisection.

    With s = -log(1 - q) the divergence is m log(m / (1 - e^-s)) + (1 - m) (s + log(1 -
    m)), increasing in s from -log(1 - m) on; dropping the -e^-s gives an upper end.
    """
    sure = means == 1
    m = np.where(sure, 0.5, means)
    entropy = np.where(m > 0, m * np.log(np.where(m > 0, m, 1)), 0)
    start = -np.log1p(-m)
    low, high = start, start + (levels - entropy) / (1 - m)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        q = np.where(m > 0, -np.expm1(-middle), 1)
        divergence = entropy - m * np.log(q) + (1 - m) * (middle - start)
        inside = divergence <= levels
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return np.where(sure, np.inf, low)

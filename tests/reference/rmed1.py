"""Relative minimum empirical divergence, first version."""

import math
from itertools import combinations

from tests.reference.common import OrderedTwin, divergence_from_half, first_minimum


class RMED1(OrderedTwin):
    """RMED1 (Komiyama et al. 2015, Algorithms 1 and 2).

    Nothing is random.
    """

    scale, power = 0.3, 1.01
    """f(K) = scale * K ** power is the extra allowance of the admission test."""

    def start(self):
        super().start()
        self.wins = [[0] * self.num_arms for _ in range(self.num_arms)]
        self.allowance = self.scale * self.num_arms**self.power
        self.sweep = list(combinations(range(self.num_arms), 2))
        self.current = list(range(self.num_arms))  # LC, read from the cursor on.
        self.cursor = 0
        self.remaining = list(self.current)  # LR
        self.following = []  # LN

    def _mean(self, i, j):
        plays = self.wins[i][j] + self.wins[j][i]
        return self.wins[i][j] / plays if plays else 0.5

    def _superiors(self, i):
        """Positions that i does not beat empirically; a tie counts as a loss."""
        return [j for j in range(self.num_arms) if j != i and self._mean(i, j) <= 0.5]

    def _divergences(self):
        """I_i: the evidence against each position being the Condorcet winner."""
        return [
            math.fsum(
                (self.wins[i][j] + self.wins[j][i])
                * divergence_from_half(self.wins[i][j], self.wins[j][i])
                for j in self._superiors(i)
            )
            for i in range(self.num_arms)
        ]

    def _opponent(self, i):
        best = first_minimum(self._divergences())
        superiors = self._superiors(i)
        if not superiors or best in superiors:
            return best
        others = [j for j in range(self.num_arms) if j != i]
        return min(others, key=lambda j: (self._mean(i, j), j))

    def choose(self):
        if self.rounds < len(self.sweep):
            i, j = self.sweep[self.rounds]
        else:
            i = self.current[self.cursor]
            j = self._opponent(i)
        return self.order[i], self.order[j]

    def update(self, first, second, first_won):
        """Count the outcome, then admit arms to the next pass."""
        in_sweep = self.rounds < len(self.sweep)
        self.count(first, second, first_won)
        if in_sweep:
            return
        self.remaining.remove(self.position[first])
        divergences = self._divergences()
        # The statistics include the round just played, whose index is in the bound.
        bound = min(divergences) + math.log(self.rounds) + self.allowance
        for j in range(self.num_arms):
            admitted = j not in self.remaining and divergences[j] <= bound
            if admitted and j not in self.following:
                self.following.append(j)
        self.cursor += 1
        if self.cursor == len(self.current):
            self.current, self.cursor = self.following, 0
            self.remaining, self.following = list(self.current), []

    def recommend(self):
        """Return the arm with the least evidence against it."""
        return self.order[first_minimum(self._divergences())]


DUEL_BY_DUEL = {"rmed1": RMED1}

"""Copeland confidence bound."""

import numpy as np

from tests.reference.common import CountingTwin, random_choice, relative_bounds


class CopelandConfidenceBound(CountingTwin):
    """CCB (Zoghi et al. 2015, Algorithm 1), line by line."""

    alpha = 0.51

    def start(self):
        self.reset()

    def reset(self):
        """Forget everything but the counts."""
        self.potential = set(range(self.num_arms))  # B_t
        self.beaten_by = [set() for _ in range(self.num_arms)]  # B^i_t
        self.losses = self.num_arms  # L_C

    def revise(self, upper, lower):
        """Carry out steps 1 to 4; return the optimistic champions."""
        arms = range(self.num_arms)
        most = [sum(upper[i, k] >= 0.5 for k in arms if k != i) for i in arms]
        least = [sum(lower[i, k] >= 0.5 for k in arms if k != i) for i in arms]
        champions = [i for i in arms if most[i] == max(most)]
        if any(lower[i, j] > 0.5 for i in arms for j in self.beaten_by[i]):
            self.reset()
        for i in sorted(self.potential):
            if most[i] < max(least):
                self.potential.remove(i)
                if len(self.beaten_by[i]) != self.losses + 1:
                    self.beaten_by[i] = {k for k in arms if upper[i, k] < 0.5}
        if not self.potential:
            self.reset()
        for i in champions:
            if most[i] == least[i]:
                self.potential.add(i)
                self.beaten_by[i] = set()
                self.losses = self.num_arms - 1 - most[i]
                for j in arms:
                    if j != i:
                        self.beaten_by[j] = self._some(self.beaten_by[j])
        return champions

    def _some(self, arms):
        """Keep one more arm than a winner may lose to, or none if there are fewer."""
        size = self.losses + 1
        if len(arms) < size:
            return set()
        chosen = self.rng.choice(sorted(arms), size, replace=False)
        return {int(arm) for arm in chosen}

    def choose(self):
        upper, lower = relative_bounds(self.wins, self.rounds + 1, self.alpha)
        champions = self.revise(upper, lower)
        if self.rng.random() < 1 / 4:
            unsure = [
                (i, j)
                for i in range(self.num_arms)
                for j in self.beaten_by[i]
                if lower[i, j] <= 0.5 <= upper[i, j]
            ]
            if unsure:
                return unsure[self.rng.integers(len(unsure))]
        both = [i for i in champions if i in self.potential]
        if both and self.rng.random() < 2 / 3:
            champions = both
        champion = champions[self.rng.integers(len(champions))]
        return champion, self.choose_challenger(champion, upper, lower)

    def choose_challenger(self, champion, upper, lower):
        """Return the most optimistic admissible arm; in a tie not the champion."""
        among = set(range(self.num_arms))
        if self.rng.random() < 1 / 2:
            among = self.beaten_by[champion]
        admissible = lower[:, champion] <= 0.5
        allowed = np.array([j in among for j in range(self.num_arms)]) & admissible
        if not allowed.any():
            allowed = admissible
        column = np.where(allowed, upper[:, champion], -np.inf)
        best = column == column.max()
        if np.count_nonzero(best) > 1:
            best[champion] = False
        return random_choice(self.rng, best)


IN_DISTRIBUTION = {"ccb": CopelandConfidenceBound}

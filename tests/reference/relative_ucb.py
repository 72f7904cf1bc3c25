"""Relative upper confidence bound."""

import numpy as np

from tests.reference.common import CountingTwin, random_choice, relative_bounds


class RelativeUCB(CountingTwin):
    """RUCB (Zoghi et al. 2014, Algorithm 1)."""

    alpha = 0.51
    hypothesis = None

    def choose_champion(self, upper):
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

    def choose_challenger(self, upper, champion):
        """Return the arm most optimistic against the champion, itself included.

        In a tie the champion is left out, the rest is random.
        """
        column = upper[:, champion]
        best = column == column.max()
        if np.count_nonzero(best) > 1:
            best[champion] = False
        return random_choice(self.rng, best)

    def choose(self):
        upper, _ = relative_bounds(self.wins, self.rounds + 1, self.alpha)
        champion = self.choose_champion(upper)
        return champion, self.choose_challenger(upper, champion)


IN_DISTRIBUTION = {"rucb": RelativeUCB}

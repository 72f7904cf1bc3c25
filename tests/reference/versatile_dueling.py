"""Versatile Dueling Bandits with weights by bisection, and outcomes of both roles."""

import numpy as np

from tests.reference.common import CountingTwin


class VersatileDueling(CountingTwin):
    """Versatile-DB (Saha and Gaillard 2022, Algorithm 3): two players, one estimate."""

    rate = 2.0

    def start(self):
        self.estimates = np.zeros(self.num_arms)

    def distribution(self):
        """Return the weights of the round about to be played."""
        eta = self.rate / np.sqrt(self.rounds + 1)
        # The root from the normalized weights themselves: 2 / (eta (L - x)) = sqrt(w).
        low, high = 2 / eta, 2 * np.sqrt(self.num_arms) / eta
        above = self.estimates - self.estimates.min()
        for _ in range(60):  # To the last digit: the bracket is at most sqrt(K) wide.
            middle = (low + high) / 2
            if np.sum((2 / (eta * (above + middle))) ** 2) > 1:
                low = middle
            else:
                high = middle
        return (2 / (eta * (above + (low + high) / 2))) ** 2

    def choose(self):
        """Draw an arm for each of the two players."""
        self.weights = self.distribution()
        shares = self.weights / self.weights.sum()
        return tuple(int(self.rng.choice(self.num_arms, p=shares)) for _ in "12")

    def update(self, first, second, first_won):
        """Add the losses of both players to the estimate of their arm."""
        super().update(first, second, first_won)
        for arm, has_lost in ((first, not first_won), (second, bool(first_won))):
            self.estimates[arm] += has_lost / (2 * self.weights[arm])

    def recommend(self):
        """Return the arm with the least estimate."""
        return int(np.argmin(self.estimates))


IN_DISTRIBUTION = {"versatile-db": VersatileDueling}
